"""Writes in place through views of any layout, and views of leaves.

What is expected is what PyTorch 2.13 does, unless a test says otherwise.
"""

import random

import pytest

import hotaru as torch


def transposed(values):
    """The same values, laid out by columns."""
    return values.transpose(0, 1).contiguous().transpose(0, 1)


def spread(values):
    """The same values with gaps between them, and none before the first."""
    room = torch.zeros([2 * n + 1 for n in values.shape], dtype=values.dtype)
    out = room[tuple(slice(1, None, 2) for _ in values.shape)]
    out.copy_(values)
    return out.detach()


LAYOUTS = [lambda values: values, transposed, spread]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("write", ["assign", "mul", "zero", "add", "copy"])
def test_write_into_a_row(layout, write):
    x = layout(torch.ones(2, 3)).requires_grad_()
    w = torch.full((3,), 5.0, requires_grad=True)
    y = layout(torch.zeros(2, 3))
    y.copy_(x)
    row = y[0]
    if write == "assign":
        y[0] = 7.0
    elif write == "mul":
        row.mul_(w)
    elif write == "zero":
        row.zero_()
    elif write == "add":
        row.add_(w)
    else:
        row.copy_(w)
    (y * torch.arange(1.0, 7.0).reshape(2, 3)).sum().backward()
    first = {"mul": [5, 10, 15], "add": [1, 2, 3]}.get(write, [0, 0, 0])
    assert x.grad.tolist() == [first, [4, 5, 6]]
    if write in ("mul", "add", "copy"):
        assert w.grad.tolist() == [1, 2, 3]


def test_write_into_a_diagonal_of_a_transposed_product():
    x = torch.arange(9.0).reshape(3, 3).requires_grad_()
    y = (x.t() * 1).t()
    y.diagonal().mul_(y[0].clone())
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    (g * g).sum().backward()
    numeric = _numeric(lambda t: _diagonal_gradient(t), x.detach())
    assert torch.allclose(x.grad.double(), numeric, rtol=1e-4, atol=1e-3)


def _diagonal_gradient(t):
    t = t.detach().requires_grad_()
    y = t * 1
    y = y * (1 - torch.eye(3, dtype=t.dtype)) + torch.diag(y.diagonal() * y[0])
    (g,) = torch.autograd.grad((y * y).sum(), t)
    return (g * g).sum()


def _numeric(f, x, step=1e-5):
    x = x.double()
    out = torch.zeros_like(x)
    for i in range(x.numel()):
        d = torch.zeros(x.numel(), dtype=torch.float64)
        d[i] = step
        d = d.reshape(x.shape)
        out.view(-1)[i] = (f(x + d) - f(x - d)) / (2 * step)
    return out


def test_writes_through_parts_of_complex_tensors():
    x = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    y = x * 1
    y.real.mul_(3)
    y.imag[0] = 5
    (y.real * torch.arange(2.0) + y.imag * 7).sum().backward()
    assert x.grad.tolist() == [0, 3 + 7j]
    assert y.real._base is y

    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    torch.view_as_complex(y).mul_(2j)
    (y * torch.arange(4.0).view(2, 2)).sum().backward()
    assert x.grad.tolist() == [[2, 0], [6, -4]]


def _random_view(rng, v):
    kind = rng.randrange(6)
    if kind == 0 and v.dim():
        d = rng.randrange(v.dim())
        return v.select(d, rng.randrange(v.shape[d]))
    if kind == 1:
        return v[tuple(slice(None, None, rng.randint(1, 2)) for _ in v.shape)]
    if kind == 2:
        return v.permute(rng.sample(range(v.dim()), v.dim()))
    if kind == 3 and v.dim() > 1:
        return v.diagonal()
    if kind == 4:
        return v.unsqueeze(rng.randint(0, v.dim()))
    return v.squeeze()


@pytest.mark.parametrize("seed", range(60))
def test_random_writes_in_any_layout(seed):
    """The gradient depends on values alone, not on where they lie.

    The reference computes with one flat tensor of positions: what a view
    reads and writes is found by making the same view of them.
    """
    rng = random.Random(seed)
    shape = [rng.randint(1, 4) for _ in range(rng.randint(2, 3))]
    count = 1
    for n in shape:
        count *= n
    start = torch.arange(float(count)).reshape(shape).double() / 7
    x = start.clone().requires_grad_()
    flat = start.clone().requires_grad_()
    y = rng.choice(LAYOUTS)(torch.zeros(shape, dtype=torch.float64))
    y.copy_(x)
    reference = flat.reshape(-1)
    places = torch.arange(count).reshape(shape)
    for _ in range(rng.randint(1, 5)):
        v, at, state = y, places, rng.getstate()
        for _ in range(rng.randint(0, 3)):
            state = rng.getstate()
            v = _random_view(rng, v)
            rng.setstate(state)
            at = _random_view(rng, at)
        at = at.reshape(-1)
        kind = rng.randrange(4)
        old = reference[at]
        if kind == 0:
            v.mul_(2.5)
            new = old * 2.5
        elif kind == 1:
            v.fill_(3.0)
            new = old * 0 + 3
        elif kind == 2:
            v.sin_()
            new = old.sin()
        else:
            v.mul_(x.view(-1)[0])
            new = old * flat.view(-1)[0]
        reference = reference.index_put((at,), new)
    weights = torch.arange(float(count)).double() + 1
    (y.reshape(-1) * weights).sum().backward()
    (reference * weights).sum().backward()
    assert torch.allclose(y.reshape(-1), reference)
    assert torch.allclose(x.grad, flat.grad)


NO_GRAD_VIEWS = {
    "view": lambda p: p.view(-1),
    "index": lambda p: p[0],
    "t": lambda p: p.t(),
    "slice": lambda p: p[:1],
    "expand": lambda p: p.expand(2, 2, 3),
    "unbind": lambda p: p.unbind(0)[0],
    "detach": lambda p: p.detach(),
}


@pytest.mark.parametrize("name", NO_GRAD_VIEWS)
def test_views_of_leaves_under_no_grad(name):
    p = torch.ones(2, 3, requires_grad=True)
    with torch.no_grad():
        v = NO_GRAD_VIEWS[name](p)
    assert v.requires_grad == (name != "detach")
    assert v.is_leaf
    assert v.grad_fn is None


def test_what_views_without_recording_may_be_used_for():
    p = torch.ones(2, 3, requires_grad=True)
    with torch.no_grad():
        v = p[0]
    (v * 2).sum().backward()  # leads nowhere
    assert p.grad is None
    with pytest.raises(RuntimeError, match="does not require grad and does"):
        v.sum(0).detach().backward()
    with pytest.raises(RuntimeError, match="created in no_grad mode and is b"):
        v.mul_(2)
    with torch.no_grad():
        v.mul_(2)
    assert p[0].tolist() == [2, 2, 2]
    assert "grad_fn=<Invalid>" in repr(v)
    with pytest.raises(RuntimeError, match="another view of its base has been"):
        _ = v.is_leaf


def test_results_of_no_grad_that_are_views_inside():
    """A view of memory that nobody else has is as good as a copy.

    PyTorch, whose convolutions give no views, agrees on this program.
    """
    w = torch.ones(1, requires_grad=True)
    with torch.no_grad():
        y = torch.nn.functional.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 2))
    y.mul_(w)
    y.sum().backward()
    assert w.grad.tolist() == [6]


def test_gradients_lie_as_their_parameters_do():
    w = torch.ones(2, 3, requires_grad=True)
    (torch.ones(4, 3) @ w.t()).sum().backward()
    assert w.grad.stride() == (3, 1)
    w = torch.ones(2, 3, requires_grad=True)
    w.t().contiguous().sum().backward()
    assert w.grad.stride() == (3, 1)
    w = torch.ones(3, 2).t().clone().detach().requires_grad_()
    (w * torch.ones(2, 3)).sum().backward()
    assert w.grad.stride() == w.stride() == (1, 2)
    gaps = torch.ones(3, 2)[::2].t().detach().requires_grad_()
    (gaps * 2).sum().backward()
    assert gaps.grad.is_contiguous()


class _Written(torch.autograd.Function):
    @staticmethod
    def forward(ctx, factor, x, copies):
        ctx.copies = copies
        ctx.mark_dirty(x)
        x.mul_(2)
        return (x, x * 1) if copies else x

    @staticmethod
    def backward(ctx, grad, *more):
        return grad.sum(), grad * 2, None


def test_functions_that_write_into_views():
    """Whichever argument it is; PyTorch mistakes it for the first."""
    a = torch.ones((), requires_grad=True)
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    _Written.apply(a, y.t()[0], False)
    (y * torch.arange(4.0).reshape(2, 2)).sum().backward()
    assert a.grad.item() == 2
    assert x.grad.tolist() == [[0, 1], [4, 3]]
    y = x * 1
    with pytest.raises(RuntimeError, match="cannot return more than one"):
        _Written.apply(a, y[0], True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires"):
        _Written.apply(a, x, False)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        _Written.apply(a, x[0], False)
    with pytest.raises(RuntimeError, match="is being modified inplace"):
        _Written.apply(a, y.unbind(0)[0], False)


VIEWED_IN_PLACE = {
    "squeeze_": lambda v: v.squeeze_(),
    "t_": lambda v: v.t_(),
    "unsqueeze_": lambda v: v.unsqueeze_(0),
    "transpose_": lambda v: v.transpose_(0, 1),
    "swapaxes_": lambda v: v.swapaxes_(0, 1),
    "as_strided_": lambda v: v.as_strided_((8,), (1,), 4),
    "mul_": lambda v: v.mul_(2),
}


@pytest.mark.parametrize("change", VIEWED_IN_PLACE)
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_views_of_leaves_that_change_unrecorded_keep_their_way(change, mode):
    x = torch.ones(3, 4, requires_grad=True)
    v = x[1:]
    with mode():
        VIEWED_IN_PLACE[change](v)
    assert not v.is_leaf
    v.sum().backward()
    assert x.grad.tolist() == [[0] * 4, [1] * 4, [1] * 4]
