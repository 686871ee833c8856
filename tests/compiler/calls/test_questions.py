"""Code of the author's that Python asks in passing, and that writes what varies: followed or refused, in each
mode, however it is asked and whatever it writes to. What only answers, counts or notes is as it ever was.
"""

import bisect
import heapq
import itertools

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import MutationError, RuleLabError

# What is written, and where it is read again.


def appended_here(xs, a, s, x):
    xs.append(x * x)


def attribute(xs, a, s, x):
    s.total = s.total + x * x


def item(xs, a, s, x):
    a[0] = x * x


def entry(xs, a, s, x):
    s.known["y"] = x * x


WRITES = [appended_here, attribute, item, entry]


class Asked:
    """An object each of whose answers writes."""

    def __init__(self, x, xs, a, write):
        self.x, self.xs, self.a, self.write = x, xs, a, write
        self.total, self.known = 0.5, {"y": 1.0}

    def tell(self):
        self.write(self.xs, self.a, self, self.x)

    def __len__(self):
        self.tell()
        return 2

    def __contains__(self, y):
        self.tell()
        return True

    def __lt__(self, other):
        self.tell()
        return True

    def __eq__(self, other):
        self.tell()
        return True

    def __hash__(self):
        self.tell()
        return 3

    def __str__(self):
        self.tell()
        return "asked"

    __repr__ = __str__

    def __format__(self, spec):
        self.tell()
        return "asked"

    def __index__(self):
        self.tell()
        return 1

    def __getattr__(self, name):
        if name == "missing":
            self.tell()
        raise AttributeError(name)


class Truth(Asked):
    def __bool__(self):
        self.tell()
        return True


def by_if(s, x):
    return 1.0 if s else 2.0


def by_if_statement(s, x):
    y = x
    if s:
        y = 2.0 * x
    return y


def by_while(s, x):
    while s:
        break


def by_assert(s, x):
    assert s


def by_not(s, x):
    return not s


def by_and(s, x):
    return s and 1.0


def by_if_in_comprehension(s, x):
    return [1.0 for _ in range(1) if s]


def by_bool(s, x):
    return bool(s)


def by_len(s, x):
    return len(s)


def by_comparison(s, x):
    return s < 3


def by_chain(s, x):
    return 1 < 2 > s


def by_equality(s, x):
    return s == 3


def by_equal_lists(s, x):
    return [s] == [3]


def by_equal_tuples(s, x):
    return (s, 1) == (3, 1)


def by_equal_dicts(s, x):
    return {1: s} == {1: 3}


def by_in(s, x):
    return 1.0 in s


def by_in_list(s, x):
    return s in [1.0, 2.0]


def by_not_in_tuple(s, x):
    return s not in (1.0, 2.0)


def by_match(s, x):
    match s:
        case 3:
            return 1.0


def by_f_string(s, x):
    return f"{s}"


def by_f_string_of_list(s, x):
    return f"{[s]} {s!r}"


def by_str(s, x):
    return str(s)


def by_repr(s, x):
    return repr(s)


def by_format(s, x):
    return format(s, "")


def by_format_method(s, x):
    return "{}".format(s)  # noqa: UP032


def by_percent(s, x):
    return "%s" % s  # noqa: UP031


def by_print(s, x):
    print(s)


def by_join(s, x):
    return ", ".join(map(str, [s]))


def by_dict_display(s, x):
    return {s: 1}


def by_set_display(s, x):
    return {s, 1}


def by_dict_comprehension(s, x):
    return {k: 1 for k in [s]}


def by_dict_item(s, x):
    known = {}
    known[s] = 1


def by_dict_get(s, x):
    return {3: 1}.get(s)


def by_set_add(s, x):
    known = set()
    known.add(s)


def by_hash(s, x):
    return hash(s)


def by_sorted(s, x):
    return sorted([s, s])


def by_sort(s, x):
    [s, s].sort()


def by_min(s, x):
    return min([s, s])


def by_min_of_two(s, x):
    return min(s, s)


def by_heap(s, x):
    heap = [s]
    heapq.heappush(heap, s)


def by_index(s, x):
    return [1.0, 2.0][s]


def by_slice(s, x):
    return [1.0, 2.0][:s]


def by_list_index(s, x):
    return [3.0].index(s)


def by_count(s, x):
    return [3.0].count(s)


def by_remove(s, x):
    [3.0].remove(s)


def by_range(s, x):
    return list(range(s))


def by_hasattr(s, x):
    return hasattr(s, "missing")


def by_getattr(s, x):
    return getattr(s, "missing", 1.0)


def by_bisect(s, x):
    return bisect.bisect([1.0, 2.0], s)


def by_bisect_key(s, x):
    return bisect.bisect([1.0, 2.0], 1.0, key=lambda v: (s.tell(), v)[1])


def by_any(s, x):
    return any([s])


def by_filter(s, x):
    return list(filter(None, [s]))


def by_filterfalse(s, x):
    return list(itertools.filterfalse(None, [s]))


USES = [use for name, use in list(globals().items()) if name.startswith("by_")]


def read(xs, a, s):
    return sum(xs) * xs[-1] + np.sum(a) + s.total * s.known["y"]


def made_here(use, write, kind):
    def f(x):
        xs, a = [x], np.zeros(2) + x
        s = kind(x * x, xs, a, write)
        use(s, x)
        return read(xs, a, s) * x

    return f


def captured(use, write, kind):
    def f(x):
        xs, a = [x], np.zeros(2) + x
        s = kind(x * x, xs, a, lambda *given: write(xs, a, given[2], x))

        def inner(y):
            use(s, y)
            return y

        inner(x)
        return read(xs, a, s) * x

    return f


def bound(use, write, kind):
    """What the object holds is a bound method of the list."""

    def f(x):
        xs, a = [x], np.zeros(2) + x
        s = kind(x * x, xs, a, lambda *given: given[0](given[3] * 2.0))
        s.xs = xs.append
        use(s, x)
        return read(xs, a, s) * x

    return f


MAKERS = [made_here, captured, bound]


def forward_over_forward(f):
    return rl.pushforward(lambda x: rl.pushforward(f, x)(1.0), 1.3)(1.0)


def reverse_over_forward(f):
    return rl.gradient(lambda x: rl.pushforward(f, x)(1.0), 1.3)[0]


def reverse_over_reverse(f):
    return rl.gradient(lambda x: rl.gradient(f, x)[0], 1.3)[0]


FIRST = [lambda f: rl.gradient(f, 1.3)[0], lambda f: rl.pushforward(f, 1.3)(1.0)]
SECOND = [lambda f: rl.hessian(f, 1.3), forward_over_forward, reverse_over_forward, reverse_over_reverse]


def asked_or_refused(ask, f):
    try:
        return ask(f)
    except RuleLabError:
        return None


@pytest.mark.every(19, slow=True)
@pytest.mark.parametrize("use", USES)
def test_what_an_answer_writes_is_never_lost(use, capsys):
    for make, write in itertools.product(MAKERS, WRITES):
        if make is bound and write is not appended_here:
            continue
        if make is captured and write not in (appended_here, item):
            continue
        for kind in (Asked, Truth) if use is by_if else (Asked,):
            check_each_mode(make(use, write, kind))


def check_each_mode(f):
    try:
        f(1.3)
    except (TypeError, ValueError):  # an answer that Python does not take
        return
    slope = (f(1.3 + 1e-5) - f(1.3 - 1e-5)) / 2e-5
    bend = (f(1.3 + 1e-3) - 2 * f(1.3) + f(1.3 - 1e-3)) / 1e-6
    for ask, wanted in [*((ask, slope) for ask in FIRST), *((ask, bend) for ask in SECOND)]:
        found = asked_or_refused(ask, f)
        assert found is None or np.isclose(found, wanted, rtol=1e-3)


@pytest.mark.parametrize("use", [by_if, by_len, by_comparison, by_dict_display, by_f_string, by_sorted])
def test_the_refusal_names_the_class_and_the_line(use):
    for ask in FIRST:
        with pytest.raises(MutationError, match="code of Asked that changes") as refused:
            ask(made_here(use, attribute, Asked))
        assert use.__name__ in str(refused.value) or refused.value.place is None


class Counting:
    """An object that counts what it is asked, and keeps what it has worked out of constants."""

    def __init__(self, x, log):
        self.x, self.log, self.count, self.size, self.word = x, log, 0, None, ""

    def __len__(self):
        self.count += 1
        if self.size is None:
            self.size = len(self.log.get("items", ()))
        return self.size + 1

    def __contains__(self, y):
        self.count += 1
        return self.key() > 1.0

    def key(self):
        return self.x

    def __lt__(self, other):
        self.count += 1
        return self.key() < other.key()

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        self.count += 1
        return 7

    def __str__(self):
        self.word = "counting"
        return self.word

    def __format__(self, spec):
        self.log["formatted"] = self.log.get("formatted", 0) + 1
        return "counting"


def counted(x):
    log = {"items": [1, 2]}
    s, t = Counting(x, log), Counting(2.0 * x, log)
    y = x * x if s else x
    if 1.0 in s:
        y = y * len(s)
    for each in sorted([t, s]):
        y = y + each.x
    if s < t:
        y = y * 3.0
    return y * s.count * t.x


def test_an_answer_that_only_counts_is_as_it_ever_was():
    slope = (counted(1.3 + 1e-6) - counted(1.3 - 1e-6)) / 2e-6
    bend = (counted(1.3 + 1e-3) - 2 * counted(1.3) + counted(1.3 - 1e-3)) / 1e-6
    for ask in FIRST:
        assert np.isclose(ask(counted), slope, rtol=1e-5)
    for ask in SECOND:
        assert np.isclose(ask(counted), bend, rtol=1e-3)


def test_a_question_is_asked_once():
    asked = []

    class Heard:
        def __init__(self, x):
            self.x = x

        def __bool__(self):
            asked.append("bool")
            return True

        def __len__(self):
            asked.append("len")
            return 2

    def f(x):
        s = Heard(x)
        return s.x * len(s) if s else x

    with rl.debug_mode(compare=False):
        for ask in FIRST:
            asked.clear()
            assert ask(f) == 2.0
            assert asked == ["bool", "len"]
