"""A rule in the text of another framework: the common base of all targets."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import ExportError, printable
from ..parsing import nodes_of, parse
from .anatomy import ForwardRule, Parameters, ReverseRule, Text, read, reverse_rule, written
from .gathering import Gathered
from .naming import Names, imported
from .pieces import FRULE, HELPER, PARTIALS, PRIMAL, RRULE
from .translation import is_zero, unwrapped


@dataclasses.dataclass(frozen=True)
class Translated:
    """The text of a rule for another framework.

    `native` says that it consists of the framework's own operations; otherwise it calls NumPy, for the reason
    `why`. `remarks` are for the reader. `modes` are the rules that the text states.
    """

    target: str
    name: str
    text: str
    native: bool = True
    why: str = ""
    remarks: tuple[str, ...] = ()
    modes: tuple[str, ...] = (RRULE,)


@dataclasses.dataclass(frozen=True)
class Subject:
    """What is exported: the texts of the primal, of its helpers and of its rules of both modes."""

    found: Gathered
    names: Names
    helpers: tuple[Text, ...]
    primal: Text | None
    reverse: ReverseRule | None
    forward: Text | None
    static: frozenset[int]  # positions of parameters that are not numbers to differentiate with respect to
    elementwise: bool = False  # cotangents are summed over what was broadcast
    partials: Text | None = None  # the scalar rule from which `reverse` was made

    @property
    def name(self) -> str:
        return self.found.name

    @property
    def taken(self) -> set[str]:
        """All names that occur anywhere in the texts."""
        return _names_in(self.found)


def _names_in(found: Gathered) -> set[str]:
    trees = [p.tree for p in found.functions]
    named = {n.id for t in trees for n in nodes_of(t) if isinstance(n, ast.Name)}
    named |= {p.name for p in found.functions} | {name for name, _ in found.constants}
    return named | {
        a.arg
        for t in trees
        for n in ast.walk(t)
        if isinstance(n, ast.arguments)
        for a in [*n.args, *n.kwonlyargs]
    }


def subject_of(found: Gathered, framework: str) -> Subject:
    """The parts of an export; ExportError if one of them does not have a form that can be translated."""
    if "." in found.target and not found.of_kind(PRIMAL) and _is_method(found):
        raise ExportError(
            f"{found.target} is a method, and {framework} has rules for functions only",
            place=found.rules[0].place() if found.rules else None,
        )
    chosen = {piece.kind: piece for piece in reversed(found.rules)}
    if len(found.rules) > len(chosen):
        raise ExportError(
            f"{found.name} has more than one rule of a kind, which {framework} does not choose among",
            place=found.rules[1].place(),
            fixes=("choose the rule to export: rules=…",),
        )
    primal = next((Text(p) for p in found.of_kind(PRIMAL)), None)
    elementwise = PARTIALS in chosen and RRULE not in chosen
    if elementwise:
        found = _with_numpy(found)
    names = Names.of(found)
    _refuse_state(found, names, framework)
    reverse = None
    if RRULE in chosen:
        reverse = reverse_rule(Text(chosen[RRULE]), lambda node: is_zero(names, node))
    elif elementwise:
        reverse = _of_partials(Text(chosen[PARTIALS]), names, found)
    if primal is not None and reverse is not None and not elementwise:
        same_parameters(primal, reverse)
    forward = Text(chosen[FRULE]) if FRULE in chosen else None
    helpers = tuple(Text(piece) for piece in found.of_kind(HELPER))
    static = frozenset(_static_positions(reverse)) if reverse is not None else frozenset()
    partials = Text(chosen[PARTIALS]) if elementwise else None
    return Subject(found, names, helpers, primal, reverse, forward, static, elementwise, partials)


def _refuse_state(found: Gathered, names: Names, framework: str) -> None:
    """Refuse what behaves differently at each call: a framework may call a function any number of times."""
    for piece in found.functions:
        for node in nodes_of(piece.tree):
            if isinstance(node, ast.Global):
                does = f"writes the global {', '.join(node.names)}"
            elif isinstance(node, ast.Call) and _draws(names.dotted(node.func), node):
                does = f"draws from a generator outside it, by {ast.unparse(node.func)}"
            else:
                continue
            raise ExportError(
                f"{piece.name} {does}, and {framework} may call a function any number of times",
                place=piece.place(node),
                fixes=("pass the value as an argument",),
            )


def _draws(dotted: str | None, call: ast.Call) -> bool:
    """Whether a call draws random numbers that are not determined by a seed in the text."""
    library, _, word = (dotted or "").rpartition(".")
    if library not in ("numpy.random", "random", "secrets"):
        return False
    return not (word in _GENERATORS and (call.args or call.keywords))


_GENERATORS = {"default_rng", "RandomState", "Generator", "PCG64", "Philox", "MT19937", "SFC64", "Random"}


def same_parameters(primal: Text, rule: ReverseRule | ForwardRule) -> None:
    """Refuse a rule whose parameters differ from those of its function, or whose keywords are in another
    order.
    """
    one, other = Parameters.of(primal), rule.parameters
    if len(one.positional) != len(other.positional) or one.keyword != other.keyword:
        raise rule.text.refusal(
            rule.text.tree,
            f"{rule.text.name} does not have the parameters of {primal.name}, in their order",
            (f"write it as {rule.text.name}({ast.unparse(primal.tree.args)})",),
        )


def _is_method(found: Gathered) -> bool:
    owner = found.target.partition(".")[0]
    return any(piece.name == owner for piece in found.functions)


def _with_numpy(found: Gathered) -> Gathered:
    """The same with a name for NumPy, whose `conj` a scalar rule implies without naming it."""
    known = imported(found.imports)
    if "numpy" in known.values():
        return found
    numpy = unused("np", {*_names_in(found), *known})
    return dataclasses.replace(found, imports=(*found.imports, f"import numpy as {numpy}"))


def _of_partials(text: Text, names: Names, found: Gathered) -> ReverseRule:
    """The reverse rule that a scalar rule implies: each partial, conjugated, times the cotangent."""
    parameters = Parameters.of(text)
    out, *xs = parameters.positional
    *before, last = [
        s for s in text.tree.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    ]
    if not isinstance(last, ast.Return) or last.value is None:
        raise text.refusal(last, f"{text.name} does not end with the partial derivatives")
    partials = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
    numpy = next(alias for alias, dotted in names.modules.items() if dotted == "numpy")
    if len(partials) != len(xs):
        raise text.refusal(last, f"{text.name} does not give one partial derivative for each argument")
    call = ast.Call(_named(found.target), [ast.Name(x, ast.Load()) for x in xs], [])
    first: list[ast.stmt] = [ast.Assign([ast.Name(out, ast.Store())], call)]
    seed = f"{out}_bar"

    def times_seed(partial: ast.expr) -> ast.expr:
        conjugate = ast.Attribute(ast.Name(numpy, ast.Load()), "conj", ast.Load())
        return ast.BinOp(ast.Call(conjugate, [partial], []), ast.Mult(), ast.Name(seed, ast.Load()))

    for statement in first:
        ast.fix_missing_locations(ast.copy_location(statement, last))
    made = [ast.fix_missing_locations(ast.copy_location(times_seed(p), p)) for p in partials]
    pullback = ast.FunctionDef(f"{found.name}_pullback", _arguments([seed]), [last], [])
    ast.copy_location(pullback, last)
    plain = dataclasses.replace(parameters, positional=tuple(xs))
    value = ast.copy_location(ast.Name(out, ast.Load()), last)
    # Facts are derived from the tree: it becomes that of the rule, with the value computed first.
    text.tree.body = [*first, *before, last]
    text.tree.args = _arguments(xs)
    return ReverseRule(text, plain, (*first, *before), value, pullback, seed, tuple(made))


def _named(target: str) -> ast.expr:
    return parse(target, mode="eval").body


def _arguments(names: Sequence[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


# --- parameters that are no numbers -------------------------------------------------------------------------


def _static_positions(rule: ReverseRule) -> Iterable[int]:
    """The positions of arguments without a cotangent that are options and not operands: an axis, a length."""
    for position, (name, x_bar) in enumerate(zip(rule.parameters.positional, rule.returned)):
        if x_bar is None and is_option(rule.text, rule.parameters, name):
            yield position


def is_option(text: Text, parameters: Parameters, name: str) -> bool:
    """Whether a parameter is an int, a bool, a string or None, judging by its annotation, default or use."""
    if parameters.annotations.get(name) in ("int", "bool", "str", "tuple"):
        return True
    default = parameters.defaults.get(name)
    if isinstance(default, ast.Constant) and not isinstance(default.value, (float, complex)):
        return True
    return any(name in read([part]) for part in (*_lengths(text.tree), *_words(text.tree)))


def _words(tree: ast.AST) -> Iterable[ast.AST]:
    """Expressions in a text that are compared with strings."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(_is_word(n) for side in sides for n in (side, *getattr(side, "elts", ()))):
                yield node
        elif isinstance(node, ast.Match):
            if any(isinstance(n, ast.MatchValue) and _is_word(n.value) for n in ast.walk(node)):
                yield node.subject


def _is_word(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _lengths(tree: ast.AST) -> Iterable[ast.AST]:
    """Expressions in a text that must be integers: repetition counts, axes, shapes."""
    for node in nodes_of(tree):
        if not isinstance(node, ast.Call):
            continue
        yield from (k.value for k in node.keywords if k.arg in ("axis", "shape"))
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "range" or name in ("zeros", "ones", "empty", "eye", "reshape"):
            yield from (a for a in node.args if not isinstance(a, ast.Call))


def split_parameters(
    text: Text, static: Iterable[int] = (), options: bool = False
) -> tuple[list[str], list[str]]:
    """The names of the static and of the other parameters of a function; with `options`, parameters that look
    like options are static too.
    """
    parameters = Parameters.of(text)
    fixed = {parameters.positional[i] for i in static} | set(parameters.keyword)
    if options:
        fixed |= {name for name in parameters.positional if is_option(text, parameters, name)}
    return [n for n in parameters.names if n in fixed], [n for n in parameters.names if n not in fixed]


def reference_of(traced: Sequence[str], rule: ReverseRule | None = None) -> str | None:
    """The argument whose precision new arrays get: the first one that has a cotangent and is not a
    structure.
    """
    if rule is None:
        return traced[0] if traced else None
    given = dict(zip(rule.parameters.positional, rule.returned))
    fit = [n for n in traced if not isinstance(given.get(n), (ast.Dict, ast.List, ast.Tuple, type(None)))]
    return fit[0] if fit else None


def captured_by(rule: ReverseRule) -> set[str]:
    """The names of the rule that its pullback uses: what must be kept from the forward to the backward
    pass.
    """
    trees = [*rule.body, *[x for x in rule.returned if x is not None]]
    inner = written(rule.body) | {rule.seed}
    known = set(rule.parameters.names) | written(rule.before)
    return (read(trees) - inner) & known


def is_structure(names: Names, x_bar: ast.expr | None) -> bool:
    """Whether a cotangent is that of a tuple, a list or a dict."""
    if x_bar is None:
        return False
    x_bar = unwrapped(names, x_bar)
    if isinstance(x_bar, ast.IfExp):
        return is_structure(names, x_bar.body) or is_structure(names, x_bar.orelse)
    if isinstance(x_bar, ast.Call):
        made_so = isinstance(x_bar.func, ast.Name) and x_bar.func.id in ("tuple", "list", "dict")
        return made_so or names.dotted(x_bar.func) == "rulelab.Tangent"
    return isinstance(x_bar, _STRUCTURES)


_STRUCTURES = (ast.Dict, ast.List, ast.Tuple, ast.ListComp, ast.DictComp, ast.GeneratorExp)


def read_by_words(rule: ReverseRule) -> ast.expr | None:
    """The expression in which a pullback reads its seed by a string key, as that of a dict."""
    for node in _within(rule):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            if isinstance(node.value, ast.Name) and node.value.id == rule.seed:
                if isinstance(node.slice.value, str):
                    return node
    return None


def takes_parts(rule: ReverseRule) -> bool:
    """Whether the seed may be that of a tuple or a dict: it is unpacked, or read by position or name."""
    if isinstance(rule.value, (ast.Tuple, ast.Dict, ast.List)):
        return True
    for node in _within(rule):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Tuple, ast.List)):
            if isinstance(node.value, ast.Name) and node.value.id == rule.seed:
                return True
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            if isinstance(node.value, ast.Name) and node.value.id == rule.seed:
                return True
    return False


def _within(rule: ReverseRule) -> list[ast.AST]:
    """All nodes of the pullback."""
    return [n for part in (*rule.body, *filter(None, rule.returned)) for n in nodes_of(part)]


def speaks_of_complex(subject: Subject) -> bool:
    """Whether a text uses anything that only complex numbers have."""
    words = {"conj", "conjugate", "real", "imag", "complex", "iscomplexobj", "angle", "vdot"}
    for piece in subject.found.functions:
        for node in nodes_of(piece.tree):
            named = getattr(node, "attr", None) or getattr(node, "id", None)
            if named in words or (isinstance(node, ast.Constant) and isinstance(node.value, complex)):
                return True
    return any("j" in text for _, text in subject.found.constants)


def times_written(statements: Sequence[ast.stmt], name: str) -> int:
    """How often a name is bound or mutated; a loop or a branch counts as more than once."""
    found = [s for s in statements if name in written([s])]
    return len(found) + sum(not isinstance(s, (ast.Assign, ast.AnnAssign)) for s in found)


def refuse_rebound(rule: ReverseRule) -> None:
    """Refuse a rule that rebinds an argument: its cotangent would be shaped like the new value."""
    for statement in rule.before:
        if again := sorted(written([statement]) & set(rule.parameters.names)):
            raise rule.text.refusal(
                statement,
                f"the argument {again[0]} is rebound",
                (f"give each new value of {again[0]} a name of its own",),
            )


# --- text ---------------------------------------------------------------------------------------------------


def function(
    name: str, args: ast.arguments | Sequence[str], body: Iterable[ast.stmt], doc: str | None = None
) -> ast.FunctionDef:
    """A function definition, with or without a docstring."""
    arguments = args if isinstance(args, ast.arguments) else _arguments(args)
    first: list[ast.stmt] = [ast.Expr(ast.Constant(doc))] if doc is not None else []
    made: Any = ast.FunctionDef(
        name=name, args=arguments, body=[*first, *body] or [ast.Pass()], decorator_list=[], returns=None
    )
    made.type_params = []
    return made


def signature(text: Text, plain: bool = False) -> ast.arguments:
    """The parameters of a function without their annotations; with `plain`, all can be passed by position."""
    args = text.tree.args
    bare = [[ast.arg(p.arg) for p in group] for group in (args.posonlyargs, args.args, args.kwonlyargs)]
    if plain:
        return ast.arguments([], [*bare[0], *bare[1], *bare[2]], None, [], [], None, [])
    return ast.arguments(bare[0], bare[1], None, bare[2], list(args.kw_defaults), None, list(args.defaults))


def docstring(text: Text | None, name: str) -> str:
    """The docstring of a function, or a sentence in its place."""
    found = ast.get_docstring(text.tree) if text is not None else None
    return found or f"{name}, with its derivative rule."


def written_out(*parts: str | ast.AST | None) -> str:
    """The text of a module, made from statements and from texts of rulelab, separated by two blank lines."""
    texts = []
    for part in parts:
        if part is None or part == "":
            continue
        if isinstance(part, str):
            texts.append(part)
        else:
            lines = ast.unparse(ast.fix_missing_locations(part)).split("\n")
            texts.append("\n".join(map(_without_brackets, lines)))
    text = "\n\n\n".join(t.strip("\n") for t in texts) + "\n"
    parse(text)  # an invalid text would be a bug here, and must not be written
    return text


def _without_brackets(line: str) -> str:
    """`return (a, b)` and `(a,) = x` as people write them; any other line unchanged."""
    bare = line.strip()
    for head in ("return (", "("):
        if not bare.startswith(head) or (
            head == "(" and not bare.startswith("(") or "\\" in bare or '"""' in bare
        ):
            continue
        try:
            (found,) = parse(bare).body
            shorter = f"{head[:-1]}{bare[len(head) : -1]}" if bare.endswith(")") else bare
            if ast.dump(parse(shorter).body[0]) == ast.dump(found):
                return line[: len(line) - len(bare)] + shorter
        except (SyntaxError, ValueError):
            continue
    return line


def comment(text: str) -> str:
    """A text as comments, in lines of about a hundred characters."""
    words, lines = printable(" ".join(text.split())).split(), ["#"]
    for word in words:
        if len(lines[-1]) + len(word) > 98:
            lines.append("#")
        lines[-1] += f" {word}"
    return "\n".join(lines)


def constants_of(found: Gathered, used: Iterable[str] | None = None) -> str:
    """The constants of a module, restricted to those that are `used`."""
    kept = [(name, text) for name, text in found.constants if used is None or name in set(used)]
    return "\n".join(f"{name} = {text}" for name, text in kept)


def unused(name: str, taken: Iterable[str]) -> str:
    """A name that is not taken."""
    taken = set(taken)
    while name in taken:
        name += "_"
    return name


def refuse_names(subject: Subject, reserved: Mapping[str, str]) -> None:
    """Refuse a text that binds a name which already has a meaning in the framework's module."""
    for piece in subject.found.functions:
        for node in ast.walk(piece.tree):
            bound = getattr(node, "id", None) if isinstance(getattr(node, "ctx", None), ast.Store) else None
            bound = bound or (node.arg if isinstance(node, ast.arg) else None)
            if bound in reserved or piece.name in reserved:
                name = bound if isinstance(bound, str) and bound in reserved else piece.name
                raise ExportError(
                    f"{name} is the name of {reserved[name]} in the exported file",
                    place=piece.place(node if bound in reserved else None),
                    fixes=("rename it",),
                )


def by_either(
    subject: Subject,
    native: Callable[[], Translated],
    by_numpy: Callable[[ExportError], Translated],
    only: bool | None,
) -> Translated:
    """The native text if it exists, else the one that calls NumPy; `only` requests one or the other."""
    if only is False:
        return by_numpy(ExportError("asked for"))
    try:
        return native()
    except ExportError as refused:
        if only is True:
            raise
        return by_numpy(refused)
    except RecursionError:
        raise ExportError(f"{subject.name} is nested too deeply to be translated") from None


def reason(refused: ExportError) -> str:
    """The reason why an export calls NumPy, in one line."""
    where = f"line {refused.place.line}: " if refused.place is not None else ""
    return printable(" ".join(f"{where}{refused.found}".split()))[:300]
