"""What is certain of a function before it runs.

In reading order: `elements` (lists that nobody else can change), `types` (kinds of values), `displays` (lists
that are written beside arrays, read as arrays), `regions` (names for the same changing container), `activity`
(what a cotangent can reach), `usage` (how often a name is read, what grows), `vanishing` (which numbers may
have no part in the result), `flowing` (which numbers certainly have a cotangent), `spelling` (text made from
numbers that vary), `effects` (whether a run did more than compute), `unfollowed` (whether code that is not
followed only gives a value), `finite` (where an overflow would not show) and `on_floats` (whether a function
computes the same on Python's own floats).
"""
