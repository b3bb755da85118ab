"""How a report reads at a terminal: layout, cutting, escaping, colour, and nothing said twice."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import made_reports as made
from drafter_lint.facts import Knowledge
from drafter_lint.findings import (
    AddArguments,
    Confidence,
    Fix,
    Location,
    Outcome,
    RemoveConfig,
    ReplaceArgument,
    SetConfig,
    Skip,
)
from drafter_lint.renderers import render, render_plans
from drafter_lint.renderers.ink import cells, clean, size
from drafter_lint.renderers.snippet import margin, places
from drafter_lint.renderers.style import Style
from drafter_lint.report import Check, Cost, EngineSubject, Report

ANSI = re.compile(r"\x1b\[([0-9;]*)m")
HOSTILE = "evil\x1b[31m\x07\r\n\u202ename\u200b\ud800\u2028"
SKIPS = (
    Skip("DFL316", "chat-template-differs", "drafter ships none"),
    Skip("DFL801", "trained-for-another-target", "card says nothing"),
)
ARGV_NAMES = ("moonshotai/Kimi-K2.5", "--speculative-draft-model-path", "lightseekorg/kimi-k2.5-eagle3")
FOUNDING = """\
error[DFL401] eagle3-run-as-eagle: EAGLE-3 drafter started in EAGLE mode; every draft token will be rejected
  --> command line
   |
   | ... --speculative-algorithm EAGLE --speculative-draft-model-path lightseekorg/kimi-k2.5-eagle3 --tp 8
   |                             ^^^^^ the target will hand over 7168 values a token (last layer only)
   |                                                                  -----------------------------
   |                                                                  this drafter needs 21504 = 3 x 7168
   |
  ::: lightseekorg/kimi-k2.5-eagle3 @ 1c0ffee
   | config.json:3:5    /architectures/0 = "LlamaForCausalLMEagle3"
   | model.safetensors  fc.weight [7168, 21504], skipped when the widths happen to match
   |
  = outcome: silent – the server starts and answers; the drafts are wrong or useless
  = certain: sglang 0.4.6.post5 to 0.5.23, srt/models/llama_eagle3.py, LlamaModel.forward
  = fix: --speculative-algorithm EAGLE3
  = more: drafter-lint explain DFL401

 drafter  lightseekorg/kimi-k2.5-eagle3 @ 1c0ffee       EAGLE-3, 1 layer, draft vocabulary 32000
 target   kimi-k2.5 -> moonshotai/Kimi-K2.5 @ 8d2e004   hidden 7168, 61 layers, vocabulary 163840
 engine   sglang 0.5.23 (observed, newest known), method EAGLE3
 loads    yes      14 of 15 tensors have a place, 1 not needed
 drafts   no       DFL401 eagle3-run-as-eagle
 pays     unknown  it does not draft
 38 checked, 2 not checked                                                         11 requests, 412 kB, 1.8 s
   - DFL316 chat-template-differs: drafter ships none
   - DFL801 trained-for-another-target: card says nothing
"""
NARROW = """\
error[DFL401] eagle3-run-as-eagle: EAGLE-3 drafter started in EAGLE mode; every
    draft token will be rejected
  --> command line
   |
   | ... --speculative-algorithm EAGLE --speculative-draft-model-path ...
   |                             ^^^^^ the target will hand over 7168 values a
   |                                   token (last layer only)
   | ... --speculative-draft-model-path lightseekorg/kimi-k2.5-eagle3 --tp 8
   |                                    -----------------------------
   |                                    this drafter needs 21504 = 3 x 7168
   |
"""
SCRIPT = """\
error[DFL401] eagle3-run-as-eagle: EAGLE-3 drafter started in EAGLE mode; every draft token will be rejected
   --> serve.sh:6:27
    |
  6 |   --speculative-algorithm EAGLE \\
    |                           ^^^^^ the target will hand over 7168 values a token
  7 |   --speculative-draft-model-path lightseekorg/kimi-k2.5-eagle3 \\
    |                                  ----------------------------- this drafter needs 21504 = 3 x 7168
...
112 |   --tp 8
    |        - over eight devices
    |
   = outcome: silent"""


def text(*checks: Check, style: Style | None = None, cost: Cost = made.NO_COST) -> str:
    return render(made.report(*checks, cost=cost), "text", style or Style(width=110))


def several() -> Report:
    slow = made.finding(
        made.in_config(12, '  "max_position_embeddings": 2048,', "2048", "/max_position_embeddings"),
        message="window 2048, the target's 262144",
        code="DFL706",
        name="window-short",
        outcome=Outcome.SLOW,
    )
    unread = Skip("DFL000", "plan", "no plan: config.json: there is no such file", needed=True)
    return made.report(
        made.check(slow, made.founding(), skips=SKIPS),
        made.check(made.founding(), version="0.5.9", skips=SKIPS),
        made.check(engine="vllm", version="0.33.0", plans=(), skips=(*SKIPS, unread)),
    )


def test_the_founding_mistake_reads_as_designed() -> None:
    check = made.check(made.founding(), skips=SKIPS)
    cost = Cost(requests=11, bytes=412_345, seconds=1.83)
    assert text(check, cost=cost) == FOUNDING
    assert text(check, style=Style(width=80)).startswith(NARROW)


def test_a_launch_script_is_quoted_line_by_line() -> None:
    found = made.finding(
        made.in_script(
            6,
            "  --speculative-algorithm EAGLE \\",
            "EAGLE",
            "the target will hand over 7168 values a token",
        ),
        made.in_script(112, "  --tp 8", "8", "over eight devices"),
        made.in_script(
            7,
            "  --speculative-draft-model-path lightseekorg/kimi-k2.5-eagle3 \\",
            "lightseekorg/kimi-k2.5-eagle3",
            "this drafter needs 21504 = 3 x 7168",
        ),
    )
    assert text(made.check(found)).startswith(SCRIPT)


@pytest.mark.parametrize("width", [72, 80, 100, 140])
@pytest.mark.parametrize("report", [several(), made.report(made.check(made.founding(), skips=SKIPS))])
def test_lines_fit_the_terminal_and_none_is_an_orphan(width: int, report: Report) -> None:
    lines = render(report, "text", Style(width=width)).splitlines()
    assert [line for line in lines if len(line) > width] == []
    assert [line for line in lines if line != line.rstrip()] == []
    assert ("", "") not in set(pairwise(lines))
    assert lines[0]
    assert lines[-1]


def test_ascii_where_the_terminal_has_no_more() -> None:
    report = replace(several(), checks=(*several().checks, made.check(made.finding(message="é – 字"))))
    said = render(report, "text", Style(unicode=False))
    assert said.isascii()
    assert "silent - the server starts" in said
    assert "\\xe9 - \\u5b57" in said


def test_colours_change_nothing_but_colour_and_suit_any_background() -> None:
    for report in (several(), made.report(made.check(made.founding(), skips=SKIPS))):
        coloured = render(report, "text", Style(color=True))
        assert ANSI.sub("", coloured) == render(report, "text", Style())
        used = {code for codes in ANSI.findall(coloured) for code in codes.split(";")}
        assert {"1", "31", "34", "0"} <= used <= {"0", "1", "2", "31", "32", "33", "34", "36"}


def test_text_from_files_is_shown_and_never_obeyed() -> None:
    nasty = [
        Location(role="drafter", subject=HOSTILE, file=HOSTILE, line=3, column=6, width=5, text=HOSTILE, label=HOSTILE),
        Location(role="drafter", subject=HOSTILE, file=HOSTILE, tensor=HOSTILE, shape=(1,), label=HOSTILE),
        Location(role="target", subject=HOSTILE, file=HOSTILE, pointer=HOSTILE, label=HOSTILE),
    ]
    check = made.check(
        made.finding(*nasty, message=HOSTILE),
        made.finding(nasty[1], message="b", fix=Fix(HOSTILE)),
        skips=(Skip("DFL1", "x", HOSTILE),),
    )
    check = replace(check, drafter=replace(check.drafter, name=HOSTILE, spelling=HOSTILE, title=HOSTILE))
    for format_ in ("text", "concise"):
        said = render(made.report(check), format_, Style())
        said.encode()
        assert re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ud800-\udfff]", said) == []
        assert "evil\\x1b[31m\\x07\\r" in said


def test_long_text_from_files_is_cut() -> None:
    said = text(made.check(made.finding(made.tensor("x" * 100_000, 1), message="y" * 100_000)))
    assert len(said) < 5000


CHARACTERS = st.text(alphabet=st.sampled_from('abc \t{}[]":,-/\x1b\u200b字é'), min_size=1, max_size=300)


@given(line=CHARACTERS, data=st.data(), width=st.integers(60, 140), label=st.text(alphabet="lab el", max_size=90))
def test_the_underline_stands_under_the_span(line: str, data: st.DataObject, width: int, label: str) -> None:
    column = data.draw(st.integers(1, len(line)))
    length = data.draw(st.integers(1, min(40, len(line) - column + 1)))
    span = line[column - 1 : column - 1 + length]
    if not span.strip() or span != span.rstrip():
        span = ""  # blanks at the end of a line are not drawn
    at = Location(
        role="drafter",
        subject="d",
        file="config.json",
        line=7,
        column=column,
        width=length,
        text=line,
        label=label.replace("-", ""),
    )
    _, _, source, mark, *_ = places([at], margin([at], Style(width=width)))
    shown, marks = source[5:], mark[5:]
    start, end = marks.index("^"), marks.rindex("^") + 1
    under = "".join(
        char for index, char in enumerate(shown) if start <= cells(shown[:index]) and cells(shown[: index + 1]) <= end
    )
    assert not span or under == clean(span)
    assert cells(source) <= width


def test_a_span_longer_than_the_terminal_is_cut_with_its_underline() -> None:
    at = Location(
        role="drafter", subject="d", file="c", line=1, column=3, width=400, text="{ " + "x" * 500, label="all"
    )
    lines = list(places([at], margin([at], Style(width=80))))
    assert all(len(line) <= 80 for line in lines)
    assert lines[3].endswith("^ all")
    assert lines[3].count("^") > 50


def test_several_engines_start_with_a_table_and_say_each_finding_once() -> None:
    said = render(several(), "text", Style(width=110))
    table, *_ = said.split("\n\n")
    assert table.splitlines() == [
        " engine          verdict   findings",
        " sglang 0.5.23   silent    DFL706, DFL401",
        " sglang 0.5.9    silent    DFL401",
        " vllm 0.33.0     unknown   -",
    ]
    assert said.count("error[DFL401]") == 1
    assert said.index("error[DFL401]") < said.index("warning[DFL706]")
    assert "  = engine: sglang 0.5.23, 0.5.9\n" in said
    assert said.count("drafter ships none") == 1
    assert "   ! DFL000 plan: no plan: config.json: there is no such file (vllm 0.33.0)\n" in said
    assert said.index("   ! DFL000") < said.index("   - DFL316")
    assert said.count(" drafter  ") == 1


def test_one_engine_needs_no_table() -> None:
    said = text(made.check(made.founding()))
    assert "verdict" not in said
    assert "= engine" not in said


def test_quiet_says_findings_only() -> None:
    assert text(made.check(), style=Style(quiet=True)) == ""
    assert text(made.check(made.founding(), skips=SKIPS), style=Style(quiet=True)).endswith("explain DFL401\n")
    assert "verdict" not in render(several(), "text", Style(quiet=True))


def test_verbose_says_all_of_it() -> None:
    skips = tuple(Skip(f"DFL30{index}", f"rule-{index}", "no tokenizer") for index in range(7))
    evidence = tuple(replace(made.FORWARD, symbol=f"f{index}") for index in range(5))
    check = made.check(made.finding(evidence=evidence), skips=skips)
    brief, full = text(check), text(check, style=Style(verbose=True))
    assert "and 3 more: no tokenizer" in brief
    assert "; 2 more with -v" in brief
    assert "rule-6" not in brief
    assert "rule-6" in full
    assert "f4" in full


def test_a_local_check_says_nothing_of_requests() -> None:
    assert text(made.check()).endswith(" 38 checked, 0 not checked\n")


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (made.check(), ("yes", "yes", "0 notes")),
        (made.check(made.founding()), ("yes", "no", "unknown")),
        (made.check(made.finding(outcome=Outcome.REFUSES)), ("no", "unknown", "unknown")),
        (made.check(made.finding(outcome=Outcome.SLOW)), ("yes", "yes", "1 note")),
        (
            made.check(made.finding(outcome=Outcome.HYGIENE), made.finding(outcome=Outcome.SLOW)),
            ("yes", "yes", "2 notes"),
        ),
        (made.check(plans=()), ("unknown", "unknown", "unknown")),
        (made.check(skips=(Skip("DFL004", "hub-unreachable", "stalled", needed=True),)), ("unknown",) * 3),
        (made.check(plans=(replace(made.plan(), understood=False),)), ("unknown",) * 3),
        (made.check(plans=(replace(made.plan(), speculates=False),)), ("yes", "no", "unknown")),
    ],
)
def test_loads_drafts_pays(check: Check, expected: tuple[str, str, str]) -> None:
    said = text(check)
    rows = [
        re.search(rf"^ {word} +(yes|no|unknown|\d notes?)\b", said, re.MULTILINE)
        for word in ("loads", "drafts", "pays")
    ]
    assert tuple(row[1] for row in rows if row) == expected


@pytest.mark.parametrize(
    ("version", "knowledge", "basis", "expected"),
    [
        ("0.33.0", "observed", ("0.33.0",), "(observed, newest known)"),
        ("0.9.2", "observed", ("0.9.2",), "(observed)"),
        ("0.9.1", "ambiguous", ("0.8.5", "0.9.2"), "(not read itself; 0.8.5 and 0.9.2 differ)"),
        ("0.9.1", "bracketed", ("0.8.5",), "(not read itself; the releases read around it agree)"),
        ("0.99", "extrapolated", ("0.33.0",), "(newer than all read; known up to 0.33.0)"),
    ],
)
def test_the_engine_line_says_what_the_claim_rests_on(
    version: str, knowledge: Knowledge, basis: tuple[str, ...], expected: str
) -> None:
    engine = EngineSubject(name="vllm", version=version, knowledge=knowledge, newest="0.33.0", basis=basis)
    assert f" engine   vllm {version} {expected}" in text(replace(made.check(), engine=engine))


def test_flags_nobody_typed_are_shown() -> None:
    request = replace(made.request(assumed=True), argv=("serve", *made.ARGV[5:7], "--a", '{"a": 1}', *ARGV_NAMES))
    said = text(replace(made.check(), request=request))
    assert """ flags    none given; with those it needs: serve --speculative-algorithm EAGLE --a '{"a": 1}'\n""" in said
    assert "flags" not in text(replace(made.check(plans=()), request=request))


@pytest.mark.parametrize(
    ("fix", "expected"),
    [
        (made.founding().fix, "--speculative-algorithm EAGLE3"),
        (Fix("method EAGLE3", (made.founding().fix or Fix("")).edits), "method EAGLE3: --speculative-algorithm EAGLE3"),
        (Fix("give both", (AddArguments(("--speculative-num-steps", "3")),)), "give both: --speculative-num-steps 3"),
        (Fix("tidy", (SetConfig("/a", [1]),)), "tidy: config.json: /a = [1]"),
        (Fix("tidy", (RemoveConfig("/c"),)), "tidy: config.json: without /c"),
        (Fix("say it", (ReplaceArgument(0, '{"a": 1}'),)), """say it: '{"a": 1}'"""),
        (Fix("train again"), "train again"),
    ],
)  # fmt: skip
def test_the_fix_ends_in_words_to_type(fix: Fix, expected: str) -> None:
    assert f"  = fix: {expected}\n" in text(made.check(made.finding(fix=fix)))


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (made.tensor("fc.weight", 7168, 21504, label="wide"), "   | fc.weight [7168, 21504]\n   | ^^^^^^^^^ wide\n"),
        (made.tensor("lm_head.weight"), "   | lm_head.weight (absent)\n   | ^^^^^^^^^^^^^^\n"),
        (
            Location(role="drafter", subject="d", file="config.json", pointer="/x", label="absent"),
            "  --> d: config.json\n   |\n   | /x, absent\n   |\n",
        ),
        (Location(role="drafter", subject="owner/name"), "  --> owner/name\n   |\n  = outcome"),
        (Location(role="launch", subject="command line"), "  --> command line\n   |\n  = outcome"),
    ],
)
def test_places_without_a_source_line(at: Location, expected: str) -> None:
    assert expected in text(made.check(made.finding(at)))


def test_a_place_that_says_nothing_new_is_drawn_once() -> None:
    line = '  "norm_output": true,'
    first = Location(
        role="drafter", subject="a", file="config.json", line=20, column=18, width=4, text=line, label="no"
    )
    again = replace(first, label="")
    elsewhere = replace(again, column=4, width=11)
    style = Style()
    said = list(places([first, again, elsewhere], margin([first], style)))
    assert said == list(places([first, elsewhere], margin([first], style)))
    assert len([text for text in said if "----" in text]) == 1


def test_a_finding_without_places_is_still_said() -> None:
    assert "rejected\n  = outcome: silent" in text(made.check(made.finding()))


def test_evidence_says_how_it_was_come_by() -> None:
    likely = made.finding(evidence=(), confidence=Confidence.LIKELY)
    assert "  = likely: from the files alone\n" in text(made.check(likely))
    run = made.finding(evidence=(replace(made.FORWARD, how="run"), made.FORWARD))
    assert "0.5.23 (run), srt/models/llama_eagle3.py, LlamaModel.forward; sglang" in text(made.check(run))


def test_concise_is_one_line_a_finding_with_the_engines_that_share_it() -> None:
    lines = render(several(), "concise", Style()).splitlines()
    assert len(lines) == 2 + 3
    assert lines[1].startswith("command line:90: silent[DFL401] eagle3-run-as-eagle: EAGLE-3 drafter")
    assert lines[1].endswith("(sglang 0.5.23, sglang 0.5.9)")
    assert lines[0].startswith("lightseekorg/kimi-k2.5-eagle3 @ 1c0ffee/config.json:12:30: slow[DFL706]")
    assert lines[-1].startswith("unknown: lightseekorg/kimi-k2.5-eagle3 @ 1c0ffee on kimi-k2.5 -> moonshotai/Kimi-K2.5")
    assert len(render(several(), "concise", Style(quiet=True)).splitlines()) == 2


def test_concise_tells_once_why_something_could_not_be_read() -> None:
    reasons = ("drafter a/b: is in no cache; fetch it", "a/b: is in no cache", "a/b: is in no cache", "no plan")
    skips = tuple(Skip(f"DFL00{place}", "x", reason, needed=True) for place, reason in enumerate(reasons))
    (line,) = render(made.report(made.check(skips=skips)), "concise", Style()).splitlines()
    assert line.endswith(": drafter a/b: is in no cache; fetch it; no plan")


def test_a_plan_reads_step_by_step_with_its_refusals() -> None:
    said = render_plans(made.report(made.check(plans=(made.plan(), made.refusing_plan()))), "text", Style(width=100))
    assert said.count("sglang 0.5.23 (observed)\n") == 2
    assert "  captures      boundaries 2/30/58, 21504 values a token (default)\n" in said
    assert "  refuses       at load: fc.weight has 21504 columns, the class built 14336\n" in said
    assert [line for line in said.splitlines() if len(line) > 100] == []


def test_no_plan_says_why() -> None:
    skip = Skip("DFL000", "plan", "config.json: there is no such file", needed=True)
    said = render_plans(made.report(made.check(plans=(), skips=(skip,), target=False)), "text", Style())
    assert said.splitlines() == [
        "sglang 0.5.23: no plan could be made",
        "  no target is known; name one with --target",
        "  DFL000 plan: config.json: there is no such file",
    ]


@pytest.mark.parametrize(
    ("count", "expected"), [(0, "0 B"), (999, "999 B"), (412_345, "412 kB"), (1_250_000, "1.2 MB")]
)
def test_sizes_for_people(count: int, expected: str) -> None:
    assert size(count) == expected
