"""The transform: turns the intermediate form into a forward sweep that keeps what is needed, and a reverse
sweep that uses it.
"""

from __future__ import annotations

import functools
import operator
import re
from dataclasses import dataclass
from typing import cast

from ...rules.kinds import (
    ANY,
    BOOL,
    FLOAT,
    I8,
    INT,
    LIST,
    NONE,
    STR,
    Array,
    Elements,
    Tuple,
    Type,
    is_real,
    is_sequence_of_numbers,
)
from ..analysis.activity import Activity
from ..analysis.regions import Regions, may_hold
from ..analysis.types import Types
from ..analysis.usage import ends_in_raise, has_active
from ..base import ir
from ..memory import heap, outlines, support, walks
from . import specialise
from .phrases import bracketed, branching, joined, pattern
from .stored import Stored
from .sweeps import Sites, Sweeps, words
from .tidy import Block, Line, Node, Put, Region, Restart, Sum, flow, in_step, texts_of

_WIDE = 100  # characters: putting an expression in place never makes a line longer than this
_WORD = re.compile(r"\w+")


@dataclass(eq=False)
class Emitted:
    """The two sweeps, ready to be printed: lines, and the objects that the lines name."""

    function: ir.Function
    sweeps: Sweeps  # for fresh names, and the names of helpers
    name: str
    forward: list[Node]
    result: str
    reverse: Block | None
    result_bar: str
    kept: str  # a default argument of the pullback, computed as soon as the result is known
    returned: list[str]  # the cotangents to return, their names marked as in nodes
    back_name: str
    has_effects: bool  # whether the pullback must be called even if nothing flowed back to the result
    hands_on: bool  # whether it must be called if the result is a container, which a callee may have made
    takes_numbers: bool  # whether the cotangent of a tuple result may be a tuple of floats
    lone: set[str]  # arrays of the forward sweep that nothing else holds at its end


def adjoint(
    function: ir.Function,
    types: Types,
    active: Activity,
    regions: Regions,
    parameters: list[str],
    wanted: set[str],
    sites: Sites,
    differentiate: bool,
    runs_once: bool = False,
) -> Emitted:
    """Both sweeps of a lowered function: the pullback gives a cotangent for each of `parameters` (free
    variables come first) that is `wanted`. With `runs_once` the sweeps are for `emit_fused`.
    """
    made = _Adjoint(function, types, active, regions, sites)
    made.runs_once = runs_once
    return made.run(parameters, wanted, differentiate)


class _Adjoint(Stored):
    """The transform of one function: a method for each kind of statement."""

    def run(self, parameters: list[str], wanted: set[str], differentiate: bool) -> Emitted:
        """Transform the whole function."""
        function = self.function
        for name in (*function.parameters, *function.free):
            self.define(name)
        self.set_apart()
        forward, reverse = self.block(function.body)
        self.out = forward
        result = self.text(function.result)
        bar = self.bar(function.result) if self.active(function.result) else self.fresh("y_bar")  # type: ignore[arg-type]
        self.kept = ""
        if differentiate and isinstance(function.result, str):
            reverse[:0] = self.hand_over_result(function.result)
        if self.has_effects and self.active(function.result):
            reverse[:0] = self.begin_with_effects(bar)
        asked = [name for name in parameters if self.active(name) and name in wanted]
        for name in asked:
            reverse += self.complete(name, None)
        self.open_bars([name for name in parameters if self.active(name)], reverse)
        settled = {name: self.settled(name, self.flow(name)) for name in asked}
        lone = self.lone_arrays(forward) - {result}
        forward = self.released(forward, result)
        no = self.shared_constant(support.NO)
        returned = [settled.get(name, no) for name in parameters]
        short = function.name if function.name.isidentifier() else "function"
        return Emitted(
            function,
            self,
            self.fresh(short),
            forward,
            result,
            reverse if differentiate else None,
            bar,
            self.kept,
            returned,
            self.fresh(f"{short}_pullback"),
            self.has_effects and differentiate,
            self.may_make and isinstance(function.result, str) and may_hold(self.types(function.result)),
            self.takes_numbers,
            lone,
        )

    def released(self, forward: list[Node], result: str) -> list[Node]:
        """The forward lines, with a `del` after the last use of each array that the reverse sweep does not
        need: later lines can reuse the memory, and no more is held than the reverse sweep needs.
        """
        scope = self.scopes[0]
        arrays = {
            name
            for name, on_branch in scope.defined.items()
            if not on_branch and name not in scope.needed and isinstance(self.types(name), Array)
        } - {result, *self.function.parameters, *self.function.free}
        if not arrays:
            return forward
        out: list[Node] = []
        for node in reversed(forward):
            last = sorted(arrays.intersection(words(node)))
            arrays.difference_update(last)
            if last and node is not forward[-1] and not _gives(node, last):
                out.append(Line(f"del {', '.join(last)}", None))
            out.append(node)
        return out[::-1]

    def hand_over_result(self, result: str) -> list[Node]:
        """Start recording changes of a returned container that is constant here, since the caller may change
        it; return the reverse line that drops its cotangents.
        """
        if (self.active(result) and not self.makes_unseen) or not self.regions.makes(result):
            return []
        self.has_effects = True
        handed = self.fresh("handed_on")
        self.line(f"{handed} = {self.asked(outlines.hand_on, self.text(result))}", None)
        return [Line(self.asked(outlines.forget, handed), None)]

    def begin_with_effects(self, bar: str) -> list[Node]:
        """The first lines of a pullback with effects: a seed that may be a zero becomes a number, and the
        cotangents of containers that may be used elsewhere go into the table.
        """
        result = self.function.result
        assert isinstance(result, str)
        if self.has_real_bar(result):
            return [Line(self.asked(self.as_real(result), flow(bar)), None, (bar,))]
        if not may_hold(self.types(result)):
            return []
        outline = self.fresh("outline")
        self.kept = f", {outline}={self.asked(outlines.outline, self.text(result), base='outline_of')}"
        return [Line(self.asked(outlines.hand_in, outline, flow(bar)), None, (bar,))]

    def settled(self, name: str, bar: str) -> str:
        """The cotangent of a parameter in the form that callers expect: running sums of items are settled,
        since only the pass itself knows them.
        """
        kind = self.types(name)
        holds_items = kind == LIST or isinstance(kind, Tuple)
        return self.asked(support.settle, bar) if holds_items else bar

    # -- blocks ----------------------------------------------------------------------------------------------

    def block(self, statements: ir.Block, first: list[Node] | None = None) -> tuple[list[Node], Block]:
        """The forward lines of a block and its reverse lines, last statement first.

        `first` are reverse lines that come before all others.
        """
        outer, self.out, outer_pending, self.pending = self.out, [], self.pending, {}
        pieces = [(statement, *self.statement(statement)) for statement in statements]
        self.flush()
        forward, self.out, self.pending = self.out, outer, outer_pending
        reverse = Block(first or ())
        for statement, nodes, names in reversed(pieces):
            for name in names:
                reverse += self.complete(name, statement.position)
            reverse += nodes
            if isinstance(nodes, Block):  # its local cotangents belong to this block now
                reverse.zeros.update(nodes.zeros)
        self.put_together(reverse)
        self.open_bars([name for _, _, names in pieces for name in names], reverse)
        return forward, reverse

    def put_together(self, reverse: Block) -> None:
        """Merge consecutive lines that each put one item into a tuple's cotangent into a single line."""
        start = 0
        while start < len(reverse):
            if type(reverse[start]) is not Put:
                start += 1
                continue
            end = start
            while end < len(reverse) and _follows(reverse[start:end], reverse[end]):
                end += 1
            if end - start > 1:
                puts = cast(list[Put], reverse[start:end])
                last = puts[-1]
                bars = ", ".join(f"{put.number}: {put.item}" for put in reversed(puts))
                given = (flow(last.sets[0]), self.need(last.size), f"{{{bars}}}")
                reverse[start:end] = [Line(self.asked(support.put_each, *given), last.position, last.sets)]
            start += 1

    def statement(self, statement: ir.Statement) -> tuple[list[Node], list[str]]:
        """Emit the forward lines; give the reverse lines and the active names that the statement defines."""
        return getattr(self, f"do_{type(statement).__name__.lower()}")(statement)

    # -- branches --------------------------------------------------------------------------------------------

    def do_if(self, statement: ir.If) -> tuple[list[Node], list[str]]:
        position = statement.position
        matters = has_active(statement, self.active)
        kept: ir.Atom = statement.test
        lasts = not isinstance(kept, str) or _keeps_its_truth(self.types(kept))
        texts = self.texts((kept,), (kept,) if matters and lasts else (), tight=0)
        self.flush()
        test = self.tested(statement, texts)
        if matters and not lasts:
            kept = test = self.truth(test, position)
        arms = [self.arm(statement, number) for number in (0, 1)]
        for phi in statement.outs:
            self.define(self.text(phi.target))
        self.out += branching(test, arms[0][0], arms[1][0], position)
        nodes: list[Node] = []
        if arms[0][1] or arms[1][1]:
            nodes = branching(self.need(kept), arms[0][1], arms[1][1], position)
        return nodes, [phi.target for phi in statement.outs if self.active(phi.target)]

    def tested(self, statement: ir.If | ir.While, texts: list[str]) -> str:
        """The text of a test, with a check that the code that answers it can be followed."""
        position = statement.position
        if statement.asks:
            return self.ask_text(self.shared_constant(operator.truth), texts, position)
        return self.looked_at([statement.test], texts, position)[0]

    def truth(self, test: str, position: ir.Position) -> str:
        """Keep the truth of a test in a new name: a container's may have changed by the reverse sweep."""
        taken = self.defined("taken")
        self.line(f"{taken} = {self.asked(operator.truth, test)}", position)
        return taken

    def arm(self, statement: ir.If, number: int) -> tuple[list[Node], Block]:
        """The forward and reverse lines of one arm of an `if`, with the moves for the joined names."""
        active = [phi for phi in statement.outs if self.active(phi.target)]
        moves = [n for phi in active for n in self.move(phi.sources[number], phi.target, statement.position)]
        body = (statement.then, statement.orelse)[number]
        pairs = [(self.text(phi.target), phi.sources[number]) for phi in statement.outs]
        inner = {phi.target for each in body if isinstance(each, ir.If) for phi in each.outs}
        for target, source in pairs:  # a name joined by an inner branch goes by the name it gets here
            if source in inner and source not in self.alias:
                self.alias[str(source)] = target
        with self.branch():
            forward, reverse = self.block(body, moves)
        forward += self.moves(pairs, statement.position, forward)
        return forward, reverse

    # -- loops -----------------------------------------------------------------------------------------------

    def do_for(self, statement: ir.For) -> tuple[list[Node], list[str]]:
        self.flush()
        position = statement.position
        leaves = ir.leaves(statement.iteration)
        self.walks(leaves, position)
        header = f"for {pattern(statement.iteration)} in {self.iterated(statement.iteration, position)}:"
        gathered = [
            (leaf, self.fresh("items_bar"))
            for leaf in leaves
            if isinstance(leaf, ir.Sequence) and self.active(leaf.item)
        ]
        names = [leaf.item for leaf in leaves] + ir.counters(statement.iteration)
        kept = {leaf.item: self.kept_sequence(leaf, position) for leaf, _ in gathered}
        nodes, defined = self.loop(statement, header, names, [(leaf.item, items) for leaf, items in gathered])
        if not gathered:
            return nodes, defined
        after: list[Node] = []
        for leaf, items in gathered:
            given = [self.need(kept[leaf.item]), items, *(["True"] if leaf.backwards else [])]
            if isinstance(self.types(leaf.value), Elements):
                term = self.asked(walks.gather_numbers, *given)
                after += self.add(leaf.value, term, position, exact=True, new=True, certain=True)
            else:
                after += self.add(leaf.value, self.asked(walks.gather, *given), position)
        lists = in_step([(items, "[]") for _, items in gathered], 3)
        return [*(Line(f"{left} = {right}", position) for left, right in lists), *nodes, *after], defined

    def walks(self, leaves: list[ir.Sequence | ir.Count], position: ir.Position) -> None:
        """Define a walk, which records items, for each value of unknown kind that a loop iterates over."""
        for leaf in leaves:
            if not isinstance(leaf, ir.Sequence) or not self.active(leaf.item):
                continue
            kind = self.types(leaf.value)
            if kind == LIST or isinstance(kind, Tuple) or is_sequence_of_numbers(kind):
                continue
            self.walked[leaf.item] = walk = self.defined("walk")
            iterate = self.constant(self.sites.iterate(position), "iterate")
            self.line(f"{walk} = {iterate}({self.as_it_is(leaf.value)})", position)

    def kept_sequence(self, leaf: ir.Sequence, position: ir.Position) -> ir.Atom:
        """What a loop iterates over, for the reverse sweep: a copy if it is a list that grows."""
        if leaf.item in self.walked:
            return self.walked[leaf.item]
        if leaf.value not in self.growing:
            return leaf.value
        name = self.defined("items")
        self.line(f"{name} = {self.text(leaf.value)}[:]", position)
        return name

    def iterated(self, iteration: ir.Iteration, position: ir.Position) -> str:
        """The text of what a `for` runs over."""
        if isinstance(iteration, ir.Count):
            texts = list(map(self.text, iteration.args))
            if isinstance(iteration, ir.Positions):
                return self.asked(support.positions, *texts, *(["True"] if iteration.backwards else []))
            if any(self.types(atom) == ANY and isinstance(atom, str) for atom in iteration.args):
                return self.ask_text(self.builtin("range"), texts, position)
            return f"{self.builtin('range')}({', '.join(texts)})"
        if isinstance(iteration, ir.Zipped):
            parts = [self.iterated(part, position) for part in iteration.parts]
            strict = ["strict=True"] if iteration.strict else []
            return f"{self.builtin('zip')}({', '.join([*parts, *strict])})"
        if isinstance(iteration, ir.Enumerated):
            start = self.text(iteration.start)
            counted = [self.iterated(iteration.part, position), *([] if start == "0" else [start])]
            return f"{self.builtin('enumerate')}({', '.join(counted)})"
        value = self.text(self.walked.get(iteration.item, iteration.value))
        if iteration.item not in self.walked:
            [value] = self.looked_at([iteration.value], [value], position)
        return f"{self.builtin('reversed')}({value})" if iteration.backwards else value

    def do_while(self, statement: ir.While) -> tuple[list[Node], list[str]]:
        self.flush()
        return self.loop(statement, None, [], [])

    def loop(
        self, statement: ir.For | ir.While, header: str | None, names: list[str], items: list[tuple[str, str]]
    ) -> tuple[list[Node], list[str]]:
        """A loop and its reverse: each iteration appends what the reverse sweep needs to one list, the tape.

        `items` are the active items of the loop, each with the list that collects its cotangents.
        """
        position = statement.position
        phis = [phi for phi in statement.carried if self.active(phi.target)]
        changing = [phi for phi in statement.carried if phi.sources[1] != phi.target]
        for phi in statement.carried:
            if phi not in changing:
                self.go_by(phi.target, self.text(phi.sources[0]))
        reads, swaps = self.hand_over(phis, position)
        # the cotangent of a carried name before an iteration is what the iteration itself contributes
        starts = {self.bar(phi.target): self.zero(phi.target) for phi in phis if phi in changing}
        with self.scope() as scope:
            for name in (*names, *(phi.target for phi in changing)):
                self.define(name)
            head: list[Node] = []
            if isinstance(statement, ir.While):
                header, head = self.head(statement)
            forward, reverse = self.block(statement.body, [*reads, Restart(starts), *swaps])
            for item, collected in items:
                reverse += self.complete(item, position)
                reverse.append(Line(f"{collected}.append({self.flow(item)})", position))
            self.open_bars([item for item, _ in items], reverse)
            again = self.worked_out_again(scope.defined, scope.needed, reverse)
            kept = [name for name in scope.defined if name in scope.needed and name not in again]
            counter = self.counter_of(statement) if statement.stop is None else ""
            taped = [name for name in kept if name != counter]
            before: list[Node] = [Line(f"{name} = None", position) for name in kept if scope.defined[name]]
            differentiated = bool(phis or items or has_active(statement, self.active))
            counts = bool(counter) and not taped  # then the range says how many iterations there were
            tape = self.fresh("tape") if differentiated and not counts else ""
            if tape:
                forward.append(Line(f"{tape}.append({joined(taped) or 'None'})", position))
            forward += self.moves([(phi.target, phi.sources[1]) for phi in changing], position, forward)
            if statement.stop is not None:
                leave: list[Node] = [Line("break", position)]
                forward.append(Region([(f"if {self.text(statement.stop)}:", leave)], position))
        begun = [(phi.target, phi.sources[0]) for phi in changing]
        before = before if differentiated else []
        before += self.moves(begun, position, self.out, [(tape, "[]")] if tape else [])
        made = Region([(str(header), [*head, *forward])], position)
        generates = isinstance(statement, ir.For) and statement.generates
        self.out += [*before, self.generating(made) if generates else made]
        for phi in changing:
            self.name_result(phi.target, kept, position)
        nodes: list[Node] = []
        if differentiated and counts:
            turns = f"{self.builtin('reversed')}({self.counted(cast(ir.For, statement))})"
            turn = counter if counter in kept else "_"
            nodes.append(Region([(f"for {turn} in {turns}:", reverse)], position))
        elif tape:
            self.define(tape)
            header = self.turns_back(statement, reverse, tape, taped, counter if counter in kept else "")
            nodes.append(Region([(header, reverse)], position))
        for phi in phis:
            nodes += self.move(phi.sources[0], phi.target, position)
        return nodes, [phi.target for phi in phis]

    def generating(self, loop: Region) -> Region:
        """A loop in place of a generator; as in Python, a StopIteration in it becomes a RuntimeError."""
        at, error = loop.position, self.fresh("error")
        kind, stop = self.builtin("RuntimeError"), self.builtin("StopIteration")
        text = f'raise {kind}("generator raised StopIteration") from {error}'
        return Region([("try:", [loop]), (f"except {stop} as {error}:", [Line(text, at)])], at)

    def counter_of(self, statement: ir.For | ir.While) -> str:
        """The loop variable of a loop over a range that the reverse sweep can run through again; empty for
        other loops.
        """
        if not isinstance(statement, ir.For) or not isinstance(statement.iteration, ir.Count):
            return ""
        at_hand = all(
            self.types(atom) == INT and (isinstance(atom, ir.Const) or self.is_defined(self.text(atom)))
            for atom in statement.iteration.args
        )
        return statement.iteration.item if at_hand and type(statement.iteration) is ir.Count else ""

    def turns_back(
        self, statement: ir.For | ir.While, reverse: Block, tape: str, taped: list[str], counter: str
    ) -> str:
        """The header of the reverse loop: over the tape, and over the loop variable if it is read. A loop
        variable that counts from zero is the index of its iteration on the tape.
        """
        kept = self.need(tape)
        turns = f"{self.builtin('reversed')}({kept})"
        if not counter:
            return f"for {joined(taped) or '_'} in {turns}:"
        loop = cast(ir.For, statement)
        assert isinstance(loop.iteration, ir.Count)
        back = f"{self.builtin('reversed')}({self.counted(loop)})"
        of_turn = f"{kept}[{counter}]"
        if len(loop.iteration.args) == 1 and len(taped) == 1 and _put_in_place(taped[0], of_turn, reverse):
            return f"for {counter} in {back}:"
        return f"for {counter}, {joined(taped)} in {self.builtin('zip')}({back}, {turns}):"

    def counted(self, loop: ir.For) -> str:
        """The range that a loop runs over, as a text for the reverse sweep."""
        assert isinstance(loop.iteration, ir.Count)
        return f"{self.builtin('range')}({', '.join(map(self.need, loop.iteration.args))})"

    def worked_out_again(self, defined: dict[str, bool], needed: set[str], reverse: Block) -> set[str]:
        """Make the reverse sweep recompute values of an iteration from others that it has, instead of keeping
        them: a sum or product of Python floats is quicker than the tape, and takes no memory. Return which.
        """
        again: dict[str, tuple[str, ir.Position]] = {}
        for name in [name for name in defined if name in needed and name in self.simple]:
            let = self.simple[name]
            operands = [self.alias.get(atom, atom) for atom in let.op.operands() if isinstance(atom, str)]
            at_hand = all(
                atom in needed if atom in defined else atom not in self.pending and self.is_defined(atom)
                for atom in operands
            )
            if at_hand and not defined[name] and name not in operands:
                texts = [self.need(atom) for atom in let.op.operands()]
                again[name] = specialise.primal_text(let.op, texts, self.asked), let.position
        for name, (text, position) in reversed(again.items()):  # one may read those before it
            if not _put_in_place(name, text, reverse):
                reverse.insert(0, Line(f"{name} = {text}", position))
        return set(again)

    @functools.cached_property
    def simple(self) -> dict[str, ir.Let]:
        """The arithmetic on Python floats, by the name of its result: what did not raise the first time does
        not raise when it is repeated, and none of it warns.
        """
        return {
            let.target: let
            for let in self.function.lets()
            if isinstance(let.op, (ir.Binary, ir.Unary))
            and let.op.operator in ("add", "sub", "mul", "truediv", "neg")
            and self.types(let.target) == FLOAT
            and all(self.types(atom) in (FLOAT, INT) for atom in let.op.operands())
        }

    def name_result(self, name: str, kept: list[str], position: ir.Position) -> None:
        """Give the result of a loop a name of its own if the reverse loop reuses the carried name for values
        from the tape.
        """
        if name not in kept:
            self.define(name)
            return
        self.alias[name] = after = self.defined(f"{name}_end")
        self.out.append(Line(f"{after} = {name}", position))

    def head(self, statement: ir.While) -> tuple[str, list[Node]]:
        """The header of a while loop, and the lines at the top of its body: a test that is not a single
        expression is computed there.
        """
        outer, self.out = self.out, []
        for inner in statement.head:
            self.statement(inner)
        test = self.tested(statement, self.texts((statement.test,), tight=0))
        self.flush()
        lines, self.out = self.out, outer
        if not lines:
            return f"while {test}:", []
        return "while True:", [
            *lines,
            Region([(f"if not {bracketed(test)}:", [Line("break", statement.position)])], statement.position),
        ]

    def hand_over(self, phis: list[ir.Phi], position: ir.Position) -> tuple[list[Node], list[Node]]:
        """Pass the cotangent of each carried name to the value that it took at the end of an iteration.

        Where that value is another carried name, reading and adding are two steps, since both cotangents
        change.
        """
        reads: list[Node] = []
        swaps: list[Node] = []
        targets = {phi.target for phi in phis}
        for phi in phis:
            following = phi.sources[1]
            if following == phi.target:
                continue
            if following in targets:
                held = self.fresh("held")
                reads.append(Line(self.flow(phi.target), position, (held,)))
                swaps += self.add(following, flow(held), position, exact=self.has_real_bar(phi.target))
            else:
                reads += self.move(following, phi.target, position)
        return reads, swaps

    # -- exceptions ------------------------------------------------------------------------------------------

    def do_try(self, statement: ir.Try) -> tuple[list[Node], list[str]]:
        """The block is differentiated as if nothing were raised; if a handler ran, the reverse sweep refuses
        cotangents of what it changed.

        A handler that ends in a raise needs no record that it ran.
        """
        self.flush()
        position = statement.position
        active = [slot for slot in statement.slots if self.active(slot.target)]
        stays = any(not ends_in_raise(handler.body) for handler in statement.handlers)
        caught = self.defined("caught") if stays else ""
        before = self.moves([(slot.target, slot.sources[0]) for slot in statement.slots], position, self.out)
        moves = [node for slot in active for node in self.move(slot.sources[1], slot.target, position)]
        # Not inside `with`: in Python 3.14 the loop that `any` becomes would jump past its handler.
        unwinds = any(handler.unwinds for handler in statement.handlers)
        with self.branch():
            forward, reverse = self.block(statement.body, moves)
            arms: list[tuple[str, list[Node]]] = [("try:", forward)]
            if not unwinds:
                ours = self.shared_constant(support.RuleLabError)
                arms.append((f"except {ours}:", [Line("raise", position)]))
            arms += self._handlers(statement, caught)
        start = [Line(f"{caught} = 0", position)] if stays else []
        self.out += [*before, *start, Region(arms, position)]
        for slot in statement.slots:
            self.define(slot.target)
        inside = [s.target for block in ir.blocks(statement) for s in ir.lets(block)]
        changed = any(name in self.regions.effects and self.active(name) for name in inside)
        if not reverse and not active and not changed:
            return [], []
        if not stays:
            return reverse, [slot.target for slot in active]
        clauses = [at for handler in statement.handlers for at in handler.clauses or (handler.position,)]
        refuse = self.constant(self.sites.caught(clauses), "refuse_caught")
        asked = [self.need(caught), *sorted(self.flow(slot.target) for slot in active)]
        if changed:
            asked.append(self.asked(heap.any_cotangent))
        objects = (slot.target for slot in active if not _is_numeric(self.types(slot.target)))
        asked += [self.asked(heap.has_cotangent, self.need(name)) for name in objects]
        refusal = Line(f"{refuse}({', '.join(asked)})", position)
        nodes: list[Node] = [Region([(f"if {self.need(caught)}:", [refusal]), ("else:", reverse)], position)]
        return nodes, [slot.target for slot in active]

    def _handlers(self, statement: ir.Try, caught: str) -> list[tuple[str, list[Node]]]:
        """The arms of the handlers; each records that it ran, unless it ends in a raise."""
        arms, position = [], statement.position
        for number, handler in enumerate(statement.handlers):
            body, _ = self.block(handler.body)
            if not ends_in_raise(handler.body):
                chosen = number + 1 if handler.chosen is None else self.text(handler.chosen)
                body.append(Line(f"{caught} = {chosen}", position))
                slots = zip(statement.slots, handler.values, strict=True)
                body += self.moves([(slot.target, value) for slot, value in slots], position, [])
            kinds = self.shared_constant(BaseException) if handler.unwinds else handler.kinds
            name = f" as {handler.name}" if handler.name else ""
            arms.append((f"except {kinds}{name}:" if kinds else "except:", body))
        return arms

    def do_keep(self, statement: ir.Keep) -> tuple[list[Node], list[str]]:
        self.line(f"{statement.slot} = {self.text(statement.value)}", statement.position)
        return [], []

    def do_raise(self, statement: ir.Raise) -> tuple[list[Node], list[str]]:
        error = "" if statement.error is None else f" {self.text(statement.error)}"
        cause = "" if statement.cause is None else f" from {self.text(statement.cause)}"
        self.line(f"raise{error}{cause}", statement.position)
        return [], []


def _put_in_place(name: str, text: str, nodes: Block) -> bool:
    """Replace a name by a text if it is read exactly once, and outside branches; return whether it was."""
    outside, inside = texts_of(nodes, [])
    if sum(_count(name, each) for each in outside) != 1 or any(_count(name, each) for each in inside):
        return False
    node = next(node for node in nodes if isinstance(node, (Line, Sum)) and _count(name, node.text))
    assert isinstance(node, (Line, Sum))
    if (isinstance(node, Sum) and node.steps) or len(node.text) + len(text) > _WIDE:
        return False
    node.text = _WORD.sub(lambda word: bracketed(text) if word[0] == name else word[0], node.text)
    return True


def _count(name: str, text: str) -> int:
    """How often a text reads a name (compiling a pattern for each name would take most of the time here)."""
    return _WORD.findall(text).count(name) if name in text else 0


def _gives(node: Node, names: list[str]) -> bool:
    """Whether a line assigns one of these names."""
    return isinstance(node, Line) and any(node.text.startswith(f"{name} = ") for name in names)


def _keeps_its_truth(kind: Type) -> bool:
    """Whether the truth of values of this type never changes."""
    return is_real(kind) or kind in (BOOL, I8, STR, NONE)


def _follows(puts: list[Node], node: Node) -> bool:
    """Whether a node puts another item into the same cotangent as the `puts` before it."""
    if not isinstance(node, Put):
        return False
    others = cast(list[Put], puts)
    return all(put.sets == node.sets and put.number != node.number for put in others)


def _is_numeric(kind: Type) -> bool:
    """Whether values of a type are numbers or arrays, which hold nothing that has a cotangent of its own."""
    return is_real(kind) or isinstance(kind, Array)
