"""Templates that name what is not there, or cannot be read."""

# ruff: noqa: E501 - a table of long lines reads better than one of broken lines

from tests.automations.bad.row import HEAD, STEP, Row, steps, write

TEMPLATES: dict[str, Row] = {
    "unknown step": Row(
        steps('  - {id: org, call: orgschema.orgschema.export}\n  - write: a.json\n    content: "{{ steps.orgg }}"\n'),
        ["6:14: steps[1].content: steps.orgg is not known; did you mean steps.org?"],
    ),
    "no steps yet": Row(
        write("{{ steps.org }}"), ["5:14: steps[0].content: steps.org is not known; there are none here"]
    ),
    "a later step": Row(
        steps('  - write: a.json\n    content: "{{ steps.org }}"\n  - {id: org, call: orgschema.orgschema.export}\n'),
        ["5:14: steps[0].content: steps.org comes later: a step sees those before it"],
    ),
    "itself": Row(
        steps('  - id: a\n    write: a.json\n    content: "{{ steps.a }}"\n'),
        ["6:14: steps[0].content: steps.a comes later: a step sees those before it"],
    ),
    "a step of on_failure": Row(
        write("{{ steps.told }}") + "on_failure: [{id: told, telegram: {to: '@ops', text: x}}]\n",
        ["5:14: steps[0].content: steps.told comes later: a step sees those before it"],
    ),
    "a step without steps.": Row(
        steps('  - {id: org, call: orgschema.orgschema.export}\n  - write: a.json\n    content: "{{ org }}"\n'),
        ["6:14: steps[1].content: org is no name; did you mean steps.org?"],
    ),
    "unknown var": Row(
        write("{{ vars.foldr }}"), ["5:14: steps[0].content: vars.foldr is not known; did you mean vars.folder?"]
    ),
    "a var without vars.": Row(
        write("{{ folder }}"), ["5:14: steps[0].content: folder is no name; did you mean vars.folder?"]
    ),
    "unknown name": Row(write("{{ tik.date }}"), ["5:14: steps[0].content: tik is no name; did you mean tick?"]),
    "unknown member": Row(
        write("{{ tick.dat }}"), ["5:14: steps[0].content: tick.dat is not known; did you mean tick.date?"]
    ),
    "unknown member in brackets": Row(
        write("{{ tick['dat'] }}"), ["5:14: steps[0].content: tick.dat is not known; did you mean tick.date?"]
    ),
    "unknown member of run": Row(
        write("{{ run.cuase }}"), ["5:14: steps[0].content: run.cuase is not known; did you mean run.cause?"]
    ),
    "unknown member of automation": Row(
        write("{{ automation.nme }}"),
        ["5:14: steps[0].content: automation.nme is not known; did you mean automation.name?"],
    ),
    "item without for_each": Row(
        write("{{ item.x }}"), ["5:14: steps[0].content: item is only there in a step with for_each"]
    ),
    "loop without for_each": Row(
        write("{{ loop.index }}"), ["5:14: steps[0].content: loop is only there in a step with for_each"]
    ),
    "an unknown member of loop": Row(
        steps('  - for_each: "{{ vars.codes }}"\n    write: a.txt\n    content: "{{ loop.idx }}"\n'),
        ["6:14: steps[0].content: loop.idx is not known; did you mean loop.index?"],
    ),
    "item in for_each itself": Row(
        steps('  - for_each: "{{ item }}"\n    write: a.txt\n    content: x\n'),
        ["4:15: steps[0].for_each: item is only there in a step with for_each"],
    ),
    "failure in steps": Row(
        write("{{ failure.message }}"), ["5:14: steps[0].content: failure is only there in the steps of on_failure"]
    ),
    "unknown member of failure": Row(
        HEAD + "on_failure:\n  - telegram: {to: '@ops', text: '{{ failure.mesage }}'}\n",
        ["5:34: on_failure[0].telegram.text: failure.mesage is not known; did you mean failure.message?"],
    ),
    "value outside of undo": Row(
        write("{{ value }}"), ["5:14: steps[0].content: value is only there in the steps of undo"]
    ),
    "value in on_failure": Row(
        HEAD + "on_failure:\n  - telegram: {to: '@ops', text: '{{ value }}'}\n",
        ["5:34: on_failure[0].telegram.text: value is only there in the steps of undo"],
    ),
    "failure in undo": Row(
        steps("  - write: a.txt\n    content: x\n    undo: {write: b.txt, content: '{{ failure.step }}'}\n"),
        ["6:35: steps[0].undo.content: failure is only there in the steps of on_failure"],
    ),
    "an unknown name in undo": Row(
        steps("  - write: a.txt\n    content: x\n    undo:\n      - write: b.txt\n        content: '{{ vale }}'\n"),
        ["8:18: steps[0].undo[0].content: vale is no name; did you mean value?"],
    ),
    "a var in undo without a list": Row(
        steps("  - write: a.txt\n    content: x\n    undo: {write: b.txt, content: '{{ vars.foldr }}'}\n"),
        ["6:35: steps[0].undo.content: vars.foldr is not known; did you mean vars.folder?"],
    ),
    "vars that use vars": Row(
        'name: n\nvars: {a: "{{ vars.b }}", b: 1}\n' + STEP,
        ["2:11: vars.a: vars is no name; there are tick, run, automation, event"],
    ),
    "vars that use steps": Row(
        'name: n\nvars: {a: "{{ steps.b }}"}\n' + STEP,
        ["2:11: vars.a: steps is no name; there are tick, run, automation, event"],
    ),
    "vars that use secrets": Row(
        'name: n\nvars: {a: "{{ secrets.b }}"}\n' + STEP,
        ["2:11: vars.a: secrets is not there in vars: name it in the step that uses it"],
    ),
    "vars of vars, deep": Row(
        'name: n\nvars: {a: {b: ["{{ tick.dat }}"]}}\n' + STEP,
        ["2:16: vars.a.b[0]: tick.dat is not known; did you mean tick.date?"],
    ),
    "in a block text": Row(
        steps("  - write: a.txt\n    content: |\n      one {{ vars.folder }}\n      two {{ vars.foldr }}\n"),
        ["7:1: steps[0].content: vars.foldr is not known; did you mean vars.folder?"],
    ),
    "in a folded text": Row(
        steps("  - write: a.txt\n    content: >-\n      one {{ vars.folder }}\n\n      two {{ vars.foldr }}\n"),
        ["7:1: steps[0].content: vars.foldr is not known; did you mean vars.folder?"],
    ),
    "several in one text": Row(
        write("{{ vars.foldr }} {{ tik }}"),
        [
            "5:14: steps[0].content: tik is no name; did you mean tick?",
            "5:14: steps[0].content: vars.foldr is not known; did you mean vars.folder?",
        ],
    ),
    "in a condition": Row(
        steps('  - if: "{{ vars.foldr }}"\n    call: orgschema.orgschema.export\n'),
        ["4:9: steps[0].if: vars.foldr is not known; did you mean vars.folder?"],
    ),
    "in a field": Row(
        steps('  - call: finplan.request.review\n    with: {requestIds: "{{ vars.foldr }}", reviewType: accept}\n'),
        ["5:24: steps[0].with.requestIds: vars.foldr is not known; did you mean vars.folder?"],
    ),
    "in a list of fields": Row(
        steps('  - call: finplan.request.review\n    with: {requestIds: ["{{ steps.x }}"], reviewType: accept}\n'),
        ["5:25: steps[0].with.requestIds[0]: steps.x is not known; there are none here"],
    ),
    "in a message": Row(
        steps('  - telegram: {to: "@ops", text: "{{ vars.foldr }}"}\n'),
        ["4:34: steps[0].telegram.text: vars.foldr is not known; did you mean vars.folder?"],
    ),
    "unfinished": Row(
        write("{{ vars.folder"),
        ["5:14: steps[0].content: is no template: unexpected end of template, expected 'end of print statement'"],
    ),
    "unfinished block": Row(
        write("{% if vars.folder %}x"),
        [
            "5:14: steps[0].content: is no template: has to end with 'elif' or 'else' or 'endif'. The innermost block that needs to be closed is 'if'"
        ],
    ),
    "an end of nothing": Row(
        write("{% endif %}"),
        ["5:14: steps[0].content: is no template: endif stands here alone: it belongs to a for or an if"],
    ),
    "an empty expression": Row(
        write("{{ }}"), ["5:14: steps[0].content: is no template: Expected an expression, got 'end of print statement'"]
    ),
    "two values": Row(
        write("{{ vars.folder vars.n }}"),
        ["5:14: steps[0].content: is no template: expected token 'end of print statement', got 'vars'"],
    ),
    "a wrong operator": Row(
        write("{{ vars.n && vars.n }}"), ["5:14: steps[0].content: is no template: unexpected char '&' at 10"]
    ),
    "an assignment": Row(
        write("{{ vars.n = 1 }}"),
        ["5:14: steps[0].content: is no template: expected token 'end of print statement', got '='"],
    ),
    "an unknown tag": Row(
        write("{% fro x in vars.codes %}"),
        ["5:14: steps[0].content: is no template: there is no tag fro; did you mean for?"],
    ),
    "an unknown filter": Row(
        write("{{ vars.folder | uper }}"),
        ["5:14: steps[0].content: is no template: there is no filter uper; did you mean upper?"],
    ),
    "an unknown filter far off": Row(
        write("{{ vars.folder | zzz }}"),
        [
            "5:14: steps[0].content: is no template: there is no filter zzz; LANGUAGE.md lists the filters that there are"
        ],
    ),
    "an unknown test": Row(
        write("{{ vars.folder is sting }}"),
        ["5:14: steps[0].content: is no template: there is no test sting; did you mean string?"],
    ),
    "an unknown method": Row(
        write("{{ vars.folder.uper() }}"),
        ["5:14: steps[0].content: is no template: uper() cannot be called; did you mean upper?"],
    ),
    "an unknown function": Row(
        write("{{ now() }}"),
        ["5:14: steps[0].content: is no template: now() cannot be called: range is the only function"],
    ),
    "a filter as a function": Row(
        write("{{ round(1.5) }}"),
        [
            "5:14: steps[0].content: is no template: round() cannot be called; did you mean the filter, as in {{ value | round }}?"
        ],
    ),
    "a template too long": Row(
        write("{{ vars.folder }}" + "x" * 70_000),
        ["5:14: steps[0].content: is no template: is longer than 64,000 characters: cut it into several"],
    ),
    "an unfinished condition": Row(
        steps('  - if: "{{ vars.n > }}"\n    call: orgschema.orgschema.export\n'),
        ["4:9: steps[0].if: is no template: unexpected 'end of print statement'"],
    ),
}

BLIND: frozenset[str] = frozenset(
    {
        "a deadline without a time",
        "a backoff longer than the timeout",
        "a pattern of none",
        "an operation that is not allowed",
        "not allowed in on_failure",
        "bad minute",
        "bad hour",
        "bad weekday",
        "a step of nothing",
        "no such day",
        "a city",
        "a misspelt zone",
        "no duration",
        "bad anchor",
        "an anchor that is no day",
        "an event with steps",
        "an event with a bad filter",
        "an if that is a text",
        "a word of chat",
        "a deadline by hand",
        "a deadline by events",
        "51 triggers",
        "two equal ids",
        "an id of on_failure",
        "an id that the history has",
        "concurrency of what is not repeated",
        "concurrency of what waits",
        "a timeout longer than the whole",
        "a backoff longer than the step's timeout",
        "undo of a read",
        "undo of undo",
        "undo in on_failure",
        "a field twice",
        "codes a text",
        "url and file",
        "a file above",
        "an absolute path",
        "a path upwards",
        "no ending",
        "a body and json",
        "a status of none",
        "a pick that is no path",
        "read upwards",
        "read without an ending",
        "report of two",
        "wait for nothing",
        "wait for a bad length",
        "one option",
        "a default that is no option",
    }
)
"""The rows of shapes and steps that a schema for editors cannot know."""
