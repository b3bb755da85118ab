"""Documents: every value has its place, and what a plain parser hides is seen."""

from __future__ import annotations

import math

import pytest

from drafter_lint.checkpoint import Config, Document, Span
from drafter_lint.checkpoint import scanner as scanning
from drafter_lint.errors import Trouble, Unavailable

NESTED = """{
  "architectures": ["LlamaForCausalLMEagle3"],
  "eagle_config": {
    "eagle_aux_hidden_state_layer_ids": [
      2,
      30,
      58
    ],
    "use_aux_hidden_state": true
  },
  "a/b~c": null, "norm": -1.5e-6
}
"""


def scan(text: str | bytes) -> Document:
    data = text.encode() if isinstance(text, str) else text
    return scanning.scan(data, file="config.json", subject="a/b", role="drafter")


def kinds(document: Document) -> list[str]:
    return [problem.kind for problem in document.problems]


@pytest.mark.parametrize(
    ("pointer", "span"),
    [
        ("", Span(1, 1, 1)),
        ("/architectures", Span(2, 20, 26)),
        ("/architectures/0", Span(2, 21, 24)),
        ("/eagle_config", Span(3, 19, 1)),
        ("/eagle_config/eagle_aux_hidden_state_layer_ids", Span(4, 41, 1)),
        ("/eagle_config/eagle_aux_hidden_state_layer_ids/2", Span(7, 7, 2)),
        ("/eagle_config/use_aux_hidden_state", Span(9, 29, 4)),
        ("/a~1b~0c", Span(11, 12, 4)),
        ("/norm", Span(11, 26, 7)),
    ],
)
def test_every_value_has_its_place(pointer: str, span: Span) -> None:
    assert scan(NESTED).spans[pointer] == span


def test_keys_have_their_own_places() -> None:
    document = scan(NESTED)
    assert document.keys["/eagle_config/use_aux_hidden_state"] == Span(9, 5, 22)
    assert document.keys["/a~1b~0c"] == Span(11, 3, 7)
    assert set(document.keys) == {pointer for pointer in document.spans if pointer and not pointer[-1].isdigit()}


def test_a_location_carries_the_line() -> None:
    place = Config(scan(NESTED)).at("eagle_config", "use_aux_hidden_state")
    assert (place.line, place.column, place.width) == (9, 29, 4)
    assert place.text == '    "use_aux_hidden_state": true'
    assert place.pointer == "/eagle_config/use_aux_hidden_state"


def test_an_absent_value_is_placed_at_its_parent() -> None:
    place = Config(scan(NESTED)).at("eagle_config", "absent")
    assert (place.line, place.pointer) == (3, "/eagle_config/absent")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_end_as_json_says(newline: str) -> None:
    # U+2028 and a vertical tab end a line for str.splitlines, and for no editor.
    document = scan(f'{{"s": "\u2028",{newline}"é": 1,{newline}"b": 2}}')
    assert document.spans["/é"] == Span(2, 6, 1)
    assert document.spans["/b"] == Span(3, 6, 1)
    assert document.lines[1] == '"é": 1,'


def test_the_last_duplicate_wins_and_the_first_leaves_no_places() -> None:
    document = scan('{"a": {"x": 1, "y": 2},\n "b": 0,\n "a": {"y": 3}}')
    assert document.root == {"a": {"y": 3}, "b": 0}
    assert list(document.root) == ["a", "b"]
    assert "/a/x" not in document.spans
    assert "/a/x" not in document.keys
    assert document.spans["/a/y"] == Span(3, 13, 1)
    (problem,) = document.problems
    assert problem.kind == "duplicate-key"
    assert problem.span == Span(3, 2, 3)
    assert "'a'" in problem.detail


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NaN", math.nan),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        ("1e999", math.inf),
        ("-" + "9" * 641, -math.inf),
    ],
)
def test_what_is_not_finite_is_said(text: str, value: float) -> None:
    document = scan(f'{{"a": {text}}}')
    assert kinds(document) == ["not-finite"]
    assert document.problems[0].span == Span(1, 7, len(text))
    found = document.root["a"]
    assert isinstance(found, float)
    assert found == value or (math.isnan(found) and math.isnan(value))


def test_a_large_integer_is_kept() -> None:
    document = scan('{"a": 1' + "0" * 400 + "}")
    assert document.root["a"] == 10**400
    assert document.problems == ()
    number = Config(document).number("a")
    assert number is not None
    assert number.value == math.inf


def test_a_byte_order_mark_is_no_character() -> None:
    document = scan(b'\xef\xbb\xbf{"a": 1}')
    assert kinds(document) == ["bom"]
    assert document.spans["/a"] == Span(1, 7, 1)


def test_truncated_utf8_is_replaced_and_placed() -> None:
    document = scan(b'{"\xc3\xa4": 1,\n "b": "caf\xc3"}')
    assert kinds(document) == ["encoding"]
    assert document.problems[0].span == Span(2, 11, 1)
    assert "0xc3 at offset 20" in document.problems[0].detail
    assert document.root == {"ä": 1, "b": "caf\ufffd"}


@pytest.mark.parametrize(
    ("text", "line", "column", "told"),
    [
        ("", 1, 1, "found the end of the file"),
        ('{"a": 1,\n}', 2, 1, "comma before the end of an object"),
        ('{"a": [1, 2,]}', 1, 13, "comma before the end of a list"),
        ("{'a': 1}", 1, 2, "key in double quotes"),
        ('{"a": True}', 1, 7, "found 'True'"),
        ('{"a": 01}', 1, 8, "expected ',' or '}', found '1'"),
        ('{"a": .5}', 1, 7, "found '.5'"),
        ('{"a" 1}', 1, 6, "expected ':'"),
        ('{"a": 1 // no\n}', 1, 9, "expected ',' or '}'"),
        ('{"a": "b\n"}', 1, 9, "must be escaped"),
        ('{"a": "b', 1, 7, "not closed"),
        ('{"a": "\\x41"}', 1, 8, "escape"),
        ('{"a": "\\u12"}', 1, 9, "escape"),
        ('{"a": 1\n\n', 3, 1, "found the end of the file"),
    ],
)
def test_a_syntax_error_is_placed(text: str, line: int, column: int, told: str) -> None:
    document = scan(text)
    assert document.root == {}
    assert document.spans == {}
    (problem,) = document.problems
    assert problem.kind == "syntax"
    assert told in problem.detail
    assert problem.span is not None
    assert (problem.span.line, problem.span.column) == (line, column)


def test_what_follows_the_value_is_said_and_the_value_kept() -> None:
    document = scan('{"a": 1}\n<<<<<<< HEAD')
    assert kinds(document) == ["trailing"]
    assert document.root == {"a": 1}
    assert document.problems[0].span == Span(2, 1, 12)


@pytest.mark.parametrize(
    ("text", "told"),
    [("[1]", "a list"), ('"a"', "a string"), ("null", "null"), ("true", "a boolean"), ("3", "a number")],
)
def test_only_an_object_is_a_document(text: str, told: str) -> None:
    document = scan(text)
    assert kinds(document) == ["not-an-object"]
    assert told in document.problems[0].detail
    assert document.root == {}


@pytest.mark.parametrize(
    "text",
    [
        '{"a": ' + "[" * 101 + "]" * 101 + "}",
        "[" * 1_000_000,
        '{"a":' * 500_000,
        "[" + "0," * 200_000 + "0]",
        '{"' + "k" * 1_000_000 + '": [' + "0," * 1000 + "0]}",
        '{"a": "' + "x" * (4 * 1024 * 1024) + '"}',
    ],
    ids=["depth", "only-brackets", "only-objects", "values", "pointers", "bytes"],
)
def test_bounds(text: str) -> None:
    with pytest.raises(Unavailable) as caught:
        scan(text)
    assert caught.value.trouble is Trouble.TOO_LARGE
    assert caught.value.what == "a/b: config.json"


def test_a_hundred_levels_are_read() -> None:
    assert scan('{"a": ' + "[" * 99 + "]" * 99 + "}").problems == ()


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "' + "\\\\" * 1_500_000,
        '{"a": "' + 'x\\"' * 1_300_000,
        "{" + '"a":[[[0]]],' * 40_000 + '"a":0}',
        "{" + " " * 4_000_000 + "x",
        '{"a": ' + "1" * 4_000_000 + "}",
        "\n" * 4_000_000,
    ],
    ids=["backslashes", "quotes", "duplicates", "spaces", "digits", "lines"],
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    # Each takes well under a second; a quadratic reader would not come back.
    assert scan(text).problems


def test_problems_are_bounded() -> None:
    assert len(scan("{" + '"a":0,' * 5000 + '"a":0}').problems) == scanning.MAX_PROBLEMS


def test_numbers_keep_their_type() -> None:
    config = Config(scan('{"i": 1, "f": 1.0, "e": 1e2, "t": true, "n": null, "z": -0}'))
    assert config.integer("i") is not None
    assert config.integer("f") is None
    assert config.integer("t") is None
    assert config.number("e") == config.raw("e")
    assert config.has("n")
    assert config.raw("n") is not None
    assert config.raw("absent") is None
    assert config.integer("z") is not None
