"""A lowered function to its sweeps, and these to Python.

In reading order: `terms` (what a text tells), `phrases` (pieces of text), `sweeps` (what both sweeps are
written with), `specialise` (formulas where the types are certain), `reuse` (arrays whose memory is
written again), `formulas` (derivatives that are written out), `operations` (one operation in both
sweeps), `adjoint` (branches, loops and handlers around them), `typed_tangents` and `tangent` (the forward
mode: a lowered function again), `holders` (who has the memory of a cotangent), `spending` (values whose
memory a gradient reuses), `tidy` (what can be left out), `probes` (for whoever follows a pass),
`placing` (code at the author's lines), `emit` (text and code), `legend` (what its names mean).
"""
