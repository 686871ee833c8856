"""Statements translated to JAX: immutable arrays, and branches on values by `lax.cond`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ..parsing import nodes_of
from .anatomy import written
from .translation import Translator, made
from .words import FFT, LIKE, LINALG_IN_JAX, MAKERS, RENAMED_IN_JAX, SAME_IN_JAX, SPECIAL


class ToJax(Translator):
    """What varies is traced: its value is unknown at trace time, its shape and dtype are known."""

    framework = "JAX"
    traces = True

    # --- statements -----------------------------------------------------------------------------------------

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        bound = getattr(self, "bound", set(self.parameters))
        for i, statement in enumerate(statements):
            self.bound = set(bound)
            if isinstance(statement, ast.If) and not self.facts.is_static(statement.test):
                if any(isinstance(n, ast.Return) for n in nodes_of(statement)):
                    return found + self._returning(statement, statements[i + 1 :])
                found += self._choosing(statement)
            else:
                found += self.statement(statement)
            bound |= written([statement])
        return found

    def _returning(self, node: ast.If, rest: Sequence[ast.stmt]) -> list[ast.stmt]:
        """`if c: return a`, followed by `return b`."""
        both = [node.body, [*node.orelse, *rest]]
        for part in both:
            if not part or not isinstance(part[-1], (ast.Return, ast.If)):
                raise self.refuse(
                    node, "JAX does not know which branch is taken, and one of them has no `return`"
                )
        if all(len(part) == 1 and isinstance(part[0], ast.Return) and part[0].value for part in both):
            values = [self.branch_value(part[0].value) for part in both]  # type: ignore[attr-defined]
            return [
                ast.Return(
                    made(
                        "jax.lax.cond(c, lambda: a, lambda: b)",
                        c=self.truth(node.test),
                        a=values[0],
                        b=values[1],
                    )
                )
            ]
        test = self.truth(node.test)
        names = [self._fresh("when_true"), self._fresh("when_false")]
        bound = set(self.bound)
        functions: list[ast.stmt] = []
        for name, part in zip(names, both):
            self._stays(part, bound, node)
            self.bound = set(bound)
            functions.append(_function(name, (), self.block(part)))
        return [
            *functions,
            ast.Return(made("jax.lax.cond(c, a, b)", c=test, a=_name(names[0]), b=_name(names[1]))),
        ]

    def _stays(self, part: Sequence[ast.stmt], bound: set[str], node: ast.AST) -> None:
        """Refuse a branch that rebinds an outer name: the branch becomes a function, which could not read
        that name before.
        """
        if clash := sorted(written(part) & bound):
            raise self.refuse(
                node, f"{clash[0]} is rebound within a branch, which becomes a function in JAX"
            )

    def _choosing(self, node: ast.If) -> list[ast.stmt]:
        """A branch that binds names and has no other effect."""
        for n in nodes_of(node):
            if isinstance(n, (ast.Break, ast.Continue, ast.Raise, ast.Assert)):
                raise self.refuse(n, "whether this is reached depends on a value, which JAX does not know")
        bound, test = set(self.bound), self.truth(node.test)
        names = sorted(written(node.body) | written(node.orelse))
        outer = [name for name in names if name in bound]
        for name in set(names) - set(outer):
            if not (name in written(node.body) and name in written(node.orelse)):
                self._of_one_branch(name, node)
                names.remove(name)
        pairs = [_single(node.body), _single(node.orelse)]
        if len(names) == 1 and pairs[0] == names[0] and pairs[1] in (names[0], None):
            first = self.branch_value(node.body[0].value)  # type: ignore[attr-defined]
            second = self.branch_value(node.orelse[0].value) if node.orelse else _name(names[0])  # type: ignore[attr-defined]
            chosen = made("jax.lax.cond(c, lambda: a, lambda: b)", c=test, a=first, b=second)
            return [ast.Assign([_name(names[0], ast.Store())], chosen)]
        if not names:
            return []
        functions: list[ast.stmt] = []
        labels = [self._fresh("when_true"), self._fresh("when_false")]
        for label, part in zip(labels, (node.body, node.orelse)):
            self.bound = set(bound)
            value = _tuple(names, ast.Load())
            functions.append(_function(label, outer, [*self.block(part), ast.Return(value)]))
        call = ast.Call(made("jax.lax.cond"), [test, *map(_name, labels), *map(_name, outer)], [])
        return [*functions, ast.Assign([_tuple(names, ast.Store())], call)]

    def _of_one_branch(self, name: str, node: ast.If) -> None:
        """Refuse a name that only one branch binds and that is read elsewhere."""
        inside = {id(n) for n in nodes_of(node)}
        for other in nodes_of(self.text.tree):
            if isinstance(other, ast.Name) and other.id == name and id(other) not in inside:
                raise self.refuse(
                    node, f"{name} is bound in one branch only, and JAX does not know which is taken"
                )

    def _For(self, node: ast.For) -> list[ast.stmt]:
        # Bound in an earlier iteration.
        self.bound = getattr(self, "bound", set(self.parameters)) | written([node])
        return super()._For(node)

    def _fresh(self, name: str) -> str:
        taken = self.facts.own | self.names.helpers | set(self.names.modules)
        self._made = getattr(self, "_made", 0) + 1
        found = name if self._made <= 2 else f"{name}_{(self._made + 1) // 2}"
        while found in taken:
            found += "_"
        return found

    def _If(self, node: ast.If) -> list[ast.stmt]:
        return [
            ast.If(self.expression(node.test), self.block(node.body) or [ast.Pass()], self.block(node.orelse))
        ]

    def _While(self, node: ast.While) -> list[ast.stmt]:
        if not self.facts.is_static(node.test):
            raise self.refuse(node, "how often this loop runs depends on a value, which JAX does not know")
        self.bound = getattr(self, "bound", set(self.parameters)) | written([node])
        return super()._While(node)

    def _Assert(self, node: ast.Assert) -> list[ast.stmt]:
        if not self.facts.is_static(node.test):
            raise self.refuse(node, "what is asserted depends on a value, which JAX does not know")
        return super()._Assert(node)

    def element_written(self, target, value, op, node) -> ast.stmt:
        name = self.own_array(target, node)
        self._masked(target.slice, op, value)
        self.one_by_one(target.slice)
        index = self.index(target.slice)
        verbs: dict[type, str] = {ast.Add: "add", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power"}
        if isinstance(op, ast.Sub):
            op, value = ast.Add(), ast.UnaryOp(ast.USub(), value)
        verb = "set" if op is None else verbs.get(type(op))
        if verb is None:
            raise self.no_counterpart(node, "this in-place operator")
        written_at = ast.Subscript(made("x.at", x=_name(name)), index, ast.Load())
        call = ast.Call(ast.Attribute(written_at, verb, ast.Load()), [value], [])
        return ast.Assign([_name(name, ast.Store())], call)

    def _masked(self, index: ast.expr, op: ast.operator | None, value: ast.expr) -> None:
        """Refuse to write as many elements as a comparison selects, except one number into all of them."""
        for part in index.elts if isinstance(index, ast.Tuple) else [index]:
            if self.facts.is_mask(part) and (op is not None or not isinstance(value, ast.Constant)):
                raise self.refuse(part, "how many elements this chooses depends on values")

    def added_at(self, call: ast.Call) -> ast.stmt:
        base = self.added_to(call)
        at = ast.Subscript(made("x.at", x=base), self.index(call.args[1]), ast.Load())
        sum_ = ast.Call(ast.Attribute(at, "add", ast.Load()), [self.expression(call.args[2])], [])
        return ast.Assign([_name(base.id, ast.Store())], sum_)

    # --- branches on values ---------------------------------------------------------------------------------

    def truth(self, node: ast.expr) -> ast.expr:
        """The condition of a branch, as an array of one bool."""
        if self.facts.is_static(node):
            return self.expression(node)
        if isinstance(node, ast.BoolOp):
            word = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
            found = self.truth(node.values[0])
            for value in node.values[1:]:
                found = made(f"jnp.{word}(a, b)", a=found, b=self.truth(value))
            return found
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return made("jnp.logical_not(a)", a=self.truth(node.operand))
        return self.expression(node)

    def branch_value(self, node: ast.expr) -> ast.expr:
        """A value of a branch: a constant gets the dtype that the other branch will have."""
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self.branch_value(x) for x in node.elts], ast.Load())
        value = self.expression(node)
        if self.facts.is_static(node) and self.reference:
            return made("jnp.asarray(v, dtype=d)", v=value, d=self._working("float"))
        return value

    def _of_IfExp(self, node: ast.IfExp) -> ast.expr:
        if self.facts.is_static(node.test):
            return super()._of_IfExp(node)
        a, b = self.branch_value(node.body), self.branch_value(node.orelse)
        return made("jax.lax.cond(c, lambda: a, lambda: b)", c=self.truth(node.test), a=a, b=b)

    def _of_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if self.facts.is_static(node):
            return super()._of_BoolOp(node)
        if not all(self.facts.is_mask(x) or self.facts.is_static(x) for x in node.values):
            raise self.refuse(node, "`and` and `or` give one of their values, and JAX does not know which")
        return self.truth(node)

    def _of_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not) and not self.facts.is_static(node.operand):
            return self.truth(node)
        return super()._of_UnaryOp(node)

    def _of_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) > 1 and not self.facts.is_static(node):
            sides = [node.left, *node.comparators]
            pairs = [ast.Compare(a, [op], [b]) for a, op, b in zip(sides, node.ops, sides[1:])]
            return self.truth(ast.copy_location(ast.BoolOp(ast.And(), pairs), node))  # type: ignore[arg-type]
        return super()._of_Compare(node)

    def _of_Subscript(self, node: ast.Subscript) -> ast.expr:
        for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            if self.facts.is_mask(part):
                raise self.refuse(
                    part, "how many elements this chooses depends on values, and JAX has to know"
                )
            if isinstance(part, ast.Slice) and not self.facts.is_static(part):
                raise self.refuse(part, "how long this slice is depends on a value, and JAX has to know")
        return super()._of_Subscript(node)

    def index(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.List):
            return made("jnp.array(x)", x=self.expression(node))
        return super().index(node)

    def _of_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        parts = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        if not all(map(self.facts.is_static, parts)):
            raise self.refuse(node, "a string contains a value, which JAX does not know")
        return super()._of_JoinedStr(node)

    # --- calls ----------------------------------------------------------------------------------------------

    def safe_builtin(self, node: ast.Call, name: str) -> ast.expr:
        if name == "range" and not all(map(self.facts.is_static, node.args)):
            raise self.refuse(node, "how often this loop runs depends on a value, which JAX does not know")
        if name in ("max", "min"):
            if len(node.args) < 2 or node.keywords:
                raise self.no_counterpart(node, f"{name}() of what varies")
            found = self.expression(node.args[0])
            for other in node.args[1:]:
                found = made(f"jnp.{name}imum(a, b)", a=found, b=self.expression(other))
            return found
        return super().safe_builtin(node, name)

    def shape_call(self, node: ast.Call, dotted: str) -> ast.expr:
        return ast.Call(made(f"jnp.{dotted.rpartition('.')[2]}"), self.arguments(node), self.keywords(node))

    def library_call(self, node: ast.Call, dotted: str) -> ast.expr:
        library, _, name = dotted.rpartition(".")
        named = ast.unparse(node.func)
        where = {"numpy.linalg": ("jnp.linalg", LINALG_IN_JAX), "numpy.fft": ("jnp.fft", FFT)}
        if library == "scipy.special" and name in SPECIAL["jax"]:
            name = RENAMED_IN_JAX.get(dotted, name)
            return ast.Call(made(f"jax.scipy.special.{name}"), self.arguments(node), self.keywords(node))
        if library == "numpy.linalg" and name in ("cholesky", "eigh"):
            if len(node.args) != 1 or node.keywords:
                raise self.no_counterpart(node, f"an option of {named}")
            return made(f"jnp.linalg.{name}(a, symmetrize_input=False)", a=self.expression(node.args[0]))
        if library in where and name in where[library][1]:
            return ast.Call(made(f"{where[library][0]}.{name}"), self.arguments(node), self.keywords(node))
        if library != "numpy" or name not in SAME_IN_JAX:
            raise self.no_counterpart(node, named)
        if name == "where" and len(node.args) != 3:
            raise self.refuse(node, "how many elements this finds depends on values, and JAX has to know")
        if (
            name in ("asarray", "array", "copy")
            and node.args
            and not isinstance(node.args[0], (ast.List, ast.Tuple))
        ):
            dtypes = [k for k in node.keywords if k.arg == "dtype" and not self._is_float(k.value)]
            return ast.Call(made("jnp.asarray"), self.arguments(node)[:1], self._dtyped(dtypes))
        if name in MAKERS or name in LIKE or name in ("array", "asarray"):
            return self._maker(node, name)
        keywords = [k for k in node.keywords if k.arg != "dtype"]
        given = [ast.keyword(k.arg, self.expression(k.value)) for k in keywords]
        return ast.Call(
            made(f"jnp.{name}"),
            self.arguments(node),
            given + self._dtyped([k for k in node.keywords if k.arg == "dtype"]),
        )

    def _is_float(self, node: ast.expr) -> bool:
        return self.facts.builtin(node) == "float" or self.facts.dotted(node) in (
            "numpy.float64",
            "numpy.double",
        )

    def _dtyped(self, keywords: list[ast.keyword]) -> list[ast.keyword]:
        return [ast.keyword("dtype", self.dtype(k.value)) for k in keywords]

    def _maker(self, node: ast.Call, name: str) -> ast.expr:
        """A call that makes a new array: in the working precision where NumPy uses double precision."""
        args, dtyped = list(node.args), [k for k in node.keywords if k.arg == "dtype"]
        most = {
            "zeros": 1,
            "ones": 1,
            "empty": 1,
            "full": 2,
            "zeros_like": 1,
            "ones_like": 1,
            "empty_like": 1,
            "full_like": 2,
            "array": 1,
        }
        if len(args) == most.get(name, 9) + 1:
            dtyped = [ast.keyword("dtype", args.pop())]
        others = [ast.keyword(k.arg, self.expression(k.value)) for k in node.keywords if k.arg != "dtype"]
        found = self._dtyped(dtyped)
        whole = name in ("arange", "array", "asarray", "full") and all(
            self._whole(x) for x in args[-1:] + args[:1]
        )
        if not found and name not in LIKE and not whole and self.reference:
            found = [ast.keyword("dtype", self._working("float"))]
            if any(
                isinstance(n, ast.Constant) and isinstance(n.value, complex)
                for a in args
                for n in ast.walk(a)
            ):
                found = [ast.keyword("dtype", self._working("complex"))]
        if (
            name in ("array", "asarray", "full")
            and found
            and not dtyped
            and not all(map(self.facts.is_static, args[-1:]))
        ):
            found = []  # what it holds already has the right dtype
        return ast.Call(made(f"jnp.{name}"), [self.expression(x) for x in args], others + found)

    def _whole(self, node: ast.expr) -> bool:
        if isinstance(node, (ast.List, ast.Tuple)):
            return all(map(self._whole, node.elts))
        return self.facts.is_whole(node)

    def _working(self, word: str) -> ast.expr:
        if self.reference is None:
            return made(word)
        return made(f"jnp.result_type(x, {word})", x=_name(self.reference))

    def dtype_of(self, word: str) -> ast.expr | None:
        if word in ("float", "complex"):
            return self._working(word)
        if word in ("float32", "complex64"):
            return made(f"jnp.{word}")
        return super().dtype_of(word)

    def constant(self, node: ast.Name) -> ast.expr:
        return made("jnp.asarray(x)", x=node)

    def cast(self, value: ast.expr, dtype: ast.expr) -> ast.expr:
        return made("jnp.asarray(value).astype(dtype)", value=value, dtype=self.dtype(dtype))

    def array_method(self, node: ast.Call, func: ast.Attribute) -> ast.expr:
        if any(k.arg in ("out", "dtype", "order", "where", None) for k in node.keywords):
            raise self.no_counterpart(node, "an option of this method")
        return super().array_method(node, func)


def _name(name: str, context: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(name, context or ast.Load())


def _tuple(names: Sequence[str], context: ast.expr_context) -> ast.expr:
    """A single name alone, or a tuple of several."""
    return (
        _name(names[0], context)
        if len(names) == 1
        else ast.Tuple([_name(n, context) for n in names], context)
    )


def _single(part: Sequence[ast.stmt]) -> str | None:
    """The name that a branch binds, if that is all it does."""
    if len(part) == 1 and isinstance(part[0], ast.Assign) and len(part[0].targets) == 1:
        target = part[0].targets[0]
        return target.id if isinstance(target, ast.Name) else None
    return None


def _function(name: str, parameters: Sequence[str], body: list[ast.stmt]) -> ast.FunctionDef:
    args = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
    made_of: Any = ast.FunctionDef(name, args, body or [ast.Pass()], [])
    made_of.type_params = []  # required since Python 3.12
    return made_of
