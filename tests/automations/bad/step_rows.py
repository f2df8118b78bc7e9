"""Steps that are none, lack something, or say what cannot be."""

# ruff: noqa: E501 - a table of long lines reads better than one of broken lines

from tests.automations.bad.row import HEAD, ONE, Row, steps

STEPS: dict[str, Row] = {
    "nothing to do": Row(steps("  - cal: a.b.c\n"), ["4:5: steps[0]: needs one of <kinds>; did you mean call by cal?"]),
    "nothing at all": Row(steps("  - id: a\n"), ["4:5: steps[0]: needs one of <kinds>"]),
    "two things": Row(
        steps("  - call: orgschema.orgschema.export\n    write: a.txt\n"),
        ["5:5: steps[0].write: a step does one thing: put this into a step of its own"],
    ),
    "an unknown key": Row(
        steps("  - call: orgschema.orgschema.export\n    wiht: {}\n"),
        ["5:5: steps[0].wiht: no such key; did you mean with?"],
    ),
    "bad id": Row(
        steps("  - id: my-step\n    call: orgschema.orgschema.export\n"),
        ["4:9: steps[0].id: is no id: use letters, digits and _, as in steps.daily_rates"],
    ),
    "an id of a number": Row(
        steps("  - id: 7\n    call: orgschema.orgschema.export\n"),
        ["4:9: steps[0].id: should be a text: put quotes around it"],
    ),
    "two equal ids": Row(
        steps("  - {id: a, call: orgschema.orgschema.export}\n  - {id: a, call: orgschema.orgschema.export}\n"),
        ["5:10: steps[1].id: a is the id of steps[0] too: each needs its own"],
    ),
    "an id of on_failure": Row(
        steps("  - {id: a, call: orgschema.orgschema.export}\n")
        + "on_failure:\n  - {id: a, call: orgschema.orgschema.export}\n",
        ["6:10: on_failure[0].id: a is the id of steps[0] too: each needs its own"],
    ),
    "an id that the history has": Row(
        steps("  - id: call_2\n    call: orgschema.orgschema.export\n" + ONE),
        ["4:9: steps[0].id: call_2 is what steps[1] is called in the history: choose another"],
    ),
    "if is yes": Row(
        steps("  - if: yes\n    call: orgschema.orgschema.export\n"),
        [
            '4:9: steps[0].if: is a condition: write true, false, or one expression such as "{{ steps.rates | length > 0 }}"'
        ],
    ),
    "if is a number": Row(
        steps("  - if: 1\n    call: orgschema.orgschema.export\n"),
        [
            '4:9: steps[0].if: is a condition: write true, false, or one expression such as "{{ steps.rates | length > 0 }}"'
        ],
    ),
    "if is text and an expression": Row(
        steps('  - if: "not {{ vars.folder }}"\n    call: orgschema.orgschema.export\n'),
        [
            '4:9: steps[0].if: is a condition: write true, false, or one expression such as "{{ steps.rates | length > 0 }}"'
        ],
    ),
    "unless a list": Row(
        steps("  - unless: []\n    call: orgschema.orgschema.export\n"),
        [
            '4:13: steps[0].unless: is a condition: write true, false, or one expression such as "{{ steps.rates | length > 0 }}"'
        ],
    ),
    "for_each is a number": Row(
        steps("  - for_each: 3\n    call: orgschema.orgschema.export\n"),
        ['4:15: steps[0].for_each: is a list, or one expression that gives one, such as "{{ steps.rates }}"'],
    ),
    "for_each a map": Row(
        steps("  - for_each: {a: 1}\n    call: orgschema.orgschema.export\n"),
        ['4:15: steps[0].for_each: is a list, or one expression that gives one, such as "{{ steps.rates }}"'],
    ),
    "concurrency of nothing": Row(
        steps('  - for_each: "{{ vars.codes }}"\n    concurrency: 0\n    call: orgschema.orgschema.export\n'),
        ["5:18: steps[0].concurrency: should be greater than or equal to 1"],
    ),
    "concurrency of many": Row(
        steps('  - for_each: "{{ vars.codes }}"\n    concurrency: 99\n    call: orgschema.orgschema.export\n'),
        ["5:18: steps[0].concurrency: should be less than or equal to 32"],
    ),
    "concurrency without for_each": Row(
        steps("  - concurrency: 2\n    call: orgschema.orgschema.export\n"),
        ["4:18: steps[0].concurrency: says how many items run at once, and there is no for_each: leave it out"],
    ),
    "concurrency of what is not repeated": Row(
        steps(
            '  - for_each: "{{ vars.codes }}"\n    concurrency: 2\n    call: finplan.request.review\n    with: {requestIds: [1], reviewType: accept}\n'
        ),
        ["5:18: steps[0].concurrency: is not for a step that must not be done twice: leave it out"],
    ),
    "concurrency of what waits": Row(
        steps('  - for_each: "{{ vars.codes }}"\n    concurrency: 2\n    run: other\n'),
        ["5:18: steps[0].concurrency: is not for a step that waits: leave it out"],
    ),
    "a step's retry": Row(
        steps("  - call: orgschema.orgschema.export\n    retry: {attempts: many}\n"),
        ["5:23: steps[0].retry.attempts: should be a whole number"],
    ),
    "a step's timeout": Row(
        steps("  - call: orgschema.orgschema.export\n    timeout: 5\n"),
        ["5:14: steps[0].timeout: is no duration: write 30s, 15m, 1h30m or 2d"],
    ),
    "a timeout longer than the whole": Row(
        "name: n\ntimeout: 1m\nsteps:\n  - call: orgschema.orgschema.export\n    timeout: 1h\n",
        ["5:14: steps[0].timeout: is longer than the automation's own, 1m"],
    ),
    "a backoff longer than the step's timeout": Row(
        steps("  - call: orgschema.orgschema.export\n    timeout: 5s\n    retry: {backoff: 10s}\n"),
        ["6:22: steps[0].retry.backoff: is not shorter than the timeout, 5s: nothing would be tried again"],
    ),
    "continue_on_error a text": Row(
        steps("  - call: orgschema.orgschema.export\n    continue_on_error: yes\n"),
        ["5:24: steps[0].continue_on_error: should be true or false"],
    ),
    "undo of a read": Row(
        steps("  - call: orgschema.orgschema.export\n    undo: {call: orgschema.orgschema.export}\n"),
        ["5:11: steps[0].undo: there is nothing to undo: this step only reads"],
    ),
    "undo of undo": Row(
        steps(
            "  - write: a.txt\n    content: x\n    undo:\n      - write: b.txt\n        content: y\n        undo: {write: c.txt, content: z}\n"
        ),
        ["9:15: steps[0].undo[0].undo: a step of undo is not undone itself: leave it out"],
    ),
    "undo in on_failure": Row(
        HEAD + "on_failure:\n  - write: a.txt\n    content: x\n    undo: {write: c.txt, content: z}\n",
        ["7:11: on_failure[0].undo: a step of on_failure is not undone itself: leave it out"],
    ),
    "undo of nothing": Row(
        steps("  - write: a.txt\n    content: x\n    undo: {wirte: b.txt}\n"),
        ["6:11: steps[0].undo: needs one of <kinds>; did you mean write by wirte?"],
    ),
    "a key in undo": Row(
        steps("  - write: a.txt\n    content: x\n    undo: {write: b.txt, contnt: y}\n"),
        ["6:11: steps[0].undo.content: is required", "6:26: steps[0].undo.contnt: no such key; did you mean content?"],
    ),
    "a key in a list of undo": Row(
        steps("  - write: a.txt\n    content: x\n    undo: [{write: b.txt, content: y, contnt: y}]\n"),
        ["6:39: steps[0].undo[0].contnt: no such key; did you mean content?"],
    ),
    "unknown operation": Row(
        steps("  - call: finplan.request.reviw\n"),
        ["4:11: steps[0].call: finplan.request.reviw is no operation; did you mean finplan.request.review?"],
    ),
    "an operation that is a template": Row(
        steps('  - call: "{{ vars.folder }}"\n'), ["4:11: steps[0].call: {{ vars.folder }} is no operation"]
    ),
    "call a list": Row(steps("  - call: [a]\n"), ["4:11: steps[0].call: should be a text"]),
    "with is a list": Row(
        steps("  - call: finplan.request.list\n    with: [1]\n"),
        ["5:11: steps[0].with: is a map of the operation's fields"],
    ),
    "with a text": Row(
        steps("  - call: finplan.request.list\n    with: all\n"),
        ["5:11: steps[0].with: is a map of the operation's fields"],
    ),
    "unknown field": Row(
        steps("  - call: finplan.request.review\n    with: {requestIds: [1], reviewType: accept, blockid: 2}\n"),
        ["5:49: steps[0].with.blockid: no such field; did you mean block_id?"],
    ),
    "a missing field": Row(
        steps(
            "  - call: fintransaction.exchange.rate.custom.set\n    with: {currency_code_from: USD, currency_code_to: RUB, date: '2026-11-21'}\n"
        ),
        ["5:11: steps[0].with.value: is required"],
    ),
    "a field twice": Row(
        steps("  - call: finplan.request.review\n    with: {requestIds: [1], request_ids: [1], reviewType: accept}\n"),
        ["5:42: steps[0].with.request_ids: is given twice, by its Python and by its wire name"],
    ),
    "a wrong choice": Row(
        steps("  - call: finplan.request.review\n    with: {requestIds: [1], reviewType: acept}\n"),
        ["5:41: steps[0].with.reviewType: should be 'accept', 'accept_final', 'reject' or 'progress'"],
    ),
    "a field of a wrong type": Row(
        steps("  - call: finplan.request.review\n    with: {requestIds: one, reviewType: accept}\n"),
        ["5:24: steps[0].with.requestIds: should be a valid list"],
    ),
    "a wrong type beside a template": Row(
        steps(
            "  - call: finplan.request.review\n    with: {requestIds: ['{{ vars.folder }}'], reviewType: accept, blockId: x}\n"
        ),
        ["5:76: steps[0].with.blockId: should be a valid integer"],
    ),
    "fields where there are none": Row(
        steps("  - call: user.profile.list\n    with: {id: 1}\n"),
        ["5:12: steps[0].with.id: no such field; there are none"],
    ),
    "unknown source": Row(
        steps("  - rates: {source: cbrr}\n"), ["4:21: steps[0].rates.source: should be cbr or ecb; did you mean cbr?"]
    ),
    "no source": Row(steps("  - rates: {codes: [USD]}\n"), ["4:12: steps[0].rates.source: is required"]),
    "rates a text": Row(
        steps("  - rates: cbr\n"), ["4:12: steps[0].rates: should be a map with source, url, file, codes, max_age"]
    ),
    "codes a text": Row(
        steps("  - rates: {source: cbr, codes: USD}\n"),
        ["4:33: steps[0].rates.codes: is a list of currency codes, such as [USD, EUR]"],
    ),
    "url and file": Row(
        steps("  - rates: {source: cbr, url: x, file: y}\n"),
        ["4:40: steps[0].rates.file: give a url or a file, not both"],
    ),
    "a bad max_age": Row(
        steps("  - rates: {source: cbr, max_age: old}\n"),
        ["4:35: steps[0].rates.max_age: is no duration: write 30s, 15m, 1h30m or 2d"],
    ),
    "a file above": Row(
        steps("  - rates: {source: cbr, file: ../y}\n"),
        ["4:32: steps[0].rates.file: '../y' would leave the folder of files, or has an empty part"],
    ),
    "content missing": Row(
        steps("  - write: a.txt\n    contnt: x\n"),
        ["4:5: steps[0].content: is required", "5:5: steps[0].contnt: no such key; did you mean content?"],
    ),
    "write a number": Row(
        steps("  - write: 7\n    content: x\n"), ["4:12: steps[0].write: should be a text: put quotes around it"]
    ),
    "an absolute path": Row(
        steps("  - write: /etc/passwd.txt\n    content: x\n"),
        [
            "4:12: steps[0].write: '/etc/passwd.txt' is no path below the folder of files: write a relative one, such as org/today.json"
        ],
    ),
    "a path upwards": Row(
        steps("  - write: a/../../b.txt\n    content: x\n"),
        ["4:12: steps[0].write: 'a/../../b.txt' would leave the folder of files, or has an empty part"],
    ),
    "no ending": Row(
        steps("  - write: today\n    content: x\n"),
        [
            "4:12: steps[0].write: 'today' has no ending that says the format: use one of .json, .jsonl, .csv, .txt, .xlsx, .html, .svg, .png"
        ],
    ),
    "telegram": Row(
        steps("  - telegram: {to: '@ops', tex: hi}\n"),
        ["4:15: steps[0].telegram.text: is required", "4:28: steps[0].telegram.tex: no such key; did you mean text?"],
    ),
    "telegram a text": Row(
        steps("  - telegram: hi\n"), ["4:15: steps[0].telegram: should be a map with to, text, file, photo"]
    ),
    "run a list": Row(steps("  - run: [a]\n"), ["4:10: steps[0].run: should be a text"]),
    "with of run a list": Row(steps("  - run: other\n    with: [1]\n"), ["5:11: steps[0].with: should be a map"]),
    "http a text": Row(
        steps("  - http: https://bank\n"),
        ["4:11: steps[0].http: should be a map with url, method, headers, json, body"],
    ),
    "http without url": Row(steps("  - http: {method: GET}\n"), ["4:11: steps[0].http.url: is required"]),
    "an unknown method": Row(
        steps("  - http: {url: 'https://bank', method: GTE}\n"),
        ["4:41: steps[0].http.method: should be GET or POST or PUT or PATCH or DELETE; did you mean GET?"],
    ),
    "headers a list": Row(
        steps("  - http: {url: 'https://bank', headers: [a]}\n"), ["4:42: steps[0].http.headers: should be a map"]
    ),
    "a body and json": Row(
        steps("  - http: {url: 'https://bank', method: POST, body: x, json: {a: 1}}\n"),
        ["4:53: steps[0].http.body: give one body: json or body"],
    ),
    "a status of none": Row(
        steps("  - http: {url: 'https://bank', status: 99}\n"),
        ["4:41: steps[0].http.status: should be greater than or equal to 200"],
    ),
    "a pick that is no path": Row(
        steps("  - http: {url: 'https://bank', pick: 'a['}\n"),
        ["4:39: steps[0].http.pick: is no JMESPath: Invalid jmespath expression: Incomplete expression"],
    ),
    "read upwards": Row(
        steps("  - read: ../a.json\n"),
        ["4:11: steps[0].read: '../a.json' would leave the folder of files, or has an empty part"],
    ),
    "read without an ending": Row(
        steps("  - read: a\n"),
        [
            "4:11: steps[0].read: 'a' has no ending that says the format: use one of .json, .jsonl, .csv, .xlsx, .txt, .yaml, .yml"
        ],
    ),
    "report a text": Row(
        steps("  - report: hi\n"), ["4:13: steps[0].report: should be a map with template, file, format, title, to"]
    ),
    "report of two": Row(
        steps("  - report: {template: x, file: y.html}\n"),
        ["4:13: steps[0].report: should have a template or a file, one of them"],
    ),
    "diff without value": Row(steps("  - diff: {by: id}\n"), ["4:11: steps[0].diff.value: is required"]),
    "ignore a text": Row(
        steps("  - diff: {value: 1, ignore: a}\n"),
        ["4:30: steps[0].diff.ignore: should be a list: put a dash before it, or [ ] around it"],
    ),
    "an assertion without words": Row(
        steps("  - assert: {that: '{{ vars.n }}'}\n"), ["4:13: steps[0].assert.message: is required"]
    ),
    "an assertion of a text": Row(
        steps("  - assert: {that: big, message: x}\n"),
        [
            '4:20: steps[0].assert.that: is a condition: write true, false, or one expression such as "{{ steps.rates | length > 0 }}"'
        ],
    ),
    "wait for nothing": Row(
        steps("  - wait: {}\n"), ["4:11: steps[0].wait: should be a duration such as 10m, or {until: ...}"]
    ),
    "wait for a number": Row(
        steps("  - wait: 5\n"), ["4:11: steps[0].wait: should be a map with length, until, timezone"]
    ),
    "wait for a bad length": Row(
        steps("  - wait: soon\n"), ["4:11: steps[0].wait: is no duration: write 30s, 15m, 1h30m or 2d"]
    ),
    "ask a text": Row(
        steps("  - ask: Really?\n"), ["4:10: steps[0].ask: should be a map with to, text, options, timeout, default"]
    ),
    "ask without words": Row(steps("  - ask: {to: '@ops'}\n"), ["4:10: steps[0].ask.text: is required"]),
    "one option": Row(
        steps("  - ask: {to: '@ops', text: x, options: [Yes]}\n"),
        ["4:41: steps[0].ask.options: should be 2 to 8 options, these are 1"],
    ),
    "a default that is no option": Row(
        steps("  - ask: {to: '@ops', text: x, options: [Set, Skip], default: Skp}\n"),
        ["4:63: steps[0].ask.default: Skp is none of the options (Set, Skip)"],
    ),
    "a bad timeout of ask": Row(
        steps("  - ask: {to: '@ops', text: x, timeout: 4}\n"),
        ["4:41: steps[0].ask.timeout: is no duration: write 30s, 15m, 1h30m or 2d"],
    ),
    "set and id": Row(steps("  - set: 1\n    to: 2\n"), ["5:5: steps[0].to: no such key; the keys are <common>, set"]),
}
