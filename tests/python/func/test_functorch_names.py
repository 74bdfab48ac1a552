"""Transforms by functorch's names."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from hotaru._functorch import deprecated, vmap
from hotaru._functorch.make_functional import (
    combine_state_for_ensemble,
    make_functional,
    make_functional_with_buffers,
)

import hotaru
from hotaru import func, nn

inner = hotaru._C._functorch


MODULES = {
    "combine_state_for_ensemble",
    "make_functional",
    "make_functional_with_buffers",
}


@pytest.mark.parametrize("name", sorted({*deprecated.__all__} - MODULES))
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


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x).relu())


@pytest.mark.parametrize("make", [lambda: nn.Linear(3, 2), Tied])
def test_modules_as_functions_of_their_parameters(make):
    model, x = make(), hotaru.randn(4, 3)
    with pytest.warns(FutureWarning, match=r"`torch\.func\.functional_call`"):
        function, params = deprecated.make_functional(model)
    expected = tuple(model.parameters())
    assert [p.tolist() for p in params] == [p.tolist() for p in expected]
    assert not {*map(id, params)} & {*map(id, expected)}
    hotaru.testing.assert_close(function(params, x), model(x))
    found = func.grad(lambda params: function(params, x).sum())(params)
    model(x).sum().backward()
    for gradient, parameter in zip(found, expected):
        hotaru.testing.assert_close(gradient, parameter.grad)
    assert not any(p.is_meta for p in params)
    assert all(p.is_meta for p in function.parameters())
    _, frozen = make_functional(model, disable_autograd_tracking=True)
    assert not any(p.requires_grad for p in frozen)
    assert all(p.requires_grad for p in expected)


def test_buffers_are_given_and_changed_in_place():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    x = hotaru.randn(4, 3)
    function, params, buffers = make_functional_with_buffers(model)
    hotaru.testing.assert_close(function(params, buffers, x), model(x))
    for buffer, expected in zip(buffers, model.buffers()):
        hotaru.testing.assert_close(buffer, expected)
    assert buffers[-1].item() == 1
    with pytest.raises(RuntimeError, match="`model` has buffers"):
        make_functional(model)


def test_states_of_several_models():
    models = [nn.Linear(3, 2) for _ in range(4)]
    x = hotaru.randn(5, 3)
    function, params, buffers = combine_state_for_ensemble(models)
    assert ([p.shape[0] for p in params], buffers) == ([4, 4], ())
    assert not any(p.requires_grad for p in params)
    found = func.vmap(function, (0, 0, None))(params, buffers, x)
    expected = hotaru.stack([model(x) for model in models])
    hotaru.testing.assert_close(found, expected)
    for wrong, text in (
        ([], "at least one model"),
        ([nn.Linear(3, 2), nn.Linear(3, 2).eval()], "training/eval mode"),
        ([nn.Linear(3, 2), nn.ReLU()], "the same class"),
    ):
        with pytest.raises(RuntimeError, match=text):
            combine_state_for_ensemble(wrong)


def test_no_tensor_is_wrapped():
    x = hotaru.ones(2)
    assert not inner.is_batchedtensor(x)
    assert (inner.maybe_get_level(x), inner.maybe_get_bdim(x)) == (-1, -1)
    with pytest.raises(RuntimeError, match="No wrappers present!"):
        inner.get_unwrapped(x)


def test_batched_tensors_are_refused():
    with pytest.raises(RuntimeError, match="no batched tensors"):
        inner._add_batch_dim(hotaru.ones(2), 0, 1)
    with pytest.raises(RuntimeError, match="no batched tensors"):
        vmap._maybe_remove_batch_dim("f", hotaru.ones(2), 1, 2, 0)


def test_inner_names_of_vmap():
    x = hotaru.ones(2, 3)
    size = vmap._validate_and_get_batch_size
    assert size([0, None], [x, 3]) == 2
    assert size([1, -1], [x, x]) == 3
    with pytest.raises(ValueError, match="at least one Tensor"):
        size([None], [x])
    with pytest.raises(ValueError, match=r"got sizes \[2, 3\]"):
        size([0, 1], [x, x])
    spec = vmap.tree_flatten({"a": (x, x)})[1]
    assert vmap._broadcast_to_and_flatten({"a": 0}, spec) == [0, 0]
    assert vmap._get_name(size) == size.__name__
    unmapped = vmap._maybe_remove_batch_dim("f", 3, 1, 2, None)
    assert unmapped == 3
    with pytest.raises(ValueError, match="`f` must only return Tensors"):
        vmap._maybe_remove_batch_dim("f", 3, 1, 2, 0)


def test_the_package_by_its_own_name(tmp_path):
    """It hides a folder of that name, as that of PyTorch's wheel."""
    (tmp_path / "functorch.py").write_text("raise ImportError")
    program = tmp_path / "program.py"
    program.write_text(
        "import functorch, torch\n"
        "from torch._C._functorch import is_batchedtensor\n"
        "x = torch.ones(2, 3)\n"
        "print(functorch.vmap(torch.sum)(x).tolist(), is_batchedtensor(x),\n"
        "      callable(functorch.make_fx))\n"
        "from functorch.experimental import chunk_vmap\n"
        "from functorch.experimental.control_flow import cond\n"
        "print(chunk_vmap(torch.sum, chunks=2)(x).tolist(),\n"
        "      cond(x.sum() > 9, torch.neg, torch.exp, (x[0] * 0,)).tolist())\n"
        "try:\n"
        "    import functorch.dim\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error.name)"
    )
    done = subprocess.run(
        [sys.executable, "-m", "hotaru", str(program)], capture_output=True, text=True
    )
    assert done.stdout.splitlines() == [
        "[3.0, 3.0] False True",
        "[3.0, 3.0] [1.0, 1.0, 1.0]",
        "functorch.dim",
    ], done.stderr


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
