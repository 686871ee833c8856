"""Modules of SciPy that need not be there, and tables of rules for what they have."""

import importlib
import inspect

from ..rules.rule_table import RuleTable


class NoFunctions:
    """A module that is not installed: each name is that of no function, and no rule is stated for it."""

    def __getattr__(self, name):
        return None


def optional(name):
    """The module of this name, or one without functions.

    >>> optional("colorsys").__name__, optional("no_such_module").solve
    ('colorsys', None)
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        return NoFunctions()


class LibraryTable(RuleTable):
    """The rules of a family of functions of which an older library has not all: nothing is stated of None.

    `CONSTANT` and `REFUSED` of a module beside it say what else there is.
    """

    def rrule(self, *targets, **facts):
        """As `RuleTable` has it."""
        return super().rrule(*_there(targets), **facts)

    def frule(self, *targets, **facts):
        return super().frule(*_there(targets), **facts)

    def stands_in(self, *targets, **facts):
        return super().stands_in(*_there(targets), **facts)

    def non_differentiable(self, *targets, **facts):
        super().non_differentiable(*_there(targets), **facts)


def _there(targets):
    return [target for target in targets if target is not None]


def named(module, names, kind=None):
    """Those of the names, written in one text, that a module has."""
    return tuple(name for name in names.split() if getattr(module, name, None) is not None)


def reasons(module, by_reason):
    """Why each function has no rule, by its name: of those that a module has."""
    return {name: reason for reason, names in by_reason.items() for name in named(module, names)}


def default_of(function, name):
    """The default of a parameter, which is not the same in all versions; None of no function."""
    return inspect.signature(function).parameters[name].default if function is not None else None
