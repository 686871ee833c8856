"""Tests of a rule that expect the rule's own formula, so that the same derivation is written down twice."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...compiler.base.source import Source, find_source
from ...errors import RuleLabError
from ...own_code import is_witness
from ..reading.anatomy import UNKNOWN, Anatomy, assigned_once, found_in, inlined, last_name, part_of, text_of
from .advices import Advice
from .elementwise import without_seed

_COMPARES = (
    "allclose", "isclose", "assert_allclose", "assert_array_almost_equal", "assert_almost_equal",
    "assert_array_equal", "assertAlmostEqual", "assertEqual", "array_equal",
)  # fmt: skip
_ASKS = (
    "gradient", "withgradient", "grad", "pullback", "rrule", "jacobian", "withjacobian", "derivative",
    "frule", "pushforward", "hessian",
)  # fmt: skip
_WITNESSES = ("sympy", "numdifftools", "scipy.optimize")
"""Third-party modules that compute a derivative independently of the rule: finite differences, SymPy."""


def neighbouring_tests(rule: Anatomy) -> list[types.FunctionType]:
    """The functions named `test…` in the module of the rule."""
    there = list(rule.function.__globals__.items())
    return [f for name, f in there if name.startswith("test") and isinstance(f, types.FunctionType)]


def repeated_derivations(rule: Anatomy, tests: Iterable[types.FunctionType]) -> Iterator[Advice]:
    """Advice for each comparison in a test of the target that compares a formula of the rule with the rule
    itself.
    """
    formulas = [formula for formula in _formulas(rule) if _is_worked(formula)]
    for test in tests:
        try:
            source = find_source(test.__code__)
        except RuleLabError:
            continue
        reading = _Test(test, source, rule)
        if reading.is_of_the_target and not reading.has_a_witness:
            yield from _repeated(rule, reading, formulas)


def _repeated(rule: Anatomy, test: _Test, formulas: list[ast.expr]) -> Iterator[Advice]:
    target = rule.rule.target_name
    for node, sides in test.comparisons():
        for asked, expected in (sides, sides[::-1]):
            if not test.is_asked(asked) or test.is_asked(expected):
                continue
            again = [e for e in test.parts(expected) if any(_match(f, e, rule, test) for f in formulas)]
            shown = again[0] if again and isinstance(expected, ast.Name) else expected
            what = f"the formula of {rule.name}, {text_of(shown)}" if again else None
            if what is None and test.is_of_the_rule(expected):
                what = f"what {rule.name} itself answers"
            if what is not None:
                yield Advice(
                    "test-repeats",
                    rule.name,
                    f"{test.source.name} expects {what}.",
                    test.source.place(node),
                    "A typo, or a wrong formula, is then in the rule and in the test alike, and the test "
                    "passes. Finite differences use the function itself.",
                    f"np.testing.assert_allclose(rl.gradient({target}, x), findiff.gradient({target}, x), "
                    "rtol=1e-7)",
                )
                break


def _formulas(rule: Anatomy) -> Iterator[ast.expr]:
    """The cotangents of a rule, and the factor of the seed in each."""
    for pullback in rule.pullbacks:
        known = {**assigned_once(rule.node), **assigned_once(pullback)}
        seeds = pullback.args.args
        for answer in rule.answers(pullback):
            for _, given in answer.cotangents:
                whole = inlined(given, known)
                partial = without_seed(whole, seeds[0].arg) if seeds else None
                yield from (whole,) if partial is None else (whole, partial)


def _is_worked(formula: ast.expr) -> bool:
    """Whether a formula contains something that could be wrong; a single name would match too much."""
    return any(isinstance(n, (ast.BinOp, ast.Call)) for n in ast.walk(formula))


class _Test:
    """What the text of a test shows: what it compares, and which names hold derivatives."""

    def __init__(self, function: types.FunctionType, source: Source, rule: Anatomy):
        self.function, self.source, self.rule = function, source, rule
        self.known = assigned_once(source.node)
        self.local = {n.id for n in ast.walk(source.node) if isinstance(n, ast.Name) and _binds(n)}
        self.local |= {n.arg for n in ast.walk(source.node) if isinstance(n, ast.arg)}
        self.derivatives = self._derived_names(self._asks)
        self.rules_own = self._derived_names(self._asks_the_rule)

    def stands_for(self, node: ast.AST) -> Any:
        """The object that a dotted name refers to; UNKNOWN if it is local."""
        if isinstance(node, ast.Name):
            return UNKNOWN if node.id in self.local else found_in(self.function, node.id)
        return part_of(self.stands_for(node.value), node.attr) if isinstance(node, ast.Attribute) else UNKNOWN

    def _objects(self) -> list[Any]:
        return [
            self.stands_for(n) for n in ast.walk(self.source.node) if isinstance(n, (ast.Name, ast.Attribute))
        ]

    @property
    def is_of_the_target(self) -> bool:
        """Whether the function that the rule is for occurs in the test."""
        return any(found is self.rule.target for found in self._objects())

    @property
    def has_a_witness(self) -> bool:
        """Whether the test also uses an independent derivative."""
        return any(
            _module_of(found).startswith(_WITNESSES) or is_witness(_module_of(found))
            for found in self._objects()
        )

    def _asks(self, node: ast.AST) -> bool:
        found = self.stands_for(node.func) if isinstance(node, ast.Call) else UNKNOWN
        return getattr(found, "__name__", "") in _ASKS and _module_of(found).startswith("rulelab")

    def _asks_the_rule(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self.stands_for(node.func) is self.rule.function

    def _derived_names(self, asks: Callable[[ast.AST], bool]) -> set[str]:
        """The names that are bound to the result of such a call, or to something computed from it."""
        found: set[str] = set()
        for node in ast.walk(self.source.node):
            if isinstance(node, ast.Assign) and self._holds(node.value, found, asks):
                found |= {
                    n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)
                }
        return found

    @staticmethod
    def _holds(node: ast.AST, names: set[str], asks: Callable[[ast.AST], bool]) -> bool:
        return any(asks(n) or (isinstance(n, ast.Name) and n.id in names) for n in ast.walk(node))

    def is_asked(self, node: ast.AST) -> bool:
        """Whether an expression contains a derivative computed by rulelab."""
        return self._holds(node, self.derivatives, self._asks)

    def is_of_the_rule(self, node: ast.AST) -> bool:
        """Whether an expression contains a result of the rule, called by its own name."""
        return self._holds(node, self.rules_own, self._asks_the_rule)

    def comparisons(self) -> Iterator[tuple[ast.AST, tuple[ast.expr, ast.expr]]]:
        """Each place where two expressions are compared, and the two."""
        for node in ast.walk(self.source.node):
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
                yield node, (_bare(node.left), _bare(node.comparators[0]))
            if isinstance(node, ast.Call) and last_name(node.func) in _COMPARES and len(node.args) >= 2:
                yield node, (_bare(node.args[0]), _bare(node.args[1]))

    def parts(self, node: ast.expr) -> list[ast.expr]:
        """An expression with local names replaced by their values; the items if it is a tuple or list."""
        followed = inlined(node, self.known)
        return list(followed.elts) if isinstance(followed, (ast.Tuple, ast.List)) else [followed]


def _bare(node: ast.expr) -> ast.expr:
    """The expression inside `pytest.approx(…)`; any other expression unchanged."""
    inside = isinstance(node, ast.Call) and last_name(node.func) == "approx" and node.args
    return node.args[0] if inside else node  # type: ignore[attr-defined]


def _module_of(found: Any) -> str:
    name = found.__name__ if isinstance(found, types.ModuleType) else getattr(found, "__module__", None)
    return name if isinstance(name, str) else ""


def _binds(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


# -- the same formula with other names ----------------------------------------------------------------------


def _match(pattern: ast.expr, text: ast.expr, rule: Anatomy, test: _Test) -> bool:
    """Whether an expression is a formula of the rule with other names or numbers for its variables."""
    return next(_unified([(pattern, text)], {}, rule, test), None) is not None


def _unified(pairs: list, bound: dict, rule: Anatomy, test: _Test) -> Iterator[dict]:
    """The assignments of the patterns' variables for which each pattern equals its expression."""
    if not pairs:
        yield bound
        return
    (pattern, text), *rest = pairs
    if isinstance(pattern, ast.Name) and not callable(rule.stands_for(pattern)):
        if pattern.id not in bound and _is_atom(text):
            yield from _unified(rest, {**bound, pattern.id: ast.dump(text)}, rule, test)
        elif bound.get(pattern.id) == ast.dump(text):
            yield from _unified(rest, bound, rule, test)
        return
    if isinstance(pattern, ast.Constant):
        if isinstance(text, ast.Constant) and text.value == pattern.value:
            yield from _unified(rest, bound, rule, test)
        return
    for more in _ways(pattern, text, rule, test):
        yield from _unified([*more, *rest], bound, rule, test)


def _ways(pattern: ast.expr, text: ast.expr, rule: Anatomy, test: _Test) -> Iterator[list]:
    """The lists of pairs of parts that must be equal for the expressions to be equal."""
    for parts in (_factors, _terms):
        ours, theirs = parts(pattern), parts(text)
        if len(ours) > 1 or len(theirs) > 1:
            yield from _pairings(ours, theirs)
            return
    if type(pattern) is not type(text):
        return
    if isinstance(pattern, ast.BinOp) and type(pattern.op) is type(text.op):  # type: ignore[attr-defined]
        yield [(pattern.left, text.left), (pattern.right, text.right)]  # type: ignore[attr-defined]
    elif isinstance(pattern, ast.UnaryOp) and type(pattern.op) is type(text.op):  # type: ignore[attr-defined]
        yield [(pattern.operand, text.operand)]  # type: ignore[attr-defined]
    elif isinstance(pattern, ast.Call) and len(pattern.args) == len(text.args):  # type: ignore[attr-defined]
        ours, theirs = rule.stands_for(pattern.func), test.stands_for(text.func)  # type: ignore[attr-defined]
        if ours is theirs and ours is not UNKNOWN:
            yield list(zip(pattern.args, text.args))  # type: ignore[attr-defined]
    elif isinstance(pattern, ast.Attribute) and pattern.attr == text.attr:  # type: ignore[attr-defined]
        yield [(pattern.value, text.value)]  # type: ignore[attr-defined]
    elif isinstance(pattern, ast.Subscript) and _same(pattern.slice, text.slice):  # type: ignore[attr-defined]
        yield [(pattern.value, text.value)]  # type: ignore[attr-defined]


def _same(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) == ast.dump(other)


def _pairings(ours: list, theirs: list) -> Iterator[list]:
    """The ways to pair the parts of two lists, with equal signs, in any order."""
    if len(ours) != len(theirs) or len(ours) > 6:
        return
    if not ours:
        yield []
        return
    (sign, first), *rest = ours
    for i, (other_sign, other) in enumerate(theirs):
        if sign == other_sign:
            for more in _pairings(rest, theirs[:i] + theirs[i + 1 :]):
                yield [(first, other), *more]


def _factors(node: ast.expr, over: bool = False) -> list[tuple[bool, ast.expr]]:
    """The factors of a product or quotient; True marks divisors."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        divided = isinstance(node.op, ast.Div)
        return _factors(node.left, over) + _factors(node.right, over is not divided)
    return [(over, node)]


def _terms(node: ast.expr, minus: bool = False) -> list[tuple[bool, ast.expr]]:
    """The terms of a sum; True marks those that are subtracted."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        taken = isinstance(node.op, ast.Sub)
        return _terms(node.left, minus) + _terms(node.right, minus is not taken)
    return [(minus, node)]


def _is_atom(node: ast.expr) -> bool:
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return _is_atom(node.value)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, (ast.Name, ast.Constant))
