"""What the names of a Python program hold, as far as its text says: constants, lists, dicts, joined strings."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from drafter_lint.launch.files import literals, spoken
from drafter_lint.launch.files.data import Items, Leaf, Table, Value, to_json
from drafter_lint.launch.files.effort import Effort
from drafter_lint.launch.files.traced import Traced, joined

_MAX_DEPTH = 40
_DOTTED = re.compile(r"[A-Za-z_][\w.]*")


@dataclass(slots=True)
class Names:
    """The names in sight, and the text they were written in.

    Attributes:
        source: the program.
        starts: the offset of every line's first character.
        held: what each name holds.
        given: what the user says unknown names are.
        spellings: what the gaps put into words are called in the program.
        effort: what putting values in is charged to.
    """

    source: Traced
    starts: list[int]
    given: Mapping[str, str]
    spellings: dict[str, str]
    effort: Effort
    held: dict[str, Value] = field(default_factory=dict)
    depth: int = 0

    def inside(self) -> Names:
        """The names a function sees, its own assignments kept to itself."""
        return Names(self.source, self.starts, self.given, self.spellings, self.effort, dict(self.held), self.depth)

    def text(self, node: ast.expr | ast.stmt | ast.keyword) -> Traced:
        """The characters of a node."""
        end_line, end_column = node.end_lineno, node.end_col_offset
        if end_line is None or end_column is None:
            return self.source.cut(0, 0)
        return self.source.cut(self._offset(node.lineno, node.col_offset), self._offset(end_line, end_column))

    def value(self, node: ast.expr) -> Value:
        """What an expression holds; its own text as a gap where that is not known."""
        self.depth += 1
        try:
            found = self._known(node) if self.depth < _MAX_DEPTH else None
        finally:
            self.depth -= 1
        self.weigh(found)
        return self.gap(node) if found is None else found

    def weigh(self, value: Value | None) -> None:
        """Charge for a value that is put together: a program may double one again and again."""
        if isinstance(value, Leaf):
            self.effort.spend(len(value.text))
        elif value is not None:
            self.effort.spend(len(value.items if isinstance(value, Items) else value.entries))

    def gap(self, node: ast.expr) -> Leaf:
        """An expression nobody can evaluate, as ``{its text}``."""
        text = self.text(node)
        name = _DOTTED.match(text.text)
        if name and name[0] == text.text and text.text in self.given:
            return Leaf(Traced.stand_in(self.given[text.text], text.extent()))
        label = text.text if name and name[0] == text.text else "expression"
        self.spellings["{" + label + "}"] = " ".join(text.text.split())[:80]
        return Leaf(Traced.stand_in("{" + label + "}", text.extent()), "gap")

    def _offset(self, line: int, column: int) -> int:
        """A position of the syntax tree, whose columns count bytes."""
        start = self.starts[line - 1] if line <= len(self.starts) else len(self.source)
        stop = self.starts[line] if line < len(self.starts) else len(self.source)
        text = self.source.text[start:stop]
        if text.isascii():
            return start + column
        return start + len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))

    def _known(self, node: ast.expr) -> Value | None:
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.JoinedStr):
            return Leaf(literals.formatted(self.text(node), self._inline))
        if isinstance(node, ast.Name):
            return self.held.get(node.id)
        if isinstance(node, (ast.List, ast.Tuple, ast.Dict)):
            return self._dict(node) if isinstance(node, ast.Dict) else Items(tuple(self._spread(node.elts)))
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Subscript):
            return self._item(node)
        if isinstance(node, ast.IfExp):
            return self._either(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return Leaf(self.text(node), "number")
        return None

    def _constant(self, node: ast.Constant) -> Value:
        text = self.text(node)
        if isinstance(node.value, str):
            return Leaf(literals.literal(text, node.value))
        if node.value is None:
            return Leaf(text, "null")
        if isinstance(node.value, bool):
            return Leaf(text, "boolean")
        shown = text.text.replace("_", "")
        return Leaf(text if shown == text.text else Traced.stand_in(shown, text.extent()), "number")

    def _inline(self, expression: str) -> Traced | None:
        try:
            node = ast.parse(expression, mode="eval").body
        except (SyntaxError, ValueError, MemoryError):
            return None
        if isinstance(node, ast.Name):
            value = self.held.get(node.id)
            if value is None and node.id in self.given:
                return Traced.stand_in(self.given[node.id])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "dumps":
            argument = node.args[0] if node.args else None
            value = self.held.get(argument.id) if isinstance(argument, ast.Name) else None
            return None if value is None else to_json(value)
        else:
            return None
        return value.text if isinstance(value, Leaf) and value.kind != "gap" else None

    def _spread(self, nodes: list[ast.expr]) -> list[Value]:
        found: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                value = self.value(node.value)
                found += value.items if isinstance(value, Items) else (value,)
            else:
                found.append(self.value(node))
        return found

    def _dict(self, node: ast.Dict) -> Table:
        entries: list[tuple[Traced, Value]] = []
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.value(item)
            if key is None:
                entries += value.entries if isinstance(value, Table) else ()
                continue
            name = self.value(key)
            if isinstance(name, Leaf):
                entries = [entry for entry in entries if entry[0].text != name.text.text]
                entries.append((name.text, value))
        return Table(tuple(entries))

    def keywords(self, node: ast.Call) -> Table:
        """The keyword arguments of a call, ``**`` of a known dict included."""
        entries: list[tuple[Traced, Value]] = []
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg is None:
                entries += value.entries if isinstance(value, Table) else ()
            else:
                name = self.text(keyword).cut(0, len(keyword.arg))
                entries = [entry for entry in entries if entry[0].text != keyword.arg]
                entries.append((name if name.text == keyword.arg else Traced.stand_in(keyword.arg), value))
        return Table(tuple(entries))

    def _operation(self, node: ast.BinOp) -> Value | None:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Add) and isinstance(left, Items) and isinstance(right, Items):
            return Items((*left.items, *right.items))
        if isinstance(node.op, ast.BitOr) and isinstance(left, Table) and isinstance(right, Table):
            names = {key.text for key, _ in right.entries}
            return Table((*(entry for entry in left.entries if entry[0].text not in names), *right.entries))
        if isinstance(left, Leaf) and isinstance(right, Leaf) and "gap" not in {left.kind, right.kind}:
            if isinstance(node.op, ast.Add) and left.kind == right.kind == "text":
                return Leaf(joined([left.text, right.text]))
            if left.kind == right.kind == "number":
                return self._number(node, left.text.text, right.text.text)
        elif isinstance(node.op, ast.Add) and isinstance(left, Leaf) and isinstance(right, Leaf):
            return Leaf(joined([left.text, right.text])) if "text" in {left.kind, right.kind} else None
        return None

    def _number(self, node: ast.BinOp, left: str, right: str) -> Value | None:
        if not re.fullmatch(r"-?\d{1,9}", left) or not re.fullmatch(r"-?\d{1,9}", right):
            return None
        a, b = int(left), int(right)
        sums = {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b, ast.FloorDiv: a // b if b else None}
        result = sums.get(type(node.op))
        return None if result is None else Leaf(Traced.stand_in(str(result), self.text(node).extent()), "number")

    def _call(self, node: ast.Call) -> Value | None:
        name = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
        short = name.rpartition(".")[2]
        if name == "dict":
            keywords = self.keywords(node)
            base = self.value(node.args[0]) if node.args else Table(())
            names = {key.text for key, _ in keywords.entries}
            own = base.entries if isinstance(base, Table) else ()
            return Table((*(entry for entry in own if entry[0].text not in names), *keywords.entries))
        if name in {"list", "tuple", "copy.deepcopy", "copy.copy", "deepcopy", "Path", "pathlib.Path"} and node.args:
            return self.value(node.args[0])
        if name in {"str", "int", "os.path.expanduser", "shlex.quote"} and node.args:
            value = self.value(node.args[0])
            return Leaf(value.text, value.kind if value.kind == "gap" else "text") if isinstance(value, Leaf) else None
        if name in {"os.environ.get", "os.getenv", "getenv", "environ.get"} and node.args:
            return self._setting(node)
        if short == "dumps" and node.args:
            return Leaf(to_json(self.value(node.args[0])))
        if name == "shlex.split" and node.args:
            value = self.value(node.args[0])
            return Items(tuple(map(Leaf, spoken.plain(value.text)))) if isinstance(value, Leaf) else None
        return self._method(node)

    def _setting(self, node: ast.Call) -> Value | None:
        name = self.value(node.args[0])
        if isinstance(name, Leaf) and name.text.text in self.given:
            return Leaf(Traced.stand_in(self.given[name.text.text], self.text(node).extent()))
        return self.value(node.args[1]) if len(node.args) > 1 else None

    def _method(self, node: ast.Call) -> Value | None:
        if not isinstance(node.func, ast.Attribute):
            return None
        owner = self.value(node.func.value)
        if node.func.attr == "join" and isinstance(owner, Leaf) and node.args:
            parts = self.value(node.args[0])
            if isinstance(parts, Items):
                return Leaf(joined([item.text for item in parts.items if isinstance(item, Leaf)], owner.text.text))
        if node.func.attr == "split" and isinstance(owner, Leaf) and owner.kind == "text" and not node.args:
            return Items(tuple(Leaf(owner.text.cut(*match.span())) for match in re.finditer(r"\S+", owner.text.text)))
        if node.func.attr in {"strip", "copy", "lower", "upper"}:
            return owner if node.func.attr in {"strip", "copy"} else None
        return None

    def _item(self, node: ast.Subscript) -> Value | None:
        owner, key = self.value(node.value), self.value(node.slice)
        if isinstance(owner, Table) and isinstance(key, Leaf):
            return owner.get(key.text.text)
        if isinstance(owner, Items) and isinstance(key, Leaf) and re.fullmatch(r"\d{1,6}", key.text.text):
            index = int(key.text.text)
            return owner.items[index] if index < len(owner.items) else None
        return None

    def _either(self, node: ast.IfExp) -> Value | None:
        """The arm that says something, if the other one says nothing; which of two is not known."""
        body, other = self.value(node.body), self.value(node.orelse)
        if _is_nothing(other):
            return body
        return other if _is_nothing(body) else None


def _is_nothing(value: Value) -> bool:
    return (isinstance(value, Leaf) and value.kind == "null") or (isinstance(value, Items) and not value.items)
