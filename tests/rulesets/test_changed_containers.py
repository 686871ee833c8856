"""Every rule that takes a list, tuple or dict, called in a function that empties it afterwards.

The programs are made from the check points: with the containers of a point as they are, and with lists in the
place of its arrays and tuples wherever NumPy takes these for the same. They are judged by differences of the
function itself.
"""

import copy
import linecache
import operator

import numpy as np
import pytest
from rule_points import (
    LOOSE,
    derivative,
    entry,
    flat,
    inner,
    leaves,
    moved,
    outputs,
    put_at,
    random_like,
    seed_for,
    widen_all,
)

import rulelab as rl
from rulelab.errors import ForeignCallError, NotDifferentiableError
from rulelab.rules.targets import name_of
from rulelab.rulesets.catalogue import tables


def emptied(c):
    """Take everything out of a container, and of those in it."""
    if isinstance(c, dict):
        for part in c.values():
            emptied(part)
        c.clear()
    elif isinstance(c, (list, tuple)):
        for part in c:
            emptied(part)
        if isinstance(c, list):
            c.clear()


def holds_container(x):
    """Whether a value is, or holds, a list or dict."""
    return isinstance(x, (list, dict)) or (isinstance(x, tuple) and any(map(holds_container, x)))


def as_lists(x):
    """The value with lists for arrays and tuples."""
    if isinstance(x, np.ndarray) and x.ndim and x.size:
        return x.tolist()
    if isinstance(x, (tuple, list)) and not hasattr(x, "_fields"):
        return [as_lists(part) if isinstance(part, (np.ndarray, tuple)) else part for part in x]
    return x


def same(a, b):
    a, b = [part for _, part in leaves(a)], [part for _, part in leaves(b)]
    return len(a) == len(b) and all(np.array_equal(p, q, equal_nan=True) for p, q in zip(a, b))


def with_lists(target, args, kwargs):
    """The calls that have a list for one of the arguments, and give what the call of the point gives."""
    given = [*args, *kwargs.values()]
    for number, x in enumerate(given):
        changed = as_lists(x)
        if changed is x or type(changed) is type(x):
            continue
        call = [*given[:number], changed, *given[number + 1 :]]
        positional, words = tuple(call[: len(args)]), dict(zip(kwargs, call[len(args) :]))
        try:
            before = target(*copy.deepcopy(args), **copy.deepcopy(kwargs))
            after = target(*copy.deepcopy(positional), **copy.deepcopy(words))
        except Exception:  # it takes no list there
            continue
        if same(before, after):
            yield positional, words


def calls(every):
    """Calls of rules with a container among the operands: (target, args, kwargs). Without `every` those of
    one point for each way to call a function, and all that index.
    """
    seen = set()
    for table in tables():
        for target, args, kwargs in table.points:
            way = name_of(target), len(args), tuple(kwargs)
            if not every and way in seen and target is not operator.getitem:
                continue
            seen.add(way)
            if any(map(holds_container, (*args, *kwargs.values()))):
                yield target, args, kwargs
            for positional, words in with_lists(target, args, kwargs):
                yield target, positional, words


def text_of(x, names):
    """How a value is written down; what is no container goes by a name."""
    if type(x) is list:
        return f"[{', '.join(text_of(part, names) for part in x)}]"
    if type(x) is tuple:
        return f"({''.join(text_of(part, names) + ', ' for part in x)})"
    if type(x) is dict:
        return f"{{{', '.join(f'{key!r}: {text_of(part, names)}' for key, part in x.items())}}}"
    names[f"v{len(names)}"] = x
    return f"v{len(names) - 1}"


def program_of(target, args, kwargs):
    """A function of the operands that are no containers: it makes those, calls the target and empties them.
    With it the numbers of its arguments among the operands.
    """
    names = {"target": target, "emptied": emptied, "__name__": "changed"}
    made, parameters, shown, numbers = [], [], [], []
    for number, x in enumerate((*args, *kwargs.values())):
        word = f"{list(kwargs)[number - len(args)]}=" if number >= len(args) else ""
        shown.append(f"{word}x{number}")
        if holds_container(x):
            made.append(f"    x{number} = {text_of(x, names)}")
        elif word:
            names[f"x{number}"] = x
        else:
            parameters.append(f"x{number}")
            numbers.append(number)
    containers = [line.split()[0] for line in made]
    lines = [f"def program({', '.join(parameters)}):", *made, f"    y = target({', '.join(shown)})"]
    text = "\n".join([*lines, *(f"    emptied({name})" for name in containers), "    return y", ""])
    filename = f"<changed {id(names)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), names)
    return names["program"], numbers


def check(target, args, kwargs, rng):
    """The cotangents of the other operands are those of differences of the target itself."""
    program, numbers = program_of(target, args, kwargs)
    given = [args[number] for number in numbers]
    try:
        y, back = rl.pullback(program, *given)
    except (ForeignCallError, NotDifferentiableError):
        return False  # there is no rule for the lists
    plain = copy.deepcopy(target(*copy.deepcopy(args), **copy.deepcopy(kwargs)))
    if len(outputs(y)) != len(outputs(plain)):
        return False  # the result is one of the containers, and was emptied with it
    seed, seeds = seed_for(plain, rng)
    try:
        found = back(seed)
    except NotDifferentiableError:
        return False  # nor for one of the other operands, whose derivative is asked for
    checked = False
    for number, x_bar in zip(numbers, found):
        for path, leaf in leaves(args[number]):
            if np.asarray(leaf).dtype.kind not in "fc" or x_bar is None:
                continue
            direction = random_like(leaf, rng)

            def loss(t, path=path, leaf=leaf, direction=direction, number=number):
                wide = list(widen_all(args))
                wide[number] = put_at(wide[number], path, moved(leaf, t * direction))
                parts = outputs(target(*wide, **copy.deepcopy(kwargs)))
                return sum(inner(s, part) for s, part in zip(seeds, parts, strict=True))

            bar = entry(x_bar, path)
            expected = derivative(loss)
            got = 0.0 if bar is None else inner(bar, direction)
            loose = LOOSE.get(np.asarray(leaf).dtype, 1e-6)
            scale = 1 + abs(expected) + float(np.sum(np.abs(flat([direction]))))
            assert abs(got - expected) <= loose * scale
            checked = True
    return checked


def check_all(chosen):
    """Check these calls, name those that fail, and give the number that was checked."""
    failed, count = [], 0
    rng = np.random.default_rng(0)
    for target, args, kwargs in chosen:
        try:
            with np.errstate(all="ignore"):
                count += check(target, args, kwargs, rng)
        except Exception as error:
            shown = f"{name_of(target)} {args!r:.80} {kwargs!r:.40}"
            failed.append(f"{shown}: {type(error).__name__} {error!s:.100}")
    assert not failed, "\n".join(failed)
    return count


@pytest.mark.slow
def test_a_container_may_change_after_it_was_handed_to_a_rule():
    """A list of indices, axes, arrays or weights may be emptied after the call: the derivative is that of the
    call as it was.
    """
    assert check_all(list(calls(every=False))[::3]) > 70


@pytest.mark.campaign
def test_a_container_may_change_after_it_was_handed_to_a_rule_at_every_point():
    """The same at every check point of every table, in every operand that may be a list: the suite's test
    takes a third of one point each.
    """
    assert check_all(calls(every=True)) > 1500
