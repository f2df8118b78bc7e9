"""The sample company: Alder & Stone, interiors of offices and restaurants, in English and Russian.

company.yaml  people and structure · money.yaml  cashboxes and habits · requests.yaml · tasks.yaml · wiki.yaml
"""

from datetime import date
from importlib.resources import files

from storage import Database
from workspace_api.server.company_file import Language, load_company, read_company
from workspace_api.server.company_shape import CompanyFile

FILES = ("company.yaml", "money.yaml", "requests.yaml", "tasks.yaml", "wiki.yaml")


def sample_company() -> CompanyFile:
    """The sample as it is written; `demo` names whom the demo's chat page offers."""
    folder = files(__name__)
    return read_company([folder / name for name in FILES])


def load_sample(database: Database, language: Language = "en", *, today: date) -> None:
    """Loads the sample into an empty, migrated workspace; `today` is the day from which its dates are counted."""
    load_company(database, sample_company(), language, today)
