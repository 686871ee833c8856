"""The scope of a proof in words: a headline of kinds and sizes, and the full scope below it."""

from __future__ import annotations

import itertools
from dataclasses import replace

from ..verdicts import BELOW
from .cells import ComplexNumbers, Static, Symmetric, shape_of
from .limits import limit_words

MOST_HELD = 24  # characters for a value that is held fixed
MOST = 84  # characters of a headline, without its prefix


def size_words(spec):
    """The shapes in one spec; only one if all arrays have the same.

    >>> size_words(((3,), "scalar")), size_words(((2, 3), (3,)))
    ('(3,)', '(2, 3) with (3,)')
    """
    shapes = [
        f"{shape_of(kind)}{' (symmetric)' if isinstance(kind, Symmetric) else ''}"
        for kind in spec
        if shape_of(kind)
    ]
    return " with ".join(shapes[:1] if len(set(shapes)) == 1 else shapes)


def sizes_of(leaves):
    """The shapes of the arrays whose entries these traced numbers are; only one if all are the same."""
    lengths: dict[str, tuple] = {}
    for name, _, inside in (leaf.args.partition("]")[0].partition("[") for leaf in leaves):
        if inside:
            index = tuple(int(i) + 1 for i in inside.split(","))
            lengths[name] = tuple(map(max, index, lengths.get(name, index)))
    return " with ".join(dict.fromkeys(map(str, lengths.values())))


# --- the headline -------------------------------------------------------------------------------------------


def kinds_of(specs, names):
    """The kinds and sizes of arguments in these specs, in words.

    >>> kinds_of((((2,),), ((3,),)), ("x",))
    'vectors of length 2, 3'
    >>> kinds_of((((2, 3), (3,)), ((4, 2), (2,))), ("A", "x"))
    'A: matrix 2x3, 4x2, x: vector of length 3, 2'
    >>> kinds_of((("scalar", "scalar"), ((2,), (2,))), ("a", "x"))
    'numbers and vectors of length 2 (all alike)'

    `all alike` says that all arguments have one kind: nothing is claimed for a number beside vectors.
    """
    ranks: dict[tuple, list] = {}
    for spec in specs:
        ranks.setdefault(tuple(len(shape_of(kind)) for kind in spec), []).append(spec)
    if len(ranks) > 1:
        return " and ".join(kinds_of(alike, names) for alike in ranks.values())
    free = [i for i, kind in enumerate(specs[0]) if not isinstance(kind, Static)]
    if any("." in names[i] for i in free):
        return _of_parts(specs, names, free)
    if len({tuple(spec[i] for spec in specs) for i in free}) <= 1:
        words = _described([spec[free[0]] for spec in specs], True) if free else "what was given"
        return f"{words} (all alike)" if len(free) > 1 and shape_of(specs[0][free[0]]) else words
    return ", ".join(f"{names[i]}: {_described([spec[i] for spec in specs], False)}" for i in free)


def _of_parts(specs, names, free):
    """The same for parts of arguments: each is named, with consecutive ones of the same kind grouped.

    >>> kinds_of((("scalar", "scalar", (2,)), ("scalar", "scalar", (3,))), ("p.k", "p.m", "x"))
    'p.k, p.m: number, x: vector of length 2, 3'
    """
    rows = itertools.groupby(free, lambda i: _described([spec[i] for spec in specs], False))
    return ", ".join(f"{', '.join(names[i] for i in row)}: {words}" for words, row in rows)


def _described(kinds, plural):
    """The kinds of one argument at each size."""
    first, shapes = kinds[0], list(dict.fromkeys(map(shape_of, kinds)))
    word = "complex " if isinstance(first, ComplexNumbers) else ""
    s = "s" if plural else ""
    rank = len(shapes[0])
    if rank == 0:
        return f"{word}number{s}"
    if rank == 1:
        return f"{word}vector{s} of length {', '.join(str(n) for n, in shapes)}"
    sizes = ", ".join("x".join(map(str, shape)) for shape in shapes)
    if isinstance(first, Symmetric):
        return f"positive definite matri{'ces' if plural else 'x'} {sizes}"
    if rank == 2:
        return f"{word}matri{'ces' if plural else 'x'} {sizes}"
    return f"{word}array{s} {sizes}"


def headline(proofs, names, conditions=(), takes_complex=False, options=()):
    """The kinds and sizes of arguments that were judged, in short. `proofs` are pairs (specs, limits), and
    `conditions` those of all cells. If the function `takes_complex` numbers too, it says that these were not
    judged. `options` are the values of keyword-only arguments, in words.
    """
    described = list(dict.fromkeys(kinds_of(specs, names) for specs, _ in proofs))
    everything = [kind for specs, _ in proofs for spec in specs for kind in spec]
    is_complex = any(isinstance(kind, ComplexNumbers) for kind in everything)
    dtype = "complex128" if is_complex else "float64"
    dtype = f"contiguous {dtype}" if any(map(shape_of, everything)) else dtype
    dtype += ", not complex" if takes_complex and not is_complex else ""
    limits = next((limits for _, limits in proofs if limits), ())
    held = _held([spec for specs, _ in proofs for spec in specs], names)
    inside = [limit_words(*pair) for pair in zip(names, limits, strict=False) if pair[1] is not None]
    where = ", ".join((*held, *map(_briefly, options), *inside))
    tail = f"; {where}; {dtype}" if where else f"; {dtype}"
    named = "one kind" if len(described) == 1 else f"{len(described)} kinds"
    candidates = (
        f"{' and '.join(described)}{tail}",
        f"{named} of arguments {BELOW}{tail}",
        f"{named} of arguments{' and options' if options else ''}{' and a domain' if inside else ''} "
        f"{BELOW}; {dtype}",
    )
    kinds = next((words for words in candidates if len(words) <= MOST), candidates[-1])
    cells = f"; {len(conditions)} case{'s' if len(conditions) > 1 else ''}"
    return kinds + cells if any(conditions) and len(kinds + cells) <= MOST else kinds


def _held(specs, names):
    """The values of arguments that do not vary, such as default flags and counts, in words, since nothing is
    proved for other values. Long values appear in the scope only.
    """
    shown: dict[str, list[str]] = {}
    for spec in specs:
        for name, kind in zip(names, spec, strict=True):
            if isinstance(kind, Static) and kind.shown() not in shown.setdefault(name, []):
                shown[name].append(kind.shown())
    return [_briefly(f"{name} = {' or '.join(values)}") for name, values in shown.items()]


def _briefly(words):
    """A fixed value (`hop = 2`), or only that it is held, if it is long."""
    return words if len(words) <= MOST_HELD else f"{words.partition(' = ')[0]} held"


def options_held(values):
    """The value of each option by name, in words.

    >>> options_held({"hop": 2, "mode": "full"})
    ('hop = 2', "mode = 'full'")
    """
    return tuple(f"{name} = {Static(value).shown()}" for name, value in values.items())


def except_at(verdict, points):
    """A proof with an exception for these points."""
    return _except(verdict, f"at {points}", "at some points", f"at points such as {points}")


def except_inside(verdict, guards):
    """A proof with an exception for the inside of these narrow guards."""
    where = " or ".join(guards)
    return _except(verdict, f"within {where}", "within a narrow branch", f"within {where}")


def _except(verdict, where, in_short, in_full):
    tail = f"; not {where}"
    if len(verdict.kinds + tail) > MOST:
        tail = f"; not {in_short}"
    kinds = verdict.kinds and f"{verdict.kinds}{tail}"
    return replace(verdict, kinds=kinds, scope=f"{verdict.scope}, but not {in_full}")


# --- the scope ----------------------------------------------------------------------------------------------


def scope(proofs, names, only_numbers, options=()):
    """The scope of proofs, given as pairs (conditions of the cells, plan). `only_numbers` says that the
    function accepts nothing else, and `options` are the values of keyword-only arguments, in words.
    """
    plans = [plan for _, plan in proofs]
    fixed = [
        f"{name} = {kind.shown()}"
        for name, kind in zip(names, plans[0].specs[0], strict=True)
        if isinstance(kind, Static)
    ]
    fixed += options
    if limits := plans[0].limits:
        fixed += [limit_words(*pair) for pair in zip(names, limits, strict=True) if pair[1] is not None]
    if not any(any(conditions) for conditions, _ in proofs):
        field = "complex" if any(isinstance(kind, ComplexNumbers) for kind in plans[0].specs[0]) else "real"
        values = "arguments" if only_numbers else "values"
        words = f"all {field} {values} at which f and the rule are defined (no branch was found)"
        parts = [words + _for_sizes(plans, names, only_numbers)]
    else:
        alone = only_numbers or len(proofs) == 1
        parts = [_cells(conditions) + _for_sizes([plan], names, alone) for conditions, plan in proofs]
    return "; and ".join(parts) + (f", with {', '.join(fixed)}" if fixed else "")


def _cells(conditions):
    if len(dict.fromkeys(conditions)) == 1:
        only = conditions[0]
        counted = only.endswith((" condition", " conditions"))  # those that are long are only counted
        return f"the case {'with ' if counted else ''}{only}" if only else "the only case found"
    listed = "; ".join(dict.fromkeys(t or "no condition" for t in conditions))
    return f"{len(conditions)} cases: {listed}"


def _for_sizes(plans, names, only_numbers):
    specs = [spec for plan in plans for spec in plan.specs]
    # Parts of structures and arrays of different shapes, which sizes alone do not distinguish.
    if any("." in name for name in names) or any(len(set(filter(None, map(shape_of, s)))) > 1 for s in specs):
        return f", for {' and '.join(dict.fromkeys(kinds_of(plan.specs, names) for plan in plans))}"
    sizes = list(dict.fromkeys(filter(None, map(size_words, specs))))
    are_numbers = any(not any(map(shape_of, plan.specs[0])) for plan in plans)
    parts = ["numbers"] if are_numbers and not only_numbers else []
    if sizes:
        parts.append(f"sizes {' and '.join(filter(None, (', '.join(sizes[:-1]), sizes[-1])))}")
    return f", for {' and '.join(parts)}" if parts else ""
