"""Gradients that a compiled function binds or takes away: each call does so."""

import pytest

import hotaru as torch
from hotaru import nn

pytestmark = pytest.mark.filterwarnings("ignore:compile")


def _none(p):
    p.grad = None


def _by_name(p):
    setattr(p, "grad", None)  # noqa: B010


def _by_a_name_from_elsewhere(p, names=("grad",)):
    setattr(p, names[0], None)


def _deleted(p):
    del p.grad


def _by_descriptor(p):
    torch.Tensor.grad.__set__(p, None)


def _by_another_function(p):
    def clear(tensor):
        tensor.grad = None

    clear(p)


WAYS = (
    _none, _by_name, _by_a_name_from_elsewhere, _deleted, _by_descriptor,
    _by_another_function,
)  # fmt: skip


@pytest.mark.parametrize("clear", WAYS)
def test_taken_away(clear):
    """The backward of each call begins anew, whoever was there before."""
    p = nn.Parameter(torch.ones(2))

    def function(x):
        clear(p)
        return p * x

    run = torch.compile(function)
    for k in range(1, 6):
        run(torch.full((2,), float(k))).sum().backward()
        assert p.grad.tolist() == [k, k]


def test_taken_away_by_a_method():
    class Step:
        def __init__(self):
            self.weights = [nn.Parameter(torch.ones(2)) for _ in range(3)]

        def clear(self):
            for weight in self.weights:
                weight.grad = None

        def __call__(self, x):
            self.clear()
            return sum(weight * x for weight in self.weights)

    step = Step()
    run = torch.compile(step)
    for k in range(1, 5):
        run(torch.full((2,), float(k))).sum().backward()
        assert [w.grad.tolist() for w in step.weights] == [[k, k]] * 3


def _of_values(x):
    x.grad = x.detach() * 2
    return x * 3


def _cleared(x):
    x.grad = None
    return x * 3


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("function", [_of_values, _cleared])
def test_of_an_argument(function, trained, given):
    run = torch.compile(function)
    for k in range(1, 4):
        found = []
        for each in (run, function):
            x = torch.full((2,), float(k), requires_grad=trained)
            if given:
                x.grad = torch.full((2,), 7.0)
            y = each(x)
            if trained:
                y.sum().backward()
            found.append(None if x.grad is None else x.grad.tolist())
        assert found[0] == found[1]


def test_of_a_tensor_without_gradients():
    buffer = torch.ones(2)

    def function(x):
        buffer.grad = x * 2
        return x + buffer

    run = torch.compile(function)
    for k in range(1, 4):
        run(torch.full((2,), float(k)))
        assert buffer.grad.tolist() == [2 * k, 2 * k]
        buffer.grad = None if k == 1 else buffer.grad


def test_taken_from_a_tensor_without_gradients():
    buffer = torch.ones(2)

    def function(x):
        buffer.grad = None
        return x + buffer

    run = torch.compile(function)
    for _ in range(3):
        run(torch.ones(2))
        assert buffer.grad is None
        buffer.grad = torch.ones(2)


def test_moved_to_another():
    def runs(way):
        p, q = (nn.Parameter(torch.ones(2)) for _ in range(2))

        def function(x):
            p.grad = q.grad
            q.grad = None
            return p * x + q * x * x

        run, found = way(function), []
        for k in range(1, 5):
            run(torch.full((2,), float(k))).sum().backward()
            found.append((p.grad.tolist(), q.grad.tolist()))
        return found

    assert runs(torch.compile) == runs(lambda function: function)


def test_backward_within():
    """What the function has made itself goes as well."""
    p = nn.Parameter(torch.ones(2))

    def function(x):
        (p * x).sum().backward()
        p.grad = None
        return x * 2

    run = torch.compile(function)
    for _ in range(3):
        run(torch.ones(2))
        assert p.grad is None
        p.grad = torch.ones(2)
