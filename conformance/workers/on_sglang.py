"""SGLang on a CPU: its own command line, its own scheduler in this process, Triton's interpreter for its kernels."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import re
import signal
import sys
from array import array
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

os.environ.update(
    SGLANG_USE_CPU_ENGINE="1",
    SGLANG_CPU_OMP_THREADS_BIND="",
    TRITON_INTERPRET="1",
    HF_HUB_OFFLINE="1",
    TRANSFORMERS_OFFLINE="1",
    CUDA_VISIBLE_DEVICES="",
    DO_NOT_TRACK="1",
    TOKENIZERS_PARALLELISM="false",
    OMP_NUM_THREADS="1",
)
sys.path.insert(0, str(Path(__file__).parent / "stand_ins"))

import torch

# Some virtual machines report AMX and trap on it.
torch.cpu._is_amx_tile_supported = lambda: False

import sglang
from sglang.srt.managers import scheduler as scheduling
from sglang.srt.managers.io_struct import TokenizedGenerateReqInput
from sglang.srt.model_loader import loader
from sglang.srt.sampling.sampling_params import SamplingParams
from sglang.srt.server_args import PortArgs, ServerArgs, prepare_server_args

from conformance.workers.probe import Probe
from conformance.workers.protocol import Seen, Task, whole_numbers

HOME = Path(sglang.__file__).parent
VERSION = version("sglang")
RELEASE = tuple(int(number) for number in re.findall(r"\d+", VERSION)[:3])
PROMPT = [168, 169, 170]
NEW_TOKENS = 5
#: What a CPU asks for besides; nothing here is about the drafter. Bfloat16 comes out wrong in Triton's interpreter, so
#: the launches say float32.
_MACHINE = [
    *("--device", "cpu", "--attention-backend", "triton", "--sampling-backend", "pytorch"),
    *("--disable-radix-cache", "--skip-server-warmup", "--mem-fraction-static", "0.2"),
    *("--max-total-tokens", "2048", "--max-running-requests", "2", "--log-level", "warning"),
]
#: From 0.5.20 on the overlapped loop turns itself off on a CPU; before, it asks for CUDA streams.
_CUDA_UNCONDITIONAL = RELEASE < (0, 5, 20)
if _CUDA_UNCONDITIONAL and RELEASE >= (0, 5, 9):
    _MACHINE.append("--disable-overlap-schedule")


def run(task: Task, seen: Seen) -> None:
    """See :class:`conformance.workers.__main__.Engine`."""
    signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    _without_cuda()
    _watch(task, seen)
    # `python -m sglang.launch_server FLAGS`
    arguments = prepare_server_args([*task.launch[3:], *_MACHINE])
    if hasattr(arguments, "resolve_once"):
        arguments.resolve_once()
    arguments.check_server_args()
    seen.stage = "config"
    seen.method = _resolved(arguments, "speculative_algorithm")
    seen.num_speculative_tokens = _resolved(arguments, "speculative_num_steps")
    scheduler = _start(arguments)
    seen.stage = "engine_up"
    _look(scheduler, seen)
    request = _request(scheduler)
    _serve(scheduler, request)
    tokens = list(request.output_ids)
    expected = range(PROMPT[-1] + 1, PROMPT[-1] + 1 + NEW_TOKENS)
    seen.target_right = tokens[:NEW_TOKENS] == list(expected)
    rounds = getattr(request, "spec_verify_ct", 0)
    if rounds:
        seen.accept_length = round((len(tokens) - 1) / rounds, 3)  # the first one comes from the prompt
    seen.stage = "generated"


def _without_cuda() -> None:
    """Make the CUDA calls that are made on every machine do nothing."""
    names = ["synchronize", "empty_cache"]
    if _CUDA_UNCONDITIONAL:
        names += ["set_device", "reset_peak_memory_stats", "ipc_collect"]
        torch.cuda.Event = torch.cuda.Stream = _NoStream
        torch.cuda.current_stream = torch.cuda.default_stream = _NoStream
        torch.cuda.stream = lambda _stream: contextlib.nullcontext()
        torch.Tensor.cuda = lambda self, *_arguments, **_named: self
        torch.Tensor.record_stream = lambda _self, _stream: None
        _own_tree_builder()
    for name in names:
        # Each its own: torch.compile keeps a table of functions, and one under two names is an error there.
        setattr(torch.cuda, name, lambda *_arguments, **_named: None)


class _NoStream:
    """A stream, or an event, on a machine that has none."""

    device = torch.device("cpu")
    cuda_stream = 0

    def __init__(self, *_arguments: object, **_named: object) -> None:
        self.record = self.wait = self.synchronize = self.wait_stream = self.wait_event = lambda *_arguments: None

    def query(self) -> bool:
        return True

    def record_event(self, *_arguments: object) -> Self:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_arguments: object) -> None:
        return None


def _own_tree_builder() -> None:
    """Before 0.5.20 the draft tree is built by a CUDA kernel alone (srt/speculative/eagle_utils.py)."""
    import sgl_kernel
    from sglang.srt.speculative import eagle_utils

    if hasattr(eagle_utils, "_is_cpu"):
        return
    for name in ("eagle_info_v2", "triton_ops.cache_locs"):
        # From 0.5.10 on assign_extend_cache_locs_func has no branch for a CPU and returns None.
        # As on CUDA, its kernel runs, in Triton's interpreter.
        with contextlib.suppress(ImportError):
            module = importlib.import_module(f"sglang.srt.speculative.{name}")
            if hasattr(module, "assign_extend_cache_locs_func"):
                vars(module)["_is_cuda"] = True
    eagle_utils._is_cuda = True
    eagle_utils.sgl_build_tree_kernel_efficient = sgl_kernel.build_tree_kernel_efficient_cpu


def _watch(task: Task, seen: Seen) -> None:
    """Probe the second model that is loaded: the first is the target."""
    original = loader.DefaultModelLoader.load_weights_and_postprocess
    loads = 0

    def load(model: torch.nn.Module, *rest: object, **named: object) -> object:
        nonlocal loads
        loads += 1
        if loads == 1:
            return original(model, *rest, **named)
        seen.draft_class = type(model).__name__
        seen.stage = "draft_built"
        probe = Probe(model, Path(task.drafter), inside=task.drafter == "target")
        real = model.load_weights

        def load_weights(*arguments: object, **options: object) -> object:
            result = real(*arguments, **options)
            probe.note(seen)
            seen.stage = "loaded"
            if getattr(model, "hot_token_id", None) is not None:
                seen.consumed = [name for name in seen.dropped or [] if name.split(".")[-1] == "d2t"]
            return result

        model.load_weights = load_weights
        try:
            return original(model, *rest, **named)
        finally:
            del model.load_weights

    loader.DefaultModelLoader.load_weights_and_postprocess = staticmethod(load)


def _resolved(arguments: ServerArgs, name: str) -> Any:  # noqa: ANN401 - whatever SGLang holds
    """A field after the engine's own resolution, wherever the release keeps that."""
    try:
        from sglang.srt.arg_groups.overrides import resolution_result
    except ImportError:
        return getattr(arguments, name)
    return resolution_result(arguments, name)


def _start(arguments: ServerArgs) -> scheduling.Scheduler:
    """The scheduler, as its own process starts it (run_scheduler_process)."""
    ports = PortArgs.init_new(arguments)
    if hasattr(scheduling, "SpawnRanks"):
        world = scheduling.spawn_world_rank(arguments, tp_rank=0, pp_rank=0)
        scheduling.publish(
            arguments, role="scheduler", ranks=scheduling.SpawnRanks(world_rank=world, dp_rank=None, gpu_id=0)
        )
        return scheduling.Scheduler(arguments, ports)
    if hasattr(scheduling, "publish"):
        scheduling.publish(arguments, role="scheduler")
    if hasattr(scheduling, "set_global_server_args_for_scheduler"):
        scheduling.set_global_server_args_for_scheduler(arguments)
    given = {"server_args": arguments, "port_args": ports, "dp_rank": None}
    wanted = [name for name in inspect.signature(scheduling.Scheduler).parameters if name != "pipe_writer"]
    return scheduling.Scheduler(*(given.get(name, 0) for name in wanted))


def _look(scheduler: scheduling.Scheduler, seen: Seen) -> None:
    """What the running engine made of the request."""
    worker = scheduler.tp_worker
    target = (worker if hasattr(worker, "model_runner") else worker.worker).model_runner.model
    drafting = scheduler.draft_worker
    for name in ("draft_worker", "draft_runner", "draft_model_runner", "model_runner"):
        if drafting is not None and not hasattr(drafting, "model"):
            drafting = getattr(drafting, name, drafting)
    drafter = getattr(getattr(drafting, "model_runner", drafting), "model", None)
    if drafter is None:
        return
    seen.aux_layers = whole_numbers(getattr(getattr(target, "model", None), "layers_to_capture", ()))
    embedding, head = target.get_embed_and_head() if hasattr(target, "get_embed_and_head") else (None, None)
    own = getattr(getattr(drafter, "model", None), "embed_tokens", None)
    if embedding is not None and own is not None:
        seen.shares_embed = own.weight.data_ptr() == embedding.data_ptr()
    if head is not None and hasattr(drafter, "lm_head"):
        seen.shares_lm_head = drafter.lm_head.weight.data_ptr() == head.data_ptr()


def _request(scheduler: scheduling.Scheduler) -> Any:  # noqa: ANN401 - SGLang's Req, which has moved
    """Hand a request in, as the tokenizer's process would."""
    sampling = SamplingParams(max_new_tokens=NEW_TOKENS, temperature=0.0, ignore_eos=True)
    sampling.normalize(None)
    fields = {
        "rid": "0",
        "input_text": "",
        "input_ids": list(PROMPT),
        "mm_inputs": None,
        "sampling_params": sampling,
        "return_logprob": False,
        "logprob_start_len": -1,
        "top_logprobs_num": 0,
        "token_ids_logprob": None,
        "stream": False,
    }
    known = TokenizedGenerateReqInput.__annotations__
    if "array" in str(known.get("input_ids")):
        fields["input_ids"] = array("q", PROMPT)
    # Later releases want these said, None or not.
    fields |= {name: None for name in ("input_embeds", "token_type_ids") if name in known}
    try:
        received = TokenizedGenerateReqInput(**fields)
    except TypeError:
        received = TokenizedGenerateReqInput(**{name: value for name, value in fields.items() if name != "rid"})
        received.rid = "0"
    scheduler.handle_generate_request(received)
    return scheduler.waiting_queue[0]


def _serve(scheduler: scheduling.Scheduler, request: Any) -> None:  # noqa: ANN401 - as above
    """The scheduler's loop (event_loop_normal) until the request is done."""
    planned = "running_batch" in inspect.signature(scheduler.get_next_batch_to_run).parameters
    with torch.no_grad():
        for _ in range(NEW_TOKENS + 6):
            if request.finished():
                break
            if planned:
                plan = scheduler.get_next_batch_to_run(
                    running_batch=scheduler.running_batch, last_batch=scheduler.last_batch
                )
                scheduler.running_batch, batch = plan.running_batch, plan.batch_to_run
            else:
                batch = scheduler.cur_batch = scheduler.get_next_batch_to_run()
            if batch:
                scheduler.process_batch_result(batch, scheduler.run_batch(batch))
            scheduler.last_batch = batch
