"""t_, transpose_, squeeze_, unsqueeze_ and as_strided_ with gradients.

PyTorch 2.13 computed the values.
"""

from __future__ import annotations

import pytest


@pytest.fixture
def leaf(hotaru):
    return hotaru.arange(6.0).reshape(2, 3).requires_grad_()


def test_a_result_is_turned(hotaru, leaf):
    y = leaf * 2
    y.t_()
    assert y.shape == (3, 2)
    assert not y.is_leaf
    (y * hotaru.arange(6.0).reshape(3, 2)).sum().backward()
    assert leaf.grad.tolist() == [[0, 4, 8], [2, 6, 10]]


def test_a_view_stays_one(leaf):
    row = (leaf * 2)[0]
    row.unsqueeze_(0)
    assert row.shape == (1, 3)
    (row**2).sum().backward()
    assert leaf.grad.tolist() == [[0, 8, 16], [0, 0, 0]]


def test_other_views_are_written_through(hotaru, leaf):
    y = leaf * 2
    flat = y.view(6)
    y.t_()
    flat.mul_(3)
    (y * hotaru.arange(6.0).reshape(3, 2)).sum().backward()
    assert y.tolist() == [[0, 18], [6, 24], [12, 30]]
    assert leaf.grad.tolist() == [[0, 12, 24], [6, 18, 30]]


def test_strides_of_ones_own(hotaru):
    x = hotaru.arange(6.0).requires_grad_()
    y = x * 2
    y.as_strided_((2, 2), (1, 2))
    (y * hotaru.tensor([[1.0, 2], [3, 4]])).sum().backward()
    assert x.grad.tolist() == [2, 6, 4, 8, 0, 0]


def test_leaves_are_refused_where_gradients_are_recorded(hotaru, leaf):
    text = "a view of a leaf Variable that requires grad"
    with pytest.raises(RuntimeError, match=text):
        leaf.t_()
    with pytest.raises(RuntimeError, match=text):
        leaf[0].unsqueeze_(0)
    with hotaru.no_grad():
        leaf.t_()
    (leaf * leaf).sum().backward()
    assert leaf.grad.tolist() == [[0, 6], [2, 8], [4, 10]]


def test_what_was_saved_is_missed(leaf):
    y = leaf * 2
    z = y * y
    y.t_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_versions_and_names(hotaru):
    x = hotaru.arange(6.0).reshape(2, 3)
    before = x._version
    x.t_()
    x.swapaxes_(0, 1)
    x.swapdims_(0, 1)
    assert x._version == before + 3
    assert x.tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize(
    "make", ["polar(x, x)", "roll(x, 1)", "rot90(x, 3)", "complex(x, x)"]
)
def test_results_made_as_views_are_results(hotaru, make):
    """Their making's own tensors are nobody's leaves."""
    x = hotaru.rand(2, 3, requires_grad=True)
    y = eval(f"torch.{make}", {"torch": hotaru, "x": x})
    y.diagonal().fill_(0)
    y[0].mul_(2)
    assert not y.is_leaf
    if make != "polar(x, x)":  # whose gradient reads the result
        y.abs().sum().backward()
        assert x.grad.shape == (2, 3)


# Writes of what has a history into a view of two rows and two columns.
WRITES = {
    "add_": lambda v, x: v.add_(x),
    "mul_": lambda v, x: v.mul_(x),
    "div_": lambda v, x: v.div_(x),
    "pow_": lambda v, x: v.pow_(x),
    "copy_": lambda v, x: v.copy_(x),
    "fill_": lambda v, x: v.fill_(x[0, 0]),
    "lerp_": lambda v, x: v.lerp_(x, 0.5),
    "addcmul_": lambda v, x: v.addcmul_(x, x),
    "addmm_": lambda v, x: v.addmm_(x, x),
    "addmv_": lambda v, x: v[0].addmv_(x, x[0]),
    "baddbmm_": lambda v, x: v[None].baddbmm_(x[None], x[None]),
    "iadd": lambda v, x: v.__iadd__(x),
    "setitem": lambda v, x: v.__setitem__(0, x[0]),
    "setitem of a mask": lambda v, x: v.__setitem__(v > -1, x[0, 0]),
    "index_put_": lambda v, x: v.index_put_(((v * 0).long()[0],), x),
    "index_add_": lambda v, x: v.index_add_(0, (v * 0).long()[0], x),
    "index_copy_": lambda v, x: v.index_copy_(0, (v * 0).long()[0], x),
    "index_fill_": lambda v, x: v.index_fill_(0, (v * 0).long()[0], x[0, 0]),
    "masked_fill_": lambda v, x: v.masked_fill_(v > -1, x[0, 0]),
    "masked_scatter_": lambda v, x: v.masked_scatter_(v > -1, x),
    "scatter_": lambda v, x: v.scatter_(0, (v * 0).long(), x),
    "scatter_add_": lambda v, x: v.scatter_add_(0, (v * 0).long(), x),
    "scatter_reduce_": lambda v, x: v.scatter_reduce_(0, (v * 0).long(), x, "sum"),
    "put_": lambda v, x: v.put_((v * 0).long(), x),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("mode", ["no_grad", "inference"])
def test_views_made_without_gradients_take_no_history(hotaru, name, mode):
    base = hotaru.zeros(3, 2)
    within = {"no_grad": hotaru.no_grad, "inference": hotaru.inference_mode}
    with within[mode]():
        view = base[:2]
    x = hotaru.full((2, 2), 2.0, requires_grad=True)
    text = f"A view was created in {mode} mode and is being modified inplace"
    with pytest.raises(RuntimeError, match=text):
        WRITES[name](view, x)
    assert base.tolist() == [[0, 0]] * 3
    assert base.grad_fn is None
    assert not base.requires_grad
    # Tensors without history may be written, and all may where none is kept.
    WRITES[name](view, x.detach())
    with hotaru.no_grad():
        WRITES[name](view, x)
    assert not base.requires_grad


def test_views_of_such_views_and_of_results(hotaru):
    base = hotaru.zeros(3, 2)
    with hotaru.no_grad():
        view = base[:2]
    x = hotaru.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        view[0].mul_(x)
    # Nobody else sees the memory of a view whose base is gone.
    with hotaru.no_grad():
        alone = hotaru.zeros(2, 2).view(4)[:2]
        result = hotaru.ones(2, 2).t().clone()[0]
    (alone + 0).add_(x).sum().backward()
    alone.add_(x).sum().backward()
    result.mul_(x).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_a_base_that_was_written_since(hotaru):
    base = hotaru.zeros(2, 2)
    with hotaru.no_grad():
        view = base[0]
    assert view.grad_fn is None
    assert (view + 1).tolist() == [1, 1]
    base.add_(hotaru.ones(2, 2, requires_grad=True))
    with pytest.raises(RuntimeError, match="its base or another view of its"):
        _ = view.grad_fn
    leaf = hotaru.zeros(2, 2)
    with hotaru.no_grad():
        view = leaf[0]
    leaf.requires_grad_()
    assert view.grad_fn is None
    # The mark is one object for many views; histories are each one's own.
    one, other = leaf.detach()[0], leaf.detach()[0]
    with hotaru.no_grad():
        one, other = one[:1], other[:1]
    one.requires_grad_()
    assert one.requires_grad
    assert not other.requires_grad


def test_results_of_functions_that_are_views_of_their_own(hotaru):
    class Doubled(hotaru.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x.detach() * 2).view(2, 2)

        @staticmethod
        def backward(ctx, grad):
            return grad.reshape(4) * 2

    x = hotaru.ones(4, requires_grad=True)
    y = Doubled.apply(x)
    y.mul_(3)
    y.sum().backward()
    assert y.tolist() == [[6, 6], [6, 6]]
    assert x.grad.tolist() == [6] * 4


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex64"])
def test_what_leaves_the_values_as_they_are_is_a_write_all_the_same(hotaru, dtype):
    dtype = getattr(hotaru, dtype)
    for write in (
        lambda x: x.copy_(x),
        lambda x: x.__setitem__(slice(None), x),
        lambda x: x.conj_physical_(),
        lambda x: hotaru.conj_physical(x, out=x),
        lambda x: x.add_(0),
    ):
        x = hotaru.ones(2, 2, dtype=dtype)
        write(x)
        assert x._version == 1
    leaf = hotaru.ones(2, requires_grad=True)
    for write in (lambda: leaf.copy_(leaf), leaf.conj_physical_):
        with pytest.raises(RuntimeError, match="a leaf Variable"):
            write()
    y = leaf * 2
    y.copy_(y).sum().backward()
    assert leaf.grad.tolist() == [2, 2]
