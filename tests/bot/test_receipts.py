"""Receipts: what each form of code says, from its text and from pictures as phones take them."""

import random
import string
import struct
import zlib
from datetime import datetime
from decimal import Decimal
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFilter, ImageOps

from bot.qr import MARGIN, squares
from bot.receipts import MOST_PIXELS, look, read, read_all, understand

FISCAL = "t=20260101T1230&s=450.00&fn=9999078900004312&i=12345&fp=1234567890&n=1"
EPC = "BCD\n002\n1\nSCT\n\nTischlerei Köhler\nDE89370400440532013000\nEUR123.45\n\nRF18539007547034\n\nthanks"
SWISS = "\r\n".join(
    ["SPC", "0200", "1", "CH4431999123000889012", "S", "Holzhandel Rossi AG", "Gasse", "12", "8004", "Zürich", "CH"]
    + [""] * 7
    + ["1949.75", "CHF", "S", "Halden GmbH", "Weg", "1", "9400", "Rorschach", "CH"]
    + ["QRR", "210000000003139471430009017", "Order of 15 June", "EPD", "//S1/10/10201409/11/190512/20/140.000-53"]
)
RKSV = (
    "_R1-AT1_DEMO-CASH-BOX524_366585_2026-01-05T14:23:34_10,00_2,50_0,00_0,07_-0,02_rQbq4n+Dg=="
    "_61421d5c_i/Qa3Yc0+w=_bXlzaWc="
)


def code(text: str, *, scale: int = 6) -> Image.Image:
    """A code as a printer prints it."""
    rows = squares(text)
    drawn = Image.new("L", (len(rows), len(rows)))
    drawn.putdata([0 if dark else 255 for row in rows for dark in row])
    side = (len(rows) + 2 * MARGIN) * scale
    return ImageOps.expand(drawn, MARGIN, 255).resize((side, side), Image.Resampling.NEAREST)


def photo(*codes: Image.Image, size: tuple[int, int] = (1200, 1600), turned: float = 0) -> Image.Image:
    """A receipt on a table: the codes below one another, turned by so many degrees."""
    table = Image.new("L", size, 150)
    paper = Image.new("L", (size[0] * 2 // 3, size[1] * 4 // 5), 235)
    drawing = ImageDraw.Draw(paper)
    for line in range(8):
        drawing.text((30, 20 + 22 * line), "Screws 4x40, box          12.50", fill=40)
    top = 240
    for each in codes:
        paper.paste(each, (40, top))
        top += each.height + 30
    turned_paper = paper.rotate(turned, expand=True, fillcolor=150, resample=Image.Resampling.BICUBIC)
    table.paste(turned_paper, ((size[0] - turned_paper.width) // 2, (size[1] - turned_paper.height) // 2))
    return table


def bad(picture: Image.Image, *, grain: int, blur: float) -> Image.Image:
    """As a camera takes it in little light (`grain` per cent) or out of focus (`blur` pixels)."""
    noise = Image.frombytes("L", picture.size, random.Random(7).randbytes(picture.width * picture.height))
    return Image.blend(picture, noise, grain / 100).filter(ImageFilter.GaussianBlur(blur))


def saved(picture: Image.Image, form: str = "JPEG", **options: object) -> bytes:
    content = BytesIO()
    picture.save(content, form, **options)
    return content.getvalue()


def test_a_russian_fiscal_receipt() -> None:
    """Sum, printed time, roubles; it has no name of the shop."""
    receipt = understand(FISCAL)
    assert receipt is not None
    assert (receipt.kind, receipt.amount, receipt.currency) == ("ru_fiscal", Decimal(450), "RUB")
    assert (receipt.moment, receipt.payee, receipt.refund) == (datetime(2026, 1, 1, 12, 30), None, False)  # noqa: DTZ001 - as printed
    assert receipt.raw == FISCAL


def test_an_epc_transfer() -> None:
    """Sum in euros and who is paid; it has no date."""
    receipt = understand(EPC)
    assert receipt is not None
    assert (receipt.kind, receipt.amount, receipt.currency) == ("epc", Decimal("123.45"), "EUR")
    assert (receipt.moment, receipt.payee) == (None, "Tischlerei Köhler")


def test_a_swiss_bill() -> None:
    """Sum, currency, who is paid, and the invoice's date from the billing information."""
    receipt = understand(SWISS)
    assert receipt is not None
    assert (receipt.kind, receipt.amount, receipt.currency) == ("swiss", Decimal("1949.75"), "CHF")
    assert (receipt.moment, receipt.payee) == (datetime(2019, 5, 12), "Holzhandel Rossi AG")  # noqa: DTZ001 - as printed


def test_an_austrian_receipt() -> None:
    """The five rates added up, decimal commas."""
    receipt = understand(RKSV)
    assert receipt is not None
    assert (receipt.kind, receipt.amount, receipt.currency) == ("rksv", Decimal("12.55"), "EUR")
    assert receipt.moment == datetime(2026, 1, 5, 14, 23, 34)  # noqa: DTZ001 - as printed


@pytest.mark.parametrize(
    ("text", "refund"),
    [
        (FISCAL, False),
        (FISCAL.replace("n=1", "n=2"), True),
        (FISCAL.replace("n=1", "n=3"), True),
        (FISCAL.replace("n=1", "n=4"), False),
        (FISCAL.replace("&n=1", ""), False),
        (RKSV.replace("10,00", "-20,00"), True),
        (RKSV.replace("rQbq4n+Dg==", "U1RP"), True),
    ],
)
def test_money_that_came_back(text: str, refund: bool) -> None:
    """A return says so; its sum is above zero all the same."""
    receipt = understand(text)
    assert receipt is not None
    assert receipt.refund is refund
    assert receipt.amount > 0


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        (FISCAL.replace("450.00", "1234567.89"), "1234567.89"),
        (FISCAL.replace("450.00", "450"), "450"),
        (FISCAL.replace("T1230", "T123059"), "450"),
        ("fn=1&i=2&fp=3&s=7.5&t=20260101T0000&n=1\r\n", "7.5"),
        (EPC.replace("\n", "\r\n"), "123.45"),
        (EPC.replace("\n\nthanks", ""), "123.45"),
        (EPC.replace("002", "001").replace("SCT", "INST"), "123.45"),
        (EPC.replace("EUR123.45", "EUR999999999.99"), "999999999.99"),
        (SWISS.replace("\r\n", "\n"), "1949.75"),
        (SWISS.rsplit("\r\n", 1)[0], "1949.75"),
        (RKSV.rsplit("_", 1)[0], "12.55"),
    ],
)
def test_forms_that_occur(text: str, amount: str) -> None:
    """Line ends, order, optional parts."""
    receipt = understand(text)
    assert receipt is not None
    assert receipt.amount == Decimal(amount)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "https://example.com/?t=20260101T1230&s=450.00&fn=1&i=2&fp=3&n=1",
        "WIFI:S:guests;T:WPA;P:secret;;",
        "BEGIN:VCARD\nN:Holt;Marina\nEND:VCARD",
        FISCAL.replace("s=450.00", "s=0.00"),
        FISCAL.replace("s=450.00", "s=-450.00"),
        FISCAL.replace("s=450.00", "s=1e9"),
        FISCAL.replace("s=450.00", "s=٤٥٠"),
        FISCAL.replace("fn=9999078900004312", "fn="),
        FISCAL.replace("20260101", "20261301"),
        FISCAL.replace("20260101", "00010101"),
        FISCAL.replace("n=1", "n=9"),
        FISCAL.replace("&fp=1234567890", ""),
        EPC.replace("EUR123.45", ""),
        EPC.replace("EUR123.45", "USD123.45"),
        EPC.replace("EUR123.45", "EUR0.00"),
        EPC.replace("EUR123.45", "EURNaN"),
        EPC.replace("DE89", "89DE"),
        EPC.replace("SCT", "XYZ"),
        EPC + "\nmore\nlines",
        "BCD",
        SWISS.replace("1949.75", ""),
        SWISS.replace("CHF", "USD"),
        SWISS.replace("EPD", "EPX"),
        SWISS.replace("CH44", "DE44"),
        RKSV.replace("10,00", "10.00"),
        RKSV.replace("10,00", "-2,55"),
        RKSV.replace("rQbq4n+Dg==", "VFJB"),
        RKSV.replace("2026-01-05T", "2026-02-30T"),
        RKSV + "_more",
        "_" * 12,
        "t=" + "9" * 5000,
    ],
)
def test_what_is_no_receipt(text: str) -> None:
    """Other codes, no sum, sums of nothing, training receipts, broken dates."""
    assert understand(text) is None


@given(st.text(max_size=400) | st.text(alphabet="BCDSPEURCHF_R1-AT0123456789,.=&\ntsfnip", max_size=400))
def test_any_text_is_understood_or_not(text: str) -> None:
    """No text makes it fail."""
    receipt = understand(text)
    assert receipt is None or receipt.amount > 0


@given(st.sampled_from([FISCAL, EPC, SWISS, RKSV]), st.data())
def test_a_changed_text_is_understood_or_not(text: str, data: st.DataObject) -> None:
    """A damaged code is a receipt with a sum above zero, or none; it never makes the reading fail."""
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from(string.printable + "é٣\0"))
    receipt = understand(text[:place] + other + text[place + 1 :])
    assert receipt is None or receipt.amount > 0


@given(
    amount=st.decimals(min_value="0.01", max_value="9999999.99", places=2),
    moment=st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2099, 12, 31)),  # noqa: DTZ001 - as printed
    numbers=st.tuples(*[st.integers(1, 10**16)] * 3),
)
def test_every_fiscal_receipt_comes_back(amount: Decimal, moment: datetime, numbers: tuple[int, int, int]) -> None:
    """What was printed is what is read, to the minute."""
    fn, i, fp = numbers
    receipt = understand(f"t={moment:%Y%m%dT%H%M}&s={amount}&fn={fn}&i={i}&fp={fp}&n=1")
    assert receipt is not None
    assert receipt.amount == amount
    assert receipt.moment == moment.replace(second=0, microsecond=0)


def fingerprint(text: str) -> str:
    receipt = understand(text)
    assert receipt is not None
    return receipt.fingerprint


def test_the_same_receipt_has_the_same_fingerprint() -> None:
    """The identifying numbers alone count, not the order or the line ends."""
    same = "fn=9999078900004312&i=0012345&fp=1234567890&n=1&t=20260101T1230&s=450.00"
    assert fingerprint(same) == fingerprint(FISCAL)
    assert fingerprint(EPC.replace("\n", "\r\n")) == fingerprint(EPC)
    assert fingerprint(RKSV.replace("i/Qa3Yc0+w=", "other")) == fingerprint(RKSV)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (FISCAL, FISCAL.replace("i=12345", "i=12346")),
        (EPC, EPC.replace("RF18539007547034", "RF18539007547035")),
        (EPC, EPC.replace("123.45", "123.46")),
        (SWISS, SWISS.replace("210000000003139471430009017", "210000000003139471430009018")),
        (RKSV, RKSV.replace("_366585_", "_366586_")),
    ],
)
def test_another_receipt_has_another_fingerprint(text: str, other: str) -> None:
    """The number, the reference or the sum tells two receipts of one shop apart."""
    assert fingerprint(text) != fingerprint(other)


def test_a_fingerprint_tells_nothing() -> None:
    """It is kept for years: no account number can be read from it."""
    assert len(fingerprint(EPC)) == 64
    assert "DE89" not in fingerprint(EPC)


@pytest.mark.parametrize("text", [FISCAL, EPC, SWISS, RKSV], ids=["ru_fiscal", "epc", "swiss", "rksv"])
@pytest.mark.parametrize("turned", [0, 8, 90, 183])
async def test_a_photo_is_read(text: str, turned: float) -> None:
    """As it lies on the table, at any angle."""
    assert await read(saved(photo(code(text, scale=5), turned=turned), quality=70)) == understand(text)


@pytest.mark.parametrize("scale", [2, 3])
async def test_a_small_code_is_read(scale: int) -> None:
    """Two pixels for each of its squares are enough."""
    assert await read(saved(photo(code(FISCAL, scale=scale), size=(600, 800)), quality=75)) == understand(FISCAL)


@pytest.mark.parametrize(
    ("scale", "grain", "blur"),
    [(5, 40, 0.8), (3, 60, 0.8), (5, 0, 3.0), (2, 20, 0.8)],
    ids=["dim", "dark", "blurred", "far"],
)
async def test_a_bad_photo_is_read(scale: int, grain: int, blur: float) -> None:
    """Grain, a hand that shook, a small code, and hard compression."""
    taken = bad(photo(code(FISCAL, scale=scale), turned=5), grain=grain, blur=blur)
    assert await read(saved(taken, quality=50)) == understand(FISCAL)


async def test_a_photo_that_lies_on_its_side_is_read() -> None:
    """The camera notes how it was held instead of turning the picture: the upper receipt is still the upper one."""
    exif = Image.Exif()
    exif[0x0112] = 8
    other = FISCAL.replace("i=12345", "i=777")
    lying = photo(code(other, scale=4), code(FISCAL, scale=4)).transpose(Image.Transpose.ROTATE_270)
    assert await read_all(saved(lying, exif=exif)) == (understand(other), understand(FISCAL))


async def test_black_on_nothing_is_read() -> None:
    """A screenshot may have no background."""
    drawn = code(EPC)
    transparent = Image.new("RGBA", drawn.size, (0, 0, 0, 0))
    transparent.putalpha(drawn.point([255 - level for level in range(256)]))
    assert await read(saved(transparent, "PNG")) == understand(EPC)


async def test_other_codes_beside_it_do_not_matter() -> None:
    """A receipt often has a link to the shop's page on top."""
    picture = saved(photo(code("https://example.com/bonus", scale=5), code(FISCAL, scale=5)))
    assert await read_all(picture) == (understand(FISCAL),)


async def test_two_receipts_come_from_top_to_bottom() -> None:
    """`read` takes the upper one; the same one twice is one."""
    other = FISCAL.replace("i=12345", "i=777")
    found = await read_all(saved(photo(code(other, scale=4), code(FISCAL, scale=4), code(other, scale=4))))
    assert found == (understand(other), understand(FISCAL))


@pytest.mark.parametrize(
    "text", ["https://example.com", "WIFI:S:guests;T:WPA;P:secret;;", "Привет", FISCAL.replace("450.00", "0")]
)
async def test_a_picture_of_another_code_is_none(text: str) -> None:
    """A QR code alone makes no receipt."""
    assert await read(saved(photo(code(text)))) is None


async def test_a_picture_without_a_code_is_none() -> None:
    """A photo of the lunch."""
    assert await read(saved(photo())) is None


def png(width: int, height: int, lines: bytes) -> bytes:
    """A PNG that says it is so large."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", lines) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("width", "height"), [(7100, 7100), (12_000, 12_000), (60_000, 60_000), (2**31 - 1, 1), (1, 0)]
)
async def test_a_picture_that_unpacks_to_gigabytes_is_not_unpacked(width: int, height: int) -> None:
    """A few kilobytes may claim to be a square kilometre; it is refused by its first bytes."""
    assert width * height > MOST_PIXELS or not height
    assert await read(png(width, height, zlib.compress(b"\0" * 1_000_000))) is None


async def test_a_picture_beyond_the_limit_is_none_though_it_has_a_code() -> None:
    """The limit is what stops it, not what is in it."""
    wall = Image.new("L", (8000, MOST_PIXELS // 8000), 255)
    wall.paste(code(FISCAL, scale=40), (0, 0))
    assert await read(saved(wall, "PNG")) == understand(FISCAL)
    larger = Image.new("L", (8000, MOST_PIXELS // 8000 + 1), 255)
    larger.paste(wall, (0, 0))
    assert await read(saved(larger, "PNG")) is None


async def test_too_many_bytes_are_not_looked_at() -> None:
    """A picture with 20 MB of ballast behind it."""
    assert await read(saved(photo(code(FISCAL))) + b"\0" * (20 * 1024 * 1024)) is None


@pytest.mark.parametrize(
    "picture", [b"", b"\0", b"GIF89a", b"\xff\xd8\xff\xe0", b"<svg/>", b"%PDF-1.7", b"RIFF\0\0\0\0WEBP"]
)
async def test_garbage_is_none(picture: bytes) -> None:
    """No picture, no receipt, no error."""
    assert await read(picture) is None


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_damaged_picture_is_read_or_not(data: st.DataObject) -> None:
    """Cut off or with bytes changed: a receipt or none, never an error, and never a made-up sum."""
    picture = bytearray(DAMAGED)
    for place in data.draw(st.lists(st.integers(0, len(picture) - 1), max_size=20)):
        picture[place] ^= 0xFF
    cut = data.draw(st.integers(0, len(picture)))
    found = look(bytes(picture[:cut]))
    known = understand(FISCAL)
    assert set(found) <= {known}


DAMAGED = saved(code(FISCAL, scale=3), "PNG")
