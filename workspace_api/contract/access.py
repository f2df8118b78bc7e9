"""The record that several modules share (part 1, §2.2)."""

from workspace_api.contract.wire import Record


class AccessItem(Record):
    """Who may: a block, with its descendants (`nested`) or its ancestors (`parents`)."""

    id: int | None = None
    type: str | None = None
    block_id: int | None = None
    nested: bool | None = None
    parents: bool | None = None
