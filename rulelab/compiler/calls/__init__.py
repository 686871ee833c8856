"""What answers a call: a rule, the pass of the callee, a stand-in, or whatever Python itself would call.

In reading order: `call` (one call, as both modes see it), `templates` (the answers of forward mode), then a
module for each kind of call, which recognises and refuses it in one place for both modes: `plain` (running
without a derivative), `own_errors` (calls that fail in plain Python), `foreign`, `lost` (arguments without
a derivative), `built_in` and `by_author` (rules), `binding` (arguments to parameters), `captured` (which
captured variables are constants), `writing` (calls that write), `attributes`, `methods`, `operators`,
`in_place`, `filling` and `constructors` (classes), `counting` (arithmetic on Counters). `protocols`
(objects that convert to numbers), `piecemeal` (functions called on parts of arrays), `holders`, `cached`
(functions behind `functools.cache`), `iterators` and `stand_ins` (C functions with a stand-in in Python),
`borrowed` (arrays that other code may overwrite), `questions` (what Python asks of an object implicitly),
`samples` and `sites` (the call sites of one function), `remembered` (what one site has found before),
`passes` (a new pass, from text to code), `guards`, `cache` and `entries` (what is remembered, and for how
long), `on_floats` (a pass on Python's own numbers), `fused` (both sweeps in one function, for a gradient),
`taken_apart` and `opened` (gradients of the contents of containers, and of functions that are recreated for
each call), `pushing` (forward mode), `reversing` and `transposing` (reverse mode by way of forward),
`pullbacks` (the one question), `reading` (a pass as text).
"""
