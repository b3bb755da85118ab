"""References: what users type, understood."""

from __future__ import annotations

import pytest

from drafter_lint.aliases import aliases
from drafter_lint.errors import AmbiguousAlias, UsageError
from drafter_lint.reference import Reference, normalise, parse_reference


def parse(text: str, *, existing: tuple[str, ...] = (), revision: str | None = None) -> Reference:
    return parse_reference(text, exists=existing.__contains__, aliases=aliases(), revision=revision)


@pytest.mark.parametrize(
    ("text", "kind", "name", "revision", "subfolder"),
    [
        ("./folder", "local", "./folder", None, ""),
        ("/srv/models/drafter", "local", "/srv/models/drafter", None, ""),
        ("C:\\models\\drafter", "local", "C:\\models\\drafter", None, ""),
        (".", "local", ".", None, ""),
        ("acme/duck-eagle3", "hub", "acme/duck-eagle3", None, ""),
        ("acme/duck-eagle3@v1", "hub", "acme/duck-eagle3", "v1", ""),
        ("hf://acme/duck-eagle3", "hub", "acme/duck-eagle3", None, ""),
        ("hf://acme/duck-eagle3@main/full", "hub", "acme/duck-eagle3", "main", "full"),
        ("hf://acme/duck-eagle3/full/last", "hub", "acme/duck-eagle3", None, "full/last"),
        ("https://huggingface.co/acme/duck-eagle3", "hub", "acme/duck-eagle3", None, ""),
        ("https://huggingface.co/acme/duck-eagle3/tree/v2/full", "hub", "acme/duck-eagle3", "v2", "full"),
        ("https://huggingface.co/acme/duck-eagle3/blob/main/config.json", "hub", "acme/duck-eagle3", "main", ""),
        ("kimi-k2.5", "hub", "moonshotai/Kimi-K2.5", None, ""),
        ("Kimi-K25", "hub", "moonshotai/Kimi-K2.5", None, ""),
        ("kimi_k25", "hub", "moonshotai/Kimi-K2.5", None, ""),
        ("kimi-k2.5@abc", "hub", "moonshotai/Kimi-K2.5", "abc", ""),
    ],
)
def test_forms(text: str, kind: str, name: str, revision: str | None, subfolder: str) -> None:
    reference = parse(text)
    assert (reference.kind, reference.name, reference.revision, reference.subfolder) == (
        kind,
        name,
        revision,
        subfolder,
    )
    assert reference.spelling == text


def test_an_existing_path_wins_over_a_repository_and_an_alias() -> None:
    assert parse("acme/duck", existing=("acme/duck",)).kind == "local"
    assert parse("kimi-k2.5", existing=("kimi-k2.5",)).kind == "local"


def test_a_revision_option_wins_over_one_inside() -> None:
    assert parse("acme/duck@v1", revision="v2").revision == "v2"


def test_an_alias_shows_both_spellings() -> None:
    assert parse("kimi-k2.5").shown == "kimi-k2.5 -> moonshotai/Kimi-K2.5"
    assert parse("acme/duck").shown == "acme/duck"


def test_an_ambiguous_alias_lists_its_candidates() -> None:
    with pytest.raises(AmbiguousAlias) as caught:
        parse("kimi-k2")
    assert "moonshotai/Kimi-K2-Instruct" in caught.value.candidates
    assert len(caught.value.candidates) > 1


@pytest.mark.parametrize(
    "text", ["", "  ", "no-such-alias", "hf://justone", "https://huggingface.co/acme", "https://[x/a/b", "a b/c d"]
)
def test_what_is_no_reference(text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Kimi_K25", "kimi-k2.5"),
        ("LLaMA3.1-Instruct-8B", "llama-3.1-8b-instruct"),
        ("Meta-Llama-3.1-8B-Instruct", "llama3.1-8b-instruct"),
        ("moonshotai/Kimi-K2.5", "kimi-k2.5"),
        ("qwen3-5", "Qwen3.5"),
    ],
)
def test_spellings_that_are_the_same(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("kimi-k2", "kimi-k2.5"), ("qwen3-8b", "qwen3.8-b"), ("llama-3-8b", "llama-3.1-8b"), ("glm-4.7", "glm-4.7-flash")],
)
def test_spellings_that_are_not(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


def test_every_alias_of_the_table_resolves_or_lists() -> None:
    for spelling, ids in aliases().items():
        if len(ids) == 1:
            assert parse(spelling).name == ids[0]
        else:
            with pytest.raises(AmbiguousAlias):
                parse(spelling)
