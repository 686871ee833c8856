"""One point of a check: its arguments and their variants, and what is measured and found there.

`drawing` and `perturb` make arguments, `forms` keeps symmetric ones symmetric, `variants` and `options` give
the same point in other forms that users may have, and `list_lengths` gives longer and shorter lists. `probes`
measures the derivative at a point and calls the rule; `closeness` compares the two within error bars,
`typical_sizes` records how large values and slopes are, and `findings` holds what was found. Points that need
care: `kinks`, `at_zero`, `leaps` and `far_numbers`.
"""
