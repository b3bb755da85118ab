"""What DFLASH and DSPARK read of a block drafter beside its weights: layer ids and types, mask token, Markov head."""

from __future__ import annotations

from collections.abc import Mapping

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.engines.plan import RefusalKind, TensorFate
from drafter_lint.engines.sglang.fields import Fields
from drafter_lint.engines.sglang.notes import Notes
from drafter_lint.errors import Unavailable
from drafter_lint.facts import World
from drafter_lint.findings import Located, Location
from drafter_lint.targets import Target

MASK_FILE = "mask_embedding.pt"
_MASK = "<|MASK|>"
_MARKOV_KINDS = ("vanilla", "gated", "rnn")


def spark(fields: Fields, name: str) -> object:
    """A key of DSpark: with the prefix, nested, or at the top."""
    found = fields.get(f"dspark_{name}")
    for nest in ("dspark_config", "dflash_config"):
        if found is None:
            found = (fields.nested(nest) or {}).get(name)
    return found if found is not None else fields.get(name)


def place(fields: Fields, name: str) -> Location:
    for nest in ("dspark_config", "dflash_config"):
        if fields.config.has(nest, name):
            return fields.config.at(nest, name)
    return fields.at(name)


def layer_ids(fields: Fields) -> Located[tuple[int, ...]] | None:
    """``dspark_target_layer_ids``, ``dflash_config.target_layer_ids``, ``target_layer_ids``."""
    config = fields.config
    return (
        config.integers("dspark_target_layer_ids")
        or config.integers("dflash_config", "target_layer_ids")
        or config.integers("target_layer_ids")
    )


def mask_token(world: World, fields: Fields, target: Target, notes: Notes, *, method: str) -> None:
    """The token that stands for a position to be filled in must be an id of the target's embedding."""
    config = fields.config
    keys: list[tuple[str, ...]] = [("dflash_config", "mask_token_id")]
    if method == "DSPARK":
        keys = [("dspark_noise_token_id",), ("dspark_config", "mask_token_id"), *keys, ("mask_token_id",)]
    elif world.text("block.mask-token") == "nested-or-top":
        keys.append(("mask_token_id",))
    written = next((value for key in keys if (value := config.integer(*key))), None)
    size = target.vocab_size
    if written is not None:
        if size is not None and written.value >= size.value:
            says = f"the mask token {written.value} is no id of the target, which has {size.value}"
            measured = {"mask_token": written.value, "vocabulary": size.value}
            notes.refuse(
                RefusalKind.VOCABULARY, "load", says, "block.mask-token", at=(written.at, size.at), measured=measured
            )
        return
    where = place(fields, "mask_token_id")
    if method == "DSPARK":
        says = "mask_token_id is absent, and DSPARK needs one"
        notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, "dspark.head", at=(where,))
        return
    words = _words(target)
    named = (fields.nested("dflash_config") or {}).get("mask_token") or _MASK
    if words is None or size is None:
        says = f"no mask_token_id: {named} is looked up in the target's tokenizer, which is not read here"
        notes.step("mask", says, "block.mask-token", at=where)
        return
    if named in words:
        return
    count = len(words)
    if count < size.value:
        notes.step("mask", f"no mask_token_id: {named} is added as id {count}", "block.mask-token", at=where)
        return
    says = f"no mask_token_id, and {named} added to the {count} words of the tokenizer is no id below {size.value}"
    notes.refuse(RefusalKind.VOCABULARY, "load", says, "block.mask-token", at=(where, size.at))


def _words(target: Target) -> frozenset[str] | None:
    """The words of the target's tokenizer.json, None if they cannot be read."""
    try:
        document = target.checkpoint.other_json("tokenizer.json")
    except Unavailable:
        return None
    value = document.root if document else {}
    model = value.get("model")
    words = model.get("vocab") if isinstance(model, dict) else None
    if not isinstance(words, Mapping):
        return None
    added = value.get("added_tokens")
    extra = [item.get("content") for item in added if isinstance(item, dict)] if isinstance(added, list) else []
    return frozenset((*words, *(str(word) for word in extra)))


def sliding(world: World, fields: Fields, notes: Notes) -> None:
    """Sliding layers, where this release runs every layer as a full one."""
    kinds = fields.get("layer_types")
    if isinstance(kinds, list) and "sliding_attention" in kinds and world.text("block.sliding-layers") == "not read":
        says = "sliding layers are run as full ones, and not causally"
        notes.unread("layer_types", fields.at("layer_types"), says, "block.sliding-layers")


def mask_file(world: World, opened: Checkpoint) -> tuple[TensorFate, ...]:
    """The mask token's embedding in a file of its own, where this release does not open it."""
    if MASK_FILE not in opened.source.files or world.text("block.mask-file") == "opened":
        return ()
    says = "the file is not opened: a place to be filled in is given the mask token's row of the embedding"
    return (TensorFate(name=MASK_FILE, fate="dropped", says=says, evidence=world.evidence("block.mask-file")),)


def markov_kind(fields: Fields, notes: Notes) -> None:
    kind = spark(fields, "markov_head_type")
    if kind is None and fields.get("dspark_markov_rank") is None:
        says = "markov_head_type is absent, and DSPARK asks for it beside markov_rank"
    elif kind is not None and str(kind).lower() not in _MARKOV_KINDS:
        says = f"markov_head_type {kind} is none of {', '.join(_MARKOV_KINDS)}"
    else:
        return
    notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, "dspark.head", at=(place(fields, "markov_head_type"),))
