"""Method mtp: the target's own prediction layers, or a checkpoint that holds nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from drafter_lint.checkpoint import TensorTable
from drafter_lint.engines.loading import Discard, Loaded, Lookup, Policy, Route, load
from drafter_lint.engines.plan import Capture, MapUse, ParameterState, Provision, RefusalKind
from drafter_lint.engines.vllm import limits, packed, runner, timeline, weights
from drafter_lint.engines.vllm import prediction_slots as tables
from drafter_lint.engines.vllm.arguments import place
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.draft import Draft
from drafter_lint.engines.vllm.prediction_slots import Family, Sizes
from drafter_lint.engines.vllm.view import View
from drafter_lint.findings import Located

_SHARED = ("embed_tokens.weight", "lm_head.weight", "shared_head.head.weight")
_COUNT = "num_nextn_predict_layers"
_MOST_LAYERS = 16
#: Classes that count their layers themselves, with one where the key is absent (qwen3_next_mtp.py, qwen3_5_mtp.py,
#: Qwen3NextMultiTokenPredictor and Qwen3_5MultiTokenPredictor).
_COUNTED_BY: dict[Family, str] = {"qwen": "mtp_num_hidden_layers"}


def run(case: Case, draft: Draft, view: View, *, given: Located[int] | None) -> None:
    """Plan method mtp, under whatever name this release has for it."""
    architecture = view.architecture
    if case.target.model_type is not None and case.target.model_type.value == "deepseek_v41":
        says = "DeepSeek-V4.1 has no prediction layer that drafts alone; what stands under mtp are DSpark's stages"
        at, keys = view.at("model_type"), ("config.mtp-model-types",)
        case.refuse(RefusalKind.METHOD_UNSUITABLE, "config", says, at=at, keys=keys)
        return
    registered = timeline.at(case.world, "registry.speculative", architecture.value) if architecture else None
    if architecture is None or registered is None:
        draft.understood = architecture is not None  # refused already
        return
    draft.architecture, draft.draft_class = architecture.value, registered.rpartition(".")[2]
    case.step("class", f"{architecture.value} is {registered}", "registry.speculative", at=architecture.at)
    if not case.world.flag("method.v1-only-if-named"):
        draft.runner = runner.choose(case, method="mtp", parallel_drafting=False)
    limits.tensor_parallel(case, view)
    limits.context(case, view, runner=draft.runner)
    _tokens(case, draft, view, given=given)
    width = case.target.hidden_size.value if case.target.hidden_size else None
    draft.capture = Capture(active=False, width=width, evidence=case.evidence("share.mtp"))
    if registered.endswith(".MiMoMTP"):
        before = case.world.text("mtp.mimo-state") == "before-last-norm"
        side: Literal["before", "after"] = "before" if before else "after"
        says = f"MiMoMTP is handed the target's state {side} its last norm; which one a layer was made for no file says"
        case.step("capture", says, "mtp.mimo-state")
        draft.capture = replace(draft.capture, norm=side, evidence=case.evidence("share.mtp", "mtp.mimo-state"))
    _state(case, view, width)
    where = case.evidence("share.mtp")
    says = "a prediction layer is given the target's, whatever its file ships"
    draft.head = draft.embedding = Provision(provider="target", says=says, evidence=where)
    draft.map = MapUse(use="identity", says="drafted over the target's own vocabulary", evidence=where)
    case.step("embedding", says, "share.mtp")
    _weights(case, draft, view, registered.rpartition(".")[0])


def _tokens(case: Case, draft: Draft, view: View, *, given: Located[int] | None) -> None:
    """How many of the drafted tokens have a layer of their own."""
    if given is None:
        says = f"num_speculative_tokens is not given, and method mtp compares it before {view.n_predict} could stand in"
        if view.n_predict is not None and case.world.flag("mtp.tokens-compared"):
            at = place(case, "num_speculative_tokens")
            case.refuse(RefusalKind.TOKEN_COUNTS, "config", says, at=at, keys=("mtp.tokens-compared",))
        return
    name = view.architecture.value if view.architecture else ""
    if given.value > 1 and timeline.at(case.world, "mtp.one-token", name) is not None:
        says = f"num_speculative_tokens is {given.value}; {name} is refused with more than one"
        case.refuse(RefusalKind.TOKEN_COUNTS, "config", says, at=given.at, keys=("mtp.one-token",))
    if view.model_type == "gemma4_mtp":  # a small model of its own, made to draft token after token
        return
    several = view.model_type in case.world.names("mtp.rerun")
    several = several or (draft.runner == "v2" and case.world.flag("mtp.modules-v2"))
    layers = view.n_predict or 1
    draft.trained_steps = layers if several else 1
    if given.value > draft.trained_steps:
        says = f"{given.value} tokens a step from {draft.trained_steps} prediction layer(s): run again for the rest"
        case.step("tokens", says, "mtp.rerun", "mtp.modules-v2", at=given.at)


def _state(case: Case, view: View, width: int | None) -> None:
    backbone = view.raw.integer("backbone_hidden_size")  # beside the text model's own sizes, not among them
    takes = backbone.value if backbone else view.integer("hidden_size")
    if width is None or takes is None or width == takes:
        return
    says = f"the target hands over {width} elements a token, the prediction layer takes {takes}"
    at = backbone.at if backbone else view.at("hidden_size")
    measured = {"fed": width, "takes": takes}
    case.refuse(RefusalKind.STATE_WIDTH, "first-request", says, at=at, keys=("share.mtp",), measured=measured)


def _weights(case: Case, draft: Draft, view: View, module: str) -> None:
    family = tables.FAMILIES.get(module)
    found = weights.table(case)
    if found is None:
        return
    _layers(case, view, found, module=module)
    if draft.architecture == "DeepSeekV4MTPModel":
        packed.experts(case, found)
    if family is None or view.get("index_topk") is not None:
        says = f"{draft.draft_class} loads its own layers; which tensor goes where is not followed"
        case.step("weights", says, "registry.speculative")
        return
    sizes = _sizes(case, view, family, found)
    if sizes is None:
        return
    loader = _Loader(family, sizes, skips_unknown=_skips_unknown(case, module))
    loaded = loader.load(case, loader.looked_at(found))
    if case.target.quantization is not None or view.flag("quantization_config"):
        draft.tensors = packed.follow(case, view, found, loaded, module=module, skips=loader.skips_unknown)
        return
    case.notes.refusals.extend(loaded.refusals)
    draft.tensors = loaded.tensors
    _complete(case, view, loaded)
    draft.parameters = tuple(_bound(case, state) for state in loaded.parameters)


def _skips_unknown(case: Case, module: str) -> bool:
    return module == "qwen3_5_mtp" and case.world.text("mtp.unknown-names") != "refused"


def _sizes(case: Case, view: View, family: Family, found: TensorTable) -> Sizes | None:
    """The numbers the class is built from; None, with a refusal noted, where its constructor raises."""
    wanted = tables.NEEDED[family]
    numbers = {key: value for key in (*wanted, *_OPTIONAL) if (value := view.integer(key)) is not None}
    absent = [key for key in wanted if numbers.get(key, 0) <= 0]
    count = view.integer(_COUNTED_BY.get(family, _COUNT))
    if family == "qwen" and count is None:
        count = view.integer(_COUNT) or 1
    if count is None:
        says = (
            f"{view.architecture.value if view.architecture else 'the class'} needs {_COUNT}, and config.json has none"
        )
        case.refuse(RefusalKind.CONFIG_FIELD, "load", says, at=view.at(_COUNT), keys=("registry.speculative",))
    layers = case.target.num_layers
    if absent:
        says = f"config.json leaves {', '.join(absent)} to its class: which tensor goes where is not followed"
        case.step("weights", says, "registry.speculative")
    if absent or layers is None or count is None:
        return None
    heads = numbers["num_attention_heads"]
    numbers.setdefault("num_key_value_heads", heads)
    numbers.setdefault("head_dim", numbers["hidden_size"] // heads)
    rank = view.get("q_lora_rank")
    numbers["q_lora_rank"] = 0 if rank is not None and rank.value is None else numbers.get("q_lora_rank", 0)
    gate = view.get("attn_output_gate")
    flags = {key: view.flag(key) for key in ("attention_bias", "use_qk_norm", "qkv_bias", "bias")}
    flags["attn_output_gate"] = gate is None or bool(gate.value)
    topk = view.get("topk_method")
    flags["corrected"] = family == "glm" or (topk is not None and topk.value == "noaux_tc")
    fused = any(name.startswith("mtp.") and name.endswith("mlp.experts.gate_up_proj") for name in found)
    return Sizes(numbers=numbers, flags=flags, first=layers.value, count=count, fused_experts=fused)


_OPTIONAL = (
    "intermediate_size",
    "moe_intermediate_size",
    "shared_expert_intermediate_size",
    "num_key_value_heads",
    "head_dim",
    "q_lora_rank",
    "n_routed_experts",
    "num_experts",
    "n_shared_experts",
    "first_k_dense_replace",
    "moe_layer_freq",
)


@dataclass(frozen=True, slots=True)
class _Loader:
    """How one class treats the names of a checkpoint that also holds the target."""

    family: Family
    sizes: Sizes
    skips_unknown: bool

    def looked_at(self, found: TensorTable) -> TensorTable:
        """The tensors the class does not pass over by name."""
        kept = {name: tensor for name, tensor in found.items() if self._kept(name)}
        return replace(found, entries=kept)

    def _kept(self, name: str) -> bool:
        if self.family in {"deepseek", "glm"}:
            own = name.startswith(tables.layers_of(self.family, self.sizes))
            return own or (self.family == "glm" and name in {"lm_head.weight", "model.embed_tokens.weight"})
        mark = {"mimo": "mtp_layers", "ernie": "mtp"}.get(self.family)
        inside = name.startswith("mtp.") if mark is None else mark in name
        return inside or "embed_tokens" in name or "lm_head" in name

    def named(self, name: str) -> str:
        """The name it is looked up by."""
        if self.family in {"deepseek", "glm"}:
            return self._behind(name)
        if self.family == "qwen":
            inner = name.replace("mtp.", "model.", 1) if name.startswith("mtp.") else name
            return inner.replace("language_model.", "") if "embed_tokens" in inner or "lm_head" in inner else inner
        if self.family == "ernie":
            front = f"model.layers.{self.sizes.first}."
            for part in ("mtp_emb_norm", "mtp_hidden_norm", "mtp_linear_proj", "mtp_block"):
                name = name.replace(f"model.{part}.0.", f"{front}{part}.")
            return name
        for index in range(self.sizes.count):
            front, own = f"model.mtp_layers.{index}.", f"model.mtp_layers.{self.sizes.first + index}."
            if name.startswith(front):
                rest = name.removeprefix(front)
                block = rest.startswith(("self_attn.", "mlp.", "input_layernorm.", "post_attention_layernorm."))
                return f"{own}mtp_block.{rest}" if block else f"{own}{rest}"
        return name

    def _behind(self, name: str) -> str:
        if name == "lm_head.weight":
            return f"model.layers.{self.sizes.first}.shared_head.head.weight"
        for front in tables.layers_of(self.family, self.sizes):
            if name.startswith(front):
                rest = name.removeprefix(front)
                if "embed_tokens" in rest:
                    return f"model.{rest}"
                own = any(part in rest for part in ("enorm", "hnorm", "eh_proj", "shared_head"))
                return name if own else f"{front}mtp_block.{rest}"
        return name

    def load(self, case: Case, mine: TensorTable) -> Loaded:
        """Where every tensor looked at goes."""
        slots = tables.build(self.family, self.sizes)
        policy = Policy(
            route=lambda name: self._route(name, frozenset(slots)),
            unexpected="drop" if self.skips_unknown else "refuse",
            unexpected_says="no parameter of that name",
            bias_dropped=True,
            evidence=case.evidence("registry.speculative"),
        )
        return load(slots, mine, policy)

    def _route(self, name: str, known: frozenset[str]) -> Route:
        if "rotary_emb.inv_freq" in name:
            return Discard("rotary tables are skipped", expected=True)
        inner = self.named(name)
        # A copy for a further layer, or of a part that is bound to the target's anyhow.
        if inner.endswith(_SHARED) and inner not in known:
            return Discard("the target's is used", expected=True)
        return Lookup(inner)


def _layers(case: Case, view: View, found: TensorTable, *, module: str) -> None:
    """A prediction layer of which nothing is there; some classes look, whatever else is checked."""
    law, layers = timeline.at(case.world, "mtp.layer-checked", module), case.target.num_layers
    count = min(view.integer(_COUNT) or 0, _MOST_LAYERS)
    if law is None or layers is None or not found.files:
        return
    start = layers.value if law == "behind" else 0
    outer = "model.layers" if law == "behind" else "mtp"
    fronts = [f"{outer}.{index}." for index in range(start, start + count)]
    empty = [front for front in fronts if not any(name.startswith(front) for name in found)]
    if not empty:
        return
    counted = f"{len(empty)} of {len(fronts)} prediction layers"
    says = f"{counted} have no tensor in the file, the first is {empty[0].rstrip('.')}"
    case.refuse(
        RefusalKind.TENSOR_REQUIRED,
        "load",
        says,
        at=case.drafter.config.at(_COUNT),
        keys=("mtp.layer-checked",),
        measured={"declared": len(fronts), "missing": len(empty)},
        tensors=tuple(empty),
    )


def _complete(case: Case, view: View, loaded: Loaded) -> None:
    """The loader's own look at what stayed unfilled."""
    strict = case.world.text("loader.complete") == "every parameter"
    tied = view.flag("tie_word_embeddings")
    empty = [
        state.name
        for state in loaded.parameters
        if state.state == "unfilled"
        and (strict or tables.plain(state.name))
        and not (tied and state.name.endswith("lm_head.weight"))
    ]
    told = {front for refusal in case.notes.refusals for front in refusal.tensors}
    empty = [name for name in empty if not any(name.startswith(front) for front in told if front.endswith("."))]
    if not empty:
        return
    says = f"{len(empty)} parameters of the prediction layers are not in the file, the first is {empty[0]}"
    case.refuse(
        RefusalKind.TENSOR_REQUIRED,
        "load",
        says,
        at=case.drafter.tensors.at(empty[0], "not in the file"),
        keys=("loader.complete",),
        measured={"missing": len(empty)},
        tensors=tuple(empty),
    )


def _bound(case: Case, state: ParameterState) -> ParameterState:
    inner = state.name.endswith("shared_head.head.weight")
    if not state.name.endswith(_SHARED) or (inner and not case.world.flag("mtp.head-shared")):
        return state
    return replace(state, state="shared", holds="the target's")
