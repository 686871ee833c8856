"""The magics: each parses its line, calls one plain function, and hands back what that returns."""

from __future__ import annotations

import argparse
import ast
import functools
import inspect
import io
import re
import tokenize
from typing import Any, NamedTuple

from IPython.core.error import UsageError
from IPython.core.magic import (
    Magics,
    line_cell_magic,
    line_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
    output_can_be_silenced,
)
from IPython.core.magic_arguments import argument, kwds, magic_arguments, parse_argstring
from IPython.utils.process import arg_split
from traitlets import Bool, observe

from ..ad.reverse import gradient
from ..bench.duel import gradient_duel
from ..checking.comparison import compare, compare_without
from ..compiler.cache import DEFAULT as CACHE
from ..compiler.cache import refresh
from ..compiler.reading import adjoint_source
from ..errors import RuleLabError
from ..rules.stub import rule_stub
from .cells import (
    Interrupted,
    MagicError,
    cell_label,
    evaluate,
    label_cell,
    label_earlier_cells,
    parse,
    run_body,
)
from .completion import matcher_for
from .displays import Refreshed, Rules, Source, error_lines
from .session import Session, lookup


def _name(text: str) -> str:
    """What `-o` takes: a name to bind."""
    if not text.isidentifier():
        raise argparse.ArgumentTypeError(f"needs a name to keep the result under, not {text}")
    return text


_AT = argument(
    "--at",
    metavar="ARGS",
    help="the arguments to call with, as in a call; the last option: it takes the "
    'rest of the line (--at -x, y, k={"a": -2})',
)
_OUTPUT = argument(
    "-o", dest="output", metavar="RESULT", type=_name, help="also keep the result under this name"
)


class Invocation(NamedTuple):
    """A call taken apart: the function and its arguments, all evaluated."""

    function: Any
    args: tuple
    kwargs: dict


def faced(magic):
    """Give a magic the manners that all of ours share.

    Braces and dollars in the line are left alone, a `;` at its end silences the result, wrong use and
    Ctrl-C are told in one line and stop the cells that follow, and our frames stay out of tracebacks.
    """

    takes_cell = "cell" in inspect.signature(magic).parameters

    @functools.wraps(magic)
    def manners(self, line, cell=None, local_ns=None):
        __tracebackhide__ = True
        name = f"%%{magic.__name__}" if cell is not None else f"%{magic.__name__}"
        extra = {"cell": cell} if takes_cell else {}
        scope = self.shell.user_ns if local_ns is None else local_ns
        try:
            return magic(self, without_semicolon(line), scope, **extra)
        except UsageError as error:
            if hasattr(error, "_render_traceback_"):
                raise
            raise MagicError(f"{name}: {error}") from None
        except Interrupted:
            raise
        except KeyboardInterrupt:
            raise Interrupted(f"{name} was stopped before it had a result") from None

    return needs_local_scope(no_var_expand(output_can_be_silenced(manners)))


@magics_class
class RuleLab(Magics):
    """The magics of rulelab, and their settings."""

    shell: Any
    short_errors = Bool(True, help="show rulelab's own errors in their six lines, without the traceback").tag(
        config=True
    )

    def __init__(self, shell, session: Session | None = None, **kwargs):
        super().__init__(shell, **kwargs)
        self.session = session or Session()

    @observe("short_errors")
    def _short_errors_changed(self, change) -> None:
        _show_errors_short(change["new"])

    # -- rules -----------------------------------------------------------------------------------------------

    @line_cell_magic
    @faced
    @magic_arguments("%rrule")
    @argument("name", metavar="NAME", help="the function that gets the rule: f, np.sin, Bar.method")
    @argument("--of", metavar="F", help="make NAME a copy of F first, unless it is one already")
    def rrule(self, line, scope, cell=None):
        """Make the last function of the cell the reverse rule of NAME.

        The cell is ordinary Python and runs in your namespace; an error in it leaves the old rule as it
        was. In plain Python the same is `@rl.rrule_for(NAME)` above the function.

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
        if cell is None:
            return print(self.rrule.__doc__)
        args = parse_arguments(self.rrule, line)
        self._define(args.name, args.of, cell, line)

    def _define(self, name: str, of: str | None, cell: str, line: str) -> None:
        __tracebackhide__ = True
        if of is not None:
            self.session.refuse_other(name, of, self.shell.user_ns)  # before the cell has changed anything
        run = run_body(self.shell, cell, f"%%rrule {line.strip()}")
        target = self.session.rule_target(name, of, self.shell.user_ns)
        if target is run.function:
            raise MagicError(f"%%rrule: the last `def` of the cell is {name} itself; its rule comes last")
        self.session.attach(name, target, run.function, cell_label(self.shell), of)
        if of is not None:
            self.shell.user_ns[name] = target
        copy = f", a copy of {of}," if of is not None else ""
        print("\n".join([f"{name}{copy} now has the rule {run.function.__name__}.", *run.remarks]))

    @line_magic
    @faced
    @magic_arguments("rule_stub")
    @argument("function", metavar="F", help="the function that needs a rule")
    def rule_stub(self, line, scope):
        """Put the skeleton of a rule for F into the next cell. In plain Python: `rl.rule_stub(F)`.

        Examples::

            %rule_stub mse
        """
        __tracebackhide__ = True
        args = parse_arguments(self.rule_stub, line)
        self.shell.set_next_input(
            rule_stub(self._function("%rule_stub", args.function, scope), name=args.function, magic=True)
        )

    @line_magic
    @faced
    @magic_arguments("rules")
    @_OUTPUT
    def rules(self, line, scope):
        """List the rules: yours one by one with the place where each was defined, those of the house folded.

        Examples::

            %rules
        """
        __tracebackhide__ = True
        return self._kept(parse_arguments(self.rules, line), Rules(self.session.registry.rules()))

    @line_magic
    @faced
    @magic_arguments("grad_refresh")
    @argument(
        "mode",
        nargs="?",
        choices=["now", "auto", "manual"],
        default="now",
        help="now: rebuild what is stale; auto: do that by itself from now on; manual: only when told to",
    )
    @_OUTPUT
    def grad_refresh(self, line, scope):
        """Drop the compiled passes that a changed rule made stale, and say which and why. Plain:
        `rl.refresh(mode)`.

        In the mode `auto`, where one starts, this is never needed. In the mode `manual` an old pass
        answers, with a notice, until this magic is called.

        Examples::

            %grad_refresh
            %grad_refresh manual
        """
        __tracebackhide__ = True
        args = parse_arguments(self.grad_refresh, line)
        return self._kept(args, Refreshed(refresh(None if args.mode == "now" else args.mode)))

    # -- asking ----------------------------------------------------------------------------------------------

    @line_magic
    @faced
    @magic_arguments("gradient")
    @kwds(usage="gradient [-o RESULT] EXPR")
    @_OUTPUT
    @argument("expression", metavar="EXPR", nargs="...", help="one call, f(x, y, k=1)")
    def gradient(self, line, scope):
        """The gradient of a call by its positional arguments: a tuple. In plain Python: `rl.gradient(f, x,
        y, k=1)`.

        Examples::

            %gradient mse(y, yh)
            g = %gradient f(2.0, k=3)
        """
        __tracebackhide__ = True
        args, call = self._with_call("%gradient", self.gradient, line, scope)
        return self._kept(args, gradient(call.function, *call.args, **call.kwargs))

    @line_magic
    @faced
    @magic_arguments("adjoint")
    @kwds(usage="adjoint [-o RESULT] EXPR")
    @_OUTPUT
    @argument("expression", metavar="EXPR", nargs="...", help="one call, f(x, y)")
    def adjoint(self, line, scope):
        """The Python that computes a call and its pullback. In plain Python: `rl.adjoint_source(f, x, y)`.

        Examples::

            %adjoint mse(y, yh)
        """
        __tracebackhide__ = True
        args, call = self._with_call("%adjoint", self.adjoint, line, scope)
        return self._kept(args, Source(adjoint_source(call.function, *call.args, **call.kwargs)))

    # -- comparing -------------------------------------------------------------------------------------------

    @line_magic
    @faced
    @magic_arguments("grad_compare")
    @argument("function", metavar="F", help="the function, or with --without a whole loss")
    @argument("twin", metavar="F_CR", nargs="?", help="its copy that carries the rule")
    @argument("--without", metavar="F", help="compare the loss with and without the rule of this function")
    @_OUTPUT
    @_AT
    def grad_compare(self, line, scope):
        """Value and every gradient of F and F_CR side by side, with the largest differences and a verdict
        in words.

        Where F itself is refused by the AD, finite differences stand in its column. In plain Python:
        `rl.compare(F, F_CR, *ARGS)` and `rl.compare(LOSS, F, *ARGS, without=True)`.

        Examples::

            %grad_compare mse mse_cr --at y, yh
            %grad_compare loss --without mse_cr --at w
        """
        __tracebackhide__ = True
        args, given = self._with_at("%grad_compare", self.grad_compare, line, scope)
        f = self._function("%grad_compare", args.function, scope)
        if (args.without is None) == (args.twin is None):
            raise MagicError("%grad_compare: give F and F_CR, or LOSS --without F")
        other = self._function("%grad_compare", args.without or args.twin, scope)
        comparison = (compare if args.without is None else compare_without)(
            f, other, *given.args, **given.kwargs
        )
        return self._kept(args, comparison)

    @line_magic
    @faced
    @magic_arguments("grad_bench")
    @argument("function", metavar="F", help="the function")
    @argument("twin", metavar="F_CR", help="its copy that carries the rule")
    @argument(
        "--rounds", type=int, default=60, metavar="N", help="rounds to run; each times both, in random order"
    )
    @_OUTPUT
    @_AT
    def grad_bench(self, line, scope):
        """Time the gradients of F and of F_CR against each other: minimum, median, memory, and a ratio one
        can trust.

        Ctrl-C ends it early and shows what there is. In plain Python: `rulelab.bench.gradient_duel(F, F_CR,
        *ARGS)`.

        Examples::

            %grad_bench mse mse_cr --at y, yh
        """
        __tracebackhide__ = True
        args, given = self._with_at("%grad_bench", self.grad_bench, line, scope)
        if args.rounds < 1:
            raise MagicError(f"%grad_bench: --rounds must be at least 1, not {args.rounds}")
        f, f_cr = (self._function("%grad_bench", name, scope) for name in (args.function, args.twin))
        duel = self._kept(args, gradient_duel(f, f_cr, *given.args, rounds=args.rounds, **given.kwargs))
        if duel.interrupted:
            self._show(duel)
            raise Interrupted(
                f"%grad_bench was stopped after {len(duel.ratios)} of {duel.rounds_wanted} rounds; "
                "the table shows these"
            )
        return duel

    @line_magic
    @faced
    @magic_arguments("rule_symbolic")
    @argument("function", metavar="F", help="the function whose rule is to be proved")
    @_OUTPUT
    @_AT
    def rule_symbolic(self, line, scope):
        """The derivative by SymPy beside the one of the rule of F: PROVED, REFUTED with an example, or
        UNDECIDED.

        In plain Python: `rulelab.symbolic.prove(F)`; `--at` gives a point to start from.

        Examples::

            %rule_symbolic area
        """
        __tracebackhide__ = True
        args, given = self._with_at("%rule_symbolic", self.rule_symbolic, line, scope, needed=False)
        f = self._function("%rule_symbolic", args.function, scope)
        from ..symbolic import prove  # here, because SymPy takes most of a second to import

        return self._kept(args, prove(f) if given is None else prove(f, at=given.args))

    # -- what the magics share -------------------------------------------------------------------------------

    def _kept(self, args, result):
        """Remember a result, under the name that `-o` gave and as the session's last."""
        self.session.last = result
        if args.output is not None:
            self.shell.user_ns[args.output] = result
        return result

    def _show(self, result) -> None:
        from IPython.display import display

        display(result)

    def _function(self, magic: str, name: str, scope: dict):
        """The function that an argument of a magic names."""
        found = lookup(name, scope) if lookup(name, scope) is not None else lookup(name, self.shell.user_ns)
        if found is None:
            raise MagicError(f"{magic}: there is no function {name}")
        if not callable(found):
            raise MagicError(f"{magic}: {name} is a {type(found).__name__}, which cannot be called")
        return found

    def _with_call(self, magic: str, method, line: str, scope: dict):
        """The options of a line, and the call at its end evaluated as IPython evaluates any expression."""
        __tracebackhide__ = True
        args = parse_arguments(method, line)
        text = raw_rest(line, args.expression)
        if not text:
            raise MagicError(f"{magic}: give a call, as in {magic} f(x)")
        call = parse(magic, text, "the call")
        if not isinstance(call, ast.Call):
            raise MagicError(f"{magic}: give one call, as in {magic} f(x), not `{text}`")
        return args, self._evaluated(call, text, scope)

    def _with_at(self, magic: str, method, line: str, scope: dict, needed: bool = True):
        """The options of a line, and the arguments after `--at` evaluated."""
        __tracebackhide__ = True
        options, at = split_at(line)
        args = parse_arguments(method, options)
        if at is None and not needed:
            return args, None
        if at is None:
            raise MagicError(f"{magic}: say where with --at, the last option: --at x, y")
        text = f"at({at})"
        call = parse(magic, text, "the arguments after --at", shown=at)
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "at":
            raise MagicError(f"{magic}: the arguments after --at must be one argument list, not `{at}`")
        call.func = ast.copy_location(ast.Constant(None), call.func)
        return args, self._evaluated(call, text, scope)

    def _evaluated(self, call: ast.Call, text: str, scope: dict) -> Invocation:
        """Function and arguments of a call, without calling it: evaluated as (f, (args…), {kwargs…})."""
        __tracebackhide__ = True
        names: list[ast.expr | None] = [None if k.arg is None else ast.Constant(k.arg) for k in call.keywords]
        args = ast.Tuple(call.args, ast.Load())
        kwargs = ast.Dict(names, [k.value for k in call.keywords])
        parts = ast.Tuple([call.func, args, kwargs], ast.Load())
        located = ast.fix_missing_locations(ast.copy_location(parts, call))
        return Invocation(*evaluate(self.shell, text, scope, located))


def parse_arguments(method, line: str):
    """The options of a line by the parser of a magic; unbalanced quotes are wrong use, too."""
    __tracebackhide__ = True
    try:
        return parse_argstring(method, line)
    except ValueError as error:
        raise MagicError(f"%{method.__name__}: {error}") from None


def without_semicolon(line: str) -> str:
    """The line without a comment and a `;` at its end, both of which are IPython's, not the expression's.

    >>> without_semicolon('f("a;", 1);  # quiet')
    'f("a;", 1)'
    """
    try:
        tokens = [
            t
            for t in tokenize.generate_tokens(io.StringIO(line).readline)
            if t.type
            not in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT)
        ]
    except (tokenize.TokenError, SyntaxError):
        return line.rstrip().removesuffix(";").rstrip()
    if tokens and tokens[-1].type == tokenize.COMMENT and tokens[-1].start[0] == 1:
        line = line[: tokens.pop().start[1]]
    return line.rstrip().removesuffix(";").rstrip()


def split_at(line: str) -> tuple[str, str | None]:
    """The options of a line, and what follows its first `--at`; None where there is none.

    >>> split_at('f f_cr -o c --at -x, {"a": " --at "}')
    ('f f_cr -o c', '-x, {"a": " --at "}')
    """
    found = re.search(r"(?:^|\s)--at(?:\s+|=|$)", line)
    return (line, None) if found is None else (line[: found.start()], line[found.end() :].strip())


def raw_rest(line: str, rest: list[str]) -> str:
    """The end of the line that was split into the words `rest`, as it was written: joining them would
    change its spaces.

    >>> raw_rest('-o g  f("a  b")', ['f("a', 'b")'])
    'f("a  b")'
    """
    words, position = arg_split(line, posix=False, strict=False), 0
    for word in words[: len(words) - len(rest)]:
        position = line.index(word, position) + len(word)
    return line[position:].strip()


# -- loading -------------------------------------------------------------------------------------------------


class _Loaded(NamedTuple):
    """What loading put into a shell, so that unloading can take exactly that away."""

    magics: RuleLab
    matcher: Any
    hooks: dict[str, Any]


def load_ipython_extension(shell) -> None:
    """`%load_ext rulelab`: the magics, their completion, and two hooks at each cell: one tells messages its
    number, one keeps rules on their names. Loading twice is loading once.
    """
    if _loaded(shell) is not None:
        return
    magics = RuleLab(shell)
    shell.register_magics(magics)
    matcher = matcher_for(lambda: _parsers(magics), lambda: _function_names(shell, magics.session))
    shell.Completer.custom_matchers.append(matcher)

    label_earlier_cells(shell)
    shell._rulelab = _Loaded(magics, matcher, _hooks(shell, magics.session))
    for event, hook in shell._rulelab.hooks.items():
        shell.events.register(event, hook)
    CACHE.on_notice.append(print)  # in a notebook a notice is a line of the output, not a warning on stderr
    _show_errors_short(magics.short_errors)


def unload_ipython_extension(shell) -> None:
    """`%unload_ext rulelab`: everything that loading did, undone. Rules stay: they belong to their
    functions.
    """
    loaded = _loaded(shell)
    if loaded is None:
        return
    for kind, names in loaded.magics.magics.items():
        for name in names:
            shell.magics_manager.magics[kind].pop(name, None)
    shell.magics_manager.registry.pop(type(loaded.magics).__name__, None)
    shell.configurables.remove(loaded.magics)
    shell.Completer.custom_matchers.remove(loaded.matcher)
    for event, hook in loaded.hooks.items():
        shell.events.unregister(event, hook)
    del shell._rulelab
    CACHE.on_notice.remove(print)
    _show_errors_short(False)


def _hooks(shell, session: Session) -> dict[str, Any]:
    def tell_its_number(info) -> None:
        label_cell(shell, info)

    def keep_rules_on_their_names(result=None) -> None:
        for notice in session.reattach(shell.user_ns):
            print(notice)

    return {"pre_run_cell": tell_its_number, "post_run_cell": keep_rules_on_their_names}


def _loaded(shell) -> _Loaded | None:
    return getattr(shell, "_rulelab", None)


def _show_errors_short(short: bool) -> None:
    """Have IPython show our errors by their own lines.

    The hook is a method on the class of our errors, which IPython looks for on any exception;
    `set_custom_exc` has room for one handler in a shell, and another extension may need it.
    """
    if short:
        setattr(RuleLabError, "_render_traceback_", error_lines)  # noqa: B010
    elif "_render_traceback_" in vars(RuleLabError):
        delattr(RuleLabError, "_render_traceback_")


def _parsers(magics: RuleLab) -> dict:
    return {name: method.parser for names in magics.magics.values() for name, method in names.items()}


def _function_names(shell, session: Session) -> list[str]:
    own = [
        name
        for name, value in shell.user_ns.items()
        if not name.startswith("_")
        and callable(value)
        and not isinstance(value, type)
        and name not in shell.user_ns_hidden
    ]
    return sorted({*own, *session.rules})
