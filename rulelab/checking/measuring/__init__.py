"""Derivatives measured by finite differences, over arguments of any structure.

`vectors` turns any structure of numbers into one real vector and back, `copies` copies arguments quickly, and
`shortening` writes values on one line. `difference_methods` holds the methods in one variable (users import
them from `..findiff`), `differences` applies them to any structure, `oracles` gives derivatives with an error
bar, `measured_once` keeps the Jacobians that one check has measured, and `configs` holds the configurations
under which rules are called.
"""
