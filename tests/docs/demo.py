"""The real demo as a process of its own: started on free ports, its printed addresses read, stopped as Ctrl+C does.

async with running_demo(folder) as demo:
    demo.chat["Anna Bennett"]      the address of the chat page that links her
"""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

WORKSPACE = Path(sys.executable).with_name("workspace")

PERSON = re.compile(r"^  ([^,\n]+), [^\n]+\n    (http://\S+)$", re.M)


@dataclass(frozen=True, slots=True)
class Demo:
    """What a running demo has printed."""

    said: str
    chat: Mapping[str, str]
    """Address of the chat page by the person's name, with the code that links them."""


def clean_environment(data: Path, **more: str) -> dict[str, str]:
    """This process's environment without settings of its own, with `data` as the data folder and no ops page."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WORKSPACE_", "TELEGRAM_"))}
    path = f"{WORKSPACE.parent}{os.pathsep}{kept.get('PATH', '')}"
    own = {"PATH": path, "PYTHONUNBUFFERED": "1", "WORKSPACE_DATA": str(data), "WORKSPACE_PAGE": "off"}
    return kept | own | more


@asynccontextmanager
async def running_demo(folder: Path, **settings: str) -> AsyncGenerator[Demo]:
    """`workspace demo` in that folder; ends it with SIGINT, which has to end it well."""
    process = await asyncio.create_subprocess_exec(
        str(WORKSPACE), "demo", "--port", "0", "--chat-port", "0",
        cwd=folder, env=clean_environment(folder / "demo-data", **settings), stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        said = ""
        async with asyncio.timeout(60):
            while "automations show" not in said:
                line = (await process.stdout.readline()).decode()
                assert line, f"the demo ended by itself after saying:\n{said}"
                said += line
        yield Demo(said, dict(PERSON.findall(said)))
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        async with asyncio.timeout(60):
            await process.communicate()
    assert process.returncode == 0, f"the demo ended with {process.returncode}"
