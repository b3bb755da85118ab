"""Loading the drafter's tensors into its class: how vLLM's loaders treat every name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drafter_lint.checkpoint import Tensor, TensorTable
from drafter_lint.engines.loading import Discard, Loaded, Lookup, Policy, Route, Slot, load
from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.classes import DraftClass
from drafter_lint.errors import Trouble, Unavailable

MASK = "mask_hidden"
_ROTARY = ("rotary_emb.inv_freq", "rotary_emb.cos_cached", "rotary_emb.sin_cached")
_STACKED = {
    ".q_proj": ".qkv_proj",
    ".k_proj": ".qkv_proj",
    ".v_proj": ".qkv_proj",
    ".gate_proj": ".gate_up_proj",
    ".up_proj": ".gate_up_proj",
}
_STACKED_MLA = {
    ".gate_proj": ".gate_up_proj",
    ".up_proj": ".gate_up_proj",
    ".q_a_proj": ".fused_qkv_a_proj",
    ".kv_a_proj_with_mqa": ".fused_qkv_a_proj",
}
_UNREADABLE = {Trouble.MALFORMED, Trouble.MISSING, Trouble.LFS_POINTER}


@dataclass(frozen=True, slots=True)
class Own:
    """What the file ships, by the test the loader makes on its names."""

    embedding: bool
    head: bool
    map: bool


def table(case: Case) -> TensorTable | None:
    """The drafter's tensors; None, with a refusal noted, where the engine finds no weights it can read.

    Raises:
        Unavailable: the weights are there and cannot be looked at from here.
    """
    try:
        found = case.drafter.tensors
    except Unavailable as error:
        if error.trouble is Trouble.NOT_SAFETENSORS:
            case.step("class", f"{error.detail}: where their tensors go is not followed", "loader.names-checked")
            return None
        if error.trouble not in _UNREADABLE:
            raise
        place = case.drafter.config.at()
        case.refuse(RefusalKind.WEIGHTS_MISSING, "load", f"no weights can be read: {error.detail}", at=place)
        return None
    if found.missing_files and case.world.flag("loader.index-complete"):
        case.refuse(
            RefusalKind.WEIGHTS_MISSING,
            "load",
            f"the index names files that are not there: {', '.join(found.missing_files)}",
            at=case.drafter.config.at(),
            keys=("loader.index-complete",),
        )
    elif not found.files:
        case.refuse(
            RefusalKind.WEIGHTS_MISSING,
            "load",
            "none of the files the index names is there",
            at=case.drafter.config.at(),
            keys=("loader.index-complete",),
        )
    return found


def names(case: Case) -> tuple[str, ...]:
    """The tensors' names; none if there is nothing to read."""
    found = table(case)
    return tuple(found) if found is not None else ()


def own(found: TensorTable) -> Own:
    """Which optional parts some tensor's name announces."""
    names = [name for name in found if "t2d" not in name]
    return Own(
        embedding=any("embed_tokens" in name for name in names),
        head=any("lm_head" in name for name in names),
        map=any("d2t" in name for name in names),
    )


def loaded(case: Case, drafter: DraftClass, found: TensorTable, *, parallel_drafting: bool) -> Loaded:
    """Where every tensor goes."""
    slots = dict(drafter.slots)
    masks = _masks(case, drafter)
    if parallel_drafting and masks:
        _mask(case, drafter, found, slots)
    key = "loader.names-checked"
    auto = case.world.text(key) == "AutoWeightsLoader"
    says = (
        "no module or parameter of that name: the loader raises"
        if auto
        else "no parameter of that name: the loader's lookup raises KeyError"
    )
    policy = Policy(
        route=_names_of(case, drafter, found, slots, skips_mask=masks and not parallel_drafting).route,
        unexpected="refuse",
        unexpected_says=says,
        evidence=case.evidence(key),
    )
    return load(slots, found, policy)


def canonical(case: Case, drafter: DraftClass, found: TensorTable) -> frozenset[str]:
    """The looked-up names of a file, for telling fused projections."""
    route = _names_of(case, drafter, found, {}, skips_mask=False).route
    return frozenset(place.slot for name in found if isinstance(place := route(name), Lookup))


def _masks(case: Case, drafter: DraftClass) -> bool:
    return drafter.kind in {"llama", "qwen3"} and case.world.text("class.mask-hidden") != "no"


def _mask(case: Case, drafter: DraftClass, found: TensorTable, slots: dict[str, Slot]) -> None:
    """``mask_hidden`` is copied flat into a buffer: one value or exactly the buffer's width."""
    width = 3 * drafter.numbers["hidden_size"]
    if case.world.text("class.mask-hidden") == "the input of fc":
        width = drafter.fc_input or drafter.numbers["hidden_size"]
    tensors = [tensor for name, tensor in found.items() if MASK in name and "t2d" not in name and "d2t" not in name]
    if not tensors:
        says = f"the file has no {MASK}, which parallel drafting needs ({width} elements)"
        case.refuse(
            RefusalKind.TENSOR_REQUIRED, "load", says, at=found.at(MASK), keys=("class.mask-hidden",), tensors=(MASK,)
        )
    for tensor in tensors:
        slots[tensor.name] = Slot(parameter=MASK, shape=_flat(tensor, width))


def _flat(tensor: Tensor, width: int) -> tuple[int, ...]:
    return tensor.shape if tensor.elements in {1, width} else (1, width)


@dataclass(frozen=True, slots=True)
class _Names:
    """How one release's loader of one class treats a name."""

    drafter: DraftClass
    slots: Mapping[str, Slot]
    skips_mask: bool
    biases: bool
    lenient: bool
    dropped: Mapping[str, str]

    def route(self, name: str) -> Route:
        """Where a tensor of that name goes."""
        if self.drafter.kind != "eagle1" and "t2d" in name:
            return Discard("t2d is skipped by name", expected=True)
        if MASK in name and "d2t" not in name and self.drafter.kind in {"llama", "qwen3"}:
            if self.skips_mask:
                return Discard("mask_hidden is skipped with a warning: parallel drafting is off")
            if name in self.slots:
                return Lookup(name)
        inner = _named(self.drafter, name)
        for part, says in self.dropped.items():
            if part in inner:
                return Discard(says, expected=part in _ROTARY)
        if inner not in self.slots and self.slots:
            return self._unplaced(inner)
        return Lookup(inner)

    def _unplaced(self, inner: str) -> Route:
        stacked = _STACKED_MLA if self.drafter.kind == "mla" else _STACKED
        modules = {slot.parameter.rpartition(".")[0] for slot in self.slots.values()}
        if self.drafter.kind == "eagle1":
            modules.add("model.layers.0.input_layernorm")  # nn.Identity: there, without parameters
        if self.biases and inner.endswith(".bias") and _module(inner, stacked) in modules:
            return Discard("a bias its module does not have; dropped without a word")
        if self.lenient and inner.startswith("model.") and not any(part in inner for part in stacked):
            return Discard("no parameter of that name; this class skips it without a word")
        return Lookup(inner)


def _names_of(
    case: Case, drafter: DraftClass, found: TensorTable, slots: Mapping[str, Slot], *, skips_mask: bool
) -> _Names:
    return _Names(
        drafter=drafter,
        slots=slots,
        skips_mask=skips_mask,
        biases=case.world.flag("loader.bias-ignored"),
        lenient=drafter.kind == "mla" and case.world.flag("loader.mla-ignores-unknown"),
        dropped=_dropped(case, drafter, has_map=own(found).map),
    )


def _named(drafter: DraftClass, name: str) -> str:
    if drafter.kind == "eagle1":
        return name if "lm_head" in name else f"model.{name}"
    if "d2t" in name:
        return name.replace("d2t", "draft_id_to_target_id")
    return name if "lm_head" in name else f"model.{name}".replace("midlayer.", "layers.0.")


def _module(name: str, stacked: Mapping[str, str]) -> str:
    for part, whole in stacked.items():
        name = name.replace(part + ".", whole + ".")
    return name.rpartition(".")[0]


def _dropped(case: Case, drafter: DraftClass, *, has_map: bool) -> dict[str, str]:
    """Parts of names the loader is told to leave out, and why."""
    dropped: dict[str, str] = {}
    if case.world.flag("loader.rotary-skipped"):
        dropped |= dict.fromkeys(_ROTARY, "rotary tables are skipped")
    if drafter.kind == "eagle1":
        if case.world.text("loader.eagle1-embedding") == "skipped":
            dropped["embed_tokens."] = "an EAGLE head's own embedding is skipped without pipeline parallelism"
        tied = case.drafter.config.boolean("tie_word_embeddings")
        if case.world.text("loader.eagle1-tied-head") != "unexpected" and tied and tied.value:
            dropped["lm_head."] = "skipped because tie_word_embeddings is true"
        return dropped
    if not has_map and case.world.flag("loader.map-skipped"):
        dropped["draft_id_to_target_id"] = "no name has d2t in it, so every name of the map is skipped without a word"
    if drafter.kind == "mla":
        return dropped
    if not drafter.use_aux:
        dropped["fc."] = "use_aux_hidden_state is false: every name with fc. is skipped without a word"
    if case.world.text("class.norm-before-fc") != "no" and not drafter.switches["norm_before_fc"]:
        dropped["input_norm."] = "norm_before_fc is false: input_norm is skipped without a word"
    return dropped
