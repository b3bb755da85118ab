"""Opening the drafter's config: whether transformers reads it, which class it becomes, and the context it is given."""

from __future__ import annotations

from drafter_lint.checkpoint import Config
from drafter_lint.engines.plan import RefusalKind, Stage
from drafter_lint.engines.sglang.fields import Fields
from drafter_lint.engines.sglang.notes import Notes
from drafter_lint.engines.sglang.tables import entry, has, sure
from drafter_lint.facts import World
from drafter_lint.findings import Confidence, Located, Location
from drafter_lint.launch import LaunchRequest
from drafter_lint.targets import Target

#: Model types every transformers from 4.51 to 5.19 knows and drafters carry.
_TRANSFORMERS = frozenset(
    (
        *(
            "llama",
            "llama4",
            "llama4_text",
            "qwen2",
            "qwen2_moe",
            "qwen2_vl",
            "qwen2_vl_text",
            "qwen2_5_vl",
            "qwen2_5_vl_text",
        ),
        *("qwen3", "qwen3_moe", "mistral", "mistral3", "mixtral", "deepseek_v3", "gemma", "gemma2", "gemma3"),
        *("gemma3_text", "phi", "phi3", "phimoe", "gpt2", "gpt_neox", "gptj", "gpt_bigcode", "opt"),
        *("bloom", "falcon", "mpt", "mamba", "mamba2", "jamba", "cohere", "cohere2", "granite"),
        *("granitemoe", "olmo", "olmo2", "olmoe", "starcoder2", "stablelm", "glm", "glm4", "nemotron"),
        *("persimmon", "codegen", "xglm", "bert", "roberta", "t5", "bart", "helium", "zamba"),
        *("zamba2", "bamba", "aria", "diffllama", "moshi"),
    )
)
#: Words in a model type or an architecture that no transformers has; a name with one is refused for certain.
_FOREIGN = ("eagle", "specul", "medusa", "draft", "dflash", "dspark", "hydra", "mtp", "nextn")
_OVERWRITE = "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"
_FALSE = {"0", "false", "no", "n", "off", ""}


def readable(world: World, config: Config, request: LaunchRequest, notes: Notes) -> bool:
    """Whether AutoConfig takes the file; the refusals are written down."""
    early = world.flag("algorithm.reads-drafter-config")
    stage: Stage = "arguments" if early else "config"
    if early:
        notes.step("config", "the drafter's config is read with the arguments", "algorithm.reads-drafter-config")
    written = config.raw("model_type")
    where = ("config.unreadable", "algorithm.reads-drafter-config")
    if config.document.problems and not config.value:
        says = "config.json of the drafter cannot be read"
        notes.refuse(RefusalKind.CONFIG_UNREADABLE, stage, says, *where, at=(config.at(),))
        return False
    if written is None or not isinstance(written.value, str) or not written.value:
        layout = " (a speculators config)" if config.has("speculators_config") else ""
        says = f"config.json of the drafter has no model_type{layout}"
        notes.refuse(RefusalKind.CONFIG_UNREADABLE, stage, says, *where, at=(config.at("model_type"),))
        return False
    return _known_type(world, Located(written.value, written.at), stage, notes, remote=_remote(config, request))


def reads_type(world: World, name: str) -> bool:
    """True if this release, or every transformers it runs with, has a configuration class for a model_type."""
    return name in _TRANSFORMERS or has(world, "config.own-model-types", name)


def _known_type(world: World, written: Located[str], stage: Stage, notes: Notes, *, remote: bool) -> bool:
    name = written.value
    if reads_type(world, name):
        return True
    if name == "kimi_k2" and world.flag("draft.kimi-k2-model-type"):
        return True
    if remote:
        notes.step("config", f"model_type {name} is read by the code it ships", "config.remote-code", at=written.at)
        return True
    if name == "kimi_k2" or any(word in name.lower() for word in _FOREIGN):
        says = f"model_type {name} is unknown to SGLang {world.version} and to transformers"
        where = ("config.unreadable", "draft.kimi-k2-model-type")
        notes.refuse(RefusalKind.CONFIG_UNREADABLE, stage, says, *where, at=(written.at,))
        return False
    says = f"whether transformers knows model_type {name} depends on its release"
    notes.step("config", says, "config.unreadable", at=written.at)
    return True


def _remote(config: Config, request: LaunchRequest) -> bool:
    return config.has("auto_map") and "--trust-remote-code" in request.options


def architecture(world: World, config: Config, notes: Notes) -> Located[str] | None:
    """``architectures[0]`` after the rewriting of checkpoints opened as drafters."""
    names = config.strings("architectures")
    if names is None or not names.value:
        says = "config.json of the drafter names no architecture"
        where = ("config.architectures-missing",)
        notes.refuse(RefusalKind.CONFIG_FIELD, "config", says, *where, at=(config.at("architectures"),))
        return None
    written = names.value[0]
    rewritten = entry(world, "draft.rewrites", written)
    if rewritten:
        says = f"{written} opened as a drafter becomes {rewritten}"
        notes.step("architecture", says, "draft.rewrites", at=names.at)
        return Located(rewritten, names.at)
    notes.step("architecture", f"{written} stays as written", "draft.rewrites", at=names.at)
    return Located(written, names.at)


def draft_class(world: World, name: Located[str], config: Config, request: LaunchRequest, notes: Notes) -> str | None:
    """The engine's class of that name, None if it has none."""
    if has(world, "models.registered", name.value):
        notes.step("class", f"{name.value} is a class of SGLang", "models.registered", at=name.at)
        return name.value
    if _remote(config, request):
        notes.step("class", f"{name.value} is no class of SGLang; the code it ships may be", "config.remote-code")
        return None
    says = f"architecture {name.value} is none of SGLang {world.version}"
    notes.refuse(
        RefusalKind.ARCHITECTURE_UNREGISTERED,
        "config",
        says,
        "models.registered",
        "config.architecture-unknown",
        at=(name.at,),
        confidence=sure(certain=any(word in name.value.lower() for word in (*_FOREIGN, "aux"))),
    )
    return None


def context(world: World, fields: Fields, target: Target, request: LaunchRequest, notes: Notes) -> None:
    """The drafter is given the context length of the target, or the one asked for."""
    asked = request.context_length
    served_at: Location | None
    if asked is not None:
        served, served_at = asked.value, asked.at
    else:
        served = Fields(target.text, fields.overrides).context
        served_at = target.max_position_embeddings.at if target.max_position_embeddings else target.text.at()
    own = fields.context
    if served <= own:
        return
    variable = request.environment.get(_OVERWRITE)
    refused = world.text("draft.context-longer") == "refused"
    allowed = variable.value.lower() not in _FALSE if variable else not refused
    if allowed:
        notes.step("context", f"the drafter is run at {served} tokens instead of its {own}", "draft.context-longer")
        return
    says = f"the drafter's context of {own} tokens is shorter than the {served} it is to be run at"
    at = (fields.at("max_position_embeddings", label=f"{own} tokens"), served_at.saying(f"{served} tokens"))
    scaled = bool(fields.nested("rope_scaling"))
    notes.refuse(
        RefusalKind.CONTEXT,
        "load",
        says,
        "draft.context-longer",
        at=at,
        measured={"drafter": own, "served": served},
        confidence=Confidence.LIKELY if scaled else Confidence.CERTAIN,
    )
