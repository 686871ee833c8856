"""What every other room stands on, and what needs none of them.

In reading order: `source` (the author's text, found by the code that runs), `ir` (the intermediate form),
`liveness` (which names are given and read, where values join), `copying` (copies of statements), `places`
(the author's lines in what runs), `libraries` and `installed` (whose a function is), `classes` (what a class
says by itself), `purity` (whether a text seems to change what it is given), `deriving`, `derived` and
`nesting` (which derivatives are being taken, of what, how deep), `refusals` (how refusals are worded),
`question` (what the parts ask of whoever answers calls, who is passed to them).
"""
