"""The parameters of SGLang's draft classes, as slots: plain LLaMA layers, EAGLE-1, EAGLE-3, and EAGLE-3 with MLA."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from drafter_lint.engines.loading import Fit, Slot
from drafter_lint.engines.sglang.fields import Fields
from drafter_lint.facts import World

_RANDOM = "random values of torch's default initialisation"
_ONES = "ones"
#: A config may claim any number of layers or states; more than any model has are not built.
_MOST = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The numbers a class is built from.

    Attributes:
        hidden: the drafter's own width H.
        inner: width of the feed-forward part.
        heads: query heads.
        kv_heads: key and value heads.
        head_dim: width of a head.
        layers: decoder layers.
        vocab: rows of the embedding.
        pads: True if linear layers fill up with zeros what is too short.
    """

    hidden: int
    inner: int
    heads: int
    kv_heads: int
    head_dim: int
    layers: int
    vocab: int
    pads: bool


def shape_of(world: World, fields: Fields, *, inner_key: str = "intermediate_size") -> Shape | None:
    """The numbers, None if one is no size: see :func:`sizeless`."""
    kv_heads, head_dim = fields.kv_heads, fields.head_dim
    if sizeless(fields, inner_key=inner_key) or not kv_heads or not head_dim:
        return None
    found = [fields.integer(key) for key in _sizes(inner_key)]
    hidden, inner, heads, layers, vocab = (value or 0 for value in found)
    return Shape(
        hidden=hidden,
        inner=inner,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        layers=layers,
        vocab=vocab,
        pads=world.flag("linear.pads"),
    )


def sizeless(fields: Fields, *, inner_key: str = "intermediate_size") -> tuple[str, ...]:
    """The fields among those numbers that are no positive integers."""
    return tuple(key for key in _sizes(inner_key) if (fields.integer(key) or 0) <= 0)


def _sizes(inner_key: str) -> tuple[str, ...]:
    return ("hidden_size", inner_key, "num_attention_heads", "num_hidden_layers", "vocab_size")


def norm(name: str, width: int) -> tuple[str, Slot]:
    """An RMSNorm."""
    return name, Slot(parameter=name, shape=(width,), holds=_ONES)


def feed_forward(prefix: str, size: Shape) -> Iterator[tuple[str, Slot]]:
    """Gate and up in one parameter, down in another."""
    fused = f"{prefix}mlp.gate_up_proj.weight"
    for part in ("gate", "up"):
        key = f"{prefix}mlp.{part}_proj.weight"
        yield key, Slot(parameter=fused, shape=(size.inner, size.hidden), fit="rows", pads=size.pads)
    down = f"{prefix}mlp.down_proj.weight"
    yield down, Slot(parameter=down, shape=(size.hidden, size.inner), fit="columns", pads=size.pads)


def attention(prefix: str, size: Shape, *, takes: int, qkv_bias: bool, out_bias: bool) -> Iterator[tuple[str, Slot]]:
    """Query, key and value in one parameter, and the way out."""
    widths = {"q": size.heads * size.head_dim, "k": size.kv_heads * size.head_dim, "v": size.kv_heads * size.head_dim}
    for kind in ("weight", "bias") if qkv_bias else ("weight",):
        fused = f"{prefix}self_attn.qkv_proj.{kind}"
        for part, width in widths.items():
            shape = (width, takes) if kind == "weight" else (width,)
            yield f"{prefix}self_attn.{part}_proj.{kind}", Slot(parameter=fused, shape=shape, fit="rows")
    out = f"{prefix}self_attn.o_proj."
    columns = size.heads * size.head_dim
    yield f"{out}weight", Slot(parameter=f"{out}weight", shape=(size.hidden, columns), fit="columns", pads=size.pads)
    if out_bias:
        yield f"{out}bias", Slot(parameter=f"{out}bias", shape=(size.hidden,))


def linear(name: str, shape: tuple[int, int], *, bias: bool, rows: bool = False) -> Iterator[tuple[str, Slot]]:
    """A torch linear layer, initialised as torch does; ``rows``: a column-parallel one, with memory as it comes."""
    holds = "uninitialised memory" if rows else _RANDOM
    fit: Fit = "rows" if rows else "exact"
    yield f"{name}.weight", Slot(parameter=f"{name}.weight", shape=shape, fit=fit, holds=holds)
    if bias:
        yield f"{name}.bias", Slot(parameter=f"{name}.bias", shape=shape[:1], fit=fit, holds=holds)


def table(name: str, rows: int, width: int) -> tuple[str, Slot]:
    """An embedding or a head."""
    return name, Slot(parameter=name, shape=(rows, width))


def biased(fields: Fields) -> bool:
    """Whether LLaMA's attention has biases: ``attention_bias`` or ``bias``."""
    return fields.true("attention_bias") or fields.true("bias")


def causal(
    fields: Fields, size: Shape, *, qkv_bias: bool, out_bias: bool, head_norms: bool = False
) -> Mapping[str, Slot]:
    """A whole language model: LlamaForCausalLM, Qwen2ForCausalLM; with norms on each head, Qwen3ForCausalLM."""
    found = dict([table("model.embed_tokens.weight", size.vocab, size.hidden)])
    for index in range(min(size.layers, _MOST)):
        prefix = f"model.layers.{index}."
        found.update(attention(prefix, size, takes=size.hidden, qkv_bias=qkv_bias, out_bias=out_bias))
        found.update(feed_forward(prefix, size))
        found.update([norm(f"{prefix}input_layernorm.weight", size.hidden)])
        found.update([norm(f"{prefix}post_attention_layernorm.weight", size.hidden)])
        if head_norms:
            found.update(norm(f"{prefix}self_attn.{part}_norm.weight", size.head_dim) for part in "qk")
    found.update([norm("model.norm.weight", size.hidden)])
    if not fields.true("tie_word_embeddings"):
        found.update([table("lm_head.weight", size.vocab, size.hidden)])
    return found


def eagle1(fields: Fields, size: Shape, *, qkv_bias: bool, out_bias: bool) -> Mapping[str, Slot]:
    """An EAGLE-1 or EAGLE-2 class: fc with a bias, no norm before the first layer and none at the end."""
    found = dict(causal(fields, size, qkv_bias=qkv_bias, out_bias=out_bias))
    found.pop("model.norm.weight")
    found.pop("model.layers.0.input_layernorm.weight", None)
    found.update(linear("model.fc", (size.hidden, 2 * size.hidden), bias=True))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """How an EAGLE-3 class joins the states.

    Attributes:
        width: of one state.
        states: how many.
        bias: whether fc has one.
        fc_norm: a norm for each state.
        input_norm: one norm over all of them.
        head_rows: rows of the draft head, None if it is the embedding.
        renamed: True if the layers are called ``layers.0``, False for ``midlayer``.
        parallel: True if fc is a column-parallel layer.
    """

    width: int
    states: int
    bias: bool
    fc_norm: bool
    input_norm: bool
    head_rows: int | None
    renamed: bool
    parallel: bool = False

    @property
    def takes(self) -> int:
        """Input width of fc."""
        return self.width * self.states


def _fused(size: Shape, fusion: Fusion) -> Iterator[tuple[str, Slot]]:
    yield table("model.embed_tokens.weight", size.vocab, size.hidden)
    yield from linear("model.fc", (size.hidden, fusion.takes), bias=fusion.bias, rows=fusion.parallel)
    yield norm("model.norm.weight", size.hidden)
    if fusion.head_rows is not None:
        yield table("lm_head.weight", fusion.head_rows, size.hidden)
    if fusion.fc_norm:
        yield from (norm(f"model.fc_norm.{index}.weight", fusion.width) for index in range(min(fusion.states, _MOST)))
    if fusion.input_norm:
        yield norm("model.input_norm.weight", fusion.takes)


def eagle3(fields: Fields, size: Shape, fusion: Fusion) -> Mapping[str, Slot]:
    """LlamaForCausalLMEagle3: the first layer takes 2H; its projection has no bias whatever the config says."""
    found = dict(_fused(size, fusion))
    for index in range(min(size.layers, _MOST) if fusion.renamed else 1):
        prefix = f"model.layers.{index}." if fusion.renamed else "model.midlayer."
        takes = size.hidden * (2 if index == 0 else 1)
        found.update(attention(prefix, size, takes=takes, qkv_bias=False, out_bias=biased(fields)))
        found.update(feed_forward(prefix, size))
        for name in ("input_layernorm", "hidden_norm", "post_attention_layernorm"):
            found.update([norm(f"{prefix}{name}.weight", size.hidden)])
    return found


def mla(fields: Fields, size: Shape, fusion: Fusion) -> Mapping[str, Slot] | None:
    """Eagle3DeepseekV2ForCausalLM; None if one of its ranks is no integer."""
    keys = ("q_lora_rank", "kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim")
    ranks = [fields.integer(key) for key in keys]
    if any(rank is None for rank in ranks):
        return None
    q_rank, kv_rank, rope, nope, value = (rank or 0 for rank in ranks)
    prefix = "model.midlayer.self_attn."
    fused = f"{prefix}fused_qkv_a_proj_with_mqa.weight"
    found = dict(_fused(size, fusion))
    found[f"{prefix}q_a_proj.weight"] = Slot(parameter=fused, shape=(q_rank, 2 * size.hidden))
    found[f"{prefix}kv_a_proj_with_mqa.weight"] = Slot(parameter=fused, shape=(kv_rank + rope, 2 * size.hidden))
    found.update([norm(f"{prefix}q_a_layernorm.weight", q_rank), norm(f"{prefix}kv_a_layernorm.weight", kv_rank)])
    for name, rows, columns in (
        ("q_b_proj", size.heads * (nope + rope), q_rank),
        ("kv_b_proj", size.heads * (nope + value), kv_rank),
    ):
        key = f"{prefix}{name}.weight"
        found[key] = Slot(parameter=key, shape=(rows, columns), fit="rows")
    out = f"{prefix}o_proj.weight"
    found[out] = Slot(parameter=out, shape=(size.hidden, size.heads * value), fit="columns", pads=size.pads)
    found.update(feed_forward("model.midlayer.", size))
    for name in ("input_layernorm", "hidden_norm", "post_attention_layernorm"):
        found.update([norm(f"model.midlayer.{name}.weight", size.hidden)])
    return found
