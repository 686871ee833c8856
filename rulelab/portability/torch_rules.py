"""A rule as a `torch.autograd.Function`."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

from ..errors import ExportError
from ..parsing import nodes_of
from .anatomy import Parameters, ReverseRule, Text, needed, read
from .gathering import Gathered
from .naming import Names
from .plain import plain_imports, plain_pieces
from .to_torch import ToTorch
from .translated import (
    Subject,
    Translated,
    by_either,
    captured_by,
    comment,
    constants_of,
    docstring,
    function,
    is_structure,
    read_by_words,
    reason,
    reference_of,
    refuse_names,
    refuse_rebound,
    signature,
    speaks_of_complex,
    split_parameters,
    subject_of,
    times_written,
    unused,
    written_out,
)
from .translation import made, unwrapped

_RESERVED = {
    "torch": "PyTorch",
    "ctx": "the context",
    **dict.fromkeys(("_numpy", "_tensor", "_like"), "a helper"),
}
_HELPERS = {
    "dot": '''\
def _dot(a, b):
    """np.dot for tensors of any number of axes, scalars included."""
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return torch.tensordot(a, b, dims=([-1], [max(b.ndim - 2, 0)]))''',
    "sign": '''\
def _sign(x):
    """np.sign, which returns NaN for NaN."""
    return torch.where(torch.isnan(x), x, torch.sgn(x))''',
    "cotangent": '''\
def _cotangent(x_bar, x):
    """Return x_bar, or its real part if x is real."""
    return torch.real(x_bar) if torch.is_complex(x_bar) and not torch.is_complex(x) else x_bar''',
    "summed": '''\
def _summed(x_bar, x):
    """Sum x_bar over the axes along which x was broadcast; take its real part if x is real."""
    x_bar = torch.as_tensor(x_bar).sum_to_size(x.shape)
    return torch.real(x_bar) if torch.is_complex(x_bar) and not torch.is_complex(x) else x_bar''',
}


def torch_export(found: Gathered, native: bool | None = None) -> Translated:
    """The text of a module for PyTorch: in its own operations if the rule's body allows that, else through
    NumPy.

    `native` requests one of the two. Raises ExportError, with the line, for what has no counterpart.
    """
    subject = subject_of(found, "PyTorch")
    refuse_names(subject, {**_RESERVED, **{f"_{word}": "a helper" for word in _HELPERS}})
    rule = subject.reverse
    if rule is None:
        raise ExportError(
            f"{subject.name} has no reverse rule, as PyTorch's backward needs",
            place=found.rules[0].place(found.rules[0].tree) if found.rules else None,
            fixes=("state one with %%rrule",),
        )
    for x_bar in rule.returned:
        if x_bar is not None and is_structure(subject.names, x_bar):
            raise rule.text.refusal(
                x_bar, "PyTorch takes tensors as arguments, not tuples, lists or dicts of them"
            )
    value = unwrapped(subject.names, rule.value)
    of_dict = value if isinstance(value, (ast.Dict, ast.List)) else read_by_words(rule)
    if of_dict is not None:
        raise rule.text.refusal(
            of_dict, "PyTorch's functions return a tensor or a tuple of tensors, not a list or dict"
        )
    _refuse_defaults_of_numpy(subject.primal or rule.text)
    return by_either(subject, lambda: _native(subject), lambda why: _by_numpy(subject, why), native)


def _refuse_defaults_of_numpy(text: Text) -> None:
    """Refuse NumPy arrays as defaults of parameters: PyTorch's functions do not accept NumPy arrays."""
    given = text.tree.args
    for default in (*given.defaults, *given.kw_defaults):
        if default is not None and "np" in read([default]):
            said = f"the default {ast.unparse(default)} is NumPy's, and PyTorch takes tensors"
            raise text.refusal(text.tree, said, ("leave it out, and pass it in",))


# --- in operations of PyTorch -------------------------------------------------------------------------------


def _native(subject: Subject) -> Translated:
    rule = subject.reverse
    assert rule is not None
    refuse_rebound(rule)
    needs: set[str] = set()
    translators: list[ToTorch] = []

    def translator(text: Text, static: Sequence[str], traced: Sequence[str], like: str | None) -> ToTorch:
        translators.append(ToTorch(text, subject.names, static, traced, like))
        return translators[-1]

    helpers = []
    for text in subject.helpers:
        static, traced = split_parameters(text, options=True)
        one = translator(text, static, traced, reference_of(traced))
        one.of_numbers = True
        body = one.body(text.tree.body)
        _refuse_defaults_of_numpy(text)
        helpers.append(function(text.name, signature(text), body, ast.get_docstring(text.tree)))
    static, traced = split_parameters(rule.text, subject.static)
    of_rule = translator(rule.text, static, [*traced, rule.seed], reference_of(traced, rule))
    of_rule.parameters = {*static, *traced}
    calls_itself = subject.name in read([*rule.before, rule.value])
    forward = _forward(subject, rule, of_rule, translator, traced, calls_itself)
    backward, kept = _backward(subject, rule, of_rule, traced, static)
    for one in translators:
        needs |= one.needs
    elements = any(
        isinstance(n, (ast.Assign, ast.AugAssign)) and _into(n)
        for f in [*helpers, forward, backward]
        for n in ast.walk(f)
    )
    vmapped = not any(t.branches for t in translators) and not elements
    cls = _class(subject, rule, forward, backward, kept, static, vmapped)
    main = _main(subject, rule, cls.name)
    if calls_itself or subject.name in read([backward, *helpers]):
        needs |= {"itself"}
    needs |= {"cotangent"} if "_cotangent" in read([backward]) else set()
    needs |= {"summed"} if "_summed" in read([backward]) else set()
    remarks = () if vmapped else ("torch.func.vmap is refused: it branches on values, or writes elements",)
    used = read([cls, *helpers])
    head = ["import math", ""] if "math" in needs else []
    numpy = ["import numpy as np"] if "np." in constants_of(subject.found, used) else []
    whole = written_out(
        "\n\n".join([_heading(subject), "\n".join([*head, *numpy, "import torch"])]),
        constants_of(subject.found, used),
        *helpers,
        *[_HELPERS[word] for word in _HELPERS if word in needs],
        _commented(cls),
        main,
    )
    return Translated("torch", subject.name, whole, remarks=remarks)


def _into(node: ast.Assign | ast.AugAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(t, ast.Subscript) for t in targets)


def _forward(
    subject, rule: ReverseRule, of_rule: ToTorch, translator, traced, calls_itself: bool
) -> ast.FunctionDef:
    """The forward function: the text of the function itself or, if there is none or none that can be
    translated, that of the rule.
    """
    text = subject.primal
    by_rule: ExportError | None = None
    if text is not None:
        try:
            fixed, moving = split_parameters(text, subject.static)
            one = translator(text, fixed, moving, reference_of(moving))
            names = Parameters.of(text).names
            return function("forward", list(names), one.body(text.tree.body))
        except ExportError as refused:
            if calls_itself:
                raise
            by_rule = refused
    del by_rule
    before = of_rule.block(rule.before)
    return function("forward", list(rule.parameters.names), [*before, ast.Return(of_rule.value(rule.value))])


def _backward(
    subject, rule: ReverseRule, of_rule: ToTorch, traced, static
) -> tuple[ast.FunctionDef, list[str]]:
    """The backward function, and the arguments and the value that it needs saved.

    What the rule computed before its pullback is computed again from the arguments: if it were saved, PyTorch
    would treat it as a constant, and second derivatives would be wrong.
    """
    wanted = captured_by(rule)
    value = rule.value.id if isinstance(rule.value, ast.Name) else None
    if value is not None and (times_written(rule.before, value) != 1 or value in rule.parameters.names):
        value = None
    given = [value] if value in wanted else []
    again = needed(rule.before, wanted, given)
    used = read([*again, *rule.body, *[x for x in rule.returned if x is not None]]) | wanted
    moving = [
        n for n, x_bar in zip(rule.parameters.positional, rule.returned) if n in traced and x_bar is not None
    ]
    likes = {of_rule.reference} if of_rule.reference else set()
    recomputed = of_rule.block(again)
    body = of_rule.block(rule.body)
    entries: list[ast.expr] = []
    complexes = speaks_of_complex(subject)
    for name, x_bar in zip(rule.parameters.names, [*rule.returned, *[None] * len(rule.parameters.keyword)]):
        if x_bar is None:
            entries.append(ast.Constant(None))
            continue
        if name not in traced:
            raise rule.text.refusal(
                x_bar, f"{name} is not a number to differentiate with respect to, but has a cotangent"
            )
        entry = of_rule.cotangent(unwrapped(subject.names, x_bar), name)
        if subject.elementwise:
            entry = made("_summed(e, x)", e=entry, x=_name(name))
        elif complexes:
            entry = made("_cotangent(e, x)", e=entry, x=_name(name))
        entries.append(entry)
    end = ast.Return(entries[0] if len(entries) == 1 else ast.Tuple(entries, ast.Load()))
    statements = [*recomputed, *body, end]
    saved = [
        n
        for n in rule.parameters.names
        if n in (used | likes | read(statements)) and n in (set(traced) | set(static))
    ]
    tensors = [n for n in saved if n in moving] + given
    others = [n for n in saved if n not in moving]
    first: list[ast.stmt] = []
    if tensors:
        target = ast.Tuple([_name(n, ast.Store()) for n in tensors], ast.Store())
        first.append(ast.Assign([target], made("ctx.saved_tensors")))
    first += [ast.Assign([_name(n, ast.Store())], made(f"ctx.{n}")) for n in others]
    seeds: list[str] = [rule.seed]
    count = len(rule.value.elts) if isinstance(rule.value, ast.Tuple) else None
    made_of = function("backward", ["ctx", rule.seed], [*first, *statements])
    if count is not None or _unpacks_seed(rule):
        made_of.args.args = [ast.arg("ctx")]
        made_of.args.vararg = ast.arg(seeds[0])
    return made_of, [*tensors, "|", *others]


def _unpacks_seed(rule: ReverseRule) -> bool:
    return any(
        isinstance(n, ast.Assign)
        and isinstance(n.targets[0], (ast.Tuple, ast.List))
        and isinstance(n.value, ast.Name)
        and n.value.id == rule.seed
        for s in rule.body
        for n in nodes_of(s)
    )


def _class(subject, rule, forward, backward, kept, static, vmapped: bool) -> ast.ClassDef:
    cut = kept.index("|")
    tensors, others = kept[:cut], kept[cut + 1 :]
    inputs = ast.Assign(
        [ast.Tuple([_name(n, ast.Store()) for n in rule.parameters.names], ast.Store())], _name("inputs")
    )
    value = (
        rule.value.id
        if isinstance(rule.value, ast.Name)
        and rule.value.id in tensors
        and rule.value.id not in rule.parameters.names
        else None
    )
    output = value or unused("output", [*subject.taken, *rule.parameters.names])
    saving: list[ast.stmt] = [inputs] if {*tensors, *others} - {value} else []
    if tensors:
        saving.append(
            ast.Expr(
                ast.Call(
                    made("ctx.save_for_backward"), [_name(n if n != value else output) for n in tensors], []
                )
            )
        )
    saving += [ast.Assign([ast.Attribute(_name("ctx"), n, ast.Store())], _name(n)) for n in others]
    if inputs in saving and set(rule.parameters.names) & {output}:
        raise rule.text.refusal(rule.value, f"{output} is both an argument and the value")
    setup = function("setup_context", ["ctx", "inputs", output], saving)
    for method in (forward, setup, backward):
        method.decorator_list = [made("staticmethod")]
    body: list[ast.stmt] = [forward, setup, backward]
    if vmapped:
        body.insert(0, ast.Assign([_name("generate_vmap_rule", ast.Store())], ast.Constant(True)))
    named = unused(
        _class_name(subject.name),
        [*subject.taken, subject.name, *dir(builtins)],
    )
    cls = ast.ClassDef(
        name=named, bases=[made("torch.autograd.Function")], keywords=[], body=body, decorator_list=[]
    )
    cls.type_params = []  # type: ignore[attr-defined]  # required since Python 3.12
    return cls


def _class_name(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) or "Rule"


def _commented(cls: ast.ClassDef) -> str:
    """The class, with blank lines between its methods."""
    text = ast.unparse(ast.fix_missing_locations(cls))
    return (
        text.replace("\n\n", "\n")
        .replace("\n    @staticmethod", "\n\n    @staticmethod")
        .replace(":\n\n    @static", ":\n    @static", 1)
    )


def _main(subject: Subject, rule: ReverseRule, cls: str) -> ast.FunctionDef:
    text = subject.primal or rule.text
    names = Parameters.of(text).names
    call = ast.Call(made(f"{cls}.apply"), [_name(n) for n in names], [])
    return function(
        subject.name, signature(text), [ast.Return(call)], docstring(subject.primal, subject.name)
    )


# --- with NumPy behind it -----------------------------------------------------------------------------------

_NUMPY = '''\
def _numpy(x):
    """Convert a tensor to a NumPy array, or to a scalar if it has no axes; return anything else unchanged."""
    return x.detach().cpu().resolve_conj().resolve_neg().numpy()[()] if isinstance(x, torch.Tensor) else x


def _tensor(y, like):
    """Convert a result of NumPy to a tensor with the precision and on the device of `like`."""
    if isinstance(y, tuple):
        return tuple(_tensor(part, like) for part in y)
    y = np.asarray(y)
    found = torch.from_numpy(np.array(y)).to(like.device)
    if y.dtype.kind == "c":
        return found.to(torch.promote_types(like.dtype, torch.complex64))
    return found.to(torch.empty(0, dtype=like.dtype).real.dtype) if y.dtype.kind == "f" else found


def _like(x_bar, x):
    """Convert the rule's cotangent of x to a tensor with the dtype and on the device of x."""
    x_bar = np.asarray(x_bar)
    if x_bar.shape != tuple(x.shape):
        raise ValueError(f"a cotangent has shape {x_bar.shape}, but its argument {tuple(x.shape)}")
    x_bar = x_bar if torch.is_complex(x) else x_bar.real
    return torch.from_numpy(np.array(x_bar)).to(device=x.device, dtype=x.dtype)'''


def _by_numpy(subject: Subject, why: ExportError) -> Translated:
    rule = subject.reverse
    assert rule is not None
    if subject.elementwise:
        raise why
    own = [p.name for p in subject.found.functions]
    hidden = {n: unused(f"_numpy_{n}", subject.taken) if n == subject.name else n for n in own}
    trees = plain_pieces(subject.found, Names.of(subject.found))
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id == subject.name:
                node.id = hidden.get(subject.name, subject.name)
        if isinstance(tree, ast.FunctionDef) and tree.name == subject.name:
            tree.name = hidden[subject.name]
    _, traced = split_parameters(rule.text, subject.static)
    names = rule.parameters.names
    asked = ", ".join(f"{n}=_numpy({n})" if n in rule.parameters.keyword else f"_numpy({n})" for n in names)
    like = reference_of(traced, rule)
    if like is None:
        raise rule.text.refusal(rule.text.tree, "there is no argument with a cotangent that is a tensor")
    value = f"{hidden[subject.name]}({asked})" if subject.primal else f"{rule.text.name}({asked})[0]"
    cls = unused(
        _class_name(subject.name),
        [*subject.taken, subject.name, *dir(builtins)],
    )
    several = isinstance(rule.value, ast.Tuple) or _unpacks_seed(rule)
    entries = [
        f"_like(x_bar[{1 + i}], {n})" if i < len(rule.returned) and rule.returned[i] is not None else "None"
        for i, n in enumerate(names)
    ]
    seeds = "*y_bar" if several else "y_bar"
    arrays = "tuple(map(_numpy, y_bar))" if several else "_numpy(y_bar)"
    moving = [
        n for n, x_bar in zip(rule.parameters.positional, rule.returned) if x_bar is not None and n in traced
    ]
    others = [n for n in names if n not in moving]
    unpack = f"{', '.join(names)}{',' if len(names) == 1 else ''} = inputs"
    saved = f"        {', '.join(moving)}{',' if len(moving) == 1 else ''} = ctx.saved_tensors"
    back = unused(f"{cls}Pullback", subject.taken)
    bars = ", ".join(f"{n}_bar" for n in moving) + ("," if len(moving) == 1 else "")
    text_of_class = "\n".join(
        [
            f"class {back}(torch.autograd.Function):",
            "    @staticmethod",
            f"    def forward({', '.join([*names, seeds])}):",
            f"        _, back = {rule.text.name}({asked})",
            f"        x_bar = back({arrays})",
            f"        return {', '.join(e for e in entries if e != 'None')}{',' if len(moving) == 1 else ''}",
            "",
            "    @staticmethod",
            "    def setup_context(ctx, inputs, output):",
            "        pass",
            "",
            "    @staticmethod",
            "    def backward(ctx, *_):",
            '        raise RuntimeError("NumPy runs behind this rule, which has no second derivative")',
            "",
            "",
            f"class {cls}(torch.autograd.Function):",
            "    @staticmethod",
            f"    def forward({', '.join(names)}):",
            f"        return _tensor({value}, {like})",
            "",
            "    @staticmethod",
            "    def setup_context(ctx, inputs, output):",
            f"        {unpack}",
            f"        ctx.save_for_backward({', '.join(moving)})",
            *[f"        ctx.{n} = {n}" for n in others],
            "",
            "    @staticmethod",
            f"    def backward(ctx, {seeds}):",
            saved,
            *[f"        {n} = ctx.{n}" for n in others],
            f"        {bars} = {back}.apply({', '.join([*names, seeds])})",
            f"        return {', '.join(f'{n}_bar' if n in moving else 'None' for n in names)}",
        ]
    )
    lines = [line for line in plain_imports(subject.found) if line != "import numpy as np"]
    imports = "\n".join(["import numpy as np", "import torch", *lines])
    text = written_out(
        "\n\n".join(
            [
                _heading(subject),
                comment(
                    "This rule runs in NumPy. Reason: " + reason(why) + ". Tensors are copied to the "
                    "CPU and back, the pullback recomputes the value, and there "
                    "is no second derivative and no vmap."
                ),
                imports,
            ]
        ),
        constants_of(subject.found),
        *trees,
        _NUMPY,
        text_of_class,
        _main(subject, rule, cls),
    )
    return Translated("torch", subject.name, text, native=False, why=reason(why))


def _heading(subject: Subject) -> str:
    return (
        f'"""{subject.name} with its derivative rule, as a `torch.autograd.Function`. Exported by rulelab."""'
    )


def _name(name: str, context: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(name, context or ast.Load())
