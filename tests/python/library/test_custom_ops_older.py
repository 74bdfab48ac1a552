"""torch._custom_ops and torch._custom_op, the older ways."""

import pytest
from hotaru._custom_op import impl

import hotaru as torch
from hotaru import _custom_ops as ops


@pytest.fixture(autouse=True)
def _destroyed():
    yield
    for name in list(impl.global_registry):
        impl.global_registry[name]._destroy()


def _defined():
    @ops.custom_op("old::mul")
    def mul(xs: list[torch.Tensor], y: torch.Tensor, n: int) -> torch.Tensor:
        raise NotImplementedError

    @ops.impl("old::mul", device_types="cpu")
    def kernel(xs, y, n):
        return sum(xs) * y * n

    return impl.get_op("old::mul")


def test_derivatives_are_dictionaries():
    op = _defined()
    x, y = torch.full((2,), 3.0, requires_grad=True), torch.ones(2)
    y.requires_grad_()
    with pytest.raises(RuntimeError, match="Autograd has not been implemented"):
        op([x, y], y, 2)
    with torch.no_grad():
        assert op([x, y], y, 2).tolist() == [8, 8]

    @ops.impl_save_for_backward("old::mul")
    def save(inputs, output):
        assert inputs._fields == ("xs", "y", "n")
        return inputs.xs, inputs.y, inputs.n

    with pytest.raises(RuntimeError, match="unable to find a 'backward'"):
        op([x, y], y, 2)

    @ops.impl_backward("old::mul")
    def backward(ctx, saved, grad):
        xs, y, n = saved
        return {"xs": [grad * y * n for _ in xs], "y": grad * sum(xs) * n}

    op([x, y], y, 2).sum().backward()
    assert x.grad.tolist() == [2, 2]
    assert y.grad.tolist() == [2 + 8, 2 + 8]


@pytest.mark.parametrize(
    ("grads", "text"),
    [
        (3, "to be a dict"),
        ({"xs": [None]}, "to have keys"),
        ({"xs": [None], "y": None, "n": None}, "non-Tensor-like types"),
        ({"xs": None, "y": None}, "list of gradients"),
        ({"xs": [None, None], "y": None}, "1 gradients but got 2"),
        ({"xs": [3], "y": None}, "None or Tensor"),
        ({"xs": [None], "y": (3,)}, "either None or a Tensor"),
    ],
)
def test_gradients_of_another_form_are_refused(grads, text):
    op = _defined()
    ops.impl_save_for_backward("old::mul", func=lambda inputs, output: ())
    ops.impl_backward("old::mul", func=lambda ctx, saved, grad: grads)
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=text):
        op([x], x, 1).sum().backward()


def test_an_operator_ends_when_it_is_destroyed():
    _defined()
    with pytest.raises(RuntimeError, match="multiple times"):
        _defined()
    ops._destroy("old::mul")
    _defined()
    with pytest.raises(RuntimeError, match="Could not find custom op"):
        ops._destroy("old::other")
    with pytest.raises(ValueError, match="Could not find the operator"):
        impl.get_op("old::other")


def test_operators_of_libraries_get_kernels_too():
    with torch.library._scoped_library("old2", "FRAGMENT") as lib:
        lib.define("f(Tensor x) -> Tensor")
        ops.impl("old2::f", device_types="cpu", func=lambda x: x + 1)
        assert torch.ops.old2.f(torch.ones(1)).item() == 2
        with pytest.raises(RuntimeError, match="already has a cpu impl"):
            ops.impl("old2::f", device_types="cpu", func=lambda x: x)
        lib.define("g(Tensor x) -> Tensor")
        lib.impl("g", lambda x: x, "CompositeImplicitAutograd")
        with pytest.raises(RuntimeError, match="already has an implementation"):
            ops.impl("old2::g", func=lambda x: x)
        with pytest.raises(RuntimeError, match="do not need an autograd"):
            ops.impl_backward("old2::g", func=lambda *a: {})


@pytest.mark.parametrize(
    ("name", "schema", "error", "text"),
    [
        ("old::f", "(", AssertionError, "Invalid function schema: f"),
        ("old::f.a", "() -> ()", ValueError, "overload"),
        ("f", "() -> ()", ValueError, "to be a namespace"),
        ("aten::f", "(Tensor x) -> Tensor", ValueError, "reserved namespace"),
        ("old::f", "(Tensor(a!) x) -> Tensor", ValueError, "only supports"),
        ("old::f", "(Tensor x) -> ()", ValueError, "only supports"),
        ("old::f", "(Tensor self) -> Tensor", ValueError, "'self'"),
    ],
)
def test_names_and_schemas_that_are_refused(name, schema, error, text):
    with pytest.raises(error, match=text):
        ops.custom_op(name, schema)
