"""What a checkpoint is, put together for one screen: what it needs, its shapes in symbols, its map, its provenance."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from drafter_lint import catalogue
from drafter_lint.checkpoint import Config, Tensor, VocabMap
from drafter_lint.comparing.captured import boundaries
from drafter_lint.comparing.hooks import Hook, hooks
from drafter_lint.drafters import BlockDrafter, Drafter, Eagle, Unsupported
from drafter_lint.drafters.claims import OWN_NAME
from drafter_lint.engines import engine
from drafter_lint.errors import Unavailable
from drafter_lint.facts import World, engines, profile, worlds
from drafter_lint.looking import Look
from drafter_lint.report import Cost, Subject
from drafter_lint.targets import Target

#: Stands for a target in a command where the drafter names none.
TARGET = "TARGET"
_SYMBOLS = {
    "lm_head.weight": ("Vd", "H"),
    "embed_tokens.weight": ("V", "H"),
    "d2t": ("Vd",),
    "t2d": ("V",),
}
#: The facts that name the methods of each engine.
_METHODS = {"sglang": "algorithm.names", "vllm": "methods.known"}
#: Fields of a drafter that switch a norm on.
_SWITCHES = ("norm_before_residual", "norm_before_fc", "fc_norm", "norm_output")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One tensor that everything hangs on.

    Attributes:
        tensor: as written in the file.
        symbols: its shape in symbols, "" if there are none for it.
        fits: False if the numbers are not what the symbols stand for.
    """

    tensor: Tensor
    symbols: str = ""
    fits: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What one engine wants to be told, at its newest known version.

    Attributes:
        engine: its name.
        version: the version.
        argv: the words of the command that speak of the drafter.
    """

    engine: str
    version: str
    argv: tuple[str, ...]

    @property
    def text(self) -> str:
        """As a shell wants it."""
        return shlex.join(self.argv)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What a checkpoint is.

    Attributes:
        subject: how it is named.
        look: what was seen of it.
        cost: what reading took.
        hearsay: what the catalogue says of it where it could not be read, None if nothing.
    """

    subject: Subject
    look: Look
    cost: Cost
    hearsay: Target | None = None

    @property
    def nothing_read(self) -> bool:
        """True if neither config nor weights could be read."""
        seen = self.look
        return seen.target is None and not seen.recognition.matches and bool(seen.troubles)

    @property
    def symbols(self) -> dict[str, int]:
        """H, Ht, K, V, Vd and the number of layers n, as far as they are known."""
        drafter, target = self.look.drafter, self.look.target
        if self.look.is_model:
            read = target and (("H", target.hidden_size), ("n", target.num_layers), ("V", target.vocab_size))
            return {name: value.value for name, value in read or () if value}
        found = {name: _number(drafter, key) for name, key in (("H", "hidden_size"), ("V", "vocab_size"))}
        found["Ht"], found["K"] = _number(drafter, "state_width"), _number(drafter, "states")
        found["Vd"] = _number(drafter, "draft_vocab_size") or found["V"]
        found["n"] = _number(drafter, "layers_in_file") or _number(drafter, "num_layers")
        order = ("H", "Ht", "K", "V", "Vd", "n")
        return {name: value for name in order if (value := found[name])}

    @property
    def parts(self) -> tuple[Part, ...]:
        """The tensors that everything hangs on, with their shapes in symbols."""
        drafter = self.look.drafter
        if not isinstance(drafter, (Eagle, BlockDrafter)):
            return ()
        names = ("fc.weight", *_SYMBOLS)
        return tuple(_part(drafter, self.symbols, name) for name in names if name in drafter.canonical)

    @property
    def needs(self) -> tuple[str, ...]:
        """What a drafter needs, in words."""
        drafter = self.look.drafter
        if isinstance(drafter, BlockDrafter):
            return tuple(_block_needs(drafter, readable=self.look.tensors is not None))
        if not isinstance(drafter, Eagle):
            return ()
        config = self.look.checkpoint.config if self.look.target else None
        return tuple(_needs(drafter, config, readable=self.look.tensors is not None))

    @property
    def vocabulary_map(self) -> str:
        """What d2t and t2d say, in one sentence; "" where nothing is known."""
        drafter = self.look.drafter
        if not isinstance(drafter, (Eagle, BlockDrafter)) or self.look.tensors is None:
            return ""
        try:
            return _map(drafter, self.look.checkpoint.vocab_map)
        except Unavailable as trouble:
            return f"not read: {trouble.detail}"

    @property
    def provenance(self) -> tuple[tuple[str, str], ...]:
        """Who says what it was trained for: the target, and where that is said; the drafter's own files first."""
        found = [(claim.target.value, claim.source) for claim in self.look.drafter.claims if not self.look.is_model]
        known = catalogue.drafter(self.subject.name)
        if known:
            found += [(name, f"the catalogue, {known.confidence}: {known.source[0]}") for name in known.targets]
        return tuple(found)

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """What each engine wants to be told: the flags that a check without flags is made with.

        An engine is left out if it has no method of that name: it may draft so under another one.
        """
        drafter = self.look.drafter
        if self.look.is_model or not drafter.method or isinstance(drafter, Unsupported):
            return ()
        claimed = next((claim.target.value for claim in drafter.claims if claim.source != OWN_NAME), TARGET)
        asked = (_wanted(name, drafter, self.subject.name, claimed) for name in engines())
        return tuple(item for item in asked if item.argv)

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """Which releases let this target hand over auxiliary states."""
        target = (self.look.target if self.look.is_model else None) or self.hearsay
        if target is None or target.architecture is None:
            return ()
        return tuple(hooks(target.architecture.value))

    @property
    def known_for(self) -> tuple[str, ...]:
        """Drafters that are said to be for this target."""
        return catalogue.drafters_for(self.subject.name) if self.look.is_model or self.hearsay else ()

    @property
    def copies(self) -> tuple[str, ...]:
        """Quantised copies of this target."""
        return catalogue.copies(self.subject.name) if self.look.is_model or self.hearsay else ()


def _number(drafter: Drafter, name: str) -> int | None:
    value = getattr(drafter, name, None)
    value = getattr(value, "value", value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _part(drafter: Eagle | BlockDrafter, symbols: dict[str, int], name: str) -> Part:
    tensor = drafter.canonical[name]
    if name == "fc.weight" and isinstance(drafter, Eagle) and drafter.generation == 1:
        shown, shape = "[H, 2H]", [symbols.get("H"), 2 * symbols.get("H", 0)]
    elif name == "fc.weight":
        shown, shape = "[H, K*Ht]", [symbols.get("H"), symbols.get("K", 0) * symbols.get("Ht", 0)]
    else:
        shown, shape = f"[{', '.join(_SYMBOLS[name])}]", [symbols.get(symbol) for symbol in _SYMBOLS[name]]
    known = all(shape)
    return Part(tensor=tensor, symbols=shown if known else "", fits=not known or list(tensor.shape) == shape)


def _needs(drafter: Eagle, config: Config | None, *, readable: bool) -> Iterator[str]:
    if drafter.generation == 1:
        yield "the target's last state, as wide as its own"
    else:
        states = f"{drafter.states} auxiliary states" if drafter.states else "auxiliary states"
        width = f", each {drafter.state_width} wide" if drafter.state_width else ""
        captured = boundaries(drafter)
        written = [f"{list(item.ids.value)} ({item.place})" for item in drafter.layer_ids]
        if captured:
            which = f": boundaries {captured.text}; {captured.depth}"
        elif written:
            which = f": layer ids {', '.join(written)}; which boundaries these are depends on the target's depth"
        else:
            which = ": it names no layers, so those of every trainer's default"
        yield f"{states} of the target{width}{which}"
    if readable:
        yield from _shared(drafter)
    switches = [name for name in _SWITCHES if config and (on := config.boolean(name)) and on.value]
    if switches:
        yield f"an engine that reads {', '.join(switches)}"


def _block_needs(drafter: BlockDrafter, *, readable: bool) -> Iterator[str]:
    states = f"{drafter.states} states" if drafter.states else "states"
    width = f", each {drafter.state_width} wide" if drafter.state_width else ""
    written = ", ".join(f"{list(item.ids.value)} ({item.place})" for item in drafter.layer_ids)
    yield f"{states} of the target{width}" + (f": {drafter.counts} of layers {written}" if written else "")
    if drafter.block_size:
        yield f"{drafter.block_size.value} tokens a block"
    if drafter.mask_token:
        yield f"the mask token {drafter.mask_token.value}"
    if readable:
        yield from _shared(drafter)


def _shared(drafter: Drafter) -> Iterator[str]:
    """Whose head and whose embedding."""
    head, embedding = ("lm_head.weight" in drafter.canonical, "embed_tokens.weight" in drafter.canonical)
    yield "its own head, which is in the file" if head else "a head: the file has none"
    yield "an embedding: its own is in the file" if embedding else "the target's embedding: the file has none"


def _map(drafter: Eagle | BlockDrafter, read: VocabMap) -> str:
    vocabulary = drafter.vocab_size.value if drafter.vocab_size else None
    if read.targets is None or read.d2t is None:
        rows = drafter.draft_vocab_size.value if drafter.draft_vocab_size else vocabulary
        whole = rows is not None and rows == vocabulary
        return "none: the whole vocabulary is drafted" if whole else "no d2t in the file"
    ids = set(read.targets)
    said = (
        f"d2t, {len(read.d2t)} entries that lead to {len(ids)} ids, {min(ids)} to {max(ids)}" if ids else "d2t, empty"
    )
    if ids and not any(read.d2t) and vocabulary and len(read.d2t) < vocabulary:
        said += ", all zero: a placeholder"
    if read.drafted is None:
        return f"{said}; no t2d"
    same = set(read.drafted) == ids
    return f"{said}; t2d {'has the same ids' if same else f'has {len(read.drafted)} ids, not the same'}"


def _known(world: World, method: str) -> bool:
    """True if this release has the method under that name."""
    names = world.facts[_METHODS[world.engine]].value
    if isinstance(names, Mapping):
        return any(run.endswith(world.basis) for run in names.get(method, "").split())
    return isinstance(names, tuple) and method in names


def _wanted(name: str, drafter: Drafter, spelled: str, target: str) -> Wanted:
    known = profile(name)
    world = worlds(known, known.newest)[-1]
    request = engine(name).needed(world, drafter.method, spelled, target)
    words = request.argv if request.method and _known(world, request.method.value) else ()
    # The target is whatever is served; it goes with the flag it stands behind, if it does.
    names = {index for index, word in enumerate(words) if word == target}
    spoken = names | {index - 1 for index in names if words[index - 1].startswith("-")}
    argv = tuple(word for index, word in enumerate(words) if index not in spoken)
    return Wanted(engine=name, version=str(known.newest), argv=argv)
