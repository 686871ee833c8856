"""One point of a check: its arguments and their variants, and what is measured and found there.

`drawing` and `perturb` make arguments, `forms` keeps symmetric ones symmetric, `variants` and `options`
give the same point as users have it. `probes` measures the derivative at a point and asks the rule;
`closeness` compares the two within error bars, `noted` remembers how large values are, and `findings` words
what was found. Points that need care: `kinks`, `at_zero`, `leaps` and `far_numbers`.
"""
