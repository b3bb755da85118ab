"""What a drafter needs, typed: the family of drafters, and what recognition can say about a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from drafter_lint.checkpoint import Checkpoint, Config, Tensor
from drafter_lint.drafters.layout import Layout
from drafter_lint.drafters.trained import Trained
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Located, Location


@dataclass(frozen=True, slots=True)
class Claim:
    """Somebody's word about which target a drafter was trained for.

    Attributes:
        target: the id or name claimed.
        source: where it is said, in words ("speculators_config.verifier.name_or_path", "model card base_model").
        strength: ``stated`` for a field made for it, ``named`` for a repository or folder name, ``told`` for what was
            written for another purpose: the card's text, a field left over from a template.
    """

    target: Located[str]
    source: str
    strength: Literal["stated", "named", "told"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafter:
    """Any checkpoint used as a drafter.

    Attributes:
        checkpoint: its files.
        layout: how it is written.
        method: the field's name for it ("eagle", "eagle3", "dflash", "mtp" …), "" if not known.
        title: one phrase for a person ("EAGLE-3, 1 layer, draft vocabulary 32000").
        architecture: ``architectures[0]``.
        model_type: as written.
        claims: which target it says it was trained for.
        canonical: tensors under the names of their layout with every prefix stripped
            ("layers.0.self_attn.q_proj.weight", "fc.weight", "d2t"), to the tensor as written.
        prefix: what was stripped from the names, "" if nothing.
        layer_config: where the decoder layers' fields stand (the nested layer config in the speculators layouts).
        hidden_size: H, elements.
        vocab_size: V, ids.
        num_layers: layers (or heads, for those that have no layers) declared.
        layers_in_file: of those, present in the file.
        writer: the trainer or exporter that seems to have written it, "" if unknown.
        trained: what the user says of its training.
    """

    checkpoint: Checkpoint
    layout: Layout
    method: str
    title: str
    layer_config: Config
    architecture: Located[str] | None = None
    model_type: Located[str] | None = None
    claims: tuple[Claim, ...] = ()
    canonical: Mapping[str, Tensor] = field(default_factory=dict)
    prefix: str = ""
    hidden_size: Located[int] | None = None
    vocab_size: Located[int] | None = None
    num_layers: Located[int] | None = None
    layers_in_file: int = 0
    writer: str = ""
    trained: Trained = field(default_factory=Trained)

    def tensor_at(self, canonical: str, label: str = "") -> Location:
        """The place of a tensor by its canonical name; only its name where the weights could not be read."""
        tensor = self.canonical.get(canonical)
        try:
            return self.checkpoint.tensors.at(tensor.name if tensor else canonical, label)
        except Unavailable:  # a finding that rests on the config is not lost because its second place is
            return Location(
                role=self.checkpoint.role, subject=self.checkpoint.reference.name, tensor=canonical, label=label
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsupported(Drafter):
    """A checkpoint recognised far enough to say what it seems to be, and that its needs are not yet understood."""


@dataclass(frozen=True, slots=True)
class WrittenIds:
    """A list of auxiliary layer ids as a config writes it."""

    ids: Located[tuple[int, ...]]
    place: Literal["top-level", "nested"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Eagle(Drafter):
    """An EAGLE-1/2 or EAGLE-3 drafter and its needs.

    Widths are in elements: H is the drafter's hidden size, Ht the target's, V the vocabulary, Vd the drafted one.

    Attributes:
        generation: 1 (EAGLE-1/2: one final hidden state) or 3 (several auxiliary hidden states).
        attention: grouped-query or multi-head latent attention.
        target_hidden_size: Ht as declared; None if it is not declared.
        fc: the projection ``[H, K*Ht]`` (EAGLE-3) or ``[H, 2H]`` (EAGLE-1), None if absent.
        draft_vocab_size: Vd as declared, under any of its spellings.
        layer_ids: auxiliary layer ids, in every place they are written.
        use_aux_hidden_state: ``eagle_config.use_aux_hidden_state``.
        norm_before_residual: as declared.
        fc_norm: EAGLE-3.1, a norm on each captured state, as declared under any of its spellings.
        norm_output: EAGLE-3.1, the state handed to the next step is the normed one, as declared.
        norm_before_fc: one norm over all captured states, as declared.
        mask_token: the id drafted positions are filled with, as declared (P-EAGLE).
        parallel: P-EAGLE, every position of a step drafted at once.
    """

    generation: Literal[1, 3]
    attention: Literal["gqa", "mla"]
    target_hidden_size: Located[int] | None = None
    fc: Tensor | None = None
    draft_vocab_size: Located[int] | None = None
    layer_ids: tuple[WrittenIds, ...] = ()
    use_aux_hidden_state: Located[bool] | None = None
    norm_before_residual: Located[bool] | None = None
    fc_norm: Located[bool] | None = None
    norm_output: Located[bool] | None = None
    norm_before_fc: Located[bool] | None = None
    mask_token: Located[int] | None = None
    parallel: bool = False

    @property
    def variant(self) -> Literal["EAGLE-1/2", "EAGLE-3", "EAGLE-3.1", "P-EAGLE"]:
        """What its authors call it: what the tensors show, else what the config declares."""
        if self.generation == 1:
            return "EAGLE-1/2"
        if self.parallel:
            return "P-EAGLE"
        declared = self.fc_norm is not None and self.fc_norm.value
        shown = any(name.startswith("fc_norm.") for name in self.canonical)
        return "EAGLE-3.1" if shown or (declared and not self.canonical) else "EAGLE-3"

    @property
    def state_width(self) -> int | None:
        """The width of one target hidden state the drafter was built for: ``target_hidden_size``, else H."""
        declared = self.target_hidden_size or self.hidden_size
        return declared.value if declared else None

    @property
    def states(self) -> int | None:
        """K: how many auxiliary states fit the input of ``fc``; None if it cannot be told."""
        if self.generation == 1:
            return 1
        if self.fc is None or not self.state_width or len(self.fc.shape) != 2:
            return None
        count, rest = divmod(self.fc.shape[1], self.state_width)
        return count if rest == 0 else None


@dataclass(frozen=True, slots=True)
class Match:
    """A layout that fits, and why."""

    layout: Layout
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Config and tensors say different things about what this is."""

    config_says: str
    tensors_say: str
    locations: tuple[Location, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognition:
    """What a checkpoint was taken for.

    Attributes:
        matches: the layouts that fit, best first; one normally.
        drafter: the typed drafter built from the best match.
        conflicts: disagreements between config and tensors; each is a finding.
    """

    matches: tuple[Match, ...]
    drafter: Drafter
    conflicts: tuple[Conflict, ...] = ()
