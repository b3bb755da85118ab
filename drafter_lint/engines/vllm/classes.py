"""The draft classes vLLM builds for EAGLE: their parameters by the names the loader looks up, and their switches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from drafter_lint.engines.loading import Slot
from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.vllm import slots as tables
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.slots import Kind
from drafter_lint.engines.vllm.view import View

#: Registry modules whose classes are modelled here.
_MODULES: Mapping[str, Kind] = {
    "llama_eagle": "eagle1",
    "llama_eagle3": "llama",
    "qwen3_eagle3": "qwen3",
    "deepseek_eagle3": "mla",
}
_NAMES: Mapping[Kind, str] = {
    "eagle1": "EagleLlamaForCausalLM",
    "llama": "Eagle3LlamaForCausalLM",
    "qwen3": "Eagle3Qwen3ForCausalLM",
    "mla": "Eagle3DeepseekV2ForCausalLM",
}
#: Older names, replaced before they are looked up (vllm 0.33.0, transformers_utils/config.py, patch_rope_parameters).
_ROPE_ALIASES = ("su", "mrope")
_GQA = (
    "hidden_size",
    "intermediate_size",
    "num_attention_heads",
    "num_key_value_heads",
    "vocab_size",
    "num_hidden_layers",
)
_MLA = (
    "hidden_size",
    "intermediate_size",
    "num_attention_heads",
    "vocab_size",
    "num_hidden_layers",
    "kv_lora_rank",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "v_head_dim",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftClass:
    """A draft model as built for one config.

    Attributes:
        kind: which family of class.
        numbers: the config's numbers it was built from.
        fc_input: elements ``fc`` takes, None if there is no ``fc``.
        states: K, how many states ``fc`` was sized for.
        draft_vocab: rows of the head, None if there is no head.
        has_map: True if the class keeps draft_id_to_target_id.
        use_aux: False if the class was told to take the last state.
        switches: norm_before_residual and the like, as the class set them.
        slots: its parameters.
    """

    kind: Kind
    numbers: Mapping[str, int]
    fc_input: int | None = None
    states: int = 1
    draft_vocab: int | None = None
    has_map: bool = False
    use_aux: bool = True
    switches: Mapping[str, bool] = field(default_factory=dict)
    slots: Mapping[str, Slot] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The engine's class."""
        return _NAMES[self.kind]

    @property
    def takes_aux(self) -> bool:
        """True if the class is made for auxiliary states."""
        return self.kind != "eagle1"

    def integer(self, key: str) -> int | None:
        """A number the class was built from."""
        return self.numbers.get(key)


def kind_of(registered: str) -> Kind | None:
    """The family of a registry entry ("llama_eagle3.Eagle3LlamaForCausalLM"); None if it is not modelled."""
    return _MODULES.get(registered.rpartition(".")[0])


def build(case: Case, view: View, kind: Kind, *, names: frozenset[str]) -> DraftClass | None:
    """Build the class on paper; None, with a refusal noted, where its constructor raises.

    ``names`` are those of the file: a fused projection stored whole is looked up whole.
    """
    numbers = numbers_of(case, view, kind)
    if numbers is None:
        return None
    if not case.world.flag("class.multi-layer") and kind != "eagle1":
        numbers["num_hidden_layers"] = 1
    _activation(case, view, kind)
    _rope(case, view, kind)
    switches = _switches(case, view, kind)
    hidden = numbers["hidden_size"]
    slots = tables.embedding(numbers)
    for index in range(min(numbers["num_hidden_layers"], 64)):
        slots |= tables.layer(numbers, kind, index=index, switches=switches)
    slots = tables.fused(slots, names)
    if kind == "eagle1":
        slots["model.fc.weight"] = Slot(parameter="model.fc.weight", shape=(hidden, 2 * hidden))
        return DraftClass(kind=kind, numbers=numbers, fc_input=2 * hidden, switches=switches, slots=slots)
    draft_vocab = _draft_vocab(case, view, numbers)
    if draft_vocab is None:
        return None
    use_aux = kind == "mla" or not case.world.flag("class.use-aux-hidden-state") or switches["use_aux_hidden_state"]
    if use_aux:
        _state_width(case, view, kind)
    states = _states(case, view, kind)
    fc_input = states * numbers["target_hidden_size"] if use_aux else None
    slots |= tables.head(numbers, draft_vocab)
    if fc_input is not None:
        applied = kind != "mla" or case.world.text("class.fc-norm-mla") == "applied"
        slots |= tables.fc(numbers, switches, fc_input=fc_input, states=states, applied=applied)
    target_vocab = case.target.vocab_size.value if case.target.vocab_size else None
    has_map = case.world.text("class.map") == "always" or draft_vocab != target_vocab
    if has_map:
        reduced = draft_vocab != target_vocab
        slots["draft_id_to_target_id"] = Slot(
            parameter="draft_id_to_target_id", shape=(draft_vocab,), holds="zeros", matters=reduced
        )
    return DraftClass(
        kind=kind,
        numbers=numbers,
        fc_input=fc_input,
        states=states,
        draft_vocab=draft_vocab,
        has_map=has_map,
        use_aux=use_aux,
        switches=switches,
        slots=slots,
    )


def numbers_of(case: Case, view: View, kind: Kind) -> dict[str, int] | None:
    """The numbers a class is built from; None, with a refusal for each that is missing."""
    wanted = _MLA if kind == "mla" else _GQA
    found = {key: value for key in wanted if (value := view.integer(key)) is not None}
    if "num_key_value_heads" in wanted and "num_key_value_heads" not in found and "num_attention_heads" in found:
        found["num_key_value_heads"] = found["num_attention_heads"]
    missing = [key for key in wanted if found.get(key, -1) < (0 if key.startswith("num_hidden") else 1)]
    for key in missing:
        says = f"{_NAMES[kind]} needs {key}, and neither config.json nor its configuration class has it"
        case.refuse(RefusalKind.CONFIG_FIELD, "load", says, at=view.at(key), keys=("registry.speculative",))
    if missing:
        return None
    heads = found["num_attention_heads"]
    head_dim = view.integer("head_dim") or (found["hidden_size"] // heads if heads else 0)
    found["head_dim"] = head_dim
    found["target_hidden_size"] = view.integer("target_hidden_size") or found["hidden_size"]
    rank = view.get("q_lora_rank")
    found["q_lora_rank"] = 0 if rank is not None and rank.value is None else view.integer("q_lora_rank") or 0
    return found


def _activation(case: Case, view: View, kind: Kind) -> None:
    """Every class here runs a gated MLP that knows one activation."""
    found, known = view.get("hidden_act"), case.world.text("class.hidden-act")
    if found is None or found.value == known:
        return
    says = f"hidden_act is {found.value}; {_NAMES[kind]} only has {known}"
    case.refuse(RefusalKind.CONFIG_FIELD, "load", says, at=view.at("hidden_act"), keys=("class.hidden-act",))


def _rope(case: Case, view: View, kind: Kind) -> None:
    """get_rope knows the kinds it lists; DeepSeek's attention puts its own over whatever is written."""
    for key in ("rope_scaling", "rope_parameters"):
        found = view.get(key)
        written = found.value if found is not None and isinstance(found.value, dict) else {}
        name = written.get("rope_type", written.get("type"))
        known = {*_ROPE_ALIASES, *case.world.names("class.rope-types")}
        if kind == "mla" or not isinstance(name, str) or name in known:
            continue
        says = f"{key} is of type {name}, which this release does not have"
        case.refuse(RefusalKind.CONFIG_FIELD, "load", says, at=view.at(key), keys=("class.rope-types",))


def _switches(case: Case, view: View, kind: Kind) -> dict[str, bool]:
    nested = view.eagle_config()
    before_fc = case.world.text("class.norm-before-fc")
    first = (
        nested.get("norm_before_fc") if before_fc == "eagle_config, then top" and "norm_before_fc" in nested else None
    )
    fc_norm = "class.fc-norm-mla" if kind == "mla" else "class.fc-norm"
    bias = view.flag("attention_bias")
    eagle3 = kind != "eagle1"
    return {
        "norm_before_residual": eagle3
        and case.world.flag("class.norm-before-residual")
        and view.flag("norm_before_residual"),
        "norm_before_fc": kind in {"llama", "qwen3"}
        and before_fc != "no"
        and (bool(first) if first is not None else view.flag("norm_before_fc")),
        "fc_norm": eagle3 and case.world.text(fc_norm) != "no" and view.flag("fc_norm"),
        "norm_output": eagle3 and case.world.flag("class.norm-output") and view.flag("norm_output"),
        "attention_bias": (eagle3 and kind != "mla" and case.world.flag("class.qkv-bias") and bias)
        or (kind == "eagle1" and bool(view.flag("qkv_bias") if view.get("qkv_bias") else bias or view.flag("bias"))),
        "use_aux_hidden_state": bool(nested.get("use_aux_hidden_state", True)),
        "output_bias": kind in {"eagle1", "llama"} and (bias or view.flag("bias")),
        "mlp_bias": kind in {"eagle1", "llama"} and view.flag("mlp_bias"),
    }


def _draft_vocab(case: Case, view: View, numbers: Mapping[str, int]) -> int | None:
    found = view.get("draft_vocab_size")
    if found is not None and isinstance(found.value, int):
        return found.value
    if case.world.flag("class.draft-vocab-default"):
        return numbers["vocab_size"]
    says = "draft_vocab_size is missing, and this release's class takes no default for it"
    place = view.at("draft_vocab_size")
    case.refuse(RefusalKind.CONFIG_FIELD, "load", says, at=place, keys=("class.draft-vocab-default",))
    return None


def _state_width(case: Case, view: View, kind: Kind) -> None:
    """An attribute that exists is multiplied by the count of states, whatever it holds."""
    found = view.get("target_hidden_size")
    if found is None or isinstance(found.value, int):
        return
    says = f"target_hidden_size is {found.value}, and {_NAMES[kind]} sizes fc with it (absent would do)"
    place = view.at("target_hidden_size")
    case.refuse(RefusalKind.CONFIG_FIELD, "load", says, at=place, keys=("class.fc-count",))


def _states(case: Case, view: View, kind: Kind) -> int:
    if kind != "qwen3" and case.world.text("class.fc-count") == "three":
        return 3
    keys = ("num_aux_layers", "num_aux_hidden_states") if kind == "qwen3" else ("num_aux_hidden_states",)
    counted = next((value for key in keys if (value := view.integer(key)) is not None), None)
    if counted is not None:
        return counted
    top = view.ids("eagle_aux_hidden_state_layer_ids") if kind == "qwen3" else None
    ids = top or view.ids("eagle_config", "eagle_aux_hidden_state_layer_ids")
    return len(ids.value) if ids else 3
