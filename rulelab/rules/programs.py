"""Plain Python by which forward mode does what is more than one call: each gives a value and its tangent.

They are differentiated and taken to their tangent like an author's function, so that derivatives of any order
go through them. `push` is the forward question (`compiler/pushing.py`).
"""

import dataclasses
import inspect
import itertools
import types
from collections import OrderedDict, deque

import numpy as np

from ..errors import MutationError, NotDifferentiableError, RuleCountError, RuleError, RuleShapeError
from ..tangents.holding import carrier, inside
from ..tangents.in_step import check_in_step
from ..tangents.moments import check_value
from ..tangents.projection import FieldGradients
from ..tangents.shadows import kind_of, settled, zero_kept, zero_of
from ..tangents.thunks import unthunk
from ..tangents.tracked import check_untracked
from ..tangents.zeros import AbstractZero, NoTangent
from .capabilities import RuleConfig
from .house import RuleTable

TABLE = RuleTable("programs")

NO = NoTangent()


def no_tangents(count):
    return (NO,) * count


def is_none(x_dot):
    """Whether a tangent is a zero that nothing can be written to."""
    return isinstance(x_dot, AbstractZero)


def is_sequence(x):
    return isinstance(x, (list, tuple, np.ndarray, deque))


def zero_beside(y, args):
    """The tangent of what a function of NumPy gives for constants: zeros for a new array, which may be
    written to later.
    """
    if isinstance(y, np.ndarray):
        known = any(isinstance(x, np.ndarray) and np.may_share_memory(x, y) for x in args)
        return NO if known else zero_of(y)
    return zero_kept(y)


def words_of(names, values):
    return dict(zip(names, values))


TABLE.non_differentiable(no_tangents, is_none, is_sequence, zero_beside, zero_kept, zero_of)


def constant(function, args, words):
    """A call with constants: others may hold what it gives, so that nothing that varies may be put there."""
    y = function(*args, **words)
    return y, zero_kept(y)


def constant_of_numpy(function, args, words):
    y = function(*args, **words)
    return y, zero_beside(y, args)


def attribute(x, x_dot, name):
    """`x.name` of what is stored in an object."""
    if hasattr(x_dot, name):
        return getattr(x, name), getattr(x_dot, name)
    y = getattr(x, name)
    check_followed(x, x_dot, name, y)
    return y, NO


WITH_PARTS = (types.FunctionType, types.MethodType, types.CellType)


def part_of_callable(x, x_dot, name):
    """`x.name` of a function, a method, a cached function or the cell of a captured variable."""
    y = getattr(x, name)
    if is_none(x_dot):
        return y, NO
    if name == "__defaults__":
        return y, x_dot[1]
    if name == "__closure__":
        return y, x_dot[0]
    if name == "cell_contents":
        return y, content_of(x_dot)
    if stands_for(x, y):
        return y, x_dot
    if name == "__kwdefaults__":
        refuse_keyword_defaults()
    refuse_attribute(name, y)
    return y, NO


def refuse_keyword_defaults():
    """NotDifferentiableError: this dict is the function's own, and could be written to."""
    raise NotDifferentiableError(
        "There is no forward rule for the attribute __kwdefaults__ of a function",
        fixes=("make the default a variable, and read that",),
        read="limitations#attributes",
    )


def stands_for(x, y):
    """Whether the tangent of a method or cached function is that of a value."""
    return carrier(x) is carrier(y) and not isinstance(x, types.FunctionType)


def refuse_attribute(name, y, place=None):
    """NotDifferentiableError for a function that a callable or container has for an attribute, such as
    `__wrapped__`: what it holds may vary, and nothing keeps the derivative of such an attribute.
    """
    if callable(y) and next(inside(y), None) is not None:
        raise NotDifferentiableError(
            f"The attribute {name} is a function that holds values, whose derivatives would be lost",
            place=place,
            fixes=("call the function by its own name",),
            read="limitations#attributes",
        )


TABLE.non_differentiable(stands_for, refuse_attribute, refuse_keyword_defaults)


def check_followed(x, x_dot, name, y):
    """NotDifferentiableError for an attribute of what is no plain object, where its tangent is not known."""
    by_item = isinstance(x, (list, dict, deque))  # whose attributes are constants: a write would be refused
    if (
        not isinstance(x_dot, types.SimpleNamespace)
        and not is_none(x_dot)
        and not by_item
        and kind_of(y) is not None
    ):
        raise NotDifferentiableError(
            f"There is no forward rule for the attribute {name} of a {type(x).__name__}",
            read="limitations#attributes",
        )


TABLE.non_differentiable(check_followed)


def method(x, x_dot, name):
    """A method taken as a value: its tangent is that of its object."""
    return getattr(x, name), x_dot


def entries(x, x_dot):
    """The tangents of the entries of a list or mapping, also where it has none."""
    if not is_none(x_dot):
        return x_dot
    if isinstance(x, list):
        return [NO for _ in x]
    return {key: NO for key in x}  # noqa: C420 - `fromkeys` is not known in reverse mode


def push_all(push, function, function_dot, args, args_dot, words, words_dot, method):
    """`function(*args, **words)`"""
    if is_none(args_dot):
        args_dot = no_tangents(len(args))
    if words is None:
        return push(function, function_dot, args, args_dot, (), method)
    names = tuple(words)
    given = (*args, *[words[name] for name in names])
    if is_none(words_dot):
        given_dot = (*args_dot, *no_tangents(len(names)))
    else:
        given_dot = (*args_dot, *[words_dot[name] for name in names])
    return push(function, function_dot, given, given_dot, names, method)


def sequence(push, x, x_dot, any_length, backwards):
    """What a loop runs over and its tangents, in step; of `any_length` where the loop may change it."""
    if backwards:
        x, x_dot = push(reversed, NO, (x,), (x_dot,), (), None)
    if is_none(x_dot):
        if any_length:
            return x, endless()
        items = x if is_sequence(x) else all_of(x)
        return items, no_tangents(len(items))
    if is_sequence(x):
        check_in_step(x, x_dot)
        return x, x_dot
    if hasattr(x, "__next__"):
        return x, x_dot
    walk, walk_dot = push(iter, NO, (x,), (x_dot,), (), None)
    if is_none(walk_dot):
        return sequence(push, walk, walk_dot, any_length, False)
    return walk, walk_dot


def endless():
    """A NoTangent for each item that there may be."""
    return itertools.repeat(NO)


def all_of(x):
    """The items of what can be gone through again, as a list."""
    if hasattr(x, "__next__"):
        raise NotDifferentiableError(
            f"The items of a {type(x).__name__} of constants cannot be told beforehand",
            fixes=("make a list of them first",),
            read="limitations#iteration",
        )
    return list(x)


TABLE.non_differentiable(endless, all_of, check_in_step)


def unpacked(push, x, x_dot):
    """A value whose items are taken by position, and their tangents."""
    if is_sequence(x) and not isinstance(x, deque):
        if is_none(x_dot):
            return x, no_tangents(len(x))
        return x, x_dot
    if is_none(x_dot):
        return push(list, NO, (x,), (NO,), (), None)
    items, items_dot = sequence(push, x, x_dot, False, False)
    return push(list, NO, (items,), (items_dot,), (), None)


def new_object(cls):
    """An object of a class before its `__init__`."""
    return cls.__new__(cls)


@TABLE.frule(new_object)
def new_object_frule(tangents, cls):
    """What will be written to it has its tangents beside it."""
    kind = kind_beside(cls)
    return new_object(cls), kind()


def kind_beside(cls):
    """The class of the tangents of new objects of a class."""
    kinds = (list, deque, OrderedDict, dict)
    return next((kind for kind in kinds if issubclass(cls, kind)), types.SimpleNamespace)


TABLE.non_differentiable(kind_beside)


def made_object(push, cls, args, dots, names):
    """An object of a class with an `__init__` in Python."""
    x = new_object(cls)
    x_dot = types.SimpleNamespace()
    push(cls.__init__, NO, (x, *args), (x_dot, *dots), names, None)
    return x, x_dot


def made_items(push, cls, base, args, dots, names):
    """An object of a class of lists, dicts or deques; beside it stands one of the class it inherits from."""
    x = new_object(cls)
    x_dot = base()
    push(cls.__init__, NO, (x, *args), (x_dot, *dots), names, None)
    return x, x_dot


def made_fields(push, cls, args, words, fields_dot):
    """An object of a dataclass, whose fields have these tangents."""
    x = cls(*args, **words)
    x_dot = types.SimpleNamespace(**fields_dot)
    for name in made_by_factory(cls, fields_dot):
        setattr(x_dot, name, new_zero(getattr(x, name)))
    return x, x_dot


def new_zero(x):
    """The zero tangent of a container that was just made, as one that was just made too."""
    if isinstance(x, list):
        return [zero_of(part) for part in x]
    if isinstance(x, dict):
        return {key: zero_of(part) for key, part in x.items()}
    return zero_of(x)


def of_namedtuple(name, x, x_dot, words, word_dots):
    """`x._replace(**words)` or `x._asdict()`"""
    if is_none(x_dot):
        x_dot = zero_part(x)
    if name == "_asdict":
        return x._asdict(**words), x_dot._asdict()
    return x._replace(**words), x_dot._replace(**{key: settled(words[key], word_dots[key]) for key in words})


def zero_part(x):
    return zero_kept(x)


def made_by_factory(cls, given):
    """The names of the fields that a factory has filled in."""
    missing = dataclasses.MISSING
    fields = [f for f in dataclasses.fields(cls) if f.default_factory is not missing]
    return [f.name for f in fields if f.name not in given]


def made_super(cls, this, this_dot):
    """`super(cls, this)`, which stands for its object."""
    return super(cls, this), this_dot


TABLE.non_differentiable(made_by_factory, zero_part)


def made_tuple(cls, args, words, fields_dot):
    """A NamedTuple."""
    return cls(*args, **words), cls(*fields_dot)


def operated(push, operator, methods, args, dots):
    """A binary operator by the methods of the author's classes, in Python's order."""
    y, y_dot = push(methods[0], NO, args[0], dots[0], (), None)
    if y is NotImplemented and len(methods) > 1:
        y, y_dot = push(methods[1], NO, args[1], dots[1], (), None)
    if y is NotImplemented:
        return operator(*args[0]), NO
    return y, y_dot


def called_attribute(push, owner, owner_dot, name, args, dots, names):
    """`owner.name(...)` where `owner.name` is a value of its own."""
    function, function_dot = push(getattr, NO, (owner, name), (owner_dot, NO), (), None)
    return push(function, function_dot, args, dots, names, None)


def turned(vjp, rrule, leading, args, dots, words):
    """The pushforward of a rule that has a pullback alone.

    For a number y it is J v = <J' 1, v>. Else, the pullback being linear in the cotangent w of y, its
    transpose is its own derivative: J v = ∂/∂w <J' w, v>.
    """
    y, pullback = rrule(*leading, *args, **words)
    if is_plain_pair(y, dots):
        bars = pullback(1.0)
        check_cotangents(rrule, bars, len(args))
        return y, paired(bars[1:], dots)

    def cotangents(w):
        bars = rrule(*leading, *args, **words)[1](w)
        check_cotangents(rrule, bars, len(args))
        return bars

    return y, vjp(cotangents, (one_like(y),), (NO, *dots))[1][0]


def is_plain_pair(y, dots):
    """Whether a value is a real number, and the tangents are real numbers and arrays."""
    kinds = (int, float, np.floating, np.ndarray)
    numbers = all(is_none(d) or (isinstance(d, kinds) and not np.iscomplexobj(d)) for d in dots)
    return numbers and isinstance(y, (float, np.floating))


def paired(bars, dots):
    """<x̄, ẋ> over the arguments."""
    total = 0.0
    for bar, x_dot in zip(bars, dots):
        total = total + product(unthunk(bar), x_dot)
    return total


def product(bar, x_dot):
    if is_none(bar) or is_none(x_dot):
        return 0.0
    check_shape(bar, x_dot)
    return np.sum(bar * x_dot) if isinstance(x_dot, np.ndarray) else bar * x_dot


def check_shape(bar, x_dot):
    if np.shape(bar) != np.shape(x_dot):
        raise RuleShapeError(
            f"a cotangent of shape {np.shape(bar)} for an argument of shape {np.shape(x_dot)}",
            fixes=("return one of the shape of the argument",),
        )


TABLE.non_differentiable(is_plain_pair, check_shape)


def check_cotangents(rrule, bars, count):
    """RuleError where a pullback gives something else than a cotangent for the function and each argument."""
    name = rrule.__name__
    if not isinstance(bars, (tuple, list)) or len(bars) != 1 + count:
        given = len(bars) if isinstance(bars, (tuple, list)) else f"a {type(bars).__name__} for"
        raise RuleCountError(
            f"The pullback of {name} returned {given} cotangents, expected {1 + count}",
            fixes=("return rl.NoTangent() first, for the function, then one for each positional argument",),
        )
    if any(bar is None or isinstance(bar, type) for bar in bars):
        raise RuleError(
            f"The pullback of {name} returned None or a class for a cotangent",
            fixes=("return rl.ZeroTangent() if its derivative is zero, rl.NoTangent() if it has none",),
        )


TABLE.non_differentiable(check_cotangents)


def one_like(y):
    """A cotangent of y at which to take the derivative of what is linear in it."""
    if isinstance(y, tuple):
        return tuple([one_like(part) for part in y])
    if isinstance(y, np.ndarray):
        return np.ones_like(y, dtype=np.result_type(y, float))
    return 1.0


TABLE.non_differentiable(one_like)


def vjp_forward(push, vjp, f, f_dot, args, dots, seed, seed_dot, words, words_dot):
    """The tangent of a pullback `x_bar = J' y_bar`: J' of the tangent of y_bar, and the derivative of
    <y_bar, J v> by x, where v is the tangent of x and of the keyword arguments.
    """
    if is_none(dots):
        dots = no_tangents(len(args))

    names = names_of(words)
    values = tuple([words[name] for name in names])
    if is_none(words_dot):
        all_dots = (*dots, *no_tangents(len(names)))
    else:
        all_dots = (*dots, *[words_dot[name] for name in names])

    def along(*xs):
        return push(f, f_dot, (*xs, *values), all_dots, names, None)[1]

    y, x_bars = vjp(f, args, seed, words)  # first: it refuses what changes from one run to the next
    check_again(f, args, words, y)
    y_dot, bars = vjp(along, args, plain_seed(seed, y, f, args))
    second = moving(bars)
    if is_none(seed_dot):
        return (y, x_bars), (y_dot, second)
    first = moving(vjp(f, args, seed_dot, words)[1])
    return (y, x_bars), (y_dot, tuple([summed(a, b) for a, b in zip(first, second)]))


def check_again(f, args, words, y):
    """Refuse a function that gives something else than `y` when it runs again."""
    check_value(f, f(*args, **(words or {})), y)


def names_of(words):
    """The names of keyword arguments."""
    return tuple(words or ())


TABLE.non_differentiable(names_of, check_again)


def plain_seed(seed, y, f, args):
    """The cotangent itself, where what was given is how to make it."""
    if is_seed(seed):
        return seeded(seed, y, f, args)
    return seed


def seeded(seed, y, f, args):
    return seed(y, f, args)


def moving(bars):
    """Cotangents as tangents: what has none moves nowhere."""
    return tuple([NO if is_nothing(bar) else bar for bar in bars])


def is_nothing(bar):
    return bar is None


def is_seed(seed):
    return hasattr(seed, "function")


def summed(first, second):
    """The sum of two tangents of one value."""
    if is_none(first):
        return second
    if is_none(second):
        return first
    if isinstance(first, (tuple, list)):
        return type(first)([summed(a, b) for a, b in zip(first, second)])
    if isinstance(first, dict):
        return {key: summed(first[key], second[key]) for key in first}
    if isinstance(first, FieldGradients):
        return FieldGradients(first._name, summed(first._asdict(), second._asdict()))
    return first + second


TABLE.non_differentiable(is_nothing, is_seed, seeded)


def made_with_post_init(push, cls, args, words, fields_dot):
    """An object of a dataclass with a `__post_init__`."""
    x, passed = before_post_init(cls, args, words)
    x_dot = types.SimpleNamespace(**{name: d for name, d in fields_dot.items() if name not in passed})
    for name in made_by_factory(cls, fields_dot):
        setattr(x_dot, name, new_zero(getattr(x, name)))
    given_dot = [fields_dot.get(name, NO) for name in passed]
    push(cls.__post_init__, NO, (x, *passed.values()), (x_dot, *given_dot), (), None)
    return x, x_dot


def before_post_init(cls, args, words):
    """What the generated `__init__` of a dataclass makes before it calls `__post_init__`, and what it passes
    on to that.
    """
    given = inspect.signature(cls).bind(*args, **words).arguments
    x = object.__new__(cls)
    for field in dataclasses.fields(cls):
        if field.init and field.name in given:
            object.__setattr__(x, field.name, given[field.name])
        elif field.default_factory is not dataclasses.MISSING:
            object.__setattr__(x, field.name, field.default_factory())
        elif field.default is not dataclasses.MISSING:
            object.__setattr__(x, field.name, field.default)
    kinds = getattr(cls, "__dataclass_fields__", {})
    only = [name for name, f in kinds.items() if f._field_type is dataclasses._FIELD_INITVAR]  # type: ignore[attr-defined]
    return x, {name: given.get(name, getattr(cls, name, None)) for name in only}


def in_place_array(push, update, function, left, left_dot, right, right_dot):
    """`left op= right` of an array, done on its tangent too."""
    check_in_place(update, left, right)
    _y, y_dot = push(function, NO, (left, right), (left_dot, right_dot), (), None)
    if is_none(left_dot):
        check_untracked(left)
        if not is_zero(y_dot):
            raise refused_write(left)
    update(left, right)
    if not is_none(left_dot):
        left_dot[...] = y_dot
    return left, left_dot


def check_in_place(update, left, right):
    """NumPy's own error where the dtype of the result is not one that `left` takes: `left op right` has none,
    or another.
    """
    operand = np.asarray(right) if isinstance(right, (list, tuple)) else right
    if np.result_type(left, operand) != left.dtype:
        update(left.copy(), right)


TABLE.non_differentiable(check_in_place)


def into_out(push, function, args, dots, names, given, words, out, out_dot):
    """`function(*given, **words)`, which writes its result to the array `out`."""
    _, y_dot = push(function, NO, args, dots, names, None)
    if is_none(out_dot):
        check_untracked(out)
        if not is_zero(y_dot):
            raise refused_write(out)
    y = function(*given, **words)
    if not is_none(out_dot):
        if is_none(y_dot):
            out_dot[...] = 0.0
        elif np.size(y_dot) == np.size(out_dot):
            out_dot[...] = np.reshape(y_dot, np.shape(out_dot))  # `a.cumsum(out=b)` takes any shape
        else:
            out_dot[...] = y_dot
    return y, out_dot


def constant_into_out(function, given, words, out, out_dot):
    """The same of a function without a derivative. It runs once: a draw is another the second time."""
    if is_none(out_dot):
        check_untracked(out)
    y = function(*given, **words)
    if not is_none(out_dot):
        out_dot[...] = 0.0
    return y, out_dot


def check_caught(error):
    """NotDifferentiableError for an exception that carries numbers, whose tangents nobody keeps."""
    carried = (*error.args, *vars(error).values())
    if any(isinstance(x, (float, complex, np.number, np.ndarray)) for x in carried):
        raise NotDifferentiableError(
            f"A {type(error).__name__} that was caught carries a number, and its derivative would be lost",
            fixes=("return the number instead of raising it",),
            read="limitations#try-and-except",
        )


def is_zero(x_dot):
    return is_none(x_dot) or not np.any(x_dot)


def refused_write(x):
    """The error for a varying value that is written where its tangent would be lost."""
    return MutationError(
        "Something that varies is written to an array whose tangent nobody keeps: a global or captured one",
        fixes=("make the array inside of the function", "give it as an argument"),
    )


def refuse_lost(name, x_dot):
    """NotDifferentiableError where a value that varies is put in a variable whose tangent nobody keeps."""
    if not is_zero(x_dot):
        raise NotDifferentiableError(
            f"The variable {name}, of a function called with constants, is given a value that varies",
            fixes=("keep what changes in a list or an object",),
            read="limitations#syntax",
        )


def refuse_moved_slice(owner, key, name="__getitem__"):
    """NotDifferentiableError where a class of Python code gets a slice that a number that varies bounds: the
    item may be made of the number, and a slice has no tangent.
    """
    if isinstance(getattr(type(owner), name, None), types.FunctionType) and _holds_float(key):
        raise NotDifferentiableError(
            f"A number that varies bounds a slice that {type(owner).__name__}.{name} reads: "
            "its derivative would be lost",
            fixes=("hand the number to a method or a function", "np.linspace for np.mgrid and np.r_"),
            read="limitations#syntax",
        )


def _holds_float(key):
    if isinstance(key, tuple):
        return any(map(_holds_float, key))
    bounds = (key.start, key.stop, key.step) if isinstance(key, slice) else ()
    return any(isinstance(x, (float, np.floating)) for x in bounds)


TABLE.non_differentiable(is_zero, refused_write, refuse_lost, refuse_moved_slice, check_caught)


def push_of(config):
    return config._forwards.__self__


TABLE.non_differentiable(push_of)


@TABLE.stands_in(RuleConfig.frule_via_ad, rest=3)
def frule_via_ad(config, tangents, f, args=(), **words):
    dots = (*tangents[1:], *no_tangents(1 + len(args) + len(words) - len(tangents)))
    return push_of(config)(f, tangents[0], (*args, *words.values()), dots, tuple(words), None)


@TABLE.stands_in(settled)
def settled_(x, x_dot):
    return zero_kept(x) if is_none(x_dot) else x_dot


def content_of(x_dot):
    """The tangent of a captured variable; where that may be rebound, its cell is handed on."""
    return x_dot.cell_contents if isinstance(x_dot, types.CellType) else x_dot


@TABLE.frule(content_of)
def content_of_frule(tangents, x_dot):
    return content_of(x_dot), content_of(tangents[1])


def cached(push, function, x, x_dot, name):
    """A cached property: its first read works it out and keeps it with its tangent. One that was kept before
    has no tangent yet; it must be what the function gives now.
    """
    if is_kept(x, name) and is_kept(x_dot, name):
        return getattr(x, name), getattr(x_dot, name)
    y, y_dot = push(function, NO, (x,), (x_dot,), (), None)
    if is_kept(x, name):
        check_same_result(x, name, y)
    else:
        object.__setattr__(x, name, y)  # as Python does, past the class's own __setattr__
    setattr(x_dot, name, y_dot)
    return y, y_dot


def is_kept(x, name):
    """Whether an object itself has an attribute, not its class alone."""
    return name in x.__dict__


def check_same_result(x, name, y, place=None):
    """NotDifferentiableError unless what a cached property has kept is what its function gives now, `y`."""
    kept = vars(x)[name]
    try:
        same = kept is y or (type(kept) is type(y) and bool(np.all(np.asarray(kept == y))))
    except (TypeError, ValueError):  # objects that cannot be compared
        same = False
    if not same:
        raise NotDifferentiableError(
            f"The cached {name} of a {type(x).__name__} is not what its function gives now",
            place=place,
            fixes=(f"del the cached {name} when what it depends on changes", "a property instead"),
            read="limitations#attributes",
        )


TABLE.non_differentiable(is_kept, check_same_result)


for _program in (push_all, sequence, unpacked):
    vars(_program)["gives_pair"] = True
