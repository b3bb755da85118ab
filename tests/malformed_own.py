"""Malformed files of the user's own: launch files, settings, lists of pairs, recipes, lock files; and references."""

from __future__ import annotations

from collections.abc import Mapping

from bad_folders import all_of, text
from malformed import CHECK, TARGET, Malformed, sparse, spoiled

#: What makes a document worth reading.
SERVE = (
    "python -m sglang.launch_server --model-path target --speculative-draft-model-path drafter-eagle3 "
    "--speculative-algorithm EAGLE3"
)
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [*{old}, *{old}, *{old}, *{old}, *{old}, *{old}, *{old}, *{old}, *{old}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
COMMANDS: Mapping[str, tuple[str, bytes | str, str, int]] = {
    "yaml-bomb": ("run.yaml", f"{BOMB}command: {SERVE}\n", "aliases", 3),
    "yaml-list-open": ("run.yaml", f"a: [b\ncommand: {SERVE}", "no YAML or JSON", 3),
    "yaml-deep": ("run.yaml", f"a: {'[' * 100_000}\ncommand: {SERVE}", "no YAML or JSON", 3),
    "yaml-unknown-anchor": ("run.yaml", f"a: *nobody\ncommand: {SERVE}", "no YAML or JSON", 3),
    "json-cut": ("run.json", f'{{"command": "{SERVE}', "no YAML or JSON", 3),
    "json-deep": ("run.json", "[" * 100_000 + f'"{SERVE}"', "no YAML or JSON", 3),
    "notebook-cut": ("run.ipynb", f'{{"cells": [{{"source": "!{SERVE}', "no notebook", 3),
    "shell-of-zeros": ("run.sh", "\0" * 100 + SERVE, "is no text", 3),
    "shell-in-utf-16": ("run.sh", SERVE.encode("utf-16"), "is no text", 3),
    "shell-of-noise": ("run.sh", bytes(range(256)) * 10 + SERVE.encode(), "is no text", 3),
    "shell-quote-open": ("run.sh", f"{SERVE} 'x", "quote is not closed", 3),
    "python-cut": ("run.py", f"import os\ndef f(:\n  '{SERVE}", "no Python", 3),
    "python-of-zeros": ("run.py", b"\0" + SERVE.encode(), "is no text", 3),
    "of-no-command": ("run.sh", "echo nothing", "no launch command there", 2),
    "empty": ("run.yaml", "", "no launch command there", 2),
    "of-2-mb": ("run.sh", f"{SERVE}\n" * 20_000, "more than a million bytes", 3),
}
LAUNCHES: tuple[Malformed, ...] = (
    *(
        Malformed(
            f"launch/{how}",
            text(content, name),
            "DFL012" if code == 3 else "",
            says,
            code,
            ("check", "--launch", name, "--format", "json"),
        )
        for how, (name, content, says, code) in COMMANDS.items()
    ),
    Malformed(
        "launch/of-10-gb",
        sparse("run.sh", SERVE.encode()),
        "DFL012",
        "more than a million bytes",
        3,
        ("check", "--launch", "run.sh", "--format", "json"),
    ),
)

TOML_WAYS: Mapping[str, tuple[bytes | str, str]] = {
    "no-toml": ("[[", "Invalid|no TOML|Expected"),
    "a-key-twice": ("timeout = 1\ntimeout = 2", "overwrite"),
    "not-utf-8": (b"\xff\xfe", "no UTF-8"),
    "utf-16": ("timeout = 1".encode("utf-16"), "no UTF-8"),
    "byte-order-mark": (b"\xef\xbb\xbftimeout = 1", "Invalid|statement"),
    "nested-deep": ("a = " + "[" * 100_000, "nested"),
    "digits": ("timeout = " + "9" * 5000, "digits"),
    "a-string-open": ('a = "x', "Illegal|Unterminated|Expected"),
    "of-zeros": (bytes(100), "Invalid|Illegal"),
    "of-8-mb": ("# x\n" * 2_000_000, "more than"),
}
SETTINGS: tuple[Malformed, ...] = tuple(
    Malformed(f"settings/{how}", text(content, "s.toml"), "", f"s\\.toml.*({says})", 2, (*CHECK, "--config", "s.toml"))
    for how, (content, says) in {
        **TOML_WAYS,
        "an-unknown-key": ("fooo = 1", "unknown key 'fooo'"),
        "a-word-for-a-number": ("timeout = 'x'", "valid number"),
        "a-negative-number": ("timeout = -1", "greater than or equal"),
        "an-empty-reason": ("[[suppress]]\ncode = 'DFL101'\nreason = ''", "at least 1 character"),
        "a-pair-of-nothing": ("[[pair]]\nx = 1", "unknown key 'pair.x'"),
        "a-number-for-tables": ("pair = 1", "pair"),
    }.items()
)

LISTS: Mapping[str, tuple[str, bytes | str, str]] = {
    **{f"toml-{how}": ("p.toml", content, says) for how, (content, says) in TOML_WAYS.items()},
    "toml-of-settings": ("p.toml", "timeout = 1", "nothing else"),
    "toml-of-words": ("p.toml", "pair = ['x']", "pair"),
    "json-open": ("p.jsonl", "{", "p.jsonl:1: no JSON"),
    "json-a-list": ("p.jsonl", "[]", "p.jsonl:1: a pair is an object"),
    "json-a-number": ("p.jsonl", '{"drafter": 1}', "p.jsonl:1: drafter"),
    "json-in-the-third-line": ("p.jsonl", '{"drafter": "a/b"}\n\n{"drafter": }', "p.jsonl:3: no JSON"),
    "json-deep": ("p.jsonl", "[" * 100_000, "p.jsonl:1: no JSON"),
    "json-digits": ("p.jsonl", '{"drafter": ' + "9" * 5000 + "}", "p.jsonl:1"),
    "json-unknown-key": ("p.jsonl", '{"drafter": "a/b", "tarjet": "c/d"}', "unknown key 'tarjet'"),
    "json-not-utf-8": ("p.jsonl", b'{"drafter": "\xe9"}', "UTF-8"),
    "json-a-line-of-2-mb": ("p.jsonl", "x" * 2_000_000, "p.jsonl:1: a line of more than"),
    "csv-unknown-column": ("p.csv", "a,b\n1,2", "unknown key 'a'"),
    "csv-a-cell-too-many": ("p.csv", "drafter,target\nx/y,z/w,v", "a cell too many"),
    "csv-a-cell-of-200-kb": ("p.csv", "drafter\n" + "x" * 200_000, "p.csv"),
    "csv-a-quote-open-in-flags": ("p.csv", "drafter,flags\nx/y,--a 'b", "p.csv:2"),
    "of-another-kind": ("p.bin", bytes(10), ".toml, .jsonl or .csv"),
}
SURVEYS: tuple[Malformed, ...] = tuple(
    Malformed(f"survey/{how}", text(content, name), "", f"{name}.*({says})|{says}", 2, ("survey", name))
    for how, (name, content, says) in LISTS.items()
)

WEIGHT = "name = 'a/b'\n[tensors.'model.safetensors']\n"
RECIPES: tuple[Malformed, ...] = tuple(
    Malformed(
        f"recipe/{how}",
        text(content, "r.recipe.toml"),
        "",
        f"r\\.recipe\\.toml: not a recipe: .*({says})",
        2,
        ("check", "r.recipe.toml", "--target", TARGET, "--engine", "sglang", "--format", "json"),
    )
    for how, (content, says) in {
        **TOML_WAYS,
        "an-unknown-key": ("x = 1", "Extra inputs"),
        "a-file-outside": ("[tensors.'../x.safetensors']\nx = 'BF16 9'", "stay inside"),
        "a-text-outside": ("[text]\n'/etc/passwd' = 'x'", "stay inside"),
        "no-shape": (f"{WEIGHT}x = 'BF16 9x'", "is no tensor"),
        "an-unknown-dtype": (f"{WEIGHT}x = 'BF17 9 = 1*9'", "BF17"),
        "many-names": (f"{WEIGHT}'x{{0..999999999}}' = 'BF16 9'", "stands for more than"),
        "many-values": (f"{WEIGHT}d2t = 'I64 9999999999 = 0*9999999999'", "at most 1000000"),
        "few-values": (f"{WEIGHT}d2t = 'I64 4 = 0*2'", "fewer values"),
        "counts-without-end": (f"{WEIGHT}d2t = 'I64 4 = 0*{'5' * 99}'", "neither a number"),
        "a-mask-of-itself": (f"{WEIGHT}t2d = 'BOOL 4 = matches(t2d)'", "matches"),
        "a-value-too-wide": (f"{WEIGHT}d2t = 'I8 1 = 999'", "does not fit"),
        "packed-noise": (f"{WEIGHT}d2t = 'I64 4 = packed(I8 !!!!)'", "unpacked"),
        "words-without-end": ("[tokenizer]\nwords = 99999999999", "less than or equal"),
        "damage-to-nothing": ("[damage.truncate]\n'x.safetensors' = 1", "no file x.safetensors"),
    }.items()
)

_LOCKED: Mapping[str, tuple[bytes | str, str]] = {
    how: (way, "no lock file|no UTF-8") for how, (way, _) in spoiled('{"version": 1, "checkpoints": []}').items()
}
LOCKS: tuple[Malformed, ...] = tuple(
    Malformed(
        f"lock/{how}",
        all_of(
            text("[[pair]]\ndrafter = 'drafter-eagle3'\ntarget = 'target'\n", "drafter-lint.toml"),
            text(content, "drafter-lint.lock"),
        ),
        "",
        f"drafter-lint\\.lock: .*({says})",
        2,
        ("check", "--locked"),
    )
    for how, (content, says) in {
        **_LOCKED,
        "of-another-release": ('{"version": 9}', "another release"),
        "entries-of-nothing": ('{"version": 1, "checkpoints": [{}]}', "no lock file"),
        "files-a-list": (
            '{"version": 1, "checkpoints": [{"role": "a", "reference": "a", "name": "a", "commit": 0, "files": [1]}]}',
            "no lock file",
        ),
        "nested-deep": ("[" * 100_000, "no lock file"),
        "digits": ('{"version": ' + "9" * 5000 + "}", "no lock file"),
        "of-8-mb": (" " * 8_000_000, "more than"),
    }.items()
)

REFERENCES: tuple[Malformed, ...] = tuple(
    Malformed(f"reference/{how}", lambda _: None, "", says, 2, ("check", words, "--target", TARGET, "--offline"))
    for how, (words, says) in {
        "empty": ("", "empty reference"),
        "spaces": ("   ", "empty reference"),
        "an-unknown-alias": ("kimi-k9", "kimi-k9"),
        "too-few-parts": ("hf://justone", "justone"),
        "a-page-of-nobody": ("https://huggingface.co/acme", "no page of a model"),
        "broken-brackets": ("https://[x/a/b", "no page of a model"),
        "escapes": ("\x1b[31m", "x1b"),
        "words": ("a b c", "a b c"),
    }.items()
)

OWN: tuple[Malformed, ...] = (*LAUNCHES, *SETTINGS, *SURVEYS, *RECIPES, *LOCKS, *REFERENCES)
