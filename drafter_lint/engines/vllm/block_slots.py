"""The draft classes vLLM builds for DFlash and DSpark, on paper."""

from __future__ import annotations

from drafter_lint.engines.loading import Slot
from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.vllm import block_capture, classes, slots
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.classes import DraftClass
from drafter_lint.engines.vllm.view import View

_MOST_LAYERS = 64


def build(case: Case, view: View, *, spark: bool, names: frozenset[str]) -> DraftClass | None:
    """The class built from a config; None, with a refusal noted, where its constructor raises."""
    numbers = classes.numbers_of(case, view, "qwen3")
    if numbers is None:
        return None
    hidden = numbers["hidden_size"]
    found = view.get("draft_vocab_size")
    drafted = found.value if found is not None and isinstance(found.value, int) else numbers["vocab_size"]
    biased = view.flag("attention_bias")
    switches = {"attention_bias": biased, "output_bias": biased, "mlp_bias": False}
    made = slots.embedding(numbers) | slots.head(numbers, drafted)
    made |= dict((slots.one("model.hidden_norm.weight", (hidden,), holds="ones"),))
    for index in range(min(numbers["num_hidden_layers"], _MOST_LAYERS)):
        layer = slots.layer(numbers, "qwen3", index=index + 1, switches=switches)
        front, own = f"model.layers.{index + 1}.", f"model.layers.{index}."
        for key, slot in layer.items():
            if "hidden_norm" not in key:
                renamed = slot.parameter.replace(front, own)
                made[key.replace(front, own)] = Slot(
                    parameter=renamed, shape=slot.shape, fit=slot.fit, holds=slot.holds
                )
    use_aux = _uses_states(view)
    fc_input = _states(case, view, numbers) * numbers["target_hidden_size"] if use_aux else None
    if fc_input is not None:
        made |= dict((slots.one("model.fc.weight", (hidden, fc_input)),))
    if case.world.flag("block.mask-embedding") and not spark:
        name = "model.mask_embedding"
        made[name] = Slot(parameter=name, shape=(hidden,), holds="zeros", matters=False)
    if spark and not _markov(case, view, numbers, made, drafted=drafted, names=names):
        return None
    target = case.target.vocab_size.value if case.target.vocab_size else numbers["vocab_size"]
    reduced = spark and case.world.text("block.map") == "reduced"
    has_map = drafted < target if reduced else drafted != target
    if has_map:
        name = "draft_id_to_target_id"
        made[name] = Slot(parameter=name, shape=(drafted,), holds="zeros")
    return DraftClass(
        kind="qwen3",
        numbers=numbers,
        fc_input=fc_input,
        draft_vocab=drafted,
        has_map=has_map,
        use_aux=use_aux,
        switches=switches,
        slots=made,
    )


def _uses_states(view: View) -> bool:
    for key in ("dflash_config", "eagle_config"):
        found = view.get(key)
        if found is not None and isinstance(found.value, dict) and "use_aux_hidden_state" in found.value:
            return bool(found.value["use_aux_hidden_state"])
    return True


def _states(case: Case, view: View, numbers: dict[str, int]) -> int:
    """K: the length of the list the class looks at, else one state for each of its layers."""
    if case.world.text("block.fc-count") == "the list V2 reads":
        read = block_capture.chosen(case, view, runner="v2")
        return len(read[0].value) if read else numbers["num_hidden_layers"]
    for key in ("target_layer_ids", "layer_ids"):
        for outer in ("dflash_config", "eagle_config"):
            ids = view.ids(outer, key)
            if ids is not None:
                return len(ids.value)
    return numbers["num_hidden_layers"]


def _markov(
    case: Case, view: View, numbers: dict[str, int], made: dict[str, Slot], *, drafted: int, names: frozenset[str]
) -> bool:
    rank = view.integer("markov_rank")
    if rank is None:
        says = "DSpark's class needs markov_rank at the top level of config.json"
        case.refuse(RefusalKind.CONFIG_FIELD, "load", says, at=view.at("markov_rank"), keys=("dspark.kept",))
        return False
    front = "model.markov_head."
    made |= dict((slots.one(f"{front}markov_w1.weight", (numbers["vocab_size"], rank)),))
    made |= dict((slots.one(f"{front}markov_w2.weight", (drafted, rank), fit="rows"),))
    shipped = any("confidence_head" in name for name in names)
    built = case.world.text("dspark.confidence") != "skipped"
    if built and shipped and view.flag("enable_confidence_head"):
        width = numbers["hidden_size"] + (rank if view.flag("confidence_head_with_markov") else 0)
        made |= dict((slots.one("model.confidence_head.proj.weight", (1, width)),))
        made |= dict((slots.one("model.confidence_head.proj.bias", (1,)),))
    return True
