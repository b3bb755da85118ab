"""The parameters of SGLang's block drafters, as slots, and the names its loader finds them by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from drafter_lint.engines.loading import Discard, Lookup, Route, Slot
from drafter_lint.engines.sglang import slots
from drafter_lint.engines.sglang.block_fields import spark
from drafter_lint.engines.sglang.fields import Fields
from drafter_lint.engines.sglang.slots import Shape
from drafter_lint.launch import LaunchRequest


def parameters(fields: Fields, size: Shape, takes: int, request: LaunchRequest, *, headed: bool) -> Mapping[str, Slot]:
    """Qwen3's layers without embedding and head, fc and a norm in front; a Markov head on top for DSpark."""
    biased = fields.true("attention_bias")
    whole = slots.causal(fields, size, qkv_bias=biased, out_bias=biased, head_norms=True)
    ends = ("model.embed_tokens.weight", "lm_head.weight")
    found = {
        key.removeprefix("model."): replace(slot, parameter=slot.parameter.removeprefix("model."))
        for key, slot in whole.items()
        if key not in ends
    }
    found.update(slots.linear("fc", (size.hidden, takes), bias=False))
    found.update([slots.norm("hidden_norm.weight", size.hidden)])
    rank = spark(fields, "markov_rank")
    if not headed or not isinstance(rank, int):
        return found
    found.update([slots.table("markov_head.markov_w1.weight", size.vocab, rank)])
    found.update(slots.linear("markov_head.markov_w2", (size.vocab, rank), bias=False))
    kind = str(spark(fields, "markov_head_type") or "vanilla").lower()
    if kind == "gated":
        found.update(slots.linear("markov_head.gate_proj", (rank, size.hidden + rank), bias=True))
    elif kind == "rnn":
        found.update(slots.linear("markov_head.joint_proj", (3 * rank, 2 * rank + size.hidden), bias=True))
    if confident(request):
        with_markov = fields.get("confidence_head_with_markov")
        width = size.hidden + (0 if with_markov is False else rank)
        found.update(slots.linear("confidence_head.proj", (1, width), bias=True))
    return found


def confident(request: LaunchRequest) -> bool:
    """True if the confidence head is built: SGLANG_RAGGED_VERIFY_MODE is not "static", its default."""
    mode = request.environment.get("SGLANG_RAGGED_VERIFY_MODE")
    return mode is not None and mode.value != "static"


def route(name: str, made: Mapping[str, Slot], *, headed: bool) -> Route:
    plain = name.removeprefix("model.")
    if headed and plain.startswith(("lm_head.", "rotary_emb.", "embed_tokens.")):
        return Discard("the class skips it: embedding and head are the target's", expected=True)
    if headed and name.startswith("confidence_head.") and name not in made:
        return Discard("the confidence head is not built in this mode of verification", expected=True)
    if plain in ("embed_tokens.weight", "lm_head.weight") or "rotary_emb." in plain:
        return Discard("the class has none of its own: embedding and head are the target's", expected=True)
    aliases = {"encoder.fc.weight": "fc.weight", "encoder.output_norm_enc.weight": "hidden_norm.weight"}
    return Lookup(name if name in made else aliases.get(plain, plain))
