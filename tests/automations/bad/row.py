"""A row of the table of bad files, and the texts of which rows are made."""

from dataclasses import dataclass

STEP = "steps:\n  - call: orgschema.orgschema.export\n"
HEAD = "name: n\n" + STEP
ONE = "  - call: orgschema.orgschema.export\n"


@dataclass(frozen=True)
class Row:
    """A file, what is told of it (`line:column: place: message`), and of how many findings that is the beginning.

    `<kinds>`, `<triggers>`, `<keys>` and `<common>` stand for the steps, the triggers, the keys of a file,
    and those of every step.
    """

    text: str | bytes
    told: list[str]
    findings: int | None = None


def steps(text: str) -> str:
    """A file of these steps."""
    return "name: n\nvars: {folder: org, codes: [USD, EUR], n: 5}\nsteps:\n" + text


def write(template: str) -> str:
    """A file with that template as the content of its one step."""
    return steps("  - write: a.txt\n    content: '" + template.replace("'", "''") + "'\n")
