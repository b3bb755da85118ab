"""Shell text cut into the words of the command that starts an engine."""

from __future__ import annotations

import pytest

from drafter_lint.errors import UsageError
from drafter_lint.launch import split_command, split_commands


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("vllm serve m", ["vllm", "serve", "m"]),
        ("vllm serve \\\n  m \\\r\n --tp 2", ["vllm", "serve", "m", "--tp", "2"]),
        ("vllm serve m \\\n# --tp 2 \\\n--dtype half", ["vllm", "serve", "m"]),
        ("vllm serve m#1 # note", ["vllm", "serve", "m#1"]),
        ("vllm serve m > log 2>&1 &", ["vllm", "serve", "m"]),
        ("vllm serve m -tp 2 >log", ["vllm", "serve", "m", "-tp", "2"]),
        ("vllm serve m -tp 2>log", ["vllm", "serve", "m", "-tp"]),
        ("vllm serve m 2>/dev/null | tee log", ["vllm", "serve", "m"]),
        ("cd /srv && vllm serve m; echo done", ["vllm", "serve", "m"]),
        ("export A=1 B=2\nexport C\nvllm serve m", ["A=1", "B=2", "vllm", "serve", "m"]),
        ("$ vllm serve m", ["vllm", "serve", "m"]),
        ("""vllm serve -sc '{"a": "b c"}' m""", ["vllm", "serve", "-sc", '{"a": "b c"}', "m"]),
        (r"""vllm serve -sc "{\"a\": $N}" m""", ["vllm", "serve", "-sc", '{"a": $N}', "m"]),
        ("vllm serve a\"b\"'c'\\ d", ["vllm", "serve", "abc d"]),
        ('vllm serve ""', ["vllm", "serve", ""]),
        ("vllm serve ${M:-a b} $(cat m) `x y`", ["vllm", "serve", "${M:-a b}", "$(cat m)", "`x y`"]),
        ('vllm serve "${M:-"a"}"', ["vllm", "serve", '${M:-"a"}']),
        ("vllm serve <target model> {{ .Values.x }}", ["vllm", "serve", "<target model>", "{{ .Values.x }}"]),
        ("echo a; echo b", ["echo", "a"]),
        ("", []),
        ("# nothing", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert list(split_command(text)) == words


@pytest.mark.parametrize("text", ["vllm 'serve", 'vllm "serve', "vllm `serve"])
def test_open_quotes_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not closed"):
        split_command(text)


def test_all_commands() -> None:
    assert split_commands("a b; (c)\n\nd || e") == (("a", "b"), ("c",), ("d",), ("e",))
