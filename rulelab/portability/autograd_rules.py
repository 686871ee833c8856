"""A rule as a primitive of HIPS autograd, with `defvjp` and `defjvp`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..errors import ExportError
from .anatomy import ForwardRule, ReverseRule, Text, forward_rule, needed, read, written
from .gathering import Gathered
from .naming import Names, imported
from .pieces import FRULE, RRULE
from .plain import Plain, plain_function, plain_imports
from .translated import (
    Subject,
    Translated,
    by_either,
    comment,
    constants_of,
    docstring,
    function,
    reason,
    reference_of,
    refuse_names,
    refuse_rebound,
    signature,
    split_parameters,
    subject_of,
    times_written,
    unused,
    written_out,
)
from .translation import Translator, made, unwrapped
from .words import ELEMENTWISE, FFT, LIKE, MAKERS, OPERATORS, SAME_IN_JAX, SPECIAL

_RESERVED = {
    "anp": "autograd.numpy",
    "primitive": "autograd's decorator",
    "defvjp": "autograd's function",
    "defjvp_argnums": "autograd's function",
    "special": "autograd.scipy.special",
    **dict.fromkeys(("_cotangent", "_summed", "_seed", "_still", "_by_argnums"), "a helper"),
}
_KNOWN = SAME_IN_JAX | ELEMENTWISE | MAKERS | LIKE | set(OPERATORS)

_SEED = '''\
def _seed(y_bar):
    """Convert autograd's cotangent of the value to the rule's, which is the conjugate."""
    if isinstance(y_bar, (tuple, list)):
        return tuple(map(_seed, y_bar))
    if isinstance(y_bar, dict):
        return {key: _seed(part) for key, part in y_bar.items()}
    return anp.conj(y_bar)'''
_COTANGENT = '''\
def _cotangent(x_bar, x):
    """Convert the rule's cotangent of x to autograd's: the conjugate, real where x is real."""
    if isinstance(x, dict):
        return {key: _cotangent(x_bar[key], part) for key, part in x.items()}
    if isinstance(x, (tuple, list)):
        return type(x)(_cotangent(part_bar, part) for part_bar, part in zip(x_bar, x))
    x_bar = anp.conj(x_bar)
    if anp.shape(x_bar) != anp.shape(x):
        raise ValueError(f"a cotangent has shape {anp.shape(x_bar)}, but its argument {anp.shape(x)}")
    return x_bar if anp.iscomplexobj(x) else anp.real(x_bar)'''
_SUMMED = '''\
def _summed(x_bar, x):
    """Convert the rule's cotangent of x to autograd's: the conjugate, summed over broadcast axes."""
    x_bar = anp.conj(x_bar)
    while anp.ndim(x_bar) > anp.ndim(x):
        x_bar = anp.sum(x_bar, axis=0)
    for axis, n in enumerate(anp.shape(x)):
        x_bar = anp.sum(x_bar, axis=axis, keepdims=True) if n == 1 else x_bar
    if anp.shape(x_bar) != anp.shape(x):
        raise ValueError(f"a cotangent has shape {anp.shape(x_bar)}, but its argument {anp.shape(x)}")
    return x_bar if anp.iscomplexobj(x) else anp.real(x_bar)'''

_STILL = '''\
def _still(x):
    """Return the tangent of an argument that is held constant: zeros in the structure of x."""
    if isinstance(x, dict):
        return {key: _still(part) for key, part in x.items()}
    if isinstance(x, (tuple, list)):
        return type(x)(map(_still, x))
    return anp.zeros_like(x) if hasattr(x, "dtype") or isinstance(x, (int, float, complex)) else None'''

_BY_ARGNUMS = '''\
def _by_argnums(jvp):
    """Adapt a forward rule to `defjvp_argnums`, which passes the positions of the arguments with tangents."""

    def asked(argnums, tangents, ans, args, kwargs):
        return jvp(dict(zip(argnums, tangents)), ans, *args, **kwargs)

    return asked'''


class ToAutograd(Translator):
    """The functions of `autograd.numpy`, which can themselves be differentiated."""

    framework = "autograd"

    # The arrays are NumPy arrays, so aliases see each other's changes, as in the original code.
    def see_alias(self, node: ast.Assign) -> None:
        return None

    def is_made(self, name: str) -> bool:
        return True

    def one_by_one(self, index: ast.expr) -> None:
        return None

    def library_call(self, node: ast.Call, dotted: str) -> ast.expr:
        library, _, name = dotted.rpartition(".")
        if library == "scipy.special" and name in SPECIAL["autograd"]:
            self.needs.add("special")
            return ast.Call(made(f"special.{name}"), self.arguments(node), self._given(node))
        fits = (
            library == "numpy.linalg"
            or (library == "numpy" and name in _KNOWN)
            or (library == "numpy.fft" and name in FFT)
        )
        if not fits:
            raise self.no_counterpart(node, ast.unparse(node.func))
        return ast.Call(made(f"anp{library[5:]}.{name}"), self.arguments(node), self._given(node))

    def _given(self, node: ast.Call) -> list[ast.keyword]:
        return [
            ast.keyword(k.arg, self.dtype(k.value) if k.arg == "dtype" else self.expression(k.value))
            for k in node.keywords
        ]

    def shape_call(self, node: ast.Call, dotted: str) -> ast.expr:
        return ast.Call(made(f"anp.{dotted.rpartition('.')[2]}"), self.arguments(node), [])

    def safe_builtin(self, node: ast.Call, name: str) -> ast.expr:
        return ast.Call(node.func, self.arguments(node), self.keywords(node))

    def added_at(self, call: ast.Call) -> ast.stmt:
        raise self.no_counterpart(call, "np.add.at")

    def dtype_of(self, word: str) -> ast.expr | None:
        return made(f"anp.{word}") if word in ("float32", "complex64") else super().dtype_of(word)


def autograd_export(found: Gathered, native: bool | None = None) -> Translated:
    """The text of a module for HIPS autograd; the function itself runs in NumPy, as every primitive does.

    `native` requests vjps in `autograd.numpy`, which can be differentiated again, or vjps in NumPy, which
    cannot; by default the former if the rule's body allows it. Raises ExportError, with the line, for what
    has no counterpart.
    """
    subject = subject_of(found, "autograd")
    refuse_names(subject, _RESERVED)
    return by_either(subject, lambda: _text(subject, None), lambda why: _text(subject, why), native)


def _text(subject: Subject, why: ExportError | None) -> Translated:
    """The module; with `why` its vjps run in NumPy."""
    if why is not None and subject.elementwise:
        raise why
    needs: set[str] = set()
    names = Names.of(subject.found)
    rule = subject.reverse
    if rule is not None and why is None:
        refuse_rebound(rule)
    of_rule = _translator(subject, rule, why) if rule is not None else None
    makers = [] if rule is None else _makers(subject, rule, of_rule)
    forward, remarks = _forward(subject)
    jvp = _jvp(subject, forward, why) if forward is not None else None
    reached = {
        text.name
        for text in subject.helpers
        if text.name in _reached(subject, [*makers, *([jvp] if jvp else [])])
    }
    helpers: list[ast.stmt] = []
    for piece in subject.found.of_kind("helper"):
        if piece.name in reached and why is None:
            text = Text(piece)
            static, traced = split_parameters(text, options=True)
            one = ToAutograd(text, names, static, traced, reference_of(traced))
            helpers.append(
                function(text.name, signature(text), one.body(text.tree.body), ast.get_docstring(text.tree))
            )
            needs |= one.needs
        else:
            helpers.append(plain_function(piece, names))
    needs |= of_rule.needs if isinstance(of_rule, ToAutograd) else set()
    main = _main(subject, rule, names)
    main.decorator_list = [made("primitive")]
    statements = [*helpers, main, *makers, *([jvp] if jvp else [])]
    whole = written_out(
        "\n\n".join(
            [
                _heading(subject),
                *_comment_about_numpy(why),
                _imports(subject, statements, needs, rule is not None, jvp is not None),
            ]
        ),
        constants_of(subject.found, read(statements)),
        *helpers,
        main,
        _SEED if makers else None,
        (_SUMMED if subject.elementwise else _COTANGENT) if makers else None,
        *makers,
        _defined(subject, rule, makers),
        *((_STILL, _BY_ARGNUMS) if jvp else ()),
        jvp,
        f"defjvp_argnums({subject.name}, _by_argnums({jvp.name}))" if jvp else None,
    )
    return Translated(
        "autograd",
        subject.name,
        whole,
        native=why is None,
        why=reason(why) if why else "",
        remarks=remarks,
        modes=(*([RRULE] if makers else []), *([FRULE] if jvp else [])),
    )


def _comment_about_numpy(why: ExportError | None) -> list[str]:
    if why is None:
        return []
    return [
        comment(f"The vjps run in NumPy. Reason: {reason(why)}. They cannot be differentiated themselves.")
    ]


class _Verbatim:
    """Has the interface of a framework's translator, but returns the text unchanged, without names from
    rulelab.
    """

    def __init__(self, subject: Subject, text: Text):
        self.names, self.text = Names.of(subject.found), text

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [Plain(self.text.piece, self.names).visit(s) for s in statements]

    def expression(self, node: ast.expr) -> ast.expr:
        return Plain(self.text.piece, self.names).visit(node)


def _translator(subject: Subject, rule: ReverseRule, why: ExportError | None):
    if why is not None:
        return _Verbatim(subject, rule.text)
    static, traced = split_parameters(rule.text, subject.static)
    found = ToAutograd(rule.text, subject.names, static, [*traced, rule.seed], reference_of(traced, rule))
    found.parameters = {*static, *traced}
    return found


def _makers(subject: Subject, rule: ReverseRule, translator) -> list[ast.FunctionDef]:
    """A vjp maker for each argument that has a cotangent, with the statements that this cotangent needs."""
    value = rule.value.id if isinstance(rule.value, ast.Name) else None
    if value is not None and (times_written(rule.before, value) != 1 or value in rule.parameters.names):
        value = None
    answer = value or unused("ans", subject.taken)
    made_all = []
    for name, x_bar in zip(rule.parameters.positional, rule.returned):
        if x_bar is None:
            continue
        x_bar = unwrapped(subject.names, x_bar)
        inside = needed(rule.body, read([x_bar]))
        outside = needed(
            rule.before, (read([x_bar, *inside]) - written(inside)) | (read(inside)), [value] if value else []
        )
        seed = ast.Assign([_name(rule.seed, ast.Store())], made("_seed(s)", s=_name(rule.seed)))
        fits = "_summed(e, x)" if subject.elementwise else "_cotangent(e, x)"
        entry = made(fits, e=translator.expression(x_bar), x=_name(name))
        back = function(
            unused(f"{name}_pullback", subject.taken),
            [rule.seed],
            [seed, *translator.block(inside), ast.Return(entry)],
        )
        args = signature(rule.text)
        args.args = [ast.arg(answer), *args.posonlyargs, *args.args]
        args.posonlyargs = []
        body = [*translator.block(outside), back, ast.Return(_name(back.name))]
        made_all.append(function(unused(f"{subject.name}_vjp_{name}", subject.taken), args, body))
    return made_all


def _defined(subject: Subject, rule: ReverseRule | None, makers: Sequence[ast.FunctionDef]) -> str | None:
    if rule is None or not makers:
        return None
    moving = [i for i, x_bar in enumerate(rule.returned) if x_bar is not None]
    if len(moving) == len(rule.returned):
        return f"defvjp({subject.name}, {', '.join(m.name for m in makers)})"
    return f"defvjp({subject.name}, {', '.join(m.name for m in makers)}, argnums={tuple(moving)})"


def _main(subject: Subject, rule: ReverseRule | None, names: Names) -> ast.FunctionDef:
    """The function itself, in NumPy."""
    if subject.primal is not None:
        plain = plain_function(subject.primal.piece, names)
        assert isinstance(plain, ast.FunctionDef)
        plain.decorator_list = []
        return plain
    if rule is None:
        raise ExportError(f"{subject.found.target} has no text, and a forward rule needs its value")
    verbatim = _Verbatim(subject, rule.text)
    body = [*verbatim.block(list(rule.before)), ast.Return(verbatim.expression(rule.value))]
    return function(subject.name, signature(rule.text), body, docstring(None, subject.name))


def _reached(subject: Subject, trees: Sequence[ast.AST]) -> set[str]:
    """The helpers that some functions call, directly or indirectly."""
    known = {text.name: text.tree for text in subject.helpers}
    found: set[str] = set()
    fresh = read(trees) & set(known)
    while fresh - found:
        found |= fresh
        fresh = read([known[name] for name in found]) & set(known)
    return found


def _forward(subject: Subject) -> tuple[ForwardRule | None, tuple[str, ...]]:
    """The parts of the forward rule, or a remark that it is left out: a forward rule that cannot be taken
    apart does not prevent the export of a reverse rule.
    """
    if subject.forward is None:
        return None, ()
    try:
        rule = forward_rule(subject.forward)
    except ExportError as refused:
        if subject.reverse is None:
            raise
        return None, (f"the forward rule is left out: {reason(refused)}",)
    return rule, ()


def _jvp(subject: Subject, rule: ForwardRule, why: ExportError | None) -> ast.FunctionDef:
    """The forward rule as a function of the tangents by position of the moved arguments, the value, and the
    arguments.
    """
    names = rule.parameters.positional
    one: Translator | _Verbatim = _Verbatim(subject, rule.text)
    if why is None:
        keywords = rule.parameters.keyword
        one = ToAutograd(rule.text, subject.names, keywords, [*names, *rule.tangents], None)
    given = unused("given", subject.taken)
    value = (
        rule.value.id
        if isinstance(rule.value, ast.Name) and times_written(rule.before, rule.value.id) == 1
        else None
    )
    answer = value or unused("ans", subject.taken)
    statements = needed(rule.before, read([rule.tangent]), [value] if value else [])
    tangents: list[ast.stmt] = [
        ast.Assign(
            [_name(dot, ast.Store())],
            made(f"{given}[{i}] if {i} in {given} else _still(x)", x=_name(name)),
        )
        for i, (name, dot) in enumerate(zip(names, rule.tangents))
        if dot in read([*statements, rule.tangent])
    ]
    args = signature(rule.text)
    plain = [*args.posonlyargs, *args.args]
    args.posonlyargs, args.args = [], [ast.arg(given), ast.arg(answer), *plain[1:]]
    body = [*tangents, *one.block(statements), ast.Return(one.expression(rule.tangent))]
    return function(unused(f"{subject.name}_jvp", subject.taken), args, body)


def _imports(subject: Subject, statements: Sequence[ast.AST], needs: set[str], vjp: bool, jvp: bool) -> str:
    used = read(statements)
    lines = [line for line in plain_imports(subject.found) if _binds(line) & used]
    if "math" in needs and "import math" not in lines:
        lines.insert(0, "import math")
    constants = constants_of(subject.found, used)
    if "np." in constants and "import numpy as np" not in lines:
        lines.append("import numpy as np")
    words = (["defjvp_argnums"] if jvp else []) + (["defvjp"] if vjp else []) + ["primitive"]
    ours = (["import autograd.numpy as anp"] if vjp or jvp else []) + [
        f"from autograd.extend import {', '.join(words)}"
    ]
    ours += ["from autograd.scipy import special"] if "special" in needs else []
    return "\n".join([*lines, *([""] if lines else []), *ours])


def _binds(line: str) -> set[str]:
    return set(imported([line]))


def _heading(subject: Subject) -> str:
    return f'"""{subject.name} with its derivative rule, as a primitive of autograd. Exported by rulelab."""'


def _name(name: str, context: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(name, context or ast.Load())
