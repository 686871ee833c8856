"""What corrections are made of: the names, numbers, conditions and expressions available to a rule."""

from __future__ import annotations

import ast
import builtins
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...compiler.base.source import find_source
from ...errors import RuleLabError
from ...parsing import cloned, parse
from ..calling.subjects import codes_of
from ..probing.perturb import landmarks
from ..reading.anatomy import last_name, names_in, returns_of
from ..reading.axes_read import multiplies_matrices, names_an_axis
from ..reading.editing import is_stored
from ..reading.texts import attributes_read, values_by_name
from .edits import conditions_of, unread_names, without_one
from .formulas import OF_CONSTANTS
from .slips import is_buffer
from .slopes import factor_of_slope
from .suspects import Suspects
from .verifying import ROUGHLY, is_right_at

MOST_PRODUCTS = 24
"""How many products in a function are used to construct a forgotten term."""
MOST_NAMES = 8
"""How many names in a rule are used to construct a forgotten term."""
_FACTORS = (ast.BinOp, ast.Call, ast.Name, ast.Attribute, ast.Subscript)
_REDUCING = frozenset("sum mean norm prod max min std var dot".split())
_PLAIN_CALLS = frozenset("conj conjugate tril triu abs sqrt exp log".split())


def _with_values(node: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    """An expression with some of its names replaced by their values."""
    named = (n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in values)
    return cloned(node, {id(n): values[n.id] for n in named})


_NUMBERS = (bool, int, float, complex, list, tuple, np.generic, np.ndarray)

MOST_OF_SIZES = 4
"""How many functions of sizes are tried in place of a number."""


def _is_size(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") == "len"
    return isinstance(node, ast.Attribute) and node.attr in ("shape", "size")


def _names_a_size(node: ast.Assign) -> bool:
    value = node.value.value if isinstance(node.value, ast.Subscript) else node.value
    is_size = _is_size(value) or isinstance(value, ast.Call) and last_name(value.func) == "size"
    return is_size and isinstance(node.targets[0], ast.Name)


class Materials(Suspects):
    """A rule's text with the material for edits of it."""

    def returned(self) -> list[ast.expr]:
        """The expressions that the pullbacks return, or a forward rule as the tangent of the value."""
        if self.is_forward:
            return self.cotangents_of(None)
        return [node for pullback in self.anatomy.pullbacks for node in returns_of(pullback)]

    def values(self) -> list[ast.expr]:
        """The expressions that the rule returns as the value of the function."""
        pairs = [v for v in self.anatomy.returned if isinstance(v, ast.Tuple) and v.elts]
        return [pair.elts[0] for pair in pairs]

    def bars(self) -> list[str]:
        """The names of the cotangents in the pullbacks, or of the arguments' tangents in a forward rule."""
        if self.is_forward:
            return [name for name in self.tangent_names.values() if name != "_"] or [""]
        names = [p.args.args[0].arg for p in self.anatomy.pullbacks if p.args.args]
        return list(dict.fromkeys(names)) or [""]

    @cached_property
    def marks(self) -> tuple[float, ...]:
        """The numbers in the function, one of which may be missing in the rule."""
        return landmarks(codes_of(self.subject.primal))

    def _numpy(self) -> str | None:
        space = self.function.__globals__
        return next((name for name, value in space.items() if value is np and name.isidentifier()), None)

    def _filled(self, text: str, it: ast.expr, bar: str) -> ast.expr | None:
        """A template with IT, BAR, NP and constants such as `log(2)` filled in; None if one of them has no
        name in the rule.
        """
        node = parse(text, mode="eval").body
        bar_node = ast.Name(bar, ast.Load())
        known: dict[str, ast.expr] = {"IT": it, "BAR": bar_node, "y_bar": bar_node}
        numpy = self._numpy()
        if numpy is not None:
            known["NP"] = known["np"] = ast.Name(numpy, ast.Load())
            own = {*self.anatomy.local_names, *self.function.__globals__}
            for name in OF_CONSTANTS - own:
                known[name] = ast.Attribute(known["NP"], name, ast.Load())

        class Fill(ast.NodeTransformer):
            def visit_Name(self, name: ast.Name) -> ast.expr:
                return cloned(known.get(name.id, name))

        if "BAR" in text and not bar:
            return None
        wanted = names_in(node) - set(known)
        mine = self.anatomy.local_names
        space = self.function.__globals__
        for name in wanted:
            if name not in mine and not (name == "rl" and "rl" in space) and not hasattr(builtins, name):
                if not name.endswith("Tangent") or name not in space:
                    return None
        if "NP" in names_in(node) and numpy is None:
            return None
        if "np" in names_in(node) and numpy is None:
            return None
        return Fill().visit(node)

    @cached_property
    def _named(self) -> list[str]:
        """The names that may occur in a formula: parameters, cotangents, and what the rule has computed."""
        known = dict.fromkeys((*self.anatomy.parameters, *self.bars(), *self.anatomy.values, *self.made))
        return [n for n in known if n.isidentifier() and n.strip("_") and n not in self._defined]

    @cached_property
    def _at_hand(self) -> list[str]:
        """The names in the pullbacks that may stand for numbers."""
        inner = (n.id for p in self.anatomy.pullbacks for n in ast.walk(p) if isinstance(n, ast.Name))
        local = [name for name in inner if name in self.anatomy.local_names - self._defined]
        return list(dict.fromkeys(filter(None, (*self.bars(), *self._named, *local))))

    @cached_property
    def _defined(self) -> frozenset[str]:
        """The functions that the rule defines, and its own names for things in a module:
        `solve = np.linalg.solve`. Used as a number, `np.r_` would be an endless sequence.
        """
        own = frozenset(name for name, made in self.made.items() if self._is_in_a_module(made))
        return own.union(n.name for n in ast.walk(self.anatomy.node) if isinstance(n, ast.FunctionDef))

    def _is_in_a_module(self, node: ast.expr) -> bool:
        """Whether an expression is a path from a module to something that is not a number, unlike `np.pi`."""
        is_path = isinstance(node, ast.Attribute) and all(self.is_module(ast.Name(n)) for n in names_in(node))
        value = self.of_the_module(node) if is_path else None
        return value is not None and not isinstance(value, _NUMBERS)

    @cached_property
    def _without_numbers(self) -> frozenset[str]:
        """The same, and arguments that are neither numbers nor lists of numbers. These do not replace
        numbers: `np.array([a, f])` would be an array of objects, and NumPy corrupts its memory when a product
        of such arrays (`x @ m`) raises.
        """
        inputs = self.probes[0].point.inputs if self.probes else ()
        given = zip(reversed(self.anatomy.parameters), reversed(inputs))
        return self._defined.union(name for name, x in given if not isinstance(x, _NUMBERS))

    def _other_names(self, node: ast.Name) -> Iterator[ast.expr]:
        known = (*self.anatomy.parameters, *self.bars(), *self.anatomy.values, *self._looping)
        if node.id in known:
            alike = node.id in self._without_numbers
            for name in dict.fromkeys(known):
                if name and name != node.id and (name in self._without_numbers) == alike:
                    yield ast.Name(name, ast.Load())

    @cached_property
    def _computed(self) -> list[str]:
        """The names that a pullback assigns, such as the cotangents of other arguments."""
        others = {*self.anatomy.parameters, *self.bars(), *self.anatomy.values, *self._looping}
        return [name for name in self.made if name not in others]

    @cached_property
    def _looping(self) -> list[str]:
        """The names assigned by loops and by unpacking."""
        nodes = list(ast.walk(self.anatomy.node))
        targets = [n.target for n in nodes if isinstance(n, (ast.For, ast.comprehension))]
        assigned = [t for n in nodes if isinstance(n, ast.Assign) for t in n.targets]
        targets += [t for t in assigned if isinstance(t, ast.Tuple)]
        names = (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
        return [name for name in dict.fromkeys(names) if name.strip("_")]

    @cached_property
    def _loops(self) -> list[str]:
        """The loop variables."""
        loops = (n.target for n in ast.walk(self.anatomy.node) if isinstance(n, ast.For))
        return list(dict.fromkeys(n.id for t in loops for n in ast.walk(t) if isinstance(n, ast.Name)))

    @cached_property
    def _objects(self) -> frozenset[str]:
        """The parameters of which the function reads attributes that numbers and arrays do not have."""
        return frozenset(attributes_read(self.subject.primal))

    def _lengths(self, forms: tuple[str, ...]) -> list[ast.expr]:
        """The lengths of the arguments that are arrays."""
        names = filter(self._is_ranked, self.anatomy.parameters)
        return [parse(form.format(name), mode="eval").body for name in names for form in forms]

    @cached_property
    def _named_sizes(self) -> list[ast.expr]:
        """The names that the rule assigns to sizes of its arguments: `n = x.shape[-1]`. These are what its
        author intends.
        """
        assigned = (node for node in ast.walk(self.anatomy.node) if isinstance(node, ast.Assign))
        named = (node.targets[0].id for node in assigned if _names_a_size(node))  # type: ignore[attr-defined]
        return [ast.Name(name, ast.Load()) for name in dict.fromkeys(named)]

    @cached_property
    def _of_sizes(self) -> list[ast.expr]:
        """The calls in the function that depend only on the sizes of its arguments, and their reciprocals:
        `np.sqrt(len(x))`.
        """
        found = []
        for one in self._known_in_texts(ast.Call):
            names = [n for n in ast.walk(one) if isinstance(n, ast.Name) and n.id in self.anatomy.parameters]
            sizes = [n for n in ast.walk(one) if _is_size(n)]
            inside = {id(n) for size in sizes for n in ast.walk(size)}
            if sizes and not _is_size(one) and all(id(n) in inside for n in names):
                found += [one, ast.BinOp(ast.Constant(1), ast.Div(), one)]
        return found[: 2 * MOST_OF_SIZES]

    @cached_property
    def _powers(self) -> set[str]:
        """The powers in the rule and in the function, as dumped trees."""
        return {ast.dump(n) for n in self._known_in_texts(ast.BinOp) if isinstance(n.op, ast.Pow)}  # type: ignore[attr-defined]

    def _is_rolled(self, node: ast.expr) -> bool:
        """Whether an expression is already the argument of `roll`: then only another shift may be missing."""
        owner = self._slots.owner(node)
        return isinstance(owner, ast.Call) and getattr(owner.func, "attr", "") == "roll"

    @cached_property
    def _conditions(self) -> list[ast.expr]:
        """The conditions in the function, as far as they use names of the rule, and those in the rule."""
        numpy, function = self._numpy(), self._primal_node
        if function is None:
            return []
        known = {*self._named, numpy, *vars(builtins)}
        mine = [n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Compare) and len(n.ops) == 1]
        numbers = {n: x for n, x in values_by_name(function).items() if isinstance(x, ast.Constant)}
        found = [*(_with_values(one, numbers) for one in conditions_of(function, numpy or "")), *mine]
        kept = [one for one in found if names_in(one) <= known][:MOST_NAMES]
        plain = [one for one in kept if isinstance(one, ast.Compare)]
        both = [
            ast.BinOp(one, ast.BitOr(), other)
            for one, other in itertools.combinations(plain, 2)
            if ast.dump(one.left) == ast.dump(other.left) and ast.dump(one.ops[0]) != ast.dump(other.ops[0])
        ]
        inverted = (ast.UnaryOp(ast.Invert(), one) for one in (*plain, *both[:2]))
        return [*kept, *both[:2], *inverted]

    @cached_property
    def _masks(self) -> list[str]:
        """The names of masks in the rule."""
        calls = (node for node in ast.walk(self.anatomy.node) if isinstance(node, ast.Call))
        chosen = [call.args[0] for call in calls if getattr(call.func, "attr", "") == "where" and call.args]
        names = [node.id for node in chosen if isinstance(node, ast.Name)]
        names += [name for name, made in self.made.items() if isinstance(made, ast.Compare)]
        return [name for name in dict.fromkeys(names) if name in self._named][:MOST_NAMES]

    @cached_property
    def _parts_at_hand(self) -> list[str]:
        """The differences, powers and functions of one name in function and rule, and the factors of their
        derivatives: terms are made from these.
        """
        numpy = self._numpy()
        found, derived = [], []
        for node in self._known_in_texts(ast.BinOp, ast.Call):
            names = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id != numpy]
            if len(names) != 1:
                continue
            if isinstance(node, ast.Call) and len(node.args) == 1:
                found.append(ast.unparse(node))
                factor = None if numpy is None else factor_of_slope(node, numpy)
                text = "" if factor is None else ast.unparse(factor)
                derived += [f"({text})" if isinstance(factor, ast.BinOp) else text] if text else []
            elif isinstance(node, ast.BinOp) and not isinstance(node.op, (ast.Mult, ast.Div)):
                found.append(f"({ast.unparse(node)})")
        return list(dict.fromkeys((*found, *derived)))

    @cached_property
    def _partial_products(self) -> list[ast.expr]:
        """The products in function and rule with one factor left out: derivatives are made from these."""
        found: dict[str, ast.expr] = {}
        for node in self._known_in_texts(ast.BinOp):
            if names_in(node).isdisjoint(self.bars()):
                found |= {ast.dump(rest): rest for rest in without_one(node)}
        return list(found.values())[:MOST_PRODUCTS]

    def _pieces(self) -> list[ast.expr]:
        """The sums and products that the rule passes to functions of one argument."""
        calls = [n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Call) and len(n.args) == 1]
        known = {*self.anatomy.parameters}
        handed: list[ast.expr] = [call.args[0] for call in calls if isinstance(call.args[0], ast.BinOp)]
        return list({ast.dump(x): x for x in handed if names_in(x) <= known}.values())[:4]

    def _factors(self, node: Any) -> list[str]:
        names = [n for n in (*self.anatomy.values, *self.anatomy.parameters, *self.made) if n.isidentifier()]
        return [n for n in dict.fromkeys(names) if self.made.get(n) is not node]

    @cached_property
    def _wholes(self) -> list[ast.expr]:
        """The sums and calls in the rule, and those in the function that use names of the rule."""
        return [node for node in self._known_in_texts(ast.BinOp, ast.Call) if _is_whole(node)]

    @cached_property
    def _calls(self) -> list[ast.Call]:
        """The calls with keywords in rule and function whose values use names of the rule."""
        roots = [root for root in (self.anatomy.node, self._primal_node) if root is not None]
        calls = [n for root in roots for n in ast.walk(root) if isinstance(n, ast.Call) and n.keywords]
        known = {*self._named, *self.function.__globals__}
        return [call for call in calls if all(names_in(k.value) <= known for k in call.keywords)]

    @cached_property
    def _cuts(self) -> list[ast.expr]:
        """The indices and slices in the rule and in the function, as far as they use names of the rule."""
        cuts = {ast.dump(n.slice): n.slice for n in self._known_in_texts(ast.Subscript)}  # type: ignore[attr-defined]
        return [one for one in cuts.values() if not isinstance(getattr(one, "value", None), str)]

    @cached_property
    def _read_cuts(self) -> list[ast.expr]:
        """The indices and slices of arguments in the function, in the order of its text."""
        if self._primal_node is None:
            return []
        cuts = [n for n in ast.walk(self._primal_node) if isinstance(n, ast.Subscript)]
        cuts = [n for n in cuts if isinstance(n.value, ast.Name) and n.value.id in self.anatomy.parameters]
        ordered = sorted(cuts, key=lambda n: (n.lineno, n.col_offset))
        found = {ast.dump(n.slice): n.slice for n in ordered if names_in(n.slice) <= set(self._named)}
        return list(found.values())

    def _known_in_texts(self, *kinds: type) -> list[ast.expr]:
        """The expressions of some kinds in the rule and in the function, as far as they use names of the
        rule.
        """
        known = {*self._named, *self._looping, self._numpy()}
        roots = [root for root in (self.anatomy.node, self._primal_node) if root is not None]
        found: dict[str, ast.expr] = {}
        for node in (n for root in roots for n in ast.walk(root) if isinstance(n, kinds)):
            if names_in(node.slice if isinstance(node, ast.Subscript) else node) <= known:
                found.setdefault(ast.dump(node), node)  # type: ignore[arg-type]
        return list(found.values())

    @cached_property
    def _whole_numbers(self) -> list[str]:
        """The parameters that are whole numbers at some probe, such as an axis."""
        given = [(p.point.kwargs, p.point.inputs) for p in self.probes]
        found = {name for kwargs, _ in given for name, x in kwargs.items() if type(x) is int}
        for _, inputs in given:
            found |= {n for n, x in zip(self.subject.names, inputs) if isinstance(x, (int, np.integer))}
        return [name for name in self.anatomy.parameters if name in found]

    @cached_property
    def _laid_out(self) -> list[ast.expr]:
        """The expressions in function and rule that add an axis, `g[:, None]`; and variables that only the
        value uses, with an axis added in the same way: the norm of each row is easily forgotten in the
        pullback.
        """
        known: list[Any] = [n for n in self._known_in_texts(ast.Subscript) if _lays_out(n)][:MOST_NAMES]
        ways = {ast.dump(n.slice): n.slice for n in known}
        unread = itertools.product(self._for_the_value, ways.values())
        return [*known, *(ast.Subscript(name, way, ast.Load()) for name, way in unread)]

    @cached_property
    def _for_the_value(self) -> list[ast.Name]:
        """The names that a rule assigns and its pullbacks do not read."""
        read = {n.id for back in self.anatomy.pullbacks for n in ast.walk(back) if isinstance(n, ast.Name)}
        kept = [name for name in self.made if name not in read and self._is_still(name)]
        return [ast.Name(name, ast.Load()) for name in kept][:MOST_NAMES]

    @cached_property
    def _runs(self) -> list[ast.Subscript]:
        """The slices of arrays that function and rule read: `x[:-1]`."""
        still = set(self._named) - self._moving
        read = (n for n in self._known_in_texts(ast.Subscript) if isinstance(n, ast.Subscript))
        runs = (n for n in read if isinstance(n.slice, ast.Slice) and n.slice.step is None)
        found = [ast.Subscript(n.value, n.slice, ast.Load()) for n in runs if names_in(n) <= still]
        return found[:MOST_NAMES]

    @cached_property
    def _reductions(self) -> list[ast.expr]:
        """The sums, means and norms in function and rule that do not depend on a cotangent: a norm, or the
        sum of weights, is easily forgotten as a factor.
        """
        calls = self._known_in_texts(ast.Call)
        made = [n for n in calls if getattr(getattr(n, "func", None), "attr", "") in _REDUCING]
        return [n for n in made if names_in(n).isdisjoint(self._moving)][:MOST_NAMES]

    @cached_property
    def _fields(self) -> list[ast.expr]:
        """The attributes that function and rule read from an argument that is an object."""
        return [n for n in self._known_in_texts(ast.Attribute) if self._is_of_object(n)][:MOST_NAMES]

    def _is_of_object(self, node: ast.expr) -> bool:
        """Whether an expression is an attribute of an argument that is an object and not an array."""
        owner = node.value if isinstance(node, ast.Attribute) else None
        return isinstance(owner, ast.Name) and owner.id in self._objects

    def _functions_like(self, function: Any) -> list[str]:
        """The names of other ufuncs with as many arguments and results as one."""
        if not isinstance(function, np.ufunc):
            return []
        found = ((name, x) for name, x in self.function.__globals__.items() if isinstance(x, np.ufunc))
        return [
            name
            for name, x in found
            if x is not function and (x.nin, x.nout) == (function.nin, function.nout)
        ]

    @cached_property
    def _divisors(self) -> list[ast.expr]:
        """The divisors in function and rule."""
        quotients = self._known_in_texts(ast.BinOp)
        found = (n.right for n in quotients if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div))
        return list({ast.dump(n): n for n in found if not isinstance(n, ast.Constant)}.values())[:MOST_NAMES]

    @cached_property
    def _multipliers(self) -> list[ast.expr]:
        """The sums and names by which the function multiplies, such as the decay of a recursion."""
        roots = [] if self._primal_node is None else [self._primal_node]
        products = (n for root in roots for n in ast.walk(root) if isinstance(n, ast.BinOp))
        found = [f for n in products if isinstance(n.op, ast.Mult) for f in (n.left, n.right)]
        plain = [f for f in found if not isinstance(f, ast.Constant) and names_in(f) <= set(self._named)]
        return list({ast.dump(f): f for f in plain if is_plain_factor(f)}.values())[:MOST_NAMES]

    @cached_property
    def _moving(self) -> frozenset[str]:
        """The names whose values depend on the cotangent."""
        found = set(filter(None, self.bars()))
        for _ in self.made:
            found |= {name for name, whole in self.made.items() if not names_in(whole).isdisjoint(found)}
        return frozenset(found)

    def _is_still(self, name: str) -> bool:
        """Whether a name's value does not depend on the cotangent."""
        return name not in self._moving

    @cached_property
    def _times_read(self) -> Counter[str]:
        """How often the rule reads each name."""
        names = (n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Name) and not is_stored(n))
        return Counter(n.id for n in names)

    @cached_property
    def _picks(self) -> list[str]:
        """The names of indices that the rule computes: `np.argmax(d)`."""
        picking = ("argmax", "argmin", "searchsorted")
        made = ((name, getattr(whole, "func", None)) for name, whole in self.made.items())
        return [name for name, called in made if getattr(called, "attr", "") in picking]

    @cached_property
    def _picked_from(self) -> set[int]:
        """The ids of the expressions that are indexed by several indices."""
        read = (n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Subscript))
        return {id(n.value) for n in read if isinstance(n.slice, ast.Tuple)}

    @cached_property
    def _picking(self) -> list[ast.Name]:
        """The names that are used as an index in the rule and are no loop variables."""
        found = {
            n.id: n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Name) and id(n) in self._indices
        }
        return [ast.Name(name, ast.Load()) for name in found if name in self.made][:MOST_NAMES]

    def _picked_at(self, node: ast.expr) -> ast.Subscript | None:
        """The subscript in which a number is an index, alone or beside others; None if it is not an index."""
        owner = self._slots.owner(node) if id(node) in self._indices else None
        owner = self._slots.owner(owner) if isinstance(owner, ast.Tuple) else owner
        return owner if isinstance(owner, ast.Subscript) else None

    def _constants_of(self, number: Any) -> list[ast.expr]:
        """The calls with a number as their only argument in function and rule, such as `np.sqrt(2)`."""
        calls = self._known_in_texts(ast.Call)
        return [
            call
            for call in calls
            if len(call.args) == 1  # type: ignore[attr-defined]
            and isinstance(call.args[0], ast.Constant)  # type: ignore[attr-defined]
            and call.args[0].value == number  # type: ignore[attr-defined]
        ]

    @cached_property
    def _indices(self) -> set[int]:
        """The ids of the indices in the rule, alone or in a tuple."""
        inside = [n.slice for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Subscript)]
        return {id(part) for i in inside for part in (i.elts if isinstance(i, ast.Tuple) else [i])}

    @cached_property
    def _indexing(self) -> list[str]:
        """The parameters that are arrays of whole numbers, such as indices, and names that are never read."""
        found = dict.fromkeys(unread_names(self.anatomy.node), True)
        for probe in self.probes:
            for name, x in zip(self.subject.names, probe.point.inputs):
                if isinstance(x, np.ndarray) and x.dtype.kind in "iu" and name in self.anatomy.parameters:
                    found[name] = True
        return list(found)

    @cached_property
    def _gone_through(self) -> set[int]:
        """The ids of the sequences that loops go through."""
        loops = (n for n in ast.walk(self.anatomy.node) if isinstance(n, (ast.For, ast.comprehension)))
        return {id(loop.iter) for loop in loops}

    @cached_property
    def _in_chains(self) -> set[int]:
        """The ids of the products that are factors of another product."""
        plain = (ast.Mult, ast.Div)
        chains = [
            n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.BinOp) and isinstance(n.op, plain)
        ]
        return {id(part) for n in chains for part in (n.left, n.right)}

    @cached_property
    def _divided_by(self) -> set[int]:
        """The ids of the divisors in the rule."""
        nodes = (n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.BinOp))
        return {id(n.right) for n in nodes if isinstance(n.op, ast.Div)}

    @cached_property
    def _compared(self) -> set[int]:
        """The ids of the expressions that the rule compares."""
        nodes = (n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Compare))
        return {id(side) for n in nodes for side in (n.left, *n.comparators)}

    @cached_property
    def _literals(self) -> set[int]:
        """The ids of the literals from which arrays are made."""
        calls = [n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Call) and n.args]
        made = [c.args[0] for c in calls if getattr(c.func, "attr", "") in ("array", "asarray", "stack")]
        products = (n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.BinOp))
        lists = [part for n in products for part in (n.left, n.right) if isinstance(part, ast.List)]
        lists += [part for call in calls for part in call.args if isinstance(part, ast.List)]
        found = (n for one in (*made, *lists) for n in ast.walk(one))
        return {id(n) for n in found if isinstance(n, (ast.List, ast.Tuple))}

    @cached_property
    def _stored_into(self) -> set[int]:
        """The ids of the expressions whose elements are assigned."""
        stored = (n for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Subscript) and is_stored(n))
        return {id(n.value) for n in stored}

    @cached_property
    def _primal_node(self) -> Any:
        """The tree of the function; None if its text is not available."""
        try:
            return find_source(codes_of(self.subject.primal)[0]).node
        except (RuleLabError, AttributeError, IndexError):
            return None

    @cached_property
    def _called(self) -> set[str]:
        """The names used in the function's code, including attributes."""
        return {name for code in codes_of(self.subject.primal) for name in code.co_names}

    @cached_property
    def _attributes(self) -> set[str]:
        """The names of attributes in the text of the rule."""
        return {n.attr for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Attribute)}

    @cached_property
    def _chooses(self) -> bool:
        """Whether function or rule write their masks with `where`, or a product with zero would be nan."""
        return self._is_nan or "where" in self._called | self._attributes

    @cached_property
    def _makes_complex(self) -> bool:
        """Whether the function has a complex number in its code."""
        constants = (c for code in codes_of(self.subject.primal) for c in code.co_consts)
        return any(type(constant) is complex for constant in constants)

    @cached_property
    def _passes_complex(self) -> bool:
        """Whether there may be complex intermediate values, even if arguments and value are real."""
        constants = (n.value for n in ast.walk(self.anatomy.node) if isinstance(n, ast.Constant))
        conjugates = {"conj", "conjugate"} & (self._called | self._attributes)
        return bool(conjugates) or self._is_complex() or any(type(value) is complex for value in constants)

    @cached_property
    def _axes(self) -> tuple[int | None, ...]:
        """The axes along which sums may go; None for all, which for a vector is the same."""
        if names_an_axis(self.subject.primal):
            return (-1, 0, 1)
        return (None, -1, 0, 1) if self._is_array else (None,)

    @cached_property
    def _is_for_whole_numbers(self) -> bool:
        """Whether the rule is right for floats and wrong for whole numbers."""
        exact = [p for p in self.probes if not p.point.far]
        floats = (p for p in exact if p.point.like is None)
        whole = (p for p in exact if p.point.like is not None)
        right = partial(is_right_at, self.subject, roughly=ROUGHLY, with_kinks=False, with_kinds=False)
        return not all(map(right, whole)) and all(map(right, floats))

    def _has_a_sign(self, node: ast.expr) -> bool:
        """Whether an expression has a sign before it, which is to be changed instead, or is tested for
        membership.
        """
        owner = self._slots.owner(node)
        if isinstance(owner, ast.BinOp):
            return owner.right is node and isinstance(owner.op, (ast.Add, ast.Sub))
        return isinstance(owner, ast.Compare) and isinstance(owner.ops[0], (ast.In, ast.NotIn))

    def _is_value(self, node: Any) -> bool:
        return isinstance(node, (ast.Name, ast.BinOp, ast.Call)) and not self.is_module(node)

    def _is_factor(self, node: Any) -> bool:
        if not isinstance(node, _FACTORS) or self.is_module(node) or is_buffer(node):
            return False
        return not isinstance(node, ast.Attribute) or node.attr == "T"

    def _is_ranked(self, name: str | None) -> bool:
        """Whether an argument (None: any argument, or the value) is an array at some probe."""
        for probe in self.probes:
            named = dict(zip(self.subject.names, probe.point.inputs))
            values = (*named.values(), probe.truth.y) if name is None else (named.get(name),)
            if any(isinstance(x, np.ndarray) and x.ndim for x in values):
                return True
        return False

    @cached_property
    def _has_stacks(self) -> bool:
        """Whether an argument is a stack of matrices at some probe."""
        inputs = (x for probe in self.probes for x in probe.point.inputs)
        return any(isinstance(x, np.ndarray) and x.ndim > 2 for x in inputs)

    @cached_property
    def _is_array(self) -> bool:
        """Whether an argument or the value is a matrix at some probe, or the function multiplies matrices."""
        if multiplies_matrices(self.subject.primal):
            return True
        values = (x for p in self.probes for x in (*p.point.inputs, p.truth.y))
        return any(isinstance(x, np.ndarray) and x.ndim == 2 for x in values)

    def _is_complex(self) -> bool:
        return any(
            leaf.dtype.kind == "c" for p in self.probes for leaf in (*p.truth.inputs, *p.truth.outputs)
        )


def is_plain_factor(node: ast.expr) -> bool:
    """Whether an expression is a name or a number, or a sum of these."""
    if isinstance(node, ast.BinOp):
        sums = isinstance(node.op, (ast.Add, ast.Sub))
        return sums and is_plain_factor(node.left) and is_plain_factor(node.right)
    return isinstance(node, (ast.Name, ast.Constant))


def _lays_out(node: Any) -> bool:
    """Whether a subscript adds an axis to an array."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(isinstance(part, ast.Constant) and part.value is None for part in parts)


def _is_whole(node: ast.expr) -> bool:
    """Whether an expression is a sum, or a simple function of one argument, of which an author may have
    written only a part by mistake.
    """
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.Add, ast.Sub))
    called = getattr(getattr(node, "func", None), "attr", "")
    return isinstance(node, ast.Call) and len(node.args) == 1 and called in _PLAIN_CALLS
