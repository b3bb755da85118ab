"""What the conformance kit does without an engine: pairs that are right, records, comparisons, additions, sessions."""

from __future__ import annotations

import json
import math
import struct
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import mul
from pathlib import Path
from shutil import copy

import pytest
from click.testing import CliRunner

from conformance.__main__ import main
from conformance.adding import add
from conformance.circles import Circles
from conformance.comparing import with_plan, with_truth
from conformance.pairs import PairWriter, encoded
from conformance.record import Record, accepts_all, launch_of, record
from conformance.report import report
from conformance.session import CannotStart, Session
from conformance.weights import LAYERS, STEP, Weights
from conformance.workers.protocol import Seen, whole_numbers
from drafter_lint.recipe import Recipe
from fake_engine import interpreter
from truth_cases import TRUTH, Run, TruthCase, load_cases, read_case

CASES = {case.id: case for case in load_cases()}
#: There is no such release, and none will be recorded.
UNRECORDED = "0.32.99"
TOKEN, WIDTH, KEPT = 168, 64, 3
CIRCLES = Circles()
Vector = list[float]


# -- a forward pass of a few lines: what any engine computes, without attention, which is all but zero


def dot(left: Vector, right: Vector) -> float:
    """Their product."""
    return float(sum(map(mul, left, right)))


class Tensors:
    """The values of a checkpoint by name."""

    def __init__(self, case: TruthCase, *, of_target: bool) -> None:
        recipe: Recipe = case.target if of_target else case.drafter
        self._lines = recipe.table()
        self._weights = Weights(case, self._lines, of_target)
        self._made: dict[str, Vector] = {}

    def vector(self, name: str) -> Vector:
        """All values in one row."""
        if name not in self._made:
            self._made[name] = list(self._weights.values(name))
        return self._made[name]

    def times(self, name: str, state: Vector) -> Vector:
        """A matrix times a state."""
        flat, width = self.vector(name), len(state)
        return [dot(flat[at : at + width], state) for at in range(0, len(flat), width)]

    def norm(self, name: str, state: Vector) -> Vector:
        """An RMS norm."""
        scale = math.sqrt(sum(value * value for value in state) / len(state))
        return [weight * value / scale for weight, value in zip(self.vector(name), state, strict=True)]

    def mlp(self, prefix: str, state: Vector) -> Vector:
        """The second half of a layer: a norm, a gated MLP, and the residual."""
        inner = self.norm(f"{prefix}.post_attention_layernorm.weight", state)
        gates = self.times(f"{prefix}.mlp.gate_proj.weight", inner)
        ups = self.times(f"{prefix}.mlp.up_proj.weight", inner)
        opened = [gate / (1 + math.exp(-gate)) * up for gate, up in zip(gates, ups, strict=True)]
        added = self.times(f"{prefix}.mlp.down_proj.weight", opened)
        return [value + more for value, more in zip(state, added, strict=True)]


def states(target: Tensors, token: int) -> list[Vector]:
    """The target's states after none, one, ... all layers."""
    made = [CIRCLES.point(token)]
    for layer in range(LAYERS):
        made.append(target.mlp(f"model.layers.{layer}", made[-1]))
    return made


def best(scores: Sequence[float]) -> int:
    """The place of the largest."""
    return max(range(len(scores)), key=scores.__getitem__)


def test_the_target_goes_on_by_one_and_its_states_can_be_told_apart() -> None:
    target = Tensors(CASES["ok_d2t"], of_target=True)
    made = states(target, TOKEN)
    assert best(target.times("lm_head.weight", target.norm("model.norm.weight", made[-1]))) == TOKEN + 1
    for layer, state in enumerate(made):
        nearest = max(range(512), key=lambda token: dot(CIRCLES.point(token), state))
        assert nearest == TOKEN + STEP * layer


def eagle3(case: TruthCase, *, captured: Sequence[int], norm_before_residual: bool) -> Iterator[int]:
    """Three draft tokens by an engine that hands over these states and takes the residual so."""
    target, drafter = Tensors(case, of_target=True), Tensors(case, of_target=False)
    made = states(target, TOKEN)
    parts = [made[boundary] for boundary in captured]
    if case.built.state_norm == "fc_norm":
        parts = [drafter.norm(f"fc_norm.{place}.weight", part) for place, part in enumerate(parts)]
    state = drafter.times("fc.weight", [value for part in parts for value in part])
    layer = "midlayer" if "midlayer.hidden_norm.weight" in case.drafter.table() else "layers.0"
    offsets = case.drafter.values("d2t")
    for _ in range(KEPT):
        residual = drafter.norm(f"{layer}.hidden_norm.weight", state) if norm_before_residual else state
        state = drafter.mlp(layer, residual)
        drafted = best(drafter.times("lm_head.weight", drafter.norm("norm.weight", state)))
        yield drafted + offsets[drafted]


RIGHT = [TOKEN + 2, TOKEN + 3, TOKEN + 4]


@pytest.mark.parametrize("name", ["ok_d2t", "nbr_key_true", "e31_fc_norm", "aux_trained_136_ec_025"])
def test_a_right_eagle3_pair_drafts_every_token_and_one_with_the_states_of_other_layers_none(name: str) -> None:
    case = CASES[name]
    built = case.built.boundaries or []
    normed = bool(case.built.norm_before_residual)
    assert list(eagle3(case, captured=built, norm_before_residual=normed)) == RIGHT
    shifted = [boundary - 1 for boundary in built]
    assert next(eagle3(case, captured=shifted, norm_before_residual=normed)) != RIGHT[0]


@pytest.mark.parametrize("name", ["ok_d2t", "nbr_key_true"])
def test_a_residual_on_the_wrong_side_of_the_norm_drafts_nothing(name: str) -> None:
    case = CASES[name]
    wrong = not case.built.norm_before_residual
    drafted = list(eagle3(case, captured=case.built.boundaries or [], norm_before_residual=wrong))
    assert RIGHT[0] != drafted[0]


def test_a_right_eagle1_pair_drafts_every_token() -> None:
    case = CASES["e1_ok"]
    target, drafter = Tensors(case, of_target=True), Tensors(case, of_target=False)
    state = target.norm("model.norm.weight", states(target, TOKEN)[-1])
    for expected in RIGHT:
        state = drafter.mlp("layers.0", drafter.times("fc.weight", [*CIRCLES.point(expected - 1), *state]))
        assert best(target.times("lm_head.weight", state)) == expected


def test_a_language_model_goes_on_by_one() -> None:
    drafter = Tensors(CASES["dm_ok"], of_target=False)
    state = drafter.mlp("model.layers.0", CIRCLES.point(TOKEN))
    assert best(drafter.times("lm_head.weight", drafter.norm("model.norm.weight", state))) == TOKEN + 1


# -- files


@pytest.mark.parametrize(("dtype", "code"), [("F32", "f"), ("F16", "e")])
def test_numbers_are_written_as_the_format_reads_them(dtype: str, code: str) -> None:
    values = [1.0, -0.5, 3.140625]
    assert list(struct.unpack(f"<3{code}", encoded(values, dtype))) == values


def test_bfloat16_is_the_upper_half_of_a_single_rounded_to_even() -> None:
    def single(word: int) -> float:
        value: float = struct.unpack("<f", struct.pack("<I", word))[0]
        return value

    words = {0x3F808000: 0x3F80, 0x3F818000: 0x3F82, 0x3F808001: 0x3F81, 0xBF80FFFF: 0xBF81}
    assert list(struct.unpack("<4H", encoded(map(single, words), "BF16"))) == list(words.values())
    with pytest.raises(ValueError, match="F8_E4M3"):
        encoded([1.0], "F8_E4M3")


def test_a_pair_on_disk_is_the_recipe_with_its_holes_filled(tmp_path: Path) -> None:
    case = CASES["ok_d2t"]
    folder = PairWriter(tmp_path).write(case)
    written = (folder / "drafter" / "model.safetensors").read_bytes()
    hollow = tmp_path / "hollow"
    plain = (case.drafter.write(hollow) / "model.safetensors").read_bytes()
    length = 8 + int.from_bytes(written[:8], "little")
    header = json.loads(written[8:length])
    assert written[:length] == plain[:length]
    assert len(written) == len(plain)
    for name, fields in header.items():
        if name == "__metadata__":
            continue
        start, end = (length + at for at in fields["data_offsets"])
        # The map and its mask stand in the recipe; every weight is made, and no two are alike.
        assert (written[start:end] == plain[start:end]) == (name in ("d2t", "t2d")), name
    assert (folder / "target" / "tokenizer.json").exists()


def test_a_file_that_was_cut_short_stays_as_short_and_targets_are_made_once(tmp_path: Path) -> None:
    writer = PairWriter(tmp_path)
    folder = writer.write(CASES["file_truncated"])
    assert (folder / "drafter" / "model.safetensors").stat().st_size == next(
        iter(CASES["file_truncated"].drafter.truncate.values())
    )
    other = writer.write(CASES["lm_head_zeros"])
    assert (folder / "target" / "model.safetensors").read_bytes() == (
        other / "target" / "model.safetensors"
    ).read_bytes()
    assert len(list(tmp_path.glob("target-*"))) == 1


def test_every_tensor_of_every_case_has_values_of_its_size() -> None:
    shapes: set[tuple[object, ...]] = set()
    for case in CASES.values():
        lines = case.drafter.table()
        weights = Weights(case, lines, case.drafter_is_target)
        for name, line in lines.items():
            key = (name, line.shape, str(case.built), case.drafter_is_target)
            if not line.dtype.endswith(("F16", "F32")) or line.elements > 10_000 or key in shapes:
                continue
            shapes.add(key)
            values = list(weights.values(name))
            assert len(values) == line.elements
            assert any(values) != (name == "lm_head.weight" and case.built.lm_head == "zeros")
            assert all(map(math.isfinite, values))


# -- records


def seen(case: str = "ok_d2t", **fields: object) -> Seen:
    """What a run of a right pair shows on vLLM, but for some fields."""
    usual = Seen(
        case=case,
        version=UNRECORDED,
        stage="generated",
        method="eagle3",
        draft_class="Eagle3LlamaForCausalLM",
        aux_layers=[2, 4, 5],
        dropped=["t2d"],
        unfilled=["model.embed_tokens.weight"],
        shares_embed=True,
        shares_lm_head=False,
        num_speculative_tokens=3,
        accept_length=4.0,
        target_right=True,
    )
    return replace(usual, **fields)  # type: ignore[arg-type] # fields of it, by name


def recorded(what: Seen) -> Record:
    """The record of it."""
    case = CASES[what.case]
    template = launch_of(case, "vllm")
    assert template is not None
    return record(case, template, what)


@pytest.mark.parametrize(
    ("what", "outcome", "silent_by"),
    [
        (seen(), "ok", []),
        (seen(accept_length=3.8), "ok", []),
        (seen(accept_length=1.0), "silent", ["accept"]),
        (seen(shares_embed=False), "silent", ["unloaded"]),
        (seen(unfilled=["model.fc.weight"], accept_length=1.0), "silent", ["accept", "unloaded"]),
        (seen(partial={"model.norm.weight": [1, 64]}), "silent", ["partial"]),
        (seen(dropped=["t2d", "fc.bias"]), "silent", ["unused"]),
        (seen(dropped=["t2d", "d2t"]), "silent", ["unused"]),
        (seen(dropped=["t2d", "d2t"], consumed=["d2t"]), "ok", []),
        (seen(unfilled=["draft_id_to_target_id"]), "silent", ["unloaded"]),
        (seen("ok_full_vocab", unfilled=["draft_id_to_target_id"]), "ok", []),
        (seen("vocab_size_absent"), "loads", []),
        (seen(stage="config", error_type="ValueError", error_at="a:b", accept_length=None), "refuses", []),
    ],
)
def test_what_was_seen_is_judged_as_the_truth_is(what: Seen, outcome: str, silent_by: list[str]) -> None:
    made = recorded(what)
    assert made.run is not None
    assert (made.run.outcome, made.run.silent_by) == (outcome, silent_by)
    assert made.run.versions == [UNRECORDED]
    assert Record.parse(made.line()) == made


def test_what_was_not_run_is_no_outcome() -> None:
    made = recorded(Seen("ok_d2t", UNRECORDED, not_run="took longer than 1 s"))
    assert (made.run, made.not_run) == (None, "took longer than 1 s")
    assert Record.parse(made.line()) == made
    with pytest.raises(ValueError, match="no record"):
        Record.parse('{"case": "x"}')


def test_the_observations_of_the_truth_are_judged_as_they_were_recorded() -> None:
    """Where nothing was laid down by hand: runs that came to tokens, of cases that are not excused for anything."""
    judged = 0
    for case in CASES.values():
        for run in case.runs:
            if run.stage != "generated" or run.outcome == "loads" or case.says_nothing or not run.speculates:
                continue
            told = {
                name: getattr(run, name)
                for name in (
                    "method",
                    "unfilled",
                    "partial",
                    "dropped",
                    "shares_embed",
                    "shares_lm_head",
                    "accept_length",
                )
            }
            maps = [name for name in run.dropped or () if name.endswith("d2t")]
            consumed = maps if run.engine == "sglang" else []
            count = run.num_speculative_tokens
            what = Seen(case.id, "1.0", stage="generated", consumed=consumed, num_speculative_tokens=count, **told)
            made = record(case, run, what).run
            assert made is not None
            if maps and "unused" in run.silent_by:
                continue  # which of the lost tensors the engine keeps elsewhere was not recorded
            assert (case.id, made.outcome, made.silent_by) == (case.id, run.outcome, run.silent_by)
            judged += 1
    assert judged > 300


@pytest.mark.parametrize(
    ("what", "whole"),
    [
        (seen(), True),
        (seen(accept_length=3.75), True),
        (seen(accept_length=2.0), False),
        (seen(accept_length=None), None),
        (seen(unfilled=["model.fc.weight"], accept_length=1.0), None),
    ],
)
def test_acceptance_is_whole_or_not_and_chance_where_a_parameter_was_never_filled(
    what: Seen, whole: bool | None
) -> None:
    made = recorded(what).run
    assert made is not None
    assert accepts_all(made) is whole


def test_layers_are_numbers_or_nothing() -> None:
    assert whole_numbers((2, 4, 5)) == [2, 4, 5]
    assert whole_numbers(None) == []
    assert whole_numbers(["2", 4]) is None


# -- comparisons


def alone(case: TruthCase, engine: str) -> Run:
    """The newest recorded run of a case, as if it had been seen at one version only."""
    run = next(run for run in reversed(case.runs) if run.engine == engine)
    return run.model_copy(update={"versions": run.versions[-1:]})


def test_a_run_like_the_recorded_one_agrees_and_every_other_field_is_a_difference() -> None:
    case = CASES["ok_d2t"]
    run = alone(case, "vllm")
    assert {item.agrees for item in with_truth(case, run, "0.33.0")} == {True}
    changed = run.model_copy(update={"outcome": "silent", "accept_length": 1.0, "aux_layers": [1, 3, 4]})
    differing = {item.aspect for item in with_truth(case, changed, "0.33.0") if not item.agrees}
    assert differing == {"outcome", "accepts all", "boundaries"}
    assert list(with_truth(case, run, UNRECORDED)) == []


def test_a_run_is_held_against_the_plan_of_its_version() -> None:
    case = CASES["ok_d2t"]
    run = alone(case, "vllm")
    assert {item.agrees for item in with_plan(case, run)} == {True}
    changed = run.model_copy(update={"outcome": "refuses", "stage": "start"})
    assert [(item.aspect, item.agrees) for item in with_plan(case, changed)] == [("outcome", False)]


def test_what_a_record_says_nothing_of_is_no_aspect_and_stays_so_at_a_version_that_shows_it_again() -> None:
    case = CASES["dflash_ok"]
    run = alone(case, "vllm").model_copy(update={"versions": ["0.33.1"]})
    assert "accepts all" not in {item.aspect for item in with_truth(case, run, "0.33.0")}
    noted = CASES["rotary_inv_freq_extra"]
    again = alone(noted, "vllm").model_copy(update={"versions": ["0.33.1"]})
    assert "outcome" not in {item.aspect for item in with_plan(noted, again)}
    other = again.model_copy(update={"silent_by": ["accept", "unused"]})
    assert "outcome" in {item.aspect for item in with_plan(noted, other)}


def test_a_report_tells_agreement_differences_and_what_was_not_run() -> None:
    cases = [CASES["ok_d2t"], CASES["drop_norm"], CASES["mtp_on_plain_llama"]]
    run = alone(cases[0], "vllm")
    right = Record(case="ok_d2t", engine="vllm", version="0.33.0", run=run)
    missing = Record(case="drop_norm", engine="vllm", version="0.33.0", not_run="took longer than 1 s")
    wrong = replace(right, run=run.model_copy(update={"accept_length": 1.0}))
    assert report(cases[:1], [right], engine="vllm").exit_code == 0
    assert report(cases[:2], [right, missing], engine="vllm").exit_code == 3
    assert report(cases[:2], [], engine="vllm").exit_code == 3
    told = report(cases, [wrong, missing], engine="vllm")
    assert told.exit_code == 1
    lines = told.text().splitlines()
    assert lines[0] == "vllm 0.33.0: 1 cases run, 1 not run, 1 without a command for this engine"
    assert f"  DIFFERS {'ok_d2t':<36} {'accepts all':<16} expected yes, seen no" in lines
    assert lines[-1] == f"  {'drop_norm':<42} took longer than 1 s"


def test_a_version_nobody_recorded_is_set_beside_its_neighbour_without_blame() -> None:
    case = CASES["ok_d2t"]
    run = alone(case, "vllm").model_copy(update={"versions": [UNRECORDED], "stage": "engine_up"})
    told = report([case], [Record(case=case.id, engine="vllm", version=UNRECORDED, run=run)], engine="vllm")
    assert told.exit_code == 0
    assert f"nothing is recorded of vllm {UNRECORDED}" in told.text()
    assert "expected generated, seen engine_up" in told.text()


# -- additions


@pytest.fixture
def truth(tmp_path: Path) -> Callable[[str], Path]:
    """A copy of one case's file, in a folder of its own."""

    def copied(name: str) -> Path:
        return Path(copy(TRUTH / f"{name}.toml", tmp_path))

    return copied


def test_a_version_that_did_the_same_joins_the_others(truth: Callable[[str], Path]) -> None:
    path = truth("ok_d2t")
    before = path.read_text("utf-8")
    run = alone(CASES["ok_d2t"], "vllm").model_copy(update={"versions": [UNRECORDED]})
    assert add(CASES["ok_d2t"], run, folder=path.parent)
    old, new = '"0.32.0", "0.33.0"]', f'"0.32.0", "{UNRECORDED}", "0.33.0"]'
    assert path.read_text("utf-8") == before.replace(old, new)
    assert before.count(old) == 1


def test_a_version_that_did_otherwise_gets_an_entry_of_its_own(truth: Callable[[str], Path]) -> None:
    path = truth("drop_gate_proj")
    before = path.read_text("utf-8")
    case = CASES["drop_gate_proj"]
    run = alone(case, "vllm").model_copy(update={"versions": [UNRECORDED], "accept_length": 1.5})
    assert add(case, run, folder=path.parent)
    assert path.read_text("utf-8").startswith(before)
    assert read_case(path).runs == (*case.runs, run)


def test_what_is_recorded_already_is_never_touched(truth: Callable[[str], Path]) -> None:
    path = truth("ok_d2t")
    before = path.read_text("utf-8")
    run = alone(CASES["ok_d2t"], "vllm").model_copy(update={"outcome": "silent", "accept_length": 1.0})
    assert not add(CASES["ok_d2t"], run, folder=path.parent)
    assert path.read_text("utf-8") == before


def test_a_remark_goes_on_for_a_version_that_shows_the_same_again(truth: Callable[[str], Path]) -> None:
    path = truth("rotary_inv_freq_extra")
    case = CASES["rotary_inv_freq_extra"]
    run = alone(case, "vllm").model_copy(update={"versions": [UNRECORDED]})
    assert add(case, run, folder=path.parent)
    notes = {note.engine: note.versions for note in read_case(path).says_nothing}
    before = {note.engine: note.versions for note in case.says_nothing}
    assert notes == before | {"vllm": [*before["vllm"][:-1], UNRECORDED, "0.33.0"]}


# -- sessions: the real worker around a made-up engine


def test_a_session_runs_refuses_waits_and_says_what_was_not_run(tmp_path: Path) -> None:
    names = ["ok_d2t", "drop_fc", "d2t_short", "drop_norm", "drop_mlp", "e1_ok", "ok_full_vocab"]
    session = Session(engine="vllm", python=interpreter(tmp_path), limit=0.5, scratch=tmp_path / "scratch")
    made = list(session.run([CASES[name] for name in names]))
    told = {each.case: each.run.outcome if each.run else each.not_run for each in made}
    assert told == {
        "ok_d2t": "ok",
        "drop_fc": "silent",
        "d2t_short": "refuses",
        "drop_norm": "took longer than 0.5 s",
        "drop_mlp": "ended by signal 4",
        "e1_ok": "stopped at stage start by this machine: CUDA is not there",
        "ok_full_vocab": "the target alone does not continue as it was built to",
    }
    assert made[2].said == "sizes differ"
    assert [path.name for path in (tmp_path / "scratch").iterdir() if path.is_dir()] == []


def test_what_stops_where_a_right_pair_stops_was_not_run(tmp_path: Path) -> None:
    program = interpreter(tmp_path)
    program.write_text(program.read_text("utf-8").replace("main()", "main(broken=True)"), "utf-8")
    session = Session(engine="vllm", python=program, limit=5, scratch=tmp_path / "scratch")
    made = list(session.run([CASES["ok_d2t"], CASES["drop_fc"], CASES["d2t_short"]]))
    where = "stops at a stage where a right pair stops too: TypeError in tests/fake_engine.py:_serve"
    assert [each.not_run for each in made] == [where, where, None]


def test_an_interpreter_without_the_engine_is_named_with_its_last_words(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho 'no engine here' >&2\n", "utf-8")
    program.chmod(0o755)
    session = Session(engine="vllm", python=program, limit=1, scratch=tmp_path / "scratch")
    with pytest.raises(CannotStart, match="no engine here"):
        list(session.run([CASES["ok_d2t"]]))
    with pytest.raises(CannotStart, match="No such file"):
        list(replace(session, python=tmp_path / "nothing").run([CASES["ok_d2t"]]))


def test_an_interpreter_that_ends_half_way_leaves_the_rest_not_run(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text('#!/bin/sh\necho \'{"version": "0.32.0"}\'\n', "utf-8")
    program.chmod(0o755)
    session = Session(engine="vllm", python=program, limit=1, scratch=tmp_path / "scratch")
    made = list(session.run([CASES["ok_d2t"], CASES["drop_fc"]]))
    assert [each.not_run for each in made] == ["the engine's interpreter has ended"] * 2


@pytest.mark.parametrize(("pattern", "code"), [("ok_d2t", 0), ("d2t_short", 1), ("e1_ok", 3)])
def test_one_command_runs_and_reports(tmp_path: Path, pattern: str, code: int) -> None:
    out = tmp_path / "records.jsonl"
    arguments = [
        "run",
        "--engine",
        "vllm",
        "--python",
        str(interpreter(tmp_path)),
        "--case",
        pattern,
        "--out",
        str(out),
    ]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == code, result.output
    assert [json.loads(line)["case"] for line in out.read_text("utf-8").splitlines()] == [pattern]
    again = CliRunner().invoke(main, ["report", str(out)])
    assert (again.exit_code, again.stdout in result.stdout) == (code, True)


def test_nothing_to_run_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    result = CliRunner().invoke(main, ["report", str(tmp_path / "empty")])
    assert (result.exit_code, "holds no record" in result.output) == (2, True)
    result = CliRunner().invoke(main, ["run", "--engine", "vllm", "--python", str(tmp_path), "--case", "nothing-of-it"])
    assert (result.exit_code, "no case has such a name" in result.output) == (2, True)


def test_entries_are_plain_toml(truth: Callable[[str], Path]) -> None:
    """The writer's own lines are read back as they were meant, quotes and tables included."""
    path = truth("ok_d2t")
    run = alone(CASES["ok_d2t"], "vllm").model_copy(
        update={"versions": [UNRECORDED], "partial": {"a.b": [1, 2]}, "environment": {"X": 'say "x"\\'}}
    )
    assert add(CASES["ok_d2t"], run, folder=path.parent)
    entry = tomllib.loads(path.read_text("utf-8"))["run"][-1]
    assert (entry["partial"], entry["environment"]) == ({"a.b": [1, 2]}, {"X": 'say "x"\\'})
