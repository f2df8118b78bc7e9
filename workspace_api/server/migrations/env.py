"""Migrations of the embedded workspace."""

from storage import run_migrations

run_migrations()
