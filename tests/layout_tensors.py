"""The tensors a layout has for a configuration: published formulas, for checkpoints known by their config alone.

Sizes the configuration leaves open are those of an 8B Llama: recognition must not depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

JsonObject = Mapping[str, object]
NESTS = ("transformer_layer_config", "model", "dflash_config", "dspark_config", "eagle_config", "text_config")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What the formulas need.

    Attributes:
        hidden: H; ``target`` is Ht.
        states: K.
        drafted: Vd.
    """

    hidden: int
    target: int
    inner: int
    heads: int
    pairs: int
    head: int
    vocabulary: int
    drafted: int
    layers: int
    states: int
    rank: int


def sizes(config: JsonObject, *, states: int) -> Sizes:
    """The sizes a configuration declares."""

    def number(*keys: str, otherwise: int) -> int:
        for key in keys:
            for place in (config, *(config[nest] for nest in NESTS if isinstance(config.get(nest), dict))):
                value = place.get(key) if isinstance(place, Mapping) else None
                if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                    return value
        return otherwise

    hidden = number("hidden_size", "emb_dim", otherwise=4096)
    heads = number("num_attention_heads", otherwise=32)
    vocabulary = number("vocab_size", otherwise=128256)
    ids = [
        place[key]
        for place in (config, *(config.get(nest) for nest in NESTS))
        for key in ("target_layer_ids", "aux_hidden_state_layer_ids", "eagle_aux_hidden_state_layer_ids")
        if isinstance(place, Mapping) and isinstance(place.get(key), list)
    ]
    return Sizes(
        hidden=hidden,
        target=number("target_hidden_size", "backbone_hidden_size", otherwise=hidden),
        inner=number("intermediate_size", otherwise=14336),
        heads=heads,
        pairs=number("num_key_value_heads", otherwise=heads),
        head=number("head_dim", otherwise=hidden // heads),
        vocabulary=vocabulary,
        drafted=number("draft_vocab_size", "truncated_vocab_size", otherwise=vocabulary),
        layers=number("num_hidden_layers", otherwise=1),
        states=len(ids[0]) if ids and isinstance(ids[0], list) else states,
        rank=number("markov_rank", "xpress_rank", "selector_rank", otherwise=256),
    )


Lines = Iterator[tuple[str, str]]


def matrix(name: str, *shape: int) -> tuple[str, str]:
    """One line of a recipe."""
    return f"{name}.weight" if not name.endswith("#") else name[:-1], "BF16 " + "x".join(map(str, shape))


def layer(at: str, s: Sizes, *, takes: int, norms: bool = False, first: bool = True) -> Lines:
    """An ordinary decoder layer whose attention takes ``takes`` features."""
    yield matrix(f"{at}.self_attn.q_proj", s.heads * s.head, takes)
    yield matrix(f"{at}.self_attn.k_proj", s.pairs * s.head, takes)
    yield matrix(f"{at}.self_attn.v_proj", s.pairs * s.head, takes)
    yield matrix(f"{at}.self_attn.o_proj", s.hidden, s.heads * s.head)
    if norms:
        yield matrix(f"{at}.self_attn.q_norm", s.head)
        yield matrix(f"{at}.self_attn.k_norm", s.head)
    yield from mlp(at, s)
    if first:
        yield matrix(f"{at}.input_layernorm", s.hidden)


def mlp(at: str, s: Sizes) -> Lines:
    """The gated MLP and the norm before it."""
    yield matrix(f"{at}.mlp.gate_proj", s.inner, s.hidden)
    yield matrix(f"{at}.mlp.up_proj", s.inner, s.hidden)
    yield matrix(f"{at}.mlp.down_proj", s.hidden, s.inner)
    yield matrix(f"{at}.post_attention_layernorm", s.hidden)


def latent(at: str, config: JsonObject, s: Sizes, *, takes: int) -> Lines:
    """A decoder layer with multi-head latent attention."""

    def of(key: str, otherwise: int) -> int:
        value = config.get(key)
        return value if isinstance(value, int) else otherwise

    rank, nope, rope, wide = (
        of("kv_lora_rank", 512), of("qk_nope_head_dim", 128), of("qk_rope_head_dim", 64), of("v_head_dim", 128),
    )  # fmt: skip
    yield matrix(f"{at}.self_attn.q_a_proj", of("q_lora_rank", 1536), takes)
    yield matrix(f"{at}.self_attn.q_a_layernorm", of("q_lora_rank", 1536))
    yield matrix(f"{at}.self_attn.q_b_proj", s.heads * (nope + rope), of("q_lora_rank", 1536))
    yield matrix(f"{at}.self_attn.kv_a_proj_with_mqa", rank + rope, takes)
    yield matrix(f"{at}.self_attn.kv_a_layernorm", rank)
    yield matrix(f"{at}.self_attn.kv_b_proj", s.heads * (nope + wide), rank)
    yield matrix(f"{at}.self_attn.o_proj", s.hidden, s.heads * wide)
    yield from mlp(at, s)
    yield matrix(f"{at}.input_layernorm", s.hidden)


def vocabulary_map(s: Sizes) -> Lines:
    """A right map: half of the drafted ids stands at the beginning of the vocabulary, the other half at its end."""
    half = s.drafted // 2
    yield "d2t", f"I64 {s.drafted} = 0*{half} {s.vocabulary - s.drafted}*{s.drafted - half}"
    yield "t2d", f"BOOL {s.vocabulary} = matches(d2t)"


def eagle1(config: JsonObject, s: Sizes) -> Lines:
    """SafeAILab's EAGLE-1/2."""
    yield matrix("embed_tokens", s.vocabulary, s.hidden)
    yield matrix("fc", s.hidden, 2 * s.hidden)
    if config.get("bias", True):
        yield "fc.bias", f"BF16 {s.hidden}"
    for index in range(s.layers):
        yield from layer(f"layers.{index}", s, takes=s.hidden, first=index > 0)


def eagle1_speculators(_config: JsonObject, s: Sizes) -> Lines:
    """The speculators layout of EAGLE-1, up to its release 0.4."""
    yield matrix("embed_tokens", s.vocabulary, s.hidden)
    yield matrix("fusion_fc", s.hidden, 2 * s.hidden)
    yield from layer("transformer", s, takes=s.hidden)


def eagle3(config: JsonObject, s: Sizes, *, at: str = "layers.0", method: str = "eagle3") -> Lines:
    """EAGLE-3 and what came of it, the first layer under the name ``at``."""
    yield matrix("fc", s.hidden, s.states * s.target)
    if "kv_lora_rank" in config or at == "mla":
        yield from latent("layers.0" if at == "mla" else at, config, s, takes=2 * s.hidden)
    else:
        yield from layer(at, s, takes=2 * s.hidden)
    yield matrix(f"{'layers.0' if at == 'mla' else at}.hidden_norm", s.hidden)
    for index in range(1, s.layers if method == "peagle" or s.layers == 2 else 1):
        yield from layer(f"layers.{index}", s, takes=s.hidden)
    yield matrix("norm", s.hidden)
    yield matrix("lm_head", s.drafted, s.hidden)
    if s.drafted < s.vocabulary:
        yield from vocabulary_map(s)
    if method == "eagle3.1":
        yield from (matrix(f"fc_norm.{index}", s.target) for index in range(s.states))
    if config.get("norm_before_fc"):
        yield matrix("input_norm", s.states * s.target)
    if method == "peagle":
        yield "mask_hidden", f"BF16 1x1x{s.states * s.hidden}"
        yield matrix("embed_tokens", s.vocabulary, s.hidden)


def backbone(config: JsonObject, s: Sizes, *, embedded: bool = False) -> Lines:
    """DFlash."""
    yield matrix("fc", s.hidden, s.states * s.target)
    yield matrix("hidden_norm", s.hidden)
    yield matrix("norm", s.hidden)
    for index in range(s.layers):
        at = f"layers.{index}"
        if "kv_lora_rank" in config:
            yield from latent(at, config, s, takes=s.hidden)
        else:
            yield from layer(at, s, takes=s.hidden, norms=True)
    if embedded:
        yield matrix("embed_tokens", s.vocabulary, s.hidden)
        yield matrix("lm_head", s.drafted, s.hidden)
        if s.drafted < s.vocabulary:
            yield from vocabulary_map(s)


def markov(s: Sizes, *, prefixed: bool = True) -> Lines:
    """DSpark's heads: vanilla Markov, and confidence that sees it."""
    one, two = ("markov_head.", "confidence_head.proj") if prefixed else ("", "confidence_proj")
    yield matrix(f"{one}markov_w1", s.vocabulary, s.rank)
    yield matrix(f"{one}markov_w2", s.vocabulary, s.rank)
    yield matrix(two, 1, s.hidden + s.rank)
    yield f"{two}.bias", "BF16 1"


def domino(s: Sizes) -> Lines:
    """Domino's GRU over the drafted prefix, and its low-rank head."""
    inner, rank = 1024, 256
    yield "prefix_gru.weight_ih_l0", f"BF16 {3 * inner}x{s.hidden}"
    yield "prefix_gru.weight_hh_l0", f"BF16 {3 * inner}x{inner}"
    yield matrix("embed_proj.0", rank, s.hidden + inner)
    yield matrix("embed_proj.2", s.vocabulary, rank)


def candidates(s: Sizes) -> Lines:
    """DFlash-2's convolutions and its candidate selector."""
    for index in range(s.layers):
        for part in ("attention_conv", "mlp_conv"):
            yield f"layers.{index}.{part}.base_kernel", f"BF16 2x2x{s.hidden}"
            yield matrix(f"layers.{index}.{part}.kernel_projection", 4 * s.hidden // 16, s.hidden)
    for book in ("predecessor", "successor"):
        yield f"candidate_selector.{book}_codebook", f"BF16 {s.vocabulary}x{s.rank}"
    yield matrix("candidate_selector.hidden_projection", s.rank, s.hidden)


def refiner(s: Sizes, block: int = 8) -> Lines:
    """XPress's refiner."""
    yield "refiner_head.token_embed", f"BF16 {s.vocabulary}x{s.rank}"
    yield "refiner_head.in_proj", f"BF16 {s.rank}x{3 * s.rank}"
    yield "refiner_head.mix_l", f"BF16 {s.rank}x{block}x{block}"
    yield "refiner_head.readout", f"BF16 {s.drafted}x{s.rank}"


def decoders(s: Sizes, count: int = 2) -> Lines:
    """The ends of a language model: its embedding and some layers."""
    yield matrix("model.embed_tokens", s.vocabulary, s.hidden)
    for index in range(count):
        yield from layer(f"model.layers.{index}", s, takes=s.hidden)
    yield matrix("model.norm", s.hidden)


def behind(at: int, s: Sizes) -> Lines:
    """A DeepSeek-style prediction layer of index ``at``."""
    for norm in ("enorm", "hnorm", "shared_head.norm"):
        yield matrix(f"model.layers.{at}.{norm}", s.hidden)
    yield matrix(f"model.layers.{at}.eh_proj", s.hidden, 2 * s.hidden)
    yield matrix(f"model.layers.{at}.shared_head.head", s.vocabulary, s.hidden)
    yield from layer(f"model.layers.{at}", s, takes=s.hidden)
