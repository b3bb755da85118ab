"""The census: every published drafter and trainer template of which config values are public, as a checkpoint.

The configuration is what was published; tensors are generated from the formula of the layout it is written in.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

import layout_tensors as made
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import BlockDrafter, Drafter, DraftModel, Eagle, Layout, Medusa, Recognition
from drafter_lint.drafters.recognise import recognise
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from layout_tensors import JsonObject, Lines, Sizes

CENSUS = Path(__file__).parents[1] / "fixtures" / "census"
Generator = Callable[[JsonObject, Sizes], Lines]


class Entry(BaseModel):
    """One drafter or template.

    Attributes:
        name: the Hub id, or the template's path.
        method: what its authors call it.
        layout: how it is written.
        source: where the values were found.
        config: the documented part of config.json; None for a checkpoint that has none.
        tensors: documented shapes, in place of generated ones; an empty one takes the generated tensor away.
        files: documented files that stand in place of safetensors.
        conflict: True if its config names another kind of drafter than it is, which must be told.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str
    method: str
    layout: Layout = Field(strict=False)
    source: str
    config: str | None = None
    tensors: dict[str, str] = Field(default_factory=dict)
    files: list[str] = Field(default_factory=list)
    conflict: bool = False

    @property
    def settings(self) -> JsonObject:
        """The documented configuration."""
        found = json.loads(self.config) if self.config else {}
        assert isinstance(found, dict)
        return found

    @property
    def recipe(self) -> Recipe:
        """The checkpoint as text."""
        lines: dict[str, str] = {}
        if not self.files and self.layout in GENERATORS:
            states = 5 if self.layout in (*_FIVE,) else 3
            lines = dict(GENERATORS[self.layout](self.settings, made.sizes(self.settings, states=states)))
            lines |= _named_after(self.method, self.settings, states)
            lines = {name: line for name, line in (lines | self.tensors).items() if line}
        return Recipe(
            name=self.name,
            config=self.config,
            tensors={"model.safetensors": lines} if lines else {},
            opaque=dict.fromkeys(self.files, 4096),
        )

    @property
    def recognition(self) -> Recognition:
        """What it is taken for."""
        return _recognised(self.name)


_FIVE = [layout for layout in Layout if layout.family == "block"] + [Layout.EAGLE3_DEEPSPEC]


def _named_after(method: str, config: JsonObject, states: int) -> dict[str, str]:
    """What EAGLE-3.1 and P-EAGLE add to the tensors of EAGLE-3."""
    sizes = made.sizes(config, states=states)
    if method == "eagle3.1":
        return {f"fc_norm.{index}.weight": f"BF16 {sizes.target}" for index in range(sizes.states)}
    if method == "peagle":
        lines = dict(made.eagle3(config, sizes, at="midlayer", method=method))
        return {name: line for name, line in lines.items() if name == "mask_hidden" or name.startswith("layers.")}
    return {}


def _with(*more: Callable[[Sizes], Lines], embedded: bool = False) -> Generator:
    """The DFlash backbone and what stands on it."""

    def generate(config: JsonObject, sizes: Sizes) -> Lines:
        return chain(made.backbone(config, sizes, embedded=embedded), *(part(sizes) for part in more))

    return generate


def _lines(*lines: tuple[str, ...]) -> Generator:
    """Tensors of which the shapes do not matter, by name; sizes are filled in: H, 2H, V."""

    def generate(_config: JsonObject, sizes: Sizes) -> Lines:
        words = {"H": sizes.hidden, "2H": 2 * sizes.hidden, "V": sizes.vocabulary, "Ht": sizes.target}
        for name, *shape in lines:
            yield name, "BF16 " + "x".join(str(words.get(word, word)) for word in shape)

    return generate


def _inside(part: Generator) -> Generator:
    """Beside the layers of a target."""
    return lambda config, sizes: chain(made.decoders(sizes), part(config, sizes))


GENERATORS: dict[Layout, Generator] = {
    Layout.EAGLE1: made.eagle1,
    Layout.EAGLE1_SPECULATORS: made.eagle1_speculators,
    Layout.EAGLE3_MIDLAYER: lambda config, sizes: made.eagle3(config, sizes, at="midlayer"),
    Layout.EAGLE3_LAYERS: made.eagle3,
    Layout.EAGLE3_SPECULATORS: made.eagle3,
    Layout.EAGLE3_MLA: lambda config, sizes: made.eagle3(config, sizes, at="mla"),
    Layout.EAGLE3_DEEPSPEC: made.eagle3,
    Layout.DFLASH: _with(),
    Layout.DFLASH_SPECULATORS: _with(embedded=True),
    Layout.DFLASH_DEEPSPEC: _with(embedded=True),
    Layout.DFLASH_LAGUNA: lambda config, sizes: chain(
        made.backbone(config, sizes), (made.matrix(f"aux_hidden_norms.{i}", sizes.target) for i in range(sizes.states))
    ),
    Layout.DFLASH_MUSE: lambda config, sizes: (
        (
            {"fc.weight": "encoder.fc.weight", "hidden_norm.weight": "encoder.output_norm_enc.weight"}.get(name, name),
            line,
        )
        for name, line in made.backbone(config, sizes)
    ),
    Layout.DFLARE: lambda config, sizes: chain(
        made.backbone(config, sizes),
        (
            made.matrix(f"layers.{i}.self_attn.{kind}_proj_target", sizes.pairs * sizes.head, sizes.hidden)
            for i in range(sizes.layers)
            for kind in ("k", "v")
        ),
    ),
    Layout.LILICORR: _with(),
    Layout.DFLASH2: _with(made.candidates),
    Layout.DFLASH2_SPECULATORS: _with(made.candidates),
    Layout.DOMINO: _with(made.domino),
    Layout.XPRESS_SPECULATORS: _with(made.refiner),
    Layout.DSPARK: _with(made.markov),
    Layout.DSPARK_SPECULATORS: _with(made.markov, embedded=True),
    Layout.DSPARK_DEEPSPEC: _with(made.markov, embedded=True),
    Layout.DSPARK_MODELOPT: _with(lambda sizes: made.markov(sizes, prefixed=False)),
    Layout.DSPARK_FUSED: _lines(
        ("embed.weight", "V", "H"),
        ("layers.0.attn.wq_a.weight", "8", "H"),
        ("mtp.0.attn.wq_a.weight", "8", "H"),
        ("mtp.0.markov_head.embed.weight", "V", "256"),
        ("mtp.0.confidence_head.weight", "1", "H"),
    ),
    Layout.MTP_DEEPSEEK: _inside(lambda _, sizes: made.behind(2, sizes)),
    Layout.MTP_NEXTN: lambda _, sizes: made.behind(0, sizes),
    Layout.MTP_DEEPSEEK_V4: _inside(_lines(("mtp.0.attn.wq_a.weight", "8", "H"), ("mtp.0.ffn.w1.weight", "8", "H"))),
    Layout.MTP_QWEN: lambda _, sizes: chain(
        (
            made.matrix("mtp.fc", sizes.hidden, 2 * sizes.hidden),
            made.matrix("mtp.norm", sizes.hidden),
            made.matrix("mtp.pre_fc_norm_hidden", sizes.hidden),
            made.matrix("mtp.pre_fc_norm_embedding", sizes.hidden),
        ),
        made.layer("mtp.layers.0", sizes, takes=sizes.hidden),
    ),
    Layout.MTP_LAYERS: _inside(_lines(("mtp.layers.0.eh_proj.weight", "H", "2H"), ("mtp.layers.0.enorm.weight", "H"))),
    Layout.MTP_MIMO: _inside(
        _lines(
            ("model.mtp_layers.0.input_proj.weight", "H", "2H"),
            ("model.mtp_layers.0.token_layernorm.weight", "H"),
            ("model.mtp_layers.0.hidden_layernorm.weight", "H"),
        )
    ),
    Layout.MTP_ERNIE: _inside(
        _lines(("model.mtp_linear_proj.0.weight", "H", "2H"), ("model.mtp_block.0.mlp.up_proj.weight", "8", "H"))
    ),
    Layout.MTP_SPECULATORS: _lines(
        ("mtp_layers.0.input_proj.weight", "H", "2H"), ("mtp_layers.0.token_layernorm.weight", "H")
    ),
    Layout.MTP_GEMMA4: _inside(_lines(("pre_projection.weight", "H", "2H"), ("post_projection.weight", "Ht", "H"))),
    Layout.MEDUSA: _lines(*((f"medusa_head.{i}.0.linear.weight", "H", "H") for i in range(5))),
    Layout.MEDUSA_VLLM: _lines(("blocks.0.layers.0.weight", "H", "H"), ("lm_heads.0.weight", "V", "H")),
    Layout.HYDRA: _lines(("hydra_mlp.0.0.linear.weight", "H", "2H"), ("hydra_lm_head.0.weight", "V", "H")),
    Layout.MLP_SPECULATOR: _lines(
        *(
            line
            for i in range(3)
            for line in (
                (f"speculator.emb.{i}.weight", "V", "1024"),
                (f"speculator.proj.{i}.weight", "1024", "H" if i == 0 else "1024"),
                (f"speculator.head.{i}.weight", "V", "1024"),
                (f"speculator.ln.{i}.weight", "1024"),
            )
        )
    ),
    Layout.DRAFT_MODEL: lambda _, sizes: made.decoders(sizes),
    Layout.PARD: lambda _, sizes: made.decoders(sizes),
}


@cache
def entries() -> tuple[Entry, ...]:
    """Every entry of the census."""
    return tuple(
        Entry.model_validate(entry)
        for path in sorted(CENSUS.glob("*.toml"))
        for entry in tomllib.loads(path.read_text("utf-8"))["entry"]
    )


@cache
def _recognised(name: str) -> Recognition:
    (entry,) = (entry for entry in entries() if entry.name == name)
    reference = Reference(spelling=name, kind="hub", name=name)
    return recognise(Checkpoint(reference, entry.recipe.source(), role="drafter"))


def said(drafter: Drafter) -> str:
    """The method a drafter was recognised as, in the words of its authors."""
    if isinstance(drafter, Eagle):
        return {"EAGLE-1/2": "eagle", "P-EAGLE": "peagle"}.get(
            drafter.variant, drafter.variant.lower().replace("-", "")
        )
    if isinstance(drafter, BlockDrafter):
        return drafter.variant.lower().replace("-", "")
    if isinstance(drafter, DraftModel):
        return "pard" if drafter.parallel else "draft_model"
    if isinstance(drafter, Medusa):
        return "hydra" if drafter.chained else "medusa"
    return "token_map" if drafter.layout is Layout.NOT_A_DRAFTER else drafter.method


def verdicts() -> Iterator[tuple[Entry, Recognition, str]]:
    """Every entry, what it was taken for, and whether that is right."""
    for entry in entries():
        found = entry.recognition
        right = said(found.drafter) == entry.method and found.drafter.layout is entry.layout
        known = "right" if right else "ambiguous" if found.drafter.layout is Layout.UNKNOWN else "mistaken"
        yield entry, found, known


ENTRIES = entries()
