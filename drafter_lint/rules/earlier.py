"""Causes that the rules about files, pair and vocabulary tell of, and the refusals that follow from them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from drafter_lint.checkpoint import Config
from drafter_lint.drafters import BlockDrafter, Drafter, Eagle
from drafter_lint.engines.plan import Refusal, RefusalKind
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.rules.files.dfl104_config_invalid import invalid
from drafter_lint.rules.vocabulary.drafted import Fault, drafted_rows, drafted_vocabulary
from drafter_lint.scope import Deployment
from drafter_lint.targets import Target

HEAD = "lm_head.weight"
_LAYER = re.compile(r"(?:^|\.)layers\.(\d+)\.")
#: How engines that build head and map for the whole vocabulary refuse the reduced ones.
_BUILT = {RefusalKind.TENSOR_SHAPE, RefusalKind.TENSOR_UNEXPECTED}
#: How engines refuse a field of the wrong kind.
_READS = {RefusalKind.CONFIG_FIELD, RefusalKind.ARCHITECTURE_UNREGISTERED}
#: How engines refuse a broken map, and what is wrong with it then.
_FOLLOWS_FROM: dict[RefusalKind, frozenset[Fault]] = {
    RefusalKind.TENSOR_REQUIRED: frozenset({"d2t-missing"}),
    RefusalKind.TENSOR_SHAPE: frozenset({"d2t-length"}),
    RefusalKind.VOCABULARY: frozenset({"d2t-dtype", "d2t-absolute", "d2t-token-map", "d2t-out-of-range"}),
}


def told_before(at: Deployment[Drafter], refusal: Refusal) -> str | None:
    """The rule that tells the cause of a refusal from the files or the pair; None if none does."""
    drafter = at.drafter
    if refusal.kind is RefusalKind.WEIGHTS_MISSING:
        return _unreadable(drafter)
    if name := _config(drafter, refusal):
        return name
    if isinstance(drafter, BlockDrafter):
        return _block(at, drafter, refusal)
    if not isinstance(drafter, Eagle):
        return None
    if refusal.kind is RefusalKind.STATE_WIDTH and widths_at_odds(drafter, at.target):
        return "hidden-size"
    if refusal.kind is RefusalKind.TENSOR_UNEXPECTED and refusal.tensors:
        further = further_layers(drafter)
        if further and set(refusal.tensors) <= further:
            return "declared-layers-absent"
    return _vocabulary(at, drafter, refusal)


def _block(at: Deployment[Drafter], drafter: BlockDrafter, refusal: Refusal) -> str | None:
    """What hidden-size and fc-input-width have told of a block drafter."""
    kind, fc, width = refusal.kind, drafter.fc, at.target.hidden_size
    if kind is RefusalKind.STATE_WIDTH and widths_at_odds(drafter, at.target):
        return "hidden-size"
    named = len(drafter.layer_ids[0].ids.value) if drafter.layer_ids else 0
    if fc is None or width is None or not named or len(fc.shape) != 2 or drafter.state_width != width.value:
        return None
    about_fc = kind is RefusalKind.TENSOR_SHAPE and refusal.tensors == (fc.name,)
    return "fc-input-width" if about_fc and fc.shape[1] != named * width.value else None


def _config(drafter: Drafter, refusal: Refusal) -> str | None:
    """What config-not-json and config-invalid have told of the drafter's config."""
    document = drafter.checkpoint.config.document
    if refusal.kind is RefusalKind.CONFIG_UNREADABLE and document.problems and not document.root:
        return "config-not-json"
    if refusal.kind in _READS and isinstance(drafter, (Eagle, BlockDrafter)):
        wrong = {place.pointer for found in invalid(drafter) for place in found.locations[:1]}
        if any(place.role == "drafter" and place.pointer in wrong for place in refusal.locations):
            return "config-invalid"
    return None


def _unreadable(drafter: Drafter) -> str | None:
    """The rule on the trouble that keeps the weights from being read, where it calls that a refusal itself."""
    try:
        _ = drafter.checkpoint.tensors
    except Unavailable as trouble:
        told = {
            Trouble.MISSING: "weights-missing-files",
            Trouble.MALFORMED: "header-malformed",
            Trouble.LFS_POINTER: "lfs-pointer",
        }
        return told.get(trouble.trouble)
    return None


def widths_at_odds(drafter: Eagle | BlockDrafter, target: Target) -> bool:
    """True if the drafter was built for states of another width than the target's."""
    width = drafter.state_width
    return width is not None and target.hidden_size is not None and width != target.hidden_size.value


def files_absent(drafter: Drafter) -> bool:
    """True if the index names files that are not there: then no tensor is known to be missing."""
    try:
        return bool(drafter.checkpoint.tensors.missing_files)
    except Unavailable:
        return False


def layers_at_odds(drafter: Drafter) -> bool:
    """True if the config declares another number of layers than the file has: told by declared-layers-absent."""
    declared = drafter.num_layers
    return declared is not None and bool(drafter.layers_in_file) and declared.value != drafter.layers_in_file


def absent_layers(drafter: Eagle, names: Iterable[str]) -> frozenset[str]:
    """The parameters among ``names`` of layers that the config declares and the file does not have."""
    return frozenset(beyond(names, drafter.layers_in_file)) if layers_at_odds(drafter) else frozenset()


def further_layers(drafter: Eagle) -> frozenset[str]:
    """The tensors, as written, of layers that the file has and the config does not declare."""
    declared = drafter.num_layers
    if declared is None or declared.value < 1 or not layers_at_odds(drafter):
        return frozenset()
    names = {canonical: tensor.name for canonical, tensor in drafter.canonical.items()}
    return frozenset(names[name] for name in beyond(names, declared.value))


def beyond(names: Iterable[str], layers: int) -> tuple[str, ...]:
    """The names that belong to a layer of a number too high for so many layers."""
    found = ((name, _LAYER.search(name)) for name in names)
    return tuple(name for name, match in found if match and int(match[1]) >= layers)


def _vocabulary(at: Deployment[Drafter], drafter: Eagle, refusal: Refusal) -> str | None:
    table, head = drafter.canonical.get("d2t"), drafter.canonical.get(HEAD)
    tensors = set(refusal.tensors) | {place.tensor for place in refusal.locations[:1] if place.tensor}
    about_map = "d2t" in tensors or (table is not None and table.name in tensors)
    about_head = head is not None and head.name in tensors
    kind = refusal.kind
    if kind is RefusalKind.CONFIG_FIELD:
        about_declaration = any((place.pointer or "").endswith("/draft_vocab_size") for place in refusal.locations)
    else:
        about_declaration = kind in _BUILT and (about_map or about_head)
    if about_declaration and undeclared(drafter, at.target):
        return "config-invalid" if misspelt(drafter.checkpoint.config) else "draft-vocab-undeclared"
    if kind is RefusalKind.TENSOR_SHAPE and (about_map or about_head) and rows_at_odds(drafter):
        return "head-rows"
    if kind not in _FOLLOWS_FROM or not about_map:
        return None
    if "dtype" in refusal.measured:
        return "d2t-dtype"
    drafted = drafted_vocabulary(drafter, at.target)
    return drafted.fault if drafted and drafted.fault in _FOLLOWS_FROM[kind] else None


def rows_at_odds(drafter: Eagle) -> bool:
    """True if the head has another number of rows than the config declares."""
    head, declared = drafter.canonical.get(HEAD), drafter.draft_vocab_size
    return head is not None and declared is not None and len(head.shape) == 2 and head.shape[0] != declared.value


def undeclared(drafter: Eagle, target: Target | None) -> bool:
    """True if the drafted vocabulary is reduced and ``draft_vocab_size`` does not say so."""
    declared = drafter.draft_vocab_size
    if drafter.generation != 3 or (declared and (declared.at.pointer or "").endswith("/draft_vocab_size")):
        return False
    rows, own = drafted_rows(drafter), drafter.vocab_size
    if rows is None or own is None or rows == own.value:  # a config that cannot be read declares nothing at all
        return False
    return rows < (target.vocab_size.value if target and target.vocab_size else own.value)


def misspelt(config: Config) -> bool:
    """True if ``draft_vocab_size`` is there and is no number: told by config-invalid."""
    written = config.raw("draft_vocab_size")
    return written is not None and written.value is not None and config.integer("draft_vocab_size") is None
