"""Financial planning: requests for money, their chain of approval, payment, settings (part 1, §2.4, §4.3)."""

from functools import cached_property

from workspace_api.contract.endpoint import Effect, Endpoint, Group, Mode, NoParams, Params, wire
from workspace_api.contract.wire import Array, Date, DateParam, JsonMap, Record, RequestStatus, ReviewType, Undocumented


class RequestHistory(Record):
    """One step in the life of a request (part 1, §2.4)."""

    id: int | None = None
    request_id: int | None = None
    author_id: str | None = None
    author_block_id: int | None = None
    type: str | None = None
    text: str | None = None
    creation_date: Date | None = None


class Request(Record):
    """A request for money (part 1, §2.4). Sums are ints in the workspace's money scale; `can_*` are the viewer's."""

    id: int | None = None
    user_final_accept_block: int | None = None
    required_accept: list[int] | None = None
    rejected_block: list[int] | None = None
    progressed_blocks: list[int] | None = None
    need_accept: list[int] | None = None
    is_current_user_rejected: bool | None = None
    is_need_accept_next: bool | None = None
    history: list[RequestHistory] | None = None
    can_accept: bool | None = None
    can_accept_final: bool | None = None
    can_edit: bool | None = None
    can_paid: bool | None = None
    can_progress: bool | None = None
    can_reject: bool | None = None
    can_remove: bool | None = None
    finplan: str | None = None
    sum: int | None = None
    sum_paid: int | None = None
    currency_code: str | None = None
    name: str | None = None
    type: int | None = None
    problem: str | None = None
    solution: str | None = None
    economic_justification: str | None = None
    status: RequestStatus | None = None
    author_id: str | None = None
    author_block_id: int | None = None
    last_accept_users: list[Undocumented] | None = None
    last_accept_user_id: str | None = None
    last_accept_block_id: int | None = None
    reject_user_id: str | None = None
    reject_block_id: int | None = None
    reject_text: str | None = None
    modification_date: Date | None = None
    creation_date: Date | None = None
    files: list[Undocumented] | None = None


class FinplanSettings(Record):
    """Who approves (part 1, §2.4). The last of `manager_blocks` gives the final acceptance."""

    id: int | None = None
    manager_blocks: list[Undocumented] | None = None
    skip_blocks: list[Undocumented] | None = None
    creation_date: Date | None = None
    second_level_is_visible: bool | None = None


class ListRequests(Params):
    """List the requests of the given planning periods (part 1, §4.3)."""

    finplans: list[str] | None = None


class ReviewRequests(Params):
    """Accept, finally accept, reject or return requests to work (part 1, §4.3).

    `block_id` is the block in whose name the viewer acts; `reject_text` is the reason.
    """

    id: int | None = None
    block_id: int | None = wire("blockId", default=None)
    reject_text: str | None = wire("rejectText", default=None)
    request_ids: list[int] | None = wire("requestIds", default=None)
    review_type: ReviewType | None = wire("reviewType", default=None)


class PayRequest(Params):
    """Pay a request in part (`payment_sum`) or in full (`full_payment`) (part 1, §4.3).

    The documents name both `id` and `request_id` and do not say which one selects: send both.
    """

    id: int | None = None
    full_payment: bool | None = None
    payment_sum: int | None = None
    request_id: int | None = None


class SaveRequest(Params):
    """Create a request (no `id`) or change one (part 1, §4.3)."""

    id: int | None = None
    author_block_id: int | None = None
    can_edit: bool | None = None
    economic_justification: str | None = None
    files: list[Undocumented] | None = None
    finplan: str | None = None
    history: list[RequestHistory] | None = None
    name: str | None = None
    problem: str | None = None
    solution: str | None = None
    status: RequestStatus | None = None
    sum: int | None = None
    type: int | None = None


class CopyRequests(Params):
    """Copy requests into the period `finplan`; the copies start anew (part 1, §4.3)."""

    requests: list[JsonMap] | None = None
    finplan: str | None = None


class RemoveRequests(Params):
    """Remove requests (part 1, §4.3)."""

    request_ids: list[int] | None = wire("requestIds", default=None)


class SaveFinplanSettings(Params):
    """Set the managers of the chain and the blocks left out of it (part 1, §4.3)."""

    id: int | None = None
    manager_blocks: list[Undocumented] | None = None
    skip_blocks: list[Undocumented] | None = None
    creation_date: DateParam | None = None
    second_level_is_visible: bool | None = None


class Requests(Group[Mode]):
    """`finplan.request`"""

    list = Endpoint("/finplan/api/request/list", ListRequests, Array[Request], effect=Effect.READ)
    review = Endpoint("/finplan/api/request/review", ReviewRequests, Array[Request], effect=Effect.TRANSITION)
    pay = Endpoint("/finplan/api/request/pay", PayRequest, bool, effect=Effect.CREATE, label="POST")
    save = Endpoint("/finplan/api/request/save", SaveRequest, Request, effect=Effect.SAVE, label="POST")
    copy = Endpoint("/finplan/api/request/copy", CopyRequests, Array[Request], effect=Effect.CREATE)
    remove = Endpoint("/finplan/api/request/remove", RemoveRequests, bool, effect=Effect.REPLACE, label="POST")


class Settings(Group[Mode]):
    """`finplan.settings`"""

    list = Endpoint("/finplan/api/settings/list", NoParams, FinplanSettings, effect=Effect.READ)
    save = Endpoint("/finplan/api/settings/save", SaveFinplanSettings, bool, effect=Effect.SAVE, label="POST")


class Finplan(Group[Mode]):
    """`finplan`"""

    @cached_property
    def request(self) -> Requests[Mode]:
        return Requests(self.door)

    @cached_property
    def settings(self) -> Settings[Mode]:
        return Settings(self.door)
