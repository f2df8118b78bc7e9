"""What the runner itself says to people, in English and Russian: one table of sentences, with the numbers, times and
lengths in them as people write them. What automations say comes from their own files.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

SENTENCES: Mapping[str, tuple[str, str]] = {
    # An automation
    "failed": ("{automation} failed", "{automation}: сбой"),
    "failed_at": ("{automation} failed at {step}", "{automation}: сбой на шаге {step}"),
    "stopped": ("{automation} stopped and waits for a decision", "{automation}: остановлено, нужно решение"),
    "stopped_at": (
        "{automation} stopped at {step} and waits for a decision",
        "{automation}: остановлено на шаге {step}, нужно решение",
    ),
    "resume": (
        "To go on from there: workspace automations resume {run}",
        "Продолжить с этого места: workspace automations resume {run}",
    ),
    "resume_again": (
        "Nobody knows whether it has happened: look in the workspace first. To do the step once more: "
        "workspace automations resume {run} --again",
        "Неизвестно, выполнен ли шаг: сначала посмотрите в рабочем пространстве. Выполнить его ещё раз: "
        "workspace automations resume {run} --again",
    ),
    "run": ("Run: {run}", "Запуск: {run}"),
    "page": ("More: {url}", "Подробнее: {url}"),
    "works_again": ("{automation} works again", "{automation}: снова работает"),
    "after": ("Failures: {times}, for {length}.", "Сбоев: {times}, продолжалось {length}."),
    "still_stopped": ("Still to be decided: {runs}", "Ждут решения: {runs}"),
    "still": ("{automation} still does not work", "{automation}: всё ещё не работает"),
    "still_stopped_head": ("{automation} still waits for a decision", "{automation}: всё ещё ждёт решения"),
    "since": (
        "Since {moment}; failures: {times}. The last one: {message}",
        "С {moment}; сбоев: {times}. Последний: {message}",
    ),
    # The workspace
    "unreachable": ("The workspace does not answer", "Рабочее пространство не отвечает"),
    "unreachable_text": (
        "First met by {automation}: {message}\nFailures of other automations for the same reason are not told one by "
        "one; you hear when it works again.",
        "Первым это заметил {automation}: {message}\nО сбоях других автоматизаций по той же причине отдельно не "
        "сообщается; когда всё заработает, вы узнаете.",
    ),
    "reachable": ("The workspace answers again", "Рабочее пространство снова отвечает"),
    "affected": (
        "Automations that failed meanwhile: {names}. Their runs can be gone on with: workspace automations history",
        "За это время не выполнились: {names}. Запуски можно продолжить: workspace automations history",
    ),
    "still_unreachable": ("The workspace still does not answer", "Рабочее пространство всё ещё не отвечает"),
    # Ticks
    "gap": ("No runner ran from {since} to {until}", "Автоматизации не работали с {since} до {until}"),
    "gap_text": ("Ticks missed: {missed}: {parts}.", "Пропущено сроков: {missed}: {parts}."),
    "gap_late": ("{count} run late", "запущено с опозданием: {count}"),
    "gap_skipped": ("{count} skipped", "не выполнено: {count}"),
    "gap_lost": ("{count} lost, too old to run", "потеряно, слишком давно: {count}"),
    "gap_names": ("Automations: {names}", "Автоматизации: {names}"),
    "gap_backfill": (
        "To run what was left out: workspace automations backfill NAME FROM TO",
        "Выполнить пропущенное: workspace automations backfill NAME FROM TO",
    ),
    "stuck": ("Runs do not begin", "Запуски не начинаются"),
    "stuck_text": (
        "Waiting for more than {length}: {names}. Look whether a runner runs (workspace doctor) and what its log says.",
        "Ждут больше {length}: {names}. Проверьте, работает ли исполнитель (workspace doctor) и что в его журнале.",
    ),
    "unstuck": ("What waited has begun", "Ожидавшие запуски начались"),
    "deadline": ("{automation} has not run well by {time}", "{automation}: не выполнено к {time}"),
    "deadline_none": ("It has not begun.", "Не начиналось."),
    "deadline_skipped": ("It was left out: {reason}", "Не запускалось: {reason}"),
    "deadline_under_way": ("It is still under way.", "Ещё выполняется."),
    "deadline_parked": ("It waits for an answer or a time.", "Ждёт ответа или срока."),
    "deadline_failed": ("It failed: {message}", "Сбой: {message}"),
    "deadline_met": ("{automation} has run now, due by {time}", "{automation}: выполнено, срок был {time}"),
    "late_by": ("Late by {length}.", "Опоздание: {length}."),
    "lasted": ("It lasted {length}.", "Продолжалось {length}."),
    # Questions
    "reminder": ("This still waits for an answer: {text}", "Всё ещё нужен ответ: {text}"),
    "reminder_options": ("Possible answers: {options}", "Варианты: {options}"),
    "reminder_until": ("Time is left until {moment}.", "Ответить можно до {moment}."),
    "reminder_default": (
        "Without an answer by {moment} it will be: {default}",
        "Без ответа до {moment} будет: {default}",
    ),
    # Events
    "burst": (
        "{count} changes at once: {kind}",
        "Сразу {count} изменений: {kind}",
    ),
    "burst_text": (
        "Each of them runs {names}. If nobody meant that, stop it: move the file out of the folder.",
        "Каждое запускает: {names}. Если так не задумано, остановите: уберите файл из папки.",
    ),
    "blind": ("Changes in the workspace cannot be seen", "Изменения в рабочем пространстве не видны"),
    "blind_text": (
        "{message}\nAutomations that wait for changes ({names}) run later, when it can be read again; nothing is lost.",
        "{message}\nАвтоматизации, которые ждут изменений ({names}), выполнятся позже, когда чтение снова удастся; "
        "ничего не пропадёт.",
    ),
    "seeing": ("Changes in the workspace are seen again", "Изменения в рабочем пространстве снова видны"),
    # Files
    "broken": ("{file} is wrong", "Ошибка в файле {file}"),
    "broken_kept": (
        "The version before it goes on running. Mend the file, then it is taken up by itself.",
        "Пока работает прежняя версия. Исправьте файл, и он подхватится сам.",
    ),
    "broken_new": (
        "It does not run until it is mended; then it is taken up by itself.",
        "Не работает, пока не исправлено; потом подхватится само.",
    ),
    "mended": ("{file} is right again", "{file} снова в порядке"),
}
"""By name: English, Russian."""

UNITS: Mapping[str, tuple[str, str, str, str]] = {"en": ("d", "h", "min", "s"), "ru": ("д", "ч", "мин", "с")}
MONTHS: Mapping[str, tuple[str, ...]] = {
    "en": ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
    "ru": ("янв.", "фев.", "мар.", "апр.", "мая", "июн.", "июл.", "авг.", "сен.", "окт.", "ноя.", "дек."),
}


@dataclass(frozen=True, slots=True)
class Words:
    """Speaks a language, `en` or `ru`, and names moments on the clocks of a zone."""

    language: str
    zone: tzinfo

    def say(self, name: str, **values: object) -> str:
        """A sentence of the table with values put in by name."""
        return SENTENCES[name][1 if self.language == "ru" else 0].format_map(values)

    def moment(self, moment: datetime) -> str:
        """`21 Nov, 02:10`."""
        local = moment.astimezone(self.zone)
        return f"{local.day} {MONTHS[self.language][local.month - 1]}, {local:%H:%M}"

    def span(self, since: datetime, until: datetime) -> tuple[str, str]:
        """Two moments; the second without its day where that is the same: `21 Nov, 02:10` and `06:30`."""
        first, last = since.astimezone(self.zone), until.astimezone(self.zone)
        return self.moment(since), f"{last:%H:%M}" if first.date() == last.date() else self.moment(until)

    def length(self, length: timedelta) -> str:
        """The two largest units: `2 h`, `1 d 3 h`, `50 min`, `40 s`."""
        seconds = max(int(length.total_seconds()), 1)
        numbers = (seconds // 86400, seconds // 3600 % 24, seconds // 60 % 60, seconds % 60)
        first = next(place for place, number in enumerate(numbers) if number)
        parts = zip(numbers[first : first + 2], UNITS[self.language][first : first + 2], strict=True)
        # Seconds beside minutes are more than anybody wants to know.
        kept = [
            f"{number} {unit}" for place, (number, unit) in enumerate(parts) if number and (place == 0 or first < 2)
        ]
        return " ".join(kept)

    def listed(self, names: list[str], most: int = 10) -> str:
        """Names by comma; of many the first ones, and how many more."""
        more = len(names) - most
        return ", ".join(names[:most]) + (f" … +{more}" if more > 0 else "")
