"""What goes with a message: a file of the folder of files, as a document or as a picture."""

from dataclasses import dataclass
from pathlib import Path

from automations.errors import StepFailed
from automations.steps.base import Given
from automations.steps.files import UnsafePath, inside

PICTURES = (".png", ".jpg", ".jpeg", ".webp")
"""What chats show as a picture; others, SVG among them, are sent as documents."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that is there. `photo`: it is shown as a picture."""

    path: Path
    photo: bool


def attached(given: Given, file: str | None, photo: str | None) -> Attachment | None:
    """What `file` or `photo` names below the folder of files. Raises StepFailed where there is no such file."""
    name, template = ("photo", photo) if photo is not None else ("file", file)
    if template is None:
        return None
    try:
        path = inside(given.tools.files, given.text(template, name))
    except UnsafePath as error:
        raise StepFailed(f"{name}: {error}") from None
    return Attachment(path, name == "photo" and path.suffix.lower() in PICTURES)
