"""Loading into a shell and unloading from it: the magics, their completion, the hooks at each cell."""

from __future__ import annotations

from typing import Any, NamedTuple

from IPython.core.getipython import get_ipython

from ..compiler.cache import DEFAULT as CACHE
from .cells import MagicError, label_cell, label_earlier_cells
from .completion import matcher_for
from .magics import RuleLab
from .session import Session
from .settings import show_errors_short


class _Loaded(NamedTuple):
    """What loading put into a shell, so that unloading can take exactly that away."""

    magics: RuleLab
    matcher: Any
    hooks: dict[str, Any]


def load_ipython_extension(shell) -> None:
    """`%load_ext rulelab`: the magics, their completion, and two hooks at each cell: one tells messages its
    number, one keeps rules on their names. Loading twice is loading once.
    """
    if _loaded(shell) is not None:
        return
    magics = RuleLab(shell)
    shell.register_magics(magics)
    matcher = matcher_for(lambda: _parsers(magics), lambda: _function_names(shell, magics.session))
    shell.Completer.custom_matchers.append(matcher)

    label_earlier_cells(shell)
    shell._rulelab = _Loaded(magics, matcher, _hooks(shell, magics.session))
    for event, hook in shell._rulelab.hooks.items():
        shell.events.register(event, hook)
    CACHE.on_notice.append(print)  # in a notebook a notice is a line of the output, not a warning on stderr
    show_errors_short(magics.short_errors)


def unload_ipython_extension(shell) -> None:
    """`%unload_ext rulelab`: everything that loading did, undone. Rules stay: they belong to their
    functions.
    """
    loaded = _loaded(shell)
    if loaded is None:
        return
    for kind, names in loaded.magics.magics.items():
        for name in names:
            shell.magics_manager.magics[kind].pop(name, None)
    shell.magics_manager.registry.pop(type(loaded.magics).__name__, None)
    shell.configurables.remove(loaded.magics)
    shell.Completer.custom_matchers.remove(loaded.matcher)
    for event, hook in loaded.hooks.items():
        shell.events.unregister(event, hook)
    del shell._rulelab
    CACHE.on_notice.remove(print)
    show_errors_short(False)


def _hooks(shell, session: Session) -> dict[str, Any]:
    def tell_its_number(info) -> None:
        label_cell(shell, info)

    def keep_rules_on_their_names(result=None) -> None:
        for notice in session.reattach(shell.user_ns):
            print(notice)

    return {"pre_run_cell": tell_its_number, "post_run_cell": keep_rules_on_their_names}


def session() -> Session:
    """The session of the shell that runs now; raises MagicError where the extension is not loaded."""
    shell = get_ipython()
    loaded = None if shell is None else _loaded(shell)
    if loaded is None:
        raise MagicError("there is no session: the magics come with `%load_ext rulelab`")
    return loaded.magics.session


def _loaded(shell) -> _Loaded | None:
    return getattr(shell, "_rulelab", None)


def _parsers(magics: RuleLab) -> dict:
    return {name: method.parser for names in magics.magics.values() for name, method in names.items()}


def _function_names(shell, session: Session) -> list[str]:
    own = [
        name
        for name, value in shell.user_ns.items()
        if not name.startswith("_")
        and callable(value)
        and not isinstance(value, type)
        and name not in shell.user_ns_hidden
    ]
    return sorted({*own, *session.rules})
