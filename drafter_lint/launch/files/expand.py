"""What a shell makes of a word: variables, arrays, defaults and sums put in, every character still traced."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from drafter_lint.launch.files.arithmetic import edited, total
from drafter_lint.launch.files.effort import Effort
from drafter_lint.launch.files.quoting import TEMPLATE, Unclosed, ansi, backtick, bracket, double, single
from drafter_lint.launch.files.traced import Traced, joined
from drafter_lint.launch.files.variables import Variables
from drafter_lint.launch.words import protected

_NAME = re.compile(r"[A-Za-z_]\w*|[0-9]+|[@*#?$!-]")
_SIMPLE = re.compile(r"[A-Za-z_]\w*|[0-9@*]")
_SUBSCRIPT = re.compile(r"\[([^\[\]]*)\]")
_OPERATOR = re.compile(r":?[-=+?]|##?|%%?|//?|\^\^?|,,?|:")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_ELEMENT = re.compile(r"\[([^\]]+)\]=")
_ARRAY_LIMIT = 2_000
_EXPANSION_LIMIT = 20_000  # characters of one word; scripts that double a variable in a loop stop here


@dataclass(slots=True)
class _Fields:
    """The fields a word becomes; the last one is still open."""

    done: list[Traced] = field(default_factory=list)
    parts: list[Traced] = field(default_factory=list)
    started: bool = False

    def add(self, part: Traced) -> None:
        self.parts.append(part)
        self.started = True

    def end(self) -> None:
        if self.started:
            self.done.append(joined(self.parts))
        self.parts, self.started = [], False


def fields(word: Traced, variables: Variables) -> list[Traced]:
    """The fields a shell makes of one word: none, one or several."""
    result = _Fields()
    try:
        _expand(word, variables, result)
    except Unclosed:
        return [word]  # no shell would take it: it stays as written
    result.end()
    return result.done


def flat(word: Traced, variables: Variables) -> Traced:
    """The same as one text, as in an assignment, where nothing is split."""
    result = _Fields()
    try:
        _expand(word, variables, result, split=False)
    except Unclosed:
        return word
    result.end()
    return joined(result.done, " ")


def array_items(inside: Traced, words: list[tuple[int, int]], variables: Variables) -> list[Traced]:
    """The elements of an array literal."""
    return [item for start, end in words[:_ARRAY_LIMIT] for item in fields(inside.cut(start, end), variables)]


def element(word: Traced) -> tuple[str, Traced] | None:
    """The key and the value of ``[key]=value`` in an array literal."""
    match = _ELEMENT.match(word.text)
    return (match[1].strip("\"'"), word.cut(match.end(), len(word))) if match else None


def interpolated(text: Traced, variables: Variables) -> Traced:
    """Text with ``$VAR`` and ``${VAR:-default}`` put in whatever its quotes say, and ``$$`` for a dollar (compose)."""
    parts: list[Traced] = []
    position = 0
    while position < len(text):
        following = text.text.find("$", position)
        stop = len(text) if following < 0 else following
        parts.append(text.cut(position, stop))
        if following < 0:
            break
        if text.text.startswith("$$", stop):
            parts.append(text.cut(stop, stop + 1))
            position = stop + 2
        else:
            result = _Fields()
            try:
                position = _dollar(text, stop, variables, result, quoted=True)
            except Unclosed:
                return joined([*parts, text.cut(stop, len(text))])
            result.end()
            parts += result.done
    return joined(parts)


def _expand(word: Traced, variables: Variables, result: _Fields, *, split: bool = True) -> None:
    text, position = word.text, 0
    while position < len(text):
        start = position
        if text[position] in "\\'\"`":
            position = _quoted(word, position, variables, result)
        elif template := TEMPLATE.match(text, position):
            position = template.end()
            result.add(_given(word.cut(start, position), variables))
        elif text.startswith("$'", position):
            position = ansi(text, position + 1)
            result.add(_escapes(word.cut(start + 2, position - 1)))
        elif text[position] == "$":
            position = _dollar(word, position, variables, result, quoted=not split)
        else:
            while position < len(text) and text[position] not in "\\'\"`$<{":
                position += 1
            position = max(position, start + 1)
            result.add(word.cut(start, position))


def _quoted(word: Traced, start: int, variables: Variables, result: _Fields) -> int:
    """Take a quoted part off; returns where it ends."""
    text = word.text
    if text[start] == "\\":
        position = start + (3 if text.startswith("\r\n", start + 1) else 2)
        if text[start + 1 : start + 2] not in {"\n", "\r"}:
            result.add(_protected(word.cut(start + 1, position), text[position : position + 1], variables))
    elif text[start] == "'":
        position = single(text, start)
        result.add(_protected(word.cut(start + 1, position - 1), "", variables))
    elif text[start] == '"':
        position = double(text, start)
        _double(word.cut(start + 1, position - 1), variables, result)
    else:
        position = backtick(text, start)
        if not text[start + 1 : position - 1].lstrip().startswith("#"):  # a comment in a continuation: `# …`
            result.add(word.cut(start, position))
    return position


def _protected(inside: Traced, following: str, variables: Variables) -> Traced:
    """Quoted text: a dollar in it is a dollar. ``following`` is the character behind it."""
    if "$" not in inside.text or not variables.quotes_protect:
        return inside
    return inside.retyped(protected(inside.text + following)[: len(inside)])


def _double(inside: Traced, variables: Variables, result: _Fields) -> None:
    text, position = inside.text, 0
    if not re.fullmatch(r"\$(?:@|\{\w+\[@\].*\}|\{@.*\})", text, re.DOTALL):
        result.add(inside.cut(0, 0))  # "" is a field, "$@" of nothing is none
    while position < len(text):
        start, character = position, text[position]
        if character == "\\" and text[position + 1 : position + 2] in {"$", "`", '"', "\\", "\n"}:
            position += 2
            if text[start + 1] != "\n":
                result.add(_protected(inside.cut(start + 1, position), text[position : position + 1], variables))
        elif template := TEMPLATE.match(text, position):
            position = template.end()
            result.add(_given(inside.cut(start, position), variables))
        elif character == "$":
            position = _dollar(inside, position, variables, result, quoted=True)
        else:
            position += 1
            while position < len(text) and text[position] not in "\\$<{":
                position += 1
            result.add(inside.cut(start, position))


def _dollar(word: Traced, at: int, variables: Variables, result: _Fields, *, quoted: bool) -> int:
    """Put in what the dollar at ``at`` stands for; returns where it ends."""
    text = word.text
    if text.startswith("$((", at):
        end = bracket(text, at + 1)
        whole = word.cut(at, end)
        number = total(whole.text[3:-2], variables) if text.startswith("))", end - 2) else None
        result.add(whole if number is None else Traced.stand_in(str(number), whole.extent()))
        return end
    if text.startswith("$(", at):
        end = bracket(text, at + 1)
        result.add(word.cut(at, end))
        return end
    if text.startswith("${", at):
        end = bracket(text, at + 1)
        variables.effort.spend(end - at)  # nested ones are read once for each level
        found = _braced(word.cut(at + 2, end - 1), variables)
        _put(found, word.cut(at, end), result, quoted=quoted, effort=variables.effort)
        return end
    match = _SIMPLE.match(text, at + 1)
    if match is None:
        result.add(word.cut(at, at + 1))
        return at + 1
    name, whole = match[0], word.cut(at, match.end())
    if name in {"@", "*"}:
        items = variables.items(name)
        together = None if items is None else [joined(items, " ")] if name == "*" and quoted else items
        _put(together, whole, result, quoted=quoted, effort=variables.effort)
    else:
        value = variables.value(name)
        _put(value, whole, result, quoted=quoted, effort=variables.effort)
    return match.end()


def _put(found: Traced | list[Traced] | None, whole: Traced, result: _Fields, *, quoted: bool, effort: Effort) -> None:
    """Add a value, several fields, or, when nobody knows, the expression itself."""
    if found is None:
        result.add(whole)
        return
    if isinstance(found, Traced):
        if len(found) > _EXPANSION_LIMIT:
            result.add(whole)
            return
        effort.spend(len(found))
        used = found.standing_at(whole.extent())
        if quoted:
            result.add(used)
        else:
            _split(used, result)
        return
    for index, item in enumerate(found):
        effort.spend(len(item) + 10)
        if index:
            result.end()
        used = item.standing_at(whole.extent())
        if quoted:
            result.add(used)
        else:
            _split(used, result)


def _split(value: Traced, result: _Fields) -> None:
    """Cut an unquoted value into fields; what is left to fill in stays whole."""
    position = 0
    for match in re.finditer(r"(?:\$\{[^{}]*\}|\$\([^()]*\)|\{\{[^{}]*\}\}|<[A-Za-z_][\w .-]*>|\S)+", value.text):
        if match.start() > position:
            result.end()
        result.add(value.cut(*match.span()))
        position = match.end()
    if position < len(value) and position:
        result.end()


def _braced(inside: Traced, variables: Variables) -> Traced | list[Traced] | None:
    """``${…}``: a value, the elements of an array, or None when nobody knows."""
    text = inside.text
    name = _NAME.match(text)
    if name is None or (text.startswith("#") and len(text) > 1):
        return _length(text, variables)
    position = name.end()
    subscript = _SUBSCRIPT.match(text, position)
    value: Traced | list[Traced] | None
    if subscript:
        position = subscript.end()
        value = _subscripted(name[0], subscript[1], variables)
    elif name[0] in {"@", "*"}:
        value = variables.items(name[0])
    else:
        value = variables.value(name[0])
    operator = _OPERATOR.match(text, position)
    if operator is None:
        return value if position == len(text) else None
    rest = inside.cut(operator.end(), len(text))
    return _operated(operator[0], name=name[0], value=value, rest=rest, variables=variables)


def _operated(
    operator: str, *, name: str, value: Traced | list[Traced] | None, rest: Traced, variables: Variables
) -> Traced | list[Traced] | None:
    empty = operator.startswith(":") and not value.text if isinstance(value, Traced) else not value
    if operator in {":-", "-", ":=", "="}:
        if not empty:
            return value
        default = flat(rest, variables)
        if "=" in operator:
            variables.assign(name, default)
        return default
    if operator in {":+", "+"}:
        # Whether an unknown variable is set is not known; a text that names the variable itself says no more.
        return None if value is None else Traced("", ()) if empty else fields(rest, variables)
    if operator in {":?", "?"} or value is None:
        return value
    if isinstance(value, list):
        return _slice(value, rest.text) if operator == ":" else None
    return edited(operator, value, flat(rest, variables).text)


def _slice(items: list[Traced], bounds: str) -> list[Traced] | None:
    start, _, count = bounds.partition(":")
    if not start.strip().isdigit() or (count and not count.strip().isdigit()):
        return None
    first = int(start)
    return items[first : first + int(count)] if count else items[first:]


def _length(text: str, variables: Variables) -> Traced | None:
    match = re.fullmatch(r"#(\w+)(\[[@*]\])?", text)
    if match is None:
        return None
    if match[2]:
        items = variables.items(match[1])
        return None if items is None else Traced.stand_in(str(len(items)))
    value = variables.value(match[1])
    return None if value is None else Traced.stand_in(str(len(value)))


def _subscripted(name: str, key: str, variables: Variables) -> Traced | list[Traced] | None:
    if key in {"@", "*"}:
        return variables.items(name)
    key = flat(Traced.stand_in(key), variables).text.strip()
    if name in variables.tables:
        return variables.tables[name].get(key)
    items = variables.items(name)
    if items is None or not key.isdigit() or int(key) >= len(items):
        return None
    return items[int(key)]


def _given(template: Traced, variables: Variables) -> Traced:
    """A template's gap, filled if the user says what it is."""
    name = template.text.strip("${}<>- .").removeprefix("env.").removeprefix("Values.")
    if name in variables.given:
        return Traced.stand_in(variables.given[name], template.extent())
    return template


def _escapes(inside: Traced) -> Traced:
    parts: list[Traced] = []
    position = 0
    while position < len(inside):
        if inside.text[position] == "\\" and inside.text[position + 1 : position + 2] in _ESCAPES:
            parts.append(inside.cut(position, position + 1).retyped(_ESCAPES[inside.text[position + 1]]))
            position += 2
        else:
            parts.append(inside.cut(position, position + 1))
            position += 1
    return joined(parts)
