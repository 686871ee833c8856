"""The foundation: every other sub-package of the compiler imports from this one, and it imports from none.

In reading order: `source` (the author's source, found by the running code), `ir` (the intermediate form),
`liveness` (which names are assigned and read, where values join), `copying` (copies of statements),
`places` (the author's lines in running code), `libraries` and `installed` (who owns a function), `classes`
(what a class tells about its objects), `purity` (whether a function seems to change its arguments),
`deriving`, `derived` and `nesting` (which derivatives are being taken, of what, and how deeply nested),
`refusals` (the wording of refusals), `question` (the interface to whatever answers calls).
"""
