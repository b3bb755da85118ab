"""vLLM on a CPU: its own command line, its own engine core in this process, its CPU worker."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FunctionType

os.environ.update(
    VLLM_ENABLE_V1_MULTIPROCESSING="0",
    VLLM_TARGET_DEVICE="cpu",
    VLLM_CPU_KVCACHE_SPACE="1",
    VLLM_CPU_OMP_THREADS_BIND="nobind",
    VLLM_NO_USAGE_STATS="1",
    DO_NOT_TRACK="1",
    HF_HUB_OFFLINE="1",
    TRANSFORMERS_OFFLINE="1",
    CUDA_VISIBLE_DEVICES="",
    TOKENIZERS_PARALLELISM="false",
    OMP_NUM_THREADS="1",
    ONEDNN_MAX_CPU_ISA="AVX512_CORE_BF16",
)

import torch

# Some virtual machines report AMX and trap on it.
torch.cpu._is_amx_tile_supported = lambda: False

import vllm
from vllm.engine.arg_utils import EngineArgs
from vllm.model_executor.model_loader import default_loader
from vllm.sampling_params import SamplingParams
from vllm.v1.engine.llm_engine import LLMEngine
from vllm.v1.metrics.reader import get_metrics_snapshot

try:
    from vllm.utils.argparse_utils import FlexibleArgumentParser
except ImportError:
    from vllm.utils import FlexibleArgumentParser

from conformance.workers.probe import Probe
from conformance.workers.protocol import Seen, Task, whole_numbers

HOME = Path(vllm.__file__).parent
PROMPT = [168, 169, 170]
NEW_TOKENS = 30
#: What a CPU asks for besides; nothing here is about the drafter.
_MACHINE = ("--max-num-seqs", "2", "--no-enable-prefix-caching")


def _version() -> str:
    for name in ("vllm", "vllm-cpu"):
        try:
            return version(name).partition("+")[0]
        except PackageNotFoundError:
            continue
    raise SystemExit("vllm is not installed")


VERSION = _version()


def run(task: Task, seen: Seen) -> None:
    """See :class:`conformance.workers.__main__.Engine`."""
    _watch(task, seen)
    parser = EngineArgs.add_cli_args(FlexibleArgumentParser())
    # `vllm serve TARGET FLAGS`
    arguments = parser.parse_args(["--model", task.launch[2], *task.launch[3:], *_MACHINE])
    engine = LLMEngine.from_engine_args(EngineArgs.from_cli_args(arguments))
    seen.stage = "engine_up"
    _kernels_where_they_are_read()
    _look(engine, seen)
    sampling = SamplingParams(temperature=0, max_tokens=NEW_TOKENS, ignore_eos=True, detokenize=False)
    engine.add_request("0", {"prompt_token_ids": PROMPT}, sampling)
    tokens: list[int] = []
    while engine.has_unfinished_requests():
        for output in engine.step():
            tokens = list(output.outputs[0].token_ids)
    seen.target_right = tokens == list(range(PROMPT[-1] + 1, PROMPT[-1] + 1 + NEW_TOKENS))
    counted = {metric.name: getattr(metric, "value", None) for metric in get_metrics_snapshot()}
    drafts = counted.get("vllm:spec_decode_num_drafts")
    if drafts:
        seen.accept_length = round(1 + counted["vllm:spec_decode_num_accepted_tokens"] / drafts, 3)
    seen.stage = "generated"


def _kernels_where_they_are_read() -> None:
    """Give kernels of drafting their CPU versions where a release has lost them.

    0.30.0 puts some of them under names that nothing reads any more (v1/worker/cpu_model_runner.py, beside
    ``_eagle_prepare_inputs_padded.kernel``), so that no pair gets beyond its first draft token; 0.32.0 does it in
    platforms/cpu.py.
    """
    from vllm.utils import cpu_triton_utils
    from vllm.v1.sample import rejection_sampler
    from vllm.v1.spec_decode import utils

    for owner in [*vars(utils).values(), *vars(rejection_sampler).values()]:
        lost = getattr(owner, "__dict__", {}).get("kernel")
        if not isinstance(lost, FunctionType):
            continue
        ours = getattr(cpu_triton_utils, lost.__name__, None)
        if ours is not None:
            names = list(inspect.signature(lost).parameters)
            owner.kernel = cpu_triton_utils._FuncWrapper(_by_place(ours.func, names))
            owner.kernel.arg_names = names


def _by_place(function: Callable[..., object], names: Sequence[str]) -> Callable[..., None]:
    """The CPU versions take what the kernels take, in the same order, under names of their own."""

    def call(**named: object) -> None:
        function(*(named[name] for name in names))

    return call


def _watch(task: Task, seen: Seen) -> None:
    """Probe the second model that is loaded: the first is the target."""
    original = default_loader.DefaultModelLoader.load_weights
    loads = 0

    def load_weights(self: object, model: torch.nn.Module, model_config: object) -> object:
        nonlocal loads
        loads += 1
        if loads == 1:
            return original(self, model, model_config)
        seen.draft_class = type(model).__name__
        probe = Probe(model, Path(task.drafter), inside=task.drafter == "target")
        result = original(self, model, model_config)
        probe.note(seen)
        seen.stage = "loaded"
        return result

    default_loader.DefaultModelLoader.load_weights = load_weights


def _look(engine: LLMEngine, seen: Seen) -> None:
    """What the running engine made of the request."""
    core = engine.engine_core.engine_core
    config = core.vllm_config.speculative_config
    if config is None:
        return
    seen.method = config.method
    seen.num_speculative_tokens = config.num_speculative_tokens
    runner = core.model_executor.driver_worker.worker.model_runner
    target = runner.get_model()
    drafter = getattr(getattr(runner, "drafter", None), "model", None)
    seen.aux_layers = whole_numbers(getattr(target.model, "aux_hidden_state_layers", ()))
    if drafter is not None:
        seen.shares_embed = getattr(getattr(drafter, "model", None), "embed_tokens", 0) is target.model.embed_tokens
        seen.shares_lm_head = getattr(drafter, "lm_head", 0) is getattr(target, "lm_head", 1)
