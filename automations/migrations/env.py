from storage import run_migrations

run_migrations()
