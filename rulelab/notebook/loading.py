"""Load into a shell and unload from it: the magics, their completion, and the hooks at each cell."""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from IPython.core.error import UsageError
from IPython.core.getipython import get_ipython

from ..ad.progress import cell_begins
from ..checking.advice.lint import Lint
from ..compiler.calls.cache import DEFAULT as CACHE
from ..compiler.calls.cache import refresh
from ..errors import RuleLabError
from ..nearest import nearest
from ..rules.registry import DEFAULT as RULES
from ..screen import of_message
from ..tables import Report
from .cells import MagicError, label_cell, label_earlier_cells
from .completion import matcher_for, sources_in
from .displays import shown_error
from .in_place import show_in_place
from .magics import RuleLab
from .manual import where_to_read
from .session import AT_UNLOADING, Session
from .settings import surroundings, without_bad_values


class _Loaded(NamedTuple):
    """What loading added to a shell and what it found there, so that unloading can remove exactly that."""

    magics: RuleLab
    hidden: dict[str, dict[str, Callable]]
    matcher: Any
    hooks: tuple[tuple[str, Callable], ...]
    refresh_mode: str
    shown_by: Callable | None


_shells: weakref.WeakSet[RuleLab] = weakref.WeakSet()
"""The magics of each shell of the process that has them: errors and notices are shared by the process."""


def load_ipython_extension(shell) -> None:
    """Run `%load_ext rulelab`: add the magics, their completion, and hooks at each cell, one that registers
    its number for messages and one that keeps rules on their names. Loading twice has no further effect.
    """
    if _loaded(shell) is not None:
        return
    mode = CACHE.mode
    remarks = without_bad_values(shell.config)
    magics = RuleLab(shell)
    hidden = {kind: dict(there) for kind, there in shell.magics_manager.magics.items()}
    shell.register_magics(magics)
    matcher = matcher_for(shell, lambda: _parsers(magics), sources_in(shell, magics.session))
    shell.Completer.custom_matchers.append(matcher)
    hooks = _hooks(shell, magics)
    shows = shell.display_formatter.ipython_display_formatter
    before = shows.for_type(Report, lambda report: show_in_place(shell, report))
    shell._rulelab = _Loaded(magics, hidden, matcher, hooks, mode, before)
    for event, hook in hooks:
        shell.events.register(event, hook)
    label_earlier_cells(shell)
    _shells.add(magics)
    magics.observe(_update_process_settings, "short_errors")
    decided = frozenset(magics.config.get("RuleLab", ()))
    for remark in (*remarks, *magics.read_surroundings(*surroundings(), decided=decided)):
        print(f"rulelab: {remark}", file=sys.stderr)
    _update_process_settings()


def unload_ipython_extension(shell) -> None:
    """Run `%unload_ext rulelab`: undo everything that loading did. Rules stay: they belong to their
    functions.
    """
    loaded = _loaded(shell)
    if loaded is None:
        return
    magics = loaded.magics
    for kind, names in magics.magics.items():
        there = shell.magics_manager.magics[kind]
        for name in names:
            if getattr(there.get(name), "__self__", None) is magics:  # the user may have made another
                del there[name]
                if name in loaded.hidden[kind]:
                    there[name] = loaded.hidden[kind][name]
    shell.magics_manager.registry.pop(type(magics).__name__, None)
    shell.configurables.remove(magics)
    shell.Completer.custom_matchers.remove(loaded.matcher)
    shows = shell.display_formatter.ipython_display_formatter
    shows.pop(Report, None)
    if loaded.shown_by is not None:
        shows.for_type(Report, loaded.shown_by)
    for event, hook in loaded.hooks:
        shell.events.unregister(event, hook)
    for close in AT_UNLOADING:
        close()
    del shell._rulelab
    _shells.discard(magics)
    _update_process_settings()
    if CACHE.mode != loaded.refresh_mode:
        refresh(loaded.refresh_mode)


def session() -> Session:
    """The session of the current shell; raises MagicError if the extension is not loaded."""
    shell = get_ipython()
    loaded = None if shell is None else _loaded(shell)
    if loaded is None:
        raise MagicError("there is no session: the magics come with `%load_ext rulelab`")
    return loaded.magics.session


def _hooks(shell, magics: RuleLab) -> tuple[tuple[str, Callable], ...]:
    def show_cell_number(info) -> None:
        label_cell(shell, info)

    def note_start_of_cell(info) -> None:
        cell_begins()

    def note_refresh_mode(info) -> None:
        magics.refresh_mode = CACHE.mode  # `rl.refresh("manual")` may have changed it

    def follow_redefinitions(result=None) -> None:
        for notice in magics.session.reattach(shell.user_ns):
            print_notice(notice)

    def suggest_magic(result=None) -> None:
        if meant := magic_meant(getattr(result, "error_in_exec", None), magics.magics):
            print(f"rulelab: did you mean {meant}?", file=sys.stderr)

    return (
        ("pre_run_cell", show_cell_number),
        ("pre_run_cell", note_start_of_cell),
        ("pre_run_cell", note_refresh_mode),
        ("post_run_cell", follow_redefinitions),
        ("post_run_cell", suggest_magic),
    )


OTHER_NAMES = {
    "prove": "rule_symbolic", "prove_rule": "rule_symbolic", "rule_prove": "rule_symbolic",
    "rule_doctor": "rule_check", "doctor": "rule_check", "check_rule": "rule_check",
    "test_rule": "rule_check",
    "vjp_check": "grad_check", "check_vjp": "grad_check", "check_grad": "grad_check",
    "check_gradient": "grad_check", "gradcheck": "grad_check",
    "compare": "grad_compare", "bench": "grad_bench", "rule_bench": "grad_bench", "profile": "grad_profile",
    "grad": "gradient", "vjp": "gradient", "backward": "gradient", "stability": "rule_scan",
    "derive": "rule_derive", "export": "rule_export", "panel": "rule_lab", "lab": "rule_lab",
    "stub": "rule_stub", "lint": "rule_lint", "source": "adjoint", "manual": "rule_docs", "docs": "rule_docs",
}  # fmt: skip
"""Names that a user may type to find a magic by what it does."""


def magic_meant(error: BaseException | None, ours: Mapping[str, Mapping[str, Any]]) -> str:
    """The magic that may have been intended where IPython does not know one; empty if none is similar.

    >>> magic_meant(UsageError("Line magic function `%gradeint` not found."), {"line": {"gradient": None}})
    '%gradient'
    """
    asked = re.match(r"(?:Line|Cell) magic (?:function )?`(%%?)(\w+)` not found", str(error))
    if not isinstance(error, UsageError) or asked is None:
        return ""
    marks, name = asked.groups()
    known = ours["line" if marks == "%" else "cell"]
    others = [other for other, meant in OTHER_NAMES.items() if meant in known]
    found = [name] if name in others else nearest(name, [*known, *others])
    return f"{marks}{OTHER_NAMES.get(found[0], found[0])}" if found else ""


def _loaded(shell) -> _Loaded | None:
    return getattr(shell, "_rulelab", None)


def print_notice(notice: str) -> None:
    """Print a notice, wrapped to fit the screen."""
    print("\n".join(of_message(notice.split("\n"))))


def _update_process_settings(change=None) -> None:
    """Set what belongs to the whole process as the shells with magics require: notices are lines of the
    output, not warnings, and rulelab's errors are shown by their own lines.

    The hook for errors is a method on their class, which IPython looks up on any exception; `set_custom_exc`
    has room for one handler in a shell, and another extension may need it.
    """
    if not _shells and print_notice in CACHE.on_notice:
        CACHE.on_notice.remove(print_notice)
    elif _shells and print_notice not in CACHE.on_notice:
        CACHE.on_notice.append(print_notice)
    RULES.remembers = 16 if _shells else 0
    Lint.told_where = staticmethod(where_to_read if _shells else str)
    if any(magics.short_errors for magics in _shells):
        setattr(RuleLabError, "_render_traceback_", shown_error)  # noqa: B010
    elif "_render_traceback_" in vars(RuleLabError):
        delattr(RuleLabError, "_render_traceback_")


def _parsers(magics: RuleLab) -> dict:
    return {name: method.parser for names in magics.magics.values() for name, method in names.items()}
