"""Model names compared: whether two spellings mean the same trained weights, and what tells them apart.

Shapes cannot tell a dated refresh or a minor release from its predecessor; the names people publish under can. A name
is cut into words, and each word is one of: a family, a version, a size, a date stamp, a variant, a way of storing the
same weights (which is dropped), a drafting method (dropped too), or a word we know nothing about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from drafter_lint.findings import Confidence
from drafter_lint.reference import normalise

_FAMILIES = frozenset({
    "kimi", "deepseek", "llama", "qwen", "qwq", "gpt", "glm", "minimax", "gemma", "mistral", "mixtral", "vicuna",
    "phi", "ling", "ring", "longcat", "mimo", "step", "hunyuan", "hy", "ernie", "nemotron", "minicpm", "olmo",
    "granite", "internlm", "laguna", "inkling", "codellama", "starcoder", "yi", "falcon", "baichuan", "exaone",
    "ministral", "magistral", "devstral", "pangu", "seed", "command", "jamba", "smollm", "intern", "grok", "solar",
})  # fmt: skip
_VARIANTS = frozenset({
    "instruct", "base", "thinking", "reasoning", "coder", "vl", "omni", "next", "air", "flash", "pro", "mini", "max",
    "distill", "scout", "maverick", "nano", "super", "ultra", "small", "large", "medium", "exp", "speciale", "lite",
    "vision", "math", "linear", "lightning", "turbo", "terminus", "audio", "ocr", "guard", "embedding", "reward",
    "oss", "nemo", "xs",
})  # fmt: skip
_SYNONYMS = {"it": "instruct", "chat": "instruct", "code": "coder", "pt": "base", "gptoss": "gpt oss"}
# How the same weights are stored, where a mirror keeps them, and words that carry no identity.
_STORAGE = re.compile(
    r"(?:nv|mx)?fp\d+|[ui]?int\d+|bf16|f\d+|w\d+(?:a(?:fp)?\d+)?(?:kv\d+)?|kv\d+|awq|gptq|exl\d|gguf|bnb|\d+bit|q\d|qat"
    r"|quanti[sz]ed|quant|unquantized|dynamic|static|block|channel|autoround|autofp8|mixed|marlin|torchao|mlx|hf"
    r"|model|models|llm|meta|nvidia|moe|preview|instruction|[a-z]"
)
_METHODS = re.compile(
    r"eagle\d?(?:\.\d)?|eagle|specul\w*|spec|specforge|forge|sglang|vllm|dflash\d?|dspark|medusa\d?|hydra|assistant"
    r"|mtp|nextn|pard|hass|accelerator|draft(?:er)?|peagle|ttt\d+|block\d+|mla|gqa|converted|head|b\d+|xpress|domino"
)
_MARKER = re.compile(r"eagle|specul|dflash|dspark|medusa|hydra|assistant|nextn|pard|accelerator|draft|hass|mtp|ttt\d")
_SIZE = re.compile(r"[ae]?\d+(?:\.\d+)?[bmt]|\d+e|\d+x\d+b")
_DATE = re.compile(r"\d{4}(?:\d{2})?")
_VERSION = re.compile(r"[a-z]?\d+(?:\.\d+)*")
_GLUED = re.compile(r"([a-z]{3,})(\d[\w.]*)")
_SPLIT = re.compile(r"[^a-z0-9.]+|(?<!\d)\.|\.(?!\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A model name, cut into words by what they mean."""

    families: frozenset[str]
    versions: frozenset[str]
    sizes: frozenset[str]
    dates: frozenset[str]
    variants: frozenset[str]
    others: frozenset[str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether two names mean the same trained weights.

    Attributes:
        same: None if the names do not allow a judgement.
        reason: what tells them apart, or why they cannot be compared.
        confidence: how sure a difference is.
    """

    same: bool | None
    reason: str
    confidence: Confidence = Confidence.LIKELY


def basename(spelling: str) -> str:
    """The model's own part of an id, an address, a path or a folder of the Hub's cache."""
    text = spelling.strip().removeprefix("hf://").removeprefix("hf:").split("@")[0].rstrip("/\\")
    cached = re.search(r"models--[^/\\]*?--([^/\\]+)", text)
    return cached[1] if cached else re.split(r"[/\\]", text)[-1]


def parse_name(spelling: str) -> Name:
    """Cut a name into words and sort them by meaning."""
    kinds: dict[str, set[str]] = {key: set() for key in ("family", "version", "size", "date", "variant", "other")}
    for word in _words(basename(spelling)):
        kind = _kind(word)
        if kind is not None:
            kinds[kind].add(word)
    if "kimi" in kinds["family"] and any(version > "k2" for version in kinds["version"]):
        kinds["variant"].discard("thinking")  # one model from K2.5 on: nvidia's drafter is called Kimi-K2.5-Thinking
    return Name(
        families=frozenset(kinds["family"]),
        versions=frozenset(kinds["version"]),
        sizes=frozenset(kinds["size"]),
        dates=frozenset(kinds["date"]),
        variants=frozenset(kinds["variant"]),
        others=frozenset(kinds["other"]),
    )


def names_a_drafter(spelling: str) -> bool:
    """True if the name carries the name of a drafting method."""
    return bool(_MARKER.search(basename(spelling).lower()))


def names_a_model(spelling: str) -> bool:
    """True if the name contains a model family we know, so that it can be compared at all."""
    return bool(parse_name(spelling).families)


def same_model(claimed: str, served: str, *, hinted: bool = False, folder: bool = False) -> Comparison:
    """Compare a claimed target with the one served.

    Args:
        claimed: the target a drafter says it was trained for.
        served: the target at hand.
        hinted: True if ``claimed`` comes from a drafter's own name, which may leave out a date stamp.
        folder: True if ``served`` is a folder's name, which may leave out any variant.
    """
    theirs, ours = parse_name(claimed), parse_name(served)
    if not theirs.families or not ours.families:
        return Comparison(None, f"{claimed!r} and {served!r} cannot be compared")
    if not theirs.families & ours.families:
        return _differ("family", theirs.families, ours.families)
    for what, left, right in (("version", theirs.versions, ours.versions), ("size", theirs.sizes, ours.sizes)):
        if left - right and right - left:
            return _differ(what, left, right)
    extra = (theirs.dates | theirs.variants) - ours.dates - ours.variants
    lacking = (ours.dates | ours.variants) - theirs.dates - theirs.variants - {"instruct"}
    if lacking or (extra and not folder):
        undated = hinted and not extra and lacking <= ours.dates
        return _differ("variant", extra, lacking, Confidence.POSSIBLE if undated else Confidence.LIKELY)
    if foreign := (ours.others - theirs.others) | (ours.versions - theirs.versions if theirs.versions else set()):
        return Comparison(
            same=False, reason=f"the target's name adds {_shown(foreign)}", confidence=Confidence.POSSIBLE
        )
    return Comparison(same=True, reason="")


def _differ(
    what: str, claimed: frozenset[str], served: frozenset[str], confidence: Confidence = Confidence.LIKELY
) -> Comparison:
    reason = f"{what} {_shown(claimed) or 'not named'} against {_shown(served) or 'not named'}"
    return Comparison(same=False, reason=reason, confidence=confidence)


def _shown(words: set[str] | frozenset[str]) -> str:
    return " ".join(sorted(words))


Kind = Literal["family", "version", "size", "date", "variant", "other"]


def _kind(word: str) -> Kind | None:
    if word in _FAMILIES:
        return "family"
    if word in _VARIANTS:
        return "variant"
    if _METHODS.fullmatch(word) or _STORAGE.fullmatch(word):
        return None
    if _SIZE.fullmatch(word):
        return "size"
    if _DATE.fullmatch(word):
        return "date"
    return "version" if _VERSION.fullmatch(word) else "other"


def _words(name: str) -> list[str]:
    text = re.sub(r"\bminimax-?m(?=\d)", "minimax-m", normalise(name))
    text = re.sub(r"\b(?:ds|deepseek)-?(?=[vr]\d)", "deepseek-", text)
    found: list[str] = []
    for part in _SPLIT.split(text):
        glued = _GLUED.fullmatch(part)
        whole = glued is None or _METHODS.fullmatch(part) or _STORAGE.fullmatch(part)
        for word in (part,) if whole or glued is None else glued.groups():
            plain = re.sub(r"^v(?=\d)", "", word).strip(".")
            plain = re.sub(r"(?<=\d)\.0$", "", plain)
            found += _SYNONYMS.get(plain, plain).split()
    return found
