"""jit.script of what TorchScript is not: errors name file, line and place."""

# ruff: noqa: F821, UP006, UP035

import enum
import threading
from typing import List, Optional

import pytest

import hotaru as torch
from hotaru import nn

X = torch.arange(6.0).reshape(2, 3)


class Mixed(enum.Enum):
    """Values of two types."""

    RED = 1
    GREEN = "green"


class Level(enum.Enum):
    """An Enum class that programs can have."""

    LOW = 1


def unknown_name(x):
    return missing(x)


def unknown_method(x):
    return x.no_such_method()


def exceptions(x):
    try:
        return x
    except ValueError:
        return -x


def lambdas(x):
    f = lambda y: y  # noqa: E731
    return f(x)


def generator(values: List[int]):
    return sum(v for v in values for w in values)


def imports(x):
    import math

    return math.sqrt(2.0) * x


def one_branch(x):
    if x.sum() > 0:
        y = 1
    return y


def two_types(x, flag: bool):
    y = 1 if flag else "a"
    return y


def other_result(x: int) -> str:
    return x


def no_result(x: int) -> int:
    if x > 0:
        return 1


def changed_type(x: int):
    if x > 0:
        x = "a"
    return x


def optional_use(x: Optional[torch.Tensor]):
    return x.sum()


def object_of_python(x):
    return x + OBJECT


def enumeration(x):
    return Mixed.RED


def unknown_member(x):
    return Level.NONE


def formatted(x: int):
    return f"{x:3d}"


def converted(x: int):
    return f"a {x!r}"


def debugged(x: int):
    return f"{x=}"


def wrong_keyword(x):
    return torch.relu(x, slope=3)


def nested_call(x):
    return unknown_name(x)


def unknown_attribute(x):
    return torch.no_such_function(x)


OBJECT = object()
PLACES = [
    (unknown_name, "missing(x)", "missing"),
    (unknown_method, "x.no_such_method()", "no_such_method"),
    (exceptions, "try:", "try"),
    (lambdas, "lambda", "lambda"),
    (generator, "for", "more than one 'for'"),
    (imports, "import", "import"),
    (one_branch, "y", "not defined in the false branch"),
    (two_types, '1 if flag else "a"', "'int'.*'str'"),
    (other_result, "return x", "type str but .* type int"),
    (no_result, "no_result", "does not return along all paths"),
    (changed_type, "x", "had type int but .* value of type str"),
    (optional_use, "x.sum", "not None"),
    (object_of_python, "OBJECT", "python value of type 'object'"),
    (enumeration, "Mixed", "of one type"),
    (unknown_member, "Level.NONE", "no attribute 'NONE'"),
    (formatted, "x:3d", "Don't support formatting in JoinedStr"),
    (converted, "x!r", "Don't support conversion in JoinedStr"),
    (debugged, "x=", "Don't support conversion in JoinedStr"),
    (wrong_keyword, "torch.relu(x, slope=3)", "slope"),
    (nested_call, "missing", "called from 'nested_call'"),
    (unknown_attribute, "torch.no_such_function", "no_such_function"),
]


@pytest.mark.parametrize(
    ("function", "marked", "message"), PLACES, ids=[p[0].__name__ for p in PLACES]
)
def test_error_shows_the_place(function, marked, message):
    with pytest.raises(RuntimeError, match=f"(?s){message}") as caught:
        torch.jit.script(function)
    lines = str(caught.value).splitlines()
    where = next(i for i, line in enumerate(lines) if "File " in line)
    assert f'File "{__file__}", line ' in lines[where]
    number = int(lines[where].rpartition("line ")[2])
    with open(__file__, encoding="utf-8") as file:
        source = file.read().splitlines()[number - 1]
    at = next(i for i, line in enumerate(lines) if line.strip().startswith("~"))
    assert lines[at - 1] == source
    caret = lines[at]
    begin = caret.index("~")
    width = caret.count("~")
    shown = lines[at - 1][begin : begin + width]
    assert marked.startswith(shown) or shown.startswith(marked)


def test_a_failure_leaves_nothing_behind():
    with pytest.raises(RuntimeError):
        torch.jit.script(nested_call)
    with pytest.raises(RuntimeError, match="missing"):
        torch.jit.script(nested_call)


@pytest.mark.parametrize("form", ["*values", "**values"])
def test_variable_arguments(form, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"def f({form}):\n    return 1\n")
    names = {"__name__": "program"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with pytest.raises(RuntimeError, match="variable number of arguments"):
        torch.jit.script(names["f"])


def test_no_source():
    names = {"__name__": "nowhere"}
    exec("def f(x):\n    return x\n", names)
    with pytest.raises(OSError, match="requires source access"):
        torch.jit.script(names["f"])


def test_arguments_that_do_not_fit():
    @torch.jit.script
    def f(x, n: int):
        return x * n

    with pytest.raises(RuntimeError, match="missing value for argument 'n'"):
        f(X)
    with pytest.raises(RuntimeError, match="at most 2 argument"):
        f(X, 1, 2)
    with pytest.raises(RuntimeError, match="Unknown keyword argument 'k'"):
        f(X, 1, k=3)
    with pytest.raises(
        RuntimeError,
        match=r"(?s)Expected a value of type 'Tensor \(inferred\)' for "
        r"argument 'x' but instead found type 'int'.*Inferred 'x' to be of "
        r"type 'Tensor'"
        r".*Position: 0.*Declaration: f\(Tensor x, int n\) -> Tensor",
    ):
        f(3, 1)


def test_errors_of_running_programs():
    @torch.jit.script
    def f(n: int):
        assert n > 0, "n is " + str(n)
        if n > 5:
            raise ValueError("too large")
        return n

    with pytest.raises(torch.jit.Error, match="AssertionError: n is 0"):
        f(0)
    with pytest.raises(ValueError, match=f'(?s)File "{__file__}".*too large'):
        f(6)


def test_modules():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.names = {1, 2}
            self.unused = object()

        def forward(self, x):
            return x + self.names

    with pytest.raises(RuntimeError, match="Module 'Odd' has no attribute"):
        torch.jit.script(Odd())
    with pytest.raises(RuntimeError, match="pass an instance instead"):
        torch.jit.script(Odd)
    with pytest.raises(RuntimeError, match="return type annotated"):
        torch.jit.interface(Odd)
    with pytest.raises(TypeError):
        torch.jit.script(3)


def test_deep_nesting_is_refused():
    with pytest.raises(RuntimeError, match="levels deep"):
        torch.jit.CompilationUnit(f"def f(x):\n    return {'-' * 4000}x\n")


def test_endless_recursion_is_an_error():
    @torch.jit.script
    def f(n: int) -> int:
        return f(n + 1)

    with pytest.raises(torch.jit.Error, match="recursion"):
        f(0)


def test_errors_in_one_thread_do_not_stop_others():
    results = []

    def work(i):
        try:
            torch.jit.script(nested_call if i % 2 else two_types)
        except RuntimeError as error:
            results.append(str(error))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == 8
