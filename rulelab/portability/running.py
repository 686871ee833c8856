"""An export is run in a separate process, and its answers are compared with the rule it was made from."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..errors import ExportError
from ..own_code import FOLDER
from ..rules.registry import DEFAULT, Registry
from ..tables import Table, filled
from ..verdicts import CANNOT_TELL, NOT_JUDGED, RIGHT, WRONG
from .answers import Answer, NotSingle, answer_at, apart, in_single, off_differences

SECONDS = 300.0
"""Limit of the processor time of the process: the load of the machine does not matter."""
ENDLESS = 15.0
"""Limit of the processor time of one call in single precision."""
# Where the system cannot measure processor time, the limit is in seconds of wall time.
_ON_THE_CLOCK = 10 if importlib.util.find_spec("resource") else 1
"""The wall time that an export may take, as a multiple of its processor time: the machine may be busy."""
TOLERANCES = {"float64": 1e-10, "float32": 1e-4}
OF_DIFFERENCES = 1e-5
"""Tolerance between differences and a right rule, relative to the largest number: a check is more exact."""


@dataclass(frozen=True)
class Asked:
    """A function that an export is queried for: the expression that names it there, and the texts of its
    arguments.

    `points` are texts of pairs `(args, kwargs)`, as `literal` writes them; the arguments at the positions
    `symmetric` are meant to be symmetric.
    """

    name: str
    mode: str
    points: tuple[str, ...]
    symmetric: tuple[int, ...] = ()


@dataclass(frozen=True)
class Row:
    """How an export agrees with its rule when run in one way ("plain", "jit", …) in one precision.

    `verdict` is one of the four words; `why` explains a verdict other than "right".
    """

    name: str
    mode: str
    way: str
    dtype: str
    points: int
    against_ours: float = math.nan
    against_differences: float = math.nan
    verdict: str = NOT_JUDGED
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The row in plain Python types; None for what was not measured."""
        return {key: None if value != value else value for key, value in vars(self).items()}

    def cells(self) -> tuple[str, ...]:
        """The row of a table."""
        numbers = (_shown(self.against_ours), _shown(self.against_differences))
        kind = f"{self.mode} of {self.name}"
        return kind, self.way, self.dtype, str(self.points), *numbers, self.verdict, self.why


DEVIATIONS = ("deviation from rulelab", "deviation from differences")
COLUMNS = ("rule", "run", "precision", "points", *DEVIATIONS, "verdict", "")


def table_of(rows: Sequence[Row], caption: str = "") -> Table:
    """The rows as a table; the default caption says whether anything was run."""
    caption = caption or ("Run in a process of its own" if any(row.points for row in rows) else "Not run")
    columns, cells = filled(COLUMNS, [row.cells() for row in rows])
    return Table(caption, columns, cells, verdicts=tuple(row.verdict for row in rows))


def _shown(number: float) -> str:
    return "–" if math.isnan(number) else f"{number:.1e}" if number else "0"


# --- here ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ours:
    """A rule of rulelab whose export is run, and its points: pairs `(args, kwargs)` with their texts."""

    f: Any
    name: str
    mode: str
    points: tuple[tuple[tuple, dict], ...]
    texts: tuple[str, ...]
    registry: Registry = DEFAULT
    symmetric: tuple[int, ...] = ()  # the positions of arguments that are meant to be symmetric


def run_export(
    file: Path,
    ours: Sequence[Ours],
    entry: ModuleType,
    *,
    folders: Iterable[Path] = (),
    options: Mapping[str, Any] | None = None,
    seconds: float = SECONDS,
) -> tuple[Row, ...]:
    """Run an exported file in a separate process, and compare each function in it with the original.

    `entry` is the module that answers there: its `main()` calls `serve(ask)`. `folders` are those from which
    the file may import, `options` are passed to `ask`. Raises ExportError if the file cannot be run at all;
    what cannot be tested becomes a row with the verdict "not judged".
    """
    asked = [Asked(one.name, one.mode, one.texts, one.symmetric) for one in ours]
    told = _answers_of_process(file, asked, entry, [*folders], dict(options or {}), seconds)
    if "missing" in told:
        return tuple(
            Row(one.name, one.mode, "plain", "float64", 0, why=f"not run: {told['missing']}") for one in ours
        )
    rows: list[Row] = []
    for one, ways in zip(ours, told["answers"], strict=True):
        rows += [_judged(one, way) for way in ways]
    return tuple(rows)


def _answers_of_process(
    file: Path, asked: list[Asked], entry: ModuleType, folders: list[Path], options: dict, seconds: float
) -> dict[str, Any]:
    """The answers of the process, which come in a file, since the export may print anything."""
    with tempfile.TemporaryDirectory(prefix="rulelab-") as there:
        request, answer = Path(there, "asked.json"), Path(there, "told.json")
        said = {
            "file": str(file.resolve()),
            "folders": [str(folder.resolve()) for folder in folders],
            "asked": [vars(one) for one in asked],
            "options": options,
            "answer": str(answer),
        }
        request.write_text(json.dumps(said), encoding="utf-8")
        above = [os.path.dirname(FOLDER), os.environ.get("PYTHONPATH", "")]
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-c", _START, str(request), entry.__name__, str(math.ceil(seconds))],
                cwd=there, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, above))},
                stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                timeout=_ON_THE_CLOCK * seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            said_of = f"{file.name} did not finish in {_ON_THE_CLOCK * seconds:g} s"
            raise ExportError(said_of, asked="a run of the export") from None
        if done.returncode == -getattr(signal, "SIGXCPU", math.inf):
            said_of = f"{file.name} did not finish in {seconds:g} s of processor time"
            raise ExportError(said_of, asked="a run of the export")
        if not answer.is_file():
            words = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise ExportError(f"{file.name} does not run: {words}", asked="a run of the export")
        return json.loads(answer.read_text(encoding="utf-8"))


_START = """
import contextlib, importlib, sys
with contextlib.suppress(ImportError, OSError, ValueError):
    import resource
    seconds = int(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 10))
importlib.import_module(sys.argv[2]).main()
"""


def _judged(ours: Ours, way: dict[str, Any]) -> Row:
    """The row for one way of running the export."""
    dtype, told = way["dtype"], way["points"]
    row = Row(ours.name, ours.mode, way["way"], dtype, len(told), why=way.get("why", ""))
    if way.get("why"):
        return row
    off, off_differences_, unknown, why = 0.0, 0.0, False, ""
    for (args, kwargs), said in zip(ours.points, told, strict=True):
        if "error" in said:  # if the export does not terminate, the rule may not either
            return _row(row, verdict=WRONG if dtype == "float64" else NOT_JUDGED, why=said["error"])
        try:
            mine = ours_at(ours, args, kwargs, dtype)
        except NotSingle as error:
            return _row(row, why=f"an object of class {error} cannot be converted to another precision")
        except Exception as error:
            return _row(row, why=f"our own rule does not take {dtype}: {_words(error)}")
        off = max(off, apart(said["value"], mine.value), apart(said["derivative"], mine.derivative))
        if dtype == "float64":
            given = Answer(tuple(said["value"]), tuple(said["derivative"]), mine.judged)
            if len(given.derivative) == len(mine.derivative):
                found = off_differences(ours.f, args, kwargs, given, ours.mode, ours.symmetric)
                unknown = unknown or math.isnan(found)
                off_differences_ = max(off_differences_, 0.0 if math.isnan(found) else found)
    found_off = math.nan if dtype != "float64" or unknown else off_differences_
    if not off <= TOLERANCES[dtype]:
        verdict, why = WRONG, "its answer differs from that of our rule"
    elif dtype == "float64" and not found_off <= OF_DIFFERENCES:
        verdict = CANNOT_TELL
        why = "differences are inconclusive here" if unknown else "differences disagree with both"
    else:
        verdict = RIGHT
    return _row(row, against_ours=off, against_differences=found_off, verdict=verdict, why=why)


def _row(row: Row, **changes: Any) -> Row:
    return Row(**{**vars(row), **changes})


def ours_at(ours: Ours, args: tuple, kwargs: dict, dtype: str) -> Answer:
    """The answer of our rule in a given precision."""
    if dtype == "float32":
        args, kwargs = in_single(args), in_single(kwargs)
    with np.errstate(all="ignore"):
        return answer_at(ours.f, args, kwargs, mode=ours.mode, registry=ours.registry)


def answers_again(ours: Ours, args: tuple, kwargs: dict) -> bool:
    """Whether our rule returns the same at a second call as at the first."""
    first, second = (ours_at(ours, args, kwargs, "float64") for _ in range(2))
    off = max(apart(first.value, second.value), apart(first.derivative, second.derivative))
    return off <= TOLERANCES["float64"]


def _words(error: BaseException) -> str:
    found = getattr(error, "found", None) or str(error)
    return f"{type(error).__name__}: {' '.join(found.split())}"[:160]


# --- there --------------------------------------------------------------------------------------------------

Ask = Callable[[ModuleType, Asked, Sequence[tuple[tuple, dict]], Mapping[str, Any]], Iterable[dict[str, Any]]]


class Missing(Exception):
    """What an export is for is not installed; the message says what to install."""


def needed(module: str, name: str) -> Any:
    """A framework's module; raises Missing, which says what to install, if it is not available."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise Missing(f"{name} cannot be imported: {_words(error)}") from None
        raise Missing(f"{name} is not installed: pip install {package}") from None
    except ImportError as error:
        raise Missing(f"{name} cannot be imported: {_words(error)}") from None


def serve(ask: Ask, needs: tuple[str, str] | None = None) -> None:
    """Answer one request of `run_export`, in the process that it has started.

    `needs` is the module without which the export cannot even be imported, and the name of its framework.
    `ask(module, asked, points, options)` returns a dict for each way in which a function can be run: `way`,
    `dtype` and `points`, where `answered` makes the dict for each point; or `why` it cannot be run.
    """
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    try:
        if needs is not None:
            needed(*needs)
        told: dict[str, Any] = {"answers": _answers(request, ask)}
    except Missing as error:
        told = {"missing": str(error)}
    Path(request["answer"]).write_text(json.dumps(told), encoding="utf-8")


def _answers(request: dict[str, Any], ask: Ask) -> list[list[dict[str, Any]]]:
    sys.path[:0] = [os.path.dirname(request["file"]), *request["folders"]]
    module = loaded(Path(request["file"]))
    answers = []
    for one in request["asked"]:
        asked = Asked(one["name"], one["mode"], tuple(one["points"]), tuple(one["symmetric"]))
        names = {"np": np, **vars(module)}
        points = [eval(compile(text, "<point>", "eval"), dict(names)) for text in asked.points]
        answers.append(list(ask(module, asked, points, request["options"])))
    return answers


def loaded(file: Path) -> ModuleType:
    """The module in a file, under the name of the file or of its package; its output is discarded."""
    name = file.stem if file.stem != "__init__" else file.parent.name
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with contextlib.redirect_stdout(io.StringIO()):
        spec.loader.exec_module(module)
    return module


def all_answered(
    gives: Iterable[Callable[[], tuple[Sequence[float], Sequence[float]]]], dtype: str
) -> list[dict[str, Any]]:
    """The results of some calls in a precision; after the first one that fails, the others are not made."""
    answers: list[dict[str, Any]] = []
    for give in gives:
        failed = answers and "error" in answers[-1]
        answers.append(answers[-1] if failed else answered(give, ENDLESS if dtype == "float32" else None))
    return answers


def answered(
    give: Callable[[], tuple[Sequence[float], Sequence[float]]], seconds: float | None = None
) -> dict[str, Any]:
    """The result of one call, as the numbers of the value and of the derivative, or how it failed.

    A call that takes more than `seconds` of processor time fails, if the system can measure it: a loop that
    waits for digits beyond single precision never terminates.
    """
    try:
        with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()), _within(seconds):
            value, derivative = give()
    except NotSingle as error:
        return {"error": f"an object of class {error} cannot be converted to another precision"}
    except _Endless:
        return {"error": f"it did not finish in {seconds:g} s of processor time"}
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1:]
        at = f", line {last[0].lineno}" if last else ""
        return {"error": f"{_words(error)}{at}"}
    return {"value": list(map(float, value)), "derivative": list(map(float, derivative))}


class _Endless(BaseException):
    """A call has used up its time; no error handler of its own should catch this."""


def _has_ended(*_: Any) -> None:
    raise _Endless


@contextlib.contextmanager
def _within(seconds: float | None) -> Iterator[None]:
    """Context that is ended after this much processor time, if the system has such an alarm."""
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _has_ended)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def named(module: ModuleType, expression: str) -> Any:
    """The object that a dotted expression names in an exported module."""
    first, *rest = expression.split(".")
    found = vars(module)[first]
    for part in rest:
        found = getattr(found, part)
    return found
