"""A bench for people who write derivative rules: gradients of plain Python and NumPy, and rules one can
compare and check.
"""

import importlib as _importlib
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if getattr(_sys, "argv", None) and _sys.argv[0] == "-m":  # as `python -m` has it while it looks for a package
    from rulelab_command import hear_ctrl_c as _hear_ctrl_c

    _hear_ctrl_c()

from .collections_off import without_collections as _without_collections

with _without_collections():
    from . import ad as _ad
    from . import compiler as _compiler
    from . import rules as _rules
    from . import rulesets as _rulesets
    from . import tangents as _tangents
    from .ad.buffer import TABLE as _BUFFER
    from .ad.buffer import Buffer
    from .ad.checkpointed import checkpointed
    from .ad.complex_numbers import holomorphic_derivative, wirtinger
    from .ad.derivatives import derivative
    from .ad.forward import forwarddiff, pushforward
    from .ad.implicit import Grads, Params
    from .ad.mark_tangents import TABLE as _MARK_TANGENTS
    from .ad.marks import TABLE as _MARKS
    from .ad.marks import clip_grad, dropgrad, hook, ignore_derivatives, isderiving, nest_level, showgrad
    from .ad.matrices import (
        WithJacobian,
        diaghessian,
        hessian,
        hessian_reverse,
        hvp,
        jacobian,
        withjacobian,
    )
    from .ad.nested import HANDED_ON as _HANDED_ON
    from .ad.nested import TABLE as _NESTED
    from .ad.operator_arguments import WithGradient
    from .ad.reverse import debug_mode, grad, gradient, pullback, withgradient
    from .compiler.calls.cache import StaleRuleWarning, refresh
    from .compiler.calls.reading import adjoint_source
    from .errors import (
        AmbiguousRuleError,
        CatchBlockError,
        DerivationError,
        ExportError,
        ForeignCallError,
        InternalError,
        KeywordError,
        MeasurementError,
        MutatedAfterCaptureError,
        MutationError,
        NotDifferentiableError,
        NotImplementedTangentError,
        RecordError,
        RuleCountError,
        RuleDtypeError,
        RuleEffectsError,
        RuleError,
        RuleLabError,
        RuleRegistrationError,
        RuleShapeError,
        ScalarOutputError,
        SourceMismatchError,
        SourceNotFoundError,
        ThunkMutationError,
        UnsupportedSyntaxError,
        WrongTransformError,
    )
    from .originals import hold as _hold
    from .rules.authoring import (
        frule,
        frule_for,
        has_rrule,
        non_differentiable,
        opt_out,
        remove_rule,
        rrule,
        rrule_for,
        scalar_rule,
        undo_rule,
        which_rule,
        without_rule,
    )
    from .rules.capabilities import (
        HasForwardsMode,
        HasReverseMode,
        NoForwardsMode,
        NoMutation,
        NoReverseMode,
        RuleConfig,
        SupportsMutation,
    )
    from .rules.registry import DEFAULT as _REGISTRY
    from .rules.stub import rule_stub
    from .rules.twins import twin
    from .rulesets.catalogue import install as _install
    from .tangents.algebra import add_into, is_inplaceable
    from .tangents.missing import not_implemented
    from .tangents.oldnames import old_name as _old_name
    from .tangents.projection import ProjectTo, zero_tangent
    from .tangents.structural import Tangent, canonicalize
    from .tangents.thunks import InplaceableThunk, Thunk, thunk, unthunk
    from .tangents.zeros import NoTangent, ZeroTangent

    _install(_REGISTRY)
    _MARKS.install(_REGISTRY)
    _NESTED.install(_REGISTRY)
    _HANDED_ON.install(_REGISTRY)
    _MARK_TANGENTS.install(_REGISTRY)
    _BUFFER.install(_REGISTRY)
    _hold(tuple(f"{floor.__name__}." for floor in (_tangents, _rules, _rulesets, _compiler, _ad)))

if _TYPE_CHECKING:
    from .checking import compare, rule_check, rule_lint

__version__ = "0.1.0"

__all__ = [
    "AmbiguousRuleError",
    "Buffer",
    "CatchBlockError",
    "DerivationError",
    "ExportError",
    "ForeignCallError",
    "Grads",
    "HasForwardsMode",
    "HasReverseMode",
    "InplaceableThunk",
    "InternalError",
    "KeywordError",
    "MeasurementError",
    "MutatedAfterCaptureError",
    "MutationError",
    "NoForwardsMode",
    "NoMutation",
    "NoReverseMode",
    "NoTangent",
    "NotDifferentiableError",
    "NotImplementedTangentError",
    "Params",
    "ProjectTo",
    "RecordError",
    "RuleConfig",
    "RuleCountError",
    "RuleDtypeError",
    "RuleEffectsError",
    "RuleError",
    "RuleLabError",
    "RuleRegistrationError",
    "RuleShapeError",
    "ScalarOutputError",
    "SourceMismatchError",
    "SourceNotFoundError",
    "StaleRuleWarning",
    "SupportsMutation",
    "Tangent",
    "Thunk",
    "ThunkMutationError",
    "UnsupportedSyntaxError",
    "WithGradient",
    "WithJacobian",
    "WrongTransformError",
    "ZeroTangent",
    "add_into",
    "adjoint_source",
    "canonicalize",
    "checkpointed",
    "clip_grad",
    "compare",
    "debug_mode",
    "derivative",
    "diaghessian",
    "dropgrad",
    "forwarddiff",
    "frule",
    "frule_for",
    "grad",
    "gradient",
    "has_rrule",
    "hessian",
    "hessian_reverse",
    "holomorphic_derivative",
    "hook",
    "hvp",
    "ignore_derivatives",
    "is_inplaceable",
    "isderiving",
    "jacobian",
    "load_ipython_extension",
    "nest_level",
    "non_differentiable",
    "not_implemented",
    "opt_out",
    "pullback",
    "pushforward",
    "refresh",
    "remove_rule",
    "rrule",
    "rrule_for",
    "rule_check",
    "rule_lint",
    "rule_stub",
    "scalar_rule",
    "showgrad",
    "thunk",
    "twin",
    "undo_rule",
    "unload_ipython_extension",
    "unthunk",
    "which_rule",
    "wirtinger",
    "withgradient",
    "withjacobian",
    "without_rule",
    "zero_tangent",
]

# What checks rules is a third of the package, and who only wants gradients does not wait for it.
_LATE = ("compare", "rule_check", "rule_lint")


def load_ipython_extension(ipython: _Any) -> None:
    """`%load_ext rulelab`: bring the magics into a notebook or IPython session."""
    from .notebook.loading import load_ipython_extension as load

    load(ipython)


def unload_ipython_extension(ipython: _Any) -> None:
    """`%unload_ext rulelab`: remove everything that loading added."""
    from .notebook.loading import unload_ipython_extension as unload

    unload(ipython)


def __getattr__(name: str | None) -> _Any:
    if name == "checking":
        return _importlib.import_module(".checking", __name__)
    if name in _LATE:
        found = getattr(_importlib.import_module(".checking", __name__), name)
        globals()[name] = found
        return found
    return _old_name(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE, "checking"})
