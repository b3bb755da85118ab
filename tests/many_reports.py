"""Reports of every kind a renderer must cope with, by name: from none to many, unread, hostile, in files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from drafter_lint.findings import AddArguments, Fix, Located, Location, Outcome, ReplaceArgument, SetConfig, Skip
from drafter_lint.launch import LaunchRequest, Option
from drafter_lint.report import Check, Report, Subject
from made_reports import check, finding, founding, in_config, in_script, report, request, tensor

#: Everything some reader would obey.
EVIL = (
    "</script><img src=x onerror=alert(1)>\x1b[31m]]>--><!--|`a``b`\r\n::error::x\n##[error]y @all #1 "
    "https://evil.example www.evil.example 😀\u202e\udc80\x00 [x](http://e) ![i](http://e) {0} $x$ % 50%25 ~~s~~ "
    "*b* _i_ <b>&amp;'\"\ufffe"
)
SCRIPT = {
    4: "python -m sglang.launch_server \\",
    5: "  --model-path moonshotai/Kimi-K2.5 \\",
    6: "  --speculative-algorithm EAGLE \\",
    7: "  --speculative-draft-model-path ./drafter",
}


def window_short() -> Report:
    """Nothing but speed and hygiene, and a part that was not read."""
    slow = finding(
        in_config(5, '  "sliding_window": 2048,', "2048", "/sliding_window"),
        message="drafter window 2048 is shorter than the target's 262144",
        code="DFL706",
        name="window-short",
        outcome=Outcome.SLOW,
        fix=Fix("widen it", (SetConfig("/sliding_window", 262144),)),
    )
    tidy = finding(message="no target norm", code="DFL512", name="norm-scheme", outcome=Outcome.HYGIENE, evidence=())
    return report(check(slow, tidy, skips=(Skip("DFL801", "trained-for-another-target", "the card says nothing"),)))


def script_request() -> LaunchRequest:
    """The founding command as a script has it, three flags, a line each."""
    options = {}
    places = {}
    for index, (number, flag) in enumerate(
        ((5, "--model-path"), (6, "--speculative-algorithm"), (7, "--speculative-draft-model-path"))
    ):
        line = SCRIPT[number]
        value = line.split()[1]
        at = replace(in_script(number, line, value), argument=4 + 2 * index)
        flag_at = replace(in_script(number, line, flag), argument=3 + 2 * index)
        options[flag] = Option(name=flag, spelling=flag, value=value, at=at, flag_at=flag_at)
        places[flag] = Located(value, at)
    argv = tuple(word for line in SCRIPT.values() for word in line.rstrip("\\").split())
    return LaunchRequest(
        engine="sglang",
        argv=argv,
        method=places["--speculative-algorithm"],
        drafter=places["--speculative-draft-model-path"],
        target=places["--model-path"],
        options=options,
    )


def local(made: Check, path: str = "./drafter") -> Check:
    """The same check of a drafter in a folder."""
    return replace(made, drafter=Subject(role="drafter", spelling=path, name=path, path=path))


def in_script_file() -> Report:
    """The founding mistake in a script, with a local drafter."""
    asked = script_request()
    assert asked.method
    assert asked.drafter
    edits = (ReplaceArgument(6, "EAGLE3"), AddArguments(("--speculative-num-steps", "3")))
    mistake = finding(
        asked.method.at.saying("the last layer's state alone"),
        asked.drafter.at.saying("this drafter needs 21504"),
        replace(in_config(3, '    "LlamaForCausalLMEagle3"', '"LlamaForCausalLMEagle3"', "/architectures/0")),
        fix=Fix("--speculative-algorithm EAGLE3", edits),
    )
    window = window_short().checks[0].findings[0]
    return report(replace(local(check(mistake, window)), request=asked))


def hostile() -> Report:
    """Text that a checkpoint, a card or a command could hold, wherever text can stand."""
    places = (
        Location(role="launch", subject=EVIL, file=EVIL, line=3, column=2, width=4, text=EVIL, label=EVIL, argument=1),
        in_config(1, f'{{"a": "{EVIL}"}}', EVIL, f"/{EVIL}", EVIL),
        tensor(EVIL, 1, label=EVIL),
    )
    found = finding(*places, message=EVIL, fix=Fix(EVIL, (ReplaceArgument(1, EVIL),)), outcome=Outcome.REFUSES)
    tidy = finding(*places, message=EVIL + EVIL, outcome=Outcome.HYGIENE, measured={EVIL: EVIL})
    made = check(found, tidy, skips=(Skip("DFL801", "trained-for-another-target", EVIL, needed=True),))
    subject = Subject(role="drafter", spelling=EVIL, name=EVIL, commit=EVIL, title=EVIL, origin=EVIL)
    engine = replace(made.engine, version=EVIL) if made.engine else None
    asked = replace(request(), argv=(EVIL, EVIL))
    return report(
        replace(made, drafter=subject, target=replace(subject, role="target"), engine=engine, request=asked),
        replace(local(made, EVIL), plans=()),
    )


def many(count: int) -> Report:
    """As many distinct findings."""
    outcomes = list(Outcome)
    found = [
        finding(tensor(f"layers.{n}.weight", n + 1), message=f"tensor {n} is dropped", outcome=outcomes[n % 4])
        for n in range(count)
    ]
    return report(check(*found))


REPORTS: Mapping[str, Report] = {
    "nothing": report(),
    "pass": report(check()),
    "one": report(check(founding())),
    "mild": window_short(),
    "unread": report(check(skips=(Skip("DFL000", "plan", "no plan: it stalled", needed=True),), plans=())),
    "no target": report(replace(check(founding(), target=False), engine=None, request=None, plans=())),
    "engines": report(
        check(founding(), version="0.5.9"),
        check(founding(), founding(), version="0.5.23"),
        check(founding(), engine="vllm", version="0.33.0"),
        check(engine="vllm", version="0.9.2"),
    ),
    "script": in_script_file(),
    "hostile": hostile(),
    "many": many(60),
}
