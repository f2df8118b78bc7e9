"""Invitations for print: a page of cards, each with a name, a QR code of the link, and until when it is good.

The page needs nothing from elsewhere and runs no script; every text from the workspace is escaped.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup, escape

from bot.qr import svg
from bot.texts import Texts

STYLE = """
:root { color-scheme: light; }
body { font: 11pt/1.35 system-ui, sans-serif; margin: 10mm; color: #111; background: #fff; }
h1 { font-size: 13pt; margin: 0 0 2mm; }
header { margin-bottom: 6mm; }
main { display: grid; grid-template-columns: repeat(2, 1fr); gap: 5mm; }
article { display: grid; grid-template-columns: 38mm 1fr; gap: 4mm; align-items: center; padding: 4mm;
  border: 0.3mm dashed #888; break-inside: avoid; }
article svg { width: 38mm; height: 38mm; }
h2 { font-size: 12pt; margin: 0; overflow-wrap: anywhere; }
p { margin: 1mm 0 0; overflow-wrap: anywhere; }
.small { font-size: 8.5pt; color: #444; }
@media (max-width: 700px) { main { grid-template-columns: 1fr; } }
@page { margin: 10mm; }
"""

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True, slots=True)
class Invited:
    """One card: who, their link, until when it is good."""

    user_id: str
    name: str
    position: str
    link: str
    expires: datetime
    hint: str


def page(texts: Texts, invited: Iterable[Invited], drawn: Callable[[], None] = lambda: None) -> Iterator[str]:
    """The page in pieces; `drawn` is called after each card."""
    title = escape(texts.t("Your assistant in Telegram"))
    yield Markup(
        '<!doctype html>\n<html lang="{}"><head><meta charset="utf-8"><title>{}</title>'
        '<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">'
        '<meta name="referrer" content="no-referrer">'
        '<meta http-equiv="Content-Security-Policy" content="{}">'
    ).format(texts.language, title, POLICY)
    yield f"<style>{STYLE}</style></head>\n<body><header><h1>{title}</h1>"
    words = texts.t("Each card is for one person: cut them apart. Whoever scans one is linked after you confirm it.")
    yield Markup('<p class="small">{}</p></header>\n<main>\n').format(words)
    for one in invited:
        yield _card(texts, one)
        drawn()
    yield "</main></body></html>\n"


def _card(texts: Texts, one: Invited) -> str:
    return Markup(
        "<article>{code}<div><h2>{name}</h2><p>{position}</p><p>{how}</p>"
        '<p class="small">{link}</p><p class="small">{until}</p></div></article>\n'
    ).format(
        code=Markup(svg(one.link)),  # noqa: S704 - our own drawing, with no text in it
        name=one.name,
        position=one.position,
        how=texts.t("Scan this with your phone and press Start."),
        link=one.link,
        until=texts.t("Good until %(day)s, once, for you alone.", day=texts.day(one.expires)),
    )
