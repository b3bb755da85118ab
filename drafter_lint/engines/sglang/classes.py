"""SGLang's draft classes as they are built from a config: slots, loader, switches, and what building refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drafter_lint.engines.loading import Slot
from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.sglang import routes, slots
from drafter_lint.engines.sglang.capture import IDS
from drafter_lint.engines.sglang.fields import Fields
from drafter_lint.engines.sglang.notes import Notes
from drafter_lint.engines.sglang.slots import Fusion, Shape
from drafter_lint.facts import World
from drafter_lint.launch import LaunchRequest

EAGLE3 = "LlamaForCausalLMEagle3"
EAGLE3_MLA = "Eagle3DeepseekV2ForCausalLM"
AUX_CLASSES = (EAGLE3, EAGLE3_MLA)
EAGLE1_CLASSES = ("LlamaForCausalLMEagle", "Qwen2ForCausalLMEagle")
CAUSAL_CLASSES = ("LlamaForCausalLM", "Qwen2ForCausalLM", "Phi3ForCausalLM", "InternLM3ForCausalLM")
#: Older names that transformers replaces.
_ROPE_ALIASES = ("su", "mrope")
_WARNS = "a warning names it as not found"
MODELLED = (*AUX_CLASSES, *EAGLE1_CLASSES, *CAUSAL_CLASSES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """One draft class, built on paper.

    Attributes:
        name: of the class.
        slots: by the name its loader ends at.
        route: from a name in the file to that name.
        log: what the loader says of a name without a slot.
        size: the numbers it was built from.
        fusion: of an EAGLE-3 class.
        head_from_target: True if it asks for the target's head even under EAGLE3.
        tied: True if its head is its embedding.
    """

    name: str
    slots: Mapping[str, Slot]
    route: routes.Router
    log: str
    size: Shape
    fusion: Fusion | None = None
    head_from_target: bool = False
    tied: bool = False


def build(world: World, name: str, fields: Fields, request: LaunchRequest, notes: Notes) -> Built | None:
    """The class of that name, None if it is not modelled or its numbers cannot be read."""
    if name not in MODELLED:
        return None
    if name in CAUSAL_CLASSES:
        return plain(world, name, fields, request, notes)
    llama4 = fields.model_type == "llama4_text" and name == EAGLE3 and world.flag("eagle3.llama4-mlp")
    inner_key = "intermediate_size_mlp" if llama4 else "intermediate_size"
    size = _size(world, fields, request, notes, inner_key=inner_key, mla=name == EAGLE3_MLA)
    if size is None:
        return None
    tied = fields.true("tie_word_embeddings")
    if name in AUX_CLASSES:
        return _aux(world, name, fields, size, notes)
    qkv, out = _biases(name, fields)
    made = slots.eagle1(fields, size, qkv_bias=qkv, out_bias=out)
    return Built(name=name, slots=made, route=routes.eagle1, log=_WARNS, size=size, tied=tied)


def plain(world: World, name: str, fields: Fields, request: LaunchRequest, notes: Notes) -> Built | None:
    """A language model's own class with LLaMA's layers; None if its numbers cannot be read."""
    size = _size(world, fields, request, notes, inner_key="intermediate_size", mla=False)
    if size is None:
        return None
    qkv, out = _biases(name, fields)
    made = slots.causal(fields, size, qkv_bias=qkv, out_bias=out, head_norms=name.startswith("Qwen3"))
    route = routes.causal(made, layers=size.layers)
    tied = fields.true("tie_word_embeddings")
    return Built(name=name, slots=made, route=route, log=_WARNS, size=size, tied=tied)


def _biases(name: str, fields: Fields) -> tuple[bool, bool]:
    """Whether query, key and value have biases, and whether the way out has one."""
    qwen2 = name.startswith("Qwen2")
    return qwen2 or slots.biased(fields), not qwen2 and slots.biased(fields)


def _size(
    world: World, fields: Fields, request: LaunchRequest, notes: Notes, *, inner_key: str, mla: bool
) -> Shape | None:
    """The numbers of a class, with what building it from them refuses."""
    size = slots.shape_of(world, fields, inner_key=inner_key)
    if size is None:
        at = tuple(map(fields.at, slots.sizeless(fields, inner_key=inner_key) or ("hidden_size",)))
        says = "a size in the drafter's config is no positive integer"
        notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, "draft.divides", at=at)
        return None
    divisible(fields, request, notes, heads=size.heads, kv_heads=0 if mla else size.kv_heads, inner=size.inner)
    act = fields.get("hidden_act")
    if act != "silu":
        says = f"hidden_act is {act}; the class only has silu"
        notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, "llama.hidden-act", at=(fields.at("hidden_act"),))
    if not mla:
        _rope(world, fields, notes)
    return size


def _rope(world: World, fields: Fields, notes: Notes) -> None:
    """get_rope knows the kinds it lists; DeepSeek's attention puts its own over whatever is written."""
    for key in ("rope_scaling", "rope_parameters"):
        written = fields.nested(key) or {}
        name = written.get("rope_type", written.get("type"))
        if isinstance(name, str) and name not in {*_ROPE_ALIASES, *world.names("rope.types")}:
            says = f"{key} is of type {name}, which SGLang {world.version} does not have"
            notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, "rope.types", at=(fields.at(key),))


def _aux(world: World, name: str, fields: Fields, size: Shape, notes: Notes) -> Built | None:
    is_mla = name == EAGLE3_MLA
    if size.layers != 1 and (is_mla or world.flag("eagle3.one-layer")):
        says = f"{name} is built with one layer only; num_hidden_layers is {size.layers}"
        at = (fields.at("num_hidden_layers"),)
        notes.refuse(RefusalKind.LAYER_COUNT, "load", says, "eagle3.one-layer", at=at)
        if is_mla:
            return None
    fusion, from_target = _fusion(world, fields, size, notes, is_mla=is_mla)
    if fusion is None:
        return None
    tied = fields.true("tie_word_embeddings")
    if not is_mla:
        made = slots.eagle3(fields, size, fusion)
        route = routes.eagle3(world, made)
        log = "nothing is logged" if world.text("eagle3.loader") != "inherited" else "a warning names it as not found"
        return Built(
            name=name,
            slots=made,
            route=route,
            log=log,
            size=size,
            fusion=fusion,
            head_from_target=from_target,
            tied=tied,
        )
    parts = slots.mla(fields, size, fusion)
    if parts is None:
        says = "the attention needs q_lora_rank, kv_lora_rank, qk_rope_head_dim, qk_nope_head_dim and v_head_dim"
        notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, "mla.loader", at=(fields.at("q_lora_rank"),))
        return None
    return Built(
        name=name,
        slots=parts,
        route=routes.mla,
        log="a warning names it as unexpected",
        size=size,
        fusion=fusion,
        head_from_target=from_target,
        tied=tied,
    )


def _fusion(world: World, fields: Fields, size: Shape, notes: Notes, *, is_mla: bool) -> tuple[Fusion | None, bool]:
    """The fusion an EAGLE-3 class is built with, and whether it wants the target's head."""
    width = _state_width(fields, size, notes, is_mla=is_mla)
    if width is None:
        return None, False
    rows, from_target = _head(world, fields, size, notes, is_mla=is_mla)
    prefix = "mla" if is_mla else "eagle3"
    always = not is_mla and world.text("eagle3.fc-bias") == "always"
    eagle = fields.nested("eagle_config") or {}
    before_fc = bool(eagle.get("norm_before_fc", fields.get("norm_before_fc")))
    fusion = Fusion(
        width=width,
        states=_states(world, fields, is_mla=is_mla),
        bias=always or fields.true("bias"),
        fc_norm=world.flag(f"{prefix}.fc-norm") and (fields.true("fc_norm") or fields.true("use_aux_norm")),
        input_norm=not is_mla and world.flag("eagle3.norm-before-fc") and before_fc,
        head_rows=rows,
        renamed=not is_mla and world.text("eagle3.loader") == "layers",
        parallel=is_mla and world.flag("mla.fc-parallel"),
    )
    return fusion, from_target


def _state_width(fields: Fields, size: Shape, notes: Notes, *, is_mla: bool) -> int | None:
    """Width of one state: ``target_hidden_size`` if the attribute exists (LLaMA) or is set (MLA), else H."""
    if not fields.has("target_hidden_size") or (is_mla and not fields.get("target_hidden_size")):
        return size.hidden
    width = fields.integer("target_hidden_size")
    if width is None:
        says = f"target_hidden_size is {fields.get('target_hidden_size')}, and fc is sized with it"
        at = (fields.at("target_hidden_size"),)
        notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, "eagle3.fc-states", at=at)
    return width


def _states(world: World, fields: Fields, *, is_mla: bool) -> int:
    """K: how many states fc joins."""
    nested = (fields.nested("eagle_config") or {}).get(IDS)
    if is_mla:
        listed = nested if nested is not None else fields.get(IDS)
        return len(listed) if isinstance(listed, list) else 3
    if world.text("eagle3.fc-states") == "three":
        return 3
    counted = fields.integer("num_aux_hidden_states")
    if counted is not None:
        return counted
    return len(nested) if isinstance(nested, list) and nested else 3


def _head(world: World, fields: Fields, size: Shape, notes: Notes, *, is_mla: bool) -> tuple[int | None, bool]:
    """Rows of the draft head (None: it is the embedding), and whether the target's is wanted instead."""
    tied = fields.true("tie_word_embeddings")
    rows = fields.integer("draft_vocab_size")
    absent = not fields.has("draft_vocab_size")
    null = not absent and fields.get("draft_vocab_size") is None
    at = (fields.at("draft_vocab_size"),)
    if is_mla:
        return (None if tied else rows or size.vocab), not tied and rows is None
    if absent and (not tied or world.flag("eagle3.tied-needs-draft-vocab")):
        says = "draft_vocab_size is absent, and the class asks for it (null would do)"
        where = ("eagle3.null-draft-vocab", "eagle3.tied-needs-draft-vocab")
        notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, *where, at=at)
    elif null and not tied and world.text("eagle3.null-draft-vocab") == "refused":
        says = "draft_vocab_size is null, and the draft head is sized with it"
        notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, "eagle3.null-draft-vocab", at=at)
    return (None if tied else rows or size.vocab), null and not tied


def divisible(fields: Fields, request: LaunchRequest, notes: Notes, *, heads: int, kv_heads: int, inner: int) -> None:
    """Tensor parallelism of the drafter: the target's, there is no flag of its own. A size of 0 is not looked at."""
    given = request.tensor_parallel
    if given is None or given.value <= 1 or "--enable-dp-attention" in request.options:
        return
    tp = given.value
    checks = [("num_attention_heads", heads), ("intermediate_size", inner)]
    if kv_heads >= tp:
        checks.append(("num_key_value_heads", kv_heads))
    for key, value in checks:
        if value % tp:
            _indivisible(fields, key, f"{key} {value} of the drafter is no multiple of {tp}", request, notes)
    if kv_heads and kv_heads < tp and tp % kv_heads:
        says = f"tensor parallelism {tp} is no multiple of the drafter's num_key_value_heads {kv_heads}"
        _indivisible(fields, "num_key_value_heads", says, request, notes)


def _indivisible(fields: Fields, key: str, says: str, request: LaunchRequest, notes: Notes) -> None:
    given = request.tensor_parallel
    at = (fields.at(key), *((given.at.saying(f"{given.value} ranks"),) if given else ()))
    notes.refuse(RefusalKind.TENSOR_PARALLEL, "load", says, "draft.divides", at=at)
