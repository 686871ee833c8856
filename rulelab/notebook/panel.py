"""The panel of a pair, live or as it is at this moment: what opens it loads what it shows, and not before."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any


def lab(
    f: Callable,
    f_cr: Callable,
    args: tuple,
    *,
    kwargs: dict | None = None,
    make: Callable[[int], Any] | None = None,
    rounds: int = 60,
    run: bool = False,
    widgets: bool | None = None,
) -> Any:
    """The panel of a function and its twin at `args`: gradients side by side, times, checks, code, proof.

    `make(n)` gives the arguments of size n, for the times against N; without it arrays are drawn anew.
    `rounds` are those of a full duel. With `run` everything is measured before the panel opens, else a duel
    of a second. `widgets` says whether it is
    live; None leaves that to the place where it is shown, and to the setting `widgets`. Without widgets
    everything is measured at once, Ctrl-C keeps what there is, and the result is an `Overview`.

    >>> import rulelab as rl
    >>> from rulelab.notebook import lab
    >>> def square(x):
    ...     return x * x
    >>> square_cr = rl.twin(square, "square_cr")
    >>> rule = rl.rrule_for(square_cr)(lambda x: (x * x, lambda y_bar: (rl.NoTangent(), 2.0 * x * y_bar)))
    >>> print(lab(square, square_cr, (3.0,), widgets=False))  # doctest: +ELLIPSIS
    Gradients
    =========
    Right: square and square_cr agree exactly.
    ...
    """
    __tracebackhide__ = True
    from ..bench.calls import argument_tuple
    from ..pieces import checked_rounds
    from . import pair, tabs  # here, because `import rulelab.notebook` is light

    opened = pair.Pair(f, f_cr, argument_tuple(args), kwargs, make, checked_rounds(rounds))
    live = _shows_widgets() if widgets is None else widgets
    if run or not live:
        opened.measure_all()
    else:
        opened.glance()
    if not live:
        return tabs.overview(opened)
    from .widgets import Panel

    return Panel(opened)


def _shows_widgets() -> bool:
    """Whether there is a kernel whose page can show widgets, and nobody has switched them off."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    shell = get_ipython()
    if not hasattr(shell, "kernel"):
        return False
    loaded = getattr(shell, "_rulelab", None)
    if loaded is not None:
        return getattr(loaded.magics, "widgets", True)
    return os.environ.get("RULELAB_WIDGETS", "1").strip().lower() not in ("0", "false", "no", "off")
