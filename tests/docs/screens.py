"""The screens of the chat as a story: who does what, and what is to be seen then.

A picture shows the messages since the first step of its screen; one that goes on shows those of the screen before, too.
`make pictures` shows them by group in docs/screens/README.md.
"""

import csv
from dataclasses import dataclass

from playwright.async_api import Page, expect

from tests.docs.stage import Stage, Step, choose, photo, picture, press, reply, say, see, tap

GROUPS = (
    "Approvals", "Payments", "Requests of one's own", "Money", "Reports", "Tasks", "Wiki", "Automations",
    "Settings and people",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Screen:
    """One picture: what a person does, and what is said of it. `goes_on`: from the person's screen before."""

    name: str
    group: str
    person: str
    tells: str
    steps: tuple[Step, ...]
    goes_on: bool = False
    lossy: bool = False
    """Played where answers of the workspace get lost."""


def linked(*people: str) -> Step:
    """These people open their chats."""

    async def step(stage: Stage, page: Page) -> None:
        for person in people:
            await stage.page(person)

    return step


async def start(stage: Stage, page: Page) -> None:
    """Opens an invitation."""
    await page.get_by_test_id("start").click()
    await stage.see(page, "Yes, that's me")


def waiting(english: str, russian: str = "") -> Step:
    """Waits for a message that comes by itself."""

    async def step(stage: Stage, page: Page) -> None:
        words = stage.said(english, russian or english)
        await expect(page.get_by_test_id("messages")).to_contain_text(words, timeout=20_000)
        await stage.quiet(page)

    return step


def press_as(person: str, label: str) -> Step:
    """Somebody else presses a button on their phone."""

    async def step(stage: Stage, page: Page) -> None:
        await stage.press(await stage.page(person), label)

    return step


def receipt(stage: Stage) -> bytes:
    """A paper with the QR code of a receipt."""
    from io import BytesIO

    from PIL import Image, ImageDraw

    from bot.qr import squares

    day = stage.today
    texts = {
        "en": "BCD\n002\n1\nSCT\n\nBoards & Fixings\nDE02120300000000202051\nEUR38.00\n\n\nReceipt 4711",
        "ru": f"t={day:%Y%m%d}T1230&s=450.00&fn=9960440300000000&i=12345&fp=1234567890&n=1",
    }
    code, scale = squares(texts[stage.language]), 5
    side = len(code) * scale
    paper = Image.new("RGB", (side + 80, side + 150), "#fbfaf5")
    pen = ImageDraw.Draw(paper)
    for line, width in enumerate((0.5, 0.8, 0.65)):
        pen.rectangle((40, 30 + 22 * line, 40 + int(side * width), 38 + 22 * line), fill="#9a9a94")
    for y, row in enumerate(code):
        for x, dark in enumerate(row):
            if dark:
                left, top = 40 + x * scale, 110 + y * scale
                pen.rectangle((left, top, left + scale - 1, top + scale - 1), fill="black")
    drawn = BytesIO()
    paper.save(drawn, "PNG")
    return drawn.getvalue()


def newcomer(user_id: str) -> Step:
    """Somebody opens the link of a batch and waits for an admin."""

    async def step(stage: Stage, page: Page) -> None:
        stage.command("invite", "--all", "--csv", "links.csv")
        with (stage.folder / "links.csv").open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.DictReader(file) if user_id in row.values()]
        code = next(value for value in rows[0].values() if "start=" in value).partition("start=")[2]
        phone = await stage.newcomer(code)
        await phone.get_by_test_id("start").click()
        await stage.press(phone, "Yes, that's me")
        await stage.see(phone, "Thank you. Your administrator confirms that this is you; I write to you then.")

    return step


async def lose_payment(stage: Stage, page: Page) -> None:
    """What is paid next never arrives."""
    stage.lose_payment()


async def group(stage: Stage, page: Page) -> None:
    """A group with the bot in it, opened on this person's phone."""
    await stage.group(page, stage.said("Site Halden", "Объект «Халден»"))
    # Another chat, with numbers of its own.
    stage.marks["boris"] = 0


SCREENS: tuple[Screen, ...] = (
    Screen("link", "Settings and people", "vera", "An invitation says who one would be before anything is linked.",
           (start,)),
    Screen("linked", "Settings and people", "vera", "One tap, and one is in.", (press("Yes, that's me"),), True),
    Screen("escalation", "Approvals", "victor", "What waits too long goes up one level, as a notice.",
           (waiting("⏫"),), True),
    Screen("help", "Settings and people", "anna", "What there is, on one screen.", (say("/help"),)),
    Screen("inbox", "Approvals", "anna", "The request that has waited longest: what, how much, why, whose turn.",
           (linked("boris", "vera", "pauline"), say("/requests"))),
    Screen("xray", "Approvals", "anna", "What helps to decide: spending, cashboxes, requests alike, a plot.",
           (say("/requests"), press("Next ›"), press("Next ›"), press("X-ray"), picture())),
    Screen("filter", "Approvals", "anna", "The inbox narrowed by month, block and amount.",
           (say("/requests"), press("More ›"), press("Filter"))),
    Screen("several", "Approvals", "anna", "Several at once; those above the limit are left to their own card.",
           (say("/requests"), press("More ›"), press("Approve several"), choose(2), choose(4))),
    Screen("receipts", "Approvals", "anna", "One receipt for each, since each is a call of its own.",
           (press("Approve %(count)d"), see("Next ›")), True),
    Screen("limit", "Approvals", "anna", "Above one's limit the amount has to be typed.",
           (say("/requests"), press("Approve"))),
    Screen("approved", "Approvals", "anna", "The card says who decided, and when.",
           (say("12400"), see("Approved by you")), True),
    Screen("return", "Approvals", "anna", "Returned to work, with or without a note.",
           (say("/requests"), press("Return to work"))),
    Screen("reject", "Approvals", "anna", "A reason is asked for; the last ones are offered.",
           (press("‹ Back"), press("Reject"), say("The client pays for this himself.", "За это платит сам заказчик."),
            see("Rejected by you"), say("/requests"), press("Reject"))),
    Screen("told", "Requests of one's own", "boris", "The author is told of each decision.",
           (see("Open"),), True),
    Screen("request", "Requests of one's own", "boris", "Asking for money, one question after the other.",
           (say("/request"),)),
    Screen("request-category", "Requests of one's own", "boris", "Likely categories first, then the tree.",
           (say("Two more laser levels", "Ещё два лазерных нивелира"), say("1290")), True),
    Screen("request-review", "Requests of one's own", "boris", "All of it once more before it is submitted.",
           (tap("Tools and equipment", "Инструмент и оборудование"), tap("Tools", "Инструмент"), choose(0),
            say("Crew North has none left.", "У бригады «Север» их не осталось."),
            say("Two with tripods.", "Два, со штативами."), press("Skip")), True),
    Screen("request-sent", "Requests of one's own", "boris", "Submitted: whose turn it is, from the first minute.",
           (press("Submit"), see("Remind")), True),
    Screen("myrequests", "Requests of one's own", "boris", "What one has asked for, and where it stands.",
           (say("/myrequests"),)),
    Screen("chain", "Requests of one's own", "boris", "The chain with how long each has taken; a reminder once a day.",
           (tap("Raised floor", "Фальшпол"), press("Remind")), True),
    Screen("comment", "Requests of one's own", "boris", "A reply to a card is a comment on the request.",
           (reply("The supplier keeps them until Friday.", "Поставщик держит их до пятницы."),), True),
    Screen("copy", "Requests of one's own", "boris", "Once more, in another month; last month's all at once.",
           (say("/myrequests"), tap("Raised floor", "Фальшпол"), press("Copy into another month"))),
    Screen("expense", "Money", "pauline", "An expense, step by step.", (say("/expense"),)),
    Screen("cashbox", "Money", "pauline", "What is not sure is asked with buttons.",
           (say("38 screws", "38 саморезы"),), True),
    Screen("category", "Money", "pauline", "The category: likely ones first, then the tree, or a typed word.",
           (choose(0),), True),
    Screen("draft", "Money", "pauline", "The draft: each part can be changed, nothing is saved yet.",
           (tap("Materials", "Материалы"), tap("Hardware and fixings", "Фурнитура и крепёж")), True),
    Screen("saved", "Money", "pauline", "Saved, with its number and an undo.", (press("Save"), see("Undo")), True),
    Screen("correct", "Money", "pauline", "A reply to it corrects it.", (reply("yesterday", "вчера"),), True),
    Screen("lines", "Money", "pauline", "Several lines are several entries.",
           (say("12 coffee\n45 taxi yesterday", "12 кофе\n45 такси вчера"),)),
    Screen("receipt", "Money", "pauline", "A photo of a receipt's QR code becomes a draft with sum and date.",
           (photo(receipt),)),
    Screen("cancel", "Money", "pauline", "A way out of everything.", (say("/expense"), say("/cancel"))),
    Screen("income", "Money", "marina", "Income, in the same way.", (say("/income 5000 rent", "/income 5000 аренда"),)),
    Screen("move", "Money", "marina", "From one cashbox into another.",
           (say("transfer 500 main account to petty cash", "перевод 500 расчётный счёт → касса офиса"),)),
    Screen("last", "Money", "pauline", "One's last entries: repeat or correct them.", (say("/last"),)),
    Screen("balance", "Money", "marina", "What lies in the cashboxes that one may see.", (say("/balance"),)),
    Screen("report", "Reports", "marina", "A month by category.", (say("/report"),)),
    Screen("plot", "Reports", "marina", "The same as a picture.", (press("Plot, %(code)s", 0), picture()), True),
    Screen("pin", "Payments", "marina", "A PIN for payments, in /settings.",
           (say("/settings"), press("PIN for payments"), press("Set a PIN"))),
    Screen("pin-set", "Payments", "marina", "What is typed is deleted from the chat at once.",
           (say("4711"), say("4711"), see("Your PIN is set. Each payment asks for it from now on.")), True),
    Screen("to-pay", "Payments", "marina", "A request that is approved and not paid yet.",
           (say("/requests"), press("More ›"), press("To be paid (%(count)d) ›"))),
    Screen("pay", "Payments", "marina", "In full or in part.", (press("Pay"),), True),
    Screen("pay-limit", "Payments", "marina", "Above the limit the sum has to be typed.",
           (press("Pay in full: %(money)s"),), True),
    Screen("pay-pin", "Payments", "marina", "Then the PIN.", (say("11400"),), True),
    Screen("paid", "Payments", "marina", "The outcome, in words.", (say("4711"), see("%(money)s paid by you")), True),
    Screen("pay-lost", "Payments", "marina", "No answer came: the bot looks for the outcome, nobody pays twice.",
           (say("/requests"), press("More ›"), press("To be paid (%(count)d) ›"), press("Pay"), lose_payment,
            press("Pay in full: %(money)s"),
            see("The payment may have gone through. Do not pay again. I am checking.")), lossy=True),
    Screen("vacation", "Approvals", "anna", "Who decides while one is away.",
           (say("/vacation"), tap("Victor", "Виктор"), press("Two weeks"))),
    Screen("on-leave", "Approvals", "anna", "On leave, until one is back.", (press("Yes, so be it"),), True),
    Screen("task", "Tasks", "vera", "A task with its day, found in the words.",
           (say("/task call Boris tomorrow", "/task позвонить Борису завтра"),)),
    Screen("task-made", "Tasks", "vera", "Created; its status moves on by buttons.", (press("Create"),), True),
    Screen("tasks", "Tasks", "vera", "One's open tasks.", (say("/tasks"),)),
    Screen("wiki", "Wiki", "vera", "The articles that fit.", (say("/wiki taxi", "/wiki такси"),)),
    Screen("article", "Wiki", "vera", "One of them.", (choose(0),), True),
    Screen("run", "Automations", "vera", "What one may start from the chat.", (linked("anna"), say("/run"))),
    Screen("run-sure", "Automations", "vera", "What it does, before it begins.", (tap("rates", "курсы"),), True),
    Screen("run-asks", "Automations", "anna", "Automations ask; the first answer of those who are asked counts.",
           (press_as("vera", "Run it"), waiting("USD has moved", "Доллар изменился"))),
    Screen("run-answered", "Automations", "anna", "Every card says who has answered.",
           (tap("Set", "Записать"), see("answered by %(who)s, %(when)s")), True),
    Screen("run-done", "Automations", "vera", "Who started it sees how it ended.", (see("✅ Done"),), True),
    Screen("settings", "Settings and people", "boris", "Language, time zone and more.", (say("/settings"),)),
    Screen("quiet", "Settings and people", "boris", "When nothing comes by itself.", (press("Quiet hours"),), True),
    Screen("key", "Settings and people", "boris", "A key of one's own, for a hosted workspace.", (say("/key"),)),
    Screen("why", "Settings and people", "boris", "Who did what, when, and with which key.",
           (press("Cancel"), say("/why 1"))),
    Screen("admin", "Settings and people", "vera", "An admin confirms who has opened a link of a batch.",
           (newcomer("helen"), see("Confirm"))),
    Screen("group", "Settings and people", "boris", "In a group: nothing private.",
           (group, say("/help"), say("/requests"))),
)  # fmt: skip

SHOWN = {
    "help": "help", "requests": "inbox", "vacation": "vacation", "request": "request", "myrequests": "myrequests",
    "expense": "expense", "income": "income", "move": "move", "last": "last", "balance": "balance", "report": "report",
    "task": "task", "tasks": "tasks", "wiki": "wiki", "run": "run", "settings": "settings", "key": "key", "why": "why",
    "cancel": "cancel",
}  # fmt: skip
"""Which screen shows which command of the bot."""
