"""Transforms by functorch's names."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from hotaru._functorch import deprecated

import hotaru
from hotaru import func


@pytest.mark.parametrize("name", deprecated.__all__)
def test_warns_and_does_the_same(name):
    old, new = getattr(deprecated, name), getattr(func, name)
    x = hotaru.tensor([0.5, 1.5])

    def f(x):
        return x.sin().sum() if "grad" in name or name == "hessian" else x.sin()

    def result(transform):
        if name == "jvp":
            return transform(f, (x,), (hotaru.ones(2),))
        if name == "vjp":
            return transform(f, x)[0]
        return transform(f)(x)

    place = "torch" if name == "vmap" else "torch.func"
    with pytest.warns(FutureWarning, match=rf"Please use `{place}\.{name}`"):
        found = result(old)
    hotaru.testing.assert_close(found, result(new))
    assert pickle.loads(pickle.dumps(old)) is old


def test_without_texts():
    """`python -OO` has no docstrings."""
    code = "import hotaru._functorch.deprecated, hotaru.nn, hotaru.fx"
    done = subprocess.run(
        [sys.executable, "-OO", "-c", code], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_function_can_ask_whether_a_transform_calls_it():
    active = hotaru._C._are_functorch_transforms_active
    seen = []

    def function(x):
        seen.append(active())
        return x.sin().sum()

    x = hotaru.rand(3)
    for transformed in (
        func.grad(function),
        func.vmap(function),
        func.jacrev(function),
        func.jacfwd(function),
        lambda x: func.vjp(function, x),
        lambda x: func.jvp(function, (x,), (x,)),
        func.vmap(func.grad(function)),
    ):
        transformed(x)
        assert seen
        assert all(seen)
        seen.clear()
        assert not active()
    with pytest.raises(ZeroDivisionError):
        func.grad(lambda x: x / (1 // 0))(x)
    assert not active()
