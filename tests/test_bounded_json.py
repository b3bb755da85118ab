"""Tables of names and numbers are read by a quicker parser; nothing but their speed may show it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drafter_lint.checkpoint import bounded_json
from drafter_lint.errors import Trouble, Unavailable

VALUES = st.one_of(
    st.integers(min_value=0, max_value=10**21),
    st.sampled_from(["null", "-1", "1.5", '"x"', '{"a": 1, "a": 2}', "[]", "NaN", "01", "1e3", ""]),
)
# Names that hold what stands between a name and its number, and names that repeat.
NAMES = st.one_of(
    st.sampled_from(["a", "b", ":0", '":1', "\\", '\\":2', ",", "\ud800", "\n", "\u2581"]), st.text(max_size=4)
)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """An object that is almost a table of names and numbers."""
    quoted = [json.dumps(name, ensure_ascii=draw(st.booleans())) for name in draw(st.lists(NAMES, max_size=6))]
    colon, comma = (
        draw(st.sampled_from([":", ": ", " :\n", "::"])),
        draw(st.sampled_from([",", ", ", "\n,\t", ",,", " "])),
    )
    members = comma.join(f"{name}{colon}{draw(VALUES)}" for name in quoted)
    return (f"{{{members}{draw(st.sampled_from(['}', ' }', ',}', ']', '}x']))}").encode("utf-8", "surrogatepass")


def outcome(read: object) -> object:
    """What reading gives: the value, or why there is none."""
    assert callable(read)
    try:
        return read()
    except Unavailable as error:
        return error.trouble, str(error)


@given(texts(), st.integers(0, 8))
def test_the_quicker_reader_says_what_the_other_says(data: bytes, values: int) -> None:
    quick = outcome(lambda: bounded_json.table(data, what="x", values=values))
    assert quick == outcome(lambda: bounded_json.parse(data, what="x", values=values, pairs=bounded_json.unique))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 0, "a": 1}',
        '{"a": 0, "\\u0061": 1}',
        '{"a": null, "a": 1}',
        '{"a": "\\":0", "a": 1}',
        '{"\\":0": 5, "a" : 1, "a"\n:\n2}',
        '{"a": {"b": 1}, "a": 2}',
    ],
)
def test_a_name_that_stands_twice_is_seen(text: str) -> None:
    with pytest.raises(Unavailable, match="is declared more than once"):
        bounded_json.table(text.encode(), what="x", values=100)


def test_a_number_of_thousands_of_digits_costs_nothing() -> None:
    with pytest.raises(Unavailable, match="an integer of thousands of digits") as caught:
        bounded_json.table(b'{"a": ' + b"9" * 1_000_000 + b"}", what="x", values=100)
    assert caught.value.trouble is Trouble.MALFORMED
