"""Loading the drafter's file on paper, the way one SGLang release does: names, shapes, and what is lost on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from drafter_lint.checkpoint import Checkpoint, TensorTable
from drafter_lint.engines.loading import Policy, Slot, load
from drafter_lint.engines.plan import ParameterState, Refusal, RefusalKind, TensorFate
from drafter_lint.engines.sglang import routes
from drafter_lint.engines.sglang.classes import EAGLE1_CLASSES, EAGLE3, EAGLE3_MLA, Built
from drafter_lint.engines.sglang.notes import Notes
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.facts import World
from drafter_lint.findings import Evidence, Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What the file made of the class.

    Attributes:
        visible: False if there is nothing to read; then nothing is known of tensors and parameters.
        mapped: True if a tensor was taken as the map.
        map_dtype: the dtype of that tensor, "" without one.
        map_at: its place.
        filled: slot names that a tensor was put into.
    """

    visible: bool
    tensors: tuple[TensorFate, ...] = ()
    parameters: tuple[ParameterState, ...] = ()
    mapped: bool = False
    map_dtype: str = ""
    map_at: Location | None = None
    filled: frozenset[str] = frozenset()


def loader_key(built: Built) -> str:
    """The fact that speaks of this class's loader."""
    if built.name == EAGLE3:
        return "eagle3.loader"
    if built.name == EAGLE3_MLA:
        return "mla.loader"
    return "eagle1.loader" if built.name in EAGLE1_CLASSES else "llama.loader"


def load_weights(world: World, built: Built, drafter: Checkpoint, notes: Notes) -> Weights:
    """Follow the loader through the file; its refusals are written down."""
    table = table_of(drafter, notes)
    if table is None:
        return Weights(visible=False)
    if drafter.config.value.get("quantization_config"):
        at = drafter.config.at("quantization_config")
        says = "the drafter is quantised: its parameters are packed and not modelled here"
        notes.step("weights", says, loader_key(built), at=at)
        return Weights(visible=False)
    evidence = world.evidence(loader_key(built))
    slots = _paired(built, table)
    policy = Policy(
        route=built.route,
        unexpected="drop",
        unexpected_says=f"no parameter of that name; {built.log}",
        evidence=evidence,
    )
    loaded = load(slots, table, policy)
    notes.refusals += loaded.refusals
    fates = loaded.tensors
    if _raises(world, built):
        fates = tuple(_stopped(fate, table, notes, evidence) for fate in fates)
    maps = [fate.name for fate in fates if fate.fate == "consumed"]
    return Weights(
        visible=True,
        tensors=fates,
        parameters=loaded.parameters,
        mapped=bool(maps),
        map_dtype=table[maps[-1]].dtype if maps else "",
        map_at=table.at(maps[-1]) if maps else None,
        filled=loaded.filled,
    )


def table_of(drafter: Checkpoint, notes: Notes) -> TensorTable | None:
    """The tensors, None if there are none to be seen; missing or broken files are refused."""
    try:
        table = drafter.tensors
    except Unavailable as trouble:
        if trouble.trouble is Trouble.NOT_SAFETENSORS:
            says = "only weights in other formats than safetensors: loaded, but not visible here"
            notes.step("weights", says, "loader.no-weights")
            return None
        if trouble.trouble not in {Trouble.MISSING, Trouble.MALFORMED, Trouble.LFS_POINTER}:
            raise
        says = f"the drafter's weights cannot be loaded: {trouble.detail}"
        whole = drafter.config.at(label="weights")
        notes.refuse(RefusalKind.WEIGHTS_MISSING, "load", says, "loader.no-weights", at=(whole,))
        return None
    if table.missing_files and (not table or notes.world.text("loader.missing-shards") == "refused"):
        listed = ", ".join(table.missing_files[:3])
        says = f"the index names {len(table.missing_files)} files that are not there: {listed}"
        at = tuple(replace(table.at(""), file=file, tensor=None) for file in table.missing_files[:3])
        notes.refuse(RefusalKind.WEIGHTS_MISSING, "load", says, "loader.missing-shards", "loader.no-weights", at=at)
        return table or None
    if table:
        return table
    if table.unopened:
        notes.step("weights", f"only {table.unopened[0]}: loaded, but not visible here", "loader.no-weights")
        return None
    says = "no weight file that can be loaded"
    notes.refuse(RefusalKind.WEIGHTS_MISSING, "load", says, "loader.no-weights", at=(table.at("", "no weights"),))
    return None


def _paired(built: Built, table: TensorTable) -> Mapping[str, Slot]:
    """MLA: q_a_proj and kv_a_proj_with_mqa are joined before loading; one without the other goes nowhere."""
    if built.name != EAGLE3_MLA:
        return built.slots
    prefix = "model.midlayer.self_attn."
    pair = (f"{prefix}q_a_proj.weight", f"{prefix}kv_a_proj_with_mqa.weight")
    routed = {route.slot for name in table if hasattr(route := built.route(name), "slot")}
    if sum(key in routed for key in pair) != 1:
        return built.slots
    kept = {key: slot for key, slot in built.slots.items() if key not in pair}
    fused = built.slots[pair[0]]
    rows = sum(built.slots[key].shape[0] for key in pair)
    return {**kept, fused.parameter: replace(fused, shape=(rows, fused.shape[1]))}


def _raises(world: World, built: Built) -> bool:
    """True where a projection without a parameter is a key error: every class that inherits LLaMA's loader."""
    inherits = built.name != EAGLE3_MLA and (built.name != EAGLE3 or world.text("eagle3.loader") == "inherited")
    return inherits and world.text("llama.loader") == "key-error"


def _stopped(fate: TensorFate, table: TensorTable, notes: Notes, evidence: tuple[Evidence, ...]) -> TensorFate:
    if fate.fate != "dropped" or not routes.stacked(fate.name) or fate.name.endswith(".bias"):
        return fate
    if not fate.says.startswith("no parameter"):
        return fate
    notes.refusals.append(
        Refusal(
            kind=RefusalKind.TENSOR_UNEXPECTED,
            stage="load",
            says=f"{fate.name} has no parameter to go to",
            locations=(table.at(fate.name, "no parameter of that name"),),
            evidence=evidence,
            tensors=(fate.name,),
        )
    )
    return replace(fate, fate="refused")
