"""Advice on how a rule is written, from its text only.

`advices` holds the pieces of advice, `elementwise` and `repeated` two that need more code, `undefined` finds
undefined names, and `lint` combines them in the public function.
"""
