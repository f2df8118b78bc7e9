"""Migrations for the tests of storage.migrate."""

from storage import run_migrations

run_migrations()
