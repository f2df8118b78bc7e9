"""A workspace as hosted ones are, but without faults: python -m tests.docs.hosted (a free port, WORKSPACE_DATA)."""

import os
import sys
from pathlib import Path

from workspace_api.server.profile import HostedProfile
from workspace_api.server.serve import serve


def announce(address: str) -> None:
    """One line on stdout, as `workspace serve` prints it."""
    sys.stdout.write(f"The workspace listens at {address}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve(
        data=Path(os.environ["WORKSPACE_DATA"]),
        database_url=None,
        host="127.0.0.1",
        port=0,
        profile=HostedProfile(fault_rate=0.0),
        announce=announce,
    )
