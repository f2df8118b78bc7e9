"""Every kind of bad file: the exact lines that a person reads."""

# ruff: noqa: E501 - a table of long lines reads better than one of broken lines

from pathlib import Path
from time import perf_counter

import pytest

from automations.control import load_folder, validate_files
from automations.definition import read_automation
from automations.errors import InvalidAutomation

STEP = "steps:\n  - call: orgschema.orgschema.export\n"
HEAD = "name: n\n" + STEP


def steps(text: str) -> str:
    return "name: n\nvars: {folder: org}\nsteps:\n" + text


TABLE: dict[str, tuple[str, list[str]]] = {
    # YAML that is more than data
    "empty": ("", ["1:1: is empty"]),
    "a list": ("- 1", ["1:1: should be a map with name, trigger and steps"]),
    "no YAML": ("name: [", ["2:1: is no YAML: while parsing a flow node did not find expected node content"]),
    "a tab": ("name: n\n\tsteps: 1", ["2:1: is no YAML: while scanning a plain scalar found a tab character that"
                                      " violates indentation"]),
    "unquoted braces": ("name: {{ x }}", ["1:8: name: a key is a text; put quotes around a value that starts with {{"]),
    "an alias": ("name: &n n\nsteps: *n", ["2:8: steps: aliases (*n) are refused: write the value out"]),
    "an alias bomb": ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
                      ["2:8: b[0]: aliases (*a) are refused: write the value out"]),
    "a merge key": ("name: n\n<<: {a: 1}", ["2:1: <<: merge keys are refused: write the values out"]),
    "a tag": ("name: !!python/object:os.system n",
              ["1:7: name: the tag tag:yaml.org,2002:python/object:os.system is not used here: leave it out"]),
    "a tag on a map": ("name: !set {a}", ["1:7: name: the tag !set is not used here: leave it out"]),
    "two equal keys": (HEAD + "name: m\n", ["4:1: name: is given twice (first in line 1)"]),
    "two equal keys within": (steps("  - call: a\n    call: b\n"), ["5:5: steps[0].call: is given twice (first in line 4)"]),
    "two documents": (HEAD + "---\nname: m\n", ["4:1: one file holds one automation: put the second document into its own"]),
    "too deep": ("name: " + "[" * 40, ["1:31: name" + "[0]" * 24 + ": nested deeper than 24 levels"]),
    "too many": ("name: [" + "1," * 30_000 + "]", ["1:40002: name[19997]: more than 20000 values: split the file"]),
    "too large": ("#" * 300_000, ["1:1: is larger than 256 KB"]),
    "a control character": ("name: n\nb: \x01", ["2:4: holds a character that YAML does not allow"]),
    # The shape
    "no steps": ("name: n", ["1:1: steps: is required"]),
    "steps empty": ("name: n\nsteps: []", ["2:8: steps: should have at least one step"]),
    "steps a map": ("name: n\nsteps: {}", ["2:8: steps: should be a list"]),
    "a step is a text": ("name: n\nsteps: [call]", ["2:9: steps[0]: should be a map with one of call, rates, write, telegram"]),
    "name is on": ("name: on\ntriger: {}\n" + STEP, ["2:1: triger: no such key; did you mean trigger?"]),
    "name is a number": ("name: 7\n" + STEP, ["1:7: name: should be a text: put quotes around it"]),
    "name has blanks": ("name: my export\n" + STEP,
                        ["1:7: name: is no name: use up to 60 small letters, digits and dashes, as in daily-rates"]),
    "vars a list": ("name: n\nvars: [a]\n" + STEP, ["2:7: vars: should be a map"]),
    "unknown key": (HEAD + "zzz: 1\n", ["4:1: zzz: no such key; the keys are name, description, trigger, vars, steps"]),
    "nothing to do": (steps("  - cal: a.b.c\n"), ["4:5: steps[0]: needs one of call, rates, write, telegram; did you mean call by cal?"]),
    "two things": (steps("  - call: orgschema.orgschema.export\n    write: a.txt\n"),
                   ["5:5: steps[0].write: a step does one thing: put this into a step of its own"]),
    "content missing": (steps("  - write: a.txt\n    contnt: x\n"),
                        ["4:5: steps[0].content: is required", "5:5: steps[0].contnt: no such key; did you mean content?"]),
    "bad id": (steps("  - id: my-step\n    call: orgschema.orgschema.export\n"),
               ["4:9: steps[0].id: is no id: use letters, digits and _, as in steps.daily_rates"]),
    "two equal ids": (steps("  - {id: a, call: orgschema.orgschema.export}\n  - {id: a, call: orgschema.orgschema.export}\n"),
                      ["5:10: steps[1].id: a is the id of steps[0] too: each needs its own"]),
    "if is yes": (steps("  - if: yes\n    call: orgschema.orgschema.export\n"),
                  ['4:9: steps[0].if: is a condition: write true, false, or one expression such as '
                   '"{{ steps.rates | length > 0 }}"']),
    "if is text and an expression": (steps('  - if: "not {{ vars.folder }}"\n    call: orgschema.orgschema.export\n'),
                  ['4:9: steps[0].if: is a condition: write true, false, or one expression such as '
                   '"{{ steps.rates | length > 0 }}"']),
    "for_each is a number": (steps("  - for_each: 3\n    call: orgschema.orgschema.export\n"),
                             ['4:15: steps[0].for_each: is a list, or one expression that gives one, such as '
                              '"{{ steps.rates }}"']),
    # Triggers
    "no trigger kind": ("name: n\ntrigger: {crn: x}\n" + STEP, ["2:10: trigger: needs one of cron, every; did you mean cron by crn?"]),
    "bad hour": ('name: n\ntrigger: {cron: "0 25 * * *"}\n' + STEP, ["2:17: trigger.cron: is no cron expression: wrong hour"]),
    "six fields": ('name: n\ntrigger: {cron: "0 0 2 * * *"}\n' + STEP,
                   ["2:17: trigger.cron: has five fields (minute hour day month weekday), such as 0 2 * * *"]),
    "no such day": ('name: n\ntrigger: {cron: "0 0 30 2 *"}\n' + STEP, ["2:17: trigger.cron: is no cron expression: wrong day-of-month"]),
    "a city": ('name: n\ntrigger: {cron: "0 2 * * *", timezone: Moscow}\n' + STEP,
               ["2:40: trigger.timezone: Moscow is no time zone; did you mean Europe/Moscow?"]),
    "a misspelt zone": ('name: n\ntrigger:\n  - {every: 1h}\n  - {cron: "0 2 * * *", timezone: Europe/Mosow}\n' + STEP,
                        ["4:35: trigger[1].timezone: Europe/Mosow is no time zone; did you mean Europe/Moscow?"]),
    "bad duration": ("name: n\ntrigger: {every: soon}\n" + STEP,
                     ["2:18: trigger.every: is no duration: write 30s, 15m, 1h30m or 2d"]),
    "no duration": ("name: n\ntrigger: {every: 0s}\n" + STEP, ["2:18: trigger.every: must be at least 1s"]),
    "bad anchor": ("name: n\ntrigger: {every: 1h, anchor: noon}\n" + STEP,
                   ["2:30: trigger.anchor: is no date: write 2026-01-01 or 2026-01-01 06:00"]),
    # Steps
    "unknown operation": (steps("  - call: finplan.request.reviw\n"),
                          ["4:11: steps[0].call: finplan.request.reviw is no operation; did you mean finplan.request.review?"]),
    "with is a list": (steps("  - call: finplan.request.list\n    with: [1]\n"),
                       ["5:11: steps[0].with: is a map of the operation's fields"]),
    "unknown field": (steps("  - call: finplan.request.review\n    with: {requestIds: [1], reviewType: accept, blockid: 2}\n"),
                      ["5:49: steps[0].with.blockid: no such field; did you mean block_id?"]),
    "wrong type beside a template": (
        steps("  - call: finplan.request.review\n    with: {requestIds: ['{{ vars.folder }}'], reviewType: accept, blockId: x}\n"),
        ["5:76: steps[0].with.blockId: should be a valid integer"],
    ),
    "unknown source": (steps("  - rates: {source: cbrr}\n"), ["4:21: steps[0].rates.source: should be cbr or ecb; did you mean cbr?"]),
    "codes a text": (steps("  - rates: {source: cbr, codes: USD}\n"),
                     ["4:33: steps[0].rates.codes: is a list of currency codes, such as [USD, EUR]"]),
    "url and file": (steps("  - rates: {source: cbr, url: x, file: y}\n"), ["4:40: steps[0].rates.file: give a url or a file, not both"]),
    "a file above": (steps("  - rates: {source: cbr, file: ../y}\n"),
                     ["4:32: steps[0].rates.file: '../y' would leave the folder of files, or has an empty part"]),
    "an absolute path": (steps("  - write: /etc/passwd.txt\n    content: x\n"),
                         ["4:12: steps[0].write: '/etc/passwd.txt' is no path below the folder of files: write a relative one, "
                          "such as org/today.json"]),
    "no ending": (steps("  - write: today\n    content: x\n"),
                  ["4:12: steps[0].write: 'today' has no ending that says the format: use one of .json, .jsonl, .csv, .txt"]),
    "telegram": (steps("  - telegram: {to: '@ops', tex: hi}\n"),
                 ["4:15: steps[0].telegram.text: is required", "4:28: steps[0].telegram.tex: no such key; did you mean text?"]),
    # Templates
    "unknown step": (steps('  - {id: org, call: orgschema.orgschema.export}\n  - write: a.json\n    content: "{{ steps.orgg }}"\n'),
                     ["6:14: steps[1].content: steps.orgg is not known; did you mean steps.org?"]),
    "a later step": (steps('  - write: a.json\n    content: "{{ steps.org }}"\n  - {id: org, call: orgschema.orgschema.export}\n'),
                     ["5:14: steps[0].content: steps.org comes later: a step sees those before it"]),
    "itself": (steps('  - id: a\n    write: a.json\n    content: "{{ steps.a }}"\n'),
               ["6:14: steps[0].content: steps.a comes later: a step sees those before it"]),
    "unknown var": (steps('  - write: a.txt\n    content: "{{ vars.foldr }}"\n'),
                    ["5:14: steps[0].content: vars.foldr is not known; did you mean vars.folder?"]),
    "a var without vars.": (steps('  - write: a.txt\n    content: "{{ folder }}"\n'),
                            ["5:14: steps[0].content: folder is no name; did you mean vars.folder?"]),
    "unknown name": (steps('  - write: a.txt\n    content: "{{ tik.date }}"\n'),
                     ["5:14: steps[0].content: tik is no name; did you mean tick?"]),
    "unknown member": (steps('  - write: a.txt\n    content: "{{ tick.dat }}"\n'),
                       ["5:14: steps[0].content: tick.dat is not known; did you mean tick.date?"]),
    "item without for_each": (steps('  - write: a.txt\n    content: "{{ item.x }}"\n'),
                              ["5:14: steps[0].content: item is only there in a step with for_each"]),
    "item in for_each itself": (steps('  - for_each: "{{ item }}"\n    write: a.txt\n    content: x\n'),
                                ["4:15: steps[0].for_each: item is only there in a step with for_each"]),
    "vars that use vars": ('name: n\nvars: {a: "{{ vars.b }}", b: 1}\n' + STEP,
                           ["2:11: vars.a: vars is no name; there are tick, run, automation"]),
    "in a block text": (steps("  - write: a.txt\n    content: |\n      one {{ vars.folder }}\n      two {{ vars.foldr }}\n"),
                        ["7:1: steps[0].content: vars.foldr is not known; did you mean vars.folder?"]),
    "unfinished": (steps('  - write: a.txt\n    content: "{{ vars.folder"\n'),
                   ["5:14: steps[0].content: is no template: unexpected end of template, expected 'end of print statement'"]),
    "unknown filter": (steps('  - write: a.txt\n    content: "{{ vars.folder | uper }}"\n'),
                       ["5:14: steps[0].content: is no template: No filter named 'uper'"]),
    "a macro": (steps("  - write: a.txt\n    content: '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}'\n"),
                ["5:14: steps[0].content: is no template: macro is not available in templates"]),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_a_bad_file_is_told_in_full(name: str) -> None:
    """Each finding has its line, its column, its place, and what was meant."""
    text, expected = TABLE[name]
    began = perf_counter()
    with pytest.raises(InvalidAutomation) as caught:
        read_automation(text, Path("n.yaml"))
    assert [str(finding) for finding in caught.value.findings] == [f"n.yaml:{line}" for line in expected]
    assert perf_counter() - began < 1


def test_what_is_not_utf8_is_told_with_its_line() -> None:
    """A file saved in another encoding."""
    with pytest.raises(InvalidAutomation, match=r"n.yaml:2:1: is not UTF-8: save it as UTF-8"):
        read_automation(b"name: n\ndescription: \xcf\xf0\xe8", Path("n.yaml"))


def test_words_that_yaml_bends_stay_text() -> None:
    """`on`, `NO`, `22:30`, `01` and a date are what they look like; true, numbers and null are typed."""
    text = (
        "name: n\nvars: {a: on, b: NO, c: 22:30, d: 01, e: 2026-11-01, f: true, g: 1.5, h: 7, i: ~, j: 'true'}\n" + STEP
    )
    values = read_automation(text, Path("n.yaml")).definition.vars
    assert list(values.values()) == ["on", "NO", "22:30", "01", "2026-11-01", True, 1.5, 7, None, "true"]


def test_a_folder_tells_all_and_keeps_the_good(tmp_path: Path) -> None:
    """Bad files are findings and good ones are loaded; two of one name are a finding in the second."""
    (tmp_path / "a.yaml").write_text(HEAD)
    (tmp_path / "b.yaml").write_text("name: m\n")
    (tmp_path / "c.yml").write_text(HEAD)
    (tmp_path / "notes.txt").write_text("no automation")
    loaded = load_folder(tmp_path)
    assert [one.name for one in loaded.definitions] == ["n"]
    assert [str(finding).removeprefix(f"{tmp_path}/") for finding in loaded.findings] == [
        "b.yaml:1:1: steps: is required",
        f"c.yml:1:1: name: n is the name of {tmp_path}/a.yaml too: each needs its own",
    ]
    assert validate_files([tmp_path]) == list(loaded.findings)
    assert loaded.findings[0].to_json()["line"] == 1


def test_missing_files_and_folders_are_findings(tmp_path: Path) -> None:
    """What cannot be read is told like what is wrong."""
    assert [finding.message for finding in validate_files([tmp_path / "no.yaml"])] == [
        "cannot be read: No such file or directory"
    ]
    assert load_folder(tmp_path / "none").findings[0].message == "is no folder: set WORKSPACE_AUTOMATIONS to one"
