"""The magics: each parses its line, calls one plain function, and returns its result."""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from IPython.core.magic import line_cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument

from ..ad.allowance import Allowance
from ..ad.matrices import hessian_within, jacobian_within
from ..ad.reverse import gradient, need_positional
from ..advice import shown_in_magics
from ..bench.duel import GradientDuel, rounds_in_words
from ..bench.profile import SECONDS, Profiling
from ..checking.advice.lint import rule_lint
from ..checking.comparing.comparison import Settings as Compared
from ..checking.comparing.comparison import argument_names, compare, compare_without, first_difference
from ..checking.judgement.reports import RuleCheck
from ..checking.measuring.vectors import to_vec
from ..checking.testing.gradients import gradient_checking
from ..checking.testing.testers import checking
from ..compiler.calls.cache import refresh
from ..compiler.calls.reading import adjoint_source
from ..errors import RuleLabError, ScalarOutputError
from ..pieces import Limited, run
from ..portability import export, import_rule
from ..rules.authoring import which_rule
from ..rules.stub import rule_stub
from ..rules.targets import key_of
from ..rules.twins import is_twin
from ..verdicts import NOT_JUDGED
from .cells import Interrupted, MagicError, cell_label, evaluate, run_body
from .displays import (
    Defined,
    Gradient,
    Hessian,
    Jacobian,
    Refreshed,
    Rules,
    Source,
    Stub,
    Undone,
    WhichRules,
    advice_in_short,
    in_one_line,
    shapes_of_example,
)
from .expressions import equation, parse_names, plain_call, split_options, varying
from .invocations import Invocation
from .lines import parse_arguments, raw_rest, refuse_late_options, split_at, texts_of_arguments, unquoted
from .magic_methods import AT, CHECK, EXPRESSION, OUTPUT, PROVE, ParsedMagics, magic_method
from .manual import NoPageError, docs
from .misuse import refuse_to_overwrite
from .names import free_names
from .option_values import parse_domain, parse_partials, parse_seconds, parse_sizes
from .options import parse_count
from .panel import lab
from .running import PROOF_SECONDS, RULE_SECONDS, SCAN_SECONDS, MeasurementWithBar, QuestionWithBar
from .session import LastArguments as ComparedAt
from .session import lookup
from .settings import Settings

OF_A_COPY = "its copy that carries the rule, made by %%%%rrule F_CR --of F"  # as argparse reads it
MODE = argument(
    "--mode",
    choices=["forward", "reverse"],
    metavar="MODE",
    help="forward: a column at a time; reverse: a row at a time (default: whichever is quicker)",
)

SECONDS_AT_MOST = argument(
    "--seconds", type=parse_seconds, metavar="N", help="how long it may take at most, in seconds"
)
USAGE_OF_A_MATRIX = "[--mode MODE] [--seconds N] [-o RESULT] (EXPR | F --at ARGS)"
SHORT_PROOF_SECONDS = 2.0
"""The time limit of `--prove`."""


MOST_PROVED = 64
"""How many numbers remembered arguments may hold to be passed to SymPy."""
MOST_DERIVED = 100_000
"""The same where a rule is derived at them: its checks call the function at them."""


def _is_whole(value: Any) -> bool:
    """Whether an argument is an integer, or an array of integers."""
    return not isinstance(value, bool) and np.asarray(value).dtype.kind in "iu"


def _too_many(last: ComparedAt, most: int) -> str:
    """Why the last arguments are not used."""
    count = to_vec(last.args)[0].size
    return (
        f"the arguments of {last.magic} in {last.cell} hold {count:,} numbers, more than {most}:"
        " give smaller ones after --at"
    )


def _source_of_arguments(last: ComparedAt) -> str:
    return f"the arguments are those of {last.magic} in {last.cell}"


def _by_keywords(call: Invocation, texts: Sequence[str]) -> str:
    """A call with all of its arguments but the first as keywords; empty where it cannot be written so."""
    _, *others = argument_names(call.function, call.args)
    if not call.name or len(texts) != len(call.args) or not all(map(str.isidentifier, others)):
        return ""
    given = ", ".join(f"{name}={text}" for name, text in zip(others, texts[1:], strict=True))
    return f": %hessian {call.name}({texts[0]}, {given})"


def _asked(line: str, args) -> str:
    """The call at the end of a line, or the whole line if it has `--at`."""
    return line if split_at(line)[1] is not None else raw_rest(line, args.expression)


def _refuse_unless_two(args) -> None:
    """Raise MagicError unless the line names two things to compare: F and its copy, or a loss and a function
    in it.
    """
    if (args.without is None) == (args.twin is None):
        raise MagicError("%grad_compare: give F and F_CR, or LOSS --without F")


def _called(f) -> str:
    return getattr(f, "__name__", "the call")


@magics_class
class RuleLab(ParsedMagics, Settings):
    """The magics of rulelab, and their settings."""

    # -- rules -----------------------------------------------------------------------------------------------

    @line_cell_magic
    @magic_method(plain="@rl.rrule_for(f)")
    @argument("name", metavar="NAME", help="the function that gets the rule: f, np.sin, Bar.method")
    @argument("--of", metavar="F", help="make NAME a copy of F first, unless it is one already")
    @CHECK
    @PROVE
    @OUTPUT
    def rrule(self, line, scope, cell=None):
        """Make the last function of the cell the reverse rule of NAME.

        The cell is ordinary Python and runs in your namespace; an error in it leaves the old rule as it
        was.

        Examples::

            %%rrule mse_cr --of mse
            def mse_cr_rrule(y, yh):
                out = mse(y, yh)
                def mse_cr_pullback(out_bar):
                    g = 2 / len(y) * (y - yh) * out_bar
                    return rl.NoTangent(), g, -g
                return out, mse_cr_pullback
        """
        __tracebackhide__ = True
        args = parse_arguments(self.rrule, line)
        refuse_to_overwrite(self.rrule, args.output, (args.name, args.of))
        return self._checked(self.rrule, args, self._defined(args.name, args.of, cell, line))

    def _defined(self, name: str, of: str | None, cell: str, line: str) -> Defined:
        __tracebackhide__ = True
        if of is not None:
            self.session.refuse_other(name, of, self.shell.user_ns)  # before the cell has changed anything
        run = run_body(self.shell, cell, f"%%rrule {line.strip()}")
        target = self.session.rule_target(name, of, self.shell.user_ns)
        if target is run.function:
            raise MagicError(f"%%rrule: the last `def` of the cell is {name} itself; put its rule last")
        label = cell_label(self.shell)
        replaced = self.session.attach(name, target, run.function, label, of)
        if of is not None:
            self.shell.user_ns[name] = target
        remarks = self._remarks(name, target, run.function)
        return Defined(name, run.function.__name__, label, of, remarks, replaced)

    def _checked(self, method, args, defined: Defined, mode: str = "rrule") -> Defined:
        """What a cell defined, with the verdicts of a quick check and of a short proof, if requested.

        The rule stays in place whatever they say.
        """
        if args.check or self.check == "quick":
            try:
                defined.check = self._quickly(defined.name, mode)
            except KeyboardInterrupt:
                defined.check = "stopped"
        self.kept(args, defined)
        if defined.check == "stopped" or getattr(defined.check, "interrupted", False):
            self.show(defined)
            raise Interrupted(f"{method.spelled}: the check was stopped; the rule is in place")
        if getattr(args, "prove", False):
            try:
                defined.proof = self._proved(defined.name)
            except KeyboardInterrupt:
                defined.proof = "stopped"
                self.show(defined)
                raise Interrupted(f"{method.spelled}: the proof was stopped; the rule is in place") from None
        return defined

    def _proved(self, name: str) -> Any:
        """The report of a short symbolic check of the rule of a name, or in words why there is none."""
        try:
            from ..symbolic import prove  # here, because SymPy takes most of a second to import

            f, registry = lookup(name, self.shell.user_ns), self.session.registry
            with QuestionWithBar(f"proof of {name}", SHORT_PROOF_SECONDS) as asking:
                found = prove(f, time_limit=asking.seconds, stop=asking.stop, registry=registry, name=name)
            return shown_in_magics(found)
        except Exception as error:
            return f"not judged: {in_one_line(error)}"

    def _quickly(self, name: str, mode: str) -> RuleCheck | str:
        """The quick check of the rule of a name, or in words why there is none."""
        try:
            f = lookup(name, self.shell.user_ns)
            given, _ = self._where(name, f)
            options: dict[str, Any] = {"mode": mode, "registry": self.session.registry}
            check = checking(f, *given.args, fkwargs=given.kwargs, depth="quick", **options)
            return shown_in_magics(run(check))
        except Exception as error:
            return f"not judged: {in_one_line(error)}"

    def _where(self, name: str, f, at: Invocation | None = None, domain=None) -> tuple[Invocation, str]:
        """The arguments of a check, and in words where they come from if not from the line: the last command
        with arguments for this function. no arguments if they are to be drawn.
        """
        if at is not None:
            return at, ""
        compared = self.session.last_compared(name, f) if domain is None else None
        if compared is None:
            return Invocation(f, (), {}), ""
        return (
            Invocation(f, compared.args, compared.kwargs),
            f"{_source_of_arguments(compared)}; --at or --domain gives others",
        )

    def _numbers(self, method, name: str, f: Any, given: Invocation | None, most: int = MOST_PROVED) -> tuple:
        """The arguments of a derivation or a scan: those of the line, otherwise the last ones of the
        function; none if these hold too many numbers.
        """
        if given is not None:
            self._remember(method, (name,), given)
            return given.args
        last = self.session.last_compared(name, f)
        if last is None or last.kwargs or not 0 < to_vec(last.args)[0].size <= most:
            return ()
        return last.args

    def _remember(self, method, names: tuple[str, ...], given: Invocation) -> None:
        """Store the arguments of a function for the next magic about it."""
        if not names[0] or not given.args:
            return
        compared = ComparedAt(given.args, given.kwargs, method.spelled, cell_label(self.shell))
        self.session.remember_comparison(names, compared)

    def _remarks(self, name: str, target, rule) -> tuple[str, ...]:
        """Remarks below a rule that was just defined: which other rules are still used, and advice if
        enabled.
        """
        others = self.session.beside(name, target, rule)
        return (*others, *(self._advised(name, target, rule) if self.advice else ()))

    def _advised(self, name: str, target, rule) -> tuple[str, ...]:
        """The advice on a rule that was just defined, a line for each suggestion."""
        try:
            found = rule_lint(target, registry=self.session.registry)
        except Exception as error:  # the rule is in place; a remark must not fail the cell
            return (f"There is no advice on this rule: {' '.join(str(error).split())}",)
        return advice_in_short(name, [a for a in found.advices if a.rule == rule.__name__])

    @line_cell_magic
    @magic_method(plain="@rl.frule_for(f)")
    @argument("name", metavar="NAME", help="the function that gets the rule: f, np.sin, Bar.method")
    @CHECK
    @OUTPUT
    def frule(self, line, scope, cell=None):
        """Make the last function of the cell the forward rule of NAME.

        It takes the tangents first, that of NAME itself in front, and returns the value and its tangent. The
        cell is ordinary Python and runs in your namespace; an error in it leaves the old rule as it was. When
        NAME is redefined, the rule stays with the old function, and a notice says so.

        Examples::

            %%frule mse
            def mse_frule(tangents, y, yh):
                _, y_dot, yh_dot = tangents
                return mse(y, yh), 2 / len(y) * np.sum((y - yh) * (y_dot - yh_dot))
        """
        __tracebackhide__ = True
        args = parse_arguments(self.frule, line)
        refuse_to_overwrite(self.frule, args.output, (args.name,))
        run = run_body(self.shell, cell, f"%%frule {line.strip()}")
        target = self._target(self.frule, args.name, run.function)
        label = cell_label(self.shell)
        replaced = self.session.attach_frule(args.name, target, run.function, label)
        remarks = self._remarks(args.name, target, run.function)
        defined = Defined(args.name, run.function.__name__, label, None, remarks, replaced, "forward rule")
        return self._checked(self.frule, args, defined, "frule")

    def _target(self, method, name: str, rule):
        target = self.session.rule_target(name, None, self.shell.user_ns, method.spelled)
        if target is rule:
            raise MagicError(
                f"{method.spelled}: the last `def` of the cell is {name} itself; put its rule last"
            )
        return target

    @line_cell_magic
    @magic_method(
        plain="rl.scalar_rule(f, lambda out, x, y: (y * out, x * out))",
        usage="[--check] [--prove] [-o RESULT] (NAME | F(x, y): PARTIALS)",
        in_line=True,
    )
    @CHECK
    @PROVE
    @OUTPUT
    @argument(
        "expression",
        metavar="NAME",
        nargs="...",
        help="the function that gets the rules; in one line its arguments follow, and after a colon one "
        "partial derivative for each, in these and in `out`, the value",
    )
    def scalar_rule(self, line, scope, cell=None):
        """Make both rules of an elementwise function from its partial derivatives.

        In a cell the last function gives them: it takes the value, then the arguments, and returns one
        partial for each argument. Broadcasting is undone, and the partials are conjugated in reverse. When
        NAME is redefined, the rules stay with the old function, and a notice says so.

        Examples::

            %%scalar_rule area
            def area_partials(out, w):
                return 2 * w
        """
        __tracebackhide__ = True
        args = parse_arguments(self.scalar_rule, line)
        if cell is not None and len(args.expression) > 1:  # options may follow the name
            name, *options = args.expression
            line = " ".join([*options, name])
            args = parse_arguments(self.scalar_rule, line)
        text = raw_rest(line, args.expression)
        if cell is None:
            refuse_late_options(self.scalar_rule, line, text, "the function")
            name, source, tree = parse_partials("%scalar_rule", text)
            refuse_to_overwrite(self.scalar_rule, args.output, (name,))
            partials, said = evaluate(self.shell, source, {}, tree), text
        else:
            name = text
            if not all(part.isidentifier() for part in name.split(".")):
                raise MagicError("%%scalar_rule: give the name of one function; the partials are in the cell")
            refuse_to_overwrite(self.scalar_rule, args.output, (name,))
            run = run_body(self.shell, cell, f"%%scalar_rule {line.strip()}")
            partials, said = run.function, run.function.__name__
        target = self._target(self.scalar_rule, name, partials)
        label = cell_label(self.shell)
        replaced = self.session.attach_scalar(name, target, partials, label)
        remarks = self.session.beside(name, target, partials)
        defined = Defined(name, said, label, None, remarks, replaced, "scalar rule")
        return self._checked(self.scalar_rule, args, defined)

    @line_magic
    @magic_method(plain="rl.which_rule(f, x, y, k=1)", usage="[-o RESULT] (EXPR | F)")
    @OUTPUT
    @EXPRESSION
    def which_rule(self, line, scope):
        """Which rule is used for a call, in reverse and in forward mode, or why none is.

        The call is not run. It also says what a rule for the call would be stored under: a function, a
        class, or a method and its class. For a name alone, any rule of the function is shown.

        Examples::

            %which_rule mse(y, yh)
            %which_rule np.sin
        """
        __tracebackhide__ = True
        args = parse_arguments(self.which_rule, line)
        text = raw_rest(line, args.expression)
        if all(part.isidentifier() for part in text.split(".")):
            refuse_to_overwrite(self.which_rule, args.output, (text,))
            function, given, kwargs = self.function(self.which_rule, text, scope), (), {}
        else:
            args, call = self.with_call(self.which_rule, line, scope)
            function, given, kwargs = call.function, call.args, call.kwargs
        registry = self.session.registry
        reverse, forward = (
            which_rule(function, *given, mode=mode, registry=registry, **kwargs)
            for mode in ("rrule", "frule")
        )
        return self.kept(args, WhichRules(text, key_of(function), reverse, forward))

    @line_magic
    @magic_method(plain="rl.undo_rule(f)")
    @argument("function", metavar="F", help="the function whose rules were changed")
    @OUTPUT
    def rule_undo(self, line, scope):
        """Undo the last change to the rules of F, and restore what it replaced or removed.

        Another call undoes one more change.

        Examples::

            %rule_undo mse_cr
        """
        __tracebackhide__ = True
        args = parse_arguments(self.rule_undo, line)
        refuse_to_overwrite(self.rule_undo, args.output, (args.function,))
        f = self.function(self.rule_undo, args.function, scope)
        undone = self.session.undo(args.function, f)
        gone, back = ([e.describe() for e in part] for part in (undone.gone, undone.back))
        return self.kept(args, Undone(args.function, gone, back))

    @line_magic
    @magic_method(plain="rl.rule_stub(f)")
    @argument("function", metavar="F", help="the function that needs a rule")
    @OUTPUT
    def rule_stub(self, line, scope):
        """Put the skeleton of a rule for F into the next cell.

        Examples::

            %rule_stub mse
        """
        __tracebackhide__ = True
        args = parse_arguments(self.rule_stub, line)
        refuse_to_overwrite(self.rule_stub, args.output, (args.function,))
        f = self.function(self.rule_stub, args.function, scope)
        stub = Stub(rule_stub(f, name=args.function, magic=True), args.function)
        self.shell.set_next_input(str(stub))
        return self.kept(args, stub)

    @line_magic
    @magic_method(plain="rl.rule_lint(f)")
    @argument("function", metavar="F", help="the function with the rule, or the one that states it")
    @OUTPUT
    def rule_lint(self, line, scope):
        """Advice on how the rule of F is written: your line, what it costs, and a better line.

        Only the text of the rule is read, and that of functions called `test…` next to it; nothing is run.
        `%%rrule` gives the same advice in short form, unless `%config RuleLab.advice = False`.

        Examples::

            %rule_lint mse_cr
        """
        __tracebackhide__ = True
        args = parse_arguments(self.rule_lint, line)
        refuse_to_overwrite(self.rule_lint, args.output, (args.function,))
        f = self.function(self.rule_lint, args.function, scope)
        found = rule_lint(f, registry=self.session.registry)
        return self.kept(args, found)

    @line_magic
    @magic_method(
        plain='rulelab.portability.export(f, "module", "rules.py", at=(x, y))',
        usage="--to TARGET FILE [--force] [--package DIR] [--prove] [-o RESULT] F [F ...] [--at ARGS]",
    )
    @argument("functions", metavar="F", nargs="+", help="the functions whose rules are exported")
    @argument(
        "--to",
        nargs=2,
        metavar=("TARGET", "FILE"),
        required=True,
        help="the target and the file to write; "
        "module: a Python module with the functions, their rules and whatever these name, "
        "and its tests; "
        "jax, torch, autograd: the same rules in a module for that framework; chainrules: "
        "Julia, not run here",
    )
    @argument("--force", action="store_true", help="replace existing files")
    @argument("--package", metavar="DIR", help="make an installable project of it, in this folder")
    @PROVE
    @OUTPUT
    @AT
    def rule_export(self, line, scope):
        """Write functions and their rules to a self-contained file, with its tests, and run it.

        Whatever their code refers to is included. Each rule is checked first: at the arguments of --at,
        otherwise at the last arguments of F in this session, otherwise at some that are drawn. A wrong rule
        is not exported. The file is run in a separate process and compared with the rule here. Files are
        written completely or not at all.

        Examples::

            %rule_export mse_cr --to module mse_rules.py
            %rule_export mse_cr area --to module my_rules.py --package my-rules
        """
        __tracebackhide__ = True
        args, at = self.with_at(self.rule_export, line, scope, needed=False)
        refuse_to_overwrite(self.rule_export, args.output, args.functions)
        if at is not None and len(args.functions) > 1:
            raise MagicError("%rule_export: --at is for one function; export them one by one")
        functions, points = [], {}
        for name in args.functions:
            f = self.function(self.rule_export, name, scope)
            given, _ = self._where(name, f, at)
            functions.append(f)
            points[id(f)] = given.args, given.kwargs
        if at is not None:
            self._remember(self.rule_export, tuple(args.functions), at)
        to, file = args.to
        report = export(
            functions,
            to,
            Path(unquoted(file)).expanduser(),
            force=args.force,
            package=None if args.package is None else Path(unquoted(args.package)).expanduser(),
            at=points,
            prove=self._proof if args.prove else None,
            registry=self.session.registry,
        )
        return self.kept(args, shown_in_magics(report))

    @staticmethod
    def _proof(f, **options: Any) -> Any:
        from ..symbolic import prove  # here, because SymPy takes most of a second to import

        with QuestionWithBar(f"proof of {_called(f)}", SHORT_PROOF_SECONDS) as asking:
            return prove(f, time_limit=asking.seconds, stop=asking.stop, **options)

    @line_magic
    @magic_method(plain='rulelab.portability.import_rule(f, "autograd")')
    @argument(
        "framework", choices=["torch", "jax", "autograd"], metavar="FRAMEWORK", help="torch, jax or autograd"
    )
    @argument("object", metavar="OBJECT", help="their function, or a class of torch.autograd.Function")
    @argument("--of", metavar="F", help="make a copy of F with their rule (else the value is theirs, too)")
    @argument("--name", metavar="NAME", help="its name here (default: that of F or OBJECT, with _FRAMEWORK)")
    @OUTPUT
    def rule_import(self, line, scope):
        """Make a function whose rule is the derivative that OBJECT has in another framework.

        The other framework's code runs behind it. It can be compared, timed and checked like any rule of
        yours.

        Examples::

            %rule_import autograd theirs --of f
            %rule_import autograd theirs --name theirs_here
        """
        __tracebackhide__ = True
        args = parse_arguments(self.rule_import, line)
        theirs = self.function(self.rule_import, args.object, scope)
        of = None if args.of is None else self.function(self.rule_import, args.of, scope)
        stem = (args.of or args.object).rpartition(".")[2]
        name = args.name or f"{stem}_{args.framework}"
        refuse_to_overwrite(self.rule_import, args.output, (name, args.object, args.of))
        there = lookup(name, self.shell.user_ns)
        if there is not None and not is_twin(there):
            raise MagicError(f"%rule_import: {name} already exists; give it another name: --name NAME")
        found = import_rule(theirs, args.framework, of, name=name, registry=self.session.registry)
        self.shell.user_ns[name] = found
        behind = f"{args.object} of {args.framework}"
        return self.kept(args, Defined(name, behind, cell_label(self.shell), args.of))

    @line_magic
    @magic_method(plain="rulelab.notebook.rules()")
    @argument("text", metavar="TEXT", nargs="?", default="", help="only those of this function: sin, np.sin")
    @OUTPUT
    def rules(self, line, scope):
        """List the rules: yours with the place where each was defined, the built-in ones folded.

        With TEXT, those of the functions that have this word in their name.

        Examples::

            %rules
            %rules sin
        """
        __tracebackhide__ = True
        args = parse_arguments(self.rules, line)
        self.session.registry.read_lazy_rules()
        return self.kept(args, Rules(self.session.registry, args.text))

    @line_magic
    @magic_method(plain="rl.refresh()")
    @argument(
        "mode",
        nargs="?",
        choices=["now", "auto", "manual"],
        metavar="MODE",
        default="now",
        help="now (the default): rebuild what is stale; auto: do so automatically from now on; "
        "manual: only when told to",
    )
    @OUTPUT
    def grad_refresh(self, line, scope):
        """Drop the compiled passes that a changed rule made stale, and say which and why.

        In the mode `auto`, the default, this is never needed. In the mode `manual` an old pass is used,
        with a notice, until this magic is called.

        Examples::

            %grad_refresh
            %grad_refresh manual
        """
        __tracebackhide__ = True
        args = parse_arguments(self.grad_refresh, line)
        return self.kept(args, Refreshed(refresh(None if args.mode == "now" else args.mode)))

    @line_magic
    @magic_method(plain="rulelab.notebook.docs('limitations#syntax')", comments=False)
    @argument(
        "topic",
        metavar="TOPIC",
        nargs="*",
        help="a page (limitations), a section (limitations#syntax), a public name (gradient), or words",
    )
    @OUTPUT
    def rule_docs(self, line, scope):
        """What the manual says about TOPIC, shown here: it comes with the package, and needs no network.

        Without a TOPIC, the front page. `rulelab docs TOPIC` opens the same in a browser.

        Examples::

            %rule_docs limitations#array-mutation
            %rule_docs gradient
        """
        __tracebackhide__ = True
        args = parse_arguments(self.rule_docs, line)
        try:
            return self.kept(args, docs(" ".join(args.topic)))
        except NoPageError as error:
            raise MagicError(f"%rule_docs: {error}") from None

    # -- asking ----------------------------------------------------------------------------------------------

    @line_magic
    @magic_method(plain="rl.gradient(f, x, y, k=1)", usage="[-o RESULT] EXPR")
    @OUTPUT
    @EXPRESSION
    def gradient(self, line, scope):
        """The gradient of a call with respect to its positional arguments: a tuple.

        That of `f(g(x))` is with respect to `g(x)`, and a note says how to ask for that with respect to `x`.

        Examples::

            %gradient mse(y, yh)
            g = %gradient f(2.0, k=3)
        """
        __tracebackhide__ = True
        args, call = self.with_call(self.gradient, line, scope)
        need_positional(call.function, call.args, call.kwargs)
        try:
            found = gradient(call.function, *call.args, **call.kwargs)
        except ScalarOutputError:  # the function accepts the arguments
            self._remember(self.gradient, (call.name,), call)
            raise
        names = argument_names(call.function, call.args)
        self._remember(self.gradient, (call.name,), call)
        return self.kept(args, Gradient(found, _called(call.function), names, call.note))

    @line_magic
    @magic_method(plain="rl.jacobian(f, x, y, k=1)", usage=USAGE_OF_A_MATRIX)
    @MODE
    @SECONDS_AT_MOST
    @OUTPUT
    @EXPRESSION
    @AT
    def jacobian(self, line, scope):
        """The Jacobians of a call with respect to its positional arguments: a tuple of matrices.

        Rows are the numbers that the call returns, columns those of an argument, both row by row. After a
        second a progress bar appears. At the end of `--seconds`, or at Ctrl-C, the rows or columns so far
        are shown, with nan for the others.

        Examples::

            %jacobian np.cumsum(y)
            %jacobian --mode reverse -o J f(2.0, k=3)
            %jacobian f --at 2.0, k=3
            %jacobian --seconds 10 np.cumsum(y)
        """
        __tracebackhide__ = True
        args, call = self.with_point(self.jacobian, line, scope)
        need_positional(call.function, call.args, call.kwargs)
        allowance = Allowance(args.seconds)
        val, found = jacobian_within(allowance, call.function, call.args, call.kwargs, args.mode)
        names = argument_names(call.function, call.args)
        self._remember(self.jacobian, (call.name,), call)
        shown = Jacobian(found, _called(call.function), names, call.args, val, allowance.words, call.note)
        return self._as_far(self.jacobian, args, shown, allowance)

    def _as_far(self, method, args, shown: Any, allowance: Allowance) -> Any:
        """A matrix, complete or not; after Ctrl-C the cells that follow do not run."""
        __tracebackhide__ = True
        self.kept(args, shown)
        if allowance.interrupted:
            self.show(shown)
            counts = f"{allowance.done:,} of {allowance.total:,} {allowance.parts}"
            raise Interrupted(f"{method.spelled} was stopped after {counts}; the others are nan")
        return shown

    @line_magic
    @magic_method(plain="rl.hessian(f, x, k=1)", usage=USAGE_OF_A_MATRIX)
    @MODE
    @SECONDS_AT_MOST
    @OUTPUT
    @EXPRESSION
    @AT
    def hessian(self, line, scope):
        """The second derivatives of a call with respect to its one positional argument: a matrix.

        After a second a progress bar appears. At the end of `--seconds`, or at Ctrl-C, the columns so far
        are shown, with nan for the others.

        Examples::

            %hessian loss(w)
            %hessian f --at 2.0, k=3
        """
        __tracebackhide__ = True
        args, call = self.with_point(self.hessian, line, scope)
        need_positional(call.function, call.args, call.kwargs)
        if len(call.args) > 1:
            raise MagicError(
                "%hessian: give one argument by position, and the others by keyword, which holds them fixed"
                f"{_by_keywords(call, texts_of_arguments(_asked(line, args)))}"
            )
        allowance = Allowance(args.seconds)
        found = hessian_within(allowance, call.function, call.args[0], call.kwargs, args.mode)
        (name,) = argument_names(call.function, call.args)
        self._remember(self.hessian, (call.name,), call)
        shown = Hessian(found, _called(call.function), name, call.args[0], allowance.words, call.note)
        return self._as_far(self.hessian, args, shown, allowance)

    @line_magic
    @magic_method(plain="rl.adjoint_source(f, x, y, k=1)", usage="[-o RESULT] EXPR")
    @OUTPUT
    @EXPRESSION
    def adjoint(self, line, scope):
        """The Python that computes a call and its pullback.

        Examples::

            %adjoint mse(y, yh)
        """
        __tracebackhide__ = True
        args, call = self.with_call(self.adjoint, line, scope)
        self._remember(self.adjoint, (call.name,), call)
        return self.kept(args, Source(adjoint_source(call.function, *call.args, **call.kwargs)))

    # -- checking --------------------------------------------------------------------------------------------

    @line_magic
    @magic_method(plain="rl.rule_check(f, x, y)")
    @argument("function", metavar="F", help="the function whose rule is checked")
    @argument("--order", type=int, choices=[1, 2], metavar="N", help="2: second derivatives, too")
    @argument("--deep", action="store_true", help="check at two to three times as many points")
    @argument("--frule", action="store_true", help="check the forward rule")
    @SECONDS_AT_MOST
    @argument(
        "--domain",
        type=parse_domain,
        metavar="WORDS",
        help='where to draw the arguments: positive, "(0, 1)", "complex vector", "x: positive, A: symmetric"',
    )
    @OUTPUT
    @AT
    def rule_check(self, line, scope):
        """Whether the rule of F is right, by numbers: right, wrong with the mistake, or cannot tell.

        Every cotangent is compared with two families of finite differences, at points on both sides of
        every branch that can be found. They begin at the arguments of --at, otherwise at the last arguments
        of F in this session; otherwise they are drawn. Ctrl-C, or the end of `--seconds`, ends the check
        and shows the results so far.

        Examples::

            %rule_check mse_cr
            %rule_check mse_cr --deep -o report --at y, yh
            %rule_check area --domain "(0, 10)"
        """
        __tracebackhide__ = True
        args, at = self.with_at(self.rule_check, line, scope, needed=False)
        f = self.function(self.rule_check, args.function, scope)
        given, where = self._where(args.function, f, at, args.domain)
        options: dict[str, Any] = {"mode": "frule"} if args.frule else {}
        if args.order is not None:
            options["order"] = args.order
        check = checking(
            f,
            *given.args,
            fkwargs=given.kwargs,
            depth="deep" if args.deep else "normal",
            domain=args.domain,
            registry=self.session.registry,
            **options,
        )
        if at is not None:
            self._remember(self.rule_check, (args.function,), at)
        return self._ran(self.rule_check, args, check, f"check of {args.function}", where)

    def _ran(self, method, args, check, doing: str, where: str = ""):
        """The report of a check run to its end; Ctrl-C shows the results so far and is reported."""
        __tracebackhide__ = True
        limited = Limited(check, args.seconds)
        found = shown_in_magics(run(MeasurementWithBar(limited, doing, args.seconds, beats=1.0)))
        stopped = found.interrupted and not limited.is_over
        if stopped and not found.points:
            raise KeyboardInterrupt
        if where:
            found = replace(found, notes=(where, *found.notes))
        self.kept(args, found)
        if stopped:
            self.show(found)
            points = "1 point" if len(found.points) == 1 else f"{len(found.points)} points"
            raise Interrupted(f"{method.spelled} was stopped after {points}; the report shows these")
        return found

    @line_magic
    @magic_method(plain="rulelab.checking.grad_check(f, x, y)", usage="[--seconds N] [-o RESULT] EXPR")
    @SECONDS_AT_MOST
    @OUTPUT
    @EXPRESSION
    def grad_check(self, line, scope):
        """Whether the gradient of a call is right, by numbers, with or without rules of yours in it.

        It is compared with finite differences, number by number if there are few and in random directions
        otherwise, at the arguments of the call and near them. Ctrl-C, or the end of `--seconds`, ends the
        check and shows the results so far.

        Examples::

            %grad_check mse(y, yh)
            %grad_check -o report f(2.0, k=3)
        """
        __tracebackhide__ = True
        args, call = self.with_call(self.grad_check, line, scope)
        need_positional(call.function, call.args, call.kwargs)
        check = gradient_checking(call.function, *call.args, fkwargs=call.kwargs)
        self._remember(self.grad_check, (call.name,), call)
        return self._ran(self.grad_check, args, check, f"check of {_called(call.function)}", call.note)

    # -- comparing -------------------------------------------------------------------------------------------

    @line_magic
    @magic_method(plain="rl.compare(f, f_cr, x, y, k=1)")
    @argument("function", metavar="F", help="the function, or with --without a whole loss")
    @argument("twin", metavar="F_CR", nargs="?", help=OF_A_COPY)
    @argument("--without", metavar="F", help="compare the loss with and without the rule of this function")
    @OUTPUT
    @AT
    def grad_compare(self, line, scope):
        """Value and every gradient of F and F_CR side by side, with a verdict in words.

        If the AD refuses F itself, its column has finite differences. With --without, a whole LOSS is
        compared with itself, once with the rule of F and once without.

        Examples::

            %grad_compare mse mse_cr --at y, yh
            %grad_compare loss --without mse_cr --at w
        """
        __tracebackhide__ = True
        args, given = self.with_at(self.grad_compare, line, scope, refuse=_refuse_unless_two)
        f = self.function(self.grad_compare, args.function, scope)
        other = self.function(self.grad_compare, args.without or args.twin, scope)
        names = (args.function, args.without or args.twin)
        comparison = (compare if args.without is None else compare_without)(
            f, other, *given.args, settings=Compared(names=names), **given.kwargs
        )
        self._remember(self.grad_compare, names if args.without is None else names[:1], given)
        return self.kept(args, comparison)

    @line_magic
    @magic_method(plain="rulelab.bench.gradient_duel(f, f_cr, x, y, k=1)")
    @argument("function", metavar="F", help="the function")
    @argument("twin", metavar="F_CR", help=OF_A_COPY)
    @argument(
        "--rounds",
        type=parse_count,
        metavar="N",
        help="rounds to run, each of which times both, in random order (default: %%config RuleLab.rounds)",
    )
    @argument(
        "--seconds",
        type=parse_seconds,
        metavar="N",
        help="no new round is started after this many seconds of timing",
    )
    @OUTPUT
    @AT
    def grad_bench(self, line, scope):
        """Time the gradients of F and of F_CR against each other, with a ratio one can trust.

        It shows minimum, median and memory of each. Ctrl-C, or the end of `--seconds`, ends it and shows
        the results so far. As the last line of a cell it is displayed; elsewhere, as in a loop, write
        `d = %grad_bench …` and `display(d)`.

        Examples::

            %grad_bench mse mse_cr --at y, yh
            %grad_bench mse mse_cr --seconds 0.1 --at y, yh
        """
        __tracebackhide__ = True
        args, given = self.with_at(self.grad_bench, line, scope)
        rounds = self.rounds if args.rounds is None else args.rounds
        f, f_cr = (self.function(self.grad_bench, name, scope) for name in (args.function, args.twin))
        names = (args.function, args.twin)
        need_positional(f, given.args, given.kwargs)
        differs = first_difference(f, f_cr, given.args, given.kwargs)
        self._remember(self.grad_bench, names, given)
        options: dict[str, Any] = {"rounds": rounds, "seconds": args.seconds, "names": names}
        timing = GradientDuel(f, f_cr, given.args, given.kwargs, **options)
        duel = run(MeasurementWithBar(timing, f"{names[0]} against {names[1]}"))
        if duel.interrupted and not duel.ratios:
            raise KeyboardInterrupt
        if differs is not None:
            remark = f"The two differ in the {differs.name}: compare before you time."
            duel = replace(duel, remark=remark)
        self.kept(args, duel)
        if duel.interrupted:
            self.show(duel)
            raise Interrupted(
                f"%grad_bench was stopped after {len(duel.ratios):,} of "
                f"{rounds_in_words(duel.rounds_wanted)}; "
                "the table shows these"
            )
        return duel

    @line_magic
    @magic_method(plain="rulelab.bench.profile(f, x, y, k=1)", usage="[--seconds N] [-o RESULT] EXPR")
    @argument(
        "--seconds",
        type=parse_seconds,
        default=SECONDS,
        metavar="N",
        help=f"how long to measure, in seconds (default: {SECONDS:g})",
    )
    @OUTPUT
    @EXPRESSION
    def grad_profile(self, line, scope):
        """Time and memory of the gradient of a call, per line of your source.

        For each line: how often it ran, the time of the forward and of the reverse sweep, their share of
        the whole, and the bytes held from one to the other. The call runs many times. Ctrl-C ends it and
        shows the results so far.

        Examples::

            %grad_profile mse(y, yh)
            %grad_profile --seconds 0.2 -o found mse(y, yh)
        """
        __tracebackhide__ = True
        args, call = self.with_call(self.grad_profile, line, scope)
        shown = raw_rest(line, args.expression)
        profiling = Profiling(call.function, call.args, call.kwargs, seconds=args.seconds, shown=shown)
        found = run(MeasurementWithBar(profiling, f"profile of {_called(call.function)}"))
        self._remember(self.grad_profile, (call.name,), call)
        self.kept(args, found)
        if found.interrupted:
            self.show(found)
            raise Interrupted(
                f"%grad_profile was stopped after {rounds_in_words(found.rounds)}; "
                "the table shows the results so far"
            )
        return found

    @line_magic
    @magic_method(plain="rulelab.symbolic.prove(f)")
    @argument("function", metavar="F", help="the function whose rule is to be proved")
    @argument(
        "--sizes",
        type=parse_sizes,
        metavar="SIZES",
        help='lengths and shapes of arrays to try: 3,5 or "2x3, 4x2"; with a word for each argument, '
        '"2x3 3, 4x2 2" or "3 number"',
    )
    @argument(
        "--domain",
        type=parse_domain,
        metavar="WORDS",
        help='where the arguments are: positive, "(0, 1)", "positive vector", "x: (0, 1), A: square"',
    )
    @SECONDS_AT_MOST
    @OUTPUT
    @AT
    def rule_symbolic(self, line, scope):
        """The derivative by SymPy next to that of the rule of F: proved, refuted, or cannot tell.

        The verdict says for which arguments and sizes it holds. A refutation comes with a counterexample.
        `--at` gives a point to start from; without, numbers are tried, then vectors, then matrices, at two
        sizes each; a wrong rule is then shown at arguments of the shapes in your last command about F.
        After a second it shows what is known so far; Ctrl-C ends it with that.

        Examples::

            %rule_symbolic area
            %rule_symbolic area --domain "(0, 10)"
            %rule_symbolic mse_cr --sizes 2,4 --seconds 10
        """
        __tracebackhide__ = True
        args, given = self.with_at(self.rule_symbolic, line, scope, needed=False)
        f = self.function(self.rule_symbolic, args.function, scope)
        from ..symbolic import prove  # here, because SymPy takes most of a second to import

        if given is not None:
            self._remember(self.rule_symbolic, (args.function,), given)
        is_said = given is not None or args.domain is not None
        question = partial(
            prove if is_said else self._retried_at_last_arguments(prove, args.function),
            f,
            at=None if given is None else given.args or None,
            kwargs=None if given is None else given.kwargs,
            sizes=args.sizes,
            domain=args.domain,
            time_limit=args.seconds or PROOF_SECONDS,
            registry=self.session.registry,
            name=args.function,
        )
        return self._symbolic_report(self.rule_symbolic, args, f"proof of {args.function}", question)

    def _retried_at_last_arguments(self, prove: Callable, name: str) -> Callable:
        """A prover that tries again at the last arguments of the function if it cannot judge at arguments of
        its own choice, or if it refutes the rule there: at arguments of other shapes, where an example with
        the user's shapes is more useful, or at floats in place of integers.
        """

        def proved(f: Any, **options: Any) -> Any:
            found = prove(f, **options)
            last = self.session.last_compared(name, f)
            if last is None or options["sizes"] or found.verdict.word in ("PROVED", "AGREES", "CONVERGES"):
                return found
            is_refuted = found.verdict.word == "REFUTED"
            may_be_right = not is_refuted or any(map(_is_whole, last.args))
            if not may_be_right and shapes_of_example(found) in (None, [*map(np.shape, last.args)]):
                return found
            if to_vec(last.args)[0].size > MOST_PROVED:
                too_many = (_too_many(last, MOST_PROVED),) if may_be_right else ()
                return replace(found, notes=(*found.notes, *too_many))
            again = prove(f, **{**options, "at": last.args, "kwargs": last.kwargs})
            is_refuted_there = again.verdict.word == "REFUTED"
            if not may_be_right and not is_refuted_there:
                return found
            notes = [_source_of_arguments(last), *again.notes]
            if is_refuted and not is_refuted_there:
                notes.append(f"with floats in place of whole numbers: {found.verdict.sentence()}")
            return replace(again, notes=tuple(notes))

        return proved

    def _symbolic_report(self, method, args, doing: str, question: partial, notes: Sequence[str] = ()) -> Any:
        """The report that answers a question to SymPy; Ctrl-C shows what is known so far, with a note."""
        __tracebackhide__ = True
        asking = QuestionWithBar(doing, question.keywords["time_limit"])
        try:
            with asking:
                found, stopped = question(stop=asking.stop, heard=asking.heard), False
        except KeyboardInterrupt:
            if asking.known is None:
                raise
            found, stopped = asking.known.stopped(), True
        found = shown_in_magics(replace(found, notes=(*notes, *found.notes)))
        self.kept(args, found)
        if stopped:
            self.show(found)
            raise Interrupted(f"{method.spelled} was stopped; the report shows what was known by then")
        return found

    @line_magic
    @magic_method(
        plain="rulelab.symbolic.sym_check(f, x, y)",
        usage="[--wrt NAMES] [--seconds N] [-o RESULT] EXPR [== FORMULA]",
    )
    @argument(
        "--wrt",
        metavar="NAMES",
        help="what varies: x, or x,y (default: names that hold floats, or are not defined)",
    )
    @argument(
        "--seconds",
        type=parse_seconds,
        default=PROOF_SECONDS,
        metavar="N",
        help=f"how long it may take at most, in seconds (default: {PROOF_SECONDS:g})",
    )
    @OUTPUT
    @argument(
        "expression",
        metavar="EXPR",
        nargs="...",
        help="any expression, as f(x) or x**2*np.sin(x); after == a formula for its derivative, for several "
        "names a tuple of them",
    )
    def sym_check(self, line, scope):
        """The derivative of EXPR by SymPy next to the gradient by the AD, or to a formula of yours.

        For a call the gradient is with respect to its positional arguments; for any other expression, and
        whenever a formula is given, with respect to the names that hold floats or arrays of floats. An
        undefined name is any real number. Your code runs on numbers that record how they were computed.
        Ctrl-C ends it with what is known by then.

        Examples::

            %sym_check mse(y, yh)
            %sym_check x**2 * np.sin(x) == 2*x*np.sin(x) + x**2*np.cos(x)
            %sym_check --wrt y mse(y, yh) == 2/len(y) * (y - yh)
        """
        __tracebackhide__ = True
        args, text = split_options(self.sym_check, line)
        if not text:
            raise MagicError("%sym_check: give an expression, as in %sym_check f(x)")
        wrt = None if args.wrt is None else parse_names("%sym_check", args.wrt)
        refuse_late_options(self.sym_check, line, text, "the expression")
        asked = equation("%sym_check", text)
        refuse_to_overwrite(self.sym_check, args.output, free_names(text))
        names = ChainMap(scope, self.shell.user_ns)
        plain = plain_call(asked, names) if args.wrt is None else None
        if plain is not None:
            call = self.call(self.sym_check, plain, asked.text, scope)
            function, values, formula = call.function, call.args, None
            spelled, kwargs, notes = ast.unparse(plain.func), call.kwargs, []
        else:
            made = varying("%sym_check", self.shell, asked, scope, names, wrt)
            function, values, formula = made.function, made.values, made.formula
            spelled, kwargs, notes = made.formula_text or made.text, None, made.notes()
        from ..symbolic import sym_check  # here, because SymPy takes most of a second to import

        question = partial(
            sym_check,
            function,
            *values,
            formula=formula,
            kwargs=kwargs,
            time_limit=args.seconds,
            name=asked.text,
            written=spelled,
        )
        return self._symbolic_report(self.sym_check, args, f"proof of {asked.text}", question, notes)

    @line_magic
    @magic_method(plain="rulelab.symbolic.derive_rule(f)")
    @argument("function", metavar="F", help="the function that needs a rule")
    @argument("--scalar", action="store_true", help="a scalar rule, which is a forward rule, too")
    @SECONDS_AT_MOST
    @OUTPUT
    @AT
    def rule_derive(self, line, scope):
        """Put a finished rule for F into the next cell: derived by SymPy from your code, and checked.

        F is a function of numbers, or of arrays like those after `--at` (or of your last command about F).
        The rule in the cell has passed the symbolic check and the check by numbers, or the report says what
        is still open; Ctrl-C ends these checks early. Nothing is registered until you run the cell.

        Examples::

            %rule_derive area
            %rule_derive area --scalar
            %rule_derive mse --at y, yh
        """
        __tracebackhide__ = True
        args, given = self.with_at(self.rule_derive, line, scope, needed=False)
        f = self.function(self.rule_derive, args.function, scope)
        if given is not None and given.kwargs:
            raise MagicError("%rule_derive: after --at, give positional arguments only")
        from ..symbolic import derive_rule  # here, because SymPy takes most of a second to import

        at = self._numbers(self.rule_derive, args.function, f, given, MOST_DERIVED)
        last = None if given is not None or not at else self.session.last_compared(args.function, f)

        def derived(f: Any, *at: Any, **options: Any) -> Any:
            found = derive_rule(f, *at, **options)
            return found if last is None else replace(found, notes=(*found.notes, _source_of_arguments(last)))

        question = partial(derived, f, *at, name=args.function, scalar=args.scalar)
        seconds = args.seconds or RULE_SECONDS
        return self._cut_short(self.rule_derive, args, f"rule of {args.function}", seconds, question)

    def _cut_short(self, method, args, doing: str, seconds: float, question: partial) -> Any:
        """The report that answers a question which always has an answer so far; Ctrl-C ends it and is
        reported.
        """
        __tracebackhide__ = True
        with QuestionWithBar(doing, seconds, keeps=True) as asking:
            try:
                found = shown_in_magics(question(time_limit=seconds, stop=asking.stop))
            except RuleLabError:
                if asking.asked:  # before there was a result
                    raise KeyboardInterrupt from None
                raise
        if (cell := getattr(found, "cell", None)) is not None:
            self.shell.set_next_input(cell)
        self.kept(args, found)
        if asking.asked:
            self.show(found)
            raise Interrupted(f"{method.spelled} was stopped; the report shows what was known by then")
        return found

    @line_magic
    @magic_method(plain="rulelab.symbolic.scan_stability(f)")
    @argument("function", metavar="F", help="the function whose rule is scanned")
    @argument("--plane", action="store_true", help="go through complex numbers instead (one argument)")
    @SECONDS_AT_MOST
    @OUTPUT
    @AT
    def rule_scan(self, line, scope):
        """Where the rule of F loses digits in floats, why, and a better formula if one is found.

        One argument at a time goes through the floats of both signs, and the others stay at those of --at.
        The results of the rule are compared with the same code evaluated to hundreds of digits. This is
        about rounding only; whether the rule is right is for `%rule_symbolic` to say. Ctrl-C ends it and
        shows the results so far.

        Examples::

            %rule_scan area
            %rule_scan area --seconds 5 -o found
        """
        __tracebackhide__ = True
        args, given = self.with_at(self.rule_scan, line, scope, needed=False)
        f = self.function(self.rule_scan, args.function, scope)
        if given is not None and given.kwargs:
            raise MagicError("%rule_scan: after --at, give positional arguments only")
        from ..symbolic import scan_stability  # here, because SymPy takes most of a second to import
        from ..symbolic.scan_inputs import MAX_ENTRIES

        at = self._numbers(self.rule_scan, args.function, f, given, MAX_ENTRIES)
        last = self.session.last_compared(args.function, f)

        def scanned(f: Any, **options: Any) -> Any:
            found = scan_stability(f, **options)
            if at or last is None or last.kwargs or found.word != NOT_JUDGED:
                return found
            return replace(found, notes=(_too_many(last, MAX_ENTRIES),))  # not the failed guesses

        options: dict[str, Any] = {"at": at or None, "plane": args.plane, "name": args.function}
        question = partial(scanned, f, registry=self.session.registry, **options)
        seconds = args.seconds or SCAN_SECONDS
        return self._cut_short(self.rule_scan, args, f"scan of {args.function}", seconds, question)

    # -- the panel -------------------------------------------------------------------------------------------

    @line_magic
    @magic_method(plain="rulelab.notebook.lab(f, f_cr, (x, y), kwargs={'k': 1})")
    @argument("function", metavar="F", help="the function")
    @argument("twin", metavar="F_CR", help=OF_A_COPY)
    @argument("--run", action="store_true", help="measure everything before the panel opens")
    @argument("--no-widget", action="store_true", help="tables, text and pictures only, all measured at once")
    @SECONDS_AT_MOST
    @OUTPUT
    @AT
    def rule_lab(self, line, scope):
        """Everything about F and F_CR on one panel: gradients, times, checks, code, and SymPy's verdict.

        It opens with the gradients and a quick duel; Run on its page Times measures for longer, and against
        the size N; Run on its page Check checks the rule at many points. What the panel showed is below it,
        for readers without a kernel. Without widgets everything is measured at once; Ctrl-C, or the end of
        `--seconds`, the time for all that is measured before it opens, shows the results so far. As the
        last line of a cell it is displayed; elsewhere, as in a loop, write `p = %rule_lab …` and
        `display(p)`.

        Examples::

            %rule_lab mse mse_cr --at y, yh
            %rule_lab mse mse_cr --run --no-widget -o shown --at y, yh
        """
        __tracebackhide__ = True
        args, given = self.with_at(self.rule_lab, line, scope)
        f, f_cr = (self.function(self.rule_lab, name, scope) for name in (args.function, args.twin))
        widgets = False if args.no_widget else None
        options = {"kwargs": given.kwargs, "rounds": self.rounds, "run": args.run, "widgets": widgets}
        options["seconds"] = args.seconds
        options["asked"] = (args.function, args.twin, split_at(line)[1])
        panel = self.kept(args, lab(f, f_cr, given.args, **options))
        self._remember(self.rule_lab, (args.function, args.twin), given)
        if panel.interrupted:
            self.show(panel)
            raise Interrupted("%rule_lab was stopped early; what is shown was measured before that")
        return panel
