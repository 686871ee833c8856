"""Statements translated to PyTorch: `dim` for `axis`, and new tensors on the device of the arguments."""

from __future__ import annotations

import ast

from .translation import Translator, made
from .words import (
    ELEMENTWISE,
    FFT,
    IN_TORCH,
    LEAST,
    LIKE,
    LINALG_IN_TORCH,
    MAKERS,
    OF_TWO,
    OPERATORS,
    PATTERNS_IN_TORCH,
    REDUCTIONS_IN_TORCH,
    SPECIAL,
)


class ToTorch(Translator):
    """Values are known where the function runs, so that branches and loops stay as they are."""

    framework = "PyTorch"
    of_numbers = False  # whether it is a helper, which may return a Python number

    # --- statements -----------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> ast.expr:
        """What a function returns: a constant becomes a tensor."""
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self.value(x) for x in node.elts], ast.Load())
        if isinstance(node, ast.IfExp):
            self.branches |= not self.facts.is_static(node.test)
            return ast.IfExp(self.expression(node.test), self.value(node.body), self.value(node.orelse))
        if self.facts.is_static(node) and not self.of_numbers:
            return made("like.new_tensor(value)", like=self._like(node), value=self.expression(node))
        if isinstance(node, ast.Name) and not self.of_numbers and self._may_be_argument(node.id):
            return made("x.clone()", x=node)  # PyTorch does not save a tensor that is both argument and value
        return self.expression(node)

    def _may_be_argument(self, name: str) -> bool:
        """Whether a name is an argument, or is bound to something that may be one."""
        if name in self.parameters:
            return True
        held = [
            v
            for n in ast.walk(self.text.tree)
            if isinstance(n, ast.Assign)
            for t in n.targets
            if isinstance(t, ast.Name) and t.id == name
            for v in [n.value]
        ]
        held += [part for v in held if isinstance(v, ast.IfExp) for part in (v.body, v.orelse)]
        return any(isinstance(v, ast.Name) for v in held)

    def cotangent(self, node: ast.expr, primal: str) -> ast.expr:
        """An entry of what `backward` returns: a constant stands for every element of the argument."""
        if isinstance(node, ast.IfExp):
            self.branches |= not self.facts.is_static(node.test)
            both = (self.cotangent(node.body, primal), self.cotangent(node.orelse, primal))
            return ast.IfExp(self.expression(node.test), *both)
        if self.facts.is_static(node):
            x = ast.Name(primal, ast.Load())
            if isinstance(node, ast.Constant) and node.value == 0:
                return made("torch.zeros_like(x)", x=x)
            return made("torch.full_like(x, value)", x=x, value=self.expression(node))
        return self.expression(node)

    def _like(self, node: ast.AST) -> ast.Name:
        if self.reference is None:
            raise self.refuse(node, "there is no argument whose precision a new tensor could have")
        return ast.Name(self.reference, ast.Load())

    def added_at(self, call: ast.Call) -> ast.stmt:
        base = self.added_to(call)
        index = self.index(call.args[1])
        parts = index if isinstance(index, ast.Tuple) else ast.Tuple([index], ast.Load())
        sum_ = made("x.index_put(i, v, accumulate=True)", x=base, i=parts, v=self.expression(call.args[2]))
        return ast.Assign([ast.Name(base.id, ast.Store())], sum_)

    def constant(self, node: ast.Name) -> ast.expr:
        like = self._like(node)
        return made("torch.as_tensor(a, dtype=torch.result_type(x, 1.0), device=x.device)", a=node, x=like)

    # --- elements -------------------------------------------------------------------------------------------

    def _of_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.slice, ast.Slice) and _step(node.slice) < 0:
            if node.slice.lower or node.slice.upper or _step(node.slice) != -1:
                raise self.no_counterpart(node, "a slice that goes backwards")
            return made("torch.flip(x, (0,))", x=self.expression(node.value))
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(p, ast.Slice) and _step(p) < 0 for p in parts):
            raise self.no_counterpart(node, "a slice that goes backwards")
        return super()._of_Subscript(node)

    # --- calls ----------------------------------------------------------------------------------------------

    def library_call(self, node: ast.Call, dotted: str) -> ast.expr:
        library, _, name = dotted.rpartition(".")
        if library == "scipy.special" and name in SPECIAL["torch"]:
            if name == "expit":
                return ast.Call(made("torch.sigmoid"), self._plain(node, 1), [])
            return ast.Call(made(f"torch.special.{name}"), self._plain(node, 9), [])
        if library == "numpy.linalg":
            return self._linear_algebra(node, name)
        if library == "numpy.fft" and name in FFT:
            return ast.Call(made(f"torch.fft.{name}"), self._plain(node, 1), [])
        if library != "numpy":
            raise self.no_counterpart(node, ast.unparse(node.func))
        return self._of_numpy(node, name)

    def _plain(self, node: ast.Call, most: int) -> list[ast.expr]:
        if node.keywords or len(node.args) > most:
            raise self.no_counterpart(node, f"an option of {ast.unparse(node.func)}")
        return self.arguments(node)

    def _linear_algebra(self, node: ast.Call, name: str) -> ast.expr:
        if name == "norm":
            return ast.Call(made("torch.linalg.norm"), *self._with_axis(node, 1, "numpy.linalg.norm"))
        if name not in LINALG_IN_TORCH:
            raise self.no_counterpart(node, ast.unparse(node.func))
        return ast.Call(made(f"torch.linalg.{name}"), self._plain(node, 2), [])

    def _of_numpy(self, node: ast.Call, name: str) -> ast.expr:
        if (
            name in OPERATORS
            and len(node.args) == (1 if name in ("negative", "positive") else 2)
            and not node.keywords
        ):
            parts = dict(zip("ab", self.arguments(node)))
            return made(OPERATORS[name], **parts)
        if name == "sign":
            self.needs.add("sign")
            return ast.Call(made("_sign"), self._plain(node, 1), [])
        if name in ELEMENTWISE and name != "cbrt":
            return ast.Call(made(f"torch.{IN_TORCH.get(name, name)}"), self._plain(node, 1), [])
        if name in ("maximum", "minimum"):
            return self._bounded(node, name)
        if name in OF_TWO:
            return ast.Call(made(f"torch.{IN_TORCH.get(name, name)}"), self._plain(node, 2), [])
        if name in REDUCTIONS_IN_TORCH:
            return self._reduction(node, name)
        if name in ("cumsum", "cumprod"):
            return self._cumulative(node, name)
        if name == "dot":
            self.needs.add("dot")
            return ast.Call(made("_dot"), self._plain(node, 2), [])
        if name == "einsum":
            return ast.Call(made("torch.einsum"), self._plain(node, 9), [])
        if name == "transpose":
            return self._transposed(node.args, node)
        if name == "flip":
            args, keywords = self._with_axis(node, 1, "numpy.flip", "dims")
            over = keywords[0].value if keywords else made("tuple(range(x.ndim))", x=args[0])
            dims = (
                over
                if keywords and isinstance(over, (ast.Tuple, ast.Call))
                else ast.Tuple([over], ast.Load())
            )
            return made("torch.flip(x, dims)", x=args[0], dims=over if not keywords else dims)
        if name in ("array", "asarray"):
            return self._array(node)
        if name in MAKERS:
            return self._maker(node, name)
        if name in LIKE and any(k.arg != "dtype" for k in node.keywords):
            raise self.no_counterpart(node, f"an option of {ast.unparse(node.func)}")
        if name in PATTERNS_IN_TORCH:
            return self._pattern(node, name)
        raise self.no_counterpart(node, ast.unparse(node.func))

    def _bounded(self, node: ast.Call, name: str) -> ast.expr:
        """`np.maximum` or `np.minimum`; with a number PyTorch uses `clamp` instead."""
        if len(node.args) != 2 or node.keywords:
            raise self.no_counterpart(node, f"an option of {ast.unparse(node.func)}")
        side = "min" if name == "maximum" else "max"
        for number, other in (node.args, node.args[::-1]):
            if self.facts.is_static(number):
                return made(f"torch.clamp(x, {side}=n)", x=self.expression(other), n=self.expression(number))
        return ast.Call(made(f"torch.{name}"), self.arguments(node), [])

    def _with_axis(
        self, node: ast.Call, others: int, dotted: str, dim: str = "dim"
    ) -> tuple[list, list[ast.keyword]]:
        """The arguments of a reduction: `axis` becomes `dim`, and `keepdims` becomes `keepdim`."""
        args, keywords = self.arguments(node), []
        if len(args) > others + 1 or (dotted == "numpy.linalg.norm" and len(args) > 1):
            raise self.no_counterpart(node, f"an option of {ast.unparse(node.func)}")
        if len(args) == others + 1:
            keywords.append(ast.keyword(dim, args.pop()))
        for k in node.keywords:
            word = {"axis": dim, "keepdims": "keepdim"}.get(k.arg or "")
            if word is None:
                raise self.no_counterpart(node, f"`{k.arg}` of {ast.unparse(node.func)}")
            keywords.append(ast.keyword(word, self.expression(k.value)))
        return args, [
            k for k in keywords if not (isinstance(k.value, ast.Constant) and k.value.value is None)
        ]

    def _reduction(self, node: ast.Call, name: str) -> ast.expr:
        ddof = [k for k in node.keywords if k.arg == "ddof"]
        plain = ast.copy_location(
            ast.Call(node.func, node.args, [k for k in node.keywords if k not in ddof]), node
        )
        args, keywords = self._with_axis(plain, 1, f"numpy.{name}")
        words = {k.arg for k in keywords}
        if name == "prod" and any(isinstance(k.value, ast.Tuple) for k in keywords):
            raise self.no_counterpart(node, "np.prod over several axes")
        if "keepdim" in words and "dim" not in words:
            keywords.append(ast.keyword("dim", made("tuple(range(x.ndim))", x=args[0])))
        if name in ("var", "std"):
            keywords.append(
                ast.keyword("correction", self.expression(ddof[0].value) if ddof else ast.Constant(0))
            )
        elif ddof:
            raise self.no_counterpart(node, "ddof")
        return ast.Call(made(f"torch.{REDUCTIONS_IN_TORCH[name]}"), args, keywords)

    def _cumulative(self, node: ast.Call, name: str) -> ast.expr:
        args, keywords = self._with_axis(node, 1, f"numpy.{name}")
        if not keywords:
            return made(f"torch.{name}(torch.ravel(x), dim=0)", x=args[0])
        return ast.Call(made(f"torch.{name}"), args, keywords)

    def _transposed(self, args: list[ast.expr], node: ast.AST) -> ast.expr:
        x = self.expression(args[0])
        if len(args) == 1:
            return made("x.permute(*range(x.ndim)[::-1])", x=x)
        order = args[1:] if len(args) > 2 else args[1]
        if isinstance(order, list):
            order = ast.Tuple(order, ast.Load())
        return made("torch.permute(x, order)", x=x, order=self.expression(order))

    def array_attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr == "size":
            return made("x.numel()", x=self.expression(node.value))
        if node.attr == "imag":
            return made("torch.imag(x)", x=self.expression(node.value))
        return super().array_attribute(node)

    def shape_call(self, node: ast.Call, dotted: str) -> ast.expr:
        if dotted == "numpy.size" and len(node.args) == 1:
            return made("x.numel()", x=self.expression(node.args[0]))
        if dotted == "numpy.iscomplexobj" and len(node.args) == 1:
            return made("torch.is_complex(x)", x=self.expression(node.args[0]))
        return super().shape_call(node, dotted)

    def _array(self, node: ast.Call) -> ast.expr:
        held = node.args[0]
        if not isinstance(held, (ast.List, ast.Tuple, ast.ListComp)):
            dtyped = [k for k in node.keywords if k.arg == "dtype"]
            if len(node.keywords) > len(dtyped) or (dtyped and not self._is_float(dtyped[0].value)):
                raise self.no_counterpart(node, f"an option of {ast.unparse(node.func)}")
            return self.expression(held)
        if node.keywords and not (len(node.keywords) == 1 and self._is_float(node.keywords[0].value)):
            raise self.no_counterpart(node, f"an option of {ast.unparse(node.func)}")
        if isinstance(held, ast.ListComp):
            return made("torch.stack(parts)", parts=self.expression(held))
        if self.facts.is_static(held):
            if (
                all(
                    isinstance(n, ast.Constant) and type(n.value) is int
                    for n in ast.walk(held)
                    if isinstance(n, ast.Constant)
                )
                and not node.keywords
            ):
                return made("torch.tensor(a, device=x.device)", a=self.expression(held), x=self._like(node))
            return made(
                "torch.tensor(a, dtype=d, device=x.device)",
                a=self.expression(held),
                d=self._working(held),
                x=self._like(node),
            )
        return self._stacked(held)

    def _stacked(self, held: ast.expr) -> ast.expr:
        if isinstance(held, (ast.List, ast.Tuple)):
            parts = ast.List([self._stacked(x) for x in held.elts], ast.Load())
            return made("torch.stack(parts)", parts=parts)
        return self.value(held)

    def _is_float(self, node: ast.expr) -> bool:
        return self.facts.builtin(node) == "float" or self.facts.dotted(node) in (
            "numpy.float64",
            "numpy.double",
        )

    def _working(self, *held: ast.AST) -> ast.expr:
        constants = [n.value for a in held for n in ast.walk(a) if isinstance(n, ast.Constant)]
        number = "1j" if any(isinstance(c, complex) for c in constants) else "1.0"
        return made(f"torch.result_type(x, {number})", x=self._like(held[0] if held else self.text.tree))

    def _maker(self, node: ast.Call, name: str) -> ast.expr:
        args, dtype = list(node.args), next((k.value for k in node.keywords if k.arg == "dtype"), None)
        if any(k.arg not in ("dtype", "k") for k in node.keywords) or any(
            k.arg == "k" for k in node.keywords
        ):
            raise self.no_counterpart(node, f"an option of {ast.unparse(node.func)}")
        if name in ("zeros", "ones", "empty") and len(args) == 2:
            dtype = args.pop()
        most = {
            "zeros": 1,
            "ones": 1,
            "empty": 1,
            "full": 2,
            "eye": 2,
            "identity": 1,
            "arange": 3,
            "linspace": 3,
        }
        if len(args) > most[name] or (name == "linspace" and len(args) < 3):
            raise self.no_counterpart(node, f"an option of {ast.unparse(node.func)}")
        if name == "full" and not self.facts.is_static(args[1]):
            raise self.no_counterpart(node, "np.full of what varies")
        word = "eye" if name == "identity" else name
        keywords = [ast.keyword("device", made("x.device", x=self._like(node)))]
        if dtype is not None or name != "arange" or not all(map(self.facts.is_whole, args)):
            keywords.insert(0, ast.keyword("dtype", self.dtype(dtype) if dtype else self._working(*args)))
        given = [self.expression(x) for x in args]
        if name == "full" and self._is_one(args[0]):
            given[0] = ast.Tuple([given[0]], ast.Load())
        return ast.Call(made(f"torch.{word}"), given, keywords)

    def _is_one(self, shape: ast.expr) -> bool:
        """Whether a shape is a single number, which PyTorch expects in a tuple."""
        return self.facts.is_whole(shape) or isinstance(shape, (ast.UnaryOp, ast.BinOp))

    def _pattern(self, node: ast.Call, name: str) -> ast.expr:
        parameters, pattern = PATTERNS_IN_TORCH[name]
        given = dict(zip(parameters, node.args))
        filled: dict[str, ast.expr]
        for k in node.keywords:
            if name in LIKE and k.arg == "dtype" and self._is_float(k.value):
                continue
            if k.arg not in parameters:
                raise self.no_counterpart(node, f"`{k.arg}` of {ast.unparse(node.func)}")
            given[k.arg] = k.value
        if len(node.args) > len(parameters) or len(given) < LEAST.get(name, 1):
            raise self.no_counterpart(node, f"{ast.unparse(node.func)} with these arguments")
        if name in ("concatenate", "stack", "hstack", "vstack", "column_stack"):
            arrays = given["arrays"]
            if isinstance(arrays, (ast.List, ast.Tuple)):
                filled = {"arrays": ast.List([self.value(x) for x in arrays.elts], ast.Load())}
            else:
                filled = {"arrays": self.expression(arrays)}
            if "axis" in given:
                filled["axis"] = self.expression(given["axis"])
        else:
            filled = {p: self.expression(x) for p, x in given.items()}
        for word in ("shape", "reps"):
            if word in filled and self._is_one(given[word]):
                filled[word] = ast.Tuple([filled[word]], ast.Load())
        call = made(pattern, **filled)
        return _without(call, set(parameters) - set(filled))

    def array_method(self, node: ast.Call, func: ast.Attribute) -> ast.expr:
        """A method as the function of the same name, which has the same options."""
        name = {"flatten": "ravel"}.get(func.attr, func.attr)
        args = list(node.args)
        if name == "reshape" and len(args) != 1:
            args = [ast.Tuple(args, ast.Load())]
        if name == "transpose":
            return self._transposed([func.value, *args], node)
        as_call = ast.Call(func, [func.value, *args], node.keywords)
        return self._of_numpy(ast.copy_location(as_call, node), name)

    def builtin_call(self, node: ast.Call, name: str) -> ast.expr:
        if name == "complex" and len(node.args) == 2:
            return ast.Call(made("torch.complex"), self.arguments(node), [])
        return super().builtin_call(node, name)

    def cast(self, value: ast.expr, dtype: ast.expr) -> ast.expr:
        return made("value.to(dtype)", value=value, dtype=self.dtype(dtype))

    def dtype_of(self, word: str) -> ast.expr | None:
        if word in ("float", "complex"):
            return self._working(ast.Constant(1.0 if word == "float" else 1j))
        known = {"int": "int64", "bool": "bool", "float32": "float32", "complex64": "complex64"}
        return made(f"torch.{known[word]}") if word in known else None


def _step(node: ast.Slice) -> int:
    """The step of a slice if it is a negative literal; 1 for any other."""
    step = node.step
    if (
        isinstance(step, ast.UnaryOp)
        and isinstance(step.op, ast.USub)
        and isinstance(step.operand, ast.Constant)
        and isinstance(step.operand.value, int)
    ):
        return -step.operand.value
    return 1


def _without(call: ast.expr, missing: set[str]) -> ast.expr:
    """A call without the arguments that are placeholders for what was not given."""
    if not isinstance(call, ast.Call):
        return call
    call.args = [x for x in call.args if not (isinstance(x, ast.Name) and x.id in missing)]
    call.keywords = [
        k for k in call.keywords if not (isinstance(k.value, ast.Name) and k.value.id in missing)
    ]
    return call
