"""YAML that is more or less than data."""

# ruff: noqa: E501 - a table of long lines reads better than one of broken lines

from itertools import pairwise

from tests.automations.bad.row import HEAD, STEP, Row, steps

YAML: dict[str, Row] = {
    "empty": Row("", ["1:1: is empty: write name, trigger and steps"]),
    "only a comment": Row("# nothing yet\n", ["1:1: is empty: write name, trigger and steps"]),
    "only a separator": Row("---\n", ["2:1: is empty: write name, trigger and steps"]),
    "null": Row("null\n", ["1:1: is empty: write name, trigger and steps"]),
    "a text": Row("name", ["1:1: should be a map: write name, trigger and steps"]),
    "a list": Row("- 1", ["1:1: should be a map: write name, trigger and steps"]),
    "no YAML": Row(
        "name: [", ["2:1: is no YAML: while parsing a flow node did not find expected node content: close the bracket"]
    ),
    "an unclosed quote": Row(
        'name: "n\nsteps: []\n',
        ["3:1: is no YAML: while scanning a quoted scalar found unexpected end of stream: close the quotes"],
    ),
    "a tab": Row(
        "name: n\n\tsteps: 1",
        [
            "2:1: is no YAML: while scanning a plain scalar found a tab character that violates indentation: indent with blanks"
        ],
    ),
    "a tab before a key": Row(
        "name: n\nsteps:\n\t- call: a\n",
        ["3:1: is no YAML: while scanning for the next token found a tab: indent with blanks"],
    ),
    "no blank after a colon": Row(
        "name:n\nsteps: []\n",
        [
            "2:6: is no YAML: mapping values are not allowed in this context: put quotes around a text with a colon in it, and a blank behind a key's colon"
        ],
    ),
    "a wrong indent": Row(
        "name: n\n  steps: []\n",
        [
            "2:8: is no YAML: mapping values are not allowed in this context: put quotes around a text with a colon in it, and a blank behind a key's colon"
        ],
    ),
    "unquoted braces": Row(
        "name: {{ x }}", ["1:8: name: a key is a text; put quotes around a value that starts with {{"]
    ),
    "an unquoted expression": Row(
        "name: n\nsteps:\n  - if: {{ vars.x }}\n    call: orgschema.orgschema.export\n",
        ["3:10: steps[0].if: a key is a text; put quotes around a value that starts with {{"],
    ),
    "an unquoted role": Row(
        steps("  - telegram: {to: @ops, text: hi}\n"),
        [
            "4:20: is no YAML: while scanning for the next token found character that cannot start any token: put quotes around a text that starts with this character"
        ],
    ),
    "an unquoted percent": Row(
        "name: n\ndescription: %x\n" + STEP,
        [
            "2:14: is no YAML: while scanning for the next token found character that cannot start any token: put quotes around a text that starts with this character"
        ],
    ),
    "an alias": Row("name: &n n\nsteps: *n", ["2:8: steps: aliases (*n) are refused: write the value out"]),
    "an alias that is nowhere": Row("name: *n\n", ["1:7: name: aliases (*n) are refused: write the value out"]),
    "an alias to itself": Row(
        "name: n\nvars: &v {a: *v}\n" + STEP, ["2:14: vars.a: aliases (*v) are refused: write the value out"]
    ),
    "an alias as a key": Row("name: &n n\n*n : 1\n", ["2:1: aliases (*n) are refused: write the value out"]),
    "a billion laughs": Row(
        'a: &a ["lol","lol","lol","lol","lol","lol","lol","lol","lol"]\n'
        + "".join(f"{b}: &{b} [*{a},*{a},*{a},*{a},*{a},*{a},*{a},*{a},*{a}]\n" for a, b in pairwise("abcdefghi")),
        ["2:8: b[0]: aliases (*a) are refused: write the value out"],
    ),
    "a merge key": Row("name: n\n<<: {a: 1}", ["2:1: <<: merge keys are refused: write the values out"]),
    "a merge of an alias": Row(
        "base: &b {name: n}\n<<: *b\n", ["2:1: <<: merge keys are refused: write the values out"]
    ),
    "a tag": Row(
        "name: !!python/object:os.system n",
        ["1:7: name: the tag !!python/object:os.system is not used here: leave it out"],
    ),
    "a call by a tag": Row(
        "name: !!python/object/apply:os.system [id]\n",
        ["1:7: name: the tag !!python/object/apply:os.system is not used here: leave it out"],
    ),
    "a name by a tag": Row(
        "name: !!python/name:os.system\n", ["1:7: name: the tag !!python/name:os.system is not used here: leave it out"]
    ),
    "a tag on a map": Row("name: !set {a}", ["1:7: name: the tag !set is not used here: leave it out"]),
    "a tag of ours": Row("name: !include other.yaml\n", ["1:7: name: the tag !include is not used here: leave it out"]),
    "a binary": Row("name: !!binary aGk=\n", ["1:7: name: the tag !!binary is not used here: leave it out"]),
    "a number by a tag": Row(
        "name: n\nvars: {a: !!int '7'}\n" + STEP, ["2:11: vars.a: the tag !!int is not used here: leave it out"]
    ),
    "a directive": Row(
        "%YAML 3.0\n---\nname: n\n", ["1:1: is no YAML: found incompatible YAML document: leave the directive out"]
    ),
    "a tag directive": Row(
        "%TAG ! tag:example.com,2000:\n---\nname: !x n\n",
        ["3:7: name: the tag tag:example.com,2000:x is not used here: leave it out"],
    ),
    "two equal keys": Row(HEAD + "name: m\n", ["4:1: name: is given twice (first in line 1)"]),
    "two equal keys within": Row(
        steps("  - call: a\n    call: b\n"), ["5:5: steps[0].call: is given twice (first in line 4)"]
    ),
    "three equal keys": Row(
        HEAD + "name: m\nname: o\n",
        ["4:1: name: is given twice (first in line 1)", "5:1: name: is given twice (first in line 1)"],
    ),
    "equal keys, quoted": Row('name: n\n"name": m\n' + STEP, ["2:1: name: is given twice (first in line 1)"]),
    "two documents": Row(
        HEAD + "---\nname: m\n", ["4:1: one file holds one automation: put the second document into its own"]
    ),
    "a document after an end": Row(
        HEAD + "...\nname: m\n",
        ["5:1: is no YAML: did not find expected <document start>: one file holds one automation"],
    ),
    "a key that is a list": Row(
        "name: n\n[a]: 1\n", ["2:1: a key is a text; put quotes around a value that starts with {{"]
    ),
    "a key that is a map": Row(
        "name: n\n{a: 1}: 1\n", ["2:1: a key is a text; put quotes around a value that starts with {{"]
    ),
    "an explicit key": Row(
        "name: n\n? [a]\n: 1\n", ["2:3: a key is a text; put quotes around a value that starts with {{"]
    ),
    "a key of ten thousand characters": Row(
        "name: n\n" + "k" * 10000 + ": 1\n" + STEP,
        ["2:10001: is no YAML: while scanning a simple key could not find expected ':': put a colon behind the key"],
    ),
    "too deep": Row(
        "name: " + "[" * 40,
        [
            "1:31: name[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: nested deeper than 24 levels"
        ],
    ),
    "too deep in maps": Row(
        "name: n\nvars: " + "{a: " * 40 + "1" + "}" * 40 + "\n" + STEP,
        ["2:103: vars.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a: nested deeper than 24 levels"],
    ),
    "far too deep": Row(
        "[" * 100_000,
        [
            "1:26: [0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: nested deeper than 24 levels"
        ],
    ),
    "too deep by dashes": Row(
        "- " * 5000 + "a",
        [
            "1:51: [0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: nested deeper than 24 levels"
        ],
    ),
    "too many": Row("name: [" + "1," * 30_000 + "]", ["1:40002: name[19997]: more than 20000 values: split the file"]),
    "too many keys": Row(
        "name: n\nvars: {" + ",".join(f"a{i}: 1" for i in range(11_000)) + "}\n" + STEP,
        ["2:88878: vars.a9997: more than 20000 values: split the file"],
    ),
    "too large": Row("#" * 300_000, ["1:1: is larger than 256 KB"]),
    "a control character": Row("name: n\nb: \x01", ["2:4: holds a character that YAML does not allow"]),
    "a NUL": Row("name: n\nb: \x00", ["2:4: holds a character that YAML does not allow"]),
    "a delete": Row("name: n\nb: \x7f", ["2:4: holds a character that YAML does not allow"]),
    "half of a pair": Row(
        'name: n\ndescription: "\\ud800"\n' + STEP,
        [
            "2:17: is no YAML: while parsing a quoted scalar found invalid Unicode character escape code: use single quotes, or two backslashes for one"
        ],
    ),
    "a bad escape": Row(
        'name: n\ndescription: "\\q"\n' + STEP,
        [
            "2:15: is no YAML: while parsing a quoted scalar found unknown escape character: use single quotes, or two backslashes for one"
        ],
    ),
    "CRLF and a wrong key": Row(
        "name: n\r\nzzz: 1\r\nsteps:\r\n  - call: orgschema.orgschema.export\r\n",
        ["2:1: zzz: no such key; the keys are <keys>"],
    ),
    "a BOM and a wrong key": Row("\ufeffname: n\nzzz: 1\n" + STEP, ["2:1: zzz: no such key; the keys are <keys>"]),
}
