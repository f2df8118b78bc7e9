"""`rates`: the published rates of a central bank.

```yaml
- id: rates
  rates: {source: cbr, codes: [USD, EUR]}
```
source  cbr  the Bank of Russia: roubles for one unit of a currency (base USD, quote RUB)
        ecb  the European Central Bank: units of a currency for one euro (base EUR, quote USD)
url     where they are published, or `file`: a file below the folder of files, or beside the automation
codes   which currencies; all where it is left out
max_age how old the published date may be on the day of the tick (10d from a URL; a file may be of any age)

Its value is a list of `{code, base, quote, date, value}`; `value` is for one unit and exact (a decimal).
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, JsonValue

from automations.errors import Path, StepFailed
from automations.expressions import is_template
from automations.shapes import is_list
from automations.steps import fetch
from automations.steps.base import Given, Step
from automations.steps.files import UnsafePath, parts_of, read_first
from automations.steps.published import PUBLISHERS, BadRates, Published
from automations.triggers import Duration, Model, duration

FRESH = "10d"


def _codes(value: JsonValue) -> JsonValue:
    if value is None or is_template(value):
        return value
    if not isinstance(value, list) or not all(isinstance(code, str) for code in value):
        raise ValueError("is a list of currency codes, such as [USD, EUR]")
    return value


class Source(Model):
    """Where rates come from, and which."""

    source: Literal["cbr", "ecb"]
    url: str | None = None
    file: str | None = None
    codes: Annotated[JsonValue, AfterValidator(_codes)] = None
    max_age: Duration | None = None


class RatesStep(Step):
    """Reads published rates."""

    kind: ClassVar[str] = "rates"

    rates: Source

    @property
    def only_reads(self) -> bool:
        return True

    def findings(self) -> Iterator[tuple[Path, str]]:
        if self.rates.url is not None and self.rates.file is not None:
            yield ("rates", "file"), "give a url or a file, not both"
        if self.rates.file is not None and not is_template(self.rates.file):
            try:
                parts_of(self.rates.file)
            except UnsafePath as error:
                yield ("rates", "file"), str(error)

    async def run(self, given: Given) -> Any:
        publisher = PUBLISHERS[self.rates.source]
        try:
            document = await self._document(given, publisher.url)
            published = publisher.read(document)
        except fetch.NotFetched as error:
            raise StepFailed(f"rates: {error}", transient=error.passing, retry_after=error.retry_after) from None
        except (UnsafePath, BadRates) as error:
            raise StepFailed(f"rates: {error}") from None
        except OSError as error:
            raise StepFailed(f"rates: {self.rates.file} cannot be read: {error.strerror}") from None
        self._check_age(published, given)
        return self._chosen(published, given.value(self.rates.codes))

    async def _document(self, given: Given, default_url: str) -> bytes:
        if self.rates.file is None:
            url = given.text(self.rates.url, "url") if self.rates.url is not None else default_url
            return await fetch.fetch(url, given.tools.hosts)
        name = given.text(self.rates.file, "file")
        return read_first((given.tools.files, given.folder), name)

    def _check_age(self, published: Published, given: Given) -> None:
        limit = self.rates.max_age or (FRESH if self.rates.file is None else None)
        if limit is not None and given.today - published.date > duration(limit) + timedelta(days=1):
            raise StepFailed(f"rates: the newest are of {published.date}, older than {limit} on {given.today}")

    def _chosen(self, published: Published, codes: Any) -> list[dict[str, Any]]:
        if codes is None:
            codes = list(published.rates)
        if not is_list(codes):
            raise StepFailed("rates: codes should be a list, such as [USD, EUR]")
        wanted = [str(code).upper() for code in codes]
        missing = [code for code in wanted if code not in published.rates]
        if missing:
            have = ", ".join(sorted(published.rates))
            raise StepFailed(f"rates: {', '.join(missing)} not among those of {published.date} ({have})")
        return [published.rates[code].as_value(published.date) for code in wanted]
