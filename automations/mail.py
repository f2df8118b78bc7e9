"""Notices by mail, over SMTP: `smtp://` is turned into TLS before anything is said, `smtps://` begins with it.

Plain SMTP without TLS is spoken on this machine alone, and no password is sent over it.
"""

import asyncio
import smtplib
import ssl
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import format_datetime
from urllib.parse import unquote, urlsplit

from automations.notices import MAIL, SECONDS, Letter, NotDelivered
from automations.ports import Clock

PORTS = {"smtp": 587, "smtps": 465}
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class Server:
    """Where mail is handed in."""

    host: str
    port: int
    tls: bool
    user: str | None = None
    password: str | None = field(default=None, repr=False)


def server_of(url: str, password: str | None = None) -> Server:
    """Reads `smtp(s)://user@host:587`. `password`: in place of the one in it. Raises ValueError."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in PORTS or not parts.hostname or parts.path.strip("/") or parts.query:
        raise ValueError("is no address of a mail server: write smtp://user@host:587 or smtps://user@host:465")
    user = unquote(parts.username) if parts.username else None
    given = password or (unquote(parts.password) if parts.password else None)
    return Server(parts.hostname, port or PORTS[parts.scheme], parts.scheme == "smtps", user, given)


@dataclass(frozen=True, slots=True)
class Mail:
    """To the addresses of WORKSPACE_ALERT_MAIL, from the server's user where that is an address."""

    server: Server
    to: tuple[str, ...]
    clock: Clock
    context: ssl.SSLContext | None = None
    """Whose certificates are trusted; the system's where none is given."""
    name: str = MAIL

    async def send(self, letter: Letter) -> None:
        try:
            await asyncio.to_thread(self._send, self._message(letter))
        except smtplib.SMTPException as error:
            # Its text may hold what was said to the server.
            code = f" {error.smtp_code}" if isinstance(error, smtplib.SMTPResponseException) else ""
            raise NotDelivered(f"{self.server.host} did not take the mail ({type(error).__name__}{code})") from None
        except OSError as error:
            raise NotDelivered(
                f"{self.server.host}:{self.server.port} cannot be reached: {error.strerror or error}"
            ) from None

    @property
    def sender(self) -> str:
        """Whom it is from."""
        user = self.server.user or ""
        return user if "@" in user else f"workspace@{self.to[0].rpartition('@')[2]}"

    def _message(self, letter: Letter) -> EmailMessage:
        message = EmailMessage()
        message["Subject"] = " ".join(letter.subject.split())[:200]
        message["From"] = self.sender
        message["To"] = ", ".join(self.to)
        message["Date"] = format_datetime(self.clock())
        message["Auto-Submitted"] = "auto-generated"
        message["X-Notice-Id"] = " ".join(letter.key.split())
        message.set_content(letter.words)
        return message

    def _send(self, message: EmailMessage) -> None:
        context = self.context or ssl.create_default_context()
        server = self.server
        if server.tls:
            with smtplib.SMTP_SSL(server.host, server.port, timeout=SECONDS, context=context) as session:
                self._hand_in(session, message)
            return
        with smtplib.SMTP(server.host, server.port, timeout=SECONDS) as session:
            session.ehlo()
            if session.has_extn("starttls"):
                session.starttls(context=context)
                session.ehlo()
            elif server.password or server.host not in LOOPBACK:
                raise smtplib.SMTPNotSupportedError("no TLS")
            self._hand_in(session, message)

    def _hand_in(self, session: smtplib.SMTP, message: EmailMessage) -> None:
        if self.server.user and self.server.password:
            session.login(self.server.user, self.server.password)
        session.send_message(message, from_addr=self.sender, to_addrs=list(self.to))
