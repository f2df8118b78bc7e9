"""What all tables share: the naming of constraints, and the kinds of columns.

Moments are texts `YYYY-MM-DD HH:MM:SS` in UTC: they sort, compare and go out without conversion, the same on SQLite and
PostgreSQL. Money is a whole number with a CHECK behind it. Lists and maps that are only ever read whole are JSON texts.
"""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Integer, MetaData, String, false

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

MONEY_LIMIT = 10**15
"""The largest single sum: a thousand of the largest rows still add up below 2^63, and JSON readers keep it exact."""

BigId = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up by itself only on INTEGER


def flag(name: str) -> Column[bool]:
    """True or false, false where nothing is said."""
    return Column(name, Boolean, nullable=False, server_default=false())


def moment(name: str, *, null: bool = False) -> Column[str]:
    """A moment as it is kept."""
    return Column(name, String(19), nullable=null)


def user(name: str, *, null: bool = False) -> Column[str]:
    """The id of a person."""
    return Column(name, String(64), ForeignKey("users.user_id"), nullable=null)
