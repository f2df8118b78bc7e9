"""The ops page: what runs next, what is under way, what ran, what waits for an answer; for people who look after it.

```
request ─► guard (host, origin, headers) ─► app ─┬─ sessions: who is it, may this form be trusted
                                                 ├─ views ─► past (the tables), coming, timeline ─► templates
                                                 └─ acts ──► ports.Acts: answer, run, cancel, resume, undo
```
`serve_page(page, host, port, stop)` serves it beside a runner. The only part of automations that knows a web framework.
"""

from automations.page.app import Page
from automations.page.serving import serve_page, serve_page_when_free

__all__ = ["Page", "serve_page", "serve_page_when_free"]
