"""Open the panel of a pair, live or as a snapshot; what it shows is imported only when it is opened."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any


def lab(
    f: Callable[..., Any],
    f_cr: Callable[..., Any],
    args: tuple[Any, ...],
    *,
    kwargs: dict[str, Any] | None = None,
    make: Callable[[int], Any] | None = None,
    rounds: int = 60,
    run: bool = False,
    seconds: float | None = None,
    widgets: bool | None = None,
    asked: tuple[str, str, str] | None = None,
) -> Any:
    """The panel of a function and its twin at `args`: gradients side by side, times, checks, code, proof.

    Parameters
    ----------
    f, f_cr : callable
        The function, and its copy that carries the rule.
    args : tuple
        The positional arguments of both.
    kwargs : dict, optional
        Keyword arguments of both.
    make : callable, optional
        `make(n)` gives the arguments of size n, for the times against N; by default arrays are drawn again.
    rounds : int
        How many rounds a full duel has.
    run : bool
        Whether everything is measured before the panel opens; else only a duel of a second is.
    seconds : float, optional
        The time for all that is measured before it opens.
    widgets : bool, optional
        Whether it is live. With None that depends on where it is shown, and on the setting `widgets`.
        Without widgets everything is measured at once, and Ctrl-C keeps what there is.
    asked : tuple of str, optional
        How a person wrote the two and the arguments, `("f", "f_cr", "x, y")`: each page then shows the cell
        that does the same.

    Returns
    -------
    Panel or Overview
        A widget; without widgets an `Overview`, which is a report.

    Raises
    ------
    MeasurementError
        If the arguments are not a tuple, or `rounds` makes no sense.
    RuleLabError
        What the gradients raise.

    Examples
    --------
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

    opened = pair.Pair(f, f_cr, argument_tuple(args), kwargs, make, checked_rounds(rounds), asked=asked)
    live = _shows_widgets() if widgets is None else widgets
    if run or not live:
        opened.measure_all(seconds)
    else:
        opened.quick_duel(seconds)
    if not live:
        return tabs.overview(opened)
    from .widgets import Panel

    return Panel(opened)


def _shows_widgets() -> bool:
    """Whether there is a kernel whose page can show widgets, and they are not switched off."""
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
