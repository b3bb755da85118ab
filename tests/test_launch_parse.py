"""What is kept beside the fields: options, environment, unknown flags, problems, variables, places in files."""

from __future__ import annotations

import argparse
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drafter_lint.errors import UsageError
from drafter_lint.findings import Located, Location
from drafter_lint.launch import LaunchRequest, Unresolved, flag_table, parse_command, spelled, split_command
from drafter_lint.launch.words import masked


def parse(text: str, engine: str | None = None) -> LaunchRequest:
    return parse_command(split_command(text), engine=engine)


def shown(place: Location) -> str:
    assert place.text is not None
    assert place.column is not None
    assert place.width is not None
    return place.text[place.column - 1 : place.column - 1 + place.width]


@pytest.mark.parametrize(
    ("words", "engine", "message"),
    [
        (["--tp", "8"], None, "neither sglang nor vllm"),
        ([], None, "neither sglang nor vllm"),
        (["vllm", "bench", "serve", "--model", "m"], None, "neither sglang nor vllm"),
        (["python", "-m", "atom.entrypoints.openai_server", "--method", "mtp"], None, "neither sglang nor vllm"),
        (["vllm", "serve", "m"], "sglang", "starts vllm, not sglang"),
        (["--tp", "8"], "trtllm", "'trtllm'"),
    ],
)
def test_usage_errors(words: list[str], engine: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_command(words, engine=engine)


def test_options_keep_the_spelling_and_both_places() -> None:
    option = parse("--speculative_algo=EAGLE", "sglang").options["--speculative-algorithm"]
    assert (option.name, option.spelling, option.value) == ("--speculative-algorithm", "--speculative_algo", "EAGLE")
    assert (shown(option.at), shown(option.flag_at)) == ("EAGLE", "--speculative_algo")


def test_switches_have_no_value_and_negated_ones_keep_their_spelling() -> None:
    options = parse("vllm serve m --no-enable-prefix-caching --trust-remote-code").options
    assert options["--enable-prefix-caching"].spelling == "--no-enable-prefix-caching"
    assert options["--trust-remote-code"].value is None
    assert shown(options["--trust-remote-code"].at) == "--trust-remote-code"


def test_speculative_keys_are_options_of_their_own() -> None:
    options = parse("""vllm serve m -sc '{"method": "mtp", "num-speculative-tokens": 2}'""").options
    assert (options["method"].value, options["method"].spelling) == ('"mtp"', "-sc")
    assert shown(options["num-speculative-tokens"].flag_at) == "-sc"
    dotted = parse("vllm serve m --speculative_config.method mtp").options["method"]
    assert (dotted.value, dotted.spelling) == ("mtp", "--speculative_config.method")


def test_speculative_config_keeps_keys_as_written_and_decodes_values() -> None:
    request = parse(
        """vllm serve m -sc '{"num-speculative-tokens": 2, "a": [1, {"b": null}], "c": 1.5, "Method": "x"}'"""
    )
    values = {key: value.value for key, value in request.speculative_config.items()}
    assert values == {"num-speculative-tokens": 2, "a": [1, {"b": None}], "c": 1.5, "Method": "x"}
    assert shown(request.speculative_config["a"].at) == '[1, {"b": null}]'
    assert request.method is None


def test_dotted_values_are_json_numbers_with_units_lists_or_text() -> None:
    request = parse(
        "vllm serve m --speculative-config.a true --speculative-config.b 4k --speculative-config.c+ x,y"
        " --speculative-config.d.e 1 --speculative-config.d.f two"
    )
    values = {key: value.value for key, value in request.speculative_config.items()}
    assert values == {"a": True, "b": 4000, "c": ["x", "y"], "d": {"e": 1, "f": "two"}}


def test_dotted_keys_of_other_flags_stand_under_their_dotted_name() -> None:
    request = parse("vllm serve m --compilation-config.mode 3 -O.level=2 -cc.mode=1")
    assert request.options["--compilation-config.mode"].value == "1"
    assert request.options["--compilation-config.level"].value == "2"
    assert request.speculative_config == {}


def test_a_shorthand_does_not_displace_the_key_of_the_config() -> None:
    # vllm 0.24.0 and later refuse the two together; both stay visible.
    request = parse("""vllm serve m --spec-method eagle -sc '{"method": "mtp"}'""")
    assert request.method is not None
    assert request.method.value == "mtp"
    assert request.options["--spec-method"].value == "eagle"


def test_environment_before_the_program_only() -> None:
    request = parse("docker run -e A=1 --env=B=2 --env C=3 img env D= vllm serve m --served-model-name E=5")
    assert {name: value.value for name, value in request.environment.items()} == {"A": "1", "B": "2", "C": "3", "D": ""}
    assert shown(request.environment["B"].at) == "2"


def test_environment_of_the_command_wins() -> None:
    place = Location(role="launch", subject="Dockerfile", line=3)
    outer = {"A": Located("outer", place), "B": Located("outer", place)}
    request = parse_command(["A=inner", "vllm", "serve", "m"], environment=outer)
    assert {name: value.value for name, value in request.environment.items()} == {"A": "inner", "B": "outer"}
    assert request.environment["B"].at is place


def test_unknown_flags_are_located_and_take_their_value_along() -> None:
    request = parse("vllm serve --sglang-speculative-algorithm EAGLE --what=1 m --tp.x 2 -Z")
    assert [word.value for word in request.unknown] == ["--sglang-speculative-algorithm", "--what", "--tp.x", "-Z"]
    assert [shown(word.at) for word in request.unknown] == ["--sglang-speculative-algorithm", "--what", "--tp.x", "-Z"]
    assert request.target is not None
    assert request.target.value == "m"


def test_a_word_behind_an_unknown_flag_is_not_taken_for_the_model() -> None:
    assert parse("vllm serve --not-a-switch m").target is None


@pytest.mark.parametrize(
    ("command", "place", "expected"),
    [
        ("sglang serve --tp eight", "eight", "an integer"),
        ("sglang serve --tp 1.5", "1.5", "an integer"),
        ("sglang serve --model-path", "--model-path", "a value after --model-path"),
        ("sglang serve --tp --trust-remote-code", "--tp", "a value after --tp"),
        ("sglang serve --trust-remote-code=true", "true", "no value: --trust-remote-code is a switch"),
        ("sglang serve --speculative-num 3", "--speculative-num", "one flag; --speculative-num abbreviates"),
        ("sglang serve acme/goose", "acme/goose", "no word on its own here"),
        ("vllm serve m extra", "extra", "no word on its own here"),
        ("vllm serve m -tp None", "None", "an integer"),
        ("vllm serve m --max-model-len 1.5K", "1.5K", "an integer"),
        ("""vllm serve m -sc '{"method": 3}'""", "3", "text"),
        ("""vllm serve m -sc '{"num_speculative_tokens": "many"}'""", '"many"', "an integer"),
        ("""vllm serve m -sc '{"num_speculative_tokens": true}'""", "true", "an integer"),
        ("""vllm serve m -sc '{"num_speculative_tokens": [1]}'""", "[1]", "an integer"),
        ("""vllm serve m -sc '{"method": {"a": 1}}'""", '{"a": 1}', "text"),
        ("""vllm serve m -sc '[1]'""", "[", "a JSON object"),
        ("""vllm serve m -sc eagle3""", "e", "a JSON object"),
        ("""vllm serve m -sc '{"method": }'""", "}", "JSON"),
        ("""vllm serve m -sc '{"method" "mtp"}'""", '"', "':'"),
        ("""vllm serve m -sc '{"a": 1 "b": 2}'""", '"', "',' or '}'"),
        ("""vllm serve m -sc '{1: 2}'""", "1", "a key in double quotes"),
        ("""vllm serve m -sc '{"a": 1} x'""", "x", "nothing after"),
        ("""vllm serve m -sc '{"a": 1'""", "1", "',' or '}'"),
        ("vllm serve m --speculative-config.method", "--speculative-config.method", "a value after"),
    ],
)
def test_problems(command: str, place: str, expected: str) -> None:
    ((at, what),) = parse(command).problems
    assert shown(at) == place
    assert expected in what


def test_broken_json_leaves_nothing_behind() -> None:
    request = parse("""vllm serve m -sc '{"method": "mtp", "num_speculative_tokens": }'""")
    assert request.speculative_config == {}
    assert request.method is None


@pytest.mark.parametrize(
    "text",
    [
        "$MODEL",
        "${MODEL:-acme/x}",
        "${MODEL##*/}",
        "${MODEL:-${OTHER}}",
        "$(MODEL_PATH)",
        "$((N + 1))",
        "$7",
        "{{ .ModelPath }}",
        "<target_model>",
        "<<global_vars.x>>",
        "{target}",
        "__IMAGE__",
    ],
)
def test_unresolved(text: str) -> None:
    request = parse_command(["sglang", "serve", "--model-path", f"/models/{text}"])
    assert request.unresolved == (text,)
    assert request.target is None
    assert request.options["--model-path"].value == f"/models/{text}"


def test_unresolved_inside_json_touches_its_own_key_only() -> None:
    request = parse_command(
        [
            "vllm",
            "serve",
            "m",
            "-sc",
            '{"method": "eagle3", "model": "${D:-a/b}", "num_speculative_tokens": $N, "x": "<t>"}',
        ]
    )
    assert request.method is not None
    assert request.method.value == "eagle3"
    assert (request.drafter, request.num_speculative_tokens) == (None, None)
    assert request.speculative_config["model"].value == Unresolved('"${D:-a/b}"')
    assert request.speculative_config["num_speculative_tokens"].value == Unresolved("$N")
    assert request.speculative_config["x"].value == "<t>"
    assert request.unresolved == ("${D:-a/b}", "$N")
    assert request.problems == ()


def test_a_variable_on_its_own_is_no_problem() -> None:
    request = parse_command(["sglang", "serve", "--model", "a/b", "$EXTRA_ARGS"])
    assert (request.problems, request.unresolved) == ((), ("$EXTRA_ARGS",))


def test_secrets_are_masked_everywhere() -> None:
    words = ["HF_TOKEN=hf_abcdefghijklmnopqrstuv", "OPENAI_API_KEY=$KEY", "vllm", "serve", "m", "--api-key", "s3cr3t"]
    request = parse_command([*words, "--hf-token=abc", "--port", "hf_ABCDEFGHIJKLMNOPQRST"])
    assert "hf_abc" not in repr(request)
    assert "s3cr3t" not in repr(request)
    assert "hf_ABC" not in repr(request)
    assert request.argv[0] == "HF_TOKEN=" + "*" * 25
    assert request.environment["OPENAI_API_KEY"].value == "$KEY"
    assert request.options["--hf-token"].value == "***"


def test_places_in_a_file_are_narrowed_to_the_value() -> None:
    source = r"""  vllm serve acme/heron --speculative-config "{\"method\":\"mtp\"}" --tensor-parallel-size=2"""
    spans = [(2, 4), (7, 5), (13, 10), (24, 20), (45, 22), (68, 24)]
    words = ["vllm", "serve", "acme/heron", "--speculative-config", '{"method":"mtp"}', "--tensor-parallel-size=2"]

    def locate(index: int) -> Location:
        start, width = spans[index]
        return Location(
            role="launch", subject="serve.sh", file="serve.sh", line=4, column=start + 1, width=width, text=source
        )

    request = parse_command(words, locate=locate)
    assert request.method is not None
    assert request.target is not None
    assert request.tensor_parallel is not None
    assert (shown(request.method.at), request.method.at.line) == ("mtp", 4)
    assert shown(request.target.at) == "acme/heron"
    assert shown(request.tensor_parallel.at) == "2"
    assert request.tensor_parallel.at.column == len(source)


# ---- properties -----------------------------------------------------------------------------------------------------

_SPELLINGS = [
    s for engine in ("sglang", "vllm") for info in flag_table(engine).values() for s in (info.name, *info.aliases)
]
_ODD = st.sampled_from(
    [
        "--",
        "-",
        "",
        "-O",
        "-O3",
        "-sc.method",
        "--speculative-config.",
        "--speculative-config.+",
        "--.x",
        "-1",
        "{{}}",
        '{"method":"mtp"}',
        "{$N}",
        "'",
        "vllm",
        "serve",
        "python",
        "-m",
        "sglang.launch_server",
        "sh",
        "-c",
        "$X",
        "=",
        "A=1",
    ]
)
_WORD = st.one_of(
    st.text(max_size=12),
    _ODD,
    st.sampled_from(_SPELLINGS),
    st.builds("{}={}".format, st.sampled_from(_SPELLINGS), st.text(max_size=6)),
    st.builds(
        json.dumps,
        st.dictionaries(
            st.sampled_from(["method", "model", "num_speculative_tokens", "revision"]),
            st.recursive(
                st.none() | st.integers() | st.floats() | st.text(max_size=4), lambda inner: st.lists(inner, max_size=2)
            ),
        ),
    ),
)


def located(request: LaunchRequest) -> list[Location]:
    places = [value.at for value in vars_of(request).values() if isinstance(value, Located)]
    places += [value.at for value in request.speculative_config.values()]
    places += [value.at for value in request.environment.values()]
    places += [place for option in request.options.values() for place in (option.at, option.flag_at)]
    places += [word.at for word in request.unknown]
    return places + [at for at, _ in request.problems]


def vars_of(request: LaunchRequest) -> dict[str, object]:
    return {name: getattr(request, name) for name in request.__dataclass_fields__}


@given(st.lists(_WORD, max_size=12), st.sampled_from(["sglang", "vllm", None]))
def test_any_words_are_understood_or_refused(words: list[str], engine: str | None) -> None:
    try:
        request = parse_command(words, engine=engine)
    except UsageError:
        return
    for place in located(request):
        assert place.argument is not None
        assert 0 <= place.argument < len(request.argv)
        assert place.text is not None
        assert place.column is not None
        assert place.width is not None
        assert 1 <= place.column <= max(len(place.text), 1)
        assert place.column - 1 + place.width <= max(len(place.text), 1) + 1


@given(st.text(alphabet=st.sampled_from(list("ab '\"\\$`{}()<>&|;#\n\t-=")) | st.characters(), max_size=40))
def test_any_text_is_cut_or_refused(text: str) -> None:
    try:
        words = split_command(text)
    except UsageError:
        return
    assert all(isinstance(word, str) for word in words)


_RELEASE = "0.5.23"


def _argparse() -> argparse.ArgumentParser:
    """SGLang's command line at one release, built from the table."""
    parser = argparse.ArgumentParser(exit_on_error=False, add_help=False)
    for info in flag_table("sglang").values():
        names = [
            spelling for spelling, seen in info.seen.items() if _RELEASE in seen and not spelling.startswith("--no-")
        ]
        if names:
            arity = {"value": None, "json": None, "optional-value": "?", "many-values": "*"}
            if info.kind == "switch":
                parser.add_argument(*names, dest=info.name, action="store_true")
            else:
                parser.add_argument(*names, dest=info.name, nargs=arity[info.kind])
    return parser


_PARSER = _argparse()
_PRESENT = [
    spelling for info in flag_table("sglang").values() for spelling, seen in info.seen.items() if _RELEASE in seen
]


@st.composite
def _arguments(draw: st.DrawFn) -> list[str]:
    words: list[str] = []
    for spelling in draw(
        st.lists(st.sampled_from(_PRESENT).filter(lambda word: not word.startswith("--no-")), max_size=6)
    ):
        short = spelling[: draw(st.integers(min_value=4, max_value=len(spelling)))]
        name = short if len(spelled("sglang", short, release=_RELEASE)) == 1 else spelling
        value = draw(st.sampled_from(["1", "-1", "-0.5", "a/b", "x y", "- y", "a=b"]))
        info = flag_table("sglang")[spelled("sglang", name, release=_RELEASE)[0]]
        if info.kind == "switch":
            words.append(name)
        else:
            words += draw(st.sampled_from([[name, value], [f"{name}={value}"]]))
    return words


@given(_arguments())
def test_values_are_those_argparse_reads(words: list[str]) -> None:
    namespace = vars(_PARSER.parse_args(list(masked(words))))
    request = parse_command(words, engine="sglang")
    ambiguous = any(what.startswith("one flag") for _, what in request.problems)
    if ambiguous:  # an abbreviation that other releases read differently
        return
    for name, option in request.options.items():
        wanted = namespace[name]
        assert option.value == (" ".join(wanted) if isinstance(wanted, list) else None if wanted is True else wanted)
    given_names = {name for name, value in namespace.items() if value not in (None, False)}
    assert given_names == set(request.options)
