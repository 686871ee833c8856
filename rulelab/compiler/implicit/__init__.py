"""Parameters that a function reads although they are not its arguments: from globals, captured variables,
attributes.

In reading order: `watching` (which values hold one, and where their cotangents are put), `sources` (where
they enter a function), `hidden` (code that is not followed and could read one).
"""
