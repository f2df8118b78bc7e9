"""Where the grammar of money was; it is in bot/money_text.py, bot/sums.py and bot/likeness.py."""

from bot.likeness import SURE, alike
from bot.money_text import Entry, parse
from bot.sums import NotRepresentable, decimal, to_wire

__all__ = ["SURE", "Entry", "NotRepresentable", "alike", "decimal", "parse", "to_wire"]
