"""A rule as a module of its own, and the tests beside it: texts, none of which is run here."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..checking.batch.modules import POINTS
from ..errors import ExportError
from ..parsing import parse
from .answers import Answer
from .gathering import Gathered
from .literals import names_numpy
from .pieces import FRULE, HELPER, PARTIALS, RRULE, Piece


@dataclass(frozen=True)
class Tested:
    """What the tests of a rule contain: the texts of its points, its answers there, and the results of its
    checks.

    `answers` has a mode and its answers at the points for each mode of the rule; `right` are the modes that
    were found right by numbers, and `proved` says whether SymPy proved the reverse rule.
    """

    name: str
    points: tuple[str, ...]
    answers: tuple[tuple[str, tuple[Answer, ...]], ...]
    right: tuple[str, ...] = ()
    proved: bool = False


@dataclass
class Together:
    """What several functions need, each thing once."""

    imports: dict[str, None]
    constants: dict[str, str]
    pieces: list[Piece]
    targets: dict[str, str]  # for each rule, by the name of its piece
    postponed: bool

    @classmethod
    def of(cls, every: Sequence[Gathered]) -> Together:
        """All of it; ExportError if a name would have two meanings."""
        made = cls({}, {}, [], {}, any(one.postponed for one in every))
        known: dict[str, Piece] = {}
        for one in every:
            made.imports |= dict.fromkeys(one.imports)
            for name, text in one.constants:
                if made.constants.setdefault(name, text) != text:
                    raise _two(name, one.name)
            for piece in one.functions:
                if piece.name in known and known[piece.name].value is not piece.value:
                    raise _two(piece.name, one.name)
                if piece.name not in known:
                    known[piece.name] = piece
                    made.pieces.append(piece)
            made.targets |= {piece.name: one.target for piece in one.rules}
        # A helper of one function may be another exported function, or a class that it needs: all rules come
        # last.
        rules = (RRULE, FRULE, PARTIALS)
        made.pieces.sort(key=lambda piece: piece.kind in rules)
        return made


def _two(name: str, function: str) -> ExportError:
    return ExportError(
        f"{name} has one meaning in {function} and another in what is exported with it",
        asked=f"an export of {function}",
        fixes=("export them to two files", "give one of them another name"),
    )


def module_text(every: Sequence[Gathered], points: Mapping[str, Sequence[str]]) -> str:
    """The text of a module with these functions and their rules, and the points for `rulelab check`."""
    together = Together.of(every)
    rl, imports = _rulelab(together)
    names = ", ".join(one.target for one in every)
    parts = [
        text_of(f"Rules for {names}, exported by rulelab: `rulelab check` checks them at the points below.")
    ]
    if together.postponed:
        parts.append("from __future__ import annotations")
    body = [_stated(piece, rl, together.targets) for piece in together.pieces]
    body.append(_points_text(points))
    numpy = any(names_numpy(text) for texts in points.values() for text in texts)
    if numpy and "import numpy as np" not in imports:
        imports.append("import numpy as np")
    parts.append("\n".join(_sorted(imports)))
    if together.constants:
        parts.append("\n".join(f"{name} = {text}" for name, text in together.constants.items()))
    text = "\n\n".join(parts) + "\n\n\n" + "\n\n".join(f"{part.rstrip()}\n" for part in body)
    return checked(text, f"an export of {names}")


def _rulelab(together: Together) -> tuple[str, list[str]]:
    """The name of rulelab in the module, and all imports."""
    imports = list(together.imports)
    taken = {piece.name for piece in together.pieces} | set(together.constants) | set(_bound(imports))
    for statement, name in (("import rulelab as rl", "rl"), ("import rulelab", "rulelab")):
        if statement in together.imports:
            return name, imports
        if name not in taken:
            return name, [*imports, statement]
    raise ExportError(
        "both rl and rulelab are names of something else", asked="an export", fixes=("rename one",)
    )


def _bound(imports: Iterable[str]) -> Iterator[str]:
    """The names that import statements bind."""
    for statement in imports:
        for alias in parse(statement).body[0].names:
            yield alias.asname or alias.name.partition(".")[0]


def _sorted(imports: Iterable[str]) -> list[str]:
    return sorted(imports, key=lambda statement: (not statement.startswith("import"), statement))


def _stated(piece: Piece, rl: str, targets: Mapping[str, str]) -> str:
    """The text of a piece, with the statement that makes it a rule."""
    if piece.kind == PARTIALS:
        return f"{piece.source}\n\n{rl}.scalar_rule({targets[piece.name]}, {piece.name})\n"
    if piece.kind not in (RRULE, FRULE):
        return piece.source
    needed = sorted(one.value for one in piece.rule.requires) if piece.rule is not None else []
    requires = f", requires={{{', '.join(map(repr, needed))}}}" if needed else ""
    return f"@{rl}.{piece.kind}_for({targets[piece.name]}{requires})\n{piece.source}"


def _points_text(points: Mapping[str, Sequence[str]]) -> str:
    lines = [f"{POINTS} = {{"]
    for name, texts in points.items():
        lines += [f"    {name!r}: [", *(f"        {text}," for text in texts), "    ],"]
    return "\n".join([*lines, "}", ""])


def text_of(words: str) -> str:
    """A docstring with this text; escaped if a character in it would end the docstring or is not
    printable.
    """
    return f'"""{words}"""' if words.isprintable() and not set(words) & set('"\\') else repr(words)


def checked(text: str, asked: str) -> str:
    """An assembled text, if it is valid Python and binds each name at module level only once."""
    try:
        tree = parse(text)
    except (SyntaxError, ValueError) as error:
        raise ExportError(f"the assembled module is not valid Python: {error}", asked=asked) from None
    bound: dict[str, str] = {}
    for node in tree.body:
        for name, meaning in _bindings(node):
            if bound.setdefault(name, meaning) != meaning:
                raise ExportError(
                    f"{name} has two meanings here: {bound[name]} and {meaning}",
                    asked=asked,
                    fixes=("give one of them another name",),
                )
    return text


def _bindings(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """The names that a statement binds, each with a description of its meaning."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            root = alias.name.partition(".")[0]
            yield alias.asname or root, f"the module {alias.name if alias.asname else root}"
    elif isinstance(node, ast.ImportFrom):
        yield from ((a.asname or a.name, f"{a.name} of {node.module}") for a in node.names)
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name, f"what line {node.lineno} defines"
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, f"the value of line {node.lineno}"


# --- the tests ----------------------------------------------------------------------------------------------


def text_of_tests(module: str, every: Sequence[Gathered], tested: Sequence[Tested]) -> str:
    """The text of a pytest file for an exported module; run as a program it times the rules."""
    twins = {one.target: _timed(one) for one in every}
    imports = ["import pytest", "import rulelab.bench", f"import {module} as exported"]
    imports.append("from rulelab.checking import check_frule, check_rrule")
    imports.append("from rulelab.portability import answer_at")
    proved = [one.name for one in tested if one.proved]
    if proved:
        imports.append("from rulelab.symbolic import prove")
    lines = [
        text_of(f"Tests of the rules in {module}, for pytest. Run as a script, this file times the rules."),
        "",
        "import types",
        "",
        *_sorted(imports),
        "",
        "FUNCTIONS = {",
        *(f"    {one.name!r}: exported.{one.name}," for one in tested),
        "}",
        f"POINTS = {{name: exported.{POINTS}[name] for name in FUNCTIONS}}",
        "# For each function and mode, at each point: the value, and the derivative for one seed.",
        "NUMBERS = {",
    ]
    for one in tested:
        for mode, answers in one.answers:
            lines += [
                f"    ({one.name!r}, {mode!r}): [",
                *(f"        {_numbers(a)}," for a in answers),
                "    ],",
            ]
    lines += [
        "}",
        f"RIGHT = {[(one.name, mode) for one in tested for mode in one.right]!r}",
        f"PROVED = {proved!r}",
        f"BY_AD = {twins!r}",
        "CHECKS = {'rrule': check_rrule, 'frule': check_frule}",
        "",
        "",
        _TESTS,
    ]
    if proved:
        lines += ["", _PROOFS]
    lines += ["", _DUELS]
    return checked("\n".join(lines), f"an export of {', '.join(one.name for one in tested)}")


def _numbers(answer: Answer) -> str:
    return f"({_texts(answer.value)}, {_texts(answer.derivative)})"


def _texts(numbers: Iterable[float]) -> str:
    return f"[{', '.join(repr(x) if x - x == 0 else f'float({str(x)!r})' for x in numbers)}]"


def _timed(one: Gathered) -> str:
    """The function that the gradient by the rule is timed against: the one that a copy was made from, else
    itself.
    """
    primals = one.of_kind(HELPER, "primal")
    body = next(
        (p.tree.body for p in primals if p.name == one.name and p.filename.startswith("<twin ")), None
    )
    called = getattr(getattr(body[0], "value", None), "func", None) if body else None
    return called.id if isinstance(called, ast.Name) else ""


_TESTS = '''\
@pytest.mark.parametrize("name, mode", NUMBERS)
def test_it_answers_what_it_answered(name, mode):
    """At the points where it was checked, the rule returns the same numbers as when it was exported."""
    for (args, kwargs), (value, derivative) in zip(POINTS[name], NUMBERS[name, mode], strict=True):
        found = answer_at(FUNCTIONS[name], args, kwargs, mode=mode)
        assert list(found.value) == pytest.approx(value, rel=1e-10, abs=1e-12, nan_ok=True)
        assert list(found.derivative) == pytest.approx(derivative, rel=1e-10, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name, mode", RIGHT)
def test_it_is_right(name, mode):
    """The derivatives agree with finite differences at the first point and around it."""
    args, kwargs = POINTS[name][0]
    CHECKS[mode](FUNCTIONS[name], *args, fkwargs=kwargs)
'''
_PROOFS = '''
@pytest.mark.parametrize("name", PROVED)
def test_it_is_proved(name):
    """SymPy proves the rule for arguments of the same kinds as at the first point."""
    args, kwargs = POINTS[name][0]
    assert prove(FUNCTIONS[name], at=tuple(args), kwargs=kwargs, time_limit=60.0).verdict.word == "PROVED"
'''
_DUELS = '''
def by_ad(name):
    """Return the same function without its rule, so that AD differentiates it."""
    if BY_AD[name]:
        return getattr(exported, BY_AD[name])
    f = FUNCTIONS[name]
    copied = types.FunctionType(f.__code__, f.__globals__, f"{name} by AD", f.__defaults__, f.__closure__)
    copied.__kwdefaults__ = f.__kwdefaults__
    return copied


if __name__ == "__main__":
    for name, f in FUNCTIONS.items():
        for args, kwargs in POINTS[name][: isinstance(f, types.FunctionType)]:
            print(rulelab.bench.gradient_duel(by_ad(name), f, *args, **kwargs))
'''
