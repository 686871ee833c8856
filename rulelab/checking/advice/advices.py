"""The advice on a rule that its text allows: one function each, from the rule's anatomy to what it found."""

from __future__ import annotations

import ast
import cmath
import math
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import tangents
from ...annotations import annotations_of, signature_of_callable
from ...errors import Place, an
from ...rules.authoring import frule, rrule, rrule_for
from ...rules.capabilities import RuleConfig
from ...rules.signatures import meant_types
from ...rulesets import array_likes
from ...tangents.projection import ProjectTo
from ...tangents.structural import Tangent
from ...tangents.thunks import Thunk, thunk, unthunk
from ...tangents.zeros import NoTangent, ZeroTangent
from ..reading.anatomy import (
    UNKNOWN,
    Anatomy,
    Answer,
    Pullback,
    assigned_once,
    names,
    returns_of,
    text_of,
    uses,
)
from .elementwise import is_straight_line_code, partials_of, takes_numbers_alone

KINDS = (
    "lambda-pullback", "missing-thunks", "thunk-of-variable", "thunk-of-constant", "thunk-of-wrapper",
    "thunk-of-thunk", "thunk-of-rule", "thunk-of-the-only-one", "zeros", "none-for-zero", "zero-for-none",
    "rule-on-type", "scalar-rule", "non-differentiable", "test-repeats", "undefined-name",
)  # fmt: skip
"""The kinds of advice; each is a section of the manual page that the advice refers to."""


@dataclass(frozen=True)
class Advice:
    """One thing that an author may want to change: `found` says what, `place` where, and `why` what it costs.

    `better` is the line, or the few lines, to write instead; `read` is the section of the manual. `kind`
    names the advice.
    """

    kind: str
    rule: str
    found: str
    place: Place
    why: str
    better: str

    @property
    def read(self) -> str:
        """The section of the manual about it."""
        return f"howto/write-good-rules#{self.kind}"


Finding = Iterator[Advice]


def lambda_pullback(rule: Anatomy) -> Finding:
    """A pullback without a name."""
    for pullback in rule.pullbacks:
        if isinstance(pullback, ast.Lambda):
            name = f"{_stem(rule)}_pullback"
            answer = text_of(pullback.body)
            answer = answer[1:-1] if isinstance(pullback.body, ast.Tuple) else answer
            yield Advice(
                "lambda-pullback",
                rule.name,
                f"The pullback of {rule.name} is a lambda: a traceback and a profile will call it <lambda>.",
                rule.source.place(pullback),
                "When the pullback fails, far from here, its name shows which rule it belongs to.",
                f"def {name}({text_of(pullback.args)}):\n    return {answer}",
            )


def thunk_of_nothing(rule: Anatomy) -> Finding:
    """A thunk that delays no work: around a variable, a constant, a wrapper, a thunk, or the result of
    another rule.
    """
    others = _OtherRules(rule)
    for scope, call, delayed in _thunks(rule):
        found = _no_work(rule, others, scope, delayed)
        if found is not None:
            kind, what, why, better = found
            yield Advice(
                kind,
                rule.name,
                f"A thunk is wrapped around {what}.",
                rule.source.place(call),
                why,
                better,
            )


def _no_work(rule, others, scope, delayed) -> tuple[str, str, str, str] | None:
    plain = text_of(delayed)
    if _is_constant(rule, delayed):
        why = "There is nothing to delay: making and evaluating the thunk is all the work there is."
        return "thunk-of-constant", f"a constant, {plain}", why, plain
    if rule.is_late(delayed):
        why = "One thunk delays the work as well as two do, at half the cost."
        return "thunk-of-thunk", "another thunk", why, plain
    if others.is_answer_of_other_rule(delayed):
        why = "The other rule already makes a thunk where that pays; a second one only hides the first."
        return "thunk-of-rule", f"the result of another rule, {plain}", why, plain
    if isinstance(delayed, ast.Name):
        return _round_a_name(rule, scope, delayed)
    if _is_wrapper(rule, delayed):
        why = "Making the wrapper costs less than making a thunk for it."
        return "thunk-of-wrapper", f"a mere wrapper, {plain}", why, plain
    return None


def _round_a_name(rule: Anatomy, scope: Pullback, name: ast.Name) -> tuple[str, str, str, str]:
    value = _value_of(rule, scope, name)
    if value is not None and rule.is_late(value):
        return (
            "thunk-of-thunk",
            f"another thunk, {name.id}",
            "One thunk delays the work as well as two do, at half the cost.",
            name.id,
        )
    why = f"{name.id} is computed before the thunk is made, so nothing is saved, and the thunk adds a call."
    inside = assigned_once(scope).get(name.id)
    alone = inside is not None and uses(name.id, scope) == 1 and _has_work(rule, inside)
    better = f"{name.id} = rl.thunk(lambda: {text_of(inside)})" if alone and inside is not None else name.id
    return "thunk-of-variable", f"a variable, {name.id}", why, better


def thunk_of_the_only_one(rule: Anatomy) -> Finding:
    """A thunk for a rule's only derivative."""
    others = _OtherRules(rule)
    for pullback, answer in _answers(rule):
        parts = _derivatives(rule, answer)
        if len(parts) != 1:
            continue
        ((name, given),) = parts
        made = _followed(pullback, given)
        delayed = rule.thunked(made, pullback)
        if delayed is None or _no_work(rule, others, pullback, delayed) is not None:
            continue
        yield Advice(
            "thunk-of-the-only-one",
            rule.name,
            f"The only derivative that {rule.name} gives, {_bar(name)}, is a thunk.",
            rule.source.place(made),
            "A caller of the pullback always needs it, so the thunk only adds a call.",
            text_of(delayed),
        )


def missing_thunks(rule: Anatomy) -> Finding:
    """Several derivatives that are computed whether or not they are needed."""
    if _takes_numbers(rule) or getattr(rule.target, "__module__", None) in _OF_NUMBERS:
        return
    for pullback, answer in _answers(rule):
        parts = _derivatives(rule, answer)
        if len(parts) < 2 or any(isinstance(given, ast.Starred) for _, given in parts):
            continue
        eager = [
            (name, given, _followed(pullback, given))
            for name, given in parts
            if _is_eager(rule, pullback, given)
        ]
        if not eager:
            continue
        which = names([_bar(name) for name, _, _ in eager])
        verb = "is" if len(eager) == 1 else "are"
        yield Advice(
            "missing-thunks",
            rule.name,
            f"{which} {verb} always computed, whether or not the caller needs "
            f"{'it' if verb == 'is' else 'them'}.",
            rule.source.place(eager[0][2]),
            f"{rule.name} gives {len(parts)} derivatives. Where one argument is a constant, the "
            f"work for it is "
            "thrown away; a thunk that is not needed never runs.",
            "\n".join(_delayed(rule, given, name, made) for name, given, made in eager),
        )


def zeros_for_nothing(rule: Anatomy) -> Finding:
    """Zeros that are written out."""
    for pullback, answer in _answers(rule):
        for name, given in answer.cotangents:
            made = _unshared(rule, pullback, given)
            if _is_zeros(rule, made):
                yield Advice(
                    "zeros",
                    rule.name,
                    f"The cotangent of {name} is zeros, written out: {text_of(made)}.",
                    rule.source.place(made),
                    "They are made, added up and multiplied like any numbers. `ZeroTangent()` is a "
                    "zero of every "
                    "shape, and the work is skipped wherever it occurs.",
                    "rl.ZeroTangent()",
                )


def zero_of_the_other_kind(rule: Anatomy) -> Finding:
    """`NoTangent` for something that can vary, or `ZeroTangent` for something that cannot."""
    answers = list(_answers(rule))
    numbers = {name for _, a in answers for name, given in a.cotangents if rule.zero(given) is None}
    for _, answer in answers:
        if rule.zero(answer.own) is ZeroTangent and _is_plain_function(rule.target):
            yield _meant_no_tangent(rule, answer.own, f"{rule.rule.target_name} itself", "a function")
        for name, given in answer.cotangents:
            zero = rule.zero(given)
            if zero is NoTangent and len(numbers) and _can_vary(rule, name, numbers):
                yield _meant_zero(rule, given, name, name in numbers)
            if zero is ZeroTangent and (what := _cannot_vary(rule, name)) is not None:
                yield _meant_no_tangent(rule, given, name, what)


def _meant_no_tangent(rule: Anatomy, node: ast.expr, name: str, what: str) -> Advice:
    return Advice(
        "zero-for-none",
        rule.name,
        f"The cotangent of {name} is ZeroTangent(), but {what} cannot vary.",
        rule.source.place(node),
        "A zero says that it could vary, but that this makes no difference here: for an index the "
        "caller gets the derivative 0.0, where None would be right.",
        "rl.NoTangent()",
    )


def _meant_zero(rule: Anatomy, node: ast.expr, name: str, elsewhere: bool) -> Advice:
    known = "on another path it has a derivative" if elsewhere else "it is a number that can vary"
    return Advice(
        "none-for-zero",
        rule.name,
        f"The cotangent of {name} is NoTangent(), but {known}.",
        rule.source.place(node),
        "NoTangent says that there is no direction to move in, and the caller gets None: nothing depends on "
        "it. A derivative that happens to be zero is a zero.",
        "rl.ZeroTangent()",
    )


def rule_on_a_type(rule: Anatomy) -> Finding:
    """A rule for `type(something)`."""
    for decorator in getattr(rule.node, "decorator_list", ()):  # a lambda has none
        if rule.called(decorator) is not rrule_for or not decorator.args:
            continue
        asked = decorator.args[0]
        if rule.called(asked) is type and len(asked.args) == 1:
            thing = text_of(asked.args[0])
            cls = rule.rule.target_name
            yield Advice(
                "rule-on-type",
                rule.name,
                f"The rule is defined for {text_of(asked)}: it is one for making {an(cls)}, not for "
                f"calling {thing}.",
                rule.source.place(asked),
                "A class object stands for its constructor. For a class, type(…) would even give the "
                "class of all classes, which is refused: such a rule would apply to every constructor.",
                f"@rl.rrule_for({cls})  # for its constructor; {cls}.__call__ for a call of {thing}",
            )


def scalar_rule_would_do(rule: Anatomy) -> Finding:
    """A handwritten rule for numbers or elementwise arrays."""
    found = partials_of(rule) if _is_plain_function(rule.target) else None
    if found is None:
        return
    out, parameters, partials = found
    name = rule.rule.target_name
    inside = ", ".join(partials)
    better = f"rl.scalar_rule({name}, lambda {', '.join((out, *parameters))}: " + (
        f"({inside}))" if len(partials) > 1 else f"{inside})"
    )
    yield Advice(
        "scalar-rule",
        rule.name,
        f"{rule.name} is what scalar_rule makes from the partial "
        f"derivative{'s' * (len(partials) > 1)} {inside}.",
        rule.source.place(),
        "scalar_rule needs the partial derivatives only, and makes the forward rule as well; it undoes "
        "broadcasting, and conjugates for complex numbers, which is easily forgotten by hand.",
        better,
    )


def no_rule_needed(rule: Anatomy) -> Finding:
    """A handwritten rule that says that there is no derivative."""
    if not rule.rule.differentiable:  # a built-in rule that says so itself
        return
    if rule.rule.mode == "frule":
        tangents = rule.node.args.args[0].arg if rule.node.args.args else ""
        # A rule that reads the tangents, or does more than return, has another purpose.
        unread = (
            not rule.rule.requires and uses(tangents, rule.node) == 0 and is_straight_line_code(rule.node)
        )
        constant = bool(unread and rule.returned) and all(
            isinstance(v, ast.Tuple) and len(v.elts) == 2 and rule.zero(v.elts[1]) is NoTangent
            for v in rule.returned
        )
    else:
        answers = list(_answers(rule))
        given = [g for _, a in answers for _, g in a.cotangents]
        count = sum(len(returns_of(pullback)) for pullback in rule.pullbacks)
        constant = (
            bool(given)
            and rule.is_whole
            and count == len(answers)
            and all(rule.zero(g) is NoTangent for g in [*given, *[a.own for _, a in answers]])
        )
    if constant:
        yield Advice(
            "non-differentiable",
            rule.name,
            f"{rule.name} says of every argument that there is no derivative, as non_differentiable does.",
            rule.source.place(),
            "non_differentiable says it in one line, for forward mode as well, and the function "
            "is then left "
            "alone like any other that gives constants.",
            f"rl.non_differentiable({rule.rule.target_name}{_types(rule)})",
        )


ADVICES: tuple[Callable[[Anatomy], Finding], ...] = (
    lambda_pullback,
    thunk_of_nothing,
    thunk_of_the_only_one,
    missing_thunks,
    zeros_for_nothing,
    zero_of_the_other_kind,
    rule_on_a_type,
    scalar_rule_would_do,
    no_rule_needed,
)


# -- what the pullback returns -------------------------------------------------------------------------------


def _answers(rule: Anatomy) -> Iterator[tuple[Pullback, Answer]]:
    for pullback in rule.pullbacks:
        for answer in rule.answers(pullback):
            yield pullback, answer


def _derivatives(rule: Anatomy, answer: Answer) -> list[tuple[str, ast.expr]]:
    """The cotangents that are not zeros, including that of the function itself."""
    given = [(rule.rule.target_name, answer.own), *answer.cotangents]
    return [(name, value) for name, value in given if not _is_zero(rule, value)]


def _is_zero(rule: Anatomy, value: ast.expr) -> bool:
    """Whether a cotangent is a zero, possibly inside a thunk."""
    delayed = rule.thunked(value, rule.node)
    made = value if delayed is None else delayed
    return rule.zero(made) is not None or _is_zeros(rule, made)


def _followed(scope: Pullback, given: ast.expr) -> ast.expr:
    """The value of a name that is assigned once in the pullback; any other expression unchanged."""
    return assigned_once(scope).get(given.id, given) if isinstance(given, ast.Name) else given


def _unshared(rule: Anatomy, scope: Pullback, given: ast.expr) -> ast.expr:
    """The same, but only for a name that is used nowhere else, so that nobody can write to its value."""
    if not isinstance(given, ast.Name) or uses(given.id, rule.node) != 1:
        return given
    return assigned_once(scope).get(given.id) or assigned_once(rule.node).get(given.id) or given


def _value_of(rule: Anatomy, scope: Pullback, name: ast.Name) -> ast.expr | None:
    return assigned_once(scope).get(name.id) or assigned_once(rule.node).get(name.id)


def _bar(name: str) -> str:
    return f"{name.rpartition('.')[2]}_bar"


def _stem(rule: Anatomy) -> str:
    return rule.name.removesuffix("_rrule")


# -- thunks --------------------------------------------------------------------------------------------------


def _thunks(rule: Anatomy) -> Iterator[tuple[Pullback, ast.Call, ast.expr]]:
    """Each thunk that the rule makes: the pullback that contains it, the call, and what is delayed."""
    for scope in rule.pullbacks:
        for node in ast.walk(scope):
            if isinstance(node, ast.Call):
                delayed = rule.thunked(node, scope)
                if delayed is not None:
                    yield scope, node, delayed


class _OtherRules:
    """The names in a rule that hold the results of other rules."""

    def __init__(self, rule: Anatomy):
        self.rule = rule
        self.backs: set[str] = set()
        self.results: set[str] = set()
        for node in ast.walk(rule.node):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Tuple, ast.Name)):
                self._collect_rules(node.targets[0], node.value)

    def _collect_rules(self, target: ast.expr, value: ast.expr) -> None:
        bound = [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]
        if (
            self._asks_another_rule(value) is rrule
            and isinstance(target, ast.Tuple)
            and len(target.elts) == 2
        ):
            self.backs |= {n.id for n in ast.walk(target.elts[1]) if isinstance(n, ast.Name)}
        elif self.is_answer_of_other_rule(value) or self._asks_another_rule(value) is frule:
            self.results |= set(bound)

    def _asks_another_rule(self, value: ast.expr) -> Any:
        return self.rule.called(value)

    def is_answer_of_other_rule(self, node: ast.expr) -> bool:
        """Whether an expression is a cotangent or a tangent returned by another rule."""
        while isinstance(node, ast.Subscript):
            node = node.value
        if isinstance(node, ast.Name):
            return node.id in self.results
        if not isinstance(node, ast.Call):
            return False
        if self._asks_another_rule(node) is frule:
            return True
        return isinstance(node.func, ast.Name) and node.func.id in self.backs


def _is_constant(rule: Anatomy, node: ast.expr) -> bool:
    if rule.zero(node) is not None or isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.UnaryOp):
        return _is_constant(rule, node.operand)
    if isinstance(node, ast.BinOp):
        return _is_constant(rule, node.left) and _is_constant(rule, node.right)
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(_is_constant(rule, item) for item in node.elts)
    return isinstance(rule.stands_for(node), (int, float, complex, np.generic))


_VIEWS = {
    np.transpose, np.broadcast_to, np.expand_dims, np.squeeze, np.swapaxes, np.moveaxis, np.asarray,
    np.reshape, np.atleast_1d, np.atleast_2d,
}  # fmt: skip
_VIEW_NAMES = {"T", "mT", "real", "imag", "shape", "dtype", "size", "ndim"}
_VIEW_METHODS = {"transpose", "swapaxes", "reshape", "view", "squeeze"}


def _is_wrapper(rule: Anatomy, node: ast.expr) -> bool:
    """Whether an expression only wraps existing values, so that no numbers are computed."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(_is_there(rule, item) for item in node.elts)
    if isinstance(node, ast.Attribute):
        return node.attr in _VIEW_NAMES and _is_there(rule, node.value)
    if not isinstance(node, ast.Call):
        return False
    found = rule.called(node)
    wraps = _is_class_that_wraps(found) or (found in _VIEWS if _hashable(found) else False)
    if not wraps and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEW_METHODS:
        wraps = _is_there(rule, node.func.value)
    given = [*node.args, *(k.value for k in node.keywords)]
    return wraps and all(_is_there(rule, item) or _is_wrapper(rule, item) for item in given)


def _is_there(rule: Anatomy, node: ast.expr) -> bool:
    """Whether an expression takes no work: a name, a constant, an attribute of these."""
    if isinstance(node, ast.Attribute):
        return _is_there(rule, node.value)
    return isinstance(node, (ast.Name, ast.Constant)) or _is_constant(rule, node)


def _is_class_that_wraps(found: Any) -> bool:
    if found is Tangent:
        return True
    return isinstance(found, type) and (hasattr(found, "__dataclass_fields__") or hasattr(found, "_fields"))


def _hashable(found: Any) -> bool:
    return isinstance(found, (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type)) or callable(
        getattr(found, "__wrapped__", None)
    )


# -- work ----------------------------------------------------------------------------------------------------

_CHEAP = {
    len, float, int, complex, bool, abs, isinstance, type, tuple, list, range, min, max, round, slice,
    thunk, Thunk, unthunk, Tangent, ProjectTo, NoTangent, ZeroTangent, RuleConfig, np.shape, np.ndim, np.size,
    np.float64, np.float32,
}  # fmt: skip
_OF_NUMBERS = (math.__name__, cmath.__name__)
_CHEAP_MODULES = (*_OF_NUMBERS, tangents.__name__, array_likes.__name__)


def _is_eager(rule: Anatomy, scope: Pullback, given: ast.expr) -> bool:
    """Whether a cotangent is computed before it is needed, by work that is done only for it."""
    made = _followed(scope, given)
    if isinstance(given, ast.Name) and (made is given or uses(given.id, scope) != 1):
        return False  # computed elsewhere, or for other cotangents too
    return not rule.is_late(made) and _has_work(rule, made, scope)


def _delayed(rule: Anatomy, given: ast.expr, name: str, made: ast.expr) -> str:
    """The line that delays a cotangent, under a name that is not in use."""
    made_late = f"rl.thunk(lambda: {text_of(made)})"
    if isinstance(given, ast.Name):
        return f"{given.id} = {made_late}"
    return made_late if _bar(name) in rule.local_names else f"{_bar(name)} = {made_late}"


def _has_work(rule: Anatomy, node: ast.AST, scope: Pullback | None = None) -> bool:
    """Whether something is computed that may be worth delaying: a matrix product, or a call of a function
    that is not known to be cheap.
    """
    if isinstance(node, ast.Lambda) or (isinstance(node, ast.Call) and rule.is_late(node)):
        return False
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return True
    if isinstance(node, ast.Call) and not _is_cheap(rule, node):
        return True
    if scope is not None and isinstance(node, ast.Name):
        inner = assigned_once(scope).get(node.id)
        if inner is not None and uses(node.id, scope) == 1:
            return _has_work(rule, inner, scope)
    return any(_has_work(rule, part, scope) for part in ast.iter_child_nodes(node))


def _is_cheap(rule: Anatomy, call: ast.Call) -> bool:
    found = rule.called(call)
    if str(getattr(found, "__module__", "")).startswith(_CHEAP_MODULES):
        return True
    if isinstance(call.func, ast.Call):  # ProjectTo(x)(x_bar)
        return _is_cheap(rule, call.func)
    if isinstance(call.func, ast.Name) and call.func.id in _OtherRules(rule).backs:
        return True
    return (
        any(found is cheap for cheap in _CHEAP)
        or takes_numbers_alone(found)
        or _is_class_that_wraps(found)
        or any(found is view for view in _VIEWS)
        or (
            isinstance(call.func, ast.Attribute) and call.func.attr in {*_VIEW_METHODS, "item", "get", "keys"}
        )
    )


def _takes_numbers(rule: Anatomy) -> bool:
    """Whether every argument is annotated as a number, so that a thunk costs more than any formula."""
    notes = meant_types(rule.function)
    return bool(rule.parameters) and all(notes.get(n) in (float, int, complex) for n in rule.parameters)


# -- zeros ---------------------------------------------------------------------------------------------------


def _is_zeros(rule: Anatomy, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float, complex) and node.value == 0
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _is_zeros(rule, node.left) or _is_zeros(rule, node.right)
    found = rule.called(node)
    return any(found is maker for maker in (np.zeros, np.zeros_like))


def _can_vary(rule: Anatomy, name: str, numbers: set[str]) -> bool:
    if _may_be_none(rule, name):
        return False
    if name in numbers:
        return True
    note, default = meant_types(rule.function).get(name), _default(rule, name)
    return note in (float, complex) or isinstance(default, (float, complex))


def _may_be_none(rule: Anatomy, name: str) -> bool:
    """Whether a parameter may be None, and then has no derivative."""
    tested = (n for n in ast.walk(rule.node) if isinstance(n, ast.Compare) and _is_name(n.left, name))
    return _default(rule, name) is None or any(_is_none(c) for n in tested for c in n.comparators)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _cannot_vary(rule: Anatomy, name: str) -> str | None:
    """What a parameter is if it has no tangents, in words; None if that is not known."""
    note = meant_types(rule.function).get(name)
    for cls, words in ((str, "a text"), (bool, "a bool"), (bytes, "a text")):
        if note is cls or type(_default(rule, name)) is cls:
            return words
    for node in ast.walk(rule.node):
        if isinstance(node, ast.keyword) and node.arg in _SETTINGS and _is_name(node.value, name):
            return f"an argument given as {node.arg}="
        if isinstance(node, ast.Subscript) and _is_name(node.slice, name) and not _is_name(node.value, name):
            return "an index"
        if (
            isinstance(node, ast.Call)
            and rule.called(node) is range
            and any(_is_name(a, name) for a in node.args)
        ):
            return "a count"
        if isinstance(node, ast.Compare) and _is_name(node.left, name) and _with_text(node):
            return "a text"
    return None


_SETTINGS = {"axis", "keepdims", "dtype", "shape", "order", "mode"}


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _with_text(node: ast.Compare) -> bool:
    return any(isinstance(c, ast.Constant) and isinstance(c.value, str) for c in node.comparators)


def _default(rule: Anatomy, name: str) -> Any:
    """The default of a parameter, of the rule or of the function that the rule is for."""
    for function in (rule.function, rule.target):
        if isinstance(function, types.FunctionType):
            found = signature_of_callable(function, follow_wrapped=False).parameters.get(name)
            if found is not None and found.default is not found.empty:
                return found.default
    return UNKNOWN


def _is_plain_function(target: Any) -> bool:
    """Whether a target is a function that is no closure and no method, so that it has no parts that could
    vary.
    """
    if isinstance(target, types.FunctionType):
        return not target.__closure__ and "." not in target.__qualname__.rpartition("<locals>.")[2]
    return isinstance(target, (np.ufunc, types.BuiltinFunctionType))


def _types(rule: Anatomy) -> str:
    """The types to which a rule is limited, as an argument of `non_differentiable`."""
    said = annotations_of(rule.function)
    notes = [said.get(name) for name in rule.parameters]
    if not notes or not all(isinstance(note, (type, types.UnionType)) for note in notes):
        return ""
    words = ", ".join(note.__name__ if isinstance(note, type) else str(note) for note in notes)
    return f", types=({words},)" if len(notes) == 1 else f", types=({words})"
