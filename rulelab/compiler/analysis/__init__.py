"""What is certain about a function before it runs.

In reading order: `elements` (lists that only the function itself can change), `types` (kinds of values),
`displays` (lists combined with arrays, read as arrays), `regions` (names for the same mutable container),
`activity` (what a cotangent can reach), `usage` (which lists grow, what is active), `vanishing` (which
numbers may not contribute to the result), `flowing` (which numbers certainly have a cotangent), `spelling`
(text made from varying numbers), `effects` (whether a run did more than compute), `unfollowed` (whether
code that is not followed only returns a value), `finite` (where an overflow would not show) and `on_floats`
(whether a function computes the same on Python's own floats).
"""
