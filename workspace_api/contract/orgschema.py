"""Organisation structure: blocks, workers, metrics, dashboards, settings, versions (part 1, §2.3, §4.2)."""

from functools import cached_property
from typing import Literal

from workspace_api.contract.endpoint import Effect, Endpoint, Group, Mode, NoParams, Params
from workspace_api.contract.wire import Array, Date, DateParam, IntervalDays, JsonMap, Record, Undocumented


class Worker(Record):
    """A person in a position (part 1, §2.3)."""

    id: int | None = None
    block_id: int | None = None
    user_id: str | None = None
    is_probation: bool | None = None
    is_primary: bool | None = None
    creation_date: Date | None = None
    deletion_date: Date | None = None
    is_deleted: bool | None = None


class Kpi(Record):
    """A metric of a block; `interval_days` is 1 or 7 (part 1, §2.3)."""

    id: int | None = None
    second_kpi_id: int | None = None
    block_id: int | None = None
    is_reverse: bool | None = None
    name: str | None = None
    description: str | None = None
    interval_days: IntervalDays | None = None
    order: int | None = None
    creation_date: Date | None = None
    interval_count_for_averaging: int | None = None
    is_gsd: bool | None = None
    workers: list[Worker] | None = None


class KpiData(Record):
    """The value and quota of a metric for one period (part 1, §2.3)."""

    id: int | None = None
    kpi_id: int | None = None
    user_id: str | None = None
    end_period_date: str | None = None
    value: str | None = None
    quota: str | None = None
    creation_date: Date | None = None


class Block(Record):
    """A department or position in the structure (part 1, §2.3)."""

    id: int | None = None
    org_id: str | None = None
    parent_id: int | None = None
    number: str | None = None
    name: str | None = None
    position: str | None = None
    color: str | None = None
    is_hidden: bool | None = None
    is_show_children_in_one_block: bool | None = None
    color_chevron: str | None = None
    order: int | None = None
    creation_date: Date | None = None


class OrgSettings(Record):
    """Settings of the structure; the maps of the levels are not documented (part 1, §2.3)."""

    id: int | None = None
    name: str | None = None
    level: int | None = None
    probation_color: str | None = None
    level0: JsonMap | None = None
    level1: JsonMap | None = None
    level2: JsonMap | None = None
    level3: JsonMap | None = None
    level4: JsonMap | None = None
    level5: JsonMap | None = None
    level6: JsonMap | None = None
    creation_date: Date | None = None
    is_new_org: bool | None = None


class BlockField(Record):
    """An additional field of blocks (part 1, §2.3)."""

    id: int | None = None
    is_show_under_block: bool | None = None
    is_show_name_at_content_level: bool | None = None
    data_type: str | None = None
    creation_date: Date | None = None
    update_date: Date | None = None
    key: str | None = None
    name: str | None = None
    order: int | None = None
    is_archived: bool | None = None
    is_system: bool | None = None
    is_default: bool | None = None
    author_id: str | None = None
    last_editor_id: str | None = None


class StructureVersion(Record):
    """A kept version of the structure (part 1, §2.3)."""

    id: int | None = None
    date: Date | None = None
    author_id: str | None = None
    blocks: list[Undocumented] | None = None
    org: list[OrgSettings] | None = None
    block_fields: list[BlockField] | None = None


class Widget(Record):
    """A widget of a dashboard (part 1, §2.3)."""

    id: int | None = None
    dashboard_id: int | None = None
    kpi_id: int | None = None
    second_kpi_id: int | None = None
    user_id: str | None = None
    is_hide_left_bar: bool | None = None
    size_width: str | None = None
    size_height: str | None = None
    order: int | None = None
    creation_date: Date | None = None
    is_average_data: bool | None = None


class Dashboard(Record):
    """A dashboard; the last two fields come with `list` only (part 1, §2.3)."""

    id: int | None = None
    name: str | None = None
    owner_user_id: str | None = None
    access: list[Undocumented] | None = None
    is_public: bool | None = None
    widget_width: int | None = None
    column_count: int | None = None
    refresh_interval: int | None = None
    order: int | None = None
    creation_date: Date | None = None
    system_id: str | None = None
    user_ids_with_given_access: list[str] | None = None
    widgets: list[Widget] | None = None


class StructureExport(Record):
    """The whole structure: settings and a flat list of blocks, elements undocumented (part 1, §4.2)."""

    org: list[Undocumented] | None = None
    block: list[Undocumented] | None = None


class SaveKpi(Params):
    """Create a metric (no `id`) or change one (part 1, §4.2)."""

    id: int | None = None
    second_kpi_id: int | None = None
    block_id: int | None = None
    is_reverse: bool | None = None
    name: str | None = None
    description: str | None = None
    interval_days: Literal[1, 7] | None = None
    order: int | None = None
    creation_date: DateParam | None = None
    interval_count_for_averaging: int | None = None


class DeleteKpi(Params):
    """Delete a metric of the block that owns it (part 1, §4.2)."""

    id: int
    block_id: int


class SaveKpiData(Params):
    """Record the value or quota of a metric for a person and period (part 1, §4.2)."""

    kpi_id: int | None = None
    user_id: str
    end_period_date: str | None = None
    value: str | None = None
    quota: str | None = None
    is_default_quota: bool | None = None


class SaveBlock(Params):
    """Create a block (no `id`) or change one (part 1, §4.2)."""

    id: int | None = None
    org_id: str | None = None
    parent_id: int | None = None
    number: str | None = None
    name: str | None = None
    position: str | None = None
    color: str | None = None
    is_hidden: bool | None = None
    is_show_children_in_one_block: bool | None = None
    color_chevron: str | None = None
    order: int | None = None
    creation_date: DateParam | None = None


class DeleteBlock(Params):
    """Delete a block (part 1, §4.2)."""

    id: int | None = None


class SaveWorker(Params):
    """Put a person into a position (no `id`) or change an assignment; `is_deleted` ends it (part 1, §4.2)."""

    id: int | None = None
    block_id: int | None = None
    user_id: str | None = None
    is_probation: bool | None = None
    is_primary: bool | None = None
    creation_date: DateParam | None = None
    deletion_date: DateParam | None = None
    is_deleted: bool | None = None


class ImportStructure(Params):
    """Replace the structure by the given settings and blocks (part 1, §4.2)."""

    org: list[Undocumented]
    block: list[Undocumented]


class InstallVersion(Params):
    """Restore a version; the current structure is kept as a version first (part 1, §3)."""

    version_id: int | None = None


class SaveOrgSettings(Params):
    """Change the settings of the structure (part 1, §4.2)."""

    id: int | None = None
    name: str | None = None
    level: int | None = None
    probation_color: str | None = None
    level0: JsonMap | None = None
    level1: JsonMap | None = None
    level2: JsonMap | None = None
    level3: JsonMap | None = None
    level4: JsonMap | None = None
    level5: JsonMap | None = None
    level6: JsonMap | None = None
    creation_date: DateParam | None = None
    is_new_org: bool | None = None


class SaveDashboard(Params):
    """Create a dashboard (no `id`) or change one (part 1, §4.2)."""

    id: int | None = None
    name: str | None = None
    owner_user_id: str | None = None
    access: list[Undocumented] | None = None
    is_public: bool | None = None
    widget_width: int | None = None
    column_count: int | None = None
    refresh_interval: int | None = None
    order: int | None = None
    creation_date: DateParam | None = None
    system_id: str | None = None


class DeleteDashboard(Params):
    """Delete a dashboard with its widgets (part 1, §3)."""

    id: int


class KpiValues(Group[Mode]):
    """`orgschema.kpi.data`"""

    save = Endpoint("/orgschema/api/kpi/data/save", SaveKpiData, KpiData, effect=Effect.SAVE)


class Kpis(Group[Mode]):
    """`orgschema.kpi`"""

    list = Endpoint("/orgschema/api/kpi/list", NoParams, Array[Kpi], effect=Effect.READ)
    save = Endpoint("/orgschema/api/kpi/save", SaveKpi, bool, effect=Effect.SAVE)
    delete = Endpoint("/orgschema/api/kpi/delete", DeleteKpi, bool, effect=Effect.REPLACE)

    @cached_property
    def data(self) -> KpiValues[Mode]:
        return KpiValues(self.door)


class Blocks(Group[Mode]):
    """`orgschema.block`"""

    list = Endpoint("/orgschema/api/block/list", NoParams, Array[Block], effect=Effect.READ)
    save = Endpoint("/orgschema/api/block/save", SaveBlock, bool, effect=Effect.SAVE)
    delete = Endpoint("/orgschema/api/block/delete", DeleteBlock, bool, effect=Effect.REPLACE)


class Workers(Group[Mode]):
    """`orgschema.worker`"""

    list_active = Endpoint("/orgschema/api/worker/list-active", NoParams, Array[Worker], effect=Effect.READ)
    list = Endpoint("/orgschema/api/worker/list", NoParams, Array[Worker], effect=Effect.READ)
    save = Endpoint("/orgschema/api/worker/save", SaveWorker, bool, effect=Effect.SAVE)


class Structure(Group[Mode]):
    """`orgschema.orgschema`"""

    import_ = Endpoint("/orgschema/api/orgschema/import", ImportStructure, bool, effect=Effect.REPLACE, label="POST")
    export = Endpoint("/orgschema/api/orgschema/export", NoParams, StructureExport, effect=Effect.READ)
    delete = Endpoint("/orgschema/api/orgschema/delete", NoParams, bool, effect=Effect.REPLACE)
    install_version = Endpoint("/orgschema/api/orgschema/install-version", InstallVersion, bool, effect=Effect.REPLACE)
    list_versions = Endpoint(
        "/orgschema/api/orgschema/list-versions", NoParams, Array[StructureVersion], effect=Effect.READ
    )


class Settings(Group[Mode]):
    """`orgschema.settings`"""

    save = Endpoint("/orgschema/api/settings/save", SaveOrgSettings, OrgSettings, effect=Effect.SAVE)
    get = Endpoint("/orgschema/api/settings/get", NoParams, OrgSettings, effect=Effect.READ)


class Dashboards(Group[Mode]):
    """`orgschema.dashboard`"""

    list = Endpoint("/orgschema/api/dashboard/list", NoParams, Array[Dashboard], effect=Effect.READ)
    save = Endpoint("/orgschema/api/dashboard/save", SaveDashboard, Dashboard, effect=Effect.SAVE)
    delete = Endpoint("/orgschema/api/dashboard/delete", DeleteDashboard, bool, effect=Effect.REPLACE)


class Orgschema(Group[Mode]):
    """`orgschema`"""

    @cached_property
    def kpi(self) -> Kpis[Mode]:
        return Kpis(self.door)

    @cached_property
    def block(self) -> Blocks[Mode]:
        return Blocks(self.door)

    @cached_property
    def worker(self) -> Workers[Mode]:
        return Workers(self.door)

    @cached_property
    def orgschema(self) -> Structure[Mode]:
        return Structure(self.door)

    @cached_property
    def settings(self) -> Settings[Mode]:
        return Settings(self.door)

    @cached_property
    def dashboard(self) -> Dashboards[Mode]:
        return Dashboards(self.door)
