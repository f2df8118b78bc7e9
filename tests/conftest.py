"""What all tests may ask for."""

from tests.postgres import cluster, postgres_url

__all__ = ["cluster", "postgres_url"]
