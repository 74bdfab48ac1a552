"""Fate of a function: it is compiled, traced or left to Python."""

import pytest

import hotaru as torch

jit = torch.jit


@jit.script_if_tracing
def first_positive(x):
    """Has a loop that a trace would lose."""
    for i in range(x.size(0)):
        if bool(x[i] > 0):
            return x[i]
    return x[0]


def doubled(x):
    return first_positive(x) * 2


def told(x):
    if jit.is_scripting():
        return x + 1
    if jit.is_tracing():
        return x + 2
    return x


def told_later(x):
    scripting = jit.is_scripting()
    tracing = jit.is_tracing()
    return x, scripting, tracing


A, B = torch.tensor([0.0, 2, 3]), torch.tensor([0.0, 0, 3])


def test_script_if_tracing():
    assert first_positive.__name__ == "first_positive"
    assert doubled(B) == 6
    traced = jit.trace(doubled, A)
    compiled = jit.script(doubled)
    assert traced(A) == compiled(A) == 4
    assert traced(B) == compiled(B) == 6
    assert "first_positive" in traced.code
    assert jit.script(first_positive)(B) == 3


def test_is_tracing_and_is_scripting():
    assert told(A).tolist() == [0, 2, 3]
    assert jit.trace(told, A)(A).tolist() == [2, 4, 5]
    assert jit.script(told)(A).tolist() == [1, 3, 4]
    assert told_later(A)[1:] == (False, False)
    assert jit.script(told_later)(A)[1:] == (True, False)
    assert not jit.is_tracing()


def test_a_trace_that_fails_is_over():
    def wrong(x):
        assert jit.is_tracing()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        jit.trace(wrong, A)
    assert not jit.is_tracing()


def with_lambda(x):
    f = lambda y: y + 1  # noqa: E731
    return f(x)


def with_try(x):
    try:
        return x
    except ValueError:
        return -x


def with_global(x):
    global A
    return x


def with_yield(x):
    yield x


def with_arguments(*x):
    return x


def with_two_loops(x):
    return [i + j for i in range(2) for j in range(2)]


def with_format(x: int):
    return f"{x:4d}"


def calls_another(x):
    return x + with_try(x)


class Holds(torch.nn.Module):
    """Calls one of them in a method."""

    def helper(self, x):
        return calls_another(x)

    def forward(self, x):
        return self.helper(x)


@pytest.mark.parametrize(
    "function",
    [
        calls_another,
        Holds(),
        with_lambda,
        with_try,
        with_global,
        with_yield,
        with_arguments,
        with_two_loops,
        with_format,
    ],
)
def test_constructs_that_are_not_supported(function):
    with pytest.raises(jit.frontend.NotSupportedError) as caught:
        jit.script(function)
    assert isinstance(caught.value, jit.frontend.FrontendError)
    assert "test_jit_frontend.py" in str(caught.value)


def test_other_errors_are_no_such():
    def unknown(x):
        return nothing_here(x)  # noqa: F821

    for function in (with_try, unknown):
        with pytest.raises(RuntimeError) as caught:
            jit.script(function)
    assert not isinstance(caught.value, jit.frontend.NotSupportedError)


class Marks(torch.nn.Module):
    """Methods that are left out, left to Python, or compiled uncalled."""

    @jit.unused
    def left_out(self, x):
        return [lambda: x]

    @jit.ignore
    def in_python(self, x, n: int) -> int:
        return n + len({1, 2})

    @jit.ignore(drop=True)
    def dropped(self, x):
        return {x}

    @jit.unused
    @property
    def strange(self):
        return {1}

    @jit.export
    def exported(self, n: int):
        return n * 2

    def forward(self, x, flag: bool = False):
        if flag:
            x = self.left_out(x)
        return x, self.in_python(x, 3)


def test_marks():
    module = jit.script(Marks())
    assert module(A)[1] == 5
    with pytest.raises(jit.Error, match="annotated to be ignored and cannot be run"):
        module(A, True)
    assert module.exported(4) == 8
    assert module.in_python(A, 1) == 3
    with pytest.raises(RuntimeError, match="a call of a Python function"):
        module.save_to_buffer()
