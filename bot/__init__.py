"""The Telegram assistant.

```
update ─► inbox (committed, then acknowledged) ─► the person's queue ─► dialogue
dialogue ─┬─► card ─► outbox ─► Telegram
          └─► intent (committed) ─► workspace call ─► outcome ─► card
poll ─► watch ─► new and changed cards
```
"""
