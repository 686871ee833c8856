"""Two functions side by side: `comparison` computes the values and gradients of a function and its twin, and
`compared` holds the differences and puts them into words.
"""
