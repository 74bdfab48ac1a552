"""Softmax, norms and reductions of rows as parts of one kernel."""

from __future__ import annotations

import random

import pytest
from fused import check

import hotaru as torch

F = torch.nn.functional


pytestmark = pytest.mark.usefixtures("compiler")


def tensors(cuda, dtype, *shapes):
    torch.manual_seed(0)
    made = [torch.randn(shape, device=cuda) for shape in shapes]
    return [x.to(getattr(torch, dtype)) for x in made]


DTYPES = ["float32", "float64", "float16", "bfloat16"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [2, 7, 64, 300, 1500])
def test_softmax_with_what_is_around_it(cuda, dtype, columns):
    x, mask = tensors(cuda, dtype, (5, columns), (columns,))

    def f():
        return (F.softmax(x * 0.5 + mask, -1).mul(3).relu(),)

    assert check(f) == (5, 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [3, 40, 768, 2050])
def test_a_residual_and_its_norm(cuda, dtype, columns):
    x, y, w, b = tensors(cuda, dtype, (9, columns), (9, columns), *[columns] * 2)

    def f():
        z = x + y
        return z, F.gelu(F.layer_norm(z, (columns,), w, b))

    assert check(f) == (3, 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [4, 33, 512, 4096])
def test_rms_norm_by_hand(cuda, dtype, columns):
    x, w = tensors(cuda, dtype, (2, 6, columns), (columns,))

    def f():
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return (w * h.to(x.dtype),)

    before, after = check(f)
    assert before >= 5
    assert after == 1


@pytest.mark.parametrize(
    "name", ["sum", "mean", "amax", "amin", "prod", "norm", "any", "all"]
)
@pytest.mark.parametrize("columns", [5, 32, 1000])
def test_every_reduction_of_rows(cuda, name, columns):
    (x,) = tensors(cuda, "float32", (17, columns))
    x[3, 1] = float("nan")

    def f():
        y = getattr(x * 2 + 1, name)(dim=-1, keepdim=True)
        return (y.float().nan_to_num(7),)

    assert check(f)[1] == 1


def test_softmax_by_hand(cuda):
    (x,) = tensors(cuda, "float32", (3, 4, 100))

    def f():
        e = (x - x.amax(-1, keepdim=True)).exp()
        total = e.sum(-1, keepdim=True)
        return e / total, total, F.log_softmax(x, -1) + 1

    before, after = check(f)
    assert (before, after) == (7, 1)


def test_rows_of_two_dimensions(cuda):
    x, w = tensors(cuda, "float32", (3, 4, 5), (4, 5))

    def f():
        y = x.sigmoid()
        return F.layer_norm(y, (4, 5), w) * 2, y.sum((1, 2), keepdim=True)

    assert check(f) == (4, 1)


def test_operands_with_other_strides(cuda):
    x, y, w = tensors(cuda, "float32", (64, 6), (6, 65), (6, 1))

    def f():
        z = x.t() * y[:, 1:] + w
        return F.softmax(z, -1) * x.t(), F.layer_norm(z, (64,)) - w

    before, after = check(f)
    assert after < before


def test_integers_and_casts(cuda):
    (x,) = tensors(cuda, "float32", (8, 24))

    def f():
        n = (x * 10).to(torch.int32)
        total = n.sum(-1, keepdim=True)
        return total + 1, (n > 0).any(-1, keepdim=True), F.softmax(x, -1).half()

    check(f)


def test_a_single_odd_row(cuda):
    (x,) = tensors(cuda, "float32", (1, 61))

    def f():
        return (F.softmax((x * x).sum(-1, keepdim=True) * x, -1),)

    check(f)


def test_rows_that_are_too_long_stay_apart(cuda):
    (x,) = tensors(cuda, "float32", (2, 5000))

    def f():
        return (F.softmax(x * 2, -1) + 1,)

    assert check(f) == (3, 3)


def test_softmax_of_another_dimension_stays(cuda):
    (x,) = tensors(cuda, "float32", (6, 7))

    def f():
        return (F.softmax(x * 2 + 1, 0),)

    assert check(f) == (3, 2)


def test_infinities_and_nan(cuda):
    (x,) = tensors(cuda, "float32", (4, 50))
    x[0] = float("-inf")
    x[1, 7] = float("inf")
    x[2, 3] = float("nan")

    def f():
        a, b = F.softmax(x * 1, -1), F.layer_norm(x * 1, (50,))
        return a.nan_to_num(7), b.nan_to_num(7), a + 0 != a

    check(f)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shape", [(3, 8), (2, 5, 9), (2, 6, 7, 4)])
def test_batch_norm_of_a_network_at_work(cuda, dtype, shape):
    channels = shape[1]
    x, y, w, b, mean = tensors(cuda, dtype, shape, shape, *[channels] * 3)
    var = mean.abs() + 0.5

    def f():
        z = F.batch_norm(x, mean, var, w, b)
        return (F.relu(z + y),), F.batch_norm(x, mean, var).tanh()

    def g():
        (a,), b = f()
        return a, b

    assert check(g) == (7, 1)


def test_more_batch_norms_than_a_kernel_has_operands(cuda):
    x, *parts = tensors(cuda, "float32", (2, 5, 9), *[5] * 32)

    def f():
        y = x
        for i in range(0, 32, 4):
            mean, var, w, b = parts[i : i + 4]
            y = F.batch_norm(y, mean, var.abs() + 1, w, b).relu()
        return (y,)

    before, after = check(f)
    assert after < before / 2


def test_batch_norm_in_training_stays(cuda):
    x, mean = tensors(cuda, "float32", (4, 5, 6), (5,))
    var = mean.abs()

    def f():
        with torch.no_grad():
            m, v = mean.clone(), var.clone()
            y = F.batch_norm(x * 2, m, v, training=True).relu()
        return y, m, v

    check(f)


STEPS = {
    "add": lambda u, v, wide, w: u + v,
    "mul": lambda u, v, wide, w: u * v,
    "tanh": lambda u, v, wide, w: u.tanh(),
    "softmax": lambda u, v, wide, w: F.softmax(wide, -1),
    "norm": lambda u, v, wide, w: F.layer_norm(wide, w.shape, w),
    "mean": lambda u, v, wide, w: wide.mean(-1, keepdim=True),
    "amax": lambda u, v, wide, w: wide.amax(-1, keepdim=True),
}


@pytest.mark.parametrize("seed", range(6))
def test_random_groups(cuda, seed):
    """Steps of all kinds on values of one shape and of their rows."""
    draw = random.Random(seed)
    columns = draw.choice([6, 20, 64, 129])
    x, y, w = tensors(cuda, "float32", (5, columns), (5, columns), (columns,))
    steps = [
        (draw.choice(list(STEPS)), draw.randrange(99), draw.randrange(99))
        for _ in range(8)
    ]

    def f():
        values = [x, y, w]
        for kind, a, b in steps:
            u, v = values[a % len(values)], values[b % len(values)]
            values.append(STEPS[kind](u, v, u + x * 0, w))
        return values[3:]

    check(f)
