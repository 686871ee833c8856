"""A rule as a `custom_vjp` or `custom_jvp` of JAX."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from ..errors import ExportError
from ..parsing import nodes_of, parse
from .anatomy import ForwardRule, Parameters, ReverseRule, Text, forward_rule, needed, read, written
from .gathering import Gathered
from .naming import Names
from .pieces import FRULE
from .plain import plain_imports, plain_pieces
from .to_jax import ToJax
from .translated import (
    Subject,
    Translated,
    by_either,
    captured_by,
    comment,
    constants_of,
    docstring,
    function,
    is_option,
    is_structure,
    reason,
    reference_of,
    refuse_names,
    refuse_rebound,
    same_parameters,
    signature,
    split_parameters,
    subject_of,
    takes_parts,
    times_written,
    unused,
    written_out,
)
from .translation import made

_RESERVED = {
    "jax": "JAX",
    "jnp": "jax.numpy",
    "partial": "functools.partial",
    **dict.fromkeys(("_cotangent", "_summed", "_tangent", "_conjugated", "_as_is"), "a helper"),
    **dict.fromkeys(("_on_numpy", "_shapes", "_answer"), "a helper"),
}

_COTANGENT = '''\
def _cotangent(x_bar, x):
    """Convert the rule's cotangent of x to JAX's: the conjugate, real if x is real, in the dtype of x."""
    if not jnp.issubdtype(jnp.result_type(x), jnp.inexact):
        return None
    x_bar = jnp.conj(jnp.asarray(x_bar))
    if not jnp.iscomplexobj(x):
        x_bar = jnp.real(x_bar)
    return x_bar.astype(jnp.result_type(x))'''
_SUMMED = '''\
def _summed(x_bar, x):
    """Convert the rule's cotangent of x to JAX's: the conjugate, summed over broadcast axes."""
    if not jnp.issubdtype(jnp.result_type(x), jnp.inexact):
        return None
    x_bar = jnp.conj(jnp.asarray(x_bar))
    x_bar = jnp.sum(x_bar, axis=tuple(range(x_bar.ndim - jnp.ndim(x))))
    kept = tuple(i for i, n in enumerate(jnp.shape(x)) if n == 1)
    x_bar = jnp.sum(x_bar, axis=kept, keepdims=True)
    if not jnp.iscomplexobj(x):
        x_bar = jnp.real(x_bar)
    return x_bar.astype(jnp.result_type(x))'''
_TANGENT = '''\
def _tangent(y_dot, y):
    """Convert the tangent y_dot to the structure, shapes and dtypes of y."""

    def one(y, y_dot):
        y_dot = jnp.broadcast_to(jnp.asarray(y_dot), jnp.shape(y))
        return (y_dot if jnp.iscomplexobj(y) else jnp.real(y_dot)).astype(jnp.result_type(y))

    return jax.tree_util.tree_map(one, y, y_dot)'''


def jax_export(found: Gathered, native: bool | None = None) -> Translated:
    """The text of a module for JAX: in `jax.numpy` if the rule's body allows that, else through
    `pure_callback`.

    `native` requests one of the two. Raises ExportError, with the line, for what has no counterpart.
    """
    subject = subject_of(found, "JAX")
    refuse_names(subject, _RESERVED)
    if subject.reverse is None and subject.forward is not None:
        return by_either(subject, lambda: _forward(subject), lambda why: _numpy_forward(subject, why), native)
    if subject.reverse is None:
        raise ExportError(f"{subject.name} has no rule that can be translated to JAX")
    return by_either(subject, lambda: _reverse(subject), lambda why: _numpy_reverse(subject, why), native)


# --- in operations of JAX -----------------------------------------------------------------------------------


class _Pieces:
    """The functions of an export other than its rule, translated."""

    def __init__(self, subject: Subject):
        self.subject = subject
        self.needs: set[str] = set()
        self.helpers = [self._helper(text) for text in subject.helpers]

    def _helper(self, text: Text) -> ast.FunctionDef:
        static, traced = split_parameters(text, options=True)
        translator = ToJax(text, self.subject.names, static, traced, reference_of(traced))
        body = translator.body(text.tree.body)
        _refuse_endless(self.subject, text, body)
        self.needs |= translator.needs
        return function(text.name, signature(text), body, ast.get_docstring(text.tree))

    def primal(self) -> list[ast.stmt] | None:
        """The body of the function itself; None if it has no text by the author."""
        text = self.subject.primal
        if text is None:
            return None
        static, traced = split_parameters(text, self.subject.static)
        translator = ToJax(text, self.subject.names, static, traced, reference_of(traced, None))
        body = translator.body(text.tree.body)
        _refuse_endless(self.subject, text, body)
        self.needs |= translator.needs
        return body


def _refuse_endless(subject: Subject, text: Text, body: Sequence[ast.stmt]) -> None:
    """Refuse a function that calls itself and branches on a value: JAX traces both branches, without end."""
    if not any(
        ast.unparse(n) == "jax.lax.cond" for s in body for n in ast.walk(s) if isinstance(n, ast.Attribute)
    ):
        return
    texts = [*subject.helpers, *([subject.primal] if subject.primal else [])]
    reads = {one.name: read([one.tree]) for one in texts}
    for node in nodes_of(text.tree):
        if isinstance(node, ast.Name) and text.name in _reached(node.id, reads):
            raise text.refusal(
                node,
                f"{text.name} calls itself, and how often depends on a value: JAX would trace it endlessly",
            )


def _reached(name: str, reads: Mapping[str, set[str]]) -> set[str]:
    """The functions that a function calls directly or indirectly, itself included."""
    found: set[str] = set()
    ahead = [name] if name in reads else []
    while ahead:
        one = ahead.pop()
        if one not in found:
            found.add(one)
            ahead += reads[one] & reads.keys()
    return found


def _reverse(subject: Subject) -> Translated:
    rule = subject.reverse
    assert rule is not None
    refuse_rebound(rule)
    pieces = _Pieces(subject)
    static, traced = split_parameters(rule.text, subject.static)
    translator = ToJax(rule.text, subject.names, static, [*traced, rule.seed], reference_of(traced, rule))
    translator.parameters = {*static, *traced}
    before = translator.block(rule.before)
    value = translator.expression(rule.value)
    kept = _residuals(rule, translator, traced)
    again = translator.block(needed(rule.before, captured_by(rule) & translator.facts.static))
    translator.parameters |= {rule.seed}
    translator.bound = {*static, *traced, *kept, rule.seed}
    body = translator.block(rule.body)
    returned = _returned(subject, rule, translator, traced)
    pieces.needs |= translator.needs

    residuals = unused("residuals", subject.taken)
    core, public = _names_of(subject, rule)
    fwd, bwd = (unused(f"{subject.name}_{word}", subject.taken) for word in ("fwd", "bwd"))
    args = ast.arguments([], [ast.arg(n) for n in rule.parameters.names], None, [], [], None, [])
    forward = function(fwd, args, [*before, ast.Return(ast.Tuple([value, _tuple(kept)], ast.Load()))])
    conjugate = made(
        "jax.tree_util.tree_map(jnp.conj, s)" if takes_parts(rule) else "jnp.conj(s)", s=_name(rule.seed)
    )
    unpacked = ast.Assign([_tuple(kept, ast.Store())], _name(residuals))
    seed = ast.Assign([_name(rule.seed, ast.Store())], conjugate)
    backward = function(
        bwd, [*static, residuals, rule.seed], [unpacked, *again, seed, *body, ast.Return(returned)]
    )
    primal, why = _primal(pieces, subject, rule, fwd)
    flat = _flat_signature(signature(subject.primal or rule.text))
    main = function(core, flat, primal, docstring(subject.primal, subject.name))
    positions = [i for i, name in enumerate(rule.parameters.names) if name in static]
    main.decorator_list = [_custom("vjp", positions)]
    used = _used([*pieces.helpers, main, forward, backward])
    text = written_out(
        _heading(subject, "jax.custom_vjp")
        + "\n\n"
        + _imports(pieces.needs, bool(positions), _names_numpy(subject, used)),
        constants_of(subject.found, used),
        *pieces.helpers,
        _SUMMED if subject.elementwise else _COTANGENT,
        main,
        forward,
        backward,
        f"{core}.defvjp({fwd}, {bwd})",
        public,
    )
    return Translated("jax", subject.name, text, remarks=tuple(why))


def _names_of(subject: Subject, rule: ReverseRule | ForwardRule) -> tuple[str, ast.stmt | None]:
    """The name of the function with the rule, and the wrapper that accepts keywords, if one is needed."""
    if not rule.parameters.keyword:
        return subject.name, None
    core = unused(f"_{subject.name}", subject.taken)
    given = signature(subject.primal or rule.text)
    call = ast.Call(_name(core), [_name(p.arg) for p in _flat_signature(given).args], [])
    return core, function(subject.name, given, [ast.Return(call)], docstring(subject.primal, subject.name))


def _flat_signature(given: ast.arguments) -> ast.arguments:
    """The parameters, all positional: JAX takes those of a function with a rule in this way."""
    names = [ast.arg(p.arg) for p in [*given.posonlyargs, *given.args, *given.kwonlyargs]]
    return ast.arguments([], names, None, [], [], None, given.defaults if not given.kwonlyargs else [])


def _residuals(rule: ReverseRule, translator: ToJax, traced: Sequence[str]) -> list[str]:
    """The traced values that the pullback captures, and every argument that has a cotangent."""
    captured = captured_by(rule)
    static = captured & translator.facts.static
    whence = read(needed(rule.before, static)) & translator.facts.own - translator.facts.static
    for name in whence - set(rule.parameters.names):
        if times_written(rule.before, name) > 1:
            raise rule.text.refusal(
                rule.text.tree, f"a length is read off {name}, which is bound more than once"
            )
    wanted = {
        n for n, x_bar in zip(rule.parameters.positional, rule.returned) if x_bar is not None and n in traced
    }
    wanted |= (captured | whence) - translator.facts.static - {rule.seed}
    order = [*rule.parameters.names, *sorted(wanted)]
    return [n for n in dict.fromkeys(order) if n in wanted]


def _returned(subject: Subject, rule: ReverseRule, translator: ToJax, traced: Sequence[str]) -> ast.expr:
    entries: list[ast.expr] = []
    for name, x_bar in zip(rule.parameters.positional, rule.returned):
        if name not in traced:
            if x_bar is not None:
                raise rule.text.refusal(
                    x_bar, f"{name} is not a number to differentiate with respect to, but has a cotangent"
                )
            continue
        if x_bar is None:
            entries.append(ast.Constant(None))
            continue
        pattern = "_summed(x_bar, x)" if subject.elementwise else "_cotangent(x_bar, x)"
        if is_structure(subject.names, x_bar):
            pattern = "jax.tree_util.tree_map(_cotangent, x_bar, x)"
        entries.append(made(pattern, x_bar=translator.expression(x_bar), x=_name(name)))
    return ast.Tuple(entries, ast.Load())


def _primal(
    pieces: _Pieces, subject: Subject, rule: ReverseRule, fwd: str
) -> tuple[list[ast.stmt], list[str]]:
    """The body of the function; if the function has no body that can be translated, the rule's computation of
    the value.
    """
    calls_itself = subject.name in read([*rule.before, rule.value]) and subject.primal is not None
    given = [_name(n) for n in _flat(subject.primal or rule.text)]
    by_rule: list[ast.stmt] = [ast.Return(made("y[0]", y=ast.Call(_name(fwd), list(given), [])))]
    try:
        body = pieces.primal()
    except ExportError as refused:
        if calls_itself:
            raise
        return by_rule, [f"the function is computed as its rule does: {reason(refused)}"]
    return (body, []) if body is not None else (by_rule, [])


def _flat(text: Text) -> list[str]:
    return list(Parameters.of(text).names)


def _custom(kind: str, positions: Sequence[int]) -> ast.expr:
    if not positions:
        return made(f"jax.custom_{kind}")
    return made(f"partial(jax.custom_{kind}, nondiff_argnums=n)", n=_numbers(positions))


def _forward(subject: Subject) -> Translated:
    assert subject.forward is not None
    rule, primal = forward_rule(subject.forward), subject.primal
    if primal is None:
        raise rule.text.refusal(
            rule.text.tree, "the function itself has no text, and a forward rule needs its value"
        )
    same_parameters(primal, rule)
    options = _options(rule)
    subject = dataclasses.replace(subject, static=frozenset(options))
    pieces = _Pieces(subject)
    static = [*(rule.parameters.positional[i] for i in options), *rule.parameters.keyword]
    traced = [n for n in rule.parameters.positional if n not in static]
    dots = [dot for n, dot in zip(rule.parameters.positional, rule.tangents) if n in traced]
    translator = ToJax(rule.text, subject.names, static, [*traced, *dots], reference_of(traced))
    before = translator.block(rule.before)
    value, tangent = translator.expression(rule.value), translator.expression(rule.tangent)
    body = pieces.primal()
    assert body is not None
    pieces.needs |= translator.needs
    core, public = _names_of(subject, rule)
    positions = [i for i, name in enumerate(rule.parameters.names) if name in static]
    primals, tangents = (unused(word, subject.taken) for word in ("primals", "tangents"))
    y = unused("_y", subject.taken)
    unpacked = [
        ast.Assign([_tuple(traced, ast.Store())], _name(primals)),
        ast.Assign([_tuple(dots, ast.Store())], _name(tangents)),
    ]
    end = [
        ast.Assign([_name(y, ast.Store())], value),
        ast.Return(ast.Tuple([_name(y), made("_tangent(t, y)", t=tangent, y=_name(y))], ast.Load())),
    ]
    jvp = function(
        unused(f"{subject.name}_jvp", subject.taken),
        [*static, primals, tangents],
        [*unpacked, *before, *end],
    )
    jvp.decorator_list = [made("f.defjvp", f=_name(core))]
    flat = _flat_signature(signature(primal))
    main = function(core, flat, body, docstring(primal, subject.name))
    main.decorator_list = [_custom("jvp", positions)]
    used = _used([*pieces.helpers, main, jvp])
    text = written_out(
        _heading(subject, "jax.custom_jvp")
        + "\n\n"
        + _imports(pieces.needs, bool(positions), _names_numpy(subject, used)),
        constants_of(subject.found, used),
        *pieces.helpers,
        _TANGENT,
        main,
        jvp,
        public,
    )
    return Translated("jax", subject.name, text, modes=(FRULE,))


def _options(rule: ForwardRule) -> list[int]:
    """The positions of parameters that are options and not operands: nothing reads their tangents."""
    reads = read([*rule.before, rule.value, rule.tangent])
    pairs = zip(rule.parameters.positional, rule.tangents)
    return [
        i
        for i, (name, dot) in enumerate(pairs)
        if dot not in reads and is_option(rule.text, rule.parameters, name)
    ]


# --- with NumPy behind it -----------------------------------------------------------------------------------

_CALLS = '''\
def _on_numpy(function, shapes, *args):
    """Call a NumPy function outside the compiled program; its results have the given shapes and dtypes."""

    def asked(*args):
        held = jax.tree_util.tree_map(lambda x: np.asarray(x)[()], args)
        made = function(*held)
        return jax.tree_util.tree_map(lambda y, s: np.asarray(y, dtype=s.dtype), made, shapes)

    return jax.pure_callback(asked, shapes, *args, vmap_method="sequential")


def _shapes(x):
    """Return the shapes and dtypes of the arrays in x."""
    return jax.tree_util.tree_map(lambda a: jax.ShapeDtypeStruct(jnp.shape(a), jnp.result_type(a)), x)


def _answer(function, *args):
    """Return the shapes and dtypes of a NumPy function's result, by calling it on ones at trace time."""
    ones = jax.tree_util.tree_map(lambda a: np.ones(jnp.shape(a), jnp.result_type(a))[()], args)
    kind = jnp.result_type(*jax.tree_util.tree_leaves(args))

    def one(y):
        y = np.asarray(y)
        dtype = jnp.promote_types(kind, jnp.complex64) if np.iscomplexobj(y) else np.zeros(0, kind).real.dtype
        return jax.ShapeDtypeStruct(y.shape, dtype if y.dtype.kind in "fc" else jnp.result_type(y))

    return jax.tree_util.tree_map(one, function(*ones))'''


def _numpy_reverse(subject: Subject, why: ExportError) -> Translated:
    rule = subject.reverse
    assert rule is not None
    if subject.elementwise:
        raise why
    hidden = _behind(subject)
    static, traced = split_parameters(rule.text, subject.static)
    shown = list(rule.parameters.names)
    core, public = _names_of(subject, rule)
    positions = [i for i, name in enumerate(shown) if name in static]
    main = _numpy_main(subject, rule, core, hidden, static)
    main.decorator_list = [_custom("vjp", positions)]
    fwd, bwd = (unused(f"{subject.name}_{word}", subject.taken) for word in ("fwd", "bwd"))
    held = ", ".join(n for n in shown if n not in static)
    forward = f"def {fwd}({', '.join(shown)}):\n    return {core}({', '.join(shown)}), ({held},)"
    backward = _numpy_backward(subject, rule, bwd, hidden[rule.text.name], static, traced)
    others = [line for line in plain_imports(subject.found) if line != "import numpy as np"]
    costs = comment(
        f"This rule runs in NumPy, outside the code that JAX compiles. Reason: {reason(why)}. "
        "Each call goes to Python and back, vmap calls it element by element, nothing is fused, and an "
        "accelerator waits while arrays are copied to the CPU. The pullback recomputes the value. "
        "There is no second derivative."
    )
    text = written_out(
        "\n\n".join(
            [_heading(subject, "jax.custom_vjp"), costs, _imports(set(), bool(positions), True, others)]
        ),
        constants_of(subject.found),
        *_hidden_pieces(subject, hidden),
        _CALLS,
        _CONJUGATED,
        main,
        forward,
        backward,
        f"{core}.defvjp({fwd}, {bwd})",
        public,
    )
    return Translated("jax", subject.name, text, native=False, why=reason(why))


def _numpy_main(
    subject: Subject, rule: ReverseRule, core: str, hidden: dict[str, str], static: Sequence[str]
) -> ast.FunctionDef:
    """The function, whose value NumPy computes."""
    text = subject.primal or rule.text
    names = Parameters.of(text).names
    held = [n for n, of_rule in zip(names, rule.parameters.names) if of_rule not in static]
    given = ", ".join(_keyworded(text, n) for n in names)
    called = hidden[subject.name] if subject.primal is not None else hidden[rule.text.name]
    call = f"{called}({given})" if subject.primal is not None else f"{called}({given})[0]"
    value = function(unused("value", names), held, [ast.Return(_expression(call))])
    asked = f"_on_numpy({value.name}, _answer({value.name}, {', '.join(held)}), {', '.join(held)})"
    flat = signature(text)
    if flat.kwonlyargs:
        flat = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
    return function(
        core, flat, [value, ast.Return(_expression(asked))], docstring(subject.primal, subject.name)
    )


def _numpy_backward(
    subject: Subject, rule: ReverseRule, bwd: str, called: str, static: Sequence[str], traced: Sequence[str]
) -> str:
    """The backward pass, whose cotangents NumPy computes."""
    shown = rule.parameters.names
    held = [n for n in shown if n not in static]
    pairs = list(zip(rule.parameters.positional, rule.returned))
    moving = [n for n, x_bar in pairs if x_bar is not None and n in traced]
    seed = unused("y_bar", subject.taken)
    entries = [f"_as_is(x_bar[{1 + i}], {n})" for i, (n, _) in enumerate(pairs) if n in moving]
    given = ", ".join(_keyworded(rule.text, n) for n in shown)
    returned = ", ".join(f"_conjugated(x_bar[{moving.index(n)}])" if n in moving else "None" for n in held)
    return "\n".join(
        [
            f"def {bwd}({', '.join([*static, 'residuals', seed])}):",
            f"    ({', '.join(held)},) = residuals",
            "",
            f"    def pullback({', '.join([*held, seed])}):",
            f"        _, back = {called}({given})",
            f"        x_bar = back({seed})",
            f"        return ({', '.join(entries)},)",
            "",
            f"    {seed} = _conjugated({seed})",
            f"    x_bar = _on_numpy(pullback, _shapes(({', '.join(moving)},)), {', '.join(held)}, {seed})",
            f"    return ({returned},)",
        ]
    )


def _expression(text: str) -> ast.expr:
    return parse(text, mode="eval").body


_CONJUGATED = '''\
def _conjugated(x):
    """Conjugate cotangents: those of JAX are the conjugates of those of the rule."""
    return jax.tree_util.tree_map(jnp.conj, x)


def _as_is(x_bar, x):
    """Return x_bar in the structure of x, with zeros for None; take the real part where x is real."""

    def one(part_bar, part):
        part_bar = np.zeros(np.shape(part)) if part_bar is None else np.asarray(part_bar)
        if np.shape(part_bar) != np.shape(part):
            raise ValueError(f"a cotangent has shape {np.shape(part_bar)}, but its argument {np.shape(part)}")
        return part_bar if np.iscomplexobj(part) else part_bar.real

    if x_bar is None:
        return jax.tree_util.tree_map(lambda part: np.zeros(np.shape(part)), x)
    return jax.tree_util.tree_map(one, x_bar, x, is_leaf=lambda part: part is None)'''


def _numpy_forward(subject: Subject, why: ExportError) -> Translated:
    raise why


def _behind(subject: Subject) -> dict[str, str]:
    """The NumPy functions that an export calls, by the names that they have in it."""
    taken = subject.taken
    own = [p.name for p in subject.found.functions]
    return {name: unused(f"_numpy_{name}", taken) if name == subject.name else name for name in own}


def _hidden_pieces(subject: Subject, hidden: dict[str, str]) -> Iterable[ast.stmt]:
    """The NumPy functions; the one that the export is named after gets a different name."""
    for tree in plain_pieces(subject.found, Names.of(subject.found)):
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id == subject.name:
                node.id = hidden[subject.name]
        if isinstance(tree, ast.FunctionDef) and tree.name == subject.name:
            tree.name = hidden[subject.name]
        yield tree


def _keyworded(text: Text, name: str) -> str:
    return f"{name}={name}" if name in Parameters.of(text).keyword else name


# --- text ---------------------------------------------------------------------------------------------------


def _heading(subject: Subject, how: str) -> str:
    return f'"""{subject.name} with its derivative rule, as a `{how}`. Exported by rulelab."""'


def _imports(needs: set[str], by_partial: bool, numpy: bool, others: Sequence[str] = ()) -> str:
    first = ["import math"] if "math" in needs else []
    first += ["from functools import partial"] if by_partial else []
    second = (
        ["import jax", "import jax.numpy as jnp"] + (["import numpy as np"] if numpy else []) + list(others)
    )
    return "\n".join([*first, *([""] if first else []), *second])


def _names_numpy(subject: Subject, used: set[str]) -> bool:
    """Whether NumPy is named by a constant or by the default of a parameter; function bodies use JAX's
    names.
    """
    return "np" in used or "np." in constants_of(subject.found, used)


def _used(trees: Iterable[ast.AST]) -> set[str]:
    return read(trees) | written(())


def _name(name: str, context: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(name, context or ast.Load())


def _tuple(names: Sequence[str], context: ast.expr_context | None = None) -> ast.expr:
    context = context or ast.Load()
    return ast.Tuple([_name(n, context) for n in names], context)


def _numbers(positions: Sequence[int]) -> ast.expr:
    return ast.Tuple([ast.Constant(i) for i in positions], ast.Load())
