"""The embedded workspace: the documented API over a database of one's own.

```
serve.py ─► app.py (HTTP, envelope) ─► dispatch.py (registry, kept answers, writer) ─► handlers.py (name → function)
                                                                                └ one module for each API module
opening.py   where the database lies, migrations, sample     keys.py       API keys and whom they stand for
rules/       the rules of the business, over values           schema/    the tables; migrations/ brings a file there
profile.py   how faithful it is: standard or hosted            company_file.py, sample/   a company from files
tx.py        what a handler works with                         DECISIONS.md  what the documents leave open, decided
```
"""
