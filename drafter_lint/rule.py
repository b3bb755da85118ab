"""What a rule is: a code, a slug, the outcome it warns of, a page, and one pure generator over its scope."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace, UnionType
from typing import Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from drafter_lint.drafters import Drafter
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Found, Outcome, Skip
from drafter_lint.scope import Alone, Deployment, Locked, Pair, Reading, Stated, Suppressing

ScopeName = Literal["reading", "alone", "pair", "deployment", "stated", "suppressing", "locked"]
#: Scope types by name; a rule's annotation is one of them.
SCOPES: dict[object, ScopeName] = {
    Reading: "reading",
    Alone: "alone",
    Pair: "pair",
    Deployment: "deployment",
    Stated: "stated",
    Suppressing: "suppressing",
    Locked: "locked",
}
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class NotChecked:
    """What a rule yields instead of a finding when it cannot decide.

    ``needed`` means the verdict would rest on it: a check that is otherwise clean becomes ``unknown``.
    """

    reason: str
    needed: bool = False


def cut_short(trouble: Unavailable) -> NotChecked:
    """A comparison that no engine makes and that could not be made here: the verdict does not rest on it.

    Unless a Hub failed to answer. What it would have shown is then a matter of luck, and luck is no pass.
    """
    return NotChecked(str(trouble), needed=trouble.passing)


Checks = Iterator[Found | NotChecked]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule(Generic[S]):
    """One rule; equal to itself alone.

    Attributes:
        code: "DFL401"; never reused.
        name: its slug; works wherever the code does.
        outcome: what it warns of, unless a finding says otherwise.
        scope: what it looks at, read from the check's annotation; of several, the least.
        drafters: the drafter types it applies to.
        check: yields findings, or reasons why it could not check.
        page: its manual page in Markdown, from its module's docstring.
        wider: the scopes it judges by instead where they can be made, ascending.
    """

    code: str
    name: str
    outcome: Outcome
    scope: ScopeName
    drafters: type[Drafter]
    check: Callable[[S], Checks]
    page: str
    wider: tuple[ScopeName, ...] = ()

    @property
    def scopes(self) -> tuple[ScopeName, ...]:
        """Every scope it can judge by, ascending."""
        return (self.scope, *self.wider)

    @property
    def family(self) -> str:
        """The first digit: what is looked at."""
        return self.code[3]

    @property
    def title(self) -> str:
        """The first line of the page."""
        return self.page.split("\n", 1)[0].rstrip(".")

    def skip(self, reason: str, *, needed: bool = False) -> Skip:
        """This rule, not checked."""
        return Skip(self.code, self.name, reason, needed=needed)


def rule(code: str, name: str, outcome: Outcome) -> Callable[[Callable[[S], Checks]], Rule[S]]:
    """Turn a check into a rule; scopes and drafter type come from its only parameter's annotation.

    Raises:
        TypeError: the annotation is no scope, or the module has no page.
    """

    def register(check: Callable[[S], Checks]) -> Rule[S]:
        # What it returns is of no interest: 129 modules of rules are a good part of a short run.
        (written,) = ((name, text) for name, text in check.__annotations__.items() if name != "return")
        parameter = SimpleNamespace(__annotations__=dict([written]))
        (annotation,) = get_type_hints(parameter, check.__globals__).values()
        several = get_origin(annotation) in {Union, UnionType}
        kinds = get_args(annotation) if several else (annotation,)
        origins = [get_origin(kind) or kind for kind in kinds]
        (drafter,) = get_args(kinds[0]) or (Drafter,)
        if not set(origins) <= set(SCOPES):
            raise TypeError(f"{code}: {annotation} is no scope")
        scope, *wider = sorted((SCOPES[origin] for origin in origins), key=list(SCOPES.values()).index)
        module = inspect.getmodule(check)
        page = inspect.cleandoc((module.__doc__ if module else None) or "")
        if not re.search(r"^## Fix$", page, re.MULTILINE):
            raise TypeError(f"{code}: the module's docstring is its manual page and needs a Fix section")
        return Rule(
            code=code,
            name=name,
            outcome=outcome,
            scope=scope,
            drafters=drafter,
            check=check,
            page=page,
            wider=tuple(wider),
        )

    return register
