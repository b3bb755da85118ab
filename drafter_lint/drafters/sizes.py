"""How many parameters a layout has, by its formula: what a file's size alone says about what is in it.

Off by V*H or Vd*H, a count tells that an embedding or a head is there or is not; off otherwise, that the intermediate
size, the heads or the number of states in the config are not those of the weights.
"""

from __future__ import annotations

from dataclasses import dataclass

from drafter_lint.checkpoint import Config
from drafter_lint.drafters.fields import layer_config
from drafter_lint.drafters.view import View

_UNOPENED = (".bin", ".pt", ".pth")
#: A pickled file is larger than its weights by a few kilobytes of names; a header of safetensors likewise.
_OVERHEAD = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What the formulas need, in elements.

    Attributes:
        hidden: H.
        target: Ht, the width of one state.
        inner: I, of the MLP.
        heads: query heads; ``pairs`` key and value heads; ``head`` the width of one.
        vocabulary: V.
        drafted: Vd.
        layers: L.
        states: K.
        rank: of the Markov head.
    """

    hidden: int
    inner: int
    heads: int
    pairs: int
    head: int
    vocabulary: int
    target: int = 0
    drafted: int = 0
    layers: int = 1
    states: int = 3
    rank: int = 256

    @property
    def state(self) -> int:
        """The width of one target state."""
        return self.target or self.hidden


def attention(of: Sizes, *, takes: int) -> int:
    """Query, key, value and output projections of attention over ``takes`` features."""
    return takes * of.head * (of.heads + 2 * of.pairs) + of.heads * of.head * of.hidden


def eagle1(of: Sizes, *, embedding: bool = True, bias: bool = True) -> int:
    """EAGLE-1/2: fc over state and embedding, plain layers, the first without a norm before its attention."""
    layer = attention(of, takes=of.hidden) + 3 * of.hidden * of.inner + of.hidden
    norms = (of.layers - 1) * of.hidden
    fc = 2 * of.hidden * of.hidden + (of.hidden if bias else 0)
    return fc + of.layers * layer + norms + (of.vocabulary * of.hidden if embedding else 0)


def eagle3(of: Sizes, *, embedding: bool = False, head: bool = True) -> int:
    """EAGLE-3 with one Llama layer: fc over K states, attention over 2H, four norms."""
    layer = attention(of, takes=2 * of.hidden) + 3 * of.hidden * of.inner + 4 * of.hidden
    ends = (of.vocabulary * of.hidden if embedding else 0) + ((of.drafted or of.vocabulary) * of.hidden if head else 0)
    return of.states * of.state * of.hidden + layer + ends


def vocabulary_map(of: Sizes) -> int:
    """Bytes of d2t and t2d."""
    return 8 * of.drafted + of.vocabulary


def dflash(of: Sizes) -> int:
    """DFlash, which borrows embedding and head: L layers with normed queries and keys, fc over K states, two norms."""
    layer = attention(of, takes=of.hidden) + 3 * of.hidden * of.inner + 2 * of.hidden + 2 * of.head
    return of.layers * layer + of.states * of.state * of.hidden + 2 * of.hidden


def dspark(of: Sizes, *, embedding: bool = False, head: bool = False) -> int:
    """DSpark: DFlash, a vanilla Markov head, a confidence head that sees it, with a bias."""
    ends = of.vocabulary * of.hidden * (int(embedding) + int(head))
    return dflash(of) + 2 * of.vocabulary * of.rank + of.hidden + of.rank + 1 + ends


def read(config: Config) -> Sizes | None:
    """The sizes a config declares for plain attention, None if one of them is not there."""
    layer = layer_config(config)
    names = ("hidden_size", "intermediate_size", "num_attention_heads", "vocab_size", "num_hidden_layers")
    found = [value.value for name in names if (value := layer.integer(name)) and 0 < value.value < 1 << 32]
    if len(found) != len(names):
        return None
    hidden, inner, heads, vocabulary, layers = found
    pairs, head = layer.integer("num_key_value_heads"), layer.integer("head_dim")
    return Sizes(
        hidden=hidden,
        inner=inner,
        heads=heads,
        pairs=pairs.value if pairs else heads,
        head=head.value if head else hidden // heads,
        vocabulary=vocabulary,
        layers=layers,
    )


def weighs_as_eagle1(view: View) -> str:
    """Why a lone pickled file is an EAGLE-1/2 drafter: its size is the formula's, and no other's; "" if it is not.

    A language model of one layer has a head or a final norm where EAGLE-1 has its fc.
    """
    weights = [(name, size) for name, size in view.files.items() if name.endswith(_UNOPENED) and "/" not in name]
    declared = read(view.config)
    if declared is None or len(weights) != 1 or view.config.has("draft_vocab_size"):
        return ""
    name, size = weights[0]
    for width, dtype in ((2, "two"), (4, "four")):
        for embedding in (True, False):
            if 0 <= size - width * eagle1(declared, embedding=embedding, bias=False) <= _OVERHEAD:
                return f"{name} has {size} bytes, what EAGLE-1/2 of these sizes has at {dtype} bytes a value"
    return ""
