"""Python source for SymPy expressions, built as a syntax tree, in the spelling of the author's own code.

SymPy prints expressions for people and for its own parser; here they become code that runs alongside the
author's. Every name in it comes from the author's namespace or is imported under a name that is free there.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import keyword
import math
import types
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from sympy.codegen import cfunctions

from . import transcendents
from .scalars import recognised_constant
from .specials import has_scipy
from .transcendents import is_open


def name_tree(name):
    """The tree of a name that is read."""
    return ast.Name(name, ast.Load())


def attribute_tree(value, name):
    """The tree of an attribute that is read."""
    return ast.Attribute(value, name, ast.Load())


class Unprintable(Exception):
    """A SymPy function that is in neither `math` nor NumPy nor SciPy."""


class Homes(NamedTuple):
    """The name of a function in each module, or None."""

    math: str | None
    numpy: str | None
    special: str | None = None


def _both(name, numpy=None, special=None):
    return Homes(name, numpy or name, special)


FUNCTIONS: dict[Any, Homes] = {
    getattr(sp, name): _both(name) for name in "sin cos tan sinh cosh tanh exp log sqrt".split()
} | {
    sp.asin: _both("asin", "arcsin"),
    sp.acos: _both("acos", "arccos"),
    sp.atan: _both("atan", "arctan"),
    sp.asinh: _both("asinh", "arcsinh"),
    sp.acosh: _both("acosh", "arccosh"),
    sp.atanh: _both("atanh", "arctanh"),
    sp.atan2: _both("atan2", "arctan2"),
    sp.Abs: _both("fabs", "abs"),
    sp.sign: Homes(None, "sign"),
    cfunctions.expm1: _both("expm1"),
    cfunctions.log1p: _both("log1p"),
    cfunctions.hypot: _both("hypot"),
    sp.erf: Homes("erf", None, "erf"),
    sp.erfc: Homes("erfc", None, "erfc"),
    sp.gamma: Homes("gamma", None, "gamma"),
    sp.loggamma: Homes("lgamma", None, "gammaln"),
    sp.polygamma: Homes(None, None, "polygamma"),
    sp.digamma: Homes(None, None, "digamma"),
    sp.erfinv: Homes(None, None, "erfinv"),
} | {
    kind: Homes(None, None, name)
    for kind, name in {
        sp.besselj: "jv", sp.bessely: "yv", sp.besseli: "iv", sp.besselk: "kv",
        sp.elliptic_k: "ellipk", sp.elliptic_e: "ellipe", sp.elliptic_f: "ellipkinc",
        sp.expint: "expn", sp.Ei: "expi", sp.Si: "sici", sp.Ci: "sici", sp.Shi: "shichi", sp.Chi: "shichi",
        sp.fresnels: "fresnel", sp.fresnelc: "fresnel", sp.zeta: "zeta", sp.LambertW: "lambertw",
        transcendents.jacobi_am: "ellipj",
    }.items()
} | {
    own: Homes(None, None, own.__name__)
    for own in transcendents.NAMED_AS_IN_SCIPY
}  # fmt: skip
_PART_OF_RESULT = {
    sp.Si: 0, sp.Ci: 1, sp.Shi: 0, sp.Chi: 1, sp.fresnels: 0, sp.fresnelc: 1, transcendents.jacobi_am: 3,
}  # fmt: skip
_CONSTANTS = {sp.pi: "pi", sp.E: "e"}
_RECIPROCALS = {
    sp.cot: sp.tan, sp.sec: sp.cos, sp.csc: sp.sin, sp.coth: sp.tanh, sp.sech: sp.cosh, sp.csch: sp.sinh,
}  # fmt: skip


class Spelling:
    """The spelling of names of `math`, NumPy and SciPy in the namespace of the author's function.

    `scope` is that namespace; with `numpy`, NumPy's functions are preferred; `taken` are names with another
    meaning in the generated source. `imports` collects the import lines that the source needs.
    """

    def __init__(self, scope, numpy, taken, used=()):
        self.scope, self.numpy = scope, numpy
        self.taken, self.used = frozenset(taken), frozenset(used)
        self.read: set[str] = set()  # names that the source reads, and which it must not bind
        self.imports: dict[str, None] = {}
        self._known: dict[tuple[str, str], ast.expr] = {}
        self._modules: dict[str, str] = {}  # by module: the name it is imported under

    def function(self, kind):
        """The tree of the name of the function that SymPy calls `kind`."""
        homes = FUNCTIONS.get(kind)
        if homes is None:
            raise Unprintable(f"{getattr(kind, '__name__', kind)}, which math, NumPy and SciPy lack")
        order = ("numpy", "special", "math") if self.numpy else ("math", "numpy", "special")
        if self.numpy and homes.numpy is None and homes.special is not None and not has_scipy():
            raise Unprintable(f"{homes.special} for arrays, which needs SciPy")
        for home in order:
            name = getattr(homes, home)
            if name is not None and (home != "special" or has_scipy()):
                return self.word("scipy.special" if home == "special" else home, name)
        raise Unprintable(f"{homes.special}, which needs SciPy")

    def constant(self, number):
        return self.word("numpy" if self.numpy else "math", _CONSTANTS[number])

    def word(self, module, name):
        """The tree of `name` of `module`, as it can be reached from the scope."""
        if (module, name) not in self._known:
            self._known[module, name] = self._reached(module, name)
        return self._known[module, name]

    def _reached(self, module, name):
        home = importlib.import_module(module)
        target = getattr(home, name)
        if callable(target) and (bare := self._bound_to(target, self.used)) is not None:
            return name_tree(bare)  # the author writes it without its module
        if (bound := self._bound_to(home)) is not None:
            return attribute_tree(name_tree(bound), name)
        if module in ("scipy.special", "numpy.typing"):
            own = self.free_name(name)
            self.imports[f"from {module} import {name}" + (f" as {own}" if own != name else "")] = None
            return name_tree(own)
        if module in self._modules:
            return attribute_tree(name_tree(self._modules[module]), name)
        own = self._modules[module] = self.free_name({"numpy": "np", "rulelab": "rl"}.get(module, module))
        self.imports[f"import {module}" + (f" as {own}" if own != module else "")] = None
        return attribute_tree(name_tree(own), name)

    def _bound_to(self, target, among=None):
        """A name in the scope that refers to `target`; names that the author uses are preferred."""
        names = [
            n for n, v in self.scope.items() if v is target and _is_writable(n) and n not in self.taken
        ]
        names = [n for n in names if among is None or n in among]
        if not names:
            return None
        found = min(names, key=lambda n: (n not in self.used, n.startswith("_"), len(n), n))
        self.read.add(found)
        return found

    def free_name(self, wanted):
        """A name that is used neither here nor in the generated source."""
        name = wanted
        while name in self.scope or name in self.taken or name in self.read or hasattr(builtins, name):
            name += "_"
        self.read.add(name)
        return name


def _is_writable(name):
    return isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)


# --- expressions --------------------------------------------------------------------------------------------


class Printer:
    """Converts SymPy expressions to syntax trees; `names` maps each symbol to its tree."""

    def __init__(self, spelling, names):
        self.spelling, self.names = spelling, names
        self.remarks: dict[str, None] = {}  # explanations of the rounded constants in the source

    def tree(self, expr):
        """The syntax tree of one expression."""
        if expr.is_Symbol:
            return self.names[expr]
        if expr.is_Rational:
            return self.rational(expr)
        if expr in _CONSTANTS:
            return self.spelling.constant(expr)
        if not expr.free_symbols and (literal := self.literal(expr)) is not None:
            return literal
        if expr.is_Add:
            return self.sum(expr)
        if expr.is_Mul:
            return self.product(expr)
        if expr.is_Pow:
            return self.power(*expr.as_base_exp())
        return self.call(expr)

    def rational(self, number):
        if number < 0:
            return ast.UnaryOp(ast.USub(), self.rational(-number))
        if number.is_Integer:
            return ast.Constant(int(number) if number < 2**31 else float(number))
        value = float(number)
        if Fraction(repr(value)) == Fraction(number.p, number.q):
            return ast.Constant(value)
        return _binary(self.rational(sp.Integer(number.p)), ast.Div(), self.rational(sp.Integer(number.q)))

    def folded(self, expr):
        """The expression with its irrational factors combined into symbols that print as one number."""
        if expr.is_Atom or not expr.args:
            return expr
        expr = expr.func(*(a if a.is_number else self.folded(a) for a in expr.args))
        numbers = [a for a in sp.Mul.make_args(expr) if a.is_number]
        constant = sp.Mul(*numbers)
        if constant.is_Rational or (tree := self.literal(abs(constant))) is None:
            return expr
        symbol = sp.Symbol(f"{sp.sstr(abs(constant))} constant", positive=True)
        self.names[symbol] = tree
        return sp.Mul(sp.sign(constant), symbol, *(a for a in sp.Mul.make_args(expr) if not a.is_number))

    def literal(self, expr):
        """A constant such as 2/sqrt(pi) as a float, if the check recognizes that float; else None."""
        if expr.is_Mul and sum(not a.is_Rational for a in expr.args) == 1 and expr.has(sp.pi):
            if not expr.atoms(sp.Pow) and not expr.atoms(sp.Function):
                return None  # 2*pi is more readable than its value
        value = float(expr.evalf(30))
        known, _ = recognised_constant(abs(value))
        if known.name is None or not math.isfinite(value):
            return None
        self.remarks[f"{abs(value)!r} is {sp.sstr(abs(expr))}"] = None
        return _signed(ast.Constant(abs(value)), value < 0)

    def sum(self, expr):
        terms = expr.as_ordered_terms()
        plus = [t for t in terms if not t.could_extract_minus_sign()]
        minus = [-t for t in terms if t.could_extract_minus_sign()]
        if plus:
            made = self.tree(plus[0])
        else:
            made = _signed(self.tree(minus.pop(0)), True)
        for term in plus[1:]:
            made = _binary(made, ast.Add(), self.tree(term))
        for term in minus:
            made = _binary(made, ast.Sub(), self.tree(term))
        return made

    def product(self, expr):
        coefficient, rest = expr.as_coeff_Mul()
        over, under = [], []
        for factor in sp.Mul.make_args(rest):
            base, exponent = factor.as_base_exp() if factor.is_Pow else (factor, sp.Integer(1))
            if exponent.is_Rational and exponent < 0:
                under.append((base, -exponent))
            else:
                over.append(factor)
        negative, coefficient = coefficient < 0, abs(coefficient)
        if coefficient.is_Rational and not coefficient.is_Integer and not _is_decimal(coefficient):
            if coefficient.q != 1:
                under.insert(0, (sp.Integer(coefficient.q), sp.Integer(1)))
            coefficient = sp.Integer(coefficient.p)
        if coefficient.is_Rational and coefficient.p == 1 and coefficient.q == 2 and under:
            under.insert(0, (sp.Integer(2), sp.Integer(1)))
            coefficient = sp.Integer(1)
        over.sort(key=self.place)
        parts = [self.tree(f) for f in over]
        if coefficient != 1 or not parts:
            parts.insert(0, self.rational(coefficient))
        parts[0] = _signed(parts[0], negative)
        made = _chain(parts)
        if under:
            made = _binary(made, ast.Div(), _chain([self.power(b, e) for b, e in under]))
        return made

    def place(self, factor):
        """Sort key: the incoming cotangent comes last, expressions with symbols before it, constants
        first.
        """
        seed = factor.is_Symbol and factor.name.endswith(SEED)
        constant = factor.is_number or factor.is_Symbol and factor.name.endswith(" constant")
        return (seed, not constant, not (factor.is_Symbol or factor.is_Pow), sp.default_sort_key(factor))

    def power(self, base, exponent):
        if exponent == 1:
            return self.tree(base)
        if base is sp.E:
            return self.apply(sp.exp, exponent)
        if exponent.is_Rational and exponent < 0:
            return _binary(ast.Constant(1), ast.Div(), self.power(base, -exponent))
        if exponent == 2 and base.is_Symbol:
            return _binary(self.tree(base), ast.Mult(), self.tree(base))
        if exponent == sp.Rational(1, 2):
            return self.apply(sp.sqrt, base)
        return _binary(self.tree(base), ast.Pow(), self.tree(exponent))

    def call(self, expr):
        kind = expr.func
        if kind in _RECIPROCALS:
            return _binary(ast.Constant(1), ast.Div(), self.apply(_RECIPROCALS[kind], *expr.args))
        if kind is sp.polygamma:
            order, x = expr.args
            if order == 0:
                return self.apply(sp.digamma, x)
            if not order.is_Integer:
                raise Unprintable("polygamma of a changing order")
        if is_open(expr):
            raise Unprintable(f"{sp.sstr(expr)}, which has no closed form that SymPy knows")
        if kind is sp.elliptic_e and len(expr.args) == 2:
            word = self.spelling.word("scipy.special", "ellipeinc")
            return ast.Call(word, [self.tree(a) for a in expr.args], [])
        made = self.apply(kind, *expr.args)
        if kind in _PART_OF_RESULT:
            return ast.Subscript(made, ast.Constant(_PART_OF_RESULT[kind]), ast.Load())
        return attribute_tree(made, "real") if kind is sp.LambertW else made

    def apply(self, kind, *args):
        return ast.Call(self.spelling.function(kind), [self.tree(a) for a in args], [])


SEED = " seed"  # suffix of the name of a cotangent's symbol; no Python name contains a space


def _binary(left, operation, right):
    return ast.BinOp(left, operation, right)


def _signed(tree, negative):
    return ast.UnaryOp(ast.USub(), tree) if negative else tree


def _chain(parts):
    made = parts[0]
    for part in parts[1:]:
        made = _binary(made, ast.Mult(), part)
    return made


def _is_decimal(number):
    return Fraction(repr(float(number))) == Fraction(number.p, number.q)


# --- cost and evaluation ------------------------------------------------------------------------------------

_WEIGHTS = {ast.Add: 1.0, ast.Sub: 1.0, ast.Mult: 1.0, ast.Div: 1.3, ast.Pow: 3.0, ast.USub: 0.7}


_SLOW = {homes.special for homes in FUNCTIONS.values() if homes.special} - {"erf", "erfc"}


def cost(*trees):
    """Approximate cost of the code in additions; repeated subexpressions count once."""
    total = 0.0
    distinct = {
        ast.dump(node): node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.expr)
    }
    for node in distinct.values():
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            total += _WEIGHTS.get(type(node.op), 1.0)
        elif isinstance(node, ast.Call):
            total += 3.0 if _last(node.func) in ("sqrt", "abs", "fabs") else 4.0
            total += 20.0 if _last(node.func) in _SLOW else 0.0
    return total


def _last(tree):
    return tree.attr if isinstance(tree, ast.Attribute) else getattr(tree, "id", "")


def text(tree):
    """The source of a tree, with powers written without spaces."""
    source = ast.unparse(ast.fix_missing_locations(tree))
    if any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in ast.walk(tree)):
        return source
    return source.replace(" ** ", "**")


def compiled(tree, parameters, scope):
    """A function of `parameters` that evaluates the tree of an expression."""
    arguments = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
    made = ast.Expression(ast.Lambda(arguments, tree))
    code = compile(ast.fix_missing_locations(made), "<derived>", "eval")
    lambda_code = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    return types.FunctionType(lambda_code, {**scope, "__builtins__": builtins})


def plain_scope():
    """A namespace with `math`, NumPy and SciPy's special functions, for running printed expressions."""
    scope = {"math": math, "np": np}
    if has_scipy():
        from scipy import special

        scope["special"] = special
    return scope
