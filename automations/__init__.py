"""Automations: YAML → definition → ticks → durable runs → steps.

```
file.yaml ─ yaml_source ─► definition ─ check ─► Automation        errors as file:line:column: place: what
Automation ─ triggers, schedule ─► tick ─ ledger ─► run id `<automation>:<tick UTC>`
run ─ engine (the port) ─ engine_dbos ─► interpreter ─► steps      each recorded, a finished one is never repeated
control                                                            the face other parts use
```
Never imports `bot`, `workspace` or the server; what it needs from above comes in as a Protocol (ports.py).
"""
