"""`telegram`: says something in chat, with a document or a picture where one is named.

```yaml
- telegram: {to: "@ops", text: "Exported {{ steps.file.path }}", file: "{{ steps.file.path }}"}
- telegram: {to: "manager_of(boris), -100123", text: "The structure now", photo: org/today.png}
```
`to`: user ids, roles, chats' numbers, `manager_of(…)` and `holder_of(…)`, several with commas (recipients.py). An SVG
is sent as a document. Each message of a run is delivered once, whatever is tried again.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from automations.errors import Path, StepFailed
from automations.steps import recipients
from automations.steps.attachments import attached
from automations.steps.base import Given, Step
from automations.triggers import Model


class Message(Model):
    """`to`, `text`, and `file` or `photo`: a path below the folder of files, as `write` gives it."""

    to: str
    text: str
    file: str | None = None
    photo: str | None = None


class TelegramStep(Step):
    """Sends a message through the bot. Its value is `{to, text}`."""

    kind: ClassVar[str] = "telegram"

    telegram: Message

    def findings(self) -> Iterator[tuple[Path, str]]:
        for problem in recipients.findings(self.telegram.to):
            yield ("telegram", "to"), problem
        if self.telegram.photo is not None and self.telegram.file is not None:
            yield ("telegram", "file"), "is one thing too many: name photo or file"

    async def intent(self, given: Given) -> dict[str, Any]:
        return self._shown(given, await recipients.addressees(self.telegram.to, given))

    def _shown(self, given: Given, to: str) -> dict[str, Any]:
        message = self.telegram
        files = {name: path for name, path in (("photo", message.photo), ("file", message.file)) if path is not None}
        shown = {name: given.text(path, name) for name, path in files.items()}
        return {"telegram": to, "text": given.text(message.text, "text"), **shown}

    async def run(self, given: Given) -> Any:
        to = await recipients.addressees(self.telegram.to, given)
        text = given.text(self.telegram.text, "text")
        file = attached(given, self.telegram.file, self.telegram.photo)
        given.tell(**self._shown(given, to))
        try:
            path = None if file is None else file.path
            await given.tools.messenger.say(to, text, file=path, photo=file is not None and file.photo, key=given.key)
        except ValueError as error:
            raise StepFailed(f"nothing was sent: {error}") from None
        return {"to": to, "text": text}
