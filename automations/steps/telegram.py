"""`telegram`: says something in chat, with a file where one is named.

```yaml
- telegram: {to: "@ops", text: "Exported {{ steps.file.path }}", file: "{{ steps.file.path }}"}
```
`to` is what the bot knows people and chats by. Each message of a run is delivered once, whatever is tried again.
"""

from typing import Any, ClassVar

from automations.errors import StepFailed
from automations.steps.base import Given, Step
from automations.steps.files import UnsafePath, inside
from automations.triggers import Model


class Message(Model):
    """`to`, `text`, and `file`: a path below the folder of files, as `write` gives it."""

    to: str
    text: str
    file: str | None = None


class TelegramStep(Step):
    """Sends a message through the bot. Its value is `{to, text}`."""

    kind: ClassVar[str] = "telegram"

    telegram: Message

    async def intent(self, given: Given) -> dict[str, Any]:
        file = {"file": given.text(self.telegram.file, "file")} if self.telegram.file is not None else {}
        return {
            "telegram": given.text(self.telegram.to, "to"),
            "text": given.text(self.telegram.text, "text"),
            **file,
        }

    async def run(self, given: Given) -> Any:
        to = given.text(self.telegram.to, "to")
        text = given.text(self.telegram.text, "text")
        file = None
        if self.telegram.file is not None:
            name = given.text(self.telegram.file, "file")
            try:
                file = inside(given.tools.files, name)
            except UnsafePath as error:
                raise StepFailed(f"file: {error}") from None
        try:
            await given.tools.messenger.say(to, text, file=file, key=given.key)
        except ValueError as error:
            raise StepFailed(f"nothing was sent: {error}") from None
        return {"to": to, "text": text}
