"""The drafter's configuration as vLLM has it once its own readers and rewrites are through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from drafter_lint.checkpoint import Config
from drafter_lint.checkpoint.text import text_config
from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.vllm import speculators, timeline
from drafter_lint.engines.vllm.case import Case
from drafter_lint.findings import Confidence, Located, Location


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What ``hf_config`` holds.

    Attributes:
        raw: config.json.
        layers: where the decoder layer's fields stand: ``raw``, or the layer config of the speculators layout.
        added: keys the speculators reader puts beside them; None stands for a null.
        speculators: the speculators type, "" in every other layout.
        model_type: after the rewrite.
        architecture: after the rewrite, before EAGLEConfig; None if there is none.
        n_predict: set by the rewrite, or by config.json.
        defaults: what the configuration class fills in.
    """

    raw: Config
    layers: Config
    added: Mapping[str, Located[object]] = field(default_factory=dict)
    speculators: str = ""
    model_type: str = ""
    architecture: Located[str] | None = None
    n_predict: int | None = None
    defaults: Mapping[str, str] = field(default_factory=dict)

    def get(self, key: str) -> Located[object] | None:
        """A value with its place; None if the key is absent."""
        return self.added[key] if key in self.added else self.layers.raw(key)

    def at(self, key: str, label: str = "") -> Location:
        """The place of a key, or of where it would stand."""
        found = self.get(key)
        return found.at.saying(label) if found else self.layers.at(key, label=label)

    def integer(self, key: str) -> int | None:
        """An integer: as written, else as the configuration class fills it in; None if something else is written."""
        found = self.get(key)
        if found is None or found.value is None:
            return self._default(key)
        return found.value if isinstance(found.value, int) and not isinstance(found.value, bool) else None

    def flag(self, key: str) -> bool:
        """Python's truth of a value; False if the key is absent."""
        found = self.get(key)
        return bool(found.value) if found else False

    def eagle_config(self) -> Mapping[str, object]:
        """The nested ``eagle_config``, empty if it is no object."""
        found = self.get("eagle_config")
        return found.value if found and isinstance(found.value, dict) else {}

    def ids(self, *keys: str) -> Located[tuple[int, ...]] | None:
        """A non-empty list of integers, wherever it may stand (``eagle_config`` first, then the key inside)."""
        value: object = self.get(keys[0])
        value = value.value if isinstance(value, Located) else None
        for key in keys[1:]:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, list) and value and all(isinstance(item, int) for item in value):
            made = len(keys) == 1 or keys[0] in self.added
            place = self.at(keys[0]) if made else self.layers.at(*keys)
            return Located(tuple(int(item) for item in value), place)
        return None

    def _default(self, key: str) -> int | None:
        text = self.defaults.get(key)
        if text is None:
            return None
        top, slash, bottom = text.partition("/")
        if slash:
            whole, part = self.integer(top), self.integer(bottom)
            return whole // part if whole and part else None
        return int(text) if text.isdigit() else self.integer(text)


def read(case: Case, *, served: bool = False) -> View | None:
    """Read config.json as this release does; None, with a refusal noted, where it cannot.

    Args:
        case: the planning in progress.
        served: True if the drafter itself is what ``vllm serve`` was given.

    Raises:
        Unavailable: there is no config.json to read.
    """
    raw = case.drafter.config
    model_type = raw.string("model_type")
    architectures = raw.strings("architectures")
    if model_type is None and speculators.is_one(raw) and case.world.names("config.speculators-types"):
        read_by = speculators.read(case, raw, served=served)
        if read_by is None:
            return None
        return View(
            raw=raw,
            layers=read_by.layers,
            added=read_by.added,
            speculators=read_by.type,
            model_type=read_by.model_type,
            architecture=read_by.architecture,
            defaults={},
        )
    asked = case.request.method
    medusa = asked is not None and asked.value == "medusa" and case.world.flag("method.medusa-forced")
    if model_type is None and medusa and asked is not None:
        case.step("architecture", "method medusa: the config is read as Medusa's", "method.medusa-forced", at=asked.at)
        model_type = Located("medusa", raw.at("model_type"))
    if model_type is None:
        says = "config.json has no model_type, so no configuration class is chosen"
        case.refuse(
            RefusalKind.CONFIG_UNREADABLE, "config", says, at=raw.at("model_type"), keys=("config.own-model-types",)
        )
        return None
    if not _recognised(case, model_type) or not _wraps_a_model(case, model_type):
        return None
    first = Located(architectures.value[0], architectures.at) if architectures and architectures.value else None
    return _rewritten(
        case,
        View(
            raw=raw,
            layers=raw,
            model_type=model_type.value,
            architecture=first,
            n_predict=predicted.value if (predicted := raw.integer("n_predict")) else None,
            defaults=_defaults(case, model_type.value),
        ),
    )


def _defaults(case: Case, model_type: str) -> Mapping[str, str]:
    key = f"defaults.{model_type}"
    return case.world.table(key) if key in case.world.facts else {}


def _recognised(case: Case, model_type: Located[str]) -> bool:
    own = timeline.at(case.world, "config.own-model-types", model_type.value) is not None
    if own or model_type.value in case.world.names("config.transformers-model-types"):
        return True
    remote = case.drafter.config.has("auto_map")
    if remote and ("--trust-remote-code" in case.request.options or case.request.assumed):
        return True
    case.refuse(
        RefusalKind.CONFIG_UNREADABLE,
        "config",
        f"no configuration class goes by model_type {model_type.value!r}"
        + ("; the checkpoint's own code is not trusted" if remote else ""),
        at=model_type.at,
        keys=("config.own-model-types", "config.transformers-model-types"),
        confidence=Confidence.CERTAIN
        if "eagle" in model_type.value or "specul" in model_type.value
        else Confidence.LIKELY,
    )
    return False


def _wraps_a_model(case: Case, model_type: Located[str]) -> bool:
    """EAGLEConfig, which model_type eagle chooses, is a wrapper around a ``model`` of its own."""
    if model_type.value != "eagle" or not case.world.flag("config.eagle-type-wraps"):
        return True
    inner = case.drafter.config.raw("model")
    if inner is not None and inner.value is not None:
        return True
    says = "model_type eagle stands for a config that wraps another one, and there is no model in it"
    case.refuse(RefusalKind.CONFIG_UNREADABLE, "config", says, at=model_type.at, keys=("config.eagle-type-wraps",))
    return False


def _rewritten(case: Case, view: View) -> View:
    """SpeculativeConfig.hf_config_override: it runs whatever the method, so it also hits EAGLE drafters."""
    types, names = "config.mtp-model-types", "config.mtp-architectures"
    found = timeline.at(case.world, types, view.model_type)
    key = types
    if view.model_type in {"nemotron_h", "nemotron_h_puzzle"} and not view.integer("num_nextn_predict_layers"):
        found = None
    if found is None and view.architecture is not None:
        found, key = timeline.at(case.world, names, view.architecture.value), names
    if found is None:
        return view
    model_type, architecture = found.split(" ")
    before = view.architecture
    if architecture == "=":
        architecture = before.value if before else ""
    place = view.raw.at("model_type" if key == types else "architectures")
    layers = text_config(view.layers)
    counted = _counted(case, view, model_type, layers)
    case.step(
        "architecture",
        f"the config is taken for a multi-token-prediction module: model_type {model_type}, {architecture}",
        key,
        at=place,
    )
    if before is None or architecture != before.value:
        case.rewrite(
            "architectures",
            (before.value if before else "", architecture),
            "rewritten because of the model_type" if key == types else "rewritten because of the architecture",
            key,
            at=place,
        )
    return View(
        raw=view.raw,
        layers=layers,
        model_type=model_type,
        architecture=Located(architecture, place),
        n_predict=counted if counted is not None else view.n_predict,
        defaults=view.defaults,
    )


def _counted(case: Case, view: View, model_type: str, layers: Config) -> int | None:
    """n_predict as the rewrite sets it: a key of its own for some models, a constant for others."""
    law = timeline.at(case.world, "config.mtp-counts", model_type) or "num_nextn_predict_layers"
    if law.isdigit():
        return int(law)
    key, _, default = law.partition("=")
    path = key.split(".")
    found = next((value for config in (layers, view.raw) if (value := config.integer(*path))), None)
    counted = found.value if found else view.integer(key)
    return counted if counted is not None else int(default) if default else None
