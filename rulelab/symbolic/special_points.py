"""The points at which a rule is tested once its open cells are proved: zeros, ones, ties, and the borders of
comparisons.
"""

from __future__ import annotations

from fractions import Fraction

from .cells import Array, Static, entry_name
from .formulas import size

# Coordinates are multiples of 1/64 or 1/4, which floats represent exactly, so that a tie stays a tie.
GRID, COARSE = 64, 4
ORDINARY = Fraction(5, 2)
MAX_BASES = 7
MAX_POINTS = 60
MAX_LINEAR = 60  # operations; comparisons of larger graphs are not examined


def special_points(names, visits):
    """Yield distinct samples on borders, at zeros and ones, and at ties, simple ones first."""
    seen = set()
    for point in (*_zeros_and_ones(visits), *_borders(names, visits)):
        if point not in seen:
            seen.add(point)
            yield point
            if len(seen) == MAX_POINTS:
                return


def _bases(visits):
    """A few samples of the smallest size, on the grid: the first, the first with 5/2 for its numbers, and
    those where a number is largest or smallest.
    """
    fewest = min(len(v.leaves) for v in visits)
    samples = [v.sample for v in visits if len(v.leaves) == fewest]
    chosen = [samples[0], tuple(ORDINARY if isinstance(v, Fraction) else v for v in samples[0])]
    for i, value in enumerate(samples[0]):
        if isinstance(value, Fraction):
            chosen += [max(samples, key=lambda s: s[i]), min(samples, key=lambda s: s[i])]
    return list(dict.fromkeys(tuple(map(_on_grid, sample)) for sample in chosen[:MAX_BASES]))


def _on_grid(value):
    if isinstance(value, Static):
        return value
    if isinstance(value, Array):
        return value if value.symmetric else value._replace(entries=tuple(map(_on_grid, value.entries)))
    grid = GRID if abs(value) < 1 else COARSE
    return Fraction(round(value * grid), grid) or value


def _zeros_and_ones(visits):
    for base in _bases(visits):
        special = [list(_specials(value)) for value in base]
        yield tuple(s[0] if s else v for s, v in zip(special, base, strict=True))  # all zeros
        for i, values in enumerate(special):
            for value in values:
                yield tuple(value if j == i else v for j, v in enumerate(base))


def _specials(value):
    """Yield replacements for one argument, zero first."""
    if isinstance(value, Static) or (isinstance(value, Array) and value.symmetric):
        return
    if not isinstance(value, Array):
        yield from map(Fraction, (0, 1, -1))
        return
    entries, count = value.entries, len(value.entries)
    rows = value.shape[-1] if len(value.shape) > 1 else 1
    largest, smallest = entries.index(max(entries)), entries.index(min(entries))
    for changed in (
        (Fraction(0),) * count,
        (Fraction(0), *entries[1:]),
        (*entries[:-1], Fraction(0)),
        (Fraction(0),) * min(2, count) + entries[2:],
        (Fraction(0),) * rows + entries[rows:],
        (Fraction(1),) * count,
        _doubled(entries, largest),
        _doubled(entries, smallest),
    ):
        yield value._replace(entries=changed)


def _doubled(entries, i):
    """The entries with that at `i` copied to the next position: a tie."""
    j = (i + 1) % len(entries)
    return tuple(entries[i] if k == j else v for k, v in enumerate(entries))


# --- borders of comparisons ---------------------------------------------------------------------------------


def _borders(names, visits):
    """Yield points on the border of a linear comparison of a visit, reached by moving one argument."""
    paths = set()
    for visit in visits:
        if visit.path in paths:
            continue
        paths.add(visit.path)
        base = tuple(map(_on_grid, visit.sample))
        places = _places(names, base)
        for left, _, right, _ in visit.trace.decisions:
            form = _difference(left, right)
            movable = [name for name in form or () if name in places]
            for name in movable[:2]:
                if (point := _solved(form, name, base, places)) is not None:
                    yield point


def _places(names, sample):
    """The position of each number in the arguments, by name: (argument, None or entry)."""
    places: dict[str, tuple] = {}
    for i, (name, value) in enumerate(zip(names, sample, strict=True)):
        if isinstance(value, Array) and not value.symmetric:
            for entry, index in enumerate(value.leaf_indices()):
                places[entry_name(name, index)] = i, entry
        elif isinstance(value, Fraction):
            places[name] = i, None
    return places


def _solved(form, name, base, places):
    """`base` with the argument `name` moved to where the linear form is zero; None if that is unknown."""
    if any(other not in places for other in form if other is not None):
        return None
    rest = sum(c * _at(base, places[n]) for n, c in form.items() if n not in (name, None))
    return _with(base, places[name], -(rest + form.get(None, 0)) / form[name])


def _at(sample, place):
    i, entry = place
    return sample[i] if entry is None else sample[i].entries[entry]


def _with(sample, place, number):
    i, entry = place
    value = sample[i]
    if entry is None:
        value = number
    else:
        value = value._replace(entries=(*value.entries[:entry], number, *value.entries[entry + 1 :]))
    return (*sample[:i], value, *sample[i + 1 :])


def _difference(left, right):
    """left - right as a linear form; None if it is not linear, or too large."""
    if size(left) + size(right) > MAX_LINEAR:
        return None
    left, right = linear_form(left), linear_form(right)
    return None if left is None or right is None else _sum(left, right, -1)


def linear_form(node):
    """The linear form of a traced number, {name: coefficient, None: constant}; None if it is not linear.

    >>> from rulelab.symbolic.scalars import Trace
    >>> x = Trace().argument("x", Fraction(1, 2))
    >>> linear_form(2 * x - 3)
    {'x': Fraction(2, 1), None: Fraction(-3, 1)}
    """
    if node.op == "argument":
        return {node.args: Fraction(1)}
    if node.op == "constant":
        if node.args is None:
            return None
        # pi as the float in the code, since that is the border of the comparison
        exact = node.args.name is None
        return {None: node.args.factor if exact else Fraction(float(node.shadow))}
    if node.op not in ("add", "sub", "mul", "div", "neg"):
        return None
    parts = [linear_form(arg) for arg in node.args]
    if None in parts:
        return None
    if node.op == "neg":
        return _sum({}, parts[0], -1)
    left, right = parts
    if node.op in ("add", "sub"):
        return _sum(left, right, 1 if node.op == "add" else -1)
    if node.op == "mul" and set(left) <= {None}:
        left, right = right, left
    if not set(right) <= {None}:
        return None
    factor = right.get(None, Fraction(0))
    if node.op == "div":
        if not factor:
            return None
        factor = 1 / factor
    return _sum({}, left, factor)


def _sum(left, right, factor):
    total = {n: left.get(n, Fraction(0)) + factor * right.get(n, Fraction(0)) for n in {**left, **right}}
    return {n: c for n, c in total.items() if c}
