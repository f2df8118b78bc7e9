"""Files that are wrong so often, or at such length, that telling it must be bounded too."""

# ruff: noqa: E501 - a table of long lines reads better than one of broken lines

from tests.automations.bad.row import STEP, Row, steps, write

MANY: dict[str, Row] = {
    "ten thousand unknown keys": Row(
        "name: n\n" + "".join(f"k{i}: 1\n" for i in range(9_900)) + STEP,
        ["2:1: k0: no such key; the keys are <keys>"],
        50,
    ),
    "nine thousand unknown keys of a step": Row(
        steps("  - call: orgschema.orgschema.export\n" + "".join(f"    k{i}: 1\n" for i in range(9_900))),
        ["5:5: steps[0].k0: no such key; the keys are <common>, call, with"],
        50,
    ),
    "two hundred unknown operations": Row(
        "name: n\nsteps:\n" + "".join(f"  - call: finplan.request.reviw{i}\n" for i in range(200)),
        ["3:11: steps[0].call: finplan.request.reviw0 is no operation; did you mean finplan.request.review?"],
        50,
    ),
    "ten thousand unknown names": Row(
        write("".join(f"{{{{ vars.a{i} }}}}" for i in range(4000))),
        ["5:14: steps[0].content: vars.a0 is not known; did you mean vars.n?"],
        50,
    ),
    "templates without an end": Row(
        "name: n\nvars:\n  a:\n" + "".join(f"    - '{{{{{i}|uper}}}}'\n" for i in range(9_000)) + STEP,
        ["4:7: vars.a[0]: is no template: there is no filter uper; did you mean upper?"],
        50,
    ),
    "costly templates without an end": Row(
        "name: n\nvars:\n  a:\n" + "".join(f"    - '{{{{[{i}]*9999}}}}'\n" for i in range(9_000)) + STEP,
        ["1004:7: vars.a[1000]: is one of more than 1,000 templates: split the automation"],
        1,
    ),
    "many bad zones": Row(
        "name: n\ntrigger:\n"
        + "".join(f"  - {{cron: '0 2 * * *', timezone: Europe/Mosow{i}}}\n" for i in range(50))
        + STEP,
        ["3:35: trigger[0].timezone: Europe/Mosow0 is no time zone; did you mean Europe/Moscow?"],
        50,
    ),
    "many bad operations": Row(
        "name: n\noperations: [" + ",".join(f"a{i}.*" for i in range(200)) + "]\n" + STEP,
        ["2:13: operations: a0.* is no operation and no pattern of any, such as finplan.request.*"],
        1,
    ),
    "a long wrong choice": Row(
        "name: n\noverlap: " + "p" * 200_000 + "\n" + STEP,
        ["2:10: overlap: should be skip or queue or restart or parallel"],
        1,
    ),
    "a long wrong operation": Row(
        "name: n\nsteps:\n  - call: " + "p" * 200_000 + "\n",
        [
            "3:11: steps[0].call: pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp…"
        ],
        1,
    ),
    "a long wrong name": Row(
        write("{{ " + "p" * 60_000 + " }}"),
        [
            "5:14: steps[0].content: pppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppppp…"
        ],
        1,
    ),
}
