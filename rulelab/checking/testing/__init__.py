"""What an author calls: `checks` runs every check of a rule, `testers` has the functions that start them,
`gradients` checks the gradient of any function, and `vjps` any function that returns a value and a pullback.
`meant` tells whether a function is written for some arguments, and `witness` adds what numbers say to a
proof.
"""
