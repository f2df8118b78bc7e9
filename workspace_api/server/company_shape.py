"""What a company file may hold: the sections of the sample, each optional but `company`, `blocks` and `users`.

A text is one string, or one for each language (`{en: …, ru: …}`). A moment is absolute (`2024-03-01`,
`2024-03-01 09:30`) or counted from the day of loading (`-12d`, `-12d 09:30`, `+3d 18:00`), in the company's time zone.
"""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

Text = Annotated[str, StringConstraints(max_length=100_000)] | dict[str, str]


def _written(value: object) -> object:
    """YAML reads a date without quotes as a date: back to its text."""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    return value.isoformat() if isinstance(value, date) else value


Moment = Annotated[
    str, BeforeValidator(_written), StringConstraints(pattern=r"^([+-]?\d+d|\d{4}-\d\d-\d\d)( \d\d:\d\d)?$")
]
Period = Annotated[str, BeforeValidator(_written), StringConstraints(pattern=r"^([+-]?\d+m|\d{4}-\d\d-\d\d)$")]
Kind = Literal["in", "out", "move"]
Access = dict[str, Any]


class Part(BaseModel):
    """A piece of a company file: unknown words are refused."""

    model_config = ConfigDict(extra="forbid")


class CompanyPart(Part):
    name: Text
    timezone: str = "UTC"


class CurrencyPart(Part):
    id: int
    code: str
    name: Text
    sign: str = ""
    decimal: Text = "."
    thousand_separator: Text = ","
    is_prefix_sign: bool = False


class RatePart(Part):
    currency_code_from: str
    currency_code_to: str
    date: Moment
    value: float = Field(gt=0)


class OrgPart(Part):
    id: int = 1
    name: Text = ""
    level: int = 0
    probation_color: str = ""
    level0: dict[str, Any] | None = None
    level1: dict[str, Any] | None = None
    level2: dict[str, Any] | None = None
    level3: dict[str, Any] | None = None
    level4: dict[str, Any] | None = None
    level5: dict[str, Any] | None = None
    level6: dict[str, Any] | None = None
    is_new_org: bool = True


class BlockPart(Part):
    id: int
    parent_id: int | None = None
    number: str = ""
    name: Text
    position: Text = ""
    color: str | None = None
    order: int = 0


class UserPart(Part):
    """`blocks`: the positions, the primary one first."""

    user_id: str = Field(min_length=1, max_length=64)
    user_name: Text
    user_email: str | None = None
    phone: str | None = None
    telegram: str | None = None
    skype: str | None = None
    slack: str | None = None
    comment: Text | None = None
    birth_date: Moment | None = None
    hiring_date: Moment | None = None
    firing_date: Moment | None = None
    is_disabled: bool = False
    is_deleted: bool = False
    is_probation: bool = False
    blocks: list[int] = []


class PlanningPart(Part):
    id: int = 1
    manager_blocks: list[int] = []
    skip_blocks: list[int] = []
    second_level_is_visible: bool = False


class CashboxPart(Part):
    id: int
    currency_code: str
    key: str
    name: Text
    order: int = 0
    opening_balance: int = 0
    opening_balance_date: Moment | None = None
    access_blocks: list[Access] = []
    is_archived: bool = False


class CategoryPart(Part):
    id: int
    transaction_type: Kind
    name: Text
    parent_id: int | None = None
    block_id: int | None = None
    is_archived: bool = False


class TransactionPart(Part):
    type: Kind
    category_id: int
    user_id: str
    date: Moment
    description: Text = ""
    cashbox_id: int | None = None
    sum: int | None = None
    cashbox_id_charge: int | None = None
    cashbox_id_topup: int | None = None
    sum_charge: int | None = None
    sum_topup: int | None = None


class PatternPart(Part):
    """One habit, from which a year of transactions is made (see habits.py)."""

    type: Kind
    category_id: int
    user_id: str
    every: Literal["day", "week", "month"]
    on: list[int]
    times: tuple[int, int]
    sum: tuple[int, int]
    round: int = Field(default=1, gt=0)
    rate: float = Field(default=1.0, gt=0)
    description: list[Text] = Field(min_length=1)
    cashbox_id: int | None = None
    cashbox_id_charge: int | None = None
    cashbox_id_topup: int | None = None


class StepPart(Part):
    user_id: str
    date: Moment


class PaymentPart(StepPart):
    sum: int


class RequestPart(Part):
    """A request with the steps that brought it to its state; they are played through the real rules."""

    id: int
    finplan: Period
    sum: int
    type: int | None = None
    author_id: str
    author_block_id: int
    created: Moment
    state: Literal["progress", "returned", "accept", "partly_paid", "paid", "reject"]
    name: Text
    problem: Text = ""
    solution: Text = ""
    economic_justification: Text = ""
    approved_by: list[StepPart] = []
    returned_by: StepPart | None = None
    text: Text = ""
    rejected_by: StepPart | None = None
    reject_text: Text = ""
    payments: list[PaymentPart] = []


class PanelPart(Part):
    id: int
    board_id: int
    name: Text
    order: int = 0
    color: str | None = None
    settings: dict[str, Any] = {}


class BoardPart(Part):
    id: int
    owner_user_id: str
    name: Text
    color_background: str | None = None
    color_text: str | None = None
    access_blocks: list[Access] = []
    panels: list[PanelPart] = []


class TaskPart(Part):
    id: int
    name: Text
    description: Text = ""
    owner_user_id: str
    responsible_user_ids: list[str] = []
    auditors: list[str] = []
    watchers: list[str] = []
    block_id: int | None = None
    status_key: str = "new"
    board_panel_id: int | None = None
    created: Moment
    start_date: Moment | None = None
    finish_date: Moment | None = None
    close_date: Moment | None = None
    is_important: bool = False
    parent_id: int | None = None
    product: str | None = None
    category_key: str | None = None
    time_plan: int | None = None
    time_fact: int | None = None
    tag_keys: list[str] = []


class SpacePart(Part):
    id: int
    title: Text
    slug: str
    icon: str | None = None
    is_public: bool = False
    is_archived: bool = False
    order: int = 0
    home_article_id: int | None = None
    description: Text = ""
    access: list[Access] = []
    access_edit: list[Access] = []


class ContentPart(Part):
    type: str
    key: str = ""
    name: Text = ""
    content: Text = ""
    size: str | None = None
    level: int | None = None
    sequence_index: int = 0
    options: dict[str, Any] = {}


class ArticlePart(Part):
    id: int
    space_ids: list[int] = Field(min_length=1, max_length=1)
    parent_ids: list[int] = Field(default=[], max_length=1)
    title: Text
    slug: str
    is_draft: bool = False
    author_id: str
    created: Moment
    access: list[Access] = []
    access_edit: list[Access] = []
    content_blocks: list[ContentPart] = []


class DemoPart(Part):
    """Somebody whom the demo's chat page offers."""

    user_id: str
    role: Text = ""
    why: Text = ""


class CompanyFile(Part):
    """The whole file, or several files put together."""

    company: CompanyPart
    currencies: list[CurrencyPart] = []
    rates: list[RatePart] = []
    org: OrgPart = OrgPart()
    blocks: list[BlockPart] = Field(min_length=1)
    users: list[UserPart] = Field(min_length=1)
    finplan_settings: PlanningPart = PlanningPart()
    cashboxes: list[CashboxPart] = []
    categories: list[CategoryPart] = []
    patterns: list[PatternPart] = []
    transactions: list[TransactionPart] = []
    requests: list[RequestPart] = []
    boards: list[BoardPart] = []
    tasks: list[TaskPart] = []
    spaces: list[SpacePart] = []
    articles: list[ArticlePart] = []
    demo: list[DemoPart] = []
