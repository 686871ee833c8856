"""Saved results come back as they were, and what is none is told in one line."""

import dataclasses
import json
import math
import os

import numpy as np
import pytest

from rulelab.bench import duel, first_gradient, measure, scaling
from rulelab.bench.duel import Duel, Timings
from rulelab.bench.records import FORMAT, compare_records, load, save
from rulelab.bench.scaling import Scaling, ScalingLine
from rulelab.errors import RecordError
from rulelab.tables import Page, Report


def square(x):
    return x * x


def unsquare(x):
    raise ValueError(x)


EMPTY = Duel(Timings("a", 1, ()), Timings("b", 1, ()), (), (math.nan, math.nan), 60, interrupted=True)
SAVED = {
    "duel": lambda: duel(lambda: 1, lambda: 2, rounds=9, others={"<c>": lambda: 3}),
    "empty duel": lambda: EMPTY,
    "infinite": lambda: dataclasses.replace(EMPTY, ratios=(math.inf, -math.inf, math.nan)),
    "timings": lambda: measure(lambda: 1, rounds=2),
    "scaling": lambda: scaling(square, square, lambda n: (float(n),), [1, 2], rounds=2),
    "refused": lambda: Scaling((ScalingLine("f", (1,), (0.5,), (0.25,), "no"),), (1, 2), "over", True),
    "first": lambda: first_gradient(square, 2.0),
}


@pytest.mark.parametrize("name", SAVED)
def test_what_is_saved_comes_back_equal(name, tmp_path):
    """Every number of every kind, nan and inf among them, and the surroundings with it."""
    report = SAVED[name]()
    save(report, tmp_path / "it.json")
    found = load(tmp_path / "it.json")
    assert found == report and type(found) is type(report)
    assert str(found) == str(report) and found.to_json() == report.to_json()
    assert json.loads((tmp_path / "it.json").read_text())["format"] == FORMAT


TIMED = Timings("a", 1, (1.0,)).to_dict()
UNEVEN = {"name": "f", "sizes": [1, 2], "medians": [0.5], "minima": [0.5], "refused": None}
SCALED = {"sizes_wanted": [1], "lines": [], "stopped": None, "interrupted": False, "environment": {}}
WHOLE = {"format": FORMAT, "kind": "Duel", "result": EMPTY.to_dict()}


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[]", '"format" is not rulelab-bench/1'),
        ("{}", '"format" is not rulelab-bench/1'),
        ('{"format": "rulelab-bench/2"}', "was written by another version of rulelab, as rulelab-bench/2"),
        ('{"format": "rulelab-bench/x"}', '"format" is not rulelab-bench/1'),
        ('{"format": 1}', '"format" is not rulelab-bench/1'),
        (json.dumps({**WHOLE, "kind": "Pickle"}), "holds a result of an unknown kind"),
        (json.dumps({**WHOLE, "kind": ["Duel"]}), "holds a result of an unknown kind"),
        (json.dumps({"format": FORMAT, "kind": "Duel"}), "is damaged"),
        (json.dumps({**WHOLE, "result": 3}), "is damaged"),
        (json.dumps({**WHOLE, "result": {**WHOLE["result"], "ratios": ["a"]}}), "is damaged"),
        (json.dumps({**WHOLE, "result": {**WHOLE["result"], "ratios": [True]}}), "is damaged"),
        (json.dumps({**WHOLE, "result": {**WHOLE["result"], "interval": [1.0]}}), "is damaged"),
        (json.dumps({**WHOLE, "result": {**WHOLE["result"], "rounds_wanted": math.inf}}), "is damaged"),
        (json.dumps({**WHOLE, "result": {**WHOLE["result"], "environment": 3}}), "is damaged"),
        (json.dumps({**WHOLE, "kind": "Timings", "result": {**TIMED, "loops": 0}}), "is damaged"),
        (json.dumps({**WHOLE, "kind": "Scaling", "result": {**SCALED, "lines": [UNEVEN]}}), "is damaged"),
    ],
)
def test_what_is_no_record_is_told_in_one_line(text, said, tmp_path):
    """Garbage, a future format, another kind, missing or wrong fields."""
    (tmp_path / "it.json").write_text(text)
    with pytest.raises(RecordError) as caught:
        load(tmp_path / "it.json")
    assert said in str(caught.value) and "it.json" in str(caught.value)
    assert "\n" not in str(caught.value) and str(tmp_path) not in str(caught.value)


def test_no_file_and_no_text(tmp_path):
    """A missing file, a folder and bytes are told apart."""
    with pytest.raises(RecordError, match="Cannot read none.json: no such file"):
        load(tmp_path / "none.json")
    with pytest.raises(RecordError, match="Cannot read"):
        load(tmp_path)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="bytes is not a saved result: it is not text"):
        load(tmp_path / "bytes")


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    """Also when it is interrupted; no half file stays beside it."""
    save(EMPTY, tmp_path / "it.json")
    before = (tmp_path / "it.json").read_text()
    for error, seen in ((OSError(28, "No space left on device"), RecordError), (KeyboardInterrupt(),) * 2):

        def failing(handle, error=error):
            raise error

        monkeypatch.setattr(os, "fsync", failing)
        with pytest.raises(seen if isinstance(seen, type) else KeyboardInterrupt):
            save(SAVED["first"](), tmp_path / "it.json")
    assert (tmp_path / "it.json").read_text() == before and os.listdir(tmp_path) == ["it.json"]


def test_only_results_of_the_bench_are_saved(tmp_path):
    """Anything else is refused before a file is touched."""

    class Other(Report):
        def page(self):
            return Page()

    for thing in (Other(), type("Duel", (), {})()):
        with pytest.raises(RecordError, match="cannot be saved; these can: Duel, Scaling"):
            save(thing, tmp_path / "it.json")
    with pytest.raises(RecordError, match="Cannot write it.json: no such file"):
        save(EMPTY, tmp_path / "missing" / "it.json")
    assert os.listdir(tmp_path) == []


def timings(name, seconds, seed=0, stamp=None):
    rng = np.random.default_rng(seed)
    runs = tuple(seconds * np.exp(0.02 * rng.standard_normal(100)))
    return Timings(name, 1, runs, environment=stamp or {})


def dueled(seconds, stamp, seed=0):
    left, right = timings("gradient of f", 1.0, seed), timings("gradient of g", seconds, seed + 1)
    return Duel(left, right, (1.0 / seconds,) * 20, (0.9, 1.1), 20, environment=stamp)


HERE = {"python": "3.11", "cores": 2, "load": 0.1}


def test_a_change_is_seen_call_by_call():
    """The one that takes half the time now is faster; of the other nothing can be told."""
    found = compare_records(dueled(0.5, HERE), dueled(0.25, HERE, seed=2))
    same, faster = found.changes
    assert (same.verdict, faster.verdict, found.verdict) == ("cannot tell", "faster", "faster")
    assert faster.interval[0] < 2.0 < faster.interval[1] and abs(faster.ratio - 2.0) < 0.05
    assert compare_records(dueled(0.25, HERE), dueled(0.5, HERE, seed=2)).changes[1].verdict == "slower"


def test_other_surroundings_tell_nothing():
    """The ratio is there, the verdict is not, and the difference is named."""
    found = compare_records(dueled(0.5, HERE), dueled(0.25, {**HERE, "python": "3.12"}))
    assert found.verdict == "cannot tell" and found.changes[1].interval is None
    assert "Cannot tell: measured in different or unknown environments.\n" in str(found)
    assert "Python 3.11, then 3.12" in str(found)


def test_timings_from_an_unknown_place_tell_nothing():
    """Timings of one call have their stamp too; those that were cut out of a duel have none."""
    stamped = timings("f", 1.0, stamp=HERE), timings("f", 0.5, 1, stamp=HERE)
    assert compare_records(*stamped).verdict == "faster"
    elsewhere = timings("f", 0.5, 1, stamp={**HERE, "cores": 8})
    assert compare_records(stamped[0], elsewhere).verdict == "cannot tell"
    found = compare_records(stamped[0], dueled(0.5, HERE).left)
    assert found.verdict == "cannot tell" and "Where it was measured is not known: now." in str(found)
    assert measure(lambda: 1, rounds=2).environment["numpy"] == np.__version__


def test_a_load_is_no_other_place_but_worth_a_word():
    """The verdict is given, with the load beside it."""
    found = compare_records(dueled(0.5, HERE), dueled(0.25, {**HERE, "load": 9.0}))
    assert found.verdict == "faster" and "Now: Load 9.0 on 2 cores: expect wide intervals." in str(found)


def test_single_numbers_have_no_interval():
    """First gradients and sizes are compared, without a verdict."""
    old, new = SAVED["first"](), SAVED["first"]()
    assert [change.interval for change in compare_records(old, new).changes] == [None, None]
    found = compare_records(SAVED["scaling"](), SAVED["refused"]())
    assert not found.changes and "Only in one of them: f, N = 1." in str(found)


def test_different_kinds_are_not_compared():
    """A duel beside a scaling is a mistake, told in one line."""
    with pytest.raises(RecordError, match="same kind can be compared, not Duel and Scaling"):
        compare_records(EMPTY, SAVED["refused"]())
    assert compare_records(EMPTY, EMPTY).verdict == "cannot tell"


def test_every_face_is_there():
    """Text, HTML, Markdown, LaTeX, JSON."""
    found = compare_records(dueled(0.5, HERE), dueled(0.25, HERE))
    assert "<caption>Before and now</caption>" in found._repr_html_() and "2.0" in found.to_markdown()
    assert r"\toprule" in found.to_latex() and json.loads(found.to_json())["verdict"] == found.verdict


def places(value, path=()):
    """Where numbers and words stand in a record, of each list the first two entries."""
    if isinstance(value, dict):
        return [p for key, part in value.items() for p in places(part, (*path, key))]
    if isinstance(value, list):
        return [p for key, part in enumerate(value[:2]) for p in places(part, (*path, key))]
    return [path]


def with_token(record, path, token):
    changed = json.loads(json.dumps(record))
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = "@@@"
    return json.dumps(changed).replace('"@@@"', token)


EXTREMES = ["1" + "0" * 400, "-1" + "0" * 400, "1" + "0" * 5000, "1e999", "1e308", "true"]


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.campaign) for k in range(1, 6))])
@pytest.mark.parametrize("name", SAVED)
def test_numbers_beyond_all_measure(name, first, tmp_path):
    """A number that no float holds is a damaged record; what is read is shown, compared, saved again. The
    places take turns with the numbers.
    """
    report, file = SAVED[name](), tmp_path / "it.json"
    save(report, file)
    record = json.loads(file.read_text())
    for number, path in enumerate(places(record["result"]), first):
        token = EXTREMES[number % len(EXTREMES)]
        file.write_text(with_token(record, ("result", *path), token))
        try:
            found = load(file)
        except RecordError:
            continue
        assert len(token) < 100, (path, token[:9])
        str(found), found.to_json(), found.to_latex(), save(found, file)
        try:
            str(compare_records(report, found)), str(compare_records(found, report))
        except RecordError:
            continue
