"""What ChainRules offers to authors of rules, tool by tool: the rows of docs/coming-from/vocabulary.md.

A row has our spelling with an example, whose outputs are checked (vocabulary_table.py), or the reason why
there is nothing of the kind. The examples of one group share their names, as the cells of a notebook do.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One tool: its group on the page, its name in ChainRules, ours, an example or the reason for none."""

    group: str
    theirs: str
    ours: str
    example: str = ""
    reason: str = ""


ROWS: list[Row] = []


def row(group, theirs, ours="", example="", reason=""):
    """Put one tool on the page."""
    ROWS.append(Row(group, theirs, ours, example.strip("\n"), " ".join(reason.split())))


# --------------------------------------------------------------------------------------------------
STATING = "Defining a rule"

row(
    STATING,
    "`rrule(::typeof(f), x…)`: a reverse rule",
    "`@rl.rrule_for(f)`",
    """
>>> def cube(x):
...     return x**3
>>> @rl.rrule_for(cube)
... def cube_rrule(x):
...     def cube_pullback(y_bar):
...         return rl.NoTangent(), 3 * x**2 * y_bar
...     return x**3, cube_pullback
>>> rl.gradient(cube, 2.0)
(12.0,)
""",
)
row(
    STATING,
    "`frule((Δself, Δx…), f, x…)`: value and tangent in one go",
    "`@rl.frule_for(f)`",
    """
>>> def scaled(x):
...     return 3.0 * x
>>> @rl.frule_for(scaled)
... def scaled_frule(tangents, x):
...     return 3.0 * x, 3.0 * tangents[1]
>>> rl.pushforward(scaled, 2.0)(1.0)
3.0
""",
)
row(
    STATING,
    "`rrule(f, x…)` and `frule(…)` as calls; `nothing` where there is no rule",
    "`rl.rrule(f, *args)`, `rl.frule(tangents, f, *args)`; None",
    """
>>> y, back = rl.rrule(cube, 2.0)
>>> y, back(1.0)
(8.0, (NoTangent(), 12.0))
>>> rl.rrule(open, "data.txt") is None
True
>>> rl.frule((rl.NoTangent(), 1.0), scaled, 2.0)
(6.0, 3.0)
""",
)
row(
    STATING,
    "`rrule(::Type{T}, …)`: a rule for a constructor; a rule on `DataType` that catches them all",
    "a rule on the class itself; one on `type` is refused",
    """
>>> class Celsius:
...     def __init__(self, degrees):
...         self.degrees = degrees
>>> @rl.rrule_for(Celsius)
... def celsius_rrule(degrees):
...     def celsius_pullback(y_bar):
...         return rl.NoTangent(), y_bar.degrees
...     return Celsius(degrees), celsius_pullback
>>> rl.gradient(lambda x: Celsius(x).degrees ** 2, 3.0)
(6.0,)
>>> try:
...     rl.rrule_for(type)
... except rl.RuleRegistrationError as error:
...     print(error.found)
a rule on type would apply to every constructor or object there is
""",
)
row(
    STATING,
    "`rrule(f::Foo, x)`: a rule for a callable object, whose first cotangent is a `Tangent`",
    "a rule on `Foo.__call__`, or on any method; the object comes first",
    """
>>> class Line:
...     def __init__(self, slope):
...         self.slope = slope
...     def __call__(self, x):
...         return self.slope * x
>>> @rl.rrule_for(Line.__call__)
... def line_rrule(self, x):
...     def line_pullback(y_bar):
...         return rl.Tangent(Line, slope=x * y_bar), self.slope * y_bar
...     return self.slope * x, line_pullback
>>> rl.gradient(lambda line, x: line(x), Line(2.0), 3.0)
(Line(slope=3.0), 2.0)
""",
)
row(
    STATING,
    "methods by argument types; the most specific wins, a tie is an error",
    "annotations of the rule's parameters; the same",
    """
>>> def size(x):
...     return np.sum(x * x)
>>> @rl.rrule_for(size)
... def size_of_number_rrule(x: float):
...     return x * x, lambda y_bar: (rl.NoTangent(), 2 * x * y_bar)
>>> @rl.rrule_for(size)
... def size_of_array_rrule(x: np.ndarray):
...     return np.sum(x * x), lambda y_bar: (rl.NoTangent(), 2 * x * y_bar)
>>> rl.which_rule(size, 2.0).rule.function.__name__, rl.which_rule(size, np.ones(2)).rule.function.__name__
('size_of_number_rrule', 'size_of_array_rrule')
>>> def tied(x, y):
...     return x * y
>>> @rl.rrule_for(tied)
... def first_rrule(x: float, y): ...
>>> @rl.rrule_for(tied)
... def second_rrule(x, y: float): ...
>>> try:
...     rl.gradient(tied, 2.0, 3.0)
... except rl.AmbiguousRuleError as error:
...     print(error.found.split(":")[0], "first_rrule" in error.found, "second_rrule" in error.found)
two rules for tied fit equally well True True
""",
)
row(
    STATING,
    "a rule that computes the value in its own way, and keeps what its pullback needs",
    "the same; what the rule returns is the value",
    """
>>> def square_and_root(x):
...     return np.sqrt(x * x)
>>> @rl.rrule_for(square_and_root)
... def square_and_root_rrule(x):
...     y = abs(x)
...     def square_and_root_pullback(y_bar):
...         return rl.NoTangent(), y_bar * np.sign(x)
...     return y, square_and_root_pullback
>>> rl.withgradient(square_and_root, -2.0)
WithGradient(val=2.0, grad=(-1.0,))
""",
)
row(
    STATING,
    "a pullback with a name of its own, for stack traces",
    "a `def` in the rule; errors show name and line",
    """
>>> def half(x):
...     return x / 2
>>> @rl.rrule_for(half)
... def half_rrule(x):
...     def half_pullback(y_bar):
...         return y_bar / 2
...     return x / 2, half_pullback
>>> try:
...     rl.gradient(half, 1.0)
... except rl.RuleError as error:
...     print(error.found)
half_pullback must return a tuple of cotangents, not a float
""",
)
row(
    STATING,
    "several outputs: the pullback gets a `Tangent` of the tuple",
    "the same; it can be unpacked",
    """
>>> def polar(r, t):
...     return r * np.cos(t), r * np.sin(t)
>>> @rl.rrule_for(polar)
... def polar_rrule(r, t):
...     c, s = np.cos(t), np.sin(t)
...     def polar_pullback(y_bar):
...         a, b = y_bar
...         return rl.NoTangent(), a * c + b * s, r * (b * c - a * s)
...     return (r * c, r * s), polar_pullback
>>> rl.gradient(lambda r, t: polar(r, t)[1], 2.0, 0.0)
(0.0, 2.0)
""",
)
row(
    STATING,
    "a rule as the only way through a foreign call",
    "a rule on the C function, found at every call of it",
    """
>>> import ctypes
>>> in_c = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x**3)
>>> def cubed_in_c(x):
...     return in_c(x)
>>> try:
...     rl.gradient(cubed_in_c, 2.0)
... except rl.RuleLabError as error:
...     print(type(error).__name__)
ForeignCallError
>>> @rl.rrule_for(cubed_in_c)
... def cubed_in_c_rrule(x):
...     def cubed_in_c_pullback(y_bar):
...         return rl.NoTangent(), 3 * x**2 * y_bar
...     return cubed_in_c(x), cubed_in_c_pullback
>>> rl.gradient(cubed_in_c, 2.0)
(12.0,)
""",
)
row(
    STATING,
    "a rule for speed: a loop whose derivative is one expression",
    "the same; the loop need not be changed",
    """
>>> def power_sum(x):
...     s = 0.0
...     for v in x:
...         s = s + v**3
...     return s
>>> @rl.rrule_for(power_sum)
... def power_sum_rrule(x: np.ndarray):
...     def power_sum_pullback(y_bar):
...         return rl.NoTangent(), 3 * x**2 * y_bar
...     return np.sum(x**3), power_sum_pullback
>>> rl.gradient(power_sum, np.array([1.0, 2.0]))
(array([ 3., 12.]),)
""",
)
row(
    STATING,
    "a rule for accumulation: one array for the cotangents of single elements",
    "the same; in a loop that it compiles, the compiler makes one array by itself",
    """
>>> def of_three(x):
...     return x[0] + x[1] + x[2]
>>> @rl.rrule_for(of_three)
... def of_three_rrule(x):
...     def of_three_pullback(y_bar):
...         x_bar = np.zeros_like(x)
...         x_bar[:3] = y_bar
...         return rl.NoTangent(), x_bar
...     return of_three(x), of_three_pullback
>>> rl.gradient(of_three, np.ones(4))
(array([1., 1., 1., 0.]),)
""",
)
row(
    STATING,
    "a rule from mathematics that the code does not show: an integral with respect to its limit",
    "the same; its other derivative may be left unimplemented",
    """
>>> def area(f, upper, n=1000):
...     h = upper / n
...     return h * sum([f((i + 0.5) * h) for i in range(n)])
>>> @rl.rrule_for(area)
... def area_rrule(f, upper, n=1000):
...     def area_pullback(y_bar):
...         return rl.NoTangent(), rl.not_implemented("by f"), f(upper) * y_bar, rl.NoTangent()
...     return area(f, upper, n), area_pullback
>>> rl.gradient(lambda b: area(np.cos, b), 0.0)
(1.0,)
""",
)
row(
    STATING,
    "comparing `f` with a copy `f_cr` that carries the rule",
    "`rl.twin(f, name)`, `rl.compare(f, f_cr, *args)`",
    """
>>> def mse(a, b):
...     return np.sum((a - b) ** 2) / len(a)
>>> mse_cr = rl.twin(mse, "mse_cr")
>>> @rl.rrule_for(mse_cr)
... def mse_cr_rrule(a, b):
...     d = a - b
...     def mse_cr_pullback(y_bar):
...         return rl.NoTangent(), 2 * d * y_bar / len(a), -2 * d * y_bar / len(a)
...     return np.sum(d * d) / len(a), mse_cr_pullback
>>> rl.compare(mse, mse_cr, np.array([1.0, 2.0]), np.array([3.0, 5.0])).agree
True
""",
)
row(
    STATING,
    "checking a rule with a computer-algebra system, by hand",
    "`rulelab.symbolic.prove`, `%rule_symbolic`",
    """
>>> from rulelab.symbolic import prove
>>> prove(cube, cube_rrule).verdict.word
'PROVED'
""",
)
row(
    STATING,
    "no rules for functions that change their arguments",
    "refused when a derivative is taken through them, and when a rule for one is seen to change an argument",
    """
>>> def doubles(x):
...     x *= 2
...     return np.sum(x)
>>> try:
...     rl.gradient(doubles, np.ones(2))
... except rl.MutationError as error:
...     print(error.found)
Mutating arrays is not supported -- called ndarray.__imul__(float64[2])
""",
)
row(
    STATING,
    "which functions need a rule",
    "the error that names the call, and `rl.rule_stub`, which writes the skeleton of the rule",
    """
>>> print(rl.rule_stub(cube).splitlines()[0])
@rl.rrule_for(cube)
""",
)
row(
    STATING,
    "`Zygote.@adjoint`, the older form without the function's own cotangent",
    reason="""
    An importer would have to guess what `nothing` in it meant, zero or none. The rewriting is short: put
    `rl.NoTangent()` first, and say `rl.ZeroTangent()` or `rl.NoTangent()` for each `nothing`.""",
)
row(
    STATING,
    "a recipe for converting rules of the older form",
    "None in what a rule returns is an error that says which of the two zeros to write",
    """
>>> @rl.rrule_for(half)
... def half_rrule(x):
...     def half_pullback(y_bar):
...         return rl.NoTangent(), None
...     return x / 2, half_pullback
>>> try:
...     rl.gradient(half, 1.0)
... except rl.RuleError as error:
...     print(error.fixes[0])
return rl.ZeroTangent() if its derivative is zero, rl.NoTangent() if it has none
""",
)

# --------------------------------------------------------------------------------------------------
VALUES = "The values that flow"

row(
    VALUES,
    "`NoTangent()`: there is no direction to move in",
    "`rl.NoTangent()`; None in a gradient",
    """
>>> rl.gradient(lambda x, name: x * len(name), 2.0, "abc")
(3.0, None)
>>> rl.NoTangent() is rl.NoTangent(), rl.NoTangent() * 3.0, rl.NoTangent() + 3.0
(True, NoTangent(), 3.0)
""",
)
row(
    VALUES,
    "`ZeroTangent()`: moving has no effect",
    "`rl.ZeroTangent()`; zeros in a gradient",
    """
>>> x_bar, y_bar = rl.ZeroTangent()
>>> x_bar + 2.0, 2.0 * y_bar, x_bar[0], x_bar.weight
(2.0, ZeroTangent(), ZeroTangent(), ZeroTangent())
""",
)
row(
    VALUES,
    "what zeros have in common: an index, a field or a part of one is zero again; `Zero + No` is `No`",
    "the same; there is one object of each kind, and it is false",
    """
>>> rl.ZeroTangent() + rl.NoTangent(), bool(rl.ZeroTangent())
(NoTangent(), False)
>>> isinstance(rl.ZeroTangent(), (rl.NoTangent, rl.ZeroTangent))
True
""",
)
row(
    VALUES,
    "the difference between the two",
    "a string has no derivative; a number that is not used has the derivative zero",
    """
>>> rl.ProjectTo("name")(1.0), rl.ProjectTo(2.0)(rl.ZeroTangent())
(NoTangent(), ZeroTangent())
""",
)
row(
    VALUES,
    "`NO_FIELDS`, `DoesNotExist`, `Zero`, `Composite`: names of older texts",
    "the same, with a warning that gives the current name ([older names](../reference/old-names.md))",
    """
>>> with warnings.catch_warnings(record=True) as caught:
...     warnings.simplefilter("always")
...     rl.NO_FIELDS, rl.Zero is rl.ZeroTangent, rl.Composite is rl.Tangent
(NoTangent(), True, True)
>>> print(caught[0].message)
NO_FIELDS is the older name; use NoTangent()
""",
)
row(
    VALUES,
    "`One()`: the multiplicative identity of older texts",
    "`rl.One()`: a product with it is the other factor itself, uncomputed",
    """
>>> with warnings.catch_warnings():
...     warnings.simplefilter("ignore")
...     one = rl.One()
>>> x_bar, costly = np.ones(2, np.float32), rl.thunk(lambda: 1 / 0)
>>> one * x_bar is x_bar, costly * one is costly, (x_bar + one).dtype
(True, True, dtype('float32'))
""",
)
row(
    VALUES,
    "`Tangent{P}(…)`: cotangent of a structure; a missing field reads zero; `+`, scalar `*`",
    "`rl.Tangent(P, …)` for tuples, lists, dicts, NamedTuples, dataclasses, objects",
    """
>>> import dataclasses
>>> @dataclasses.dataclass
... class Point:
...     x: float
...     y: float = 0.0
>>> t = rl.Tangent(Point, x=1.0)
>>> t.y, t + t, 2.0 * rl.Tangent(tuple, 1.0, rl.ZeroTangent())
(ZeroTangent(), Tangent(Point, x=2.0), Tangent(tuple, 2.0, ZeroTangent()))
""",
)
row(
    VALUES,
    "`canonicalize(t)`: every field present",
    "`rl.canonicalize(t)`",
    """
>>> rl.canonicalize(rl.Tangent(Point, y=2.0))
Tangent(Point, x=ZeroTangent(), y=2.0)
""",
)
row(
    VALUES,
    "primal + tangent is a primal, made by its constructor",
    "the same; fields that the constructor does not take are set on a copy",
    """
>>> Point(1.0, 2.0) + rl.Tangent(Point, x=0.5)
Point(x=1.5, y=2.0)
>>> {"w": 1.0} + rl.Tangent(dict, {"w": 1.0})
{'w': 2.0}
""",
)
row(
    VALUES,
    "`zero_tangent(x)`: the zero with every part written out",
    "`rl.zero_tangent(x)`",
    """
>>> rl.zero_tangent((np.array([1, 2]), "name"))
Tangent(tuple, array([0., 0.]), NoTangent())
""",
)
row(
    VALUES,
    "`MutableTangent`, experimental",
    reason="""
    A cotangent never changes once it is created, so one object can be passed to several rules.
    Mutable objects get theirs in the compiled pass, by identity; a rule returns `rl.Tangent(cls, …)`.""",
)
row(
    VALUES,
    "`@thunk(expr)`, `unthunk`: computed when needed, at most once",
    "`rl.thunk(lambda: expr)`, `rl.unthunk`",
    """
>>> t = rl.thunk(lambda: 2.0)
>>> t, t + rl.ZeroTangent() is t, t
(Thunk(…), True, Thunk(…))
>>> t + 1.0, t, rl.unthunk(t)
(3.0, Thunk(2.0), 2.0)
""",
)
row(
    VALUES,
    "`InplaceableThunk(add!, thunk)`: can also add itself into an array",
    "`rl.InplaceableThunk(add_into, value)`",
    """
>>> t = rl.InplaceableThunk(lambda acc: np.add(acc, 1.0, out=acc), lambda: np.ones(2))
>>> acc = np.zeros(2)
>>> rl.add_into(acc, t) is acc, acc
(True, array([1., 1.]))
""",
)
row(
    VALUES,
    "writing to a thunk is an error",
    "the same, also by a method of its array or by a NumPy function",
    """
>>> try:
...     rl.thunk(lambda: np.zeros(2)).fill(1.0)
... except rl.ThunkMutationError as error:
...     print(error.found)
Tried to mutate a thunk, this is not supported. `unthunk` it first.
""",
)
row(
    VALUES,
    "`@not_implemented(message)`",
    '`rl.not_implemented("why")`; a sum keeps it; an error is raised where its value is needed',
    """
>>> x_bar = rl.not_implemented("derivative with respect to the order of a Bessel function")
>>> (x_bar + 1.0) is x_bar
True
>>> try:
...     2.0 * x_bar
... except rl.NotImplementedTangentError as error:
...     print(error.found)
tangent not implemented: derivative with respect to the order of a Bessel function
""",
)
row(
    VALUES,
    "natural and structural tangents",
    "for an array an array, for a number a number, for anything else a `Tangent`",
    """
>>> rl.ProjectTo(np.zeros(2))(np.ones(2)), rl.ProjectTo([0.0, 0.0])(np.ones(2))
(array([1., 1.]), Tangent(list, 1.0, 1.0))
""",
)
row(
    VALUES,
    "the operations that a tangent must have",
    "`+` and a scalar `*`; the result is then projected to the primal",
    """
>>> class Dual:
...     def __init__(self, a, b):
...         self.a, self.b = a, b
>>> t = rl.Tangent(Dual, a=1.0) + 2.0 * rl.Tangent(Dual, b=np.ones(2))
>>> t.a, t.b
(1.0, array([2., 2.]))
""",
)
row(
    VALUES,
    "debug mode",
    "`rl.debug_mode()`: every rule of yours is watched, and every derived value is compared",
    """
>>> def tripled(x):
...     return 3 * x
>>> @rl.rrule_for(tripled)
... def tripled_rrule(x):
...     return 3 * x, lambda y_bar: (rl.NoTangent(), y_bar[:1])
>>> with rl.debug_mode():
...     try:
...         rl.gradient(lambda x: np.sum(tripled(x)), np.ones(2))
...     except rl.RuleError as error:
...         print(type(error).__name__)
RuleShapeError
""",
)

# --------------------------------------------------------------------------------------------------
HELPERS = "Shorter ways to a rule"

row(
    HELPERS,
    "`@scalar_rule f(x, y) (∂x, ∂y)`: both rules from partial derivatives",
    "`rl.scalar_rule(f, lambda out, x, y: (…, …))`; broadcasts, projects, conjugates in reverse",
    """
>>> def hyp(x, y):
...     return (x * x + y * y) ** 0.5
>>> rl.scalar_rule(hyp, lambda out, x, y: (x / out, y / out))
>>> rl.gradient(hyp, 3.0, 4.0), rl.pushforward(hyp, 3.0, 4.0)(1.0, 0.0)
((0.6, 0.8), 0.6)
>>> rl.gradient(lambda x: np.sum(hyp(x, 4.0)), np.array([3.0, 0.0]))
(array([0.6, 0. ]),)
""",
)
row(
    HELPERS,
    "`@scalar_rule` for several outputs, and with `@setup`",
    "a tuple of partials for each output; a `def` in place of the lambda has room for the set-up",
    """
>>> def sincos(x):
...     return np.sin(x), np.cos(x)
>>> def sincos_partials(out, x):
...     s, c = out
...     return (c,), (-s,)
>>> rl.scalar_rule(sincos, sincos_partials)
>>> rl.gradient(lambda x: sincos(x)[0] + sincos(x)[1], 0.0)
(1.0,)
""",
)
row(
    HELPERS,
    "`@scalar_rule` cannot be used on closures",
    "the same; the error says what the function closes over",
    """
>>> def scaled_by(k):
...     return lambda x: k * x
>>> try:
...     rl.scalar_rule(scaled_by(2.0), lambda out, x: 2.0)
... except rl.RuleRegistrationError as error:
...     print("closes over k" in str(error))
True
""",
)
row(
    HELPERS,
    "`@non_differentiable f(::Any)`",
    "`rl.non_differentiable(f, types=None)`",
    """
>>> def nearest(x):
...     return float(int(x + 0.5))
>>> rl.non_differentiable(nearest)
>>> rl.gradient(lambda x: nearest(x) * x, 2.7)
(3.0,)
""",
)
row(
    HELPERS,
    "`@opt_out rrule(f, ::T)`, `no_rrule`",
    "`rl.opt_out(f, T, mode=None)`",
    """
>>> rl.opt_out(hyp, int, int)
>>> rl.has_rrule(hyp, 3.0, 4.0), rl.has_rrule(hyp, 3, 4)
(True, False)
""",
)
row(
    HELPERS,
    "`ignore_derivatives`: of a value, of a function",
    "`rl.ignore_derivatives(value_or_function)`",
    """
>>> rl.gradient(lambda x: x * rl.ignore_derivatives(x), 3.0)
(3.0,)
>>> rl.gradient(lambda x: x * rl.ignore_derivatives(lambda: x * x), 3.0)
(9.0,)
""",
)
row(
    HELPERS,
    "`derivatives_given_output(out, f, x…)`",
    "the partials of a scalar rule are kept with it",
    """
>>> rl.which_rule(hyp, 3.0, 4.0).rule.partials(5.0, 3.0, 4.0)
(0.6, 0.8)
""",
)
row(
    HELPERS,
    "`realdot(x, y)`: the real part of the inner product",
    "NumPy has it: `np.vdot(x, y).real`",
    """
>>> np.vdot([1 + 1j, 2], [3, 1j]).real
np.float64(3.0)
""",
)
row(
    HELPERS,
    "`muladd` that keeps zeros",
    "`a * b + c`: the operators handle the zeros",
    """
>>> 2.0 * rl.ZeroTangent() + 1.0, rl.NoTangent() * 2.0 + rl.ZeroTangent()
(1.0, NoTangent())
""",
)
row(
    HELPERS,
    "`ProjectTo` in a rule",
    "not needed: what a rule returns is projected; use `rl.ProjectTo` to do it sooner",
    """
>>> def third(x):
...     return x / 3
>>> @rl.rrule_for(third)
... def third_rrule(x):
...     def third_pullback(y_bar):
...         return rl.NoTangent(), y_bar * (0.25 + 1j)
...     return x / 3, third_pullback
>>> rl.gradient(third, np.float32(3.0))  # real, and as wide as the argument
(np.float32(0.25),)
>>> rl.ProjectTo(np.float32(3.0))(0.25 + 1j)
np.float32(0.25)
""",
)
row(
    HELPERS,
    "`test_method_tables`: rules attached to the wrong type",
    "refused when defined; `%rules` lists the existing rules, `%rule_lint` looks at each",
    """
>>> for target in (type, object, object.__init__):
...     try:
...         rl.rrule_for(target)
...     except rl.RuleRegistrationError as error:
...         print(error.found.split(" would ")[1])
apply to every constructor or object there is
apply to every constructor or object there is
apply to every constructor or object there is
""",
)
row(
    HELPERS,
    "packages of rules that need no AD",
    "`import rulelab` loads NumPy and nothing heavier; a module of rules needs no notebook",
    """
>>> import subprocess, sys
>>> code = "import sys, rulelab; print({'IPython', 'sympy', 'scipy'} & set(sys.modules))"
>>> subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip()
'set()'
""",
)

# --------------------------------------------------------------------------------------------------
ASKING = "Rules that call back into the AD"

row(
    ASKING,
    "`RuleConfig{>:HasReverseMode}`: a rule for ADs that can do something",
    '`@rl.rrule_for(f, requires={"reverse"})`; the rule takes `config` first',
    """
>>> def twice(f, x):
...     return f(f(x))
>>> @rl.rrule_for(twice, requires={"reverse"})
... def twice_rrule(config, f, x):
...     y1, back1 = config.rrule_via_ad(f, x)
...     y2, back2 = config.rrule_via_ad(f, y1)
...     def twice_pullback(y_bar):
...         f_bar_2, y1_bar = back2(y_bar)
...         f_bar_1, x_bar = back1(y1_bar)
...         return rl.NoTangent(), f_bar_1 + f_bar_2, x_bar
...     return y2, twice_pullback
>>> rl.gradient(lambda x: twice(lambda v: v * v, x), 3.0)
(108.0,)
""",
)
row(
    ASKING,
    "a rule with a config wins over one without",
    "the same",
    """
>>> @rl.rrule_for(twice)
... def plain_twice_rrule(f, x):
...     return f(f(x)), lambda y_bar: (rl.NoTangent(), rl.NoTangent(), rl.not_implemented("by hand"))
>>> rl.gradient(lambda x: twice(lambda v: v * v, x), 3.0)
(108.0,)
""",
)
row(
    ASKING,
    "`rrule_via_ad(config, f, x…)`, `frule_via_ad(config, …)`",
    "`config.rrule_via_ad(f, *args)`, `config.frule_via_ad(tangents, f, *args)`",
    """
>>> @rl.frule_for(twice, requires={"forwards"})
... def twice_frule(config, tangents, f, x):
...     _, f_dot, x_dot = tangents
...     y, y_dot = config.frule_via_ad((f_dot, x_dot), f, x)
...     return config.frule_via_ad((f_dot, y_dot), f, y)
>>> rl.pushforward(lambda x: twice(lambda v: v * v, x), 3.0)(1.0)
108.0
""",
)
row(
    ASKING,
    "a config of one's own, for one AD",
    "`rl.RuleConfig(reverse=…, forwards=…)`, passed to `rl.rrule`",
    """
>>> mine = rl.RuleConfig(reverse=lambda f, *args: rl.rrule(f, *args))
>>> rl.HasReverseMode in mine.traits, rl.NoForwardsMode in mine.traits
(True, True)
>>> y, back = rl.rrule(twice, np.exp, 0.0, config=mine)
>>> round(float(back(1.0)[2]), 6)
2.718282
""",
)
row(
    ASKING,
    "for authors of an AD: whether there is a rule, and whether it was opted out of",
    "`rl.has_rrule`, `rl.which_rule`; a rule that was found, none, and an opt-out are told apart",
    """
>>> rl.opt_out(twice)
>>> rl.has_rrule(twice, np.exp, 0.0), rl.which_rule(twice, np.exp, 0.0).opt_out is not None
(False, True)
>>> rl.which_rule(input, "a number: ")
no rrule for input(str)
""",
)
row(
    ASKING,
    "one rule for several ADs, imported by each",
    reason="""
    A rule is a plain Python function, which any program can call by `rl.rrule`. For JAX, PyTorch,
    autograd and ChainRules, `%rule_export` writes it as a rule of their own.""",
)

# --------------------------------------------------------------------------------------------------
ADDING = "Accumulation"

row(
    ADDING,
    "the gradient of `x[i]` in a loop makes an array of zeros for every index",
    "one buffer per array, written in place, if it belongs to the pass",
    """
>>> def total(x):
...     s = 0.0
...     for i in range(len(x)):
...         s = s + x[i] * x[i]
...     return s
>>> rl.gradient(total, np.array([1.0, 2.0, 3.0]))
(array([2., 4., 6.]),)
""",
)
row(
    ADDING,
    "`add!!(acc, t)`: the sum, in place where that gives the same result",
    "`rl.add_into(acc, t)`; use what it returns",
    """
>>> acc = np.zeros(2)
>>> rl.add_into(acc, np.ones(2)) is acc, rl.add_into(acc, np.array([1j, 0])), acc
(True, array([1.+1.j, 1.+0.j]), array([1., 1.]))
""",
)
row(
    ADDING,
    "`is_inplaceable_destination(x)`",
    "`rl.is_inplaceable(acc)`",
    """
>>> rl.is_inplaceable(np.zeros(2)), rl.is_inplaceable(np.broadcast_to(0.0, 2)), rl.is_inplaceable(0.0)
(True, False, False)
""",
)
row(
    ADDING,
    "`BadInplaceException`: an in-place form that does not return the sum",
    "an error that names the form",
    """
>>> def forgetful(acc):
...     acc += 1.0
>>> try:
...     rl.add_into(np.zeros(2), rl.InplaceableThunk(forgetful, lambda: np.ones(2)))
... except rl.RuleError as error:
...     print(error.found)
the add_into of forgetful must return the array it added to, not a NoneType
""",
)
row(
    ADDING,
    "a rule must not write to the cotangent it is given",
    "the same advice, enforced by `rl.debug_mode()`; even without it the seed and other sums stay unchanged",
    """
>>> def doubled(x):
...     return 2 * x
>>> @rl.rrule_for(doubled)
... def doubled_rrule(x):
...     def doubled_pullback(y_bar):
...         y_bar *= 2
...         return rl.NoTangent(), y_bar
...     return 2 * x, doubled_pullback
>>> rl.gradient(lambda x: np.sum(doubled(x) + x), np.ones(2))
(array([3., 3.]),)
>>> y, back = rl.pullback(doubled, np.ones(2))
>>> seed = np.ones(2)
>>> back(seed), seed
((array([2., 2.]),), array([1., 1.]))
>>> with rl.debug_mode():
...     try:
...         rl.gradient(lambda x: np.sum(doubled(x)), np.ones(2))
...     except rl.RuleEffectsError as error:
...         print(error.found)
doubled_pullback changed its cotangent, which belongs to the caller
""",
)
row(
    ADDING,
    "what the AD does with thunks",
    "it leaves them alone until a value is needed; a thunk that is not needed never runs",
    """
>>> ran = []
>>> def product(a, x):
...     return a * x
>>> @rl.rrule_for(product)
... def product_rrule(a, x):
...     def product_pullback(y_bar):
...         a_bar = rl.thunk(lambda: (ran.append("a"), y_bar * x)[1])
...         x_bar = rl.thunk(lambda: (ran.append("x"), y_bar * a)[1])
...         return rl.NoTangent(), a_bar, x_bar
...     return a * x, product_pullback
>>> rl.gradient(lambda x: product(2.0, x), 3.0), ran
((2.0,), ['x'])
""",
)

# --------------------------------------------------------------------------------------------------
PROJECTING = "Projection"

row(
    PROJECTING,
    "`ProjectTo(x)(dx)`: real part for reals, float width kept, ints to floats, none for bool and text",
    "`rl.ProjectTo(x)(x_bar)`",
    """
>>> rl.ProjectTo(1.0)(2 + 3j), rl.ProjectTo(np.float32(1))(2.0), rl.ProjectTo(3)(2)
(2.0, np.float32(2.0), 2.0)
>>> rl.ProjectTo(True)(1.0), rl.ProjectTo("text")(1.0)
(NoTangent(), NoTangent())
""",
)
row(
    PROJECTING,
    "structured and sparse matrices keep their structure",
    reason="""
    NumPy arrays are dense, so there is no pattern to keep: a rule that wants a symmetric or triangular
    cotangent makes it so. SciPy's sparse matrices are not differentiated.""",
)
row(
    PROJECTING,
    "shapes: `(n, 1)` to `(n,)` reshaped, `(1, n)` refused, 0-d made from numbers",
    "the same; the error names both shapes",
    """
>>> rl.ProjectTo(np.zeros(2))(np.ones((2, 1))), rl.ProjectTo(np.array(0.0))(1)
(array([1., 1.]), array(1.))
>>> try:
...     rl.ProjectTo(np.zeros(2))(np.ones((1, 2)))
... except rl.RuleShapeError as error:
...     print(error.found)
variable with shape (2,) cannot have a gradient with shape (1, 2)
""",
)
row(
    PROJECTING,
    "inside thunks",
    "the same; nothing is computed by projecting",
    """
>>> t = rl.ProjectTo(np.zeros(2, np.float32))(rl.thunk(lambda: np.ones(2)))
>>> t
Thunk(…)
>>> rl.unthunk(t).dtype
dtype('float32')
""",
)
row(
    PROJECTING,
    "tuples, named tuples, `Ref`: part by part, another length refused",
    "tuples, lists, dicts, NamedTuples, dataclasses, objects",
    """
>>> rl.ProjectTo((1.0, "a", [2]))((1 + 1j, 5.0, [3]))
Tangent(tuple, 1.0, NoTangent(), Tangent(list, 3.0))
>>> try:
...     rl.ProjectTo((1.0, 2.0))((1.0,))
... except rl.RuleShapeError as error:
...     print(error.found)
a tuple of length 2 cannot have a gradient of length 1
""",
)
row(
    PROJECTING,
    "results of `gradient` are projected",
    "the same; shape, dtype and structure are those of the argument",
    """
>>> rl.gradient(lambda x: np.sum(x) * 1.5, np.ones(2, np.float32))
(array([1.5, 1.5], dtype=float32),)
>>> rl.gradient(lambda p: p["a"] * p["n"], {"a": 2.0, "n": 3})
({'a': 3.0, 'n': 2.0},)
""",
)
row(
    PROJECTING,
    "a projection that loses something that was wanted, such as the imaginary part",
    reason="""
    It cannot be switched off: a real argument always has a real gradient. For the imaginary part,
    pass a complex argument.""",
)
