"""Files in and out: what a bot uploads or names again by its id, getFile, and the message's photo and document."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping

from bot.sandbox.methods.call import Call, Upload
from bot.sandbox.methods.pictures import picture
from bot.sandbox.model import File
from bot.sandbox.refusals import bad
from bot.sandbox.wire import Json
from bot.sandbox.world import World

PHOTO_LIMIT = 10 * 2**20
DOCUMENT_LIMIT = 50 * 2**20
DOWNLOAD_LIMIT = 20 * 2**20


def store_photo(world: World, upload: Upload) -> list[str]:
    """Keeps a picture; answers its file ids from small to large (the bytes are the same, pictures are not scaled)."""
    if not upload.content:
        raise bad("file must be non-empty")
    if len(upload.content) > PHOTO_LIMIT:
        raise bad("file is too big")
    found = picture(upload.content)
    if found is None:
        raise bad("IMAGE_PROCESS_FAILED")
    width, height = found.width, found.height
    if not (0 < width + height <= 10_000 and min(width, height) > 0 and max(width, height) <= 20 * min(width, height)):
        raise bad("PHOTO_INVALID_DIMENSIONS")
    name = f"photo.{found.mime.partition('/')[2]}"
    scale = min(1.0, 90 / max(width, height))
    small = (max(1, round(width * scale)), max(1, round(height * scale)))
    sizes = [small, (width, height)] if scale < 1 else [(width, height)]
    return [world.store_file("photo", name, found.mime, upload.content, size).id for size in sizes]


def store_document(world: World, upload: Upload) -> str:
    """Keeps a document; answers its file id."""
    if not upload.content:
        raise bad("file must be non-empty")
    if len(upload.content) > DOCUMENT_LIMIT:
        raise bad("file is too big")
    name = upload.name.replace("\\", "/").rpartition("/")[2] or "document"
    mime = mimetypes.guess_type(name)[0] or upload.mime or "application/octet-stream"
    return world.store_file("document", name, mime, upload.content).id


def media(call: Call, kind: str, value: object, uploads: Mapping[str, Upload]) -> list[str]:
    """The file ids for a photo or document that is uploaded, attached (`attach://field`) or named by its id."""
    upload = value if isinstance(value, Upload) else None
    text = value if isinstance(value, str) else ""
    if text.startswith("attach://"):
        upload = uploads.get(text.removeprefix("attach://"))
        if upload is None:
            raise bad(f'can\'t find file "{text.removeprefix("attach://")}" in the request')
    if upload is not None:
        return store_photo(call.world, upload) if kind == "photo" else [store_document(call.world, upload)]
    if not text:
        raise bad(f"there is no {kind} in the request")
    if text.startswith(("http://", "https://")):
        raise bad("failed to get HTTP URL content")
    file = call.world.file(text)
    if file is None:
        raise bad("wrong file identifier/HTTP URL specified")
    if file.kind != kind:
        raise bad(f"can't use file of type {file.kind.title()} as {kind.title()}")
    return [file.id]


def media_param(call: Call, kind: str) -> list[str]:
    """The file ids of the parameter that carries the kind's own name."""
    return media(call, kind, call.uploads.get(kind) or call.text(kind), call.uploads)


def get_file(call: Call) -> Json:
    file = call.world.file(call.text("file_id"))
    if file is None:
        raise bad("invalid file_id")
    if file.size > DOWNLOAD_LIMIT:
        raise bad("file is too big")
    return wire_file(file)


def wire_file(file: File) -> Json:
    return {
        "file_id": file.id,
        "file_unique_id": file.unique_id,
        "file_size": file.size,
        "file_path": file.path,
    }
