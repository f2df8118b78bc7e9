"""What `import workspace_api` costs a program that has not yet made a call.

There is nothing to set it against, so it is the CPU's time: what else the machine does must not count.
"""

import statistics
import subprocess
import sys

from benchmarks.loopback import ROOT
from benchmarks.measure import Benchmark, Size

PROGRAM = """
import sys, time
started = time.process_time()
import workspace_api
print((time.process_time() - started) * 1000)
print("aiohttp" in sys.modules)
"""


def _run(size: Size) -> float:
    times: list[float] = []
    # The first process finds nothing compiled and nothing in the page cache: it does not count.
    for number in range(size.rounds + 1):
        done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, check=True, capture_output=True, text=True)
        taken, imported = done.stdout.split()
        if imported == "True":
            raise RuntimeError("import workspace_api imports aiohttp, which is to wait for the first async call")
        if number:
            times.append(float(taken))
    return statistics.median(times)


IMPORT_TIME = Benchmark(
    "import workspace_api",
    _run,
    "at most",
    300.0,
    "ms",
    "CPU time, median over fresh processes; aiohttp must not be among it",
)
