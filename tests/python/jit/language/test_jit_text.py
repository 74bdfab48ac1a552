"""Methods of strings in scripts: each gives what Python's gives."""

import itertools

import pytest

import hotaru as torch

TEXTS = [
    "",
    " ",
    "a",
    "o",
    "hello World, ho",
    "Title Case",
    "UPPER 1",
    "lower_2",
    "12",
    "+12",
    "-7",
    "\ta\tbc\n",
    "one\ntwo\r\nthree\r",
    "  two  words  ",
    "ooo",
    "3rd",
    "it's",
    "a,b,,c",
    ",",
]

WITHOUT = [
    "capitalize",
    "casefold",
    "expandtabs",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "lower",
    "lstrip",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "strip",
    "swapcase",
    "title",
    "upper",
]

# Arguments of each: part, start and end; widths; separators and counts.
PLACES = [0, 1, 3, 9, 40, -2, -40]
PARTS = ["o", "", "ho", "oo", "z"]
SEARCHES = ["find", "rfind", "count", "startswith", "endswith"]
SEPARATORS = [",", " ", "o", "ab"]
WIDTHS = [0, 1, 6, 7, 20, -3]
WITH = {
    **dict.fromkeys(SEARCHES, "p: str, i: int, j: int"),
    **dict.fromkeys(("partition", "rpartition"), "p: str"),
    **dict.fromkeys(("split", "rsplit"), "p: str, i: int"),
    **dict.fromkeys(("ljust", "rjust", "center"), "i: int, p: str"),
    **dict.fromkeys(("zfill", "expandtabs"), "i: int"),
    **dict.fromkeys(("removeprefix", "removesuffix"), "p: str"),
    **dict.fromkeys(("strip", "lstrip", "rstrip"), "p: str"),
    "replace": "p: str, q: str, i: int",
    "splitlines": "b: bool",
}


def arguments(name):
    """All combinations of arguments of a method in `WITH`."""
    if name in SEARCHES:
        return itertools.product(PARTS, PLACES, PLACES)
    if name.endswith("partition"):
        return itertools.product(SEPARATORS)
    if name.endswith("split"):
        return itertools.product(SEPARATORS, [-1, 0, 1, 2])
    if name == "splitlines":
        return itertools.product([False, True])
    if name in ("zfill", "expandtabs"):
        return itertools.product(WIDTHS)
    if name == "replace":
        return itertools.product(PARTS, ["", "-", "oo"], [-1, 0, 1, 3])
    if WITH[name] == "p: str":
        return itertools.product(["o", "a,", "lo", " ", ""])
    return itertools.product(WIDTHS, "*-")


def scripted(name, parameters=""):
    given = ", ".join(p.split(":")[0] for p in parameters.split(", ") if p)
    source = f"def f(s: str, {parameters}):\n    return s.{name}({given})\n"
    return torch.jit.CompilationUnit(source.replace(", )", ")")).f


@pytest.mark.parametrize("name", WITHOUT)
def test_methods_without_arguments(name):
    f = scripted(name)
    for text in TEXTS:
        assert f(text) == getattr(text, name)(), repr(text)


@pytest.mark.parametrize("name", WITH)
def test_methods_with_arguments(name):
    f = scripted(name, WITH[name])
    for given in arguments(name):
        for text in TEXTS:
            expected = getattr(text, name)(*given)
            assert f(text, *given) == expected, (text, given)


@pytest.mark.parametrize("name", ["index", "rindex"])
def test_places_of_what_is_not_there(name):
    f = scripted(name, "p: str, i: int, j: int")
    for part, start, end in arguments("find"):
        for text in TEXTS:
            try:
                expected = getattr(text, name)(part, start, end)
            except ValueError:
                with pytest.raises(Exception, match="substring not found"):
                    f(text, part, start, end)
            else:
                assert f(text, part, start, end) == expected


@pytest.mark.parametrize("name", ["hex", "oct", "bin"])
def test_numbers_in_other_bases(name):
    unit = torch.jit.CompilationUnit(f"def f(i: int):\n    return {name}(i)\n")
    for i in (0, 1, 9, 255, -1, -4096, 2**63 - 1, -(2**63)):
        assert unit.f(i) == {"hex": hex, "oct": oct, "bin": bin}[name](i)


def test_what_is_refused():
    with pytest.raises(Exception, match="exactly one character"):
        scripted("center", "i: int, p: str")("a", 9, "ab")
    with pytest.raises(Exception, match="too long"):
        scripted("zfill", "i: int")("a", 2**40)
    with pytest.raises(Exception, match="empty separator"):
        scripted("partition", "p: str")("a", "")


@pytest.mark.parametrize("before", range(4))
def test_errors_show_long_lines_in_whole_characters(before):
    line = f"    {'a' * (before + 1)} = '{'日本é' * 60}'; return unknown\n"
    with pytest.raises(RuntimeError, match="undefined value unknown") as caught:
        torch.jit.CompilationUnit(f"def f(x: Tensor):\n{line}")
    assert "日本" in str(caught.value)
