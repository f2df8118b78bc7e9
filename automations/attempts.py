"""Trying a step: again while it fails for a passing reason, within its time.

The pause before attempt n + 1 is up to `backoff` · 2ⁿ, by chance (full jitter), or what the other side asked for. A
step that leaves traces and runs out of time may have happened: that is doubtful, and never tried again.
"""

import asyncio
from typing import Any

from automations.errors import StepFailed
from automations.steps import Given, Retry, Step
from automations.triggers import duration

LONGEST_PAUSE = 60.0
"""Seconds."""


async def attempted(step: Step, given: Given, retry: Retry, deadline: float | None) -> Any:
    """The value of a step. Raises StepFailed for the last failure; `deadline` is on the loop's clock."""
    own = duration(step.timeout).total_seconds() if step.timeout is not None else None
    now = asyncio.get_running_loop().time()
    ends = [moment for moment in (deadline, now + own if own is not None else None) if moment is not None]
    end = min(ends, default=None)
    try:
        async with asyncio.timeout_at(end):
            return await _attempts(step, given, retry)
    except TimeoutError:
        late = "its own timeout" if end != deadline else "the automation's timeout"
        if step.leaves_traces:
            raise StepFailed(
                f"was not done within {late}, and may have happened all the same: look in the workspace first, then "
                "resume the run with --again, which does this step once more",
                doubtful=True,
            ) from None
        raise StepFailed(f"was not done within {late}") from None


async def _attempts(step: Step, given: Given, retry: Retry) -> Any:
    backoff = duration(retry.backoff).total_seconds()
    attempt = 0
    while True:
        try:
            return await step.run(given)
        except StepFailed as error:
            attempt += 1
            if not error.transient or error.doubtful:
                raise
            if attempt >= retry.attempts:
                times = f" (tried {attempt} times)" if attempt > 1 else ""
                raise StepFailed(f"{error}{times}", unreachable=error.unreachable) from None
            pause = min(backoff * 2**attempt, LONGEST_PAUSE) * given.tools.random()
            asked = min(error.retry_after or 0.0, LONGEST_PAUSE)
        await given.tools.sleep(max(pause, asked))
