"""Parameters that a function reads although they are not arguments: from globals, captured variables,
attributes.

In reading order: `watching` (which values hold one, and where what flows back is put), `sources` (where
they come into a function), `hidden` (code out of sight that could read one).
"""
