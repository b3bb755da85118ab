"""Command lines as people write them, and what each is understood to ask for, down to the column."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from drafter_lint.findings import Located
from drafter_lint.launch import LaunchRequest, parse_command, split_command

SGLANG = "python -m sglang.launch_server --model-path acme/goose"


@dataclass(frozen=True)
class Row:
    """A command and, by field, the value wanted with the argument it stands in and the text its span covers."""

    command: str
    wanted: dict[str, tuple[object, int, str]]
    absent: tuple[str, ...] = ()
    engine: str | None = None


ROWS = {
    "sglang": Row(
        f"{SGLANG} --speculative-algorithm EAGLE3",
        {"target": ("acme/goose", 4, "acme/goose"), "method": ("EAGLE3", 6, "EAGLE3")},
        ("drafter", "num_steps"),
    ),
    "sglang-python3": Row(
        "python3 -m sglang.launch_server --model acme/goose", {"target": ("acme/goose", 4, "acme/goose")}
    ),
    "sglang-serve": Row("sglang serve --model-path acme/goose", {"target": ("acme/goose", 3, "acme/goose")}),
    "sglang-cli-module": Row(
        "python -m sglang.cli.main serve --model acme/goose", {"target": ("acme/goose", 5, "acme/goose")}
    ),
    "sglang-script-path": Row(
        "python3 python/sglang/launch_server.py --model acme/goose", {"target": ("acme/goose", 3, "acme/goose")}
    ),
    "interpreter-path": Row(
        "/opt/venv/bin/python3.12 -m sglang.launch_server --model a/b", {"target": ("a/b", 4, "a/b")}
    ),
    "sglang-flags-only": Row(
        "--speculative-algorithm NEXTN --speculative-num-steps 3",
        {"method": ("NEXTN", 1, "NEXTN"), "num_steps": (3, 3, "3")},
        engine="sglang",
    ),
    "sglang-double-dash-first": Row("-- --tp 4", {"tensor_parallel": (4, 2, "4")}, engine="sglang"),
    "sglang-counts": Row(
        f"{SGLANG} --speculative-num-steps 4 --speculative-eagle-topk 1 --speculative-num-draft-tokens 6",
        {"num_steps": (4, 6, "4"), "topk": (1, 8, "1"), "num_draft_tokens": (6, 10, "6")},
    ),
    "sglang-prefixes": Row(
        f"{SGLANG} --speculative-algo EAGLE3 --speculative-draft acme/goose-eagle3",
        {"method": ("EAGLE3", 6, "EAGLE3"), "drafter": ("acme/goose-eagle3", 8, "acme/goose-eagle3")},
    ),
    "sglang-draft-alias": Row(f"{SGLANG} --speculative-draft-model acme/d", {"drafter": ("acme/d", 6, "acme/d")}),
    "sglang-underscores": Row(f"{SGLANG} --speculative_algorithm EAGLE", {"method": ("EAGLE", 6, "EAGLE")}),
    "sglang-mixed-underscores": Row(f"{SGLANG} --speculative-num_steps=2", {"num_steps": (2, 5, "2")}),
    "sglang-equals": Row(
        f"{SGLANG} --speculative-algorithm=EAGLE --tp=8",
        {"method": ("EAGLE", 5, "EAGLE"), "tensor_parallel": (8, 6, "8")},
    ),
    "sglang-equals-in-value": Row(
        f"{SGLANG} --speculative-draft-model-path=/m/a=b", {"drafter": ("/m/a=b", 5, "/m/a=b")}
    ),
    "sglang-tp": Row(f"{SGLANG} --tp 8", {"tensor_parallel": (8, 6, "8")}),
    "sglang-tp-size": Row(f"{SGLANG} --tp-size 8", {"tensor_parallel": (8, 6, "8")}),
    "sglang-tensor-parallel-size": Row(f"{SGLANG} --tensor-parallel-size 8", {"tensor_parallel": (8, 6, "8")}),
    "sglang-repeated": Row(f"{SGLANG} --tp 8 --tp-size 4", {"tensor_parallel": (4, 8, "4")}),
    "sglang-repeated-unreadable": Row(f"{SGLANG} --tp 8 --tp eight", {}, ("tensor_parallel",)),
    "sglang-switches-between": Row(
        f"{SGLANG} --trust-remote-code --tp 2 --disable-radix-cache --dtype bfloat16",
        {"tensor_parallel": (2, 7, "2"), "dtype": ("bfloat16", 10, "bfloat16")},
    ),
    "sglang-negative-value": Row(
        f"{SGLANG} --context-length -1 --tp 2", {"context_length": (-1, 6, "-1"), "tensor_parallel": (2, 8, "2")}
    ),
    "sglang-many-values": Row(f"{SGLANG} --cuda-graph-bs 1 2 4 --tp 2", {"tensor_parallel": (2, 10, "2")}),
    "sglang-quantization-and-revisions": Row(
        f"{SGLANG} --quantization fp8 --speculative-draft-model-quantization unquant --revision r1"
        " --speculative-draft-model-revision r2",
        {
            "quantization": ("fp8", 6, "fp8"),
            "draft_quantization": ("unquant", 8, "unquant"),
            "revision": ("r1", 10, "r1"),
            "draft_revision": ("r2", 12, "r2"),
        },
    ),
    "sglang-environment": Row(
        f"CUDA_VISIBLE_DEVICES=0,1 SGLANG_ENABLE_SPEC_V2=1 {SGLANG} --tp 2", {"tensor_parallel": (2, 8, "2")}
    ),
    "sglang-env-exec": Row(
        f"exec env -u FOO SGLANG_ENABLE_SPEC_V2=1 {SGLANG}", {"target": ("acme/goose", 9, "acme/goose")}
    ),
    "sglang-uv-run": Row(f"uv run --no-sync {SGLANG}", {"target": ("acme/goose", 7, "acme/goose")}),
    "sglang-docker": Row(
        f"docker run --gpus all -e A=1 --ipc=host lmsysorg/sglang:v0.5.9 {SGLANG}",
        {"target": ("acme/goose", 12, "acme/goose")},
    ),
    "sglang-unknown-takes-a-value": Row(f"{SGLANG} --not-a-flag 7 --tp 2", {"tensor_parallel": (2, 8, "2")}),
    "sglang-variable": Row(
        f"{SGLANG} --tp $TP --speculative-algorithm ${{ALGO:-EAGLE3}}", {}, ("tensor_parallel", "method")
    ),
    "sglang-template": Row(
        "python -m sglang.launch_server --model-path <target_model> --tp {{ .Values.tp }}",
        {},
        ("target", "tensor_parallel"),
    ),
    "vllm-positional": Row("vllm serve acme/heron", {"target": ("acme/heron", 2, "acme/heron")}),
    "vllm-positional-last": Row(
        "vllm serve -tp 2 acme/heron", {"target": ("acme/heron", 4, "acme/heron"), "tensor_parallel": (2, 3, "2")}
    ),
    "vllm-after-double-dash": Row("vllm serve -- acme/heron", {"target": ("acme/heron", 3, "acme/heron")}),
    "vllm-model-flag": Row("vllm serve --model acme/heron", {"target": ("acme/heron", 3, "acme/heron")}),
    "vllm-module": Row(
        "python -m vllm.entrypoints.openai.api_server --model acme/heron --port 8000",
        {"target": ("acme/heron", 4, "acme/heron")},
    ),
    "vllm-flags-only": Row(
        "acme/heron --max-model-len 4096",
        {"target": ("acme/heron", 0, "acme/heron"), "context_length": (4096, 2, "4096")},
        engine="vllm",
    ),
    "vllm-json": Row(
        "vllm serve acme/heron --speculative-config "
        """'{"method": "eagle3", "model": "acme/d", "num_speculative_tokens": 3}'""",
        {
            "method": ("eagle3", 4, '"eagle3"'),
            "drafter": ("acme/d", 4, '"acme/d"'),
            "num_speculative_tokens": (3, 4, "3"),
        },
    ),
    "vllm-json-equals": Row(
        """vllm serve m --speculative-config='{"method":"mtp","num_speculative_tokens":2}'""",
        {"method": ("mtp", 3, '"mtp"'), "num_speculative_tokens": (2, 3, "2")},
    ),
    "vllm-json-underscore-flag": Row(
        """vllm serve m --speculative_config '{"method":"mtp"}'""", {"method": ("mtp", 4, '"mtp"')}
    ),
    "vllm-json-prefix": Row("""vllm serve m --speculative-c '{"method":"mtp"}'""", {"method": ("mtp", 4, '"mtp"')}),
    "vllm-sc": Row("""vllm serve m -sc '{"method":"mtp"}'""", {"method": ("mtp", 4, '"mtp"')}),
    "vllm-json-double-quoted": Row(
        r'''vllm serve m --speculative-config "{\"method\":\"mtp\",\"num_speculative_tokens\":5}"''',
        {"method": ("mtp", 4, '"mtp"'), "num_speculative_tokens": (5, 4, "5")},
    ),
    "vllm-json-with-a-quote": Row(
        """vllm serve m -sc '{"model":"it'"'"'s","method":"mtp"}'""", {"method": ("mtp", 4, '"mtp"')}
    ),
    "vllm-json-dashed-key": Row(
        """vllm serve m -sc '{"num-speculative-tokens": 4}'""", {"num_speculative_tokens": (4, 4, "4")}
    ),
    "vllm-json-duplicate-key": Row(
        """vllm serve m -sc '{"method": "eagle", "method": "eagle3"}'""", {"method": ("eagle3", 4, '"eagle3"')}
    ),
    "vllm-json-all-fields": Row(
        """vllm serve m -sc '{"draft_tensor_parallel_size":1,"quantization":"fp8","revision":"main"}' -q awq"""
        " --revision r",
        {
            "draft_tensor_parallel": (1, 4, "1"),
            "draft_quantization": ("fp8", 4, '"fp8"'),
            "draft_revision": ("main", 4, '"main"'),
            "quantization": ("awq", 6, "awq"),
            "revision": ("r", 8, "r"),
        },
    ),
    "vllm-json-variable": Row(
        r'''vllm serve m -sc "{\"method\":\"eagle3\",\"num_speculative_tokens\":$N}"''',
        {"method": ("eagle3", 4, '"eagle3"')},
        ("num_speculative_tokens",),
    ),
    "vllm-json-doubled-braces": Row(
        """vllm serve m -sc '{{"method":"eagle3","num_speculative_tokens":{count}}}'""",
        {"method": ("eagle3", 4, '"eagle3"')},
        ("num_speculative_tokens",),
    ),
    "vllm-json-whole-variable": Row("""vllm serve m -sc "$SPEC" """, {}, ("method", "num_speculative_tokens")),
    "vllm-json-broken": Row("""vllm serve m -sc '{"method": "mtp",}'""", {}, ("method",)),
    "vllm-json-repeated": Row(
        """vllm serve m -sc '{"method":"eagle","model":"a"}' -sc '{"method":"mtp"}'""",
        {"method": ("mtp", 6, '"mtp"')},
        ("drafter",),
    ),
    "vllm-dotted": Row(
        "vllm serve m --speculative-config.method mtp --speculative_config.num_speculative_tokens=1",
        {"method": ("mtp", 4, "mtp"), "num_speculative_tokens": (1, 5, "1")},
    ),
    "vllm-dotted-short": Row("vllm serve m -sc.method mtp", {"method": ("mtp", 4, "mtp")}),
    "vllm-dotted-dashed-key": Row(
        "vllm serve m --speculative-config.num-speculative-tokens 1", {"num_speculative_tokens": (1, 4, "1")}
    ),
    "vllm-dotted-replaces-json": Row(
        """vllm serve m --speculative-config.method mtp --speculative-config '{"method":"eagle","model":"a"}'""",
        {"method": ("mtp", 4, "mtp")},
        ("drafter",),
    ),
    "vllm-spec-flags": Row(
        "vllm serve m --spec-method eagle3 --spec-model acme/d --spec-tokens 3",
        {"method": ("eagle3", 4, "eagle3"), "drafter": ("acme/d", 6, "acme/d"), "num_speculative_tokens": (3, 8, "3")},
    ),
    "vllm-spec-flags-and-json": Row(
        """vllm serve m --spec_tokens 3 -sc '{"method":"mtp"}'""",
        {"method": ("mtp", 6, '"mtp"'), "num_speculative_tokens": (3, 4, "3")},
    ),
    "vllm-tensor-parallel": Row("vllm serve m -tp=8 -dp 2", {"tensor_parallel": (8, 3, "8")}),
    "vllm-optimisation-level": Row("vllm serve -O3 -O 2 -O=1 m", {"target": ("m", 6, "m")}),
    "vllm-optimisation-json": Row("""vllm serve -O '{"mode":3}' m""", {"target": ("m", 4, "m")}),
    "vllm-human-length": Row("vllm serve m --max-model-len 32k", {"context_length": (32000, 4, "32k")}),
    "vllm-binary-length": Row("vllm serve m --max-model-len 32K", {"context_length": (32768, 4, "32K")}),
    "vllm-auto-length": Row("vllm serve m --max-model-len auto", {}, ("context_length",)),
    "vllm-none": Row("vllm serve m --quantization None", {}, ("quantization",)),
    "vllm-negated-switch": Row("vllm serve --no-enable-prefix-caching m", {"target": ("m", 3, "m")}),
    "vllm-attached-short": Row("vllm serve -n4 m", {"target": ("m", 3, "m")}),
    "vllm-docker": Row(
        "docker run --gpus all -p 8000:8000 vllm/vllm-openai:v0.27.1 --model acme/heron",
        {"target": ("acme/heron", 8, "acme/heron")},
    ),
    "vllm-docker-positional": Row(
        "podman run registry.acme.dev:5000/vllm/vllm-openai:v0.33.0-cu129 acme/heron -tp 2",
        {"target": ("acme/heron", 3, "acme/heron"), "tensor_parallel": (2, 5, "2")},
    ),
    "vllm-numactl": Row("numactl --cpunodebind=0 vllm serve m", {"target": ("m", 4, "m")}),
    # The shell's own words are replaced by those of the command it runs.
    "vllm-shell-in-docker": Row(
        """docker run -e A=1 --entrypoint /bin/bash vllm/vllm-openai:v0.27.1 -lc """
        """"exec vllm serve acme/heron -sc '{\\"method\\":\\"mtp\\"}'" """,
        {"target": ("acme/heron", 4, "acme/heron"), "method": ("mtp", 6, '"mtp"')},
    ),
    "sglang-shell": Row("sh -c 'X=1 python3 -m sglang.launch_server --model a/b'", {"target": ("a/b", 5, "a/b")}),
}


def field(request: LaunchRequest, name: str) -> Located[object] | None:
    value = getattr(request, name)
    assert value is None or isinstance(value, Located)
    return value


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_command_line(row: Row) -> None:
    request = parse_command(split_command(row.command), engine=row.engine)
    for name, (value, argument, span) in row.wanted.items():
        found = field(request, name)
        assert found is not None, name
        assert found.value == value, name
        assert type(found.value) is type(value), name
        assert found.at.argument == argument, name
        assert found.at.text is not None
        assert found.at.column is not None
        assert found.at.width is not None
        assert found.at.text[found.at.column - 1 : found.at.column - 1 + found.at.width] == span, name
    for name in row.absent:
        assert field(request, name) is None, name


def test_column_is_that_of_the_command_written_on_one_line() -> None:
    request = parse_command(split_command('vllm serve m --speculative-config \\\n  \'{"method": "mtp"}\''))
    assert request.method is not None
    assert request.method.at.text == """vllm serve m --speculative-config '{"method": "mtp"}'"""
    assert request.method.at.column == request.method.at.text.index('"mtp"') + 1
    assert request.method.at.width == 5
