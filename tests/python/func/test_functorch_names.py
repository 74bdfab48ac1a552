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
