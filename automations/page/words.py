"""What the page says, in English and Russian. Its sentences stand in the templates as they are in English; here are
their translations, the words for states, and the reasons that the ledger writes.

`Speech.t` says a sentence, `n` one with a number in it, `told` one that is in the records. What an automation's own
file says, and what the workspace answered, is shown as it is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from automations.words import MONTHS, Words

LANGUAGES = ("en", "ru")

STATES: Mapping[str, tuple[str, str]] = {
    "asked": ("waiting", "ждёт начала"),
    "waiting": ("waiting", "ждёт начала"),
    "running": ("running", "выполняется"),
    "parked": ("parked", "ждёт"),
    "done": ("done", "выполнен"),
    "failed": ("failed", "сбой"),
    "stopped": ("stopped: decide", "остановлен: решите"),
    "cancelled": ("cancelled", "отменён"),
    "due": ("due", "пора"),
    "started": ("started", "начат"),
    "late": ("late", "с опозданием"),
    "skipped": ("skipped", "пропущен"),
    "lost": ("lost", "потерян"),
    "begun": ("under way", "выполняется"),
    "coming": ("to come", "впереди"),
    "never": ("not reached", "не дошло"),
}
GLYPHS: Mapping[str, str] = {
    "done": "✓", "failed": "✕", "lost": "✕", "stopped": "!", "late": "!", "running": "▸", "begun": "▸", "started": "▸",
    "parked": "‖", "asked": "…", "waiting": "…", "due": "…", "cancelled": "–", "skipped": "–", "coming": "",
    "never": "",
}  # fmt: skip
"""A sign for each state, so that nobody has to tell colours apart."""

CAUSES: Mapping[str, tuple[str, str]] = {
    "tick": ("on schedule", "по расписанию"),
    "event": ("for an event", "по событию"),
    "manual": ("by hand", "вручную"),
    "chat": ("from chat", "из чата"),
    "backfill": ("for the past", "за прошлое"),
    "run": ("for another run", "для другого запуска"),
    "undo": ("to undo a run", "отмена сделанного"),
}
WEEKDAYS: Mapping[str, tuple[str, ...]] = {
    "en": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    "ru": ("пн", "вт", "ср", "чт", "пт", "сб", "вс"),
}

RUSSIAN: Mapping[str, str] = {
    "Automations": "Автоматизации",
    "To the content": "К содержанию",
    "Pages": "Страницы",
    "Overview": "Обзор",
    "Runs": "Запуски",
    "Sign in": "Войти",
    "Sign out": "Выйти",
    "The page cannot be brought up to date: the process that serves it does not answer.": (
        "Страница не обновляется: процесс, который её показывает, не отвечает."
    ),
    "Times are those of {zone}.": "Время: {zone}.",
    "asked of {who}, {ago} ago": "вопрос для {who}, {ago} назад",
    "the run": "запуск",
    "Without an answer by {moment}, it is “{option}”.": "Без ответа до {moment} будет «{option}».",
    "An answer is possible until {moment}.": "Ответить можно до {moment}.",
    "The run goes on with the answer “{option}”. The first answer counts, and it cannot be taken back.": (
        "Запуск продолжится с ответом «{option}». Считается первый ответ, взять его назад нельзя."
    ),
    "It was asked of {who}. The record will say that the answer came from here: {by}.": (
        "Вопрос задан {who}. В записи будет сказано, что ответили отсюда: {by}."
    ),
    "Answer “{option}”": "Ответить «{option}»",
    "No runner is alive: nothing runs. One was last heard of {ago} ago.": (
        "Исполнитель не работает, ничего не запускается. Последний раз он отзывался {ago} назад."
    ),
    "No runner is alive: nothing runs. Start one with: workspace run": (
        "Исполнитель не работает, ничего не запускается. Запустите его: workspace run"
    ),
    "under way": "выполняются",
    "parked": "ждут",
    "done in a day": "выполнено за сутки",
    "failed in a day": "сбоев за сутки",
    "Files that are wrong": "Файлы с ошибками",
    "An automation that ran before goes on as it was; a new one does not run until its file is mended.": (
        "Прежняя версия работает дальше; новая автоматизация не запустится, пока файл не исправлен."
    ),
    "and {n} more": "и ещё {n}",
    "Gaps": "Пробелы",
    "No runner was alive from {since} to {until}.": "Исполнитель не работал с {since} до {until}.",
    "{n} run late": "с опозданием: {n}",
    "{n} skipped": "не выполнено: {n}",
    "{n} lost": "потеряно: {n}",
    "All ticks that did not run in time": "Все сроки, не выполненные вовремя",
    "Waiting for an answer": "Ждут ответа",
    "Under way and parked": "Выполняются и ждут",
    "Nothing.": "Ничего.",
    "Last failures": "Последние сбои",
    "all automations": "все автоматизации",
    "since {moment}": "с {moment}",
    "None.": "Нет.",
    "What runs next": "Что дальше",
    "Many times a day:": "Много раз в день:",
    "next {moment}": "следующий {moment}",
    "Nothing in the next two weeks.": "В ближайшие две недели ничего.",
    "Today": "Сегодня",
    "and {n} more automations, not shown here": "и ещё {n} автоматизаций, здесь не показаны",
    "Name": "Имя",
    "Find": "Найти",
    "There is none.": "Ничего нет.",
    "has never run": "ещё не запускалась",
    "by hand only": "только вручную",
    "Back": "Назад",
    "More": "Ещё",
    "Automation": "Автоматизация",
    "State": "Состояние",
    "Show": "Показать",
    "Due": "Срок",
    "Why": "Почему",
    "Took": "Длилось",
    "Cause": "Причина",
    "Message": "Сообщение",
    "Older ones": "Более старые",
    "Begun {moment}": "Начат {moment}",
    "waited {length}": "ждал {length}",
    "What it was to do": "Что должен был сделать",
    "What it gave": "Что получилось",
    "and {n} more: workspace automations show {run}": "и ещё {n}: workspace automations show {run}",
    "may have happened": "возможно, выполнено",
    "gone on all the same": "запуск пошёл дальше",
    "The step {step} may have happened, or not. Look in the workspace, then decide.": (
        "Шаг {step}, возможно, выполнен, а возможно, и нет. Посмотрите в рабочем пространстве и решите."
    ),
    "Begun": "Начат",
    "not yet": "ещё нет",
    "{length} late": "опоздание {length}",
    "Ended": "Закончен",
    "Run": "Запуск",
    "For": "Для",
    "Undoes": "Отменяет",
    "Undone by": "Отменён запуском",
    "Event": "Событие",
    "Values": "Значения",
    "Steps": "Шаги",
    "After the failure": "После сбоя",
    "Undoing": "Отмена",
    "None yet.": "Пока нет.",
    "waited": "ожидание",
    "Time in which nothing was done is drawn shorter than it was.": (
        "Время, когда ничего не делалось, показано короче, чем было."
    ),
    "Questions": "Вопросы",
    "{by} answered “{option}”, {moment}.": "{by}: «{option}», {moment}.",
    "Nobody answered in time; it was “{option}”.": "Вовремя не ответили; стало «{option}».",
    "The run ended before an answer came.": "Запуск закончился раньше ответа.",
    "What can be done": "Что можно сделать",
    "Cancel…": "Прекратить…",
    "The run ends: at once where it waits, otherwise after the step that is under way. What is done stays done.": (
        "Запуск закончится: сразу, если он ждёт, иначе после шага, который выполняется. Сделанное остаётся."
    ),
    "Cancel the run": "Прекратить запуск",
    "Resume…": "Продолжить…",
    "The run goes on at {step}, with the definition it began with. Finished steps are not repeated.": (
        "Запуск продолжится с места «{step}» по тому описанию, с которым начался. Выполненные шаги не повторяются."
    ),
    "the step where it ended": "где он закончился",
    "Resume the run": "Продолжить запуск",
    "Do this step again…": "Повторить этот шаг…",
    (
        "{step} may have happened already. Done again, it may happen twice: a payment could be paid twice. "
        "Look in the workspace first."
    ): (
        "{step}: возможно, уже выполнено. Повтор может сделать то же дважды: платёж может пройти два раза. "
        "Сначала посмотрите в рабочем пространстве."
    ),
    "The run then goes on with the steps after it.": "Потом запуск продолжится следующими шагами.",
    "It did not happen: do it again": "Не выполнено: повторить",
    "Retry from a step…": "Повторить с шага…",
    (
        "The chosen step and all after it are done once more, also those that are done. "
        "The ones before it are not repeated."
    ): "Выбранный шаг и все после него выполнятся ещё раз, даже уже выполненные. Шаги до него не повторяются.",
    "Retry from this step": "Повторить с этого шага",
    "Step": "Шаг",
    "Undo…": "Отменить сделанное…",
    (
        "A new run does the undo steps of what this run has done, the last one first. "
        "Steps without undo stay as they are."
    ): "Новый запуск выполнит шаги отмены в обратном порядке. Шаги без отмены останутся как есть.",
    "Undo the run": "Отменить сделанное",
    "Token (WORKSPACE_PAGE_TOKEN)": "Токен (WORKSPACE_PAGE_TOKEN)",
    "Your name, for the record of what you do": "Ваше имя, для записи ваших действий",
    "Not done": "Не сделано",
    "All its runs": "Все её запуски",
    "Ticks that did not run in time": "Сроки, не выполненные вовремя",
    "Next ticks": "Ближайшие сроки",
    "Only {people} may run it, from chat.": "Запускать могут только {people}, из чата.",
    "Run now…": "Запустить…",
    "A run of {name} begins within a few seconds, whether or not it is due, with the file as it is now.": (
        "Запуск {name} начнётся через несколько секунд, независимо от срока, по файлу, какой он сейчас."
    ),
    "Steps that change something: {steps}.": "Шаги, которые что-то меняют: {steps}.",
    "Its steps only read.": "Её шаги только читают.",
    "Run {name}": "Запустить {name}",
    # views.py and app.py
    "waits for an answer": "ждёт ответа",
    "waits for another run": "ждёт другого запуска",
    "waits until {moment}": "ждёт до {moment}",
    "waits for an answer, until {moment}": "ждёт ответа до {moment}",
    "{cause}, {by}": "{cause}, {by}",
    "A runner begins it in a moment.": "Исполнитель начнёт его через мгновение.",
    "A runner goes on with it in a moment.": "Исполнитель продолжит его через мгновение.",
    "A runner ends it in a moment.": "Исполнитель закончит его через мгновение.",
    "All": "Все",
    "Under way": "Выполняются",
    "Parked": "Ждут",
    "Failed or stopped": "Сбой или остановлены",
    "Done": "Выполнены",
    "Cancelled": "Отменены",
    "Ticks that did not run": "Сроки без запуска",
    "The run is asked for: a runner begins it within a few seconds.": (
        "Запуск запрошен: исполнитель начнёт его через несколько секунд."
    ),
    "The run ends.": "Запуск заканчивается.",
    "The run goes on within a few seconds.": "Запуск продолжится через несколько секунд.",
    "The undoing is asked for: this is its run.": "Отмена запрошена: вот её запуск.",
    "The answer is taken.": "Ответ принят.",
    "{by} was quicker: the answer is “{option}”.": "{by} ответил раньше: «{option}».",
    "It is too late for an answer.": "Отвечать уже поздно.",
    "The run does not wait for this answer any more.": "Запуск больше не ждёт этого ответа.",
    "This is none of the answers.": "Такого ответа нет среди вариантов.",
    "This form is old: go back, bring the page up to date, and press again.": (
        "Форма устарела: вернитесь, обновите страницу и нажмите ещё раз."
    ),
    "Only {people} may run {name}, from chat.": "Запускать {name} могут только {people}, из чата.",
    "There is no automation {name}.": "Автоматизации {name} нет.",
    "There is no run {run}.": "Запуска {run} нет.",
    "There is nothing here.": "Здесь ничего нет.",
    "This cannot be read just now: {why}": "Сейчас это не прочитать: {why}",
    "The token is wrong.": "Токен неверный.",
    "Too many wrong tokens: try again in {length}.": "Слишком много неверных токенов: попробуйте через {length}.",
}

NUMBERED: Mapping[str, tuple[str, str, str, str]] = {
    "{n} runner is alive": (
        "{n} runners are alive", "Работает {n} исполнитель", "Работают {n} исполнителя", "Работают {n} исполнителей",
    ),
    "{n} tick missed": ("{n} ticks missed", "Пропущен {n} срок", "Пропущено {n} срока", "Пропущено {n} сроков"),
    "{n} outage is not over": (
        "{n} outages are not over", "Не закончен {n} сбой", "Не закончены {n} сбоя", "Не закончены {n} сбоев",
    ),
    "{n} automation": ("{n} automations", "{n} автоматизация", "{n} автоматизации", "{n} автоматизаций"),
    "{n} attempt": ("{n} attempts", "{n} попытка", "{n} попытки", "{n} попыток"),
}  # fmt: skip
"""By the English singular: the English plural, and Russian for 1, 2 and 5."""

TOLD: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), russian)
    for pattern, russian in (
        (r"the clocks leave out (\S+): it comes at (\S+)", r"перевод часов: вместо \1 в \2"),
        (r"the clocks leave out (\S+): it is one with the tick at the change", r"перевод часов: \1 вместе с другим"),
        (r"the clocks show (\S+) twice: this is the first", r"перевод часов: \1 бывает дважды, это первый раз"),
        (r"the clocks show (\S+) twice: this is the second", r"перевод часов: \1 бывает дважды, это второй раз"),
        (r"the clocks go from (\S+) to (\S+): (.+) do(?:es)? not come", r"перевод часов с \1 на \2: не будет \3"),
        (r"not on \S+ (\S+) \((.+)\)", r"не будет \1 (\2)"),
        (r"(\d+) more days off", r"и ещё выходных: \1"),
        (r"a working \S+", "рабочий выходной"),
        (r"missed while no runner ran", "исполнитель не работал"),
        (r"missed while no runner ran, more than (.+) ago", r"исполнитель не работал, прошло больше: \1"),
        (r"catch_up is none", "catch_up: none"),
        (r"only the newest (\d+) are run", r"выполняются только последние \1"),
        (r"those before it, from (\S+), are not listed", r"более ранние, с \1, не показаны"),
        (r"the latest missed one was run instead", "вместо него выполнен последний пропущенный"),
        (r"late: no runner ran at its time", "с опозданием: в срок исполнитель не работал"),
        (r"asked for at (.+)", r"запрошен в \1"),
        (r"its automation is gone", "такой автоматизации больше нет"),
        (r"the run before was still under way \((.+)\)", r"предыдущий запуск ещё не закончился (\1)"),
        (r"a newer run took its place", "его место занял более новый запуск"),
        (r"by hand", "вручную"),
        (r"by (.+)", r"прекратил: \1"),
    )
)
"""Sentences of the records that are our own, and their translations."""


def _in_russian(text: str) -> str:
    for pattern, russian in TOLD:
        if (found := pattern.fullmatch(text)) is not None:
            return found.expand(russian)
    return text


@dataclass(frozen=True, slots=True)
class Speech:
    """Speaks `en` or `ru`, and names moments on the clocks of a zone."""

    language: str
    zone: ZoneInfo
    now: datetime

    @property
    def _words(self) -> Words:
        return Words(self.language, self.zone)

    @property
    def _place(self) -> int:
        return 1 if self.language == "ru" else 0

    def t(self, sentence: str, **values: object) -> str:
        """A sentence with values put in by name."""
        return (RUSSIAN[sentence] if self.language == "ru" else sentence).format_map(values)

    def n(self, number: int, one: str, many: str | None = None) -> str:
        """A sentence with a number in it."""
        plural, *russian = NUMBERED[one]
        if self.language == "en":
            return (one if number == 1 else many or plural).format(n=number)
        teen = 10 < number % 100 < 20
        form = 0 if number % 10 == 1 and not teen else 1 if 2 <= number % 10 <= 4 and not teen else 2
        return russian[form].format(n=number)

    def told(self, text: str) -> str:
        """A sentence of the records."""
        if self.language == "ru":
            return "; ".join(_in_russian(part) for part in text.split("; "))
        return text

    def state_word(self, state: str) -> str:
        return STATES[state][self._place] if state in STATES else state

    def cause_word(self, cause: str) -> str:
        return CAUSES[cause][self._place] if cause in CAUSES else cause

    def moment(self, moment: datetime | str, *, seconds: bool = False) -> str:
        """`21 Nov, 02:10`, with the year where it is another one."""
        at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        local = at.astimezone(self.zone)
        text = self._words.moment(local) + (f":{local:%S}" if seconds else "")
        return text if local.year == self.now.astimezone(self.zone).year else f"{local.year} {text}"

    def clock(self, moment: datetime, *, same: bool = False) -> str:
        """`02:10`; `same`: on the moment's own clocks."""
        return f"{moment if same else moment.astimezone(self.zone):%H:%M}"

    def date(self, day: date) -> str:
        """`Mon 23 Nov`."""
        return f"{WEEKDAYS[self.language][day.weekday()]} {day.day} {MONTHS[self.language][day.month - 1]}"

    def length(self, length: timedelta) -> str:
        """`40 ms`, `1.4 s`, `50 min`, `1 d 3 h`."""
        seconds = length.total_seconds()
        if seconds < 10:
            text = f"{seconds * 1000:.0f}" if seconds < 1 else f"{seconds:.1f}"
            units = ("ms", "s") if self.language == "en" else ("мс", "с")
            text = text if self.language == "en" else text.replace(".", ",")
            return f"{text} {units[seconds >= 1]}"
        return self._words.length(length)

    def seconds(self, number: float) -> str:
        """The same for a number of seconds."""
        return self.length(timedelta(seconds=number))

    def age(self, moment: str) -> str:
        """How long ago that was."""
        return self.length(max(self.now - datetime.fromisoformat(moment), timedelta(seconds=1)))
