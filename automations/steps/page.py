"""Pages (.html) that need nothing else: a plain table, and a sheet of A4 for print and PDF. Everything is escaped."""

from collections.abc import Sequence
from decimal import Decimal
from html import escape
from typing import Any

from automations.shapes import is_map
from automations.steps.cells import NoTable, shown, table_of

MOST_CELLS = 500_000

STYLE = """
@page { size: A4; margin: 18mm 16mm; }
:root { color-scheme: light; }
body { font: 11pt/1.45 system-ui, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif; color: #1d2730; margin: 0 auto;
  max-width: 178mm; padding: 8mm; }
h1 { font-size: 18pt; line-height: 1.2; margin: 0 0 4mm; }
h2 { font-size: 13pt; margin: 6mm 0 2mm; }
table { border-collapse: collapse; width: 100%; margin: 2mm 0 6mm; font-size: 10pt; }
th, td { border-bottom: 1px solid #c9d1d9; padding: 1.2mm 2mm; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
th { border-bottom-width: 2px; white-space: nowrap; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
thead { display: table-header-group; }
tr, img, svg { break-inside: avoid; }
h1, h2, h3 { break-after: avoid; }
@media print { body { max-width: none; padding: 0; } a { color: inherit; text-decoration: none; } }
"""


def page(title: str, body: str) -> str:
    """A whole page; `title` is a text, `body` is HTML."""
    return (
        f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{STYLE}</style>\n</head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def tables(value: Any, title: str) -> str:
    """A page with the table of a list of maps or of lists; a map of such lists is one table after another.

    Raises NoTable, or ValueError for what JSON does not know.
    """
    named = list(value.items()) if is_map(value) else [("", value)]
    parts = [f"<h1>{escape(title)}</h1>"]
    left = MOST_CELLS
    for name, rows in named:
        try:
            header, body = table_of(rows)
        except NoTable as error:
            raise NoTable(f"{error} (as {name})" if name else str(error)) from None
        left -= sum(len(row) for row in body)
        if left < 0:
            raise NoTable(f"has more than {MOST_CELLS:,} cells")
        parts.append((f"<h2>{escape(name)}</h2>\n" if name else "") + _table(header, body))
    return page(title, "\n".join(parts))


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    lines = [f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows]
    top = f"<thead><tr>{head}</tr></thead>\n" if header else ""
    return f"<table>\n{top}<tbody>\n{chr(10).join(lines)}\n</tbody>\n</table>"


def _cell(value: Any) -> str:
    number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    return f"{'<td class=number>' if number else '<td>'}{escape(shown(value))}</td>"
