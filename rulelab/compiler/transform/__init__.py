"""From a lowered function to its sweeps, and from these to Python.

In reading order: `terms` (facts read off a term's text), `phrases` (pieces of text), `sweeps` (tools to write
both sweeps with), `specialise` (formulas where the types are certain), `reuse` (arrays whose memory is
reused), `formulas` (derivatives that are written out), `operations` (one operation in both sweeps), `stored`
(lists whose items are assigned to), `adjoint` (the branches, loops and handlers around operations),
`typed_tangents`, `open_values` (what may be written to) and `tangent` (forward mode, whose result is again a
lowered function), `holders` (which variables share a cotangent's memory), `spending` (values whose memory a
gradient reuses), `tidy` (what can be left out), `probes` (for tools that follow a pass), `placing` (code at
the author's lines), `emit` (text and code), `legend` (what the emitted names mean).
"""
