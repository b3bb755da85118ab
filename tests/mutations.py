"""Mutations of texts: a few characters taken out, put in, doubled or turned round, as hypothesis draws them."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

#: The same examples on every machine, in a bounded number.
BOUNDED = settings(
    max_examples=80,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
_CHARACTERS = "\"'`$(){}[]\\\n#:<>&|;=,-. \t0aé\x00\u2028"
_EDIT = st.tuples(
    st.integers(0, 3), st.integers(0, 1_000_000), st.integers(0, 60), st.text(_CHARACTERS, min_size=1, max_size=3)
)


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    """A text with one to four edits."""
    for kind, where, length, typed in draw(st.lists(_EDIT, min_size=1, max_size=4)):
        at = where % (len(text) + 1)
        to = min(len(text), at + length)
        middle = {0: "", 1: typed + text[at:to], 2: text[at:to] * 2, 3: text[at:to][::-1]}[kind]
        text = text[:at] + middle + text[to:]
    return text
