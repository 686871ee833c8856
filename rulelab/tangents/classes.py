"""Which classes were made by Python code, by a class statement or by `type(...)`."""

from __future__ import annotations

_ON_THE_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE; from Python 3.12 on many C classes have it, too
_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE; no class statement sets it


def made_by_python(kind: type) -> bool:
    """Whether a class was made by Python code: its methods may be an author's, its instances have what they
    hold as parts, it accepts attributes and can be garbage-collected. A mutable heap class made in C cannot
    be told apart.

    >>> class Circle: ...
    >>> made_by_python(Circle), made_by_python(type("Point", (tuple,), {})), made_by_python(float)
    (True, True, False)
    """
    return kind.__flags__ & (_ON_THE_HEAP | _IMMUTABLE) == _ON_THE_HEAP
