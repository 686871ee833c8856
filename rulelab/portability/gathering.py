"""Everything that a rule needs in a file of its own: the functions, imports and constants that it names."""

from __future__ import annotations
import __future__

import ast
import builtins
import functools
import gc
import importlib.metadata
import os
import sys
import sysconfig
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..compiler.base.source import find_source
from ..errors import ExportError, Place, RuleLabError, an
from ..own_code import FOLDER
from ..parsing import nodes_of, parse
from ..rules.registry import DEFAULT, Registry
from ..rules.rule import OptOut, Rule
from ..rules.targets import name_of, resolve
from ..rules.twins import is_twin
from .literals import NoLiteral, literal, names_numpy
from .pieces import (
    FRULE,
    HELPER,
    PARTIALS,
    PRIMAL,
    RRULE,
    Piece,
    checked_name,
    names_read,
    written_class,
    written_function,
)

__all__ = ["ExportError", "Gathered", "Piece", "gathered"]

_UNSEEN = frozenset({"eval", "exec", "globals", "get_ipython"})
"""Names by which code accesses things that it does not name."""
_OF_EVERY_MODULE = frozenset({"__name__", "__doc__", "__debug__"})


@dataclass(frozen=True)
class Gathered:
    """A function and its rules, extracted from where they were written.

    `functions` are in order of dependency: helpers, then the primal, then its rules. `imports` are
    statements, `constants` are pairs of a name and the text of its value. `target` is the expression by which
    the text names the function that the rules are for; `name` is an identifier made from it. A function from
    a third-party library is imported and is not a piece. `postponed` says that annotations are not to be
    evaluated.
    """

    name: str
    target: str
    functions: tuple[Piece, ...]
    imports: tuple[str, ...] = ()
    constants: tuple[tuple[str, str], ...] = ()
    postponed: bool = False
    primal: Any = field(default=None, compare=False, repr=False)
    modules: tuple[str, ...] = ()
    """The modules that are imported, by their dotted names."""
    values: tuple[str, ...] = ()
    """The texts of the values to be included."""

    def of_kind(self, *kinds: str) -> tuple[Piece, ...]:
        """The pieces of these kinds."""
        return tuple(piece for piece in self.functions if piece.kind in kinds)

    @property
    def rules(self) -> tuple[Piece, ...]:
        """The functions that state the rules."""
        return self.of_kind(RRULE, FRULE, PARTIALS)


def gathered(
    primal: Any,
    *,
    rules: Iterable[Rule] | None = None,
    registry: Registry = DEFAULT,
    values: Iterable[Any] = (),
) -> Gathered:
    """A function with its rules and everything that these name: helpers, imports, constants.

    The meaning of a name is looked up where the code itself would look it up: in its closure, in its globals,
    in Python's builtins. `rules` are the rules of `primal` to include, by default all by the author; `values`
    are further values, such as arguments, whose classes the text must contain. Raises ExportError, before
    anything is written, for what cannot be exported: a value without an exact text, or code without source
    text.

    >>> import math
    >>> from rulelab.rules.authoring import rrule_for
    >>> from rulelab.tangents.zeros import NoTangent
    >>> half = 0.5
    >>> def root(x): return x**half
    >>> @rrule_for(root)
    ... def root_rrule(x):
    ...     def root_pullback(y_bar):
    ...         return NoTangent(), half * y_bar / math.sqrt(x)
    ...     return math.sqrt(x), root_pullback
    >>> found = gathered(root)
    >>> [(piece.kind, piece.name) for piece in found.functions], found.constants
    ([('primal', 'root'), ('rrule', 'root_rrule')], (('half', '0.5'),))
    >>> found.imports
    ('import math', 'from rulelab import NoTangent')
    """
    target, _ = resolve(primal)
    chosen = _rules_of(target, registry) if rules is None else tuple(rules)
    gathering = _Gathering(_identifier(target), target, chosen)
    return gathering.run(values)


def _is_of_rulelab(function: Any) -> bool:
    """Whether a rule is code of the package itself: `import_rule` states such rules."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(os.path.join(FOLDER, ""))


def _identifier(target: Any) -> str:
    """The name of a function in the files that are made for it."""
    name = getattr(target, "__name__", None) if not isinstance(target, types.FunctionType) else None
    name = name or name_of(target).rpartition("<locals>.")[2]
    if name == "<lambda>":
        name = next((k for k, v in target.__globals__.items() if v is target), name)
    if name == "<lambda>":
        raise ExportError(
            "a lambda has no name to be exported under", asked="an export", place=Place.of_function(target),
            fixes=("write it as a def",),
        )  # fmt: skip
    return checked_name(name.replace(".", "_"), "a function")


def _rules_of(target: Any, registry: Registry) -> tuple[Rule, ...]:
    """The author's rules of a function; ExportError if there are none, or anything besides rules."""
    entry = registry.entry(target)
    asked = f"an export of {name_of(target)}"
    stated = entry.user if entry is not None else ()
    for one in stated:
        if isinstance(one, OptOut) or not one.differentiable:
            said = "an opt-out" if isinstance(one, OptOut) else "a statement that it has no derivative"
            raise ExportError(
                f"{name_of(target)} has {said}, which cannot be exported with it",
                asked=asked,
                place=one.place,
                fixes=("undo it with rl.undo_rule", "choose the rules to export: rules=…"),
            )  # fmt: skip
        if _is_of_rulelab(one.partials or one.function):
            raise ExportError(
                f"the rule of {name_of(target)} was imported: another framework's code runs behind it",
                asked=asked,
                fixes=("export that code as it is", "write a rule here: %%rrule"),
            )
    if not stated:
        raise ExportError(
            f"{name_of(target)} has no rule of yours",
            asked=asked,
            fixes=("state one with %%rrule", "name another"),
        )
    return tuple(stated)


@dataclass
class _Gathering:
    """What has been found so far, and under which names."""

    name: str
    target: Any
    rules: tuple[Rule, ...]
    named: dict[str, Any] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)  # a statement, and the module that it imports
    constants: dict[str, str] = field(default_factory=dict)
    helpers: list[Piece] = field(default_factory=list)
    postponed: bool = False
    # Mutable objects, and the constant that each is part of.
    held: dict[int, tuple[Any, str]] = field(default_factory=dict)
    by_rule: list[Any] = field(default_factory=list)  # functions of the rules gathered so far
    # Functions and classes, by their names in the text.
    by_value: dict[int, str] = field(default_factory=dict)

    @property
    def asked(self) -> str:
        return f"an export of {self.name}"

    def run(self, values: Any) -> Gathered:
        target, pieces = self.target, []
        if isinstance(target, types.FunctionType) and "." in name_of(target) and not is_twin(target):
            spelled = self._method(target)
        elif isinstance(target, (types.FunctionType, type)) and self._is_own(target):
            self._claim(self.name, target, None)
            pieces.append(self._piece(self.name, target, PRIMAL))
            spelled = self.name
        elif not _is_of_a_library(target) and (decorated := _decorated(self.name, target)) is not None:
            self._claim(self.name, target, None)
            pieces.append(self._piece(self.name, decorated, PRIMAL))
            spelled = self.name
        else:
            spelled = self._imported(
                target, self._plain_name(target), next((rule.place for rule in self.rules), None)
            )
        for rule in self.rules:
            pieces += self._rule(rule)
        texts = tuple(self.text(value, None) for value in values)
        return Gathered(
            self.name,
            spelled,
            (*self.helpers, *pieces),
            tuple(
                sorted(self.imports, key=lambda statement: (not statement.startswith("import"), statement))
            ),
            tuple(self.constants.items()),
            self.postponed,
            target,
            tuple(dict.fromkeys(self.imports.values())),
            texts,
        )

    def text(self, value: Any, place: Place | None) -> str:
        """The text of a value, with its classes and functions gathered; ExportError if it has no text."""

        def by_name(known: Any) -> str:
            name = getattr(known, "__name__", "")
            if id(known) in self.by_value:
                return self.by_value[id(known)]
            self.need(checked_name(name, "what is exported", place), known, place)
            return name

        try:
            text = literal(value, by_name)
        except NoLiteral as error:
            raise ExportError(
                f"a value cannot be written as text: {error}", asked=self.asked, place=place
            ) from None
        if names_numpy(text):
            self._numpy(place)
        return text

    def _numpy(self, place: Place | None) -> None:
        self.need("np", sys.modules["numpy"], place)

    # -- names -----------------------------------------------------------------------------------------------

    def need(self, name: str, value: Any, place: Place | None) -> None:
        """Make a value available in the text under a name."""
        if not self._claim(name, value, place):
            return
        if getattr(builtins, name, self) is value:
            return
        if isinstance(value, types.ModuleType):
            self._import_module(name, value, place)
        elif isinstance(value, (types.FunctionType, type)) and self._is_own(value):
            self.helpers.append(self._piece(name, value, HELPER))
        elif (found := _home_of(value)) is not None and _is_of_a_library(value):
            self._import_from(found, name)
        elif (decorated := _decorated(name, value)) is not None:
            self.helpers.append(self._piece(name, decorated, HELPER))
        else:
            self._constant(name, value, place)

    def _claim(self, name: str, value: Any, place: Place | None) -> bool:
        """Whether a name is new; ExportError if it already has another meaning."""
        if name not in self.named:
            self.named[name] = value
            if isinstance(value, (types.FunctionType, type)):
                self.by_value.setdefault(id(value), name)
            return True
        if self.named[name] is value or self._same_constant(name, value):
            return False
        raise ExportError(
            f"{name} has two meanings here: {_shown(self.named[name])} and {_shown(value)}",
            asked=self.asked,
            place=place,
            fixes=("give one of them another name",),
        )

    def _same_constant(self, name: str, value: Any) -> bool:
        if name not in self.constants or isinstance(value, (list, dict, set)):
            return False
        try:
            return literal(value) == self.constants[name]
        except NoLiteral:
            return False

    def _constant(self, name: str, value: Any, place: Place | None) -> None:
        def by_name(known: Any) -> str:
            """The expression for a function from a library; the author's own functions come after the
            constants.
            """
            if (
                isinstance(known, (types.FunctionType, type))
                and self._is_own(known)
                or _home_of(known) is None
            ):
                raise NoLiteral(f"an object of the class {type(known).__name__}")
            return self._imported(known, getattr(known, "__name__", ""), place)

        try:
            text = literal(value, by_name)
        except NoLiteral as error:
            raise ExportError(
                f"the value of {name} cannot be written as text: {error}",
                asked=self.asked,
                place=place,
                fixes=("make it in the function that uses it", "pass it in as an argument"),
            ) from None
        for part in _changeable(value):
            before = self.held.setdefault(id(part), (part, name))[1]
            if before != name:
                raise ExportError(
                    f"{before} and {name} share one {type(part).__name__}, "
                    "but would each have their own in the export",
                    asked=self.asked,
                    place=place,
                )
        if names_numpy(text):
            self._numpy(place)
        self.constants[name] = text

    def _plain_name(self, target: Any) -> str:
        return checked_name(getattr(target, "__name__", None), "a function")

    # -- imports ---------------------------------------------------------------------------------------------

    def _import_module(self, name: str, module: types.ModuleType, place: Place | None) -> None:
        dotted = module.__name__
        if not all(map(str.isidentifier, dotted.split("."))) or sys.modules.get(dotted) is not module:
            raise ExportError(
                f"{name} is the module {dotted!r}, which cannot be imported by name",
                asked=self.asked,
                place=place,
            )
        if dotted == "__main__":
            raise ExportError(f"{name} is the session itself", asked=self.asked, place=place)
        if name == dotted:
            self.imports[f"import {dotted}"] = dotted
        else:
            self.imports[f"import {dotted} as {name}"] = dotted

    def _import_from(self, found: tuple[str, str], name: str) -> None:
        module, attribute = found
        renamed = "" if attribute == name else f" as {name}"
        self.imports[f"from {module} import {attribute}{renamed}"] = module

    def _imported(self, target: Any, name: str, place: Place | None) -> str:
        """The expression by which a library function is named; its module is imported as a whole."""
        found = _home_of(target)
        if found is None:
            raise ExportError(
                f"{name_of(target)} has no text of its own, and no module has it under its name",
                asked=self.asked,
                place=place,
                fixes=("write it as a def",),
            )
        module, attribute = found
        if module == "builtins":
            return attribute
        short = "np" if module == "numpy" else module
        if short == "np" or "." not in module:
            self.need(short, sys.modules[module], place)
        else:
            self.need(module.partition(".")[0], sys.modules[module.partition(".")[0]], place)
            self.imports[f"import {module}"] = module
        return f"{short}.{attribute}"

    def _submodules(self, tree: ast.AST, scope: Mapping[str, Any]) -> None:
        """Import the submodules that are accessed as attributes, each of which needs an import of its own."""
        for node in nodes_of(tree):
            chain = _chain(node) if isinstance(node, ast.Attribute) else None
            if chain is None or not isinstance(scope.get(chain[0]), types.ModuleType):
                continue
            value = scope[chain[0]]
            for part in chain[1:]:
                value = getattr(value, part, None)
                if not isinstance(value, types.ModuleType):
                    break
                dotted = value.__name__
                root = dotted.partition(".")[0]
                if sys.modules.get(dotted) is value and "." in dotted and self._may_bind(root):
                    self.imports[f"import {dotted}"] = dotted

    def _may_bind(self, root: str) -> bool:
        """Whether `import root.part`, which binds `root`, clashes with no other name; if so, `root` is
        claimed.
        """
        module = sys.modules[root]
        if self.named.get(root, module) is not module:
            return False
        self.named[root] = module
        return True

    # -- pieces ----------------------------------------------------------------------------------------------

    def _piece(self, name: str, value: Any, kind: str, rule: Rule | None = None) -> Piece:
        """The piece of a function or class, after gathering everything that it names."""
        if isinstance(value, type):
            written = written_class(value, name)
            scope = self._scope_of_class(value)
            closures = [m for m in vars(value).values() if isinstance(m, types.FunctionType)]
        else:
            scope, closures = _scope(value), [value]
            written = written_function(
                value,
                name,
                lambda x, node, place: self._default(x, node, place, scope),
                lambda node: _value_of(node, scope),
            )
        piece = written.piece(name, kind, value, rule)
        code = [f.__code__ for f in closures]
        self.postponed = self.postponed or any(c.co_flags & _POSTPONED for c in code)
        merged = {**scope, **_closed_over(closures, piece, self.asked)}
        self._names(piece, merged)
        return piece

    def _scope_of_class(self, cls: type) -> Mapping[str, Any]:
        """The namespace in which the names of a class's text are looked up: the globals of its methods, its
        module, or those of the function that brought the class.
        """
        for method in vars(cls).values():
            if isinstance(method, types.FunctionType) and method.__code__.co_qualname.startswith(
                cls.__qualname__
            ):
                return method.__globals__
        functions = (self.target, *(rule.partials or rule.function for rule in self.rules))
        spaces = [vars(sys.modules.get(cls.__module__, builtins))]
        spaces += [f.__globals__ for f in functions if isinstance(f, types.FunctionType)]
        return next((space for space in spaces if space.get(cls.__name__) is cls), spaces[0])

    def _names(self, piece: Piece, scope: Mapping[str, Any]) -> None:
        tree = piece.tree
        try:
            names = names_read(piece.source)
        except SyntaxError as error:
            raise ExportError(
                f"{piece.name} is not valid on its own: {error.msg}", asked=self.asked, place=piece.place()
            ) from None
        lenient = _annotation_names(tree) if self.postponed else frozenset()
        first = {n.id: n for n in reversed(nodes_of(tree)) if isinstance(n, ast.Name)}
        for name in (*names, *_names_in_texts(tree)):
            place = piece.place(first.get(name))
            if name in _OF_EVERY_MODULE or name == piece.name:
                continue
            self._check_seen(name, scope, place)
            if name in scope:
                self.need(name, scope[name], place)
            elif hasattr(builtins, name):
                self.need(name, getattr(builtins, name), place)
            elif name not in lenient and name in names:
                raise ExportError(
                    f"{piece.name} uses {name}, which is not defined",
                    asked=self.asked,
                    place=place,
                    fixes=(f"define {name} first",),
                )
        self._submodules(tree, scope)

    def _check_seen(self, name: str, scope: Mapping[str, Any], place: Place) -> None:
        hidden = name.startswith("__") and name.endswith("__") and name not in vars(builtins)
        if hidden or (name in _UNSEEN and scope.get(name, getattr(builtins, name, None)) is not None):
            raise ExportError(
                f"what {name} gives depends on where the code is, so it cannot be exported",
                asked=self.asked, place=place,
                fixes=("use the name of what it gives", "pass that as an argument"),
            )  # fmt: skip

    def _default(
        self, value: Any, node: ast.expr | None, place: Place, scope: Mapping[str, Any]
    ) -> str | None:
        """The text of a default; None if the author's own expression gives the same value."""
        if node is not None and _gives(node, value, scope):
            return None
        home = _home_of(value) if not isinstance(value, (types.FunctionType, type)) else None
        if home is not None and home[0] != "builtins":
            self.need(home[1], value, place)
            return home[1]
        return self.text(value, place)

    def _rule(self, rule: Rule) -> list[Piece]:
        """The piece of a rule; none for the second half of a scalar rule, whose function is already
        included.
        """
        function = rule.partials or rule.function
        if rule.partials is not None and any(p is function for p in self.by_rule):
            return []
        self.by_rule.append(function)
        kind = PARTIALS if rule.partials is not None else rule.mode
        base = function.__name__ if function.__name__ != "<lambda>" else f"{self.name}_partials"
        name = checked_name(base, "a rule", rule.place)
        number = 2
        while name in self.named and self.named[name] is not function or name == self.name:
            name, number = f"{base}_{number}", number + 1
        if name in self.named:  # both a helper of the function and a rule: included as the rule
            self.helpers = [p for p in self.helpers if p.name != name]
        self.named[name] = function
        return [self._piece(name, function, kind, rule)]

    def _method(self, target: types.FunctionType) -> str:
        """The expression that names a method of a class; the class is gathered as a whole."""
        owner_name, _, attribute = target.__qualname__.rpartition("<locals>.")[2].rpartition(".")
        for part in (owner_name, attribute):
            checked_name(part, "a method or its class", Place.of_function(target))
        owner = target.__globals__.get(owner_name)
        found = vars(owner).get(attribute) if isinstance(owner, type) else None
        if (found.__func__ if isinstance(found, staticmethod) else found) is not target:
            raise ExportError(
                f"the class of {target.__qualname__} is not found under its name", asked=self.asked,
                place=Place.of_function(target), fixes=("define it at the left margin",),
            )  # fmt: skip
        assert isinstance(owner, type)
        if not self._is_own(owner):
            return self._imported_class(owner, attribute)
        self.need(owner_name, owner, Place.of_function(target))
        return f"{owner_name}.{attribute}"

    def _imported_class(self, owner: type, attribute: str) -> str:
        return f"{self._imported(owner, owner.__name__, None)}.{attribute}"

    def _is_own(self, value: Any) -> bool:
        """Whether a function or class is exported as text, because no installable library contains it."""
        if isinstance(value, types.FunctionType) and is_twin(value):
            return True
        module = getattr(value, "__module__", None)
        if not isinstance(module, str) or module == "__main__" or module not in sys.modules:
            return not isinstance(value, type) or module != "builtins"
        return not is_installed(module) or _home_of(value) is None


_POSTPONED = __future__.annotations.compiler_flag


def _scope(function: types.FunctionType) -> Mapping[str, Any]:
    """The namespace of the names in a function's text, except those of its closure."""
    return function.__globals__


def _closed_over(functions: Iterable[Any], piece: Piece, asked: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for function in functions:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            if name == "__class__":
                continue
            try:
                value = cell.cell_contents
            except ValueError:
                raise ExportError(
                    f"{piece.name} closes over {name}, which has no value yet", asked=asked,
                    place=piece.place(),
                ) from None  # fmt: skip
            found[name] = value
    return found


def _value_of(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    """The value of a name, or of a chain of attributes that begins with one; None if the node is neither."""
    chain = _chain(node)
    if chain is None:
        return None
    value = scope.get(chain[0], getattr(builtins, chain[0], None))
    for part in chain[1:]:
        if not isinstance(value, (types.ModuleType, type)):
            return None
        value = getattr(value, part, None)
    return value


def _chain(node: ast.AST) -> list[str] | None:
    """The names in `a.b.c`."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return [node.id, *parts] if isinstance(node, ast.Name) else None


def _gives(node: ast.expr, value: Any, scope: Mapping[str, Any]) -> bool:
    """Whether the author's expression for a default gives the value that the function has for it."""
    try:
        return literal(ast.literal_eval(node)) == literal(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError, NoLiteral):
        return value is not None and _value_of(node, scope) is value and not _is_plain_data(value)


def _is_plain_data(value: Any) -> bool:
    """Whether a value is written out as a constant, so that its name may cease to refer to it."""
    return not isinstance(value, (types.ModuleType, types.FunctionType, type)) and _home_of(value) is None


def _changeable(value: Any) -> Iterable[Any]:
    """The lists, dicts, sets and arrays in a value."""
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from _changeable(part)
    elif isinstance(value, (list, tuple, set, frozenset)):
        if not isinstance(value, (tuple, frozenset)):
            yield value
        for part in value:
            yield from _changeable(part)
    elif isinstance(value, np.ndarray):
        yield value


def _annotations(tree: ast.AST) -> Iterable[ast.expr]:
    for node in nodes_of(tree):
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(part, ast.expr):
                yield part


def _annotation_names(tree: ast.AST) -> frozenset[str]:
    """The names that occur in annotations and nowhere else."""
    inside = [n for a in _annotations(tree) for n in nodes_of(a) if isinstance(n, ast.Name)]
    outside = {n.id for n in nodes_of(tree) if isinstance(n, ast.Name) and not any(n is m for m in inside)}
    return frozenset(n.id for n in inside) - outside


def _names_in_texts(tree: ast.AST) -> dict[str, None]:
    """The names in annotations that are written as strings."""
    found: dict[str, None] = {}
    for annotation in _annotations(tree):
        for node in nodes_of(annotation):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                try:
                    inner = parse(node.value, mode="eval")
                except (SyntaxError, ValueError):
                    continue
                found |= {n.id: None for n in nodes_of(inner) if isinstance(n, ast.Name)}
    return found


def _decorated(name: str, value: Any) -> types.FunctionType | None:
    """The function with decorators above its `def` from which a callable object was made: one with a cache,
    or one that C can call. It is searched for in what the object refers to.
    """
    if not callable(value) or isinstance(value, (types.ModuleType, type, types.MethodType)):
        return None
    inside, met = [value], {id(value)}
    for _ in range(_DEEPEST):
        held = [one for one in gc.get_referents(*inside) if id(one) not in met]
        for one in held:
            if type(one) is types.FunctionType and one.__name__ == name and _has_decorators(one):
                return one
        inside = [one for one in held if not isinstance(one, (types.ModuleType, type, types.FunctionType))]
        met |= set(map(id, inside))
        if not inside or len(inside) > _MOST_HELD:
            return None
    return None


_DEEPEST, _MOST_HELD = 4, 200


def _has_decorators(function: types.FunctionType) -> bool:
    try:
        return bool(getattr(find_source(function.__code__).node, "decorator_list", ()))
    except RuleLabError:
        return False


# --- where things come from ---------------------------------------------------------------------------------


def _home_of(value: Any) -> tuple[str, str] | None:
    """The module and the name by which a function, class or object of a library is imported, or None.

    Its public module if it is available there too: scipy.special, not scipy.special._ufuncs.
    """
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(name, str) or not name.isidentifier() or isinstance(value, types.ModuleType):
        return None
    module = getattr(value, "__module__", None)
    if not isinstance(module, str):
        owner = getattr(value, "__self__", None)
        module = owner.__name__ if isinstance(owner, types.ModuleType) else None
    places = _modules_with(value, name) if module is None else _outer_first(module)
    for place in places:
        named = all(map(str.isidentifier, place.split("."))) and place != "__main__"
        if named and getattr(sys.modules.get(place), name, None) is value:
            return place, name
    return None


def _is_of_a_library(value: Any) -> bool:
    """Whether a function or object is imported from an installed package."""
    found = _home_of(value)
    return found is not None and is_installed(found[0])


def _outer_first(module: str) -> list[str]:
    """The modules that may offer what is defined in a module: the public ones that contain it, then the
    module itself.
    """
    parts = module.split(".")
    public = next((i for i, part in enumerate(parts) if part.startswith("_")), len(parts))
    around = [".".join(parts[:k]) for k in range(public, 0, -1)]
    if parts[0] == "rulelab":
        around = ["rulelab"]
    return [*around, module]


def _modules_with(value: Any, name: str) -> list[str]:
    """The public modules that contain an object which does not name its module, as is the case for many
    ufuncs.
    """
    found = [
        m
        for m, module in list(sys.modules.items())
        if not any(p.startswith("_") for p in m.split(".")) and vars(module).get(name) is value
        if isinstance(module, types.ModuleType) and is_installed(m)
    ]
    return sorted(found, key=lambda m: (m.count("."), m))


def is_installed(module: str) -> bool:
    """Whether a module comes with Python or with an installed package, and is not a file of the user's."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top == "rulelab":
        return True
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:
        return False
    folders = {sysconfig.get_path(key) for key in ("purelib", "platlib")}
    if any(os.path.realpath(file).startswith(os.path.join(os.path.realpath(f), "")) for f in folders):
        return True
    return _comes_with_a_package(top)


@functools.cache
def _comes_with_a_package(top: str) -> bool:
    """Whether an installed package provides a module. Reading what is installed takes a second."""
    return top in importlib.metadata.packages_distributions()


def _shown(value: Any) -> str:
    if isinstance(value, types.FunctionType):
        return f"the function of {Place.of_function(value).label()}"
    if isinstance(value, types.ModuleType):
        return f"the module {value.__name__}"
    text = repr(value)
    return text if len(text) <= 40 else f"{an(type(value).__name__)}"
