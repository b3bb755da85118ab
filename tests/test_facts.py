"""Engine facts: observations, and what holds at a version nobody read."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import pytest
from packaging.version import Version

from drafter_lint.errors import UsageError
from drafter_lint.facts import Profile, engines, parse_profile, profile, version_of, worlds
from drafter_lint.facts.timeline import held, is_timeline, spans
from drafter_lint.findings import Confidence

PROFILE = """
read = ["1.0", "1.1.post1", "1.3", "2.0"]
run = ["1.3"]

[fact."width"]
file = "a.py"
symbol = "A"
observed = [
  { first = "1.0", last = "1.1.post1", value = "three" },
  { first = "1.3", last = "2.0", value = "counted", how = "run" },
]

[fact."names"]
file = "b.py"
symbol = "B"
observed = [{ first = "1.0", last = "2.0", value = ["x", "y"] }]

[fact."guess"]
file = "c.py"
symbol = "C"
how = "inferred"
observed = [{ first = "1.0", last = "2.0", value = true }]
"""


@pytest.fixture
def known() -> Profile:
    return parse_profile("toy", PROFILE)


def test_a_version_that_was_read_is_observed(known: Profile) -> None:
    (world,) = worlds(known, Version("1.1.post1"))
    assert (world.knowledge, world.text("width"), world.basis) == ("observed", "three", "1.1.post1")
    assert world.fact("width").confidence is Confidence.CERTAIN
    assert world.fact("width").evidence.version == "1.0 to 1.1.post1"


def test_what_is_only_inferred_is_never_certain(known: Profile) -> None:
    (world,) = worlds(known, Version("1.0"))
    assert world.flag("guess")
    assert world.fact("guess").confidence is Confidence.LIKELY


def test_between_two_that_agree_it_is_bracketed(known: Profile) -> None:
    (world,) = worlds(known, Version("1.5"))
    assert (world.knowledge, world.text("width")) == ("bracketed", "counted")
    assert world.fact("width").confidence is Confidence.LIKELY


def test_between_two_that_differ_there_are_two_worlds(known: Profile) -> None:
    older, newer = worlds(known, Version("1.2"))
    assert (older.knowledge, older.basis, older.text("width")) == ("ambiguous", "1.1.post1", "three")
    assert (newer.knowledge, newer.basis, newer.text("width")) == ("ambiguous", "1.3", "counted")
    assert older.names("names") == newer.names("names") == ("x", "y")


def test_a_table_whose_names_part_parts_the_worlds_too() -> None:
    table = """
[fact."models"]
file = "d.py"
symbol = "D"
[[fact."models".observed]]
first = "1.0"
last = "2.0"
[fact."models".observed.value]
Old = "1.0..1.1.post1"
Same = "1.0..2.0"
"""
    read = parse_profile("toy", PROFILE.replace('[fact."width"]', table + '[fact."width"]').replace("three", "counted"))
    assert [world.basis for world in worlds(read, Version("1.2"))] == ["1.1.post1", "1.3"]
    assert [world.basis for world in worlds(read, Version("1.5"))] == ["1.3"]


def test_a_place_that_has_moved_is_cited_where_it_was() -> None:
    moved = 'symbol = "B"\nearlier = [{ last = "1.0", file = "old.py", symbol = "O" }]'
    read = parse_profile("toy", PROFILE.replace('symbol = "B"', moved))
    rows = [(str(row.first), str(row.last), row.file, row.symbol) for row in read.observations["names"]]
    assert rows == [("1.0", "1.0", "old.py", "O"), ("1.1.post1", "2.0", "b.py", "B")]
    (world,) = worlds(read, Version("1.0.5"))
    assert world.names("names") == ("x", "y")


def test_a_timeline_in_parts() -> None:
    row = "a 1.0..1.3; b 2.0..2.0"
    assert [held(row, Version(text)) for text in ("1.1.post1", "1.9", "2.0")] == ["a", None, "b"]
    assert [str(span) for span in spans(row)] == ["1.0 to 1.3", "2.0"]
    assert "; ".join(span.written for span in spans(row)) == row
    assert spans("no timeline") == spans("a..b") == ()
    assert is_timeline({"x": row, "y": "1.0..2.0"})
    assert not is_timeline({"x": row, "y": "hidden_size"})
    assert not is_timeline({})


def test_a_plain_release_below_its_post_release_is_not_the_post_release(known: Profile) -> None:
    # Specifiers are a trap: ==1.1 does not mean 1.1.post1, and 1.1 itself was never read.
    (world,) = worlds(known, Version("1.1"))
    assert world.knowledge == "bracketed"


def test_newer_than_all_read_is_extrapolated(known: Profile) -> None:
    (world,) = worlds(known, Version("3.0"))
    assert (world.knowledge, world.text("width"), world.basis) == ("extrapolated", "counted", "2.0")
    assert world.fact("width").confidence is Confidence.LIKELY


def test_older_than_all_read_is_refused(known: Profile) -> None:
    with pytest.raises(UsageError, match="older than everything read"):
        worlds(known, Version("0.9"))


def test_overlapping_observations_are_an_error() -> None:
    text = PROFILE.replace('last = "1.1.post1"', 'last = "1.3"')
    with pytest.raises(ValueError, match="overlaps"):
        parse_profile("toy", text)


def test_asking_for_the_wrong_kind_is_an_error(known: Profile) -> None:
    (world,) = worlds(known, Version("1.0"))
    with pytest.raises(TypeError):
        world.flag("width")
    with pytest.raises(TypeError):
        world.text("names")
    with pytest.raises(KeyError):
        world.fact("nobody wrote this")


@pytest.mark.parametrize("text", ["", "abc", "1..2"])
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(UsageError):
        version_of(text)


def test_a_leading_v_is_allowed() -> None:
    assert version_of("v0.5.9") == Version("0.5.9")


@pytest.mark.parametrize("name", engines())
def test_shipped_profiles_are_sound(name: str) -> None:
    known = profile(name)
    assert set(known.run) <= set(known.read)
    for key, rows in known.observations.items():
        kinds = {type(row.value) for row in rows}
        assert len(kinds) == 1, f"{key} changes its type"
        for row in rows:
            assert row.file, key
            assert row.symbol, key
            assert row.how in ("run", "read", "inferred"), key
            assert row.first in known.read, f"{key}: {row.first} was never read"
            assert row.last in known.read, f"{key}: {row.last} was never read"
    for version in known.read:
        for world in worlds(known, version):
            assert set(world.facts) == set(known.observations)


@pytest.mark.parametrize("name", engines())
def test_every_name_in_a_shipped_table_was_seen_in_releases_that_were_read(name: str) -> None:
    known = profile(name)
    for key, rows in known.observations.items():
        for value in (row.value for row in rows if is_timeline(row.value)):
            assert isinstance(value, Mapping)
            for text in value.values():
                found = spans(text)
                assert {end for span in found for end in (span.first, span.last)} <= set(known.read), key
                assert all(one.last < other.first for one, other in pairwise(found)), key


def test_what_the_newest_releases_read_show() -> None:
    (older,), (read,), (newer,) = (worlds(profile("vllm"), Version(text)) for text in ("0.28.0", "0.29.0", "0.30.0"))
    assert read.knowledge == "observed"
    assert [world.text("runner.default") for world in (older, read, newer)] == ["v2 for dense targets", "v2", "v2"]
    assert [world.text("block.map") for world in (older, read, newer)] == ["unequal", "unequal", "reduced"]
    assert [world.flag("dspark.qwen3-renamed") for world in (older, read, newer)] == [False, True, True]
    assert "extract_hidden_states" in read.names("runner.v2-methods")
    for text, basis in (("0.28.1", ["0.28.0", "0.29.0"]), ("0.29.1", ["0.29.0", "0.30.0"])):
        assert [world.basis for world in worlds(profile("vllm"), Version(text))] == basis


def test_a_post_release_is_read_for_itself() -> None:
    (read,) = worlds(profile("sglang"), Version("0.5.13.post1"))
    assert (read.knowledge, read.basis, read.text("eagle.zero-steps")) == ("observed", "0.5.13.post1", "refused")
    sides = worlds(profile("sglang"), Version("0.5.13.post2"))
    assert [world.basis for world in sides] == ["0.5.13.post1", "0.5.14"]
    assert [world.text("eagle.zero-steps") for world in sides] == ["refused", "verified"]


def test_both_engines_are_shipped() -> None:
    assert set(engines()) >= {"sglang", "vllm"}
    assert profile("sglang").newest == Version("0.5.23")
    assert profile("vllm").newest == Version("0.33.0")
