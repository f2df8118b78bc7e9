# Needs Python 3.11 or newer and make. Everything goes into .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
# Processes that run tests: twice as many as there are cores, since most of a test's time is waiting.
TESTERS ?= $(shell expr 2 \* $$(nproc 2>/dev/null || echo 2))

.PHONY: setup demo test soak check bench pictures requirements clean

setup: .venv/.ready

# Hashes are checked by pip; the build backend comes from the same file, so nothing unpinned is fetched.
.venv/.ready: requirements/all.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.12 $(MAKECMDGOALS)" if sys.version_info < (3, 11) else 0)'
	@echo "Setting up .venv (about a minute, once) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) install --require-hashes -r requirements/all.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

.venv/.ready-dev: .venv/.ready requirements/dev.txt
	@echo "Adding the development tools to .venv ..."
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@

demo: setup
	@$(BIN)/workspace demo

test: .venv/.ready-dev
	$(BIN)/python -m pytest -n $(TESTERS) --dist worksteal --cov --cov-report=term-missing:skip-covered $(ARGS)

# The tests whose size `make test` cuts, at full size: 10,000 taps, 1,000 payments, fifty kills of the bot
# and, on each database, a thousand of three runners.
soak: .venv/.ready-dev
	SOAK=1 $(BIN)/python -m pytest -n $(TESTERS) --dist worksteal \
		tests/bot/test_taps.py tests/bot/test_payment_faults.py tests/e2e $(ARGS)

check: .venv/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/pyright

bench: .venv/.ready-dev
	$(BIN)/python -m benchmarks $(ARGS)

# Every screen in both languages, from the demo, in docs/screens. Needs Debian's chromium.
pictures: .venv/.ready-dev
	$(BIN)/python -m tests.docs.pictures $(ARGS)

# Rewrites the pinned, hashed requirements. Needs uv, which is installed beside the environment.
requirements:
	$(PYTHON) -m venv .venv/uv && .venv/uv/bin/pip install -q uv
	.venv/uv/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --extra all --group dev pyproject.toml -o requirements/dev.txt
	.venv/uv/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --extra all -c requirements/dev.txt requirements/build.in pyproject.toml -o requirements/all.txt

clean:
	rm -rf .venv data demo-data
