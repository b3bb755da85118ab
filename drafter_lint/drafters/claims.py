"""Which target a drafter says it was trained for: every claim in its config, its card and its name, with its place."""

from __future__ import annotations

from collections.abc import Iterator

from drafter_lint.checkpoint import Checkpoint, Config
from drafter_lint.drafters.model import Claim
from drafter_lint.drafters.names import contradict, names_a_drafter, names_a_model, parse_name
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Located, Location

OWN_NAME = "its own name"
#: A card that names more models than this is about no single one.
_MENTIONS = 64
_ORDER = ("stated", "named", "told")
#: Fields made for naming the verifier: speculators; DeepSpec and DFlash trainers; Medusa.
_STATED = (
    ("speculators_config", "verifier", "name_or_path"),
    ("target_model_name_or_path",),
    ("base_model_name_or_path",),
)


def claims(checkpoint: Checkpoint, config: Config | None) -> tuple[Claim, ...]:
    """Every claim, the strongest first; total: what cannot be read claims nothing."""
    found = [*_configured(config), *_card(checkpoint), *_named(checkpoint), *_copied(config), *_told(checkpoint)]
    return tuple(sorted(found, key=lambda claim: _ORDER.index(claim.strength)))


def _configured(config: Config | None) -> Iterator[Claim]:
    for keys in _STATED:
        value = config.string(*keys) if config else None
        if value and value.value.strip():
            yield Claim(value, ".".join(keys), "stated")


def _card(checkpoint: Checkpoint) -> Iterator[Claim]:
    try:
        bases, listed = checkpoint.card_front_matter, checkpoint.card_target
    except Unavailable:
        return
    for base in bases:
        # A drafter tuned further from a drafter names that one; it says nothing of the target.
        if not names_a_drafter(base.value):
            yield Claim(base, "model card base_model", "stated")
    # An id only: the stated target is also what is opened where nobody names one.
    if listed and parse_name(listed.value).owner and _names_one(listed.value) and not names_a_drafter(listed.value):
        yield Claim(listed, "the verifier its card lists", "stated")


def _named(checkpoint: Checkpoint) -> Iterator[Claim]:
    name = checkpoint.reference.name
    # PARD drafters are small models of their own and are named after themselves, not after a target.
    if not names_a_drafter(name) or not names_a_model(name) or "pard" in name.lower():
        return
    try:
        subject = checkpoint.subject
    except Unavailable:
        subject = name
    place = Location(role=checkpoint.role, subject=subject, label="its name")
    yield Claim(Located(name, place), OWN_NAME, "named")


def _copied(config: Config | None) -> Iterator[Claim]:
    """``_name_or_path``: left over from the config a trainer started from, often the target's."""
    value = config.string("_name_or_path") if config else None
    if value and names_a_model(value.value) and not names_a_drafter(value.value):
        yield Claim(value, "_name_or_path", "told")


def _names_one(text: str) -> bool:
    """True for a model, not for a family alone: prose speaks of "the Llama architecture"."""
    name = parse_name(text)
    return bool(name.families and (name.versions or name.sizes))


def _told(checkpoint: Checkpoint) -> Iterator[Claim]:
    """What the card's text says, unless it speaks of several models: nobody can tell then which one is meant."""
    try:
        mentioned = checkpoint.card_mentions
    except Unavailable:
        return
    models = [item for item in mentioned[:_MENTIONS] if _names_one(item.value) and not names_a_drafter(item.value)]
    if models and not any(contradict(models[0].value, item.value).same is False for item in models[1:]):
        yield Claim(models[0], "the text of its card", "told")
