"""The flag tables: what the releases read have, and what a spelling means to one of them or to any."""

from __future__ import annotations

import pytest

from drafter_lint.launch import LaunchRequest, flag_releases, flag_table, spelled
from drafter_lint.launch.flags import understood


@pytest.mark.parametrize(
    ("engine", "name", "first", "last", "kind", "field"),
    [
        ("sglang", "--speculative-algorithm", "0.4.6.post5", "0.5.23", "value", "method"),
        ("sglang", "--speculative-draft-model-revision", "0.5.2", "0.5.23", "value", "draft_revision"),
        ("sglang", "--speculative-draft-model-quantization", "0.5.7", "0.5.23", "value", "draft_quantization"),
        ("sglang", "--speculative-skip-dp-mlp-sync", "0.5.11", "0.5.22", "switch", ""),
        ("sglang", "--speculative-ngram-branch-length", "0.5.3.post3", "0.5.9", "value", ""),
        ("sglang", "--cuda-graph-bs", "0.4.6.post5", "0.5.19", "many-values", ""),
        ("sglang", "--model-checksum", "0.5.8.post1", "0.5.23", "optional-value", ""),
        ("vllm", "--speculative-config", "0.8.5", "0.33.0", "json", ""),
        ("vllm", "--spec-method", "0.22.0", "0.33.0", "value", "method"),
        ("vllm", "--enable-prefix-caching", "0.8.5", "0.33.0", "switch", ""),
        ("vllm", "--compilation-config", "0.8.5", "0.33.0", "json", ""),
        ("vllm", "--served-model-name", "0.8.5", "0.33.0", "many-values", ""),
        ("vllm", "--max-model-len", "0.8.5", "0.33.0", "value", "context_length"),
    ],
)
def test_flag(engine: str, name: str, first: str, last: str, kind: str, field: str) -> None:
    info = flag_table(engine)[name]
    assert (info.first, info.last, info.kind, info.field) == (first, last, kind, field)


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
def test_every_field_is_one_of_the_request(engine: str) -> None:
    fields = {info.field for info in flag_table(engine).values()} - {""}
    assert {"target", "method", "drafter", "tensor_parallel", "quantization", "dtype", "context_length"} <= fields
    assert fields <= set(LaunchRequest.__dataclass_fields__)


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
def test_every_spelling_is_read_by_the_releases_that_have_it(engine: str) -> None:
    for info in flag_table(engine).values():
        for spelling, releases in info.seen.items():
            assert releases, spelling
            assert spelled(engine, spelling, release=max(releases, key=flag_releases(engine).index)) == (info.name,)


@pytest.mark.parametrize(
    ("engine", "spelling", "release", "names"),
    [
        ("sglang", "--speculative-algo", "0.5.23", ("--speculative-algorithm",)),
        ("sglang", "--speculative_algorithm", "0.5.23", ()),
        ("sglang", "--speculative-draft", "0.5.1.post3", ("--speculative-draft-model-path",)),
        ("sglang", "--speculative-draft-model", "0.5.1.post3", ("--speculative-draft-model-path",)),
        ("sglang", "--speculative-draft-model", "0.5.23", ("--speculative-draft-model-path",)),
        ("sglang", "--speculative-draft-model-quantization", "0.5.6.post2", ()),
        ("sglang", "--tp", "0.5.23", ("--tp-size",)),
        ("vllm", "--speculative_config", "0.8.5", ("--speculative-config",)),
        ("vllm", "-sc", "0.18.1", ()),
        ("vllm", "-sc", "0.21.0", ("--speculative-config",)),
        ("vllm", "--spec-method", "0.18.1", ()),
        ("vllm", "-O", "0.11.2", ("--compilation-config",)),
        ("vllm", "--speculative-model", "0.33.0", ()),
    ],
)
def test_what_a_release_reads(engine: str, spelling: str, release: str, names: tuple[str, ...]) -> None:
    assert spelled(engine, spelling, release=release) == names


def test_an_abbreviation_can_be_ambiguous_at_one_release_only() -> None:
    assert len(spelled("sglang", "--speculative-draft", release="0.5.23")) > 1
    assert [info.name for info in understood("sglang", "--speculative-draft")] == ["--speculative-draft-model-path"]
    assert len(understood("sglang", "--speculative-num")) == 2


def test_a_release_that_was_not_read_is_refused() -> None:
    with pytest.raises(ValueError, match=r"vllm 9\.9"):
        spelled("vllm", "--model", release="9.9")
