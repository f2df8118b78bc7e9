"""Migrations of the bot's tables."""

from storage import run_migrations

run_migrations()
