"""Central banks' rates: the published files, odd ones, and where they come from."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from shutil import copy

import pytest

from automations.steps.published import BadRates, read_cbr, read_ecb
from tests.automations.world import Bench, TableCaller

SAMPLES = Path(__file__).parent / "samples"
CBR = (SAMPLES / "cbr-2022-03-15.xml").read_bytes()
ECB = (SAMPLES / "ecb-2015-01-16.xml").read_bytes()


def test_the_bank_of_russia() -> None:
    """windows-1251, decimal commas, and 100 forints or 1000 won for one value."""
    published = read_cbr(CBR)
    assert published.date == date(2022, 3, 15)
    assert len(published.rates) == 34
    assert published.rates["AUD"].value == Decimal("83.5173")
    assert published.rates["HUF"].value == Decimal("0.334868")
    assert published.rates["AMD"].value == Decimal("0.223221")
    assert (published.rates["AUD"].base, published.rates["AUD"].quote) == ("AUD", "RUB")


def test_the_european_central_bank() -> None:
    """Units for one euro."""
    published = read_ecb(ECB)
    assert published.date == date(2015, 1, 16)
    assert len(published.rates) == 31
    assert published.rates["USD"].value == Decimal("1.1588")
    assert (published.rates["USD"].base, published.rates["USD"].quote) == ("EUR", "USD")


def valute(code: str = "USD", inner: str = "<Nominal>1</Nominal><Value>81,5</Value>") -> bytes:
    return f'<ValCurs Date="20.11.2026"><Valute><CharCode>{code}</CharCode>{inner}</Valute></ValCurs>'.encode()


def test_a_unit_rate_that_is_given_counts() -> None:
    """VunitRate has more digits than Value divided by Nominal."""
    inner = "<Nominal>10000</Nominal><Value>30,1234</Value><VunitRate>0,00301234</VunitRate>"
    assert read_cbr(valute("VND", inner)).rates["VND"].value == Decimal("0.00301234")


def test_of_many_days_the_newest_counts() -> None:
    """The history file of the European Central Bank, in any order."""
    days = [("2026-11-18", "1.1"), ("2026-11-20", "1.3"), ("2026-11-19", "1.2")]
    cubes = "".join(f'<Cube time="{day}"><Cube currency="USD" rate="{rate}"/></Cube>' for day, rate in days)
    published = read_ecb(f"<e><Cube>{cubes}</Cube></e>".encode())
    assert (published.date, published.rates["USD"].value) == (date(2026, 11, 20), Decimal("1.3"))


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (b"", "is no XML"),
        (b"<html>Sorry</html>", "no rates of the Bank of Russia"),
        (valute(inner="<Nominal>1</Nominal>"), "a currency without Value"),
        (valute(inner="<Nominal>1</Nominal><Value>n/a</Value>"), "'n/a' is no number"),
        (valute(inner="<Nominal>0</Nominal><Value>1</Value>"), "'0' is no rate"),
        (valute(inner="<Nominal>1</Nominal><Value>NaN</Value>"), "'NaN' is no rate"),
        (valute().replace(b"20.11.2026", b"2026"), "'2026' is no date"),
        (b'<!DOCTYPE x [<!ENTITY a "aaaa">]><ValCurs>&a;</ValCurs>', "has a DTD"),
        (b'<?xml version="1.0" encoding="nonsense"?><a/>', "is no XML"),
        (b"<" + b"a" * 10, "is no XML"),
    ],
)
def test_what_is_no_document_of_the_bank(document: bytes, told: str) -> None:
    """A page that says sorry, a field that is missing, a bomb."""
    with pytest.raises(BadRates, match=told):
        read_cbr(document)


def test_an_empty_document_of_the_other_bank() -> None:
    """No day, or a day without rates."""
    for document in (b"<e/>", b'<Cube time="2026-11-20"/>', b'<Cube><Cube currency="USD"/></Cube>'):
        with pytest.raises(BadRates):
            read_ecb(document)


async def test_a_file_beside_the_automation(bench: Bench[TableCaller]) -> None:
    """Below the folder of files first, then beside the YAML; all codes where none are named."""
    copy(SAMPLES / "ecb-2015-01-16.xml", bench.files.parent / "ecb.xml")
    text = "steps: [{id: r, rates: {source: ecb, file: ecb.xml%s}}]"
    bench.files.mkdir()
    assert (await bench.run(text % ""))["state"] == "done"
    assert len(bench.value("r")) == 31
    await bench.run(text % ", codes: [usd, GBP]")
    assert bench.value("r") == [
        {"code": "USD", "base": "EUR", "quote": "USD", "date": "2015-01-16", "value": {"$decimal": "1.1588"}},
        {"code": "GBP", "base": "EUR", "quote": "GBP", "date": "2015-01-16", "value": {"$decimal": "0.76370"}},
    ]


async def test_what_goes_wrong_is_told(bench: Bench[TableCaller]) -> None:
    """A code that is not there, a list that is none, rates that are old, files that are missing or not the bank's."""
    bench.files.mkdir()
    copy(SAMPLES / "cbr-2022-03-15.xml", bench.files / "cbr.xml")
    for source, told in [
        ("{source: cbr, file: cbr.xml, codes: [USD, XXX]}", "rates: XXX not among those of 2022-03-15 (AMD, AUD"),
        ('{source: cbr, file: cbr.xml, codes: "{{ tick.date }}"}', "codes should be a list"),
        ("{source: cbr, file: cbr.xml, max_age: 3d}", "the newest are of 2022-03-15, older than 3d on 2026-11-21"),
        ("{source: cbr, file: none.xml}", "rates: none.xml cannot be read: No such file"),
        ("{source: ecb, file: cbr.xml}", "no rates of the European Central Bank"),
        ('{source: ecb, file: "{{ tick.date }}/../../x"}', "would leave the folder"),
        ("{source: ecb, url: https://example.org/x}", "example.org is not on the list of hosts"),
        ('{source: ecb, url: "{{ [] }}"}', "url should be a text"),
    ]:
        result = await bench.run(f"steps: [{{rates: {source}}}]")
        assert told in result["message"], result
