"""Loading a folder of 10,000 automations, each of them different: the time of the CPU, and the memory of a process.

The files are written into a new folder first, which is not measured. Each has its own name, times, variables and texts,
four to six steps with templates of which some are its own and some like everybody's, as in a company's folder.
"""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.loopback import ROOT
from benchmarks.measure import Benchmark

PROGRAM = """
import json, resource, sys, time
from pathlib import Path
from automations.control import load_folder
started = time.process_time()
loaded = load_folder(Path(sys.argv[1]))
taken = time.process_time() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"loaded": len(loaded.definitions), "findings": len(loaded.findings), "s": taken, "MB": peak}))
"""

ZONES = ("Europe/Moscow", "Europe/Berlin", "America/Santiago", "Asia/Yekaterinburg", "UTC")

FILE = """\
# Number {number} of many.
name: job-{number:05}
description: What department {number} wants to know
trigger:
  - {{cron: "{minute} {hour} * * {weekday}", timezone: {zone}}}
  - {{every: {every}h}}
catch_up: {{policy: latest, window: {every}d}}
vars: {{codes: [USD, EUR], folder: department-{number}, most: {number}, person: "@team-{number}"}}
steps:
  - id: rates
    rates: {{source: cbr, codes: "{{{{ vars.codes }}}}"}}
  - id: requests_{number}
    call: finplan.request.list
  - if: "{{{{ steps.requests_{number} | length > {number} }}}}"
    id: file
    write: "{{{{ vars.folder }}}}/{{{{ tick.date }}}}.csv"
    content: "{{{{ steps.requests_{number} | selectattr('sum', 'gt', vars.most) | list }}}}"
  - unless: "{{{{ steps.file.skipped }}}}"
    telegram:
      to: "{{{{ vars.person }}}}"
      text: |
        Department {number}, {{{{ tick.date | format_date('%d.%m.%Y') }}}}
        {{{{ steps.requests_{number} | length }}}} requests
        {{% for rate in steps.rates %}}{{{{ rate.code }}}} {{{{ rate.value | round(2) }}}}
        {{% endfor %}}
"""

MORE = (
    """\
  - for_each: "{{ steps.rates }}"
    if: "{{ item.value > 0 }}"
    call: fintransaction.exchange.rate.custom.set
    with:
      currency_code_from: "{{ item.base }}"
      currency_code_to: "{{ item.quote }}"
      date: "{{ item.date }}"
      value: "{{ item.value }}"
""",
    """\
  - id: text
    report:
      template: "{{ automation.name }}: {{ steps.rates | table('code', 'value') }}"
on_failure:
  - telegram: {to: "@ops", text: "{{ automation.name }} failed at {{ failure.step }}: {{ failure.message }}"}
""",
)


def write_folder(folder: Path, count: int) -> None:
    """So many files into a folder, the same ones each time."""
    for number in range(count):
        text = FILE.format(
            number=number,
            minute=number % 60,
            hour=number // 60 % 24,
            weekday=number % 7,
            zone=ZONES[number % len(ZONES)],
            every=1 + number % 23,
        )
        (folder / f"job-{number:05}.yaml").write_text(text + "".join(MORE[: number % 3]), encoding="utf-8")


@cache
def measured(count: int) -> dict[str, float]:
    """Seconds of the CPU and megabytes at the peak, in a process of its own."""
    with TemporaryDirectory() as name:
        write_folder(Path(name), count)
        command = [sys.executable, "-c", PROGRAM, name]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    if found["loaded"] != count or found["findings"]:
        raise RuntimeError(f"{found['loaded']:.0f} of {count} files were loaded, with {found['findings']:.0f} findings")
    return found


LOAD_TIME = Benchmark(
    "loading automations",
    lambda size: measured(size.rows)["s"] * 1000,
    "at most",
    20_000.0,
    "ms",
    "CPU time of a fresh process that loads and checks a folder of 10,000 different files",
)

LOAD_MEMORY = Benchmark(
    "memory of automations",
    lambda size: measured(size.rows)["MB"],
    "at most",
    400.0,
    "MB",
    "the peak of that process",
)
