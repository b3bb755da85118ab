"""Shell scripts: the statements run one after another without running anything, and every command's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from drafter_lint.launch.files import commands, spoken
from drafter_lint.launch.files.assignments import assign
from drafter_lint.launch.files.branches import Way, each_way
from drafter_lint.launch.files.expand import fields, flat
from drafter_lint.launch.files.grammar import (
    ASSIGNMENT,
    REFERENCE,
    if_arms,
    relevant,
    substitutions,
    syntax,
)
from drafter_lint.launch.files.quoting import TEMPLATE, Unclosed, command_words
from drafter_lint.launch.files.scan import Candidate, Scan
from drafter_lint.launch.files.traced import Traced, joined
from drafter_lint.launch.files.variables import Variables

if TYPE_CHECKING:
    from tree_sitter import Node

ENGINE_WORDS = re.compile(r"vllm|sglang|--spec", re.IGNORECASE)
_PROMPT = re.compile(r"^[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:[\w.-]+@[\w.-]+:[^\s$#]*)?[$%❯][ \t]+", re.MULTILINE)
_SPECULATIVE = re.compile(r"--(?:sglang[-_])?spec(?:ulative)?[-_]")
_UNUSUAL = re.compile(r"[^\t\n\r -~]")
_OPTIONS_LOOP = re.compile(r"\$#|\$\{?1\b|getopts|\$\{?#")
_DECLARERS = {"export", "local", "declare", "typeset", "readonly"}
_SIMPLE = {"command", "variable_assignment", "variable_assignments", "declaration_command", "unset_command"}
_COMPOUND = {
    "function_definition", "if_statement", "case_statement", "while_statement", "subshell", "for_statement",
    "c_style_for_statement",
}  # fmt: skip
_PASSIVE = {"comment", "word", "heredoc_body", "test_command", "string", "raw_string"}
_MAX_LOOP = 8
_MAX_DEPTH = 6


def search(scan: Scan, text: Traced, variables: Variables, image: Traced | None = None) -> Variables:
    """Find the commands of a script; returns what its variables hold at its end.

    Args:
        scan: the search under way.
        text: the script.
        variables: what is set before it starts.
        image: the container image it runs in.
    """
    script = _Script(scan, text, image)
    ends: list[Variables] = []

    def walk(way: Way) -> None:
        ends.append(script.walk(way, variables.copy()))

    left = each_way(walk, size=len(text))
    if script.root is None and ENGINE_WORDS.search(script.shown):
        scan.note(text.cut(0, 1), "not checked: this script is nested too deep or no shell; only its lines were read")
    elif left and scan.candidates:
        scan.note(text.cut(0, 1), f"not checked: {left} more arms of this script's branches")
    script.unused(ends[0])
    return ends[0]


class _Script:
    """One script, parsed once and walked several times."""

    def __init__(self, scan: Scan, text: Traced, image: Traced | None) -> None:
        self.scan = scan
        self.text = text
        self.image = image
        shown = TEMPLATE.sub(lambda match: "x" * len(match[0]), text.text)
        shown = _PROMPT.sub(lambda match: " " * len(match[0]), shown)
        # Only ASCII goes to the grammar. What was seen: fifteen small texts with U+C2A70, parsed one after the other,
        # end the process with a segmentation fault (tree-sitter-bash 0.25.1, x86-64 Linux). Its library imports C's
        # character table (__ctype_b_loc), which is made for single bytes; that this is the cause was not traced. Bytes
        # and characters are then the same, too.
        shown = _UNUSUAL.sub("x", shown)
        self.shown = shown
        self.root = syntax(shown, scan.effort)
        self.relevant = frozenset[str]() if self.root is None else relevant(self.root)
        self.way = Way()
        self.variables = Variables()
        self.functions: dict[str, Node] = {}
        self.called: set[str] = set()
        self.last: Candidate | None = None
        self.stray = False  # True while flags follow flags that belong to no command
        self.used: set[str] = set()
        self.depth = 0

    def walk(self, way: Way, variables: Variables) -> Variables:
        """Go one way through the script."""
        self.way, self.variables, self.functions, self.called = way, variables, {}, set()
        self.last, self.stray = None, False
        if self.root is None:
            self._lines(0, len(self.shown))
        else:
            self._all(self.root)
        for name in [name for name in self.functions if name not in self.called]:
            self._call(name, None)
        return variables

    def unused(self, variables: Variables) -> None:
        """Report commands held in variables of this script that nothing in it runs: another file does."""
        used = set(REFERENCE.findall(self.shown))
        own = {match[1] for match in ASSIGNMENT.finditer(self.shown)}
        held = [*variables.arrays.items(), *((name, [value]) for name, value in variables.values.items())]
        for name, items in held:
            if name not in own or name in used or not any(ENGINE_WORDS.search(item.text) for item in items):
                continue
            words = items if len(items) > 1 else [part for item in items for part in spoken.plain(item)]
            if len(words) > 1:
                commands.read_held(self.scan, words, variables, image=self.image)

    def _all(self, node: Node) -> int:
        return self._each(node.children)

    def _each(self, nodes: Sequence[Node]) -> int:
        done = -1
        for child in nodes:
            if child.start_byte >= done:  # a command read by its own characters may reach further than its node
                done = self._statement(child)
        return done

    def _statement(self, node: Node) -> int:
        """Run one statement; returns the character up to which it was read."""
        self.scan.effort.spend(20)
        kind = node.type
        if kind in _SIMPLE:
            return self._simple(node)
        if kind == "redirected_statement":
            return self._redirected(node)
        if kind == "ERROR":
            return self._broken(node)
        if kind in _COMPOUND:
            self._compound(node)
        elif kind not in _PASSIVE:
            return max(self._all(node), node.end_byte)
        return node.end_byte

    def _compound(self, node: Node) -> None:
        kind = node.type
        if kind == "function_definition":
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if name is not None and body is not None:
                self.functions[self.shown[name.start_byte : name.end_byte]] = body
        elif kind == "if_statement":
            self._branch(node, list(if_arms(node)))
        elif kind == "case_statement":
            self._branch(node, [[item] for item in node.named_children if item.type == "case_item"])
        elif kind == "while_statement":
            # A loop over the script's own options is passed over: what they would change is not in the document.
            condition = node.child_by_field_name("condition")
            if condition is None or not _OPTIONS_LOOP.search(self.shown[condition.start_byte : condition.end_byte]):
                self._all(node)
        elif kind == "subshell":
            outside = self.variables
            self.variables = outside.copy()
            self._all(node)
            self.variables = outside
        else:
            self._loop(node)

    def _branch(self, node: Node, arms: list[list[Node]]) -> None:
        text = self.shown[node.start_byte : node.end_byte]
        self.scan.effort.spend(len(text) // 20)
        if ENGINE_WORDS.search(text) or any(match[1] in self.relevant for match in ASSIGNMENT.finditer(text)):
            arm = self.way.choose(node.start_byte, len(arms) or 1)
            arms = arms[arm : arm + 1]
        for nodes in arms:
            self._each(nodes)

    def _loop(self, node: Node) -> None:
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if body is None:
            return
        if name is None:
            self._all(body)
            return
        variable = self.shown[name.start_byte : name.end_byte]
        values: list[Traced | None] = [
            item
            for value in node.children_by_field_name("value")
            for item in self._fields(value.start_byte, value.end_byte)
        ]
        for value in values[:_MAX_LOOP] or [None]:
            if value is None or value.text.startswith("$"):
                self.variables.forget(variable)
            else:
                self.variables.assign(variable, value)
            self._all(body)

    def _redirected(self, node: Node) -> int:
        body = node.child_by_field_name("body")
        end = node.end_byte
        if body is None or body.type in {"command", "variable_assignment", "declaration_command", "ERROR"}:
            self._simple(node)
        else:
            self._statement(body)
        for child in node.children:
            if child.type == "heredoc_redirect":
                self._heredoc(node, child)
        return end

    def _heredoc(self, node: Node, redirect: Node) -> None:
        body = next((child for child in redirect.children if child.type == "heredoc_body"), None)
        head = next((child for child in redirect.children if child.type == "heredoc_start"), None)
        if body is None or head is None:
            return
        text = self.text.cut(body.start_byte, body.end_byte)
        first_line = self.shown[node.start_byte : body.start_byte]
        quoted = self.shown[head.start_byte] in "'\"\\"
        commands.read_heredoc(self.scan, text, self.variables, head=first_line, quoted=quoted)

    def _broken(self, node: Node) -> int:
        """Text that is no shell as a whole."""
        return self._lines(node.start_byte, node.end_byte)

    def _lines(self, position: int, end: int) -> int:
        """Read every line as a command of its own."""
        while position < end:
            stop = self.shown.find("\n", position)
            stop = len(self.shown) if stop < 0 else stop
            start = position + len(self.shown[position:stop]) - len(self.shown[position:stop].lstrip())
            position = stop + 1
            if start < stop and self.shown[start] != "#":
                position = max(position, self._run(start))
        return position

    def _simple(self, node: Node) -> int:
        end = self._run(node.start_byte)
        if "$(" in self.shown[node.start_byte : node.end_byte]:
            for inner in substitutions(node):
                self._all(inner)
        return max(end, node.end_byte) if node.type != "redirected_statement" else end

    def _fields(self, start: int, end: int) -> list[Traced]:
        try:
            return fields(self.text.cut(start, end), self.variables)
        except Unclosed:
            return []

    def _run(self, start: int) -> int:
        """Read the simple command whose first character this is; returns where it ends."""
        try:
            spans, end = command_words(self.shown, start)
            self.scan.effort.spend(end - start)
            words = [self.text.cut(*span) for span in spans]
            if not words:
                return end
            self._command(words, self.text.cut(start, end))
        except Unclosed as error:
            self.scan.effort.spend((len(self.shown) - start) // 4)  # it was looked for up to the end
            line = self.shown[start:].split("\n", 1)[0]
            if spoken.starts_engine(spoken.plain(Traced.stand_in(re.split("[\"'`]", line)[0]))):
                self.scan.note(self.text.cut(start, start + len(line)), f"not checked: {error}")
            return start + 1
        return end

    def _command(self, words: list[Traced], whole: Traced) -> None:
        raw = [word.text for word in words]
        if raw[0] in _DECLARERS:
            for word in words[1:]:
                if assign(word, self.variables) and raw[0] == "export":
                    self.variables.exported.add(re.split(r"\+?=", word.text)[0])
                elif raw[0] == "export":
                    self.variables.exported.add(word.text)
            return
        leading = 0
        while leading < len(words) and ASSIGNMENT.match(raw[leading]):
            leading += 1
        if leading == len(words):
            for word in words:
                assign(word, self.variables)
            return
        if raw[0] == "unset":
            for word in words[1:]:
                self.variables.forget(word.text)
            return
        self._started(words, whole, leading)

    def _started(self, words: list[Traced], whole: Traced, leading: int) -> None:
        expanded = [flat(word, self.variables) for word in words[:leading]]
        expanded += [item for word in words[leading:] for item in fields(word, self.variables)]
        if len(expanded) <= leading:
            return
        name = expanded[leading].text
        if name == "set" and [word.text for word in expanded[leading + 1 : leading + 2]] == ["--"]:
            self.variables.positional = expanded[leading + 2 :]
        elif name == "shift" and self.variables.positional:
            count = expanded[leading + 1].text if len(expanded) > leading + 1 else "1"
            self.variables.positional = self.variables.positional[int(count) if count.isdigit() else 1 :]
        elif name == "eval" and leading == 0:
            commands.read_script(self.scan, joined(expanded[1:], " "), self.variables, image=self.image)
        elif name in self.functions and not spoken.starts_engine(expanded):
            self._call(name, expanded[leading + 1 :])
        elif name.startswith("-"):
            self._severed(words, whole)
        else:
            self.scan.latest = None
            commands.read(self.scan, expanded, self.variables, image=self.image, start=whole)
            self.last = self.scan.latest
            self.stray = False
            self.called.add(name)

    def _severed(self, words: list[Traced], whole: Traced) -> None:
        """Flags that are a command of their own: a comment or a line end cut them off the one before."""
        flags = [word for word in words if _SPECULATIVE.match(word.text)]
        if not flags:
            return
        if self.last is None:
            if not self.stray:
                self.scan.note(whole, "not checked: speculative flags without an engine's command")
            self.stray = True
        else:
            self.last.lost += [self.scan.places.location(flag) for flag in flags]

    def _call(self, name: str, arguments: list[Traced] | None) -> None:
        self.called.add(name)
        if self.depth >= _MAX_DEPTH:
            return
        self.depth += 1
        outside = self.variables.positional
        self.variables.positional = arguments
        self._statement(self.functions[name])
        self.variables.positional = outside
        self.depth -= 1
