"""Files whose keys and values have the wrong shape, or make no sense together."""

# ruff: noqa: E501 - a table of long lines reads better than one of broken lines

from tests.automations.bad.row import HEAD, ONE, STEP, Row

SHAPE: dict[str, Row] = {
    "nothing but a name": Row("name: n", ["1:1: steps: is required"]),
    "nothing but steps": Row(STEP, ["1:1: name: is required"]),
    "steps empty": Row("name: n\nsteps: []", ["2:8: steps: should have at least one step"]),
    "steps null": Row("name: n\nsteps:\n", ["2:7: steps: should be a list"]),
    "steps a map": Row("name: n\nsteps: {}", ["2:8: steps: should be a list"]),
    "steps a text": Row(
        "name: n\nsteps: call\n", ["2:8: steps: should be a list: put a dash before it, or [ ] around it"]
    ),
    "a step is a text": Row("name: n\nsteps: [call]", ["2:9: steps[0]: should be a map with one of <kinds>"]),
    "a step is null": Row("name: n\nsteps:\n  -\n", ["3:4: steps[0]: should be a map with one of <kinds>"]),
    "a step is a list": Row("name: n\nsteps:\n  - [call]\n", ["3:5: steps[0]: should be a map with one of <kinds>"]),
    "201 steps": Row("name: n\nsteps:\n" + ONE * 201, ["3:3: steps: has more than 200 steps: split the automation"]),
    "a misspelt key": Row("name: on\ntriger: {}\n" + STEP, ["2:1: triger: no such key; did you mean trigger?"]),
    "a misspelt on_failure": Row(HEAD + "onfailure: []\n", ["4:1: onfailure: no such key; did you mean on_failure?"]),
    "an unknown key": Row(HEAD + "zzz: 1\n", ["4:1: zzz: no such key; the keys are <keys>"]),
    "name null": Row("name:\n" + STEP, ["1:6: name: should be a text"]),
    "name is a number": Row("name: 7\n" + STEP, ["1:7: name: should be a text: put quotes around it"]),
    "name is true": Row("name: true\n" + STEP, ["1:7: name: should be a text: put quotes around it"]),
    "name a list": Row("name: [n]\n" + STEP, ["1:7: name: should be a text"]),
    "name has blanks": Row(
        "name: my export\n" + STEP,
        ["1:7: name: is no name: use up to 60 small letters, digits and dashes, as in daily-rates"],
    ),
    "name has capitals": Row(
        "name: Export\n" + STEP,
        ["1:7: name: is no name: use up to 60 small letters, digits and dashes, as in daily-rates"],
    ),
    "name in Russian": Row(
        "name: курсы\n" + STEP,
        ["1:7: name: is no name: use up to 60 small letters, digits and dashes, as in daily-rates"],
    ),
    "name too long": Row(
        "name: " + "n" * 61 + "\n" + STEP,
        ["1:7: name: is no name: use up to 60 small letters, digits and dashes, as in daily-rates"],
    ),
    "description a number": Row(
        "name: n\ndescription: 7\n" + STEP, ["2:14: description: should be a text: put quotes around it"]
    ),
    "vars a list": Row("name: n\nvars: [a]\n" + STEP, ["2:7: vars: should be a map"]),
    "vars a text": Row("name: n\nvars: a\n" + STEP, ["2:7: vars: should be a map"]),
    "catch_up a text": Row(
        "name: n\ncatch_up: latest\n" + STEP, ["2:11: catch_up: should be a map with policy, window"]
    ),
    "an unknown policy": Row(
        "name: n\ncatch_up: {policy: lastest}\n" + STEP,
        ["2:20: catch_up.policy: should be none or latest or all; did you mean latest?"],
    ),
    "a key of catch_up": Row(
        "name: n\ncatch_up: {polcy: all}\n" + STEP, ["2:12: catch_up.polcy: no such key; did you mean policy?"]
    ),
    "a window of a number": Row(
        "name: n\ncatch_up: {window: 2}\n" + STEP,
        ["2:20: catch_up.window: is no duration: write 30s, 15m, 1h30m or 2d"],
    ),
    "a bad window": Row(
        "name: n\ncatch_up: {window: 2 days}\n" + STEP,
        ["2:20: catch_up.window: is no duration: write 30s, 15m, 1h30m or 2d"],
    ),
    "an unknown overlap": Row(
        "name: n\noverlap: paralel\n" + STEP,
        ["2:10: overlap: should be skip or queue or restart or parallel; did you mean parallel?"],
    ),
    "overlap a list": Row(
        "name: n\noverlap: [skip]\n" + STEP,
        ["2:10: overlap: should be skip or queue or restart or parallel; did you mean skip?"],
    ),
    "a bad deadline": Row(
        "name: n\ntrigger: {every: 1h}\ndeadline: 7am\n" + STEP, ["3:11: deadline: is no time of day: write 07:00"]
    ),
    "a deadline of one digit": Row(
        "name: n\ntrigger: {every: 1h}\ndeadline: 7:00\n" + STEP, ["3:11: deadline: is no time of day: write 07:00"]
    ),
    "a deadline after midnight": Row(
        "name: n\ntrigger: {every: 1h}\ndeadline: 24:00\n" + STEP, ["3:11: deadline: is no time of day: write 07:00"]
    ),
    "a deadline without a time": Row(
        "name: n\ndeadline: 07:00\n" + STEP,
        ["2:11: deadline: needs a trigger with cron, every or at: it tells when a tick of the day has not run"],
    ),
    "a bad timeout": Row(
        "name: n\ntimeout: soon\n" + STEP, ["2:10: timeout: is no duration: write 30s, 15m, 1h30m or 2d"]
    ),
    "timeout a number": Row(
        "name: n\ntimeout: 600\n" + STEP, ["2:10: timeout: is no duration: write 30s, 15m, 1h30m or 2d"]
    ),
    "retry a number": Row("name: n\nretry: 4\n" + STEP, ["2:8: retry: should be a map with attempts, backoff"]),
    "no attempt": Row(
        "name: n\nretry: {attempts: 0}\n" + STEP, ["2:19: retry.attempts: should be greater than or equal to 1"]
    ),
    "too many attempts": Row(
        "name: n\nretry: {attempts: 21}\n" + STEP, ["2:19: retry.attempts: should be less than or equal to 20"]
    ),
    "half an attempt": Row(
        "name: n\nretry: {attempts: 1.5}\n" + STEP, ["2:19: retry.attempts: should be a whole number"]
    ),
    "attempts a text": Row(
        "name: n\nretry: {attempts: four}\n" + STEP, ["2:19: retry.attempts: should be a whole number"]
    ),
    "a key of retry": Row(
        "name: n\nretry: {attempt: 4}\n" + STEP, ["2:9: retry.attempt: no such key; did you mean attempts?"]
    ),
    "a backoff longer than the timeout": Row(
        "name: n\ntimeout: 10s\nretry: {backoff: 1m}\n" + STEP,
        ["3:18: retry.backoff: is not shorter than the timeout, 10s: nothing would be tried again"],
    ),
    "limits a number": Row("name: n\nlimits: 5\n" + STEP, ["2:9: limits: should be a map with at_once, calls"]),
    "a key of limits": Row(
        "name: n\nlimits: {cals: 5}\n" + STEP, ["2:10: limits.cals: no such key; did you mean calls?"]
    ),
    "no calls": Row(
        "name: n\nlimits: {calls: 0}\n" + STEP, ["2:17: limits.calls: should be greater than or equal to 1"]
    ),
    "key a list": Row("name: n\nkey: [a]\n" + STEP, ["2:6: key: should be a text"]),
    "a key with capitals": Row(
        "name: n\nkey: Bank\n" + STEP,
        ["2:6: key: is no name: use up to 60 small letters, digits and dashes, as in daily-rates"],
    ),
    "operations a text": Row(
        "name: n\noperations: finplan.*\n" + STEP,
        ["2:13: operations: should be a list: put a dash before it, or [ ] around it"],
    ),
    "an unknown operation among them": Row(
        "name: n\noperations: [finplan.request.reviw]\n" + STEP,
        [
            "2:13: operations: finplan.request.reviw is no operation and no pattern of any; did you mean finplan.request.review?"
        ],
    ),
    "a pattern of none": Row(
        "name: n\noperations: [payroll.*]\n" + STEP,
        ["2:13: operations: payroll.* is no operation and no pattern of any, such as finplan.request.*"],
    ),
    "no operations": Row(
        "name: n\noperations: []\n" + STEP,
        [
            "2:13: operations: is empty, so nothing could be called: leave it out for all",
            "4:11: steps[0].call: orgschema.orgschema.export is not among the operations of this automation: add it to operations",
        ],
    ),
    "an operation that is not allowed": Row(
        "name: n\noperations: [finplan.*]\n" + STEP,
        [
            "4:11: steps[0].call: orgschema.orgschema.export is not among the operations of this automation: add it to operations"
        ],
    ),
    "not allowed in on_failure": Row(
        "name: n\noperations: [orgschema.*]\n" + STEP + "on_failure:\n  - call: finplan.request.list\n",
        [
            "6:11: on_failure[0].call: finplan.request.list is not among the operations of this automation: add it to operations"
        ],
    ),
    "people a text": Row(
        'name: n\npeople: "@ops"\n' + STEP, ["2:9: people: should be a list: put a dash before it, or [ ] around it"]
    ),
    "nobody": Row(
        "name: n\npeople: []\n" + STEP, ["2:9: people: is empty, so nobody could run it: leave it out for @ops"]
    ),
    "a person of two words": Row(
        "name: n\npeople: [Anna Berg]\n" + STEP,
        ["2:10: people[0]: Anna Berg is nobody: write a role such as @ops, or the id of a user"],
    ),
    "a person of a number": Row(
        "name: n\npeople: [7]\n" + STEP, ["2:10: people[0]: should be a text: put quotes around it"]
    ),
    "on_failure a map": Row(
        HEAD + "on_failure: {telegram: {to: '@ops', text: x}}\n",
        ["4:13: on_failure: should be a list: put a dash before it, or [ ] around it"],
    ),
    "on_failure of nothing": Row(HEAD + "on_failure: [{tell: x}]\n", ["4:14: on_failure[0]: needs one of <kinds>"]),
}

TRIGGER: dict[str, Row] = {
    "a text": Row(
        "name: n\ntrigger: daily\n" + STEP,
        ['2:10: trigger: should be a map such as {cron: "0 2 * * *"}, or a list of them'],
    ),
    "a number": Row(
        "name: n\ntrigger: 5\n" + STEP,
        ['2:10: trigger: should be a map such as {cron: "0 2 * * *"}, or a list of them'],
    ),
    "no trigger kind": Row(
        "name: n\ntrigger: {crn: x}\n" + STEP, ["2:10: trigger: needs one of <triggers>; did you mean cron by crn?"]
    ),
    "an empty trigger": Row("name: n\ntrigger: {}\n" + STEP, ["2:10: trigger: needs one of <triggers>"]),
    "a trigger is null in a list": Row(
        "name: n\ntrigger: [null]\n" + STEP, ["2:11: trigger[0]: should be a map with one of <triggers>"]
    ),
    "two kinds": Row(
        'name: n\ntrigger: {cron: "0 2 * * *", every: 1h}\n' + STEP,
        ["2:30: trigger.every: a trigger is of one kind: put this into a trigger of its own, in a list"],
    ),
    "an unknown key": Row(
        'name: n\ntrigger: {cron: "0 2 * * *", timezon: UTC}\n' + STEP,
        ["2:30: trigger.timezon: no such key; did you mean timezone?"],
    ),
    "cron a number": Row(
        "name: n\ntrigger: {cron: 5}\n" + STEP, ["2:17: trigger.cron: should be a text: put quotes around it"]
    ),
    "bad minute": Row(
        'name: n\ntrigger: {cron: "60 2 * * *"}\n' + STEP, ["2:17: trigger.cron: is no cron expression: wrong minute"]
    ),
    "bad hour": Row(
        'name: n\ntrigger: {cron: "0 25 * * *"}\n' + STEP, ["2:17: trigger.cron: is no cron expression: wrong hour"]
    ),
    "bad weekday": Row(
        'name: n\ntrigger: {cron: "0 2 * * 8"}\n' + STEP,
        ["2:17: trigger.cron: is no cron expression: wrong day-of-week"],
    ),
    "a step of nothing": Row(
        'name: n\ntrigger: {cron: "*/0 2 * * *"}\n' + STEP, ["2:17: trigger.cron: is no cron expression: wrong minute"]
    ),
    "six fields": Row(
        'name: n\ntrigger: {cron: "0 0 2 * * *"}\n' + STEP,
        ["2:17: trigger.cron: has five fields (minute hour day month weekday), such as 0 2 * * *"],
    ),
    "a nickname": Row(
        'name: n\ntrigger: {cron: "@daily"}\n' + STEP,
        ["2:17: trigger.cron: has five fields (minute hour day month weekday), such as 0 2 * * *"],
    ),
    "no such day": Row(
        'name: n\ntrigger: {cron: "0 0 30 2 *"}\n' + STEP,
        ["2:17: trigger.cron: is no cron expression: wrong day-of-month"],
    ),
    "a city": Row(
        'name: n\ntrigger: {cron: "0 2 * * *", timezone: Moscow}\n' + STEP,
        ["2:40: trigger.timezone: Moscow is no time zone; did you mean Europe/Moscow?"],
    ),
    "a misspelt zone": Row(
        'name: n\ntrigger:\n  - {every: 1h}\n  - {cron: "0 2 * * *", timezone: Europe/Mosow}\n' + STEP,
        ["4:35: trigger[1].timezone: Europe/Mosow is no time zone; did you mean Europe/Moscow?"],
    ),
    "a path for a zone": Row(
        'name: n\ntrigger: {cron: "0 2 * * *", timezone: ../../etc/passwd}\n' + STEP,
        ["2:40: trigger.timezone: ../../etc/passwd is no time zone"],
    ),
    "an offset": Row(
        'name: n\ntrigger: {cron: "0 2 * * *", timezone: "+03:00"}\n' + STEP,
        ["2:40: trigger.timezone: +03:00 is no time zone"],
    ),
    "bad duration": Row(
        "name: n\ntrigger: {every: soon}\n" + STEP, ["2:18: trigger.every: is no duration: write 30s, 15m, 1h30m or 2d"]
    ),
    "no duration": Row("name: n\ntrigger: {every: 0s}\n" + STEP, ["2:18: trigger.every: must be at least 1s"]),
    "a duration of a number": Row(
        "name: n\ntrigger: {every: 60}\n" + STEP, ["2:18: trigger.every: is no duration: write 30s, 15m, 1h30m or 2d"]
    ),
    "a huge duration": Row(
        "name: n\ntrigger: {every: 99999999999d}\n" + STEP,
        ["2:18: trigger.every: is no duration: write 30s, 15m, 1h30m or 2d"],
    ),
    "bad anchor": Row(
        "name: n\ntrigger: {every: 1h, anchor: noon}\n" + STEP,
        ["2:30: trigger.anchor: is no date: write 2026-01-01 or 2026-01-01 06:00"],
    ),
    "an anchor that is no day": Row(
        "name: n\ntrigger: {every: 1h, anchor: 2026-02-30}\n" + STEP,
        ["2:30: trigger.anchor: is no date: write 2026-01-01 or 2026-01-01 06:00"],
    ),
    "at of no moment": Row(
        "name: n\ntrigger: {at: soon}\n" + STEP, ["2:15: trigger.at: soon is no moment: write 2026-12-01 09:00"]
    ),
    "at of a number": Row(
        "name: n\ntrigger: {at: 5}\n" + STEP,
        ["2:15: trigger.at: should be a list: put a dash before it, or [ ] around it"],
    ),
    "an unknown event": Row(
        "name: n\ntrigger: {event: request.creatd}\n" + STEP,
        [
            "2:18: trigger.event: should be request.created or request.status_changed or task.created or task.overdue or article.changed or org.changed or transaction.created; did you mean request.created?"
        ],
    ),
    "an event with steps": Row(
        "name: n\ntrigger: {event: request.created, if: '{{ steps.a }}'}\n" + STEP,
        ["2:39: trigger.if: steps is no name; there are event, automation"],
    ),
    "an event with a bad filter": Row(
        "name: n\ntrigger: [{event: request.created, if: '{{ event.sum | rund }}'}]\n" + STEP,
        ["2:40: trigger[0].if: is no template: there is no filter rund; did you mean round?"],
    ),
    "an if that is a text": Row(
        "name: n\ntrigger: {event: request.created, if: big}\n" + STEP,
        ['2:39: trigger.if: is a condition: write true, false, or one expression such as "{{ event.sum > 1000 }}"'],
    ),
    "manual false": Row("name: n\ntrigger: {manual: false}\n" + STEP, ["2:19: trigger.manual: should be True"]),
    "a word of chat": Row(
        "name: n\ntrigger: {chat: two words}\n" + STEP,
        ["2:17: trigger.chat: is no word: use up to 32 small letters, digits and dashes, as in /run rates"],
    ),
    "a calendar of a number": Row(
        'name: n\ntrigger: {cron: "0 2 * * *", calendar: 7}\n' + STEP,
        ["2:40: trigger.calendar: should be a text: put quotes around it"],
    ),
    "a deadline by hand": Row(
        "name: n\ntrigger: {manual: true}\ndeadline: 07:00\n" + STEP,
        ["3:11: deadline: needs a trigger with cron, every or at: it tells when a tick of the day has not run"],
    ),
    "a deadline by events": Row(
        "name: n\ntrigger: {event: request.created}\ndeadline: 07:00\n" + STEP,
        ["3:11: deadline: needs a trigger with cron, every or at: it tells when a tick of the day has not run"],
    ),
    "51 triggers": Row(
        "name: n\ntrigger:\n" + "  - {every: 1h}\n" * 51 + STEP, ["3:3: trigger: should have at most 50"]
    ),
}
