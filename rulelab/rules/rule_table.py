"""Tables of built-in rules, one for each family of functions, with the points at which the rules are
checked.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from ..errors import Place, RuleRegistrationError
from .capabilities import capabilities
from .constant import constant_frule, constant_rrule
from .rule import Rule, StandIn
from .scalar import arity_of, scalar_frule, scalar_rrule
from .signatures import ANY, Accepts, accepts_of
from .targets import name_of, resolve

_READ: dict[int, tuple[object, object]] = {}  # annotations already read, by identity; there are few


class RuleTable:
    """The rules of one family. They are stated at import; `install` adds them to a registry in one step.

    `points` holds `(target, args, kwargs)` for each check point. A point is written as the tuple of
    arguments, or as `(args, kwargs)` with a tuple and a dict.

    >>> import math
    >>> table = RuleTable("python_math")
    >>> table.scalar(math.exp, lambda out, x: out, points=[(0.5,)])
    >>> table.points
    [(<built-in function exp>, (0.5,), {})]
    """

    def __init__(self, name, hands_out=False, rounds=False):
        self.name = name
        self.hands_out = hands_out  # the frules return parts of their arguments, with their tangents
        self.rounds = rounds  # the values may differ from those of the targets in the last digits
        self.rules = []  # (target, Rule)
        self.mutators = []  # (target, description)
        self.stand_ins = []  # (target, StandIn)
        self._stated_points = []
        self._names = {}  # names of targets, by identity

    @property
    def points(self):
        """The check points, in the order in which they were stated."""
        return self._stated_points

    def rrule(
        self,
        *targets,
        leading=1,
        points=(),
        differentiable=True,
        cotangents=(),
        requires=(),
        keyword_cotangents=False,
    ):
        """Decorator for a reverse rule of each target; it covers the first `leading` arguments, or all; with
        `keyword_cotangents` also the keywords of the call, in their order.

        With `differentiable=False` it is the rule of a constant, written out for its parameter names: an
        `out` among them identifies a positional `out`. `cotangents` are functions that compute each
        cotangent, with parameters identified by name (see `Rule`), for compiled code. With
        `requires={"reverse"}` the rule calls functions that it is given, with `config.rrule_via_ad(f,
        *args)`, and takes the config first.
        """
        needed = capabilities(requires)

        def stated(function):
            for target in _targets(targets):
                facts = {"leading": leading, "differentiable": differentiable, "cotangents": cotangents}
                facts["keyword_cotangents"] = keyword_cotangents
                accepts = accepts_of(function, 1 if needed else 0, _READ)
                self._add(target, "rrule", function, accepts, requires=needed, **facts)
                self._add_points(target, points)
            return function

        return stated

    def frule(
        self, *targets, points=(), differentiable=True, requires=(), keyword_tangents=False, linear=False
    ):
        """Decorator for a forward rule of each target, which takes the tangents first.

        With `requires={"forwards"}` the rule calls functions that it is given, with
        `config.frule_via_ad(tangents, f, *args)`, and takes the config before the tangents. With
        `keyword_tangents` its tangents include those of the call's keywords, at the end and in their order. A
        `linear` rule returns the function applied to the tangent of its first argument.
        """
        needed = capabilities(requires)

        def stated(function):
            for target in _targets(targets):
                accepts = accepts_of(function, 2 if needed else 1, _READ)
                facts = {"requires": needed, "keyword_tangents": keyword_tangents, "linear": linear}
                self._add(target, "frule", function, accepts, differentiable=differentiable, **facts)
                self._add_points(target, points)
            return function

        return stated

    def frules(self, *targets, **facts):
        """Decorator for a function `make(target)` that makes the forward rule of each target; `facts` are
        those of `frule`.
        """

        def stated(make):
            for target in targets:
                self.frule(target, **facts)(make(target))
            return make

        return stated

    def scalar(self, target, partials, points=(), frule=None, past=None, accepts=None, least=0):
        """State an elementwise rule in both modes: `lambda out, *xs:` returns one partial for each argument.
        Its annotations say which types it takes, unless `accepts` does. Calls with fewer than `least`
        arguments are left to another rule.

        An explicit `frule` is for a function whose second derivative is not that of its partials. With `past`
        the frule is the sum of the partials times the tangents, with each term replaced by the result of that
        function (see `Rule`).
        """
        (target,) = _targets((target,))
        accepts = replace(_accepts_partials(partials) if accepts is None else accepts, least=least)
        count, place = arity_of(partials), Place.of_function(partials)
        name = self._name(target)
        facts = {"leading": count, "place": place}
        reverse, forward = scalar_rrule(target, name, partials), frule or scalar_frule(target, name, partials)
        self._add(target, "rrule", reverse, accepts, partials=partials, **facts)
        # A tangent written out in partials takes one for each argument; with several results there are more.
        is_one = getattr(target, "nout", 1) == 1
        by_partials = {"partials": partials, "past": past} if is_one and (past or not frule) else {}
        self._add(target, "frule", forward, accepts, **by_partials, **facts)
        self._add_points(target, points)

    def non_differentiable(self, *targets, backwards_only=False):
        """State that these have no derivative: their results are constants. With `backwards_only` this holds
        for reverse mode; forward mode has a rule that examines the tangents.
        """
        frame = sys._getframe(1)  # only the line: finding the columns in a module's code is slow
        place = Place(frame.f_code.co_filename, frame.f_lineno, function=frame.f_code.co_name)
        accepts = Accepts((), ANY)
        for target in _targets(targets):
            name = self._name(target)
            self._add(
                target, "rrule", constant_rrule(target, name), accepts, place=place, differentiable=False
            )
            if not backwards_only:
                made = constant_frule(target, name)
                self._add(target, "frule", made, accepts, place=place, differentiable=False)

    def mutates(self, *targets, description=None):
        """State that these write to an argument, and their descriptions for messages."""
        self.mutators.extend((target, description or name_of(target)) for target in _targets(targets))

    def stands_in(self, *targets, rest=None, instead=None, reads_items=False, only=None):
        """Decorator for a plain Python function that does what the targets do and is differentiated in their
        place if no rule applies.

        It takes the same arguments. With `rest=k` those from position k on are passed as one tuple.
        `instead(*args)` selects calls that use the stand-in although there is a rule; `reads_items` means
        what `TABLE.reads_items` does. `only(*args)` may exclude calls without a rule.
        """

        def stated(function):
            for target in _targets(targets):
                self.stand_ins.append((target, StandIn(function, rest, instead, reads_items, only)))
            return function

        return stated

    def reads_items(self, *targets):
        """State that these read their first argument, any iterable, once from end to end and keep nothing: if
        their rules need a list, it may be replaced by the list of its items.
        """
        self.stand_ins.extend((target, StandIn(None, reads_items=True)) for target in _targets(targets))

    def install(self, registry):
        """Add all rows to the registry in one step."""
        registry.install(self.rules, self.mutators, self.stand_ins)

    def _add(self, target, mode, function, accepts, place=None, **facts):
        place = place or Place.of_function(function)
        facts["hands_out"] = self.hands_out and mode == "frule"
        facts["rounds"] = self.rounds
        rule = Rule(self._name(target), mode, function, accepts, place, built_in=True, pure=True, **facts)
        self.rules.append((target, rule))

    def _name(self, target):
        """The name of a target in messages. A target with a rule here is kept alive, so that its id is not
        reused.
        """
        name = self._names.get(id(target))
        if name is None:
            name = self._names[id(target)] = name_of(target)
        return name

    def _add_points(self, target, points):
        for point in points:
            args, kwargs = point if _has_keywords(point) else (point, {})
            self._stated_points.append((target, tuple(args), dict(kwargs)))

    def __repr__(self):
        return f"RuleTable({self.name!r}, {len(self.rules)} rules)"


def _has_keywords(point):
    """Whether a check point is written as arguments and keywords."""
    return len(point) == 2 and isinstance(point[0], tuple) and isinstance(point[1], dict)


def _targets(given):
    for target in given:
        resolved, bound = resolve(target)
        if bound:
            raise RuleRegistrationError(
                f"{name_of(resolved)} was given bound to an object; name it on its type"
            )
        yield resolved


def _accepts_partials(partials):
    return accepts_of(partials, 1, _READ)
