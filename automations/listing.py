"""What there is and when it is due: looks at definitions, needs no workspace and no database."""

from collections.abc import Sequence
from itertools import islice

from automations.definition import Automation
from automations.errors import UnknownAutomation
from automations.ports import Clock
from automations.preview import DAYS, Preview, marked, preview
from automations.reports import AutomationInfo, NextTick
from automations.triggers import upcoming


class Listing:
    """The automations of one installation; `zone` is that of triggers that name none."""

    def __init__(self, definitions: Sequence[Automation], *, zone: str, clock: Clock) -> None:
        self._automations = {automation.name: automation for automation in definitions}
        self._zone = zone
        self._clock = clock

    def automation(self, name: str) -> Automation:
        """One of them. Raises UnknownAutomation."""
        if name not in self._automations:
            raise UnknownAutomation(name, self._automations)
        return self._automations[name]

    def list_automations(self) -> list[AutomationInfo]:
        """All automations by name."""
        now = self._clock()
        infos: list[AutomationInfo] = []
        for automation in self._automations.values():
            definition = automation.definition
            coming = upcoming(definition.trigger, now, 1, self._zone)
            words = tuple(trigger.words(self._zone) for trigger in definition.trigger)
            tick = coming[0].name if coming else None
            infos.append(AutomationInfo(automation.name, definition.description, str(automation.file), words, tick))
        return infos

    def next_ticks(self, name: str | None = None, n: int = 10) -> list[NextTick]:
        """The next ticks of one automation or of all, in order. Raises UnknownAutomation."""
        chosen = self._automations.values() if name is None else [self.automation(name)]
        found = [
            NextTick(one.name, tick.name, tick.local.isoformat(), tick.zone, note)
            for one in chosen
            for tick, note in islice(marked(one.definition.trigger, self._clock(), self._zone), n)
        ]
        return sorted(found, key=lambda tick: (tick.tick, tick.automation))[:n]

    def preview(self, name: str, days: int = DAYS) -> Preview:
        """The ticks of the coming days with everything odd about them. Raises UnknownAutomation."""
        one = self.automation(name)
        return preview(name, one.definition.trigger, self._clock(), days, self._zone)
