"""What answers a call: a rule, the pass of the callee, a stand-in, or what Python itself would call.

In reading order: `call` (one call, as both modes see it), `templates` (what forward mode answers with), then
a module for each kind of call, in which what recognises and what refuses it is written once for both modes:
`plain` (running without a derivative), `own_errors` (of calls that fail by themselves), `foreign`, `lost`
(arguments without a derivative), `built_in` and `by_author` (rules), `binding` (arguments to parameters),
`captured` (which captured variables are constants), `writing` (calls that write), `attributes`, `methods`,
`operators`, `in_place`, `constructors` (classes). `protocols` (what classes say), `holders`, `iterators` and
`stand_ins` (functions of C that others stand for), `borrowed` (arrays that others may refill), `questions`
(what Python asks of an object in passing), `samples` and `sites` (the call sites of one function),
`remembered` (what one of them has found before), `passes` (a new pass, from text to code), `guards`, `cache`
and `entries` (what is remembered, and for how long), `on_floats` (a pass on Python's own numbers), `fused`
(both sweeps in one function, for a gradient), `taken_apart` and `opened` (gradients of what is in
containers, and of functions made again), `pushing` (forward), `reversing` and `transposing` (reverse mode by
what is known of forward), `pullbacks` (the one question), `reading` (a pass as text).
"""
