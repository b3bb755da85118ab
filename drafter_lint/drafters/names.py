"""Model names compared: whether two spellings mean the same trained weights, and what tells them apart.

Shapes cannot tell a dated refresh or a minor release from its predecessor; the names people publish under can. A name
is cut into words, and each word is one of: a family, a version, a size, a date stamp, a variant, a way of storing the
same weights, a drafting method, or a word we know nothing about. How the weights are stored, and who uploaded them,
makes no other model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from drafter_lint.findings import Confidence
from drafter_lint.reference import normalise

_FAMILIES = frozenset({
    "kimi", "deepseek", "llama", "qwen", "qwq", "gpt", "glm", "minimax", "gemma", "mistral", "mixtral", "vicuna",
    "phi", "ling", "ring", "longcat", "mimo", "step", "hunyuan", "hy", "ernie", "nemotron", "minicpm", "olmo", "olmoe",
    "granite", "internlm", "laguna", "inkling", "codellama", "starcoder", "yi", "falcon", "baichuan", "exaone",
    "ministral", "magistral", "devstral", "pangu", "seed", "command", "jamba", "smollm", "intern", "grok", "solar",
    "zephyr", "muse", "codestral", "pixtral", "bloom", "dbrx", "arctic", "trinity", "dots", "tinyllama", "lfm",
})  # fmt: skip
_VARIANTS = frozenset({
    "instruct", "base", "thinking", "reasoning", "coder", "vl", "omni", "next", "air", "flash", "pro", "mini", "max",
    "distill", "scout", "maverick", "nano", "super", "ultra", "small", "large", "medium", "exp", "speciale", "lite",
    "vision", "math", "linear", "lightning", "turbo", "terminus", "audio", "ocr", "guard", "safeguard", "embedding",
    "reranker", "reward", "oss", "nemo", "xs", "zero", "prover", "abliterated", "uncensored", "heretic",
})  # fmt: skip
_SYNONYMS = {"it": "instruct", "chat": "instruct", "code": "coder", "pt": "base", "gptoss": "gpt oss"}
# How the same weights are stored, and by which tool.
_STORAGE = re.compile(
    r"(?:nv|mx)?fp\d+(?:a\d+)?|nf4|e\dm\d|[ui]?int\d+(?:mix)?|bf16|f\d+|w\d+(?:a(?:fp)?\d+)?(?:kv\d+)?|kv\d+|awq|gptq(?:model)?"
    r"|exl\d|gguf|bnb|\d+bit|i?q\d|tq\d|qat|quanti[sz]ed|quant|unquantized|dynamic|static|autoround|autofp8|marlin"
    r"|torchao|mlx|dwq|hqq|eetq|aqlm|vptq|quip|compressed|[\d.]*bpw|imatrix|onnx|openvino|ggml|smoothquant"
)
# What such words are qualified with, where they stand behind one: NVFP4-v2, Q4_K_XL, W4A16-G128, FP8-Static-PerTensor.
_QUALIFIER = re.compile(
    r"v?\d+(?:\.\d+)?|gs?\d+|h\d+|[sml]|xxs|xs|xl|xxl|nl|kv|mix(?:ed)?|block\d*|channel|row|group|per|tensors?|token"
    r"|per(?:tensor|token|channel|block)|asym|sym|vortex"
)
# Who stores or serves them, and words that carry no identity. 4096 and its like are lengths, not dates.
_IDLE = re.compile(
    r"hf|model|models|llm|meta|nvidia|moe|preview|instruction|unsloth|ud|i1|block|channel|mixed|1024|2048|4096|8192"
    r"|16384|32768|[a-z]"
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
# A version in a name that may hold no dots: llama-3-1-8b, kimi-k2-5, deepseek-v3p2.
_UNDOTTED = re.compile(r"(?<![\w.])([a-z]*\d{1,2})(?:-(\d)(?=-|$)|p(\d+)(?=-|$))")
_SPLIT = re.compile(r"[^a-z0-9.]+|(?<!\d)\.|\.(?!\d)")

Kind = Literal["family", "version", "size", "date", "variant", "storage", "method", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A model name, cut into words by what they mean.

    Attributes:
        owner: who published it under this name, "" if the name does not say.
        storage: words for how the weights are stored; they make no other model.
        methods: words for a drafting method, its trainer or its packaging.
        others: words nobody here knows: a fine-tune, or a partner's name.
    """

    owner: str
    families: frozenset[str]
    versions: frozenset[str]
    sizes: frozenset[str]
    dates: frozenset[str]
    variants: frozenset[str]
    storage: frozenset[str]
    methods: frozenset[str]
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
    return _parts(spelling)[1]


def _parts(spelling: str) -> tuple[str, str]:
    text = spelling.strip().removeprefix("hf://").removeprefix("hf:").split("@")[0].rstrip("/\\")
    cached = re.search(r"models--([^/\\]*?)--([^/\\]+)", text)
    if cached:
        return cached[1], cached[2]
    owner, _, name = text.rpartition("/")
    return (owner if re.fullmatch(r"[\w-][\w.-]*", owner) else ""), re.split(r"[/\\]", name)[-1]


@lru_cache(maxsize=4096)
def parse_name(spelling: str) -> Name:
    """Cut a name into words and sort them by meaning."""
    owner, name = _parts(spelling)
    found: dict[Kind, set[str]] = {kind: set() for kind in _KINDS}
    stored = False
    for word in _words(name):
        kind = _kind(word, stored=stored)
        if kind is None:
            continue
        found[kind].add(word)
        stored = kind == "storage" or (stored and kind not in {"family", "size", "variant"})
    if "kimi" in found["family"] and any(version > "k2" for version in found["version"]):
        found["variant"].discard("thinking")  # one model from K2.5 on: nvidia's drafter is called Kimi-K2.5-Thinking
    return Name(
        owner=owner,
        families=frozenset(found["family"]),
        versions=frozenset(found["version"]),
        sizes=frozenset(found["size"]),
        dates=frozenset(found["date"]),
        variants=frozenset(found["variant"]),
        storage=frozenset(found["storage"]),
        methods=frozenset(found["method"]),
        others=frozenset(found["other"]),
    )


_KINDS: tuple[Kind, ...] = ("family", "version", "size", "date", "variant", "storage", "method", "other")


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
        hinted: True if ``claimed`` comes from a drafter's own name, which may leave out a date stamp and "Instruct". An
            id of the Hub is exact, a path may leave out "Instruct" too.
        folder: True if ``served`` is a folder's name, which may leave out any variant.
    """
    theirs, ours = parse_name(claimed), parse_name(served)
    if normalise(basename(claimed)) == normalise(basename(served)):
        return Comparison(same=True, reason="")
    if not theirs.families or not ours.families:
        return Comparison(None, f"{claimed!r} and {served!r} cannot be compared")
    if conflict := _conflict(theirs, ours):
        return conflict
    extra = (theirs.dates | theirs.variants) - ours.dates - ours.variants
    lacking = (ours.dates | ours.variants) - theirs.dates - theirs.variants
    if hinted or not theirs.owner:
        lacking -= {"instruct"}
    if lacking or (extra and not folder):
        undated = hinted and not extra and lacking <= ours.dates
        # Nobody stores a base model in four bits to serve it: such a name has left "Instruct" out.
        left_out = (extra, lacking, ours.storage) if extra else (lacking, extra, theirs.storage)
        shortened = left_out[0] == {"instruct"} and not left_out[1] and bool(left_out[2])
        return _differ("variant", extra, lacking, Confidence.POSSIBLE if undated or shortened else Confidence.LIKELY)
    if foreign := _added(ours, theirs):
        return Comparison(False, f"the target's name adds {_shown(foreign)}", Confidence.POSSIBLE)
    if not hinted and (foreign := _added(theirs, ours)):
        return Comparison(False, f"the target's name lacks {_shown(foreign)}", Confidence.POSSIBLE)
    return Comparison(same=True, reason="")


def _conflict(theirs: Name, ours: Name) -> Comparison | None:
    """Words of one kind that exclude each other, None if there are none."""
    for what, left, right in (
        ("family", theirs.families, ours.families),
        ("version", theirs.versions, ours.versions),
        ("size", theirs.sizes, ours.sizes),
    ):
        if left - right and right - left:
            return _differ(what, left, right)
    return None


def _added(one: Name, other: Name) -> frozenset[str]:
    """Words of a name that another one lacks: a fine-tune, or a partner."""
    added = (one.others - other.others) | (one.families - other.families)
    return added | (one.versions - other.versions) if other.versions else added


def contradict(one: str, other: str, *, hinted: bool = False) -> Comparison:
    """Compare two claims about one drafter.

    Args:
        one: a claimed target.
        other: another one.
        hinted: True if ``other`` is a name that may leave words out, such as a drafter's own.

    Returns:
        ``same`` is False only if each name has a word that the other one excludes.
    """
    forth = same_model(one, other)
    back = same_model(other, one, hinted=hinted)
    if None in (forth.same, back.same):
        return forth if forth.same is None else back
    if forth.same or back.same:
        return Comparison(same=True, reason="")
    theirs, ours = parse_name(one), parse_name(other)
    adds = (ours.dates | ours.variants) - theirs.dates - theirs.variants
    if hinted and not adds and not _conflict(theirs, ours):
        return Comparison(same=True, reason="")  # the shorter name says nothing else; words nobody knows are partners'
    return forth if forth.confidence.rank <= back.confidence.rank else back


def _differ(
    what: str, claimed: frozenset[str], served: frozenset[str], confidence: Confidence = Confidence.LIKELY
) -> Comparison:
    reason = f"{what} {_shown(claimed) or 'not named'} against {_shown(served) or 'not named'}"
    return Comparison(same=False, reason=reason, confidence=confidence)


def _shown(words: set[str] | frozenset[str]) -> str:
    return " ".join(sorted(words))


def _kind(word: str, *, stored: bool) -> Kind | None:
    """What a word is; ``stored``: it stands behind one that says how the weights are stored."""
    if word in _FAMILIES:
        return "family"
    if _STORAGE.fullmatch(word) or (stored and _QUALIFIER.fullmatch(word)):
        return "storage"
    if word in _VARIANTS:
        return "variant"
    if _METHODS.fullmatch(word):
        return "method"
    if _IDLE.fullmatch(word):
        return None
    if _SIZE.fullmatch(word):
        return "size"
    if _DATE.fullmatch(word):
        return "date"
    return "version" if _VERSION.fullmatch(word) else "other"


def _words(name: str) -> list[str]:
    text = re.sub(r"\bminimax-?m(?=\d)", "minimax-m", normalise(name))
    text = re.sub(r"\b(?:ds|deepseek)-?(?=[vr]\d)", "deepseek-", text)
    text = _UNDOTTED.sub(lambda found: f"{found[1]}.{found[2] or found[3]}", text)
    found: list[str] = []
    for part in _SPLIT.split(text):
        glued = _GLUED.fullmatch(part)
        whole = glued is None or _METHODS.fullmatch(part) or _STORAGE.fullmatch(part)
        for word in (part,) if whole or glued is None else glued.groups():
            plain = re.sub(r"^v(?=\d)", "", word).strip(".")
            plain = re.sub(r"(?<=\d)\.0$", "", plain)
            found += _SYNONYMS.get(plain, plain).split()
    return found
