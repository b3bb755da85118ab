"""Python programs and notebooks: engines built from keyword arguments, and commands handed to a subprocess."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence

from drafter_lint.launch.files import bash, commands, data, engine_keys, spoken
from drafter_lint.launch.files.branches import Way, each_way
from drafter_lint.launch.files.data import Items, Leaf, Table, Value
from drafter_lint.launch.files.python_names import names_engine, read_names, relevant
from drafter_lint.launch.files.python_values import Names
from drafter_lint.launch.files.scan import Scan
from drafter_lint.launch.files.traced import Traced, joined
from drafter_lint.launch.files.variables import Variables

_VLLM = {"LLM", "AsyncEngineArgs", "EngineArgs", "AsyncLLM", "AsyncLLMEngine"}
_SGLANG = {"ServerArgs"}
_LAUNCHERS = {"popen_launch_server", "popen_launch_pd_server", "launch_server"}
_RUNNERS = {
    "run",
    "Popen",
    "check_call",
    "check_output",
    "call",
    "system",
    "popen",
    "create_subprocess_exec",
    "getoutput",
}
_SPECULATIVE = re.compile(r"--spec(?:ulative)?[-_]\w")
_TEXT = re.compile(r"vllm|sglang|--spec", re.IGNORECASE)
_MAGIC = re.compile(r"^[ \t]*[!%][^\n]*$", re.MULTILINE)
_STARTS = re.compile(
    r"LLM\(|EngineArgs\(|Engine\(|ServerArgs\(|Runtime\(|AsyncLLM|launch_server|vllm|sglang|--(?:sglang-)?spec",
    re.IGNORECASE,
)
_LIMIT = 8


def search(scan: Scan, text: Traced, variables: Variables) -> None:
    """Find the commands of a program."""
    shown = _MAGIC.sub(
        lambda match: "pass".ljust(len(match[0])) if len(match[0]) > 3 else "0".ljust(len(match[0])), text.text
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(shown)
    except (SyntaxError, ValueError, MemoryError):
        if _SPECULATIVE.search(text.text) or "speculative_config" in text.text:
            scan.note(text.cut(0, 1), "not checked: this is no Python that can be read")
        return
    if not _STARTS.search(text.text):
        return
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text.text))]
    program = _Program(scan, variables, relevant(tree), read_names(tree))

    def walk(way: Way) -> None:
        program.walk(way, tree, Names(text, starts, scan.variables, scan.spellings, scan.effort))

    left = each_way(walk, size=len(text))
    if left and scan.candidates:
        scan.note(text.cut(0, 1), f"not checked: {left} more arms of this program's branches")
    for match in _MAGIC.finditer(text.text):
        if match[0].lstrip().startswith("!"):
            commands.read_script(
                scan, text.cut(match.start() + match[0].index("!") + 1, match.end()), variables, image=None
            )


def search_notebook(scan: Scan, text: Traced, variables: Variables) -> None:
    """Find the commands of a notebook's code cells."""
    documents = list(data.load(text, scan.effort))
    if not documents and (match := _SPECULATIVE.search(text.text)):
        scan.note(text.cut(*match.span()), "not checked: this is no notebook that can be read")
    for document in documents:
        cells = document.get("cells") if isinstance(document, Table) else None
        for cell in data.sequence(cells):
            if not isinstance(cell, Table) or (kind := cell.text("cell_type")) is None or kind.text != "code":
                continue
            source = cell.get("source")
            lines = [item.text for item in data.sequence(source) if isinstance(item, Leaf)]
            code = source.text if isinstance(source, Leaf) else joined(lines)
            if match := re.match(r"\s*%%(?:bash|sh|script \w+)[^\n]*\n", code.text):
                bash.search(scan, code.cut(match.end(), len(code)), variables)
            elif code.text.lstrip().startswith("!"):
                commands.read_script(scan, code.cut(code.text.index("!") + 1, len(code)), variables, image=None)
            else:
                search(scan, code, variables)


class _Program:
    """One program, walked statement by statement."""

    def __init__(self, scan: Scan, variables: Variables, relevant: frozenset[str], read: frozenset[str]) -> None:
        self.scan = scan
        self.variables = variables
        self.relevant = relevant
        self.read = read
        self.choices: dict[ast.If, bool] = {}
        self.calls: dict[ast.AST, list[ast.Call]] = {}
        self.way = Way()
        self.waiting: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, Names]] = []

    def walk(self, way: Way, tree: ast.Module, names: Names) -> None:
        """Go one way through the program: the module first, then its functions, which see what it left."""
        self.way, self.waiting = way, []
        self._body(tree.body, names)
        while self.waiting:
            function, outside = self.waiting.pop(0)
            inside = outside.inside()
            for argument, default in _defaults(function):
                if default is None:
                    inside.held.pop(argument, None)
                else:
                    inside.held[argument] = outside.value(default)
            self._body(function.body, inside)

    def _body(self, body: Sequence[ast.stmt], names: Names) -> None:
        for statement in body:
            self._statement(statement, names)

    def _statement(self, node: ast.stmt, names: Names) -> None:
        self.scan.effort.spend(20)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.waiting.append((node, names))
        elif isinstance(node, ast.ClassDef):
            self._body(node.body, names.inside())
        elif isinstance(node, ast.If):
            self._branch(node, names)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self._calls(node.iter, names)
            self._loop(node, names)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self._calls(item.context_expr, names)
            self._body(node.body, names)
        elif isinstance(node, ast.While):
            self._body(node.body, names)
        elif isinstance(node, ast.Try):
            self._body([*node.body, *node.orelse, *node.finalbody], names)
        else:
            self._calls(node, names)
            self._assign(node, names)

    def _branch(self, node: ast.If, names: Names) -> None:
        if isinstance(node.test, ast.Compare) and ast.unparse(node.test) == "__name__ == '__main__'":
            self._body(node.body, names)
            return
        if node not in self.choices:
            inside = list(ast.walk(node))
            held = {item.id for item in inside if isinstance(item, ast.Name)}
            self.choices[node] = bool(held & self.relevant) or any(names_engine(item) for item in inside)
        if not self.choices[node]:
            self._body([*node.body, *node.orelse], names)
        elif self.way.choose(node.lineno * 1000 + node.col_offset, 2):
            self._body(node.orelse, names)
        else:
            self._body(node.body, names)

    def _loop(self, node: ast.For | ast.AsyncFor, names: Names) -> None:
        values = names.value(node.iter)
        rounds: Sequence[Value | None] = values.items[:_LIMIT] if isinstance(values, Items) else (None,)
        for value in rounds:
            if isinstance(node.target, ast.Name):
                _hold(names, node.target.id, value)
            elif isinstance(node.target, ast.Tuple):
                parts = value.items if isinstance(value, Items) else ()
                for index, target in enumerate(node.target.elts):
                    if isinstance(target, ast.Name):
                        _hold(names, target.id, parts[index] if index < len(parts) else None)
            self._body(node.body, names)

    def _assign(self, node: ast.stmt, names: Names) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._set(target, node.value, names)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._set(node.target, node.value, names)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            held, added = names.held.get(node.target.id), names.value(node.value)
            names.weigh(held)
            if isinstance(held, Items) and isinstance(added, Items):
                names.held[node.target.id] = Items((*held.items, *added.items))
            elif isinstance(held, Leaf) and isinstance(added, Leaf) and held.kind == added.kind == "text":
                names.held[node.target.id] = Leaf(joined([held.text, added.text]))
            else:
                names.held.pop(node.target.id, None)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            _grown(node.value, names)

    def _set(self, target: ast.expr, value: ast.expr, names: Names) -> None:
        if isinstance(target, ast.Name):
            names.held[target.id] = names.value(value)
        elif isinstance(target, ast.Tuple):
            parts = names.value(value)
            for index, item in enumerate(target.elts):
                if isinstance(item, ast.Name):
                    known = parts.items if isinstance(parts, Items) else ()
                    _hold(names, item.id, known[index] if index < len(known) else None)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            held, key = names.held.get(target.value.id), names.value(target.slice)
            if isinstance(held, Table) and isinstance(key, Leaf):
                others = (entry for entry in held.entries if entry[0].text != key.text.text)
                names.held[target.value.id] = Table((*others, (key.text, names.value(value))))

    def _calls(self, node: ast.AST, names: Names) -> None:
        if node not in self.calls:
            self.calls[node] = [item for item in ast.walk(node) if isinstance(item, ast.Call)]
        for call in self.calls[node]:
            self._call(call, names)
        if isinstance(node, ast.Assign):
            self._held_text(node, names)

    def _call(self, node: ast.Call, names: Names) -> None:
        function = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
        short = function.rpartition(".")[2]
        if short in _VLLM or (function.rpartition(".")[0] in _VLLM and short == "from_engine_args"):
            self._engine(node, names, engine="vllm", positional="model")
        elif short in _SGLANG or (short in {"Engine", "Runtime"} and "sglang" in self.scan.text):
            self._engine(node, names, engine="sglang", positional="model_path")
        elif short in _LAUNCHERS:
            self._launcher(node, names)
        else:
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                self._argument(node, argument, names, runs=short in _RUNNERS)

    def _engine(self, node: ast.Call, names: Names, *, engine: str, positional: str) -> None:
        table = names.keywords(node)
        if node.args and not isinstance(node.args[0], ast.Starred):
            table = Table(((Traced.stand_in(positional), names.value(node.args[0])), *table.entries))
        if not table.entries:
            return
        words = engine_keys.words(table, engine=engine)
        commands.flags_alone(self.scan, words, engine=engine, start=names.text(node), image=None)

    def _launcher(self, node: ast.Call, names: Names) -> None:
        """``popen_launch_server(model, url, timeout, other_args=[…])``, as sglang's own tests start it."""
        given = next((keyword.value for keyword in node.keywords if keyword.arg == "other_args"), None)
        if given is None:
            return
        others = names.value(given)
        model = names.value(node.args[0]) if node.args else None
        words = [item.text if isinstance(item, Leaf) else data.to_json(item) for item in data.sequence(others)]
        target = [Traced.stand_in("--model-path"), model.text] if isinstance(model, Leaf) else []
        commands.flags_alone(self.scan, [*target, *words], engine="sglang", start=names.text(node), image=None)

    def _argument(self, call: ast.Call, node: ast.expr, names: Names, *, runs: bool) -> None:
        if isinstance(node, (ast.Call, ast.Dict)):
            return
        value = names.value(node)
        where = names.text(call)
        if isinstance(value, Items):
            words = [item.text if isinstance(item, Leaf) else data.to_json(item) for item in value.items]
            if spoken.starts_engine(words):
                commands.read(self.scan, words, self.variables, image=None, start=where)
        elif isinstance(value, Leaf) and value.kind == "text" and _TEXT.search(value.text.text):
            if runs and " " in value.text.text:
                commands.read_script(self.scan, value.text, self.variables, image=None)
            elif not runs:
                keyword = next((item.arg for item in call.keywords if item.value is node), "")
                self._flags(keyword or "", value.text, where)

    def _held_text(self, node: ast.Assign, names: Names) -> None:
        """``engine_args = "--speculative-…"`` and commands kept in a name, for somebody else to run."""
        target = node.targets[0]
        value = names.value(node.value)
        if not isinstance(target, ast.Name) or target.id in self.read:
            return
        if isinstance(value, Leaf) and value.kind == "text":
            self._flags(target.id, value.text, value.text)

    def _flags(self, name: str, text: Traced, where: Traced) -> None:
        if not re.search(r"args|flags|cmd|command|options", name, re.IGNORECASE):
            return
        words = spoken.plain(text)
        if any(word.text.startswith("--sglang-spec") for word in words):
            commands.read_held(self.scan, words, self.variables, image=None)
        elif spoken.starts_engine(words):
            commands.read_script(self.scan, text, self.variables, image=None)
        elif words and words[0].text.startswith("-") and any(_SPECULATIVE.match(word.text) for word in words):
            engine = re.search(r"vllm|sglang", name, re.IGNORECASE)
            commands.flags_alone(
                self.scan, words, engine=engine[0].lower() if engine else None, start=where, image=None
            )


def _hold(names: Names, name: str, value: Value | None) -> None:
    if value is None:
        names.held.pop(name, None)
    else:
        names.held[name] = value


def _grown(call: ast.Call, names: Names) -> None:
    """``list.append``, ``list.extend`` and ``dict.update`` on a known name."""
    if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return
    name, method = call.func.value.id, call.func.attr
    held = names.held.get(name)
    added = names.value(call.args[0]) if call.args else None
    names.weigh(held)
    if isinstance(held, Items) and added is not None and method in {"append", "extend"}:
        new = (added,) if method == "append" else added.items if isinstance(added, Items) else ()
        names.held[name] = Items((*held.items, *new))
    elif isinstance(held, Table) and method == "update":
        entries = added.entries if isinstance(added, Table) else ()
        new_entries = (*entries, *names.keywords(call).entries)
        taken = {key.text for key, _ in new_entries}
        names.held[name] = Table((*(entry for entry in held.entries if entry[0].text not in taken), *new_entries))


def _defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[str, ast.expr | None]]:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    padding: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    pairs: list[tuple[str, ast.expr | None]] = [
        (argument.arg, default) for argument, default in zip(positional, [*padding, *arguments.defaults], strict=True)
    ]
    pairs += [(item.arg, default) for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return pairs
