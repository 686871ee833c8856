"""An author's text to the intermediate form.

In reading order: `fence` (what is accepted), `unreachable` (what can never run), `desugar` (statements that
others can say, with `making`, which writes them, `generators`, `consumers` and `asking`, which holds what
such code asks of values), `ignoring` (blocks out of sight), `jumps` (break, continue and return as flags),
`readers` (functions of the author's that read an argument at once), `ownership`, `bindings` and `captures`
(who can see a change, which variables change, and where nested functions see it), `names`; then the
lowering: `lowering` (variables, blocks, joins), `loops`, `stopping` (StopIteration in them), `expressions`,
and the statements in `lower`; then
`spreading` (`*args` as parameters of their own), `opening` (what is in tuples, lists and dicts as parameters
of their own, with `unrolling`, a loop's body once for each), `held` (what captured functions hold, as
captured variables), `inlining` (bodies in place of calls), and `forwarding` (what these leave to be tidied).
"""
