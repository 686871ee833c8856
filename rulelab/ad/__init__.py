"""The derivatives a caller can ask for: gradients, pullbacks, pushforwards, Jacobians and Hessians, and the
marks that an author writes into a function.

In reading order: `operator_arguments` (the compiler used, the seed, and the error where there is none),
`agreement` (the value of a new pass is the function's), `keywords`, `uncallable`, `natural`, `by_entry`,
`by_keywords`, `fresh_cotangents`, `fused_rule`, `by_rule`, `fast_gradient`, `fast_pullback` and `reverse`
(gradients and pullbacks), `implicit` (parameters that are not arguments), `directions`, `argument_snapshots`,
`free_phases` and `forward` (pushforwards), `matrices` with `progress` and `allowance` (Jacobians, Hessians),
`derivatives`, `complex_numbers`; for authors of functions: `marks`, `checkpointed`, `buffer`, and these in
forward mode, `mark_tangents`; all of them inside a differentiated function: `nested_functions`, `nested`.
"""
