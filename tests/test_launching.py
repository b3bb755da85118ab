"""Commands put together: what is printed checks clean, right pairs have one, nothing harmful stays in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import menagerie
import published
from drafter_lint.api import Job
from drafter_lint.composing import Composer, Order
from drafter_lint.composition import Composed
from drafter_lint.engines import engine
from drafter_lint.engines.command import Wanted
from drafter_lint.errors import UsageError
from drafter_lint.facts import profile, version_of, worlds
from drafter_lint.findings import Outcome, Role
from drafter_lint.launch import LaunchRequest, flag_releases, parse_command, spelled, split_command
from drafter_lint.launch.files import find_commands
from drafter_lint.launching import compose, launch_command
from drafter_lint.linter import EngineChoice, Opened, Selection, check_pairs, checker, understand
from drafter_lint.opening import Checkpoints
from drafter_lint.recipe import Recipe
from drafter_lint.report import Check

SMALL, CASES = published.FIXTURES / "small", published.FIXTURES / "cases"
LAYOUTS = sorted((published.FIXTURES / "recipes" / "layouts").glob("*.recipe.toml"))
#: The newest and older ones, and one of each engine that was not read itself.
VERSIONS = (
    *(("sglang", version) for version in ("0.4.9.post6", "0.5.6", "0.5.10.post1", "0.5.23")),
    *(("vllm", version) for version in ("0.8.5", "0.11.2", "0.26.0", "0.33.0")),
)
DRAFTER: Role = "drafter"
TARGET: Role = "target"
NEWEST = (VERSIONS[3], VERSIONS[7])
PAIRS = published.pairs()


@cache
def opened(drafter: str, target: str) -> Opened:
    """A published pair."""
    files = menagerie._open(published.drafter(drafter), f"./{drafter}", role="drafter")
    theirs = menagerie._open(published.target(target).without_weights(), f"./{target}", role="target")
    return understand(files, theirs)


def made(pair: Opened, name: str, version: str, **order: object) -> Composed:
    """One engine's command."""
    wanted = Order(job=Job(**order))  # type: ignore[arg-type]  # the fields of a job
    return Composer(wanted, pair).made(EngineChoice(name=name, version=version), advise=False)


def read_again(text: str, name: str) -> LaunchRequest:
    """A printed command as the linter reads any other."""
    request = parse_command(split_command(text))
    assert request.engine == name
    assert (request.unknown, request.problems, request.unresolved) == ((), (), ())
    return request


def judged(pair: Opened, name: str, version: str, request: LaunchRequest | None) -> Check:
    (check,) = check_pairs(pair, [EngineChoice(name=name, version=version, request=request)], selection=Selection())
    return check


def bad(check: Check) -> set[str]:
    return {item.code for item in check.findings if item.outcome.rank >= Outcome.SILENT.rank}


def basis(name: str, version: str) -> str:
    return worlds(profile(name), version_of(version))[-1].basis


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.drafter}--on--{pair.target}")
def test_what_is_printed_checks_clean_or_is_refused(pair: published.Pair) -> None:
    both = opened(pair.drafter, pair.target)
    composer, judge = Composer(Order(job=Job()), both), checker(both, selection=Selection())
    # Every pair in two of the versions, the newest of one engine among them; all of them for every twelfth.
    place = PAIRS.index(pair)
    chosen = VERSIONS if place % 12 == 0 else (VERSIONS[place % 3], NEWEST[place % 2])
    for name, version in chosen:
        found = composer.made(EngineChoice(name=name, version=version), advise=False)
        assert found.command is not None
        request = read_again(found.command.text, name)
        check = judge(EngineChoice(name=name, version=version, request=request))
        assert bad(check) == {item.code for item in found.against}
        assert (found.status == "refused") == bool(bad(check))
        assert (found.status == "unknown") == (not bad(check) and check.verdict == "unknown")
        if not bad(judge(EngineChoice(name=name, version=version))):
            assert found.status != "refused", "the flags it needs would have been enough"
        for option in request.options.values():
            if option.spelling.startswith("-"):
                assert len(spelled(name, option.spelling, release=basis(name, version))) == 1


def test_right_pairs_have_a_command() -> None:
    right = [pair for pair in PAIRS if not pair.wrong and not pair.flaw]
    without = {
        (pair.drafter, code)
        for pair in right
        if not any((found := made(opened(pair.drafter, pair.target), *choice)).status == "ready" for choice in NEWEST)
        for code in {item.code for item in found.against}
    }
    # An EAGLE-1 drafter with a name only SGLang knows and without a bias it wants, and a draft model with its
    # vocabulary padded otherwise: a plain check says so too.
    assert len(right) > 30
    assert {code for _, code in without} <= {"DFL330", "DFL411", "DFL503"}
    assert len({drafter for drafter, _ in without}) <= 2


@pytest.mark.parametrize(
    "pair", [pair for pair in PAIRS if pair.wrong], ids=lambda pair: f"{pair.drafter}--on--{pair.target}"
)
def test_a_wrong_pair_has_no_command_without_a_word(pair: published.Pair) -> None:
    both = opened(pair.drafter, pair.target)
    for name, version in NEWEST:
        check = made(both, name, version).check
        assert any(item.outcome.rank >= Outcome.SLOW.rank for item in check.findings)


@pytest.mark.parametrize(("pair", "choice"), list(product(PAIRS[::12], VERSIONS)), ids=str)
def test_the_file_of_flags_says_the_same(pair: published.Pair, choice: tuple[str, str]) -> None:
    command = made(opened(pair.drafter, pair.target), *choice).command
    assert command is not None
    assert command.takes_config == bool(spelled(choice[0], "--config", release=basis(*choice)))
    typed = read_again(command.text, choice[0])
    (found,) = find_commands(command.config, file=f"{choice[0]}.yaml").commands
    names = {"--model"} if choice[0] == "vllm" else set()
    assert {name: option.value for name, option in found.request.options.items()} == {
        name: option.value for name, option in typed.options.items() if name not in names
    }
    assert command.config.startswith("# ")


@pytest.mark.parametrize("path", LAYOUTS, ids=lambda path: path.stem)
def test_every_layout_has_a_command_or_a_reason(path: Path) -> None:
    pair = two(path, "target-llama")
    for name in ("sglang", "vllm"):
        found = made(pair, name, str(profile(name).newest))
        assert found.command is not None
        check = judged(pair, name, str(profile(name).newest), read_again(found.command.text, name))
        assert bad(check) == {item.code for item in found.against}


def two(drafter: Path | str, target: str) -> Opened:
    """A small pair, or an example of a layout with a published target."""
    published_target = "--" in target
    folder = published.FIXTURES / "recipes" / "layouts" if published_target else SMALL
    path = drafter if isinstance(drafter, Path) else folder / f"{drafter}.recipe.toml"
    mine = Recipe.parse(path.read_text("utf-8"))
    theirs = (
        published.target(target).without_weights()
        if published_target
        else Recipe.parse((SMALL / f"{target}.recipe.toml").read_text("utf-8"))
    )
    one = menagerie._open(mine, "example/drafter", role="drafter")
    return understand(one, menagerie._open(theirs, "example/target", role="target"))


def test_the_founding_pair_is_started_as_eagle3() -> None:
    pair = opened("lightseekorg--kimi-k2.5-eagle3", "moonshotai--Kimi-K2.5")
    found = made(pair, "sglang", "0.5.23", flags=("--speculative-algorithm", "EAGLE", "--tp", "8"))
    assert found.status == "ready"
    assert found.command is not None
    assert found.command.text == (
        "python3 -m sglang.launch_server \\\n"
        "    --model-path moonshotai/Kimi-K2.5 \\\n"
        "    --speculative-algorithm EAGLE3 \\\n"
        "    --speculative-draft-model-path lightseekorg/kimi-k2.5-eagle3 \\\n"
        "    --tp 8"
    )
    (left,) = found.omitted
    assert (left.shown, left.code, left.asked) == ("--speculative-algorithm EAGLE", "DFL401", True)
    assert left.instead == "--speculative-algorithm EAGLE3"
    assert "21504 = 3 x 7168" in left.why


SGLANG, VLLM = "sglang 0.5.23", "vllm 0.33.0"
BLOCK7 = "deepseek-ai/dspark_qwen3_4b_block7"


@pytest.mark.parametrize(
    ("drafter", "target", "where", "expected"),
    [
        ("eagle3-llama", "target-llama", SGLANG, "--speculative-algorithm EAGLE3 --speculative-draft-model-path"),
        ("eagle1", "target-llama", VLLM, """'{"method": "eagle", "model": "example/drafter", "num_speculative"""),
        ("eagle3-mla", "target-deepseek", SGLANG, "--speculative-algorithm EAGLE3"),
        ("language-model", "target-llama", SGLANG, "--speculative-algorithm STANDALONE"),
        ("language-model", "target-llama", VLLM, """'{"method": "draft_model", "model": "example/draft", "num_s"""),
        ("dflash", "Qwen--Qwen3-4B", SGLANG, "--speculative-algorithm DFLASH --speculative-draft-model-path z-lab/"),
        ("dflash", "Qwen--Qwen3-4B", VLLM, '"num_speculative_tokens": 15'),
        ("dflash-speculators", "Qwen--Qwen3-8B", VLLM, '"num_speculative_tokens": 7'),
        ("dspark-deepspec", "Qwen--Qwen3-4B", SGLANG, f"DSPARK --speculative-draft-model-path {BLOCK7}"),
        ("dspark-deepspec", "Qwen--Qwen3-4B", VLLM, f"""'{{"method": "dspark", "model": "{BLOCK7}"}}'"""),
        (
            "mtp-nextn",
            "deepseek-ai--DeepSeek-V3",
            "vllm 0.11.2",
            """'{"method": "mtp", "model": "lmsys/DeepSeek-V3-NextN", "num_speculative_tokens": 1}'""",
        ),
    ],
)
def test_each_method_has_its_words(drafter: str, target: str, where: str, expected: str) -> None:
    name, _, version = where.partition(" ")
    found = made(two(drafter, target), name, version)
    assert found.command is not None
    assert expected in found.command.text.replace(" \\\n   ", "")
    assert found.status == "ready", [item.message for item in found.against]


def test_as_many_tokens_as_medusa_has_heads() -> None:
    command = made(two("medusa", "lmsys--vicuna-13b-v1.3"), "vllm", "0.32.0").command
    assert command is not None
    assert command.speculative["num_speculative_tokens"] == 2


@pytest.mark.parametrize("name", ["sglang", "vllm"])
def test_an_engine_without_the_method_has_no_command(name: str) -> None:
    found = made(two("hydra", "lmsys--vicuna-13b-v1.3"), name, str(profile(name).newest))
    assert found.status == "refused"
    assert "DFL404" in {item.code for item in found.against}


def test_two_vocabularies_are_translated_where_that_can_be() -> None:
    drafter = replace(published.drafter("Qwen--Qwen2.5-0.5B-Instruct"), text={"tokenizer.json": "{}"})
    target = published.target("Qwen--Qwen2.5-72B-Instruct").without_weights()
    mine, theirs = (
        menagerie._open(recipe, "./x", role=role) for recipe, role in ((drafter, DRAFTER), (target, TARGET))
    )
    found = made(understand(mine, theirs), "vllm", "0.33.0")
    assert found.command is not None
    part = found.command.part("use_heterogeneous_vocab")
    assert part is not None
    assert part.value is True
    assert "DFL330" in part.mends


@pytest.mark.parametrize(
    ("name", "words"), [("sglang", "--speculative-algorithm NEXTN"), ("vllm", '{"method": "mtp", ')]
)
def test_what_rides_inside_names_no_drafter(name: str, words: str) -> None:
    path = str(SMALL / "target-deepseek-mtp.recipe.toml")
    (found,) = compose(Order(job=Job(drafter=path, engines=(name,)))).composed
    assert found.status == "ready"
    assert found.command is not None
    assert words in found.command.text
    assert 'model": ' not in found.command.text
    assert "draft-model-path" not in found.command.text


def test_a_block_is_asked_for_whole() -> None:
    folder = published.FIXTURES / "recipes" / "layouts"
    found = launch_command(folder / "dflash.recipe.toml", SMALL / "target-llama.recipe.toml", engine="vllm")
    assert found.command is not None
    part = found.command.part("num_speculative_tokens")
    assert part is not None
    assert (part.value, part.why) == (15, "a block of 16, of which the first is known")
    assert part.at is not None
    assert part.at.pointer == "/block_size"


def test_every_part_has_a_reason_and_engine_flags_their_evidence() -> None:
    for name, version in VERSIONS[::2]:
        for pair in PAIRS[::9]:
            command = made(opened(pair.drafter, pair.target), name, version).command
            assert command is not None
            for part in command.parts:
                assert part.why
                if part.name in ("method", "--speculative-algorithm"):
                    assert part.evidence
                    assert part.at is not None


def test_what_mends_says_what_it_mends() -> None:
    pair = opened("nvidia--gpt-oss-120b-Eagle3-v3", "openai--gpt-oss-120b")
    found = made(pair, "vllm", "0.31.0")
    assert found.status == "ready"
    assert found.command is not None
    part = found.command.part("VLLM_USE_V2_MODEL_RUNNER")
    assert part is not None
    assert (part.value, part.origin, part.mends) == ("0", "mends", ("DFL602",))
    assert found.command.text.startswith("VLLM_USE_V2_MODEL_RUNNER=0 vllm serve")
    assert "DFL602" in bad(judged(pair, "vllm", "0.31.0", None))


def test_layer_ids_that_are_read_otherwise_are_laid_over() -> None:
    pair = opened("AQ-MedAI--Kimi-K25-eagle3", "moonshotai--Kimi-K2.5")
    assert "DFL601" in bad(judged(pair, "sglang", "0.5.11", None))
    found = made(pair, "sglang", "0.5.11")
    assert found.status == "ready"
    assert found.command is not None
    part = found.command.part("--json-model-override-args")
    assert part is not None
    assert (part.mends, part.evidence != ()) == (("DFL601",), True)
    assert json.loads(str(part.value)) == {"eagle_config": {"use_aux_hidden_state": True}}
    (plan,) = found.check.plans
    assert plan.capture is not None
    assert plan.capture.boundaries == (2, 30, 58)
    # A list that is laid over is read as one in the file would be.
    flags = ("--json-model-override-args", '{"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 29, 57]}}')
    again = made(pair, "sglang", "0.5.11", flags=flags)
    assert again.status == "ready"
    assert again.check.plans[0].capture is not None
    assert again.check.plans[0].capture.boundaries == (2, 30, 58)


def test_a_shorter_context_is_served_or_asked_past() -> None:
    pair = opened("lmsys--sglang-EAGLE3-LLaMA3.1-Instruct-8B", "meta-llama--Llama-3.1-8B-Instruct")
    found = made(pair, "sglang", "0.5.23")
    assert found.command is not None
    part = found.command.part("--context-length")
    assert part is not None
    assert (part.value, part.mends) == (2048, ("DFL418",))
    longer = made(pair, "sglang", "0.5.23", flags=("--context-length", "4096"))
    assert longer.status == "ready"
    assert longer.command is not None
    assert longer.command.variables == {"SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN": "1"}
    assert longer.command.text.endswith("--context-length 4096")


def test_a_drafter_that_is_not_quantised_says_so() -> None:
    pair = opened("AngelSlim--Qwen3-8B_eagle3", "Qwen--Qwen3-8B")
    newer, older = (made(pair, "sglang", version, flags=("--quantization", "awq")) for version in ("0.5.23", "0.5.4"))
    assert newer.command is not None
    part = newer.command.part("--speculative-draft-model-quantization")
    assert part is not None
    assert (part.value, part.mends) == ("unquant", ("DFL417",))
    assert newer.omitted == ()
    (left,) = older.omitted
    assert (left.shown, left.code) == ("--quantization awq", "DFL417")


def test_a_head_is_split_like_its_target_and_nothing_mends_that() -> None:
    order = Order(job=Job(), tensor_parallel=4)
    choice = EngineChoice(name="vllm", version="0.33.0")
    found = Composer(order, two("eagle3-llama", "target-llama")).made(choice, advise=False)
    assert found.check.verdict == "refuses"
    assert [item.code for item in found.check.findings] == ["DFL416"]
    assert found.command is not None
    assert found.command.part("draft_tensor_parallel_size") is None


def test_the_oldest_vllm_is_told_which_engine_serves_eagle() -> None:
    found = Composer(Order(job=Job()), two("eagle1", "target-llama")).made(
        EngineChoice(name="vllm", version="0.8.5"), advise=False
    )
    assert found.command is not None
    assert found.command.variables == {"VLLM_USE_V1": "1"}


def test_a_rotary_table_is_not_read_past_its_end() -> None:
    pair = opened("yuhuili--EAGLE3-LLaMA3.1-Instruct-8B", "meta-llama--Llama-3.1-8B-Instruct")
    choice = ("vllm", "0.9.2")
    assert "DFL706" in {item.code for item in judged(pair, *choice, None).findings}
    found = made(pair, *choice)
    assert found.status == "ready"
    assert found.command is not None
    part = found.command.part("--max-model-len")
    assert part is not None
    assert (part.value, part.mends) == (2048, ("DFL706",))
    longer = made(pair, *choice, flags=("--max-model-len", "8192"))
    assert longer.status == "ready"
    (left,) = longer.omitted
    assert (left.shown, left.code) == ("--max-model-len 8192", "DFL706")


def test_flags_that_do_harm_are_left_out_and_the_others_kept() -> None:
    flags = (
        *("VLLM_LOGGING_LEVEL=DEBUG", "--tensor-parallel-size=3", "--no-such-flag", "7", "--gpu-memory-utilization"),
        *("0.9", "--no-enable-prefix-caching", "--speculative-config.method", "eagle", "--api-key", "secret"),
        *("--spec-tokens", "5", "--served-model-name", "a", "b", "--model", "other/model"),
    )
    pair = opened("AngelSlim--Qwen3-8B_eagle3", "Qwen--Qwen3-8B")
    found = made(pair, "vllm", "0.33.0", flags=flags)
    assert found.status == "ready"
    assert found.command is not None
    left = {item.shown: item for item in found.omitted}
    assert left["--no-such-flag 7"].code == "DFL406"
    assert left['"method": "eagle"'].instead == '"method": "eagle3"'
    assert left["--model other/model"].instead == "Qwen/Qwen3-8B"
    text = found.command.text
    for kept in ("--gpu-memory-utilization 0.9", "--no-enable-prefix-caching", "--served-model-name a b"):
        assert f"    {kept}" in text
    assert text.startswith("VLLM_LOGGING_LEVEL=DEBUG vllm serve Qwen/Qwen3-8B")
    assert '"num_speculative_tokens": 5' in text
    assert "secret" not in text
    assert any("secret is masked" in note for note in found.notes)


def test_counts_stand_and_fall_together() -> None:
    pair = opened("AngelSlim--Qwen3-8B_eagle3", "Qwen--Qwen3-8B")
    counts = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4")
    kept = made(pair, "sglang", "0.5.23", flags=counts)
    assert kept.omitted == ()
    assert kept.command is not None
    assert " ".join(counts[:2]) in kept.command.text
    half = made(pair, "sglang", "0.5.23", flags=counts[2:])
    (left,) = half.omitted
    assert left.code == "DFL413"
    assert half.status == "ready"


def test_a_variable_of_the_users_shell_stays_one() -> None:
    pair = opened("AngelSlim--Qwen3-8B_eagle3", "Qwen--Qwen3-8B")
    found = made(pair, "sglang", "0.5.23", flags=("--api-key", "$KEY", "--served-model-name", "two words"))
    assert found.command is not None
    assert '--api-key "$KEY"' in found.command.text
    assert "--served-model-name 'two words'" in found.command.text


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("vllm", "serve", "x"), "not a whole command"),
        (("word",), "not 'word'"),
        (("--tensor-parallel-size", "2", "word"), "not 'word'"),
        (("--speculative-config", "{broken"), "--speculative-config: expected"),
        (("--speculative-config", '{"num_speculative_tokens": $N}'), "holds a variable"),
    ],
)
def test_what_is_no_flag_is_a_mistake(flags: tuple[str, ...], expected: str) -> None:
    pair = opened("AngelSlim--Qwen3-8B_eagle3", "Qwen--Qwen3-8B")
    with pytest.raises(UsageError, match=expected):
        made(pair, "vllm", "0.33.0", flags=flags)


def wanted(target: Mapping[str, bytes]) -> Wanted:
    """A small drafter for a target of some files."""
    pair = two("eagle3-llama", "target-llama")
    source = Recipe.parse((SMALL / "target-llama.recipe.toml").read_text("utf-8")).source()
    files = {path: source.read(path) for path in source.files if path != "tokenizer.json"}
    made_of = understand(pair.drafter_files, Checkpoints().open({**files, **target}, role="target"))
    assert made_of.target_read is not None
    return Wanted(
        drafter=made_of.recognition.drafter,
        drafter_name="example/drafter",
        target=made_of.target_read,
        target_name="example/target",
    )


CONFIG = json.loads(Recipe.parse((SMALL / "target-llama.recipe.toml").read_text("utf-8")).source().read("config.json"))


@pytest.mark.parametrize("name", ["sglang", "vllm"])
@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({}, ""),
        ({"config.json": {**CONFIG, "auto_map": {"AutoConfig": "c.C"}}}, ""),
        ({"config.json": {**CONFIG, "auto_map": {"AutoConfig": "c.C"}, "model_type": "made_up"}}, "config"),
        ({"tokenizer_config.json": {"auto_map": {"AutoTokenizer": ["t.T", None]}}}, "tokenizer"),
        ({"tokenizer_config.json": {"auto_map": {"AutoTokenizer": ["t.T", None]}}, "tokenizer.json": {}}, ""),
    ],
)
def test_code_of_the_targets_own_is_trusted_where_nothing_else_reads_it(
    name: str, files: dict[str, object], what: str
) -> None:
    world = worlds(profile(name), profile(name).newest)[-1]
    target = wanted({path: json.dumps(value).encode() for path, value in files.items()})
    parts = {part.name: part for part in engine(name).composed(world, target)}
    assert ("--trust-remote-code" in parts) == bool(what)
    if what:
        part = parts["--trust-remote-code"]
        assert part.why == f"the target's {what} is read by code it ships, which will run"
        assert part.at is not None
        assert part.at.pointer == "/auto_map"


def test_a_class_of_the_drafters_own_code_is_trusted_and_not_vouched_for() -> None:
    mine = Recipe.parse((SMALL / "eagle3-llama.recipe.toml").read_text("utf-8"))
    theirs = Recipe.parse((SMALL / "target-llama.recipe.toml").read_text("utf-8"))
    change = {"architectures": ["MadeUpEagle3"], "model_type": "made_up_eagle", "auto_map": {"AutoConfig": "c.C"}}
    mine = replace(mine, config=json.dumps({**json.loads(mine.config or "{}"), **change}))
    pair = understand(
        menagerie._open(mine, "example/drafter", role=DRAFTER), menagerie._open(theirs, "example/target", role=TARGET)
    )
    found = made(pair, "sglang", "0.5.23")
    assert found.status == "unknown"
    assert found.command is not None
    part = found.command.part("--trust-remote-code")
    assert part is not None
    assert part.mends == ("DFL411", "DFL414")
    assert made(pair, "vllm", "0.33.0").status == "refused"


def test_every_release_of_both_engines_spells_the_flags_it_has() -> None:
    order = Order(job=Job(), tensor_parallel=2, context_length=256)
    composer = Composer(order, two("eagle3-llama", "target-llama"))
    for name in ("sglang", "vllm"):
        for release in flag_releases(name):
            found = composer.made(EngineChoice(name=name, version=release), advise=False)
            assert found.command is not None
            for word in found.command.argv:
                if word.startswith("--"):
                    assert len(spelled(name, word, release=release)) == 1, (release, word)
