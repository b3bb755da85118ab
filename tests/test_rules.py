"""The deployment rules on plans made by hand: what an engine is not easily brought to do, and who tells what."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import drafter_lint.rules
from drafter_lint import linter
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.cli import cli
from drafter_lint.drafters import Drafter
from drafter_lint.drafters.recognise import recognise
from drafter_lint.engines.plan import (
    Capture,
    FcUse,
    MapUse,
    ParameterState,
    Plan,
    Provision,
    Refusal,
    RefusalKind,
    Rewrite,
    Scheme,
    Step,
    TensorFate,
)
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.findings import Found, Located, Location, Outcome
from drafter_lint.launch import LaunchRequest, parse_command
from drafter_lint.linter import Selection
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from drafter_lint.rule import NotChecked, Rule
from drafter_lint.rules import all_rules
from drafter_lint.rules.shared import NATURAL, OTHERWISE, speaker
from drafter_lint.scope import Alone, Deployment
from drafter_lint.sources.memory import MemorySource
from drafter_lint.targets import Target, read_target

SMALL = Path(__file__).parent.parent / "fixtures" / "small"
FLAGS = ("--model-path", "example/target", "--speculative-draft-model-path", "example/drafter")
HERE = Location(role="launch", subject="command line")


def small(slug: str, role: Any = "drafter", **patch: object) -> Checkpoint:
    """A small checkpoint in memory."""
    made = Recipe.parse((SMALL / f"{slug}.recipe.toml").read_text("utf-8"))
    made = made.patched(patch) if patch else made
    return Checkpoint(Reference(spelling=made.name, kind="hub", name=made.name), made.source(), role=role)


def eagle3(**patch: object) -> Drafter:
    """The small EAGLE-3 drafter."""
    return recognise(small("eagle3-llama", **patch)).drafter


def target() -> Target:
    """The small Llama."""
    return read_target(small("target-llama", "target"))


def request(*flags: str) -> LaunchRequest:
    """An SGLang command."""
    return parse_command((*FLAGS, *flags), engine="sglang")


def plan(**changes: Any) -> Plan:
    """A plan under which the small EAGLE-3 drafter works."""
    right = Plan(
        engine="sglang",
        version="0.5.23",
        knowledge="observed",
        basis="0.5.23",
        method="EAGLE3",
        architecture="LlamaForCausalLMEagle3",
        draft_class="LlamaForCausalLMEagle3",
        takes_aux=True,
        capture=Capture(active=True, boundaries=(2, 4, 5), asked=(2, 4, 5), reading="default", width=192),
        fc=FcUse(built=True, runs=True, takes=192, fed=192),
        head=Provision(provider="own"),
        embedding=Provision(provider="target"),
        map=MapUse(use="offsets"),
        tensors=(TensorFate(name="fc.weight", fate="taken", parameter="model.fc.weight"),),
        parameters=(ParameterState(name="model.fc.weight", shape=(64, 192), state="filled"),),
    )
    return replace(right, **changes)


def scope(made: Plan, drafter: Drafter | None = None, *flags: str) -> Deployment[Drafter]:
    """A deployment of the small pair."""
    typed = flags or ("--speculative-algorithm", "EAGLE3")
    return Deployment(drafter=drafter or eagle3(), target=target(), request=request(*typed), plan=made)


def deployment_rules() -> Iterator[Rule[object]]:
    """The rules that look at a plan."""
    return (rule for rule in all_rules() if "deployment" in rule.scopes)


def said(at: Deployment[Drafter]) -> dict[str, list[Found]]:
    """What each deployment rule says, by name; those that say nothing are left out."""
    found: dict[str, list[Found]] = {}
    for rule in deployment_rules():
        if isinstance(at.drafter, rule.drafters):
            items = [item for item in rule.check(at) if isinstance(item, Found)]
            found.update({rule.name: items} if items else {})
    return found


def refusal(kind: RefusalKind, *tensors: str) -> Refusal:
    """A refusal of a kind."""
    return Refusal(kind=kind, stage="load", says=f"refused: {kind}", locations=(HERE,), tensors=tensors)


def silent(made: Mapping[str, list[Found]]) -> set[str]:
    """The names of the rules that speak of more than hygiene."""
    outcomes = {rule.name: rule.outcome for rule in all_rules()}
    return {
        name
        for name, items in made.items()
        if any((item.outcome or outcomes[name]).rank > Outcome.HYGIENE.rank for item in items)
    }


def test_a_right_plan_is_left_alone() -> None:
    assert silent(said(scope(plan()))) == set()


@pytest.mark.parametrize("kind", list(RefusalKind))
def test_each_refusal_is_told_by_exactly_one_rule(kind: RefusalKind) -> None:
    at = scope(plan(refusals=(refusal(kind, "x.weight"),)))
    found = {name: items for name, items in said(at).items() if any(f"refused: {kind}" in i.message for i in items)}
    refusing = {name for name, items in said(at).items() if any(item.outcome is Outcome.REFUSES for item in items)}
    told = refusing | set(found)
    assert told == {speaker(at, at.plan.refusals[0])}


def test_the_partition_names_rules_that_exist() -> None:
    names = {rule.name for rule in all_rules()}
    assert set(NATURAL.values()) | {OTHERWISE} <= names


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: str(rule.code))
def test_every_page_has_its_sections(rule: Rule[object]) -> None:
    sections = [line for line in rule.page.splitlines() if line.startswith("## ")]
    assert sections == ["## What it checks", "## Why it bites", "## Fix", "## Limits"]
    assert rule.page.split("\n")[0].endswith(".")
    assert rule.page.split("\n")[1] == ""


EAGLE = plan(
    method="EAGLE",
    capture=Capture(active=False, width=64),
    fc=FcUse(built=True, runs=False, takes=192, fed=64),
    head=Provision(provider="target"),
    map=MapUse(use="identity"),
)


def test_the_wrong_method_is_one_finding_and_not_four() -> None:
    found = said(scope(EAGLE, None, "--speculative-algorithm", "EAGLE"))
    assert silent(found) == {"eagle3-run-as-eagle"}
    (item,) = found["eagle3-run-as-eagle"]
    assert item.measured == {"method": "EAGLE", "handed_over": 64, "fc_takes": 192}
    assert "192 = 3 x 64" in item.message
    assert item.locations[0].argument == 5
    assert item.locations[1].pointer == "/architectures/0"


def test_a_method_that_is_refused_anyway_says_nothing_of_the_mode() -> None:
    broken = replace(EAGLE, refusals=(refusal(RefusalKind.METHOD_UNKNOWN),))
    assert "eagle3-run-as-eagle" not in said(scope(broken, None, "--speculative-algorithm", "EAGLE"))


def test_a_class_named_after_the_wrong_method_is_told_with_the_method() -> None:
    made = replace(
        EAGLE,
        architecture="EagleLlamaForCausalLMEagle3",
        draft_class=None,
        takes_aux=False,
        refusals=(refusal(RefusalKind.ARCHITECTURE_UNREGISTERED),),
    )
    found = said(scope(made, None, "--speculative-algorithm", "EAGLE"))
    assert silent(found) == {"eagle3-run-as-eagle"}
    assert found["eagle3-run-as-eagle"][0].outcome is Outcome.REFUSES


def test_a_head_run_as_a_draft_model_is_silent_where_nothing_refuses() -> None:
    found = said(scope(replace(EAGLE, method="STANDALONE"), None, "--speculative-algorithm", "STANDALONE"))
    assert silent(found) == {"method-unsuitable"}
    assert found["method-unsuitable"][0].outcome is Outcome.SILENT


def test_a_foreign_class_is_one_finding_for_all_its_tensors() -> None:
    made = plan(
        architecture="LlamaForCausalLM",
        draft_class="LlamaForCausalLM",
        takes_aux=False,
        fc=FcUse(built=False, runs=False),
        head=Provision(provider="target"),
        tensors=(TensorFate(name="fc.weight", fate="dropped"),),
        refusals=(refusal(RefusalKind.TENSOR_SHAPE, "lm_head.weight"), refusal(RefusalKind.METHOD_UNSUITABLE)),
    )
    drafter = eagle3(set={"/architectures": ["LlamaForCausalLM"]})
    found = said(scope(made, drafter))
    assert silent(found) == {"class-without-auxiliary-states"}
    assert found["class-without-auxiliary-states"][0].outcome is Outcome.REFUSES


def test_fc_bypassed_by_a_field_takes_the_lost_tensor_along() -> None:
    drafter = eagle3(set={"/eagle_config": {"use_aux_hidden_state": False}})
    made = plan(
        capture=Capture(active=False, width=64),
        fc=FcUse(built=False, runs=False, says="use_aux_hidden_state is false"),
        tensors=(TensorFate(name="fc.weight", fate="dropped"),),
        parameters=(),
    )
    found = said(scope(made, drafter))
    assert silent(found) == {"fc-bypassed"}
    assert found["fc-bypassed"][0].fix is not None


@pytest.mark.parametrize(
    ("captured", "told"),
    [((3, 5, 6), "aux-shifted"), ((2, 4, 6), "aux-mismatch"), ((2, 4), "aux-count"), ((2, 4, 5), None)],
)
def test_captured_states_are_told_by_one_rule(captured: tuple[int, ...], told: str | None) -> None:
    made = plan(capture=Capture(active=True, boundaries=captured, asked=captured, reading="default"))
    assert silent(said(scope(made))) == ({told} if told else set())


def test_ids_nobody_reads_matter_only_if_the_default_is_not_what_they_say() -> None:
    ids = Located((1, 4, 6), HERE)
    capture = Capture(active=True, boundaries=(2, 4, 5), asked=(2, 4, 5), reading="default", ignored=(ids,))
    written = eagle3(set={"/eagle_aux_hidden_state_layer_ids": [2, 4, 8]})
    assert silent(said(scope(plan(capture=capture), written))) == {"aux-ignored"}
    assert silent(said(scope(plan(capture=capture)))) == set()


def test_an_undecided_list_is_not_checked_where_one_reading_is_captured() -> None:
    drafter = eagle3(set={"/eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 2, 5]}})
    capture = Capture(active=True, boundaries=(2, 3, 6), asked=(2, 3, 6), read=Located((1, 2, 5), HERE))
    at = scope(plan(capture=capture), drafter)
    shifted = next(rule for rule in all_rules() if rule.name == "aux-shifted")
    (item,) = shifted.check(at)
    assert isinstance(item, NotChecked)
    assert "[1, 2, 5] or [2, 3, 6]" in item.reason
    assert not item.needed
    elsewhere = scope(plan(capture=replace(capture, boundaries=(2, 4, 5))), drafter)
    (found,) = said(elsewhere)["aux-mismatch"]
    assert found.confidence == "likely"


def test_a_split_between_graphs_and_none_is_told_as_such() -> None:
    drafter = eagle3(set={"/eagle_config": {"eagle_aux_hidden_state_layer_ids": [2, 4, 7]}})
    capture = Capture(active=True, boundaries=(3, 5, 8), asked=(3, 5, 8), read=Located((2, 4, 7), HERE))
    step = Step(topic="capture-graph", says="graphs hand over [2, 4, 5], runs without them [3, 5, 8]")
    assert silent(said(scope(plan(capture=capture, steps=(step,)), drafter))) == {"aux-graph-split"}


def test_a_tensor_lost_under_another_name_is_not_told_again_as_a_hole() -> None:
    made = plan(
        tensors=(TensorFate(name="layers.0.mlp.gate_proj.weight", fate="dropped"),),
        parameters=(
            ParameterState(name="model.midlayer.mlp.gate_up_proj.weight", shape=(256, 64), state="unfilled"),
            ParameterState(name="lm_head.weight", shape=(256, 64), state="filled"),
        ),
    )
    assert silent(said(scope(made))) == {"tensor-dropped"}


def test_a_parameter_no_tensor_belongs_to_is_a_hole() -> None:
    hole = ParameterState(name="model.fc.bias", shape=(64,), state="unfilled", holds="uninitialised memory")
    assert silent(said(scope(plan(parameters=(hole,))))) == {"parameter-unfilled"}
    assert silent(said(scope(plan(parameters=(replace(hole, matters=False),))))) == set()


def test_the_targets_head_cannot_stand_in_for_a_reduced_vocabulary() -> None:
    made = plan(head=Provision(provider="target"), tensors=(TensorFate(name="lm_head.weight", fate="dropped"),))
    assert silent(said(scope(made))) == {"head-replaced"}


def test_a_norm_with_tensors_and_off_takes_its_tensors_along() -> None:
    drafter = eagle3(tensors={"input_norm.weight": "BF16 192"})
    made = plan(
        schemes={"input_norm": Scheme(on=False, says="norm_before_fc is absent")},
        tensors=(TensorFate(name="input_norm.weight", fate="dropped"),),
    )
    found = said(scope(made, drafter))
    assert silent(found) == {"norm-scheme"}
    assert found["norm-scheme"][0].measured == {"scheme": "input_norm", "needs": True, "has": False}


PAST_THE_END = {"drop": ["t2d"], "tensors": {"d2t": "I64 256 = 0*128 300*128"}}
LONGER = {"set": {"/draft_vocab_size": 300}}


def test_a_broken_map_is_told_as_the_plan_takes_it() -> None:
    drafter = eagle3(**PAST_THE_END)
    (as_read,) = said(scope(plan(), drafter))["d2t-out-of-range"]
    assert (as_read.outcome, as_read.confidence) == (None, "certain")
    unused = plan(map=MapUse(use="identity", says="the class keeps no map"))
    (as_unused,) = said(scope(unused, drafter))["d2t-out-of-range"]
    assert as_unused.outcome is Outcome.HYGIENE
    assert as_unused.message.endswith("; here it is not applied: the class keeps no map")
    stop = Refusal(
        kind=RefusalKind.VOCABULARY,
        stage="first-request",
        says="past the row",
        locations=(replace(HERE, tensor="d2t"),),
    )
    found = said(scope(plan(refusals=(stop,)), drafter))
    assert silent(found) == {"d2t-out-of-range"}
    assert found["d2t-out-of-range"][0].outcome is Outcome.REFUSES


def test_a_broken_map_behind_the_wrong_method_is_told_as_it_stands() -> None:
    found = said(scope(EAGLE, eagle3(**PAST_THE_END), "--speculative-algorithm", "EAGLE"))
    assert silent(found) == {"eagle3-run-as-eagle", "d2t-out-of-range"}
    assert found["d2t-out-of-range"][0].outcome is None


def test_a_number_nothing_is_built_from_is_a_remark() -> None:
    (item,) = said(scope(plan(), eagle3(**LONGER)))["head-rows"]
    assert item.outcome is Outcome.HYGIENE
    stop = refusal(RefusalKind.TENSOR_SHAPE, "lm_head.weight")
    found = said(scope(plan(refusals=(stop,)), eagle3(**LONGER)))
    assert silent(found) == {"head-rows"}
    assert found["head-rows"][0].outcome is Outcome.REFUSES


def test_a_plan_that_is_not_understood_leaves_the_word_to_the_files() -> None:
    (item,) = said(scope(plan(understood=False, map=None), eagle3(**PAST_THE_END)))["d2t-out-of-range"]
    assert item.outcome is None


def test_a_head_that_cannot_be_read_is_not_checked() -> None:
    drafter = eagle3()

    class Torn(MemorySource):
        def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
            if length and length == 2 * 64 * 2:
                raise Unavailable(Trouble.UNREACHABLE, path, "the connection was lost")
            return super().read(path, start, length)

    made = Recipe.parse((SMALL / "eagle3-llama.recipe.toml").read_text("utf-8"))
    torn = Checkpoint(drafter.checkpoint.reference, Torn(made.name, made.files()), role="drafter")
    rule = next(rule for rule in all_rules() if rule.name == "head-pruned-by-offsets")
    (item,) = rule.check(scope(plan(), recognise(torn).drafter))
    assert isinstance(item, NotChecked)
    assert "the connection was lost" in item.reason
    assert not item.needed


def test_a_value_that_was_typed_and_changed_is_a_remark() -> None:
    change = Rewrite(what="num_draft_tokens", before="8", after="4", says="topk is 1", at=HERE)
    assert "flag-rewritten" in said(scope(plan(rewrites=(change,))))
    assert "flag-rewritten" not in said(scope(plan(rewrites=(replace(change, at=None),))))


def test_a_target_that_drafts_for_itself_is_slow() -> None:
    made = small("target-llama", "target")
    both = recognise(small("target-llama")).drafter
    copied = plan(method="EAGLE", architecture="LlamaForCausalLM", draft_class="LlamaForCausalLM", takes_aux=False)
    at = Deployment(drafter=both, target=read_target(made), request=request(), plan=copied)
    assert silent(said(at)) == {"self-draft"}


RULE = '''"""A rule that is one module.

## What it checks
Nothing.

## Why it bites
It does not.

## Fix
None.

## Limits
None.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Alone


@rule("DFL998", "one-module", Outcome.HYGIENE)
def check(at: Alone[Drafter]) -> Checks:
    """Speaks of everything."""
    yield Found(message="seen", locations=(at.drafter.checkpoint.config.at(),))
'''


def test_adding_a_rule_is_adding_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No list, no registration: the folder is walked."""
    family = tmp_path / "added"
    family.mkdir()
    (family / "__init__.py").write_text('"""A family."""\n')
    (family / "dfl998_one_module.py").write_text(RULE)
    monkeypatch.setattr(drafter_lint.rules, "__path__", [*drafter_lint.rules.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    all_rules.cache_clear()
    try:
        added = {rule.code: rule for rule in all_rules()}
        assert added["DFL998"].title == "A rule that is one module"
        assert added["DFL998"].family == "9"
        listed = CliRunner().invoke(cli, ["rules"])
        assert "DFL998" in listed.output
        explained = CliRunner().invoke(cli, ["explain", "one-module"])
        assert "A rule that is one module" in explained.output
        spoken = linter.judge(Alone(drafter=eagle3(), recognition=recognise(small("eagle3-llama"))), Selection())
        assert "DFL998" in {item.code for item in spoken.results}
    finally:
        for name in ("drafter_lint.rules.added", "drafter_lint.rules.added.dfl998_one_module"):
            sys.modules.pop(name, None)
        all_rules.cache_clear()
