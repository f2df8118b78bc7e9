"""Templates: typed values, strict names, the sandbox, and the end of what has none."""

from decimal import Decimal
from random import Random
from typing import Any

import pytest

from automations.expressions import BadTemplate, ExpressionFailed, Trials, evaluate, is_alone, references, resolve

SCOPE: dict[str, Any] = {
    "vars": {"codes": ["USD", "EUR"], "items": 5, "rate": Decimal("1.10"), "none": None, "blocks": [{"id": 3, "n": 2}]},
    "steps": {"org": {"skipped": "theirs", "blocks": [{"id": 1}]}, "gate": {"skipped": True}},
    "_skipped": {"org": False, "gate": True},
    "tick": {"date": "2026-11-21"},
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("{{ vars.codes }}", ["USD", "EUR"]),
        (" {{ vars.items }} ", 5),
        ("{{ vars.items + 1 }}", 6),
        ("{{ vars.rate * 2 }}", Decimal("2.20")),
        ("{{ vars.rate * 1.5 }}", Decimal("1.650")),
        ("{{ 1.5 - vars.rate }}", Decimal("0.40")),
        ("{{ vars.rate | round(1) }}", Decimal("1.1")),
        ("{{ 2.345 | round(2) }}", 2.35),
        ("{{ vars.rate > 1.05 }}", True),
        ("{{ '00' }}", "00"),
        ("{{ vars.items }}/{{ vars.rate }}", "5/1.10"),
        ("{{ true }}{{ vars.none }}|{{ vars.codes }}", 'true|["USD", "EUR"]'),
        ("{% for code in vars.codes %}{{ loop.index }}:{{ code }} {% endfor %}", "1:USD 2:EUR "),
        ("{{ vars.codes | map('lower') }}", ["usd", "eur"]),
        ("{{ vars.codes | join(', ') }}", "USD, EUR"),
        ("{{ vars.blocks | join('-', 'id') }}", "3"),
        ("{{ vars.blocks | sum('n') }}", 2),
        ("{{ 'a-b' | replace('-', '+') }}", "a+b"),
        ("{{ steps.org | tojson | length > 10 }}", True),
        ("{{ range(3) }}", [0, 1, 2]),
        ("{{ 'a' ~ vars.items ~ vars.none }}", "a5"),
        ("{{ vars.get('other', 7) }}", 7),
        ("{{ steps.org.skipped is false and steps.gate.skipped }}", True),
        ("{{ steps.org.blocks[0].id if vars.items else 0 }}", 1),
        ("{{ 7 // 2 + 7 % 4 + 2 ** 3 }}", 14),
        ("{{ 7 / 2 }}", 3.5),
        ("{{ {'a': [1, 2]} }}", {"a": [1, 2]}),
        ("{{ (1, 2) }}", (1, 2)),
        ("line\n", "line\n"),
        ("{{ vars.items }}\n!\n", "5\n!\n"),
    ],
)
def test_values_keep_their_types(text: str, value: Any) -> None:
    """One expression alone gives its value, anything else a text."""
    found = evaluate(text, SCOPE)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{{ vars.nope }}", "has no attribute 'nope'"),
        ("{{ steps.gate.answer }}", "has no attribute 'answer'"),
        ("{{ [vars.nope] }}", "has no attribute 'nope'"),
        ("{{ nope }}", "'nope' is undefined"),
        ("a {{ vars.nope }}", "has no attribute 'nope'"),
        ("{{ 'a' ~ vars.nope }}", "has no attribute 'nope'"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ vars.codes + 1 }}", "can only concatenate list"),
        ("{{ vars.codes | sum }}", "sum takes numbers, not str"),
        ("{{ 'a long text' | truncate(2, True, 'long') }}", "expected length"),
        ("{{ [1e308 * 10] | tojson }}", "which JSON cannot hold"),
        ("a {{ [1e308 * 10] }}", "which JSON cannot hold"),
        ("{{ vars.rate | round(99) }}", "round takes -15 to 15 digits"),
        ("{{ self }}", "is no value"),
    ],
)
def test_what_has_no_value_is_told(text: str, told: str) -> None:
    """A missing name, a wrong type: a sentence with the expression in it."""
    with pytest.raises(ExpressionFailed) as caught:
        evaluate(text, SCOPE)
    assert told in str(caught.value)
    assert text.strip()[:20] in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ vars.__class__ }}",
        "{{ vars['__class__'] }}",
        "{{ vars.codes.append(1) }}",
        "{{ vars.update({}) }}",
        "{{ vars.codes | map(attribute='__class__') | list }}",
        "{{ ''.format(1) }}",
        "{{ 'a'.join(['b']) }}",
        "{{ '%s' % vars }}",
        "{{ vars.get.__self__ }}",
        "{{ range.__init__.__globals__ }}",
        "{{ lipsum.__globals__ }}",
        "{{ cycler }}",
        "{{ joiner }}",
        "{{ namespace() }}",
        "{{ self._TemplateReference__context }}",
        "{{ tick.date.encode() }}",
    ],
)
def test_the_sandbox_holds(text: str) -> None:
    """No way from a value to Python's insides, nor to change what is there."""
    with pytest.raises((ExpressionFailed, BadTemplate)):
        evaluate(text, SCOPE)
    assert SCOPE["vars"]["codes"] == ["USD", "EUR"]


@pytest.mark.parametrize(
    "text",
    [
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}",
        "{% set ns.x = 1 %}",
        "{% set x %}text{% endset %}",
        "{% filter upper %}x{% endfilter %}",
        "{{ vars | attr('x') }}",
        "{{ vars.codes | random }}",
        "{{ 'x' | center(1000) }}",
        "{{ _skipped }}",
        "{{ range(*vars.codes) }}",
        "{{ (",
        "{{ " + "(" * 5000 + ")" * 5000 + " }}",
        "x" * 70_000 + "{{ 1 }}",
    ],
)
def test_what_has_no_bound_is_no_template(text: str) -> None:
    """Refused when it is read, before it can run."""
    with pytest.raises(BadTemplate):
        evaluate(text, SCOPE)


NESTED = "{% for a in range(9999) %}" * 4 + "x" + "{% endfor %}" * 4


@pytest.mark.parametrize(
    "text",
    [
        "{{ range(10001) }}",
        NESTED,
        NESTED.replace("x", ""),
        "{{ 'a' * 10 ** 9 }}",
        "{{ 10 ** 9 * 'a' }}",
        "{{ [0] * 10 ** 9 }}",
        "{{ 10 ** 5000 }}",
        "{{ (10 ** 1000) * (10 ** 1000) }}",
        "{{ 2 ** 1000 ** 1000 }}",
        "{{ ('a' * 999999) + ('b' * 999999) }}",
        "{{ ('a' * 999999) | replace('a', 'b' * 999999) }}",
        "{{ (['a'] * 9999) | join('b' * 9999) }}",
        "{% set x = 'aaaaaaaaaa' %}" + "{% set x = x ~ x %}" * 60 + "{{ x }}",
        "{% set x = [1] %}" + "{% set x = [x, x] %}" * 60 + "{{ x | string }}",
        "{% set x = {'a': 1} %}" + "{% set x = {'a': x, 'b': x} %}" * 60 + "{{ x | tojson }}",
        "{% for a in range(9999) %}{{ 'x' * 9999 }}{% endfor %}",
        "{{ [vars.rate ** 1000 ** 1000] }}",
        "{{ (vars.rate * 80) ** 1000 }}",
        "{{ (vars.rate / 100) ** 999 }}",
    ],
)
def test_what_would_not_end_is_ended(text: str) -> None:
    """Loops in loops, doubling texts and lists, huge numbers: each ends on its budget, with a sentence."""
    with pytest.raises((ExpressionFailed, BadTemplate)) as caught:
        evaluate(text, SCOPE)
    assert any(word in str(caught.value) for word in ("longer than", "more than", "too large"))


def test_references_are_the_names_from_outside() -> None:
    """Names of loops inside the template are not among them."""
    text = "{{ steps.org['a'].b }}{% for i in vars.q %}{{ i.z }}{{ loop.index }}{% endfor %}\n{{ vars[x].y }}"
    found = {(reference.path, reference.line) for reference in references(text)}
    assert found == {(("steps", "org", "a", "b"), 1), (("vars", "q"), 1), (("vars",), 2), (("x",), 2)}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{{ a.b }} and\n{{ c }}", [("a.b", 1), ("c", 2)]),
        ("{{ true }}{{ none }}{{ range(2) }}", []),
        ("{{ a[b.c].d }}", [("b.c", 1), ("a", 1)]),
        ("{% set x = y %}{{ x }}", [("y", 1)]),
        ("{{ x }}{% set x = 1 %}", [("x", 1)]),
        ("{% for k, v in m | items if v %}{{ k }}{% else %}{{ k }}{% endfor %}", [("m", 1), ("k", 1)]),
        ("{{ (a ~ b.c) | upper }}", [("a", 1), ("b.c", 1)]),
        ("{% if a %}{% set b = 1 %}{% endif %}{{ b }}", [("a", 1)]),
    ],
)
def test_names_are_found_with_and_without_a_parse(text: str, names: list[tuple[str, int]]) -> None:
    """Texts with names alone in their braces are read without Jinja's parser, and give the same."""
    assert [(".".join(reference.path), reference.line) for reference in references(text)] == names


PIECES = (
    "a", "a.b", "steps.x.y", "true", "none", "7", "1.5", "1.", ".5", "'t'", '"t"', "'", "%}", "}}", "is", "not", "in",
    "if", "else", "and", "or", "xand", "range", "self", "loop", "_x", "a.__b", "a._b", "==", ">", ">=", "~", "+", "-",
    "*", "**", "/", "//", "|", "| length", "| round(2)", "| uper", "| map('upper')", "| join(', ', 'x')", "(", ")", "[",
    "]", ",", ".", "\n", "-1", "=", "!", "é", "| selectattr('a', 'gt', 5)", "| selectattr('a', 'gtt')", "| map(a)",
    "| select('odd')", "}} {{", "{", "}} {% if a %} {{", "}} {% else %} {{", "}} {% endif %} {{", "}} {% endfor %} {{",
    "}} {% for a in b.c %} {{", "}} {% for a in b | list %} {{ a.x }} {% endfor %} {{", "}} {% elif x %} {{",
    "loop.index",
)  # fmt: skip


def told(text: str) -> object:
    """What reading a text comes to: its names and whether it is alone, or that it is no template."""
    try:
        return references(text), is_alone(text)
    except BadTemplate:
        return None


def test_the_fast_reading_is_the_parsers() -> None:
    """What is read without Jinja's parser comes to the same as with it; a comment before a text calls the parser."""
    random = Random(7)
    for _ in range(1_500):
        body = random.choice(("", " ")).join(random.choice(PIECES) for _ in range(random.randint(1, 6)))
        assert told(f"{{{{ {body} }}}}x") == told(f"{{#-#}}{{{{ {body} }}}}x"), body


BLOCKS = (
    "{% for a in b.c %}", "{% for loop in a | list %}", "{% for b in 'x' %}", "{% endfor %}", "{% if a.x > 1 %}",
    "{% if b %}", "{% else %}", "{% endif %}", "{{ a.x }}", "{{ loop.index }}", "{{ b }}", "\n", "{", "{{ a",
    "{% set a = 1 %}", "{%- if b %}", "{% for in in b %}", "{% for a, b in c %}", "{% elif b %}",
)  # fmt: skip


def test_the_fast_reading_of_blocks_is_the_parsers() -> None:
    """Loops and conditions within one another, closed or not: the same names, bound in the same places."""
    random = Random(11)
    for _ in range(1_500):
        text = "".join(random.choice(BLOCKS) for _ in range(random.randint(1, 7)))
        assert told(f"{text}x") == told(f"{{#-#}}{text}x"), text


def test_a_number_finds_its_text_among_the_keys_of_a_map() -> None:
    """JSON's keys are texts, and ids are numbers."""
    scope = {"names": {"7": "Anna"}, "id": 7}
    assert evaluate("{{ names[id] }}", scope) == "Anna"
    assert evaluate("{{ names[8] is defined }}", scope) is False


def test_resolve_goes_through_lists_and_maps() -> None:
    """Every text in a value is evaluated, and nothing else is touched."""
    value = {"a": ["{{ vars.items }}", 1, None], "{{ key }}": True}
    assert resolve(value, SCOPE) == {"a": [5, 1, None], "{{ key }}": True}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ 'a' * 10 ** 9 }}", "more than 1,000,000 characters"),
        ("{% for a in range(9999) %}{% for b in [1] * 99 %}{% endfor %}{% endfor %}", "more than 50,000 steps"),
        ("{{ vars.codes['__cl' ~ 'ass__'] }}", "unsafe"),
        ("{{ vars.codes[9] }}", None),
        ("{{ vars.items + 'a' }}", None),
        ("{{ steps.org['__cl' ~ 'ass__'] }}", None),
        ("{{ 'right' }}", None),
    ],
)
def test_a_trial_tells_what_needs_no_run(text: str, told: str | None) -> None:
    """A template without names is judged whole; one of `vars`, which a run may replace, by what it reaches for."""
    found = Trials(SCOPE["vars"]).objection(text)
    assert (found is None) if told is None else (found is not None and told in found)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{{ a | lenght }}", "there is no filter lenght; did you mean length?"),
        ("{{ a | map('uper') }}", "there is no filter uper; did you mean upper?"),
        ("{{ a | select('defned') }}", "there is no test defned; did you mean defined?"),
        ("{{ a | selectattr('x', 'greater') }}", "there is no test greater; did you mean greaterthan?"),
        ("{{ a is evn }}", "there is no test evn; did you mean even?"),
        ("{{ a.uper() }}", "uper() cannot be called; did you mean upper?"),
        ("{{ money(3) }}", "did you mean the filter, as in {{ value | money }}?"),
        ("{{ now() }}", "now() cannot be called: range is the only function"),
        ("{{ a.b()() }}", "this cannot be called"),
        ("{% filter upper %}x{% endfilter %}", "put the filter behind the value"),
    ],
)
def test_an_unknown_word_is_told_when_the_text_is_read(text: str, told: str) -> None:
    """Filters, tests, methods and functions, with what was probably meant."""
    with pytest.raises(BadTemplate) as caught:
        references(text)
    assert told in str(caught.value)
