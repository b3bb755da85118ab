"""A check over the Hub, end to end: what it costs, what it says of every fault, and which checkpoint it reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import published
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.reference import Reference
from hub_pairs import (
    COMMITS,
    DRAFTER,
    EVERY_ENGINE,
    TARGET,
    Answer,
    CountingHub,
    run,
    small,
    small_files,
    small_pair,
    spawn,
    words,
)
from loopback_hub import Content, Kind, LoopbackHub, Repo, Stage

KIMI, KIMI_DRAFTER = "moonshotai/Kimi-K2.5", "lightseekorg/kimi-k2.5-eagle3"
PAIR = ("check", DRAFTER, "--target", TARGET)
JSON = ("--format", "json")
#: Generous: that a deadline holds is what is asserted, not how fast this machine is.
SLACK = 20.0


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    monkeypatch.setattr("drafter_lint.sources.wire.PAUSES", (0.01, 0.02))
    with LoopbackHub(small_pair()) as it:
        yield it


# What it costs.


@pytest.fixture(scope="module")
def kimi() -> Mapping[str, Repo]:
    """The published drafter and its full-size target."""
    target = published.target_files("moonshotai--Kimi-K2.5")
    drafter = published.drafter("lightseekorg--kimi-k2.5-eagle3").files()
    return {
        KIMI: {"commit": COMMITS["target"], "files": target},
        KIMI_DRAFTER: {"commit": COMMITS["drafter"], "files": drafter},
    }


@pytest.mark.parametrize(
    ("engine", "flags"),
    [
        ("sglang==0.5.23", ("--speculative-algorithm", "EAGLE3")),
        ("sglang==0.5.23", ("--speculative-algorithm", "EAGLE")),
        ("vllm==0.33.0", ()),
    ],
)
def test_a_cold_check_of_a_full_size_pair_is_cheap(
    kimi: Mapping[str, Repo], tmp_path: Path, engine: str, flags: tuple[str, ...]
) -> None:
    """At most 14 requests, 1.2 MB and 80 MB of memory, beside 64 shards of 208,216 tensors; none of them is opened."""
    assert len([path for path in kimi[KIMI]["files"] if path.endswith(".safetensors")]) == 64
    with CountingHub(kimi, latency=0.04) as hub:
        args = ("check", KIMI_DRAFTER, "--target", KIMI, "--engine", engine, *JSON)
        answer = spawn(tmp_path, (*args, "--", *flags) if flags else args)
        asked, sent = list(hub.requests), hub.sent.bytes
        warm = spawn(tmp_path, (*args, "--", *flags) if flags else args)
        again, listings = hub.requests[len(asked) :], hub.sent.bytes - sent
    assert answer.code in {0, 1}, answer.err
    assert answer.err == ""
    check = answer.checks[0]
    assert check["plan"] is not None
    assert check["checked"] > 10
    cost = answer.report["io"]
    assert cost["requests"] == len(asked) <= 14
    # The client stops reading where it has what it wants, so it may count less than was sent.
    assert 0 < cost["bytes"] <= sent <= 1_200_000
    assert answer.peak <= 80_000_000
    assert [request.path for request in asked if KIMI in request.path and ".safetensors" in request.path] == []
    assert [request.path for request in again if "/api/models/" not in request.path] == []
    assert len(again) == warm.report["io"]["requests"] == 2
    assert listings < 40_000
    assert said(warm) == said(answer)
    print(f"\n{engine} {' '.join(flags)}: {len(asked)} requests, {sent} bytes, {answer.peak / 1e6:.1f} MB")  # noqa: T201


def test_without_a_target_named_the_drafters_own_costs_no_more(kimi: Mapping[str, Repo], tmp_path: Path) -> None:
    with CountingHub(kimi) as hub:
        answer = spawn(tmp_path, ("check", KIMI_DRAFTER, "--engine", "sglang==0.5.23", *JSON))
        assert len(hub.requests) <= 14
    target = answer.checks[0]["target"]
    assert (target["name"], target["origin"]) == (KIMI, "claimed by the drafter")


def test_of_the_head_only_the_rows_looked_at_are_asked_for() -> None:
    """A head cut by offsets: two rows of 128 bytes in each of three places, by exact ranges."""
    repos = small_pair()
    pruned = small("eagle3-llama").patched({"tensors": {"lm_head.weight": "BF16 256x64 = 1*8192 2*8192"}})
    reference = Reference(spelling=DRAFTER, kind="hub", name=DRAFTER)
    head = Checkpoint(reference, pruned.source(), role="drafter").tensors["lm_head.weight"]
    repos[DRAFTER]["files"] = pruned.files()
    with LoopbackHub(repos, keeping=False) as hub:  # what came with the header of so small a file is asked for again
        answer = run(*PAIR, *EVERY_ENGINE, *JSON)
        ranges = [request.range for request in hub.requests if request.range]
    assert "DFL312" in answer.codes
    asked = [tuple(map(int, text.removeprefix("bytes=").split("-"))) for text in ranges]
    rows = sorted({(first - head.start) / 128 for first, last in asked if last - first + 1 == 256})
    assert rows == [42, 128, 212]


# Faults, and the rest of a check around them; every fault at every stage is in test_hub_matrix.py.

STAGES: Mapping[str, tuple[Stage, ...]] = {"drafter": ("info", "config", "header"), "target": ("info", "config")}
NAMES = {"drafter": DRAFTER, "target": TARGET}
FILE = {"info": "", "config": "config.json", "header": "model.safetensors"}


@pytest.fixture(scope="module")
def sound() -> Answer:
    """What is said of the small pair when nothing is the matter."""
    with LoopbackHub(small_pair()):
        answer = run(*PAIR, *EVERY_ENGINE, *JSON)
    assert (answer.code, answer.err) == (0, "")
    assert answer.verdicts <= {"ok", "hygiene"}
    return answer


def unstamped(line: str) -> str:
    """A line without the short commit behind a repository's name."""
    return re.sub(r" @ [0-9a-f]{7}\b", "", line)


def said(answer: Answer) -> list[object]:
    """What was found and not checked, and on what plan."""
    kept = ("verdict", "findings", "not_checked", "checked", "plan", "launch")
    return [{key: check[key] for key in kept} for check in answer.checks]


@pytest.mark.parametrize(("side", "stage"), [(side, stage) for side, stages in STAGES.items() for stage in stages])
def test_the_text_says_it_in_one_line_that_stands_out(hub: LoopbackHub, side: str, stage: Stage) -> None:
    hub.fault(NAMES[side], stage, "503")
    answer = run(*PAIR, *EVERY_ENGINE)
    assert answer.code == 3
    (line,) = [part for part in answer.out.split("\n   ! ")[1:] if "hub-unreachable" in part.split(":")[0]]
    line = words(line)
    assert f"{NAMES[side]}: {FILE[stage]}".rstrip(": ") in line
    assert "HTTP 503; 3 attempts" in line
    assert "try again, raise --timeout" in line
    assert "loads unknown" in words(answer.out)


@pytest.mark.parametrize("kind", ["503", "429", "reset", "truncated"])
@pytest.mark.parametrize(("side", "stage"), [(side, stage) for side, stages in STAGES.items() for stage in stages])
def test_a_fault_that_passes_changes_nothing(
    hub: LoopbackHub, sound: Answer, side: str, stage: Stage, kind: Kind
) -> None:
    hub.fault(NAMES[side], stage, kind, times=1)
    answer = run(*PAIR, *EVERY_ENGINE, *JSON)
    assert said(answer) == said(sound)
    assert answer.code == 0


def test_two_faults_are_both_told(hub: LoopbackHub) -> None:
    hub.fault(DRAFTER, "header", "503")
    hub.fault(TARGET, "info", "gated")
    answer = run(*PAIR, *EVERY_ENGINE, *JSON)
    assert answer.code == 3
    assert any(line.startswith(f"DFL004 drafter {DRAFTER}") for line in answer.said)
    assert any(line.startswith(f"DFL003 target {TARGET}") for line in answer.said)


def test_two_servers_that_stall_are_waited_for_once_each(hub: LoopbackHub) -> None:
    hub.fault(DRAFTER, "info", "stall")
    hub.fault(TARGET, "info", "stall")
    answer = run(*PAIR, *EVERY_ENGINE, "--timeout", "1", *JSON)
    assert answer.code == 3
    assert len(hub.requests) == 2
    assert answer.seconds < 2 + SLACK


def flawed(change: Mapping[str, object]) -> dict[str, Repo]:
    """The small pair with a change to the drafter."""
    repos = small_pair()
    repos[DRAFTER]["files"] = small("eagle3-llama").patched(change).files()
    return repos


@pytest.mark.parametrize(
    ("stage", "change", "code", "exit_code"),
    [
        ("header", {"set": {"/hidden_size": 96}}, "DFL201", 1),
        # Slow at worst: what could not be read decides the exit code.
        ("header", {"set": {"/eagle_aux_hidden_state_layer_ids": "json:[2, 4, 99]"}}, "DFL203", 3),
        ("config", {"truncate": {"model.safetensors": 9000}}, "DFL101", 1),
    ],
)
def test_what_can_be_read_is_still_judged(
    monkeypatch: pytest.MonkeyPatch, stage: Stage, change: Mapping[str, object], code: str, exit_code: int
) -> None:
    """A flaw in one half of a drafter is found while the other half cannot be read."""
    monkeypatch.setattr("drafter_lint.sources.wire.PAUSES", (0.01, 0.02))
    with LoopbackHub(flawed(change)) as hub:
        hub.fault(DRAFTER, stage, "503")
        answer = run(*PAIR, *EVERY_ENGINE, *JSON)
    assert any(line.startswith(f"DFL004 drafter {DRAFTER}") for line in map(unstamped, answer.said))
    assert code in answer.codes
    assert answer.code == exit_code


def test_a_repository_nobody_has(hub: LoopbackHub) -> None:
    answer = run("check", "example/absent", "--target", TARGET, *EVERY_ENGINE, *JSON)
    assert answer.code == 3
    assert any("DFL001 drafter example/absent: the Hub has no such repository" in line for line in answer.said)
    assert hub.requests


@pytest.mark.parametrize("name", [DRAFTER, "example/absent"])
def test_a_check_that_no_plan_was_made_for_is_no_pass(hub: LoopbackHub, name: str) -> None:
    """Nobody names a target: the drafter does not, or cannot be asked."""
    assert hub.token
    answer = run("check", name, *EVERY_ENGINE, *JSON)
    assert (answer.code, answer.verdicts) == (3, {"unknown"})
    assert all(check["plan"] is None for check in answer.checks)
    assert any(line.startswith("DFL000 no plan") and "no target was named" in line for line in answer.said)


# Which checkpoint is read.


def test_an_alias_is_resolved_without_a_request_and_both_spellings_are_shown(kimi: Mapping[str, Repo]) -> None:
    light: dict[str, Content] = {"config.json": kimi[KIMI]["files"]["config.json"]}
    with LoopbackHub({**kimi, KIMI: {"commit": COMMITS["target"], "files": light}}) as hub:
        args = ("check", KIMI_DRAFTER, "--target", "kimi-k2.5", *EVERY_ENGINE)
        answer = run(*args, *JSON)
        assert all(KIMI in request.path or KIMI_DRAFTER in request.path for request in hub.requests)
        text = run(*args)
    target = answer.checks[0]["target"]
    assert (target["spelling"], target["name"], target["commit"]) == ("kimi-k2.5", KIMI, COMMITS["target"])
    assert f"kimi-k2.5 -> {KIMI} @ {COMMITS['target'][:7]}" in text.out


def test_an_ambiguous_alias_lists_its_candidates_and_stops(hub: LoopbackHub) -> None:
    answer = run("check", DRAFTER, "--target", "kimi-k2", *EVERY_ENGINE)
    assert (answer.code, answer.out) == (2, "")
    assert "'kimi-k2' is ambiguous" in answer.err
    assert "\n  moonshotai/Kimi-K2-Instruct\n" in answer.err
    assert hub.requests == []


def test_an_unknown_alias_stops(hub: LoopbackHub) -> None:
    answer = run("check", DRAFTER, "--target", "kimi-k9", *EVERY_ENGINE)
    assert (answer.code, answer.out) == (2, "")
    assert "'kimi-k9'" in answer.err
    assert hub.requests == []


def revised() -> dict[str, Repo]:
    """The small pair, with a branch on which the drafter is for another width."""
    repos = small_pair()
    drafter, _ = small_files()
    drafter["config.json"] = json.dumps({"architectures": ["LlamaForCausalLMEagle3"], "hidden_size": 96}).encode()
    repos[DRAFTER]["revisions"] = {"wide": {"commit": "0c0ffee" + "0" * 33, "files": drafter}}
    return repos


@pytest.mark.parametrize(
    "args",
    [
        (f"{DRAFTER}@wide",),
        (DRAFTER, "--revision", "wide"),
        (f"hf://{DRAFTER}@wide",),
        (f"{DRAFTER}@0c0ffee{'0' * 33}",),
    ],
)
def test_a_revision_is_the_one_that_is_read(args: tuple[str, ...]) -> None:
    with LoopbackHub(revised()) as hub:
        answer = run("check", *args, "--target", TARGET, *EVERY_ENGINE, *JSON)
        read = [request.path for request in hub.requests if "/resolve/" in request.path and DRAFTER in request.path]
    assert answer.checks[0]["drafter"]["commit"] == "0c0ffee" + "0" * 33
    assert read
    assert all("/resolve/0c0ffee" in path for path in read)
    assert answer.code == 1


def test_a_target_revision_is_the_one_that_is_read() -> None:
    repos = small_pair()
    files = {**repos[TARGET]["files"], "config.json": b"{}"}
    repos[TARGET]["revisions"] = {"v2": {"commit": "0c0ffee" + "0" * 33, "files": files}}
    with LoopbackHub(repos):
        answer = run(*PAIR, "--target-revision", "v2", *EVERY_ENGINE, *JSON)
    assert answer.checks[0]["target"]["commit"] == "0c0ffee" + "0" * 33


# Offline.


def fill(hub: LoopbackHub, name: str, *patterns: str) -> None:
    """Fetch files of a repository with the real client."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415

    snapshot_download(name, allow_patterns=list(patterns), cache_dir=hub.cache, endpoint=hub.endpoint, token=hub.token)


@pytest.mark.parametrize("how", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "--offline"])
def test_a_filled_cache_answers_offline(hub: LoopbackHub, sound: Answer, tmp_path: Path, how: str) -> None:
    fill(hub, DRAFTER, "*")
    fill(hub, TARGET, "*.json")
    before = len(hub.requests)
    option, environment = ((how,), {}) if how.startswith("-") else ((), {how: "1"})
    environment["HF_HUB_CACHE"] = hub.cache
    answer = spawn(tmp_path, (*PAIR, *EVERY_ENGINE, *option, *JSON), environment)
    assert len(hub.requests) == before
    assert answer.err == ""
    assert answer.report["io"]["requests"] == 0
    assert said(answer) == said(sound)
    assert answer.code == 0


def test_a_warm_cache_costs_a_listing_each(hub: LoopbackHub, sound: Answer) -> None:
    fill(hub, DRAFTER, "*")
    fill(hub, TARGET, "*.json")
    before = len(hub.requests)
    answer = run(*PAIR, *EVERY_ENGINE, *JSON)
    assert len(hub.requests) - before == answer.report["io"]["requests"] == 2
    assert said(answer) == said(sound)


def test_offline_with_nothing_cached_names_what_is_missing(hub: LoopbackHub) -> None:
    answer = run(*PAIR, *EVERY_ENGINE, "--offline", *JSON)
    assert answer.code == 3
    assert answer.verdicts == {"unknown"}
    for side, name in NAMES.items():
        (line,) = [line for line in set(answer.said) if line.startswith(f"DFL004 {side} {name}")]
        assert "is in no local cache, and offline was asked for" in line
        assert f"hf download {name}" in line
    assert hub.requests == []


def test_offline_with_half_of_it_cached_names_the_other_half(hub: LoopbackHub) -> None:
    fill(hub, DRAFTER, "*.json")
    fill(hub, TARGET, "*.json")
    before = len(hub.requests)
    answer = run(*PAIR, *EVERY_ENGINE, "--offline", *JSON)
    assert answer.code == 3
    (line,) = {line for line in answer.said if line.startswith("DFL004")}
    assert f"drafter {DRAFTER}: model.safetensors" in line
    assert f"hf download {DRAFTER} model.safetensors" in line
    assert len(hub.requests) == before
