"""The rules of other frameworks are judged like ours; each test needs its framework installed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from rulelab.checking import with_tangent
from rulelab.portability import judge_autograd, judge_jax, judge_torch
from rulelab.portability.judges import JudgeError
from rulelab.tangents.zeros import NoTangent

from .installed import framework

A = np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]])
B = np.array([[2.0, 0.5], [-1.0, 1.5], [0.75, -0.5]])
X = np.array([1.0, -2.0, 0.5])
MISTAKES = ("ignores its cotangent", "sign", "transposed")


def assert_wrong(report, mistake, by):
    """That a report of one of our three mistakes says wrong, of whom, and with numbers of both sides."""
    assert report.verdict == "wrong" and report.sentence.startswith(f"{by} is wrong: ")
    assert any("the rule gives" in line and "differences" in line for line in report.lines())
    found = {finding.check for finding in report.findings}
    assert ("linear" in found) == (mistake == "ignores its cotangent")
    assert {f.argument for f in report.findings if f.check == "cotangent of"} >= {"a"}


@pytest.mark.parametrize("judge", [judge_autograd, judge_torch, judge_jax])
def test_a_framework_that_is_not_installed_is_named(judge, monkeypatch):
    """Without the framework: one line that says so, and how to get it."""
    for name in ("jax", "torch", "autograd", "autograd.core"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(JudgeError, match="is not installed here") as refused:
        judge(np.sin, 1.0)
    assert refused.value.fixes[0].startswith("pip install ")


# --- PyTorch ------------------------------------------------------------------------------------------------


@pytest.fixture
def torch():
    return framework("torch")


def product_in_torch(torch, mistake=None):
    """a @ b with its backward, right or with a mistake."""

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        def backward(ctx, y_bar):
            a, b = ctx.saved_tensors
            if mistake == "ignores its cotangent":
                y_bar = torch.ones_like(y_bar)
            if mistake == "transposed":
                y_bar = y_bar.T
            return (-1 if mistake == "sign" else 1) * y_bar @ b.T, a.T @ y_bar

    return Product


@pytest.mark.slow
def test_a_right_backward_of_torch_is_right(torch):
    """Arrays or tensors, in double precision, by the name of the class."""
    product = product_in_torch(torch)
    report = judge_torch(product, A, B)
    assert report and report.sentence.startswith("the backward of Product is right at ")
    assert report.names == ("a", "b") and report.place.function == "backward"
    assert judge_torch(product, torch.tensor(A), torch.tensor(B), depth="quick") and not report.notes


@pytest.mark.every(3, slow=True)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_wrong_backwards_of_torch_are_wrong(torch, mistake):
    """The same words for PyTorch's mistakes as for ours."""
    report = judge_torch(product_in_torch(torch, mistake), A, B)
    assert_wrong(report, mistake, "the backward of Product")


@pytest.mark.slow
def test_arrays_that_torch_has_no_tensors_of_are_judged(torch):
    """Turned round, in memory that may not be written, in the other order of bytes: as any array."""
    turned, kept, swapped = A[::-1, ::-1], B.copy(), B.astype(">f8")
    kept.flags.writeable = False
    for a, b in ((turned, B), (A, kept), (A, swapped)):
        report = judge_torch(product_in_torch(torch), a, b, depth="quick")
        assert report and not report.notes


@pytest.mark.slow
def test_numbers_of_python_are_constants_for_torch(torch):
    """A number of Python's has no gradient in PyTorch: its None is no mistake."""

    class Power(torch.autograd.Function):
        @staticmethod
        def forward(x, n):
            return x**n

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.n = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, y_bar):
            (x,) = ctx.saved_tensors
            return y_bar * ctx.n * x ** (ctx.n - 1), None

    report = judge_torch(Power, X, 3)
    assert report and report.names == ("x",) and "held fixed: 3" in report.notes


@pytest.mark.slow
def test_several_outputs_and_complex_numbers_of_torch(torch):
    """A tuple of outputs; complex numbers by PyTorch's convention, which is ours."""

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            y = torch.exp(z)
            ctx.save_for_backward(y)
            return y, 2 * z

        @staticmethod
        def backward(ctx, first, second):
            (y,) = ctx.saved_tensors
            return first * y.conj() + 2 * second

    assert judge_torch(Both, X + 1j)


@pytest.mark.slow
def test_single_precision_is_said_and_judged_as_such(torch):
    """An answer in float32 is looked at with the tolerance of float32, and the report says so."""
    report = judge_torch(product_in_torch(torch), A.astype(np.float32), B.astype(np.float32))
    assert report.verdict != "wrong"
    assert "Product returns float32: judged with the tolerance of that precision" in report.notes


@pytest.mark.slow
def test_what_is_no_function_of_torch_is_refused(torch):
    """Another class, a function, or no floating-point argument: one line."""
    with pytest.raises(JudgeError, match=r"a subclass of torch.autograd.Function, not the class int"):
        judge_torch(int, X)
    with pytest.raises(JudgeError, match=r"not an object of class function"):
        judge_torch(lambda x: x, X)
    with pytest.raises(JudgeError, match="no floating-point number among the arguments at which Product"):
        judge_torch(product_in_torch(torch), 1, 2)


# --- HIPS autograd ------------------------------------------------------------------------------------------


@pytest.fixture
def autograd():
    return framework("autograd")


def product_in_autograd(mistake=None):
    from autograd.extend import defvjp, primitive

    @primitive
    def product(a, b):
        return a @ b

    def seen(y_bar):
        if mistake == "ignores its cotangent":
            return np.ones_like(y_bar)
        return y_bar.T if mistake == "transposed" else y_bar

    sign = -1 if mistake == "sign" else 1
    defvjp(
        product,
        lambda y, a, b: lambda y_bar: sign * seen(y_bar) @ b.T,
        lambda y, a, b: lambda y_bar: a.T @ seen(y_bar),
    )
    return product


def test_a_right_vjp_of_autograd_is_right(autograd):
    """A primitive with its vjps, by the names of what it wraps."""
    report = judge_autograd(product_in_autograd(), A, B)
    assert report and report.sentence.startswith("the vjp of product is right at ")
    assert report.names == ("a", "b")


@pytest.mark.every(2)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_wrong_vjps_of_autograd_are_wrong(autograd, mistake):
    """The same words for autograd's mistakes as for ours."""
    assert_wrong(judge_autograd(product_in_autograd(mistake), A, B), mistake, "the vjp of product")


def test_the_line_of_a_wrong_vjp_of_autograd_is_shown(autograd):
    """What `defvjp` was given for the argument is read: the line and the expression are those of its text."""
    from autograd.extend import defvjp, primitive

    @primitive
    def scaled(a, b):
        return a * b

    defvjp(
        scaled,
        lambda ans, a, b: lambda y_bar: y_bar * b,
        lambda ans, a, b: lambda y_bar: -y_bar * a,
    )
    place = judge_autograd(scaled, 2.0, 0.5).diagnoses[0].place
    assert place.source()[place.column : place.end_column] == "-y_bar * a"


def test_complex_numbers_of_autograd_are_understood(autograd):
    """autograd has the conjugates of our cotangents; its own rules come out right."""
    from autograd import numpy as anp

    assert judge_autograd(anp.exp, X + 1j)
    assert judge_autograd(anp.dot, A + 1j, B)


def test_a_missing_vjp_of_autograd_is_told(autograd):
    """An argument without a vjp is wrong by autograd's own words; held fixed, it is no matter."""
    from autograd.extend import defvjp, primitive

    @primitive
    def scaled(x, factor):
        return x * factor

    defvjp(scaled, lambda y, x, factor: lambda y_bar: y_bar * factor, argnums=(0,))
    report = judge_autograd(scaled, X, 2.0)
    assert report.verdict == "wrong" and "NotImplementedError" in report.sentence
    assert judge_autograd(scaled, X, with_tangent(2.0, NoTangent()))


# --- JAX ----------------------------------------------------------------------------------------------------


@pytest.fixture
def jax():
    return framework("jax")


def product_in_jax(jax, mistake=None):
    @jax.custom_vjp
    def product(a, b):
        return a @ b

    def product_bwd(kept, y_bar):
        a, b = kept
        if mistake == "ignores its cotangent":
            y_bar = jax.numpy.ones_like(y_bar)
        if mistake == "transposed":
            y_bar = y_bar.T
        return (-1 if mistake == "sign" else 1) * y_bar @ b.T, a.T @ y_bar

    product.defvjp(lambda a, b: (a @ b, (a, b)), product_bwd)
    return product


@pytest.mark.campaign
def test_a_right_custom_vjp_of_jax_is_right(jax):
    """Arrays of NumPy or JAX, in double precision, which is then off again."""
    product = product_in_jax(jax)
    report = judge_jax(product, A, B)
    assert report and report.sentence.startswith("the custom_vjp of product is right at ")
    assert report.names == ("a", "b") and report.place.function == "product_bwd" and not report.notes
    assert judge_jax(product, jax.numpy.asarray(A), B)
    assert jax.numpy.ones(1).dtype == np.float32


@pytest.mark.every(3, slow=True)
@pytest.mark.parametrize("mistake", MISTAKES[1:] + MISTAKES[:1])
def test_wrong_custom_vjps_of_jax_are_wrong(jax, mistake):
    """The same words for JAX's mistakes as for ours."""
    report = judge_jax(product_in_jax(jax, mistake), A, B, depth="quick")
    assert_wrong(report, mistake, "the custom_vjp of product")


@pytest.mark.slow
def test_static_arguments_structures_and_complex_numbers_of_jax(jax):
    """A static argument is handed over as it is; dicts of arrays; JAX's complex convention is understood."""
    from functools import partial

    @partial(jax.custom_vjp, nondiff_argnums=(1,))
    def power(p, n):
        return {"y": p["x"] ** n}

    power.defvjp(
        lambda p, n: (power(p, n), p["x"]),
        lambda n, x, y_bar: ({"x": y_bar["y"] * n * x ** (n - 1)},),
    )
    report = judge_jax(power, {"x": X}, 3)
    assert report and "held fixed: 3" in report.notes
    assert judge_jax(jax.numpy.exp, X + 1j).sentence.startswith("JAX's derivative of exp is right")
    with pytest.raises(JudgeError, match="judge_jax takes a function, not an object of class int"):
        judge_jax(3, 1.0)


@pytest.mark.campaign
def test_differences_may_be_taken_of_another_function(jax):
    """`primal=` is the function that the rule is for, in NumPy: a rule for something else is found."""
    product = product_in_jax(jax)
    assert judge_jax(product, A, B, primal=lambda a, b: a @ b)
    assert judge_jax(product, A, B, primal=lambda a, b: a @ b + a.sum()).verdict == "wrong"


def test_python_floats_reach_jax_as_its_arrays():
    """A rule may ask for their dtype, as it may of what it gets within JAX."""
    import types

    from rulelab.portability.judges import _arrays_of_jax

    stand_in = types.SimpleNamespace(numpy=types.SimpleNamespace(asarray=np.asarray))
    number, (other, whole), array = _arrays_of_jax(stand_in, (2.0, (1j, 3), X))
    assert number.dtype == float and other.dtype == complex and whole == 3 and array is X
