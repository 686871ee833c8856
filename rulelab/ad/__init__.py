"""What a caller asks: gradients, pullbacks, pushforwards, matrices of derivatives, and marks in a function.

In reading order: `asked` (who answers, seeds, what is said where there is none), `agreement` (the value of
a new pass is the function's), `keywords`, `uncallable`, `natural`, `by_entry`, `by_words`, `fresh`,
`joined`, `by_rule`, `at_once`, `pulled` and `reverse` (gradients and pullbacks), `implicit` (parameters
that nobody hands in), `directions`, `left_alone`, `free_phases` and `forward` (pushforwards), `matrices`
with `progress` and `allowance` (Jacobians, Hessians), `derivatives`, `complex_numbers`; what an author
writes into a function: `marks`, `checkpointed`, `buffer`, in forward mode `mark_tangents`; and all of these
inside a differentiated function: `nested_functions`, `nested`.
"""
