"""What a user reads is what a native engineer would write: phrases that are none of that do not come back."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

BANNED = {
    r"(?:\d|\}|the|its|of|these) advices\b": "advice, or suggestions",
    r"\binformations\b": "information",
    r"are the most\b": "at most, or the limit",
    r"of the good one\b": "name it",
    r"\bits [\d.{}:\w]+ s over\b": "at the limit of … s",
    r"\bgone is\b": "… is gone, or removed",
    r"\brules of the house\b": "conventions",
    r"\ban index says\b": "say what selects",
    r"moved by a little": "a small change, or a perturbation",
    r"\bcatch block\b": "except block",
    r"\bnobody can (?:say|tell)\b": "cannot be known, or ambiguous",
    r"(?<!there )\bis no (?:number|array|cotangent|list|tuple|function|module|file|saved)\b": "is not a …",
    r"(?<!there )\bis no (?:solution|identity|matter)\b": "is not a …, or does not matter",
    r"\b(?:inside|outside) of (?:it|the|a|an)\b": "inside or outside, without of",
    r"\bthan what is given\b": "than given",
    r"\bmost of times\b": "most of the time",
    r"\ballows to\b": "lets one, or allows …ing",
    r"\bhow (?:it|this|that) looks like\b": "what … looks like",
    r"\bnobody "
    "(?:gave|said|reads|differentiates|asks|looked|looks|wants|knows|checks|follows)\b": "was not …",
    r"\bwhat others (?:may )?hold\b": "what is used elsewhere",
    r"\banother (?:answer|value) (?:at each|each|than|when)\b": "a different … at each, or from",
    r"\bonly lent\b": "which belongs to the caller",
    r"\bdefined anew\b": "redefined",
    r"\bseen into\b": "followed",
    r"\bcells? (?:was|were) met\b": "cases",
    r"\b(?:is|are) told (?:as|in a note|beside)\b": "is reported",
    r"\bcould be told\b(?! apart)": "can be expressed, or translated",
    r"\bthat nothing is stated of\b": "that has no rule",
    r"\btakes? (?:two|all) (?:things )?for (?:equal|a part|a function)\b": "treats … as …",
    r"\bnot turned round\b": "not reversed",
    r"\bif you know better\b": "if you are sure",
    r"\bwants (?:a|the) (?:function|class|number|array)\b": "takes a …",
    r"\bhave no more\b": "no longer have",
    r"\bgiven nothing\b": "without arguments",
    r"\bgo(?:es)? on answering\b": "is still used",
    r"\bfront doors?\b": "entry point, or name it",
    r"\b(?:made|compiled|called|drawn|started|looked up|handed out|written) anew\b": "… again",
    r"\bfaults? of (?:ours|rulelab)\b": "a bug in rulelab",
    r"\bhand(?:ed|s|ing)? (?:it|them) (?:in|over)\b": "pass",
    r"\basked (?:again )?about\b": "called with, or the arguments of",
    r"\bturns? of (?:a|the|one) loop\b": "iteration",
    r"\bby its place\b": "by position",
    r"\bstands? (?:above|below)\b": "is above, or below",
    r"\b(?:wrong: wrong|right: right|not judged: not judged)\b": "once",
    r"\bcannot tell: (?:cannot tell|not judged)\b": "one of them",
    r"\b(?:may|need|might) not be meant\b(?! to| for| as)": "may not be intended",
    r"\bsay which (?:is|are) meant\b": "say which it is for",
    r"\blooks? in vain\b": "never finds",
    r"\bwere made up\b": "were guessed, or drawn",
    r"\bstand the positional arguments\b": "give positional arguments only",
    r"\bit pullback\b": "the pullback",
    r"\bno pass to look into\b": "say what is shown instead",
    r"\b(?:derivatives?|slopes?) by (?:them|each of them|its (?:order|parameters?|arguments?))\b": "… with "
    "respect to",
    r"\bdifferentiate (?:it|that|this) by the\b": "… with respect to",
    r"\bNone is the\b": "the … is None",
    r"\bwants just\b": "always needs",
    r"\bis there already\b": "already exists",
    r"\bs of the processor\b": "s of processor time",
    r"\b(?:for|at) (?:this|that|one|these|those) (?:size|length|kind|shape)s? alone\b": "for … only",
    r"\b(?:for floats|of functions|of arrays|of numbers|for numbers|for arrays) alone\b": "… only",
    r"\bcounts? at once\b": "takes effect at once",
    r"\b(?:nothing|something) (?:is )?thrown\b": "Python raises",
    r"\b(?:is|are) met twice\b": "occurs twice",
    r"\bwithout a word\b": "silently",
    r"\bis at work\b": "is working",
    r"\bcuts? (?:off )?(?:its|the|their) digits\b": "truncates, or rounds",
    r"\bdifferentiate by\b": "… with respect to",
    r"\bfunctions? of others\b": "third-party functions",
    r"\bsigns? of life\b": "progress",
    r"\bgo(?:es)? on using\b": "continues to use",
    r"\bby a partial\b": "with functools.partial",
    r"\btoo deep to\b": "too deeply … to",
    r"\bwith arguments filled in\b": "with bound arguments",
    r"\boptions stand\b": "options come",
    r"\bsome (?:nine|ten|thirty|forty|fifty) (?:minutes|calls|rules|seconds)\b": "about",
    r"\bwhat the solver found\b": "the solver's result",
    r"\b(?:partials?|Jacobians?|window) by (?:a|an|the|each|its)\b": "… with respect to",
    r"\bcuts? the rank\b": "lowers the rank",
    r"\blooked into\b": "read, or followed",
    r"\bof where (?:a|an|the)\b": "name it",
    r"\b(?:advice|do): \w+ cannot\b": "what to do, not what fails",
    r"\bdo(?:es)? not heed\b": "ignores",
    r"\bat the limit of time\b": "at the time limit",
    r"\band handed out\b": "sent, or returned",
    r"\bhands? (?:its|their|the) [\w ]{3,20} on\b": "passes, or returns",
    r"\bis what \S+ makes of\b": "makes from",
    r"\bsays more of\b": "says more about",
    r"\b(?:branch|case) (?:is |was )?met\b": "a branch or case that was found",
    r"\bin one \w+ alone\b": "in one … only",
    r"\b(?:an)?other numbers? of (?:axes|elements|dimensions)\b": "a different number of …",
    r"\banother derivative when\b": "a different derivative when",
    r"\bone and the same\b": "the same, or share one",
    r"\bhanding over (?:the|its|their)\b": "passing",
    r"\bshows what there was\b": "shows the results so far",
    r"\bthat loses less\b(?! than)": "that loses fewer digits",
    r"\bmore \w+ than there should be\b": "more … than it should need",
    r"\bthat have not \S+ (?:numbers|elements|axes)\b": "that do not have …",
    r"\boutside of what\b": "outside what",
    r"\bmul (?:float|array)|(?:float|\]) mul\b": "the sign of the operator",
    r"\b(?:is|are) (?:one of \{\}|an? [\w ]+ or [\w\"(, )]+|a function of [\w ]+ \{\}|"
    r"between \d and \d|of different [\w ]+|\d or \d|'\w+' or '\w+'), not \{\}": "must be …, not …",
    r"\bmust [^,;:]+, it \w+ed\b": "but …ed",
    r"\bmake (?:it )?an? (?:list|dict|array|tuple) of (?:it|them|its|what)\b": "convert … to a …",
    r"\b(?:solve|for) one after another\b|\bone \w+ after another\b": "one at a time, or for each",
    r"\bmultipl(?:y|ied|ies) (?:it |them |the \w+ )?with\b": "multiply by",
    r"\bgive (?:it|them) as an? (?:argument|keyword)\b": "pass",
    r"\bby (?:at|steps|sizes|domain|seconds|points|depth)=": "with …=",
    r"\b(?:slopes|those|values|derivatives) close by\b": "nearby",
    r"\bgoe?s? from \{\} to\b": "range from … to",
    r"\basks? for (?:reverse|forward) mode\b": "use",
    r"\bgive np\.\w+ of\b": "pass np.…",
    r"\b(?:was|were|is) taken as (?:it is|that|decimal|the (?:integral|exact|same))\b": "held fixed, or "
    "treated as",
    r"\bexact is\b": "… instead of …",
    r"\bdigits alike\b": "matching digits",
    r"\bagrees to \S+ digits only\b": "only … digits agree",
    r"\brounding decides\b": "rounding dominates",
    r"\bof the neighbourhood\b": "for nearby points",
    r"\bworks? (?:the|its) value out again\b": "recomputes the value",
    r"\bcopied to the processor\b": "to the CPU",
    r"\bno (?:folder|package|file|module) can be called\b": "a … cannot be called",
    r"\bis in no other\b": "cannot be converted to another",
    r"\b(?:broadcasts?|sums?|goes|runs?) along other axes\b": "different axes from",
    r"\bis a word of \w+'s\b": "has a meaning in",
    r"\bcannot stand by (?:itself|themselves)\b": "is not valid on its own",
    r"\b(?:cotangent|\w_bar) that comes in\b": "incoming cotangent",
    r"\bborder to border\b": "split it where …",
    r"\bkeeps something from\b": "keeps state between",
    r"\b(?:arguments?|shapes?|parameters?) by which\b": "with respect to which",
    r"\b(?:is|are) first met\b": "first called, or used",
    r"\bat=\([^)]*\), or --at\b": "one of them: advice.py",
    r"\bas (?:it|they) sees? fit\b": "any number of times",
    r"\bwhat it comes to\b": "name it",
    r"\bhas no (?:number|value) there\b": "is not defined there",
    r"\bmeans? one thing in\b": "has one meaning in",
    r"\bshould be [^,;:]+, is\b": "…, but is …",
    r"\bis not [^,;:.]+, it is \S+ times that\b": "…, but … times that",
    r"\bwhere it has one\b(?=$|[\"'])": "although its exact value is finite",
    r"\barguments in (?:complex|whole) numbers\b": "complex arguments",
    r"\bwhere (?:\d+|\{\}) (?:long|more) conditions?$": "… hold",
    r"^(?-i:By) (?:\{\}|\w)(?: twice)?$": "with respect to",
    r"\bfunction to look at\b": "to read",
    r"\bdo: nothing to do\b|^nothing to do\b": "leave it out",
    r"\bfunction that was written out\b|\bwritten out as a function\b": "a function that somebody wrote",
    r"\bstands? where\b": "is used where",
    r"\bstands? (?:before|after) the\b": "is before, or after",
    r"\bas (?:it|they) likes?\b": "in any way",
    r"\bof yours took part\b": "was used",
    r"\bkeeps? something between\b": "keeps state between",
    r"\bother parentheses\b": "misplaced parentheses",
    r"\ba term too many\b": "one term too many",
    r"\bgo(?:es)? over the wrong\b": "is over the wrong",
    r"\bothers than zero\b": "values other than zero",
    r"\bleads? back to itself\b": "contains itself",
    r"\bgreatest length\b": "maximum length",
    r"\b(?:reads? memory )?beside its array\b": "outside its array",
    r"\bone \w+ more\.": "one more …",
    r"\bsay where with\b": "give the arguments with",
    r"\bby their names alone\b": "by name only",
    r"\b(?:is|are) silent\b": "does not respond",
    r"\bends the program, by\b": "ends the program with",
    r"\bshapes? \S+, (?:its|the) \w+ [\[({]": "…, but its … has shape …",
    r"\bis (?:real|zero|whole), (?:its|the) \w+ (?:complex|is not)\b": "…, but …",
    r"\bcotangents? have another shape\b": "a different shape",
    r"^There is no (?:mode|\w+=|refresh mode)": "… must be …, not …",
    r"\b(?:the|its) cache (?:of \S+ )?away\b": "remove the cache",
    r"\bstopped before its end\b": "stopped early",
    r"\bchoose (?:it|them) there\b": "name what is chosen",
    r"\bfor people\b": "to be read, or leave it out",
    r"\botherwise than\b": "not as, or differently from",
    r"\bfor a value of \{\}": "where the value is …",
    r"\bwithout (?:it|them), (?:it|they) do(?:es)? not\b": "but only with …",
    r"\bstands? together\b": "are listed together",
    r"\bnothing is called\b": "… is not defined",
    r"\bhas the shape \S+ and its\b": "…, but its …",
    r"\bis \{\}, (?:those|the derivative|the slopes?)\b": "…, but the …",
    r"\b(?:sizes|arguments) are (?:a tuple|whole numbers|one or more)\b": "… must be …",
    r"\bbelongs? to an? (?:argument|value) of\b": "…, but its argument has …",
    r"\bgave \S+ and not\b": "must return …, but returned …",
    r"\boperator in place\b": "an in-place operator",
    r"\bto other (?:elements|arrays|rows|columns)\b": "to the wrong …",
    r"\bderivative of something else\b": "of a different function",
    r"\bkind of arguments that (?:was|were) tried\b": "for every kind of argument",
    r"\bin fortran's\b": "in Fortran order",
    r"\bset another variable\b": "use a new variable for each value",
    r"\bof one length, \{\}": "all of length …",
    r"\b(?:alone has|has alone) changed\b": "only … has changed",
    r"\bbut for another\b": "except for another",
    r"\bis in its place\b": "is in place",
    r"\ba moment left\b": "less than 1 s",
    r"\bplace and scale\b": "loc and scale, or location",
}
"""Phrases that were found, and what is said instead."""
WORDS = {pattern: re.compile(pattern, re.IGNORECASE) for pattern in BANNED}
CLUES = (
    " advices", "informations", "are the most", "good one", " s over", "gone is", "of the house",
    "index says", "moved by a", "catch block", "nobody can", "is no ", "inside of", "outside of",
    "than what is", "most of times", "allows to", "looks like", "nobody ", "what others", "another answer",
    "another value", "only lent", "defined anew", "seen into", " met", " told ", "stated of", " for equal",
    " for a ", "turned round", "know better", "wants ", "no more", "given nothing", "on answering",
    "front door", " anew", " of ours", "fault of", "faults of", "hand it", "hand them", "hands it",
    "hands them", "handed it", "handed them", "handing it", "handing them", "asked about", "asked again",
    "wrong: wrong", "right: right", "tell: cannot", "tell: not", "judged: not", "be meant", "is meant",
    "are meant", "in vain", "made up", "stand the", "it pullback", "to look into", "slope by", "slopes by",
    "ative by", "atives by", "iate it by", "iate that by", "iate this by", "none is the", "wants just",
    "there already", "of the processor", " alone", " at once", " thrown", "met twice", "without a word",
    "at work", "cuts its", "cuts the", "cuts their", "cut its", "cut the", "cut their", "cuts off",
    "cut off", "tiate by", "of others", "of life", "on using", "by a partial", "too deep to", "filled in",
    "options stand", "some nine", "some ten", "some thirty", "some forty", "some fifty", " mul", "turn of",
    "turns of", "the solver found",
    "partial by", "partials by", "jacobian by", "jacobians by", "window by", "looked into",
    "heed", "limit of time", "handed out", "hands its", "hands their", "hands the", "makes of", "more of",
    "branch met", "branch is met", "branch was met", "case met", "case is met", "case was met", "her number",
    "another derivative", "one and the same", "handing over", "what there was", "loses less", "there should",
    "that have not", "outside of what", "of where", "advice: ", "do: ", "its place", "stands above",
    "stands below", "stand above", "stand below", ", not {", ", it ",
    "a list of", "a dict of", "an array of", "a tuple of", "after another", "ply with", "plied with",
    "plies with", "ply it", "ply them", "ply the", "plied it", "plied the", "plies it", "give it as",
    "give them as", "by at=", "by steps=", "by sizes=", "by domain=", "by seconds=", "by points=",
    "by depth=", "close by", "go from", "goes from", "reverse mode", "forward mode", "give np.",
    "taken as", "exact is", "digits alike", "digits only", "rounding decides", "neighbourhood",
    "value out again", "to the processor", "can be called", "in no other", "other axes", "a word of",
    "stand by", "comes in", "to border", "keeps something", "by which", "first met", ", or --at", "see fit",
    "sees fit", "comes to", "number there", "value there", "one thing in", "should be", "it has one",
    "arguments in", "condition", "by ", "to look at", "nothing to do", "written out",
    "stands where", "stand where", "stands before", "stands after", "stand before", "stand after", "likes",
    "it like", "they like", "took part", "something between", "other parentheses", "term too many",
    "the wrong", "than zero", "back to itself", "greatest length", "beside its", " more.", "say where",
    "names alone", "silent", "the program, by", ", its ", ", the ", "another shape", "there is no ",
    " away", "before its end", "it there", "them there", "for people", "otherwise than", "a value of",
    "without it,", "without them,", "together", "nothing is called", "has the shape", ", those",
    " are a tuple",
    "are whole numbers", "are one or more", "to a value", "to an argument", "and not", "operator in place",
    "to other", "something else", "of arguments that", "in fortran", "another variable", "of one length",
    "but for another", "moment left", "place and scale",
)  # fmt: skip
"""One of these is in whatever a pattern fits: a module without any need not be parsed."""


def _texts(path: Path):
    """(line, text) of each string of a module that somebody may be shown; of docstrings, those of magics."""
    text = path.read_text(encoding="utf-8")
    flat = " ".join(text.split()).lower()
    if not any(clue in flat for clue in CLUES):
        return
    nodes = list(ast.walk(ast.parse(text)))
    private = set()
    if path.name != "magics.py":
        scopes = (ast.Module, ast.FunctionDef, ast.ClassDef)
        for node in nodes:
            if isinstance(node, scopes) and node.body and isinstance(node.body[0], ast.Expr):
                private |= {id(inner) for inner in ast.walk(node.body[0])}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            parts = (v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in private:
            yield node.lineno, node.value


def _found(texts, patterns):
    for where, text in texts:
        flat = " ".join(text.split())
        for pattern in patterns if any(clue in flat.lower() for clue in CLUES) else ():
            if WORDS[pattern].search(flat):
                yield f"{where}: {WORDS[pattern].search(flat)[0]!r}; say {BANNED[pattern]}"


def test_no_message_of_the_package_has_them(repository):
    """Errors, reports, and the help of options and magics."""
    found = []
    for path in sorted((repository / "rulelab").rglob("*.py")):
        name = path.relative_to(repository).as_posix()
        found += _found(((f"{name}, line {line}", text) for line, text in _texts(path)), BANNED)
    assert found == []


@pytest.mark.parametrize("part", [pytest.param("docs", marks=pytest.mark.slow), "notebooks"])
def test_no_page_has_them(part, repository):
    """Design notes as well: who changes the package reads them."""
    found = []
    kinds = [path for kind in ("*.md", "*.ipynb") for path in (repository / part).rglob(kind)]
    for path in sorted(kinds):
        name = path.relative_to(repository).as_posix()
        if not name.startswith(("docs/changelog", "docs/tutorial/notebooks")):
            texts = [(name, path.read_text(encoding="utf-8"))]
            found += _found(texts, BANNED)
    assert found == []


def test_the_phrases_are_found():
    """A list that matches nothing would keep nothing."""
    assert list(_found([("here", "f has 2 advices, and 12 are\nthe most")], BANNED)) == [
        "here: '2 advices'; say advice, or suggestions",
        "here: 'are the most'; say at most, or the limit",
    ]
    said = "order is 1 or 2, not {}; the rule must return a pair, it returned {}"
    assert len(list(_found([("here", said)], BANNED))) == 2


def test_a_word_that_is_computed_has_its_article_computed_too(repository):
    """An int is not "a int": `an` and `An` of errors.py know which."""
    wrong = re.compile(r"\b[aA] \{[^{}]*__name__\}")
    found = [
        f"{path.relative_to(repository).as_posix()}: {line.strip()}"
        for path in sorted((repository / "rulelab").rglob("*.py"))
        for line in path.read_text(encoding="utf-8").split("\n")
        if wrong.search(line)
    ]
    assert found == []


def _texts_of(node):
    """(line, text) of each string that an expression may give."""
    if isinstance(node, (ast.Tuple, ast.List)):
        for part in node.elts:
            yield from _texts_of(part)
    elif isinstance(node, ast.IfExp):
        yield from _texts_of(node.body)
        yield from _texts_of(node.orelse)
    elif isinstance(node, ast.JoinedStr):
        parts = (v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
        yield node.lineno, "".join(map(str, parts))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value


def _suggestions(path):
    """(line, text) of each thing to do that an error of a module names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        for keyword in node.keywords:
            if keyword.arg == "fixes":
                yield from _texts_of(keyword.value)
        if isinstance(node.func, ast.Name) and node.func.id == "refuse":
            for suggestion in node.args[1:]:
                yield from _texts_of(suggestion)


def test_what_to_do_begins_with_a_verb(repository):
    """Not with code, a value or a noun, which leaves the reader to guess what to do with it."""
    no_verb = re.compile(r"(?:\w+\.)+\w|\w*\{|\w+\(|[^a-z]|(?:an?|by|for|no|one|the|there) ")
    found = [
        f"{path.relative_to(repository).as_posix()}, line {line}: {text}"
        for path in sorted((repository / "rulelab").rglob("*.py"))
        for line, text in _suggestions(path)
        if no_verb.match(text)
    ]
    assert found == []


def test_a_refusal_is_a_sentence(repository):
    """It says what is not differentiated, and not only what was called."""
    verb = re.compile(
        r"\b(?:is|are|was|has|have|had|does|do|did|cannot|reads?|jumps?|depends?|returns?|gives?)\b"
    )
    found = [
        f"{path.relative_to(repository).as_posix()}, line {line}: {text}"
        for path in sorted((repository / "rulelab" / "rulesets").glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "refuse"
        for line, text in _texts_of(node.args[0])
        if not verb.search(text)
    ]
    assert found == []
