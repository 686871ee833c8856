"""Arrays that a pass did not make are borrowed: code that is not followed may overwrite them after a pullback
has kept them.

When such code is about to run, a sweep that keeps references is abandoned before anything has happened and
restarted as one that keeps copies of the constants it needs (docs/design/borrowed.md).
"""

from __future__ import annotations

import array
import contextlib
import functools
import operator
import sys
import types
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ...errors import MutationError, NotDifferentiableError, Place, an
from ...rules.lent import DEBUGGING
from ...rules.programs import key_asked_once, takes_positions
from ...rules.targets import name_of, resolve
from ...tangents.moments import run_behind
from ..analysis.effects import Noted, is_side_effect_free
from ..analysis.unfollowed import is_pure, is_pure_function, of_class, reads
from ..base.classes import is_author_class
from ..base.deriving import Codes, is_running
from ..base.libraries import compiled_function, is_library, is_of_library, is_of_rulelab
from ..base.places import calls_leading_here
from ..base.purity import HARMLESS
from ..base.question import Question
from ..memory import heap
from ..memory.fingerprints import array_fingerprint, kept_by
from ..memory.handlers import Handler, Uncached
from ..memory.holding import fields_of
from ..memory.operands import describe
from ..memory.reach import walked
from .entries import KEPT
from .protocols import asked_once

_MET = [0]  # how often such code was about to run in sweeps that keep copies


def needs_copies(what: str, place: Place | None) -> MutationError:
    """The error to raise when code that is not followed is about to run in a sweep that keeps references to
    arrays which that code may overwrite.

    The caller that started the sweep restarts it with copies. The error precedes that code, so if nothing
    else has happened yet, nothing happens twice.
    """
    error = MutationError(
        f"{what} is not followed, and may change arrays that the derivative has kept",
        place=place,
        fixes=(
            "ask for the derivative again: from now on it keeps copies",
            "call it before what prints, draws random numbers or reads a clock",
        ),
        read="limitations#code-that-is-not-followed",
        chain=calls_leading_here()[:-1],
    )
    error.needs_copies = True  # type: ignore[attr-defined]
    return error


def asks_for_copies(error: BaseException) -> bool:
    """Whether an error says that the sweep must be restarted with copies."""
    return getattr(error, "needs_copies", False)


# --- noticing -----------------------------------------------------------------------------------------------

# By attribute (None for operators), then by the id of the class, so that no class is kept alive: the fields
# that the code of the class reads; empty if it is harmless whatever its objects hold.
_FIELDS: dict[str | None, dict[int, tuple[str, ...]]] = {}
_LEAVING: dict[tuple[str | None, int], weakref.ref[type]] = {}
_SAFE = frozenset({float, int, bool, str, type(None), complex, np.ndarray, np.float64, list, tuple, dict})


PLAIN = _SAFE - {list, tuple}


def lookout(pullbacks: Question, attribute: str | None, place: Place | None) -> Callable[[Any], Any]:
    """A function that a constant is passed through before its attribute is read or, with None, before an
    operator or a loop runs on it: it returns the value, after checking whose code will run.
    """
    known, data = _FIELDS.setdefault(attribute, {}), _FIELDS.setdefault(None, {})

    def look(x: Any) -> Any:
        kind = type(x)
        if kind in _SAFE:
            return x
        names = known.get(id(kind))
        if names is None or (names and not _holds_data(x, names, data)):
            _meet(pullbacks, x, attribute, place)
        return x

    return look


def _holds_data(x: Any, names: tuple[str, ...], known: dict[int, tuple[str, ...]]) -> bool:
    """Whether the fields that the code of a class reads certainly hold nothing that runs code; a quick test.
    """
    fields = getattr(x, "__dict__", None)
    if type(fields) is not dict:
        return False
    for name in names:
        kind = type(fields.get(name, fields))
        if kind not in _SAFE and known.get(id(kind)) != ():
            return False
    return True


def look_at(pullbacks: Question, values: Iterable[Any], place: Place | None) -> None:
    """Check the arguments of a library function, which may run their operators and those of the items of
    lists.
    """
    look = handed(pullbacks, place)
    for x in values:
        look(x)


def handed(pullbacks: Question, place: Place | None) -> Callable[[Any], Any]:
    """The `lookout` for an argument of a library function. Only the first and last items of a list are
    checked, since its items are usually of one type.
    """
    known = _FIELDS.setdefault(None, {})

    def look(x: Any) -> Any:
        kind = type(x)
        if (kind is list or kind is tuple) and x:
            look(x[0])
            if type(x[-1]) is not type(x[0]):
                look(x[-1])
        elif kind not in _SAFE and known.get(id(kind)) != ():
            _meet(pullbacks, x, None, place)
        return x

    return look


def _meet(pullbacks: Question, x: Any, attribute: str | None, place: Place | None) -> None:
    """Check whose code a value of a class not seen before runs, and remember the class if it is harmless."""
    kind = type(x)
    if of_class(kind, attribute):
        _note(kind, attribute, ())
    elif is_pure(x, attribute):
        paths = None if is_of_library(kind) or kind in _SAFE else reads(kind, attribute)
        if paths is not None and all(len(path) == 1 for path in paths):
            _note(kind, attribute, tuple(path[0] for path in paths))
    else:
        what = f"The iteration over {an(kind.__name__)}" if hasattr(kind, "__next__") else None
        what = what or (f"{kind.__name__}.{attribute}" if attribute else f"The code of {an(kind.__name__)}")
        about_to_run(pullbacks, what, place)


def _note(kind: type, attribute: str | None, names: tuple[str, ...]) -> None:
    known, number = _FIELDS.setdefault(attribute, {}), id(kind)

    def forget(_: Any) -> None:
        known.pop(number, None)
        _LEAVING.pop((attribute, number), None)

    known[number] = names
    _LEAVING[attribute, number] = weakref.ref(kind, forget)


def about_to_run(pullbacks: Question, what: str, place: Place | None) -> None:
    """Code that is not followed runs next: record an effect, or raise unless the sweep keeps copies."""
    if not pullbacks.keeps:
        raise needs_copies(what, place)
    _MET[0] += 1
    pullbacks.cache.watches.note(Noted.EFFECT)


def look_at_call(
    pullbacks: Question, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], place: Place | None
) -> Noted | None:
    """Check a function that neither a rule nor a pass answers, and its arguments.

    Returns which of its effects must not be repeated; None if that depends on more than the function and the
    types of its arguments.
    """
    if target is getattr and len(args) > 1 and isinstance(args[1], str):
        lookout(pullbacks, args[1], place)(args[0])
        return None
    look_at(pullbacks, (*args, *kwargs.values()), place)
    if may_write(target, args, kwargs):
        about_to_run(pullbacks, f"{name_of(target)}", place)
        return None
    if not _may_change_state(target, (*args, *kwargs.values())):
        return Noted.NOTHING
    pullbacks.cache.watches.note(Noted.EFFECT)
    return Noted.EFFECT


def may_write(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call of a function without a rule or pass may change an array, as far as is known before it
    runs.
    """
    if type(target).__module__.partition(".")[0] in _BY_ADDRESS:
        return True
    if type(target) in (operator.attrgetter, operator.methodcaller):
        names = target.__reduce__()[1] if type(target) is operator.attrgetter else (None,)
        return any(
            name is None or not is_pure(x, name.partition(".")[0])
            for x in args
            for name in names
            if not is_of_library(type(x))
        )
    if is_side_effect_free(target):
        return False
    given = (*args, *kwargs.values())
    module = str(getattr(target, "__module__", None) or getattr(_owner(target), "__module__", None) or "")
    if module.startswith("rulelab."):
        return False  # our own code watches what it runs
    if any(map(_runs_open, (target, *given))):
        return True
    if module.startswith(("numpy", "scipy")) and not module.startswith("numpy.random"):
        return any(
            name.startswith(WRITTEN) and x is not False and x is not None for name, x in kwargs.items()
        )
    if not _is_of_library(target):
        return True
    return module.partition(".")[0] not in _READING and any(map(holds_arrays, given))


def _may_change_state(target: Any, given: tuple[Any, ...]) -> bool:
    """Whether a library call may change the state of its arguments, so that it must not run twice.

    Container methods that only read are known by name; an argument that is hashed by value does not change.
    """
    module = str(getattr(target, "__module__", None) or "").partition(".")[0]
    if module in _READING or module in ("numpy", "scipy", "rulelab") or is_side_effect_free(target):
        return False
    if _owner(target) is not None and getattr(target, "__name__", "") in HARMLESS:
        return False
    return any(not isinstance(x, _UNCHANGING) and type(x).__hash__ in (None, object.__hash__) for x in given)


_UNCHANGING = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, slice)


def _runs_open(x: Any) -> bool:
    """Whether a value is or holds a function of the author's whose source does not show that it only computes
    a value.
    """
    if isinstance(x, functools.partial):
        return _runs_open(x.func) or any(map(_runs_open, x.args))
    if isinstance(x, np.vectorize):
        return _runs_open(x.pyfunc)
    if isinstance(x, types.MethodType):
        return _runs_open(x.__func__)
    behind = getattr(x, "__wrapped__", None) if callable(x) and not isinstance(x, type) else None
    if isinstance(behind, types.FunctionType) and not is_library(behind):
        return any(map(_runs_open, (behind, *getattr(x, "registry", {}).values())))
    return isinstance(x, types.FunctionType) and not is_library(x) and not is_pure_function(x)


def draws_into(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call draws random numbers into an array among its arguments, as `rng.random(out=y)` does."""
    draws = any(target is known for known in _FILLING_DRAWS)
    return draws and any(isinstance(x, np.ndarray) for x in (*args, kwargs.get("out")))


_FILLING_DRAWS = tuple(
    getattr(np.random.Generator, name) for name in ("random", "standard_normal", "standard_exponential")
)
_BY_ADDRESS = ("ctypes", "_ctypes", "_cffi_backend")  # they write wherever an address leads
WRITTEN = ("out", "overwrite")  # keywords that tell NumPy and SciPy to write to an argument
_READING = (
    "copy", "math", "cmath", "operator", "_operator", "functools", "itertools", "json", "pickle", "inspect",
)  # fmt: skip


def _owner(target: Any) -> Any:
    return getattr(target, "__objclass__", None)


def _is_of_library(target: Any) -> bool:
    if isinstance(target, types.FunctionType):
        return is_library(target)
    owner = target if isinstance(target, type) else _owner(target)
    if owner is not None:
        return is_of_library(owner)
    module = getattr(target, "__module__", None)
    if isinstance(module, str):
        return module.partition(".")[0] in _LIBRARIES
    return is_of_library(type(target))


_LIBRARIES = frozenset({*sys.stdlib_module_names, *sys.builtin_module_names, "numpy", "scipy", "None"})
_BYTES = (np.ndarray, memoryview, bytearray, array.array)


def holds_arrays(x: Any, depth: int = 4) -> bool:
    """Whether a value is, or contains, memory that can be written to."""
    if isinstance(x, _BYTES):
        return not isinstance(x, np.ndarray) or x.flags.writeable or x.base is not None
    if isinstance(x, heap.LEAVES) or not depth:
        return False
    if isinstance(x, dict):
        return any(holds_arrays(part, depth - 1) for part in x.values())
    if isinstance(x, (list, tuple, set, frozenset, deque)):
        return any(holds_arrays(part, depth - 1) for part in x)
    return any(holds_arrays(part, depth - 1) for part in fields_of(x).values())


def may_meet(roots: tuple[Any, ...]) -> bool:
    """Whether these functions seem to reach code that is not followed: a guess, made before anything happens
    that must not happen twice.
    """
    held, names = walked(roots)
    if not names.isdisjoint(_FILLING) or (names & _DRAWING and names & _EMPTY):
        return True
    return any(map(_is_open, held))


_FILLING = frozenset({"shuffle", "permuted", "readinto", "recv_into", "pack_into", "nditer", "vectorize"})
_DRAWING = frozenset({"random", "standard_normal", "standard_exponential", "standard_gamma"})
_EMPTY = frozenset({"empty", "empty_like", "zeros", "zeros_like", "ones", "ones_like", "full"})


def _is_open(x: Any) -> bool:
    if isinstance(x, type):
        if is_of_library(x):
            return False
        names = [name for cls in x.__mro__ if not is_of_library(cls) for name in vars(cls)]
        return reads(x, None) is None or any(reads(x, name) is None for name in names)
    if isinstance(x, (types.FunctionType, types.MethodType, types.BuiltinFunctionType)):
        return False
    if hasattr(type(x), "__next__"):
        return not is_pure(x)
    return callable(x) and compiled_function(resolve(x)[0]) is None and may_write(x, (), {})


def function_behind(f: Any) -> types.FunctionType | None:
    """The Python function that a call of `f` runs, or None if it runs none."""
    while isinstance(f, functools.partial):
        f = f.func
    found = resolve(f)[0]
    return found if isinstance(found, types.FunctionType) else None


def needs_to_copy(pullbacks: Question, f: Any) -> bool:
    """Whether sweeps of a function are known to need copies; in debug mode all keep some, for comparison."""
    known = pullbacks.cache.copying
    if DEBUGGING.rules:
        return True
    if known is None:
        return False
    run = run_behind(f)
    function = function_behind(f if run is None else run.f)
    return function is not None and function.__code__ in known


def remember(pullbacks: Question, f: Any) -> None:
    """From now on, sweeps of this function keep copies, and its fast path without them is removed.

    A function of rulelab's own is not remembered: it runs for many of the author's, most of which need no
    copies.
    """
    function = function_behind(f)
    if function is not None and not is_of_rulelab(function.__code__.co_filename):
        cache = pullbacks.cache
        if cache.copying is None:
            cache.copying = weakref.WeakSet()
        cache.copying.add(function.__code__)
        function.__dict__.pop(KEPT, None)


def begin_again(pullbacks: Question, f: Any) -> None:
    """Abandon the sweep of a function, with everything it recorded, so that one with copies can replace it.
    """
    remember(pullbacks, f)
    probes = pullbacks.cache.probes
    if probes is not None and not heap.is_nested():
        probes.leave(0)  # everything it entered
    heap.begin_again()


_SWEEPING = Codes()


def sweeping(function: Any) -> Any:
    """Decorator of a function that runs a forward sweep which keeps values for a reverse one, or the reverse
    sweep.
    """
    _SWEEPING.add(function.__code__)
    return function


def sweep_around() -> bool:
    """Whether such a sweep is running around this call, judged by the frames of the current thread."""
    return is_running(_SWEEPING)


def refuse_asked_often(target: Any, args: Iterable[Any], words: Iterable[Any], place: Place | None) -> None:
    """NotDifferentiableError for an object whose numbers a NumPy or C function, or its rule, would ask for
    more than once, if the answer may differ each time.
    """
    args, words = tuple(args), tuple(words)
    asked = any(type(x) in (list, tuple) or is_author_class(type(x)) for x in (*args, *words))
    if not asked or not _is_converting(target):
        return
    alone = not any(callable(x) or hasattr(x, "__next__") for x in args if not is_author_class(type(x)))
    for k, x in enumerate((*args, *words)):
        anew = _answering_anew(x)
        if anew is None:
            continue
        kind = type(x)
        counted = hasattr(kind, "__array__") or hasattr(kind, "__index__")
        once = k < len(args) and not words and alone and counted
        if not once or _times_asked(target, args, k) > 1:
            raise NotDifferentiableError(
                f"{name_of(target)} may ask {an(type(anew).__name__)} for its numbers more than once, and "
                "the "
                "answers may differ",
                place=place,
                fixes=("pass an array or a number: np.asarray(x), operator.index(x)",),
                read="limitations#code-that-is-not-followed",
            )


def hold_answers_anew(args: Iterable[Any]) -> bool:
    """Whether lists or tuples among these contain an object that may answer differently each time, so that
    their types do not say how a call of them is differentiated.
    """
    for x in args:  # asked for most calls in forward mode, and few have one
        if type(x) in _SEQUENCES and _answering_anew(x) is not None:
            return True
    return False


_SEQUENCES = (list, tuple)


def _is_converting(target: Any) -> bool:
    owner = getattr(target, "__objclass__", None)
    if isinstance(getattr(target, "__self__", None), np.ufunc):
        return True
    module = str(getattr(target if owner is None else owner, "__module__", None)).partition(".")[0]
    return module in ("numpy", "math", "cmath")


def _answering_anew(x: Any, depth: int = 2) -> Any:
    """What `x` is or contains that converts to numbers and may answer differently each time; None if nothing.
    """
    kind = type(x)
    if kind in (list, tuple):
        parts = () if depth == 0 or PLAIN.issuperset(map(type, x)) else x
        found = (_answering_anew(part, depth - 1) for part in parts)
        return next((part for part in found if part is not None), None)
    if not is_author_class(kind) or callable(x) or is_of_library(kind) or isinstance(x, _NUMBERS_AND_TEXTS):
        return None
    if hasattr(kind, "__array_ufunc__") or heap.is_own(x):
        return None
    stands = any(hasattr(kind, name) for name in ("__array__", "__index__", "__float__", "__complex__"))
    sequence = hasattr(kind, "__getitem__") and hasattr(kind, "__len__")
    return x if (stands or sequence) and not isinstance(x, (dict, tuple)) and not is_pure(x) else None


_NUMBERS_AND_TEXTS = (int, float, complex, str, bytes, np.ndarray, np.generic)


def _times_asked(target: Any, args: tuple[Any, ...], number: int) -> int:
    """How often the function asks the argument at `number` for its value, found by calling it with an object
    that counts; the result of that call, even an error, is ignored.
    """
    kind, asked = type(args[number]), [0]
    shape = next((x.shape for x in args if isinstance(x, np.ndarray)), ())

    def array_of(self: Any, dtype: Any = None, copy: Any = None) -> np.ndarray:
        asked[0] += 1
        return np.ones(shape, dtype)

    def index_of(self: Any) -> int:
        asked[0] += 1
        return 1

    answers = {"__array__": array_of, "__index__": index_of}
    counting = type("Counting", (), {name: f for name, f in answers.items() if hasattr(kind, name)})
    others = [x if _answering_anew(x) is None else np.ones(shape) for x in args]
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target(*others[:number], counting(), *others[number + 1 :])
    return asked[0]


# --- keeping copies -----------------------------------------------------------------------------------------


def keeping(handler: Handler, whole: bool, built_in: bool, place: Place | None, items: bool) -> Handler:
    """A handler by rule that gets copies of the arrays among its arguments, varying ones included (captured
    values count as varying), so that what it keeps cannot change.

    With `whole`, arrays inside containers are copied too, if the result does not hold those very objects. A
    result that views a copy must be a view of the array itself, which may be overwritten: a `built_in` rule,
    which keeps only shapes in that case, is then called again with the arrays themselves. `items` marks the
    rule of `x[i]`.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        given = (*args, *kwargs.values())
        asked = _asked(given, whole, items) if built_in else given
        copies = [_copied(x, whole) for x in asked]
        if all(a is b for a, b in zip(copies, given)):
            y, back = handler(*args, **kwargs)
        else:
            y, back = handler(*copies[: len(args)], **dict(zip(kwargs, copies[len(args) :])))
            changed = [a for a, b in zip(copies, asked) if a is not b]
            if built_in and _shows(y, changed):
                y, back = handler(*asked[: len(args)], **dict(zip(kwargs, asked[len(args) :])))
        objects = [x for x in given if _is_object(x)]
        if objects:
            back = _checked(back, _arrays_in(objects))
        if DEBUGGING.rules:
            back = _watched(back, _arrays_in(given), place)
        return y, back

    return Uncached(call) if type(handler) is Uncached else call


def _copied(x: Any, whole: bool) -> Any:
    if isinstance(x, np.ndarray):
        # NumPy warns when a broadcast array is asked whether it is writeable.
        return _copied_as_laid_out(x) if x.base is not None or x.flags.writeable else x
    if isinstance(x, (memoryview, bytearray, array.array)):
        return np.array(x)
    if isinstance(x, heap.LEAVES) or not whole:
        return x
    kind = type(x)
    if kind in (list, tuple):
        parts = [_copied(part, whole) for part in x]
        return x if all(a is b for a, b in zip(parts, x)) else kind(parts)
    if kind is dict:
        return {key: _copied(part, whole) for key, part in x.items()}
    return x


_MOST_SPREAD = 16  # times the bytes of an array: if it is spread further, the copy has no gaps


def _copied_as_laid_out(x: np.ndarray) -> np.ndarray:
    """A copy with the same strides: BLAS sums in another order, and rounds differently, for another layout.
    """
    low, high = byte_bounds(x)
    if x.flags.forc or type(x) is not np.ndarray or x.dtype.hasobject or high - low > _MOST_SPREAD * x.nbytes:
        return np.array(x, copy=True, subok=True)
    memory = np.empty(high - low, np.uint8)
    copied = np.ndarray(x.shape, x.dtype, memory, x.ctypes.data - low, x.strides)
    copied[...] = x
    return copied


def _asked(given: tuple[Any, ...], whole: bool, items: bool) -> tuple[Any, ...]:
    """The arguments of a built-in rule, with objects that it might ask again in the reverse sweep replaced by
    the numbers they convert to; `whole` and `items` are as in `keeping`.
    """
    if items:
        owner, *keys = given
        return (owner, *map(key_asked_once, keys)) if takes_positions(owner) else given
    return tuple(map(asked_once, given)) if whole else given


def _shows(y: Any, copies: list[Any]) -> bool:
    """Whether a result is, or may share memory with, one of these copies."""
    if isinstance(y, (tuple, list)):
        return any(_shows(part, copies) for part in y)
    if not isinstance(y, np.ndarray):
        return any(y is x for x in copies)
    return any(isinstance(x, np.ndarray) and np.may_share_memory(y, x) for x in copies)


def _is_object(x: Any) -> bool:
    """Whether a constant may hold arrays that cannot be copied without making a different object."""
    if isinstance(x, (*heap.LEAVES, list, tuple, dict, set, frozenset, slice, range, np.ufunc, np.dtype)):
        return False
    return not callable(x) and bool(fields_of(x))


def _arrays_in(values: Iterable[Any]) -> Iterator[np.ndarray]:
    return (x for x in kept_by(list(values)) if isinstance(x, np.ndarray))


def _watched(back: Any, arrays: Iterable[np.ndarray], place: Place | None) -> Callable[[Any], Any]:
    """The pullback, made to raise in debug mode if an array has changed unnoticed: a sweep without copies
    would have given a wrong number.
    """
    met = _MET[0]

    def refuse(x: np.ndarray) -> None:
        if _MET[0] == met:
            raise MutationError(
                f"An array {describe(x)} was changed after the derivative had kept it, and nothing "
                "in the function is known to change it",
                place=place,
                fixes=("return copies", "stop the thread or the C code that writes to it"),
                read="limitations#code-that-is-not-followed",
            )

    return _unless_changed(back, arrays, refuse)


def _checked(back: Any, arrays: Iterable[np.ndarray]) -> Callable[[Any], Any]:
    """The pullback, made to raise if one of these arrays has changed since."""

    def refuse(x: np.ndarray) -> None:
        raise MutationError(
            "Code that cannot be followed has changed an array in an object that a rule has kept",
            fixes=("pass the arrays themselves to the rule", "pass it a copy of the object"),
            read="limitations#code-that-is-not-followed",
        )

    return _unless_changed(back, arrays, refuse)


def _unless_changed(back: Any, arrays: Iterable[np.ndarray], refuse: Callable[[np.ndarray], None]) -> Any:
    """The pullback, which first calls `refuse` on each array that has changed since."""
    kept = [(x, array_fingerprint(x)) for x in arrays]

    def checked(y_bar: Any) -> Any:
        for x, seen in kept:
            if array_fingerprint(x) != seen:
                refuse(x)
        return back(y_bar)

    return heap.like(back, checked)
