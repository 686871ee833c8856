"""What a user can set: `%config RuleLab.…`."""

from __future__ import annotations

from traitlets import Bool, HasTraits, observe

from ..errors import RuleLabError
from .displays import error_lines


class Settings(HasTraits):
    """The settings of the magics, shown and changed by `%config RuleLab`."""

    short_errors = Bool(True, help="show rulelab's own errors in their six lines, without the traceback").tag(
        config=True
    )

    @observe("short_errors")
    def _short_errors_changed(self, change) -> None:
        show_errors_short(change["new"])


def show_errors_short(short: bool) -> None:
    """Have IPython show our errors by their own lines.

    The hook is a method on the class of our errors, which IPython looks for on any exception;
    `set_custom_exc` has room for one handler in a shell, and another extension may need it.
    """
    if short:
        setattr(RuleLabError, "_render_traceback_", error_lines)  # noqa: B010
    elif "_render_traceback_" in vars(RuleLabError):
        delattr(RuleLabError, "_render_traceback_")
