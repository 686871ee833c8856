"""Advice on how a rule is written, from its text alone.

`advices` holds the pieces of advice, `elementwise` and `repeated` two that need more room, `undefined`
finds undefined names, and `lint` puts them together as the public function.
"""
