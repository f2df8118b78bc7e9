"""What the QR code of a receipt or an invoice says, read from a picture without asking anybody.

```
picture ─► bounded, upright, grey (Pillow) ─► codes, from top to bottom (zxing-cpp) ─► understand(text) ─► Receipt
```
The text of a code is what a stranger printed: only the exact forms below are taken, everything else is no receipt.

ru_fiscal   t=20260101T1230&s=450.00&fn=…&i=…&fp=…&n=1     Russian fiscal receipts
epc         BCD / version / … / SCT / BIC / payee / IBAN / EUR12.50 / …     EPC069-12, a SEPA credit transfer
swiss       SPC / 0200 / 1 / IBAN / creditor … / amount / CHF / … / EPD     Swiss QR-bill
rksv        _R1-AT1_cash register_number_2026-01-01T12:30:00_12,50_0,00_…     Austrian cash registers
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from io import BytesIO
from typing import Literal

from PIL import Image, ImageFilter, ImageOps
from zxingcpp import Barcode, BarcodeFormat, BarcodeFormats, TextMode, read_barcodes

Kind = Literal["ru_fiscal", "epc", "swiss", "rksv"]

MOST_BYTES = 20 * 1024 * 1024
MOST_PIXELS = 50_000_000
"""Larger pictures are not opened: a small file may unpack to gigabytes."""

ENOUGH = 4000
"""Pixels of the longer side at which codes are looked for; a code in a larger photo is large enough."""

SMALL = 2000
"""Below so many pixels a picture is looked at enlarged, too."""

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP")

LONGEST = 4300
"""Characters of a code: what a QR code can hold at most, in its widest alphabet but digits."""

MOST_MONEY = Decimal(10) ** 12


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a code says.

    `amount`: above zero, in the currency's main unit. `moment`: the local time as printed, naive. `fingerprint`: the
    same for the same receipt, whoever photographs it. `refund`: the money came back to the buyer. `raw`: the code.
    """

    kind: Kind
    amount: Decimal
    currency: str | None
    moment: datetime | None
    payee: str | None
    fingerprint: str
    raw: str
    refund: bool = False


async def read(picture: bytes) -> Receipt | None:
    """The first receipt in a picture, from top to bottom; None where there is none, or no picture either."""
    found = await read_all(picture)
    return found[0] if found else None


async def read_all(picture: bytes) -> tuple[Receipt, ...]:
    """All different receipts in a picture, from top to bottom."""
    return await asyncio.get_running_loop().run_in_executor(_reader(), look, picture)


@cache
def _reader() -> ThreadPoolExecutor:
    """One picture at a time: an unpacked one takes up to 200 MB."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="receipts")


def look(picture: bytes) -> tuple[Receipt, ...]:
    """The receipts in a picture; takes up to a few seconds, so `read` does it in a thread."""
    if not 0 < len(picture) <= MOST_BYTES:
        return ()
    try:
        grey = _grey(picture)
    except Exception:  # noqa: BLE001 - a decoder that is fed a stranger's bytes may raise whatever it likes
        return ()
    if grey is None:
        return ()
    for prepare in _LOOKS:
        found = _receipts(prepare(grey))
        if found:
            return found
    return ()


def _grey(picture: bytes) -> Image.Image | None:
    """The picture in grey, upright, on white, and not larger than is needed."""
    with Image.open(BytesIO(picture), formats=FORMATS) as opened:
        if opened.width * opened.height > MOST_PIXELS or min(opened.size) < 1:
            return None
        # A JPEG is unpacked in grey, and at a half or a quarter of its size where that is enough.
        times = max(1.0, max(opened.size) / ENOUGH)
        opened.draft("L", (int(opened.width / times), int(opened.height / times)))
        opened.load()
        upright = ImageOps.exif_transpose(opened)
        if upright.has_transparency_data:
            # Black on nothing would be black on black.
            coloured = upright.convert("RGBA")
            upright = Image.alpha_composite(Image.new("RGBA", coloured.size, "white"), coloured)
        grey = upright.convert("L")
    grey.thumbnail((ENOUGH, ENOUGH))
    return grey


def _as_it_is(grey: Image.Image) -> Image.Image:
    return grey


def _enlarged(grey: Image.Image) -> Image.Image:
    return grey.resize((grey.width * 2, grey.height * 2), Image.Resampling.BICUBIC) if max(grey.size) < SMALL else grey


def _sharpened(grey: Image.Image) -> Image.Image:
    """Against a hand that shook, or a code that was out of focus."""
    return _enlarged(grey).filter(ImageFilter.UnsharpMask(3, 150))


def _smoothed(grey: Image.Image) -> Image.Image:
    """Against the grain of a camera in bad light."""
    return _enlarged(grey).filter(ImageFilter.GaussianBlur(1.5))


_LOOKS: tuple[Callable[[Image.Image], Image.Image], ...] = (_as_it_is, _sharpened, _smoothed)


def _receipts(grey: Image.Image) -> tuple[Receipt, ...]:
    codes = read_barcodes(grey, formats=BarcodeFormats(BarcodeFormat.QRCode), text_mode=TextMode.Plain)
    codes.sort(key=lambda code: (code.position.top_left.y, code.position.top_left.x))
    found = [receipt for receipt in (understand(_text(code)) for code in codes) if receipt is not None]
    return tuple({receipt.fingerprint: receipt for receipt in found}.values())


def _text(code: Barcode) -> str:
    """The text of a code. Without a stated alphabet the library guesses; UTF-8 is what the makers mean."""
    try:
        return code.bytes.decode("utf-8")
    except UnicodeDecodeError:
        return code.text


def understand(text: str) -> Receipt | None:
    """What the text of a code says, where it is one of a receipt."""
    raw = text.lstrip("\ufeff").strip("\r\n \0")
    if not raw or len(raw) > LONGEST:
        return None
    for form in (_ru_fiscal, _epc, _swiss, _rksv):
        receipt = form(raw)
        if receipt is not None:
            return receipt
    return None


def _fingerprint(kind: Kind, *parts: str) -> str:
    return hashlib.sha256(json.dumps([kind, *parts]).encode()).hexdigest()


def _amount(text: str, pattern: str) -> Decimal | None:
    """A sum above zero; None for everything else."""
    if not re.fullmatch(pattern, text):
        return None
    amount = Decimal(text.replace(",", "."))
    return amount if 0 < abs(amount) < MOST_MONEY else None


def _moment(text: str, *forms: str) -> datetime | None:
    for form in forms:
        try:
            # The clock of the shop, which names no zone.
            moment = datetime.strptime(text, form)  # noqa: DTZ007
        except ValueError:
            continue
        return moment if 2000 <= moment.year < 2100 else None
    return None


def _ru_fiscal(raw: str) -> Receipt | None:
    """`n`: 1 a sale, 2 its return, 3 the shop buys, 4 the return of that."""
    pairs = re.fullmatch(r"[a-z]+=[0-9A-Z.:-]*(?:&[a-z]+=[0-9A-Z.:-]*){3,19}", raw)
    if pairs is None:
        return None
    said = dict(pair.split("=", 1) for pair in raw.split("&"))
    amount = _amount(said.get("s", ""), r"[0-9]{1,13}(?:\.[0-9]{1,2})?")
    moment = _moment(said.get("t", ""), "%Y%m%dT%H%M", "%Y%m%dT%H%M%S")
    numbers = [said.get(name, "") for name in ("fn", "i", "fp")]
    kind = said.get("n", "1")
    if amount is None or moment is None or kind not in {"1", "2", "3", "4"}:
        return None
    if not all(re.fullmatch(r"[0-9]{1,20}", number) for number in numbers):
        return None
    fingerprint = _fingerprint("ru_fiscal", *(number.lstrip("0") for number in numbers))
    return Receipt("ru_fiscal", amount, "RUB", moment, None, fingerprint, raw, refund=kind in {"2", "3"})


IBAN = r"[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}"


def _lines(raw: str) -> list[str]:
    return [line.strip() for line in re.split(r"\r\n|\n|\r", raw)]


def _epc(raw: str) -> Receipt | None:
    """EPC069-12: service tag, version, alphabet, identification, BIC, payee, IBAN, sum, purpose, references, hint."""
    lines = _lines(raw)
    if len(lines) > 12 or lines[:1] != ["BCD"]:
        return None
    lines += [""] * (12 - len(lines))
    _, version, alphabet, identification, _, payee, iban, money, _, reference, words, _ = lines
    iban = iban.replace(" ", "")
    amount = _amount(money.removeprefix("EUR"), r"[0-9]{1,9}(?:\.[0-9]{1,2})?")
    known = version in {"001", "002"} and re.fullmatch(r"[1-8]", alphabet) and identification in {"SCT", "INST"}
    if not known or amount is None or not money.startswith("EUR") or not payee or not re.fullmatch(IBAN, iban):
        return None
    fingerprint = _fingerprint("epc", iban, reference or words, str(amount.normalize()))
    return Receipt("epc", amount, "EUR", None, payee, fingerprint, raw)


def _swiss(raw: str) -> Receipt | None:
    """Swiss QR-bill: 31 lines and up to three more; the invoice's date where the billing information tells it."""
    lines = _lines(raw)
    if not 31 <= len(lines) <= 34 or lines[0] != "SPC" or lines[30] != "EPD":
        return None
    iban, payee, money, currency = lines[3].replace(" ", ""), lines[5], lines[18], lines[19]
    kind, reference, words = lines[27], lines[28].replace(" ", ""), lines[29]
    amount = _amount(money, r"[0-9]{1,9}(?:\.[0-9]{1,2})?")
    known = re.fullmatch(r"02[0-9]{2}", lines[1]) and lines[2] == "1" and kind in {"QRR", "SCOR", "NON"}
    if not known or amount is None or currency not in {"CHF", "EUR"} or not payee:
        return None
    if not re.fullmatch(r"(CH|LI)[0-9]{2}[A-Z0-9]{17}", iban):
        return None
    billing = lines[31] if len(lines) > 31 else ""
    dated = re.search(r"/11/([0-9]{6})(?:/|$)", billing) if billing.startswith("//S1/") else None
    moment = _moment(dated[1], "%y%m%d") if dated else None
    fingerprint = _fingerprint("swiss", iban, reference or words, str(amount.normalize()), currency)
    return Receipt("swiss", amount, currency, moment, payee, fingerprint, raw)


CANCELLED, TRAINING = "U1RP", "VFJB"
"""`STO` and `TRA` in base64, where else the encrypted turnover stands."""


def _rksv(raw: str) -> Receipt | None:
    """Austrian RKSV: the sums of five rates, each with a decimal comma; a cancellation has them below zero."""
    parts = raw.split("_")
    if len(parts) not in {13, 14} or parts[0] or not re.fullmatch(r"R[0-9]{1,2}-AT[0-9]{1,3}", parts[1]):
        return None
    register, number, when, sums, turnover = parts[2], parts[3], parts[4], parts[5:10], parts[10]
    moment = _moment(when, "%Y-%m-%dT%H:%M:%S")
    if not register or not number or moment is None or turnover == TRAINING:
        return None
    if not all(re.fullmatch(r"-?[0-9]{1,10},[0-9]{2}", part) for part in sums):
        return None
    total = sum((Decimal(part.replace(",", ".")) for part in sums), Decimal(0))
    if not 0 < abs(total) < MOST_MONEY:
        return None
    fingerprint = _fingerprint("rksv", register, number)
    refund = total < 0 or turnover == CANCELLED
    return Receipt("rksv", abs(total), "EUR", moment, None, fingerprint, raw, refund)
