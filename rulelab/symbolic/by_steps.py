"""A rule for array code of any length: the author's statements, followed by the cotangents of each, from the
last to the first.
"""

from __future__ import annotations

import ast
import collections
from typing import Any

import numpy as np

from ..errors import Place
from ..rules.twins import written
from .branches import global_names, refusal
from .cotangents import OF_ONE, Part, Words, cotangent_parts, needs_ad_pullback
from .drafts import Draft, delegating_lines
from .printers import Spelling, text
from .shifts import idle_shifts
from .statements import Reading, Step, Unreadable

WIDTH = 100
SPREADING = frozenset(OF_ONE) - {"negative", "float"}


def draft_by_steps(f, names, args, name, rng) -> Draft:
    """The rule of `f` for arguments like `args`, as source; DerivationError if its code does not have this
    form.
    """
    if not any(isinstance(a, np.ndarray) and a.dtype.kind == "f" for a in args):
        raise refusal(f, "none of its arguments is an array of floats")
    for word, arg in zip(names, args, strict=True):
        if not _is_known(arg):
            raise refusal(f, f"{word} is neither a number nor an array of numbers")
    author = written(f)  # a twin has no statements of its own
    author = author if author.__globals__ is f.__globals__ else f
    try:
        reading = Reading(author, names, args)
        if not any(result.active for result in reading.results):
            raise Unreadable("its result does not change with its arguments")
        flowing = [step for step in reading.steps if step.value.active]
        if all(map(needs_ad_pullback, flowing)):
            called = " and ".join(dict.fromkeys(map(_short, flowing)))
            raise Unreadable(f"it only calls {called}, which the AD would differentiate as before")
        return _Text(reading, name, args, rng).draft()
    except Unreadable as lacking:
        raise refusal(f, lacking.why, place=_place(author, lacking)) from None


def _place(f, lacking) -> Place | None:
    if lacking.node is None or not hasattr(lacking.node, "lineno"):
        return None
    from ..compiler.base.source import find_source

    return find_source(f.__code__).place(lacking.node)


def _is_known(arg):
    if isinstance(arg, np.ndarray):
        return type(arg) is np.ndarray and arg.dtype.kind in "fiub"
    return type(arg) in (int, float, bool, np.float64, np.int64)


class _Text:
    """The source of one rule."""

    def __init__(self, reading: Reading, name, args, rng):
        self.reading, self.name, self.args, self.rng = reading, name, args, rng
        self.f, self.names = reading.f, reading.names
        self.spelling = Spelling(self.f.__globals__, True, reading.bound, global_names(self.f.__code__))
        self.words = Words(self.spelling)
        asked = filter(needs_ad_pullback, reading.steps)
        self.asked = {step.target: self.free(f"{_short(step)}_back") for step in asked}
        self.idle = idle_shifts(reading)
        self.parts: dict[str, list[Part]] = collections.defaultdict(list)
        self.notes: list[str] = []

    def free(self, wanted):
        word = self.reading.free_name(wanted)
        self.spelling.read.add(word)
        return word

    # --- the reverse sweep ---

    def sweep(self, bars):
        """The lines of the pullback, and the text of the cotangent of each parameter; `bars` are the names of
        the cotangents of the results.
        """
        lines: list[str] = []
        self.words.bound = lambda made: self.bound(made, lines)
        buffers: dict[str, str] = {}
        for step in reversed(self.reading.steps):
            if step.target in self.idle:
                self.parts.pop(step.target, None)
                continue
            g = self.total(step.value, bars, buffers, lines, step.kind in SPREADING)
            if g is None:
                continue
            if step.target in self.asked:
                self.ask(step, g, lines)
                continue
            for value, part in cotangent_parts(step, g, self.words):
                if part.at is None:
                    self.parts[value.text].append(part)
                else:
                    self.into_buffer(value, part, buffers, lines)
        found = {}
        for word in self.names:
            value = self.reading.env_of(word)
            found[word] = self.total(value, bars, buffers, lines) if value.active else None
        return lines, found

    def bound(self, made, lines):
        """Bind an expression that is used more than once to a name."""
        word = self.free("t_bar")
        lines.append(f"{word} = {made}")
        return word

    def into_buffer(self, value, part, buffers, lines):
        bar = buffers.get(value.text)
        if bar is None:
            bar = buffers[value.text] = self.free(f"{value.text}_bar")
            lines.append(f"{bar} = {self.words['zeros_like']}({value.text})")
        if part.add:
            index = f"{self.words['s_']}[{part.at}]" if ":" in part.at else f"({part.at})"
            lines.append(f"{self.words['add']}.at({bar}, {index}, {part.text})")
        else:
            lines.append(f"{bar}[{part.at}] += {part.text}")

    def ask(self, step, g, lines):
        """Use the AD's pullback of one call."""
        active = [(i, v) for i, v in enumerate(step.operands) if v.active]
        back = f"{self.asked[step.target]}({g})"
        if len(active) > 1:
            back_all = self.free(f"{_short(step)}_bars")
            lines.append(f"{back_all} = {back}")
            back = back_all
        for i, value in active:
            self.parts[value.text].append(Part(f"{back}[{i}]"))

    def total(self, value, bars, buffers, lines, spreads=False):
        """The name of the cotangent of a value, after a line that sums its contributions; None if there are
        none.

        `spreads` says that the cotangent is then multiplied by an array of the shape of the value.
        """
        parts = sorted(self.parts.pop(value.text, []), key=lambda p: p.spread is not None)
        spreads = spreads or any(p.spread is None for p in parts) or value.text in {**buffers, **bars}
        texts = [p.text if p.spread is None or not spreads else p.spread for p in parts]
        if value.text in bars:
            texts.insert(0, bars[value.text])
        if value.text in buffers:
            texts.insert(0, buffers[value.text])
        if not texts:
            return None
        if len(texts) == 1 and texts[0].isidentifier():
            return texts[0]
        bar = buffers.get(value.text) or self.free(f"{value.text}_bar")
        lines.append(f"{bar} = {_sum(texts)}")
        return bar

    # --- the source ---

    def draft(self):
        results = self.reading.results
        bars = {r.text: self.free(f"{r.text}_bar") for r in results if r.active}
        seed = self.free("out_bar") if self.reading.returns_a_tuple else bars[results[0].text]
        short = self.name.rpartition(".")[2]
        parameters = list(self.annotated())
        passed = ", ".join(self.names)
        lines, found = self.sweep(bars)
        nothing = f"{self.words.rulelab('NoTangent')}()"
        given = [self.returned(word, bar) for word, bar in found.items()]
        lines.append(f"return {', '.join([nothing, *given])}")
        lines = _inlined(lines, {seed, *bars.values(), *self.names})
        forward = self.forward(lines)
        returned = results[0].text
        if self.reading.returns_a_tuple:
            parts = ", ".join(bars.get(r.text, "_") for r in results)
            lines = [f"{parts}{',' * (len(results) == 1)} = {seed}", *lines]
            returned = text(ast.Tuple([r.tree for r in results], ast.Load()))
        prelude, first = [], []
        tests = list(self.conditions())
        if tests:
            prelude, first = delegating_lines(self.spelling, self.f, self.name, seed, tests, passed)
        if self.words.helper:
            prelude = [*prelude, *_helper(self.words)]
        body = [*_wrapped(f"def {short}_rrule(", parameters, "):"), *first]
        body += [f"    {line}" for line in forward]
        body += [f"    def {short}_pullback({seed}):", *(f"        {line}" for line in lines)]
        body += [f"    return {returned}, {short}_pullback"]
        return self.as_draft(short, prelude, body)

    def as_draft(self, short, prelude, body):
        rl = text(self.spelling.word("rulelab", "rrule_for"))
        imports = list(self.spelling.imports)
        head = [*imports, *([""] if imports else []), *prelude]
        source = "\n".join([*head, f"@{rl}({self.name})", *body, ""])
        cell = "\n".join([f"%%rrule {self.name}", *head, *body, ""])
        plain = "\n".join([*head, *body, ""])
        root = self.name.partition(".")[0]
        return Draft(
            source,
            cell,
            plain,
            f"{short}_rrule",
            root,
            False,
            at=self.args,
            points=(self.args, tuple(map(self.near, self.args))),
            beyond=(),
            notes=tuple(self.remarks()),
            by_steps=True,
            left=self.left(),
        )

    def left(self):
        """The calls whose derivative is left to the AD."""
        steps = (s for s in self.reading.steps if s.target in self.asked and s.target not in self.idle)
        return tuple(dict.fromkeys(map(_short, steps)))

    def remarks(self):
        scope, others = "arrays of any length", "other dtypes"
        if self.reading.equal:
            scope, others = "all arrays that its first condition lets through", "other lengths, dtypes"
        yield (
            f"derived statement by statement, for {scope}; {others} and"
            " numbers of dimensions are left to the AD"
        )
        if self.left():
            yield f"rl.pullback leaves the derivative of {', '.join(self.left())} to the AD"
        for step in self.reading.steps:
            if step.target in self.idle:
                yield f"the result does not depend on {text(step.tree)}, so nothing flows back through it"

    def near(self, arg):
        if isinstance(arg, np.ndarray) and arg.dtype.kind == "f":
            return arg * (1 + 0.05 * self.rng.uniform(-1, 1, arg.shape))
        return arg

    def returned(self, word, bar):
        value = self.reading.env_of(word)
        if not value.active:
            return f"{self.words.rulelab('NoTangent')}()"
        if bar is None:
            return f"{self.words['zeros_like']}({word})" if value.rank else "0.0"
        return bar

    def annotated(self):
        for word, arg in zip(self.names, self.args, strict=True):
            yield f"{word}: {self.annotation(arg)}"

    def annotation(self, arg):
        if not isinstance(arg, np.ndarray):
            return "float" if isinstance(arg, float) else ("bool" if isinstance(arg, bool) else "int")
        kinds = {"f": "floating", "i": "integer", "u": "integer", "b": "bool_"}
        array = text(self.spelling.word("numpy.typing", "NDArray"))
        return f"{array}[{self.words[kinds[arg.dtype.kind]]}]"

    def conditions(self):
        """Yield the tests for arguments that the rule does not cover: other numbers of dimensions, unequal
        lengths.
        """
        for word, arg in zip(self.names, self.args, strict=True):
            if isinstance(arg, np.ndarray):
                yield f"{self.words['ndim']}({word}) != {arg.ndim}"
        yield from (f"{a} != {b}" for a, b in self.reading.equal)

    def forward(self, pullback):
        """The statements of the function; generated intermediate steps that are used once, and not by the
        pullback, are inlined.
        """
        used = collections.Counter(n for line in pullback for n in _names(line))
        trees: dict[str, ast.expr] = {}
        lines = []
        for line in self.reading.lines:
            target, tree = (line.target, line.tree) if isinstance(line, Step) else line
            lines.append((target, tree, line))
        reads = collections.Counter(n for _, tree, _ in lines for n in _names(ast.unparse(tree)))
        results = collections.Counter(n for r in self.reading.results for n in _names(r.text))
        reads += results
        found = []
        for target, tree, line in lines:
            tree = _put(tree, trees)
            asked = isinstance(line, Step) and target in self.asked and target not in self.idle
            own = target in self.reading.own or target in results
            if not used[target] and reads[target] == 1 and not asked and not own:
                trees[target] = tree
                continue
            if not used[target] and not reads[target]:
                continue
            if asked:
                found.append(self.with_pullback(line, trees))
            else:
                found.append(f"{target} = {text(tree)}")
        return found

    def with_pullback(self, step, trees):
        keywords = step.options.get("keywords", {})
        callee = step.options["callee"].text if "callee" in step.options else self.words[step.kind]
        passed = [ast.unparse(_put(v.tree, trees)) for v in step.operands]
        passed += [f"{k}={v.text}" for k, v in keywords.items()]
        call = f"{self.words.rulelab('pullback')}({callee}, {', '.join(passed)})"
        return f"{step.target}, {self.asked[step.target]} = {call}"


def _wrapped(start, parts, end):
    """The parts on one line if that is short enough, otherwise each on its own line."""
    line = f"{start}{', '.join(parts)}{end}"
    return [line] if len(line) <= WIDTH else [start, *(f"    {part}," for part in parts), end]


def _short(step):
    callee = step.options.get("callee")
    return (callee.text.rpartition(".")[2] if callee is not None else step.kind).lower()


def _sum(texts):
    found = texts[0]
    for part in texts[1:]:
        found += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
    return ast.unparse(ast.parse(found, mode="eval")).replace(" ** ", "**")


def _names(line):
    names = (n for n in ast.walk(ast.parse(line)) if isinstance(n, ast.Name))
    return [n.id for n in names if isinstance(n.ctx, ast.Load)]


def _put(tree, trees):
    class Put(ast.NodeTransformer):
        def visit_Name(self, node):
            return trees.get(node.id, node)

    return Put().visit(ast.parse(ast.unparse(tree), mode="eval").body)


def _inlined(lines, kept):
    """The lines of a pullback with names inlined that are used once, if the line stays short."""
    parsed: list[Any] = [ast.parse(line).body[0] for line in lines]
    targets = [_target(s) for s in parsed]
    written = collections.Counter(targets)
    buffers = set(map(_buffer, parsed))
    trees: dict[str, ast.expr] = {}
    found = []
    for i, statement in enumerate(parsed):
        reads = collections.Counter(n for s in parsed for n in _names(ast.unparse(s)))
        target = targets[i]
        whole: Any = ast.parse(ast.unparse(_put_in(statement, trees))).body[0]
        if (
            target is not None
            and written[target] == 1
            and reads[target] == 1
            and target not in buffers
            and i < len(parsed) - 1
            and not any(targets[j] in set(_names(ast.unparse(whole))) for j in range(i + 1, len(parsed)))
            and len(ast.unparse(whole)) < 60
        ):
            trees[target] = whole.value
            continue
        found.append(_shown(whole))
    return found


def _shown(statement: Any) -> str:
    shown = ast.unparse(statement).replace(" ** ", "**")
    if isinstance(statement, ast.Return):  # of a tuple, which needs no parentheses
        return f"return {shown.removeprefix('return (').removesuffix(')')}"
    return shown


def _target(statement: Any) -> str | None:
    """The name that a line assigns to, if any."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return None


def _buffer(statement: Any) -> str | None:
    """The name of the array that a line adds to in place, if any."""
    array: Any = None
    if isinstance(statement, ast.AugAssign):
        array = statement.target
        array = array.value
    elif isinstance(statement, ast.Expr):  # np.add.at(array, …)
        array = statement.value
        array = array.args[0]
    return None if array is None else array.id


def _put_in(statement, trees):
    class Put(ast.NodeTransformer):
        def visit_Name(self, node):
            return trees.get(node.id, node) if isinstance(node.ctx, ast.Load) else node

    return Put().visit(ast.parse(ast.unparse(statement)).body[0])


def _helper(words):
    return [
        f"def {words.helper}(x_bar, x):  # sums over the axes along which x was broadcast",
        f"    first = {words['ndim']}(x_bar) - {words['ndim']}(x)",
        f"    ones = [i for i, n in enumerate({words['shape']}(x), first) if n == 1]",
        f"    x_bar = {words['sum']}(x_bar, axis=tuple(ones), keepdims=True)",
        f"    return {words['sum']}(x_bar, axis=tuple(range(first)))",
        "",
    ]
