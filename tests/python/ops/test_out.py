"""`out=`: results are written where the caller wants them, and nowhere else."""

import pytest

import hotaru as torch

A = torch.arange(12.0).view(3, 4)
B = torch.linspace(-1, 2, 12).view(3, 4)
SQUARE = torch.linspace(-2, 2, 9).view(3, 3)
CALLS = {
    "add": (torch.add, A, B),
    "exp": (torch.exp, B),
    "where": (torch.where, A > 5, A, B),
    "addcmul": (torch.addcmul, A, B, B),
    "logaddexp": (torch.logaddexp, A, B),
    "mm": (torch.mm, SQUARE, A),
    "addmm": (torch.addmm, A, SQUARE, B),
    "softmax": (torch.softmax, A, 1),
    "cumsum": (torch.cumsum, A, 0),
    "index_select": (torch.index_select, A, 0, torch.tensor([2, 0, 1])),
    "gather": (torch.gather, A, 1, torch.zeros(3, 4, dtype=torch.int64)),
    "cat": (torch.cat, [A[:1], B[1:]]),
    "clamp": (torch.clamp, A, 2, 7),
    "fmod": (torch.fmod, A, 3),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_written_in_place(name):
    function, *args = CALLS[name]
    expected = function(*args)
    out = torch.full(expected.shape, float("nan"))
    address, version = out.data_ptr(), out._version
    assert function(*args, out=out) is out
    assert torch.equal(out, expected)
    assert out.data_ptr() == address
    assert out._version == version + 1
    assert not out.requires_grad
    assert out.grad_fn is None


@pytest.mark.parametrize("name", CALLS)
def test_results_are_written_through_views(name):
    """The column of a matrix, an odd address, another order of dimensions."""
    function, *args = CALLS[name]
    expected = function(*args)
    wide = torch.zeros(*expected.shape, 2)
    function(*args, out=wide[..., 1])
    assert torch.equal(wide[..., 1], expected)
    assert not wide[..., 0].any()
    long = torch.zeros(expected.numel() + 2)
    function(*args, out=long[1:-1].view(expected.shape))
    assert torch.equal(long[1:-1].view(expected.shape), expected)
    assert long[0] == 0
    assert long[-1] == 0
    turned = torch.zeros(expected.t().shape).t()
    function(*args, out=turned)
    assert torch.equal(turned, expected)


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_may_take_the_result(name):
    """It is read as it was, also where an operator has steps of its own."""
    function, *args = CALLS[name]
    expected = function(*args)
    for i, argument in enumerate(args):
        fits = isinstance(argument, torch.Tensor) and argument.dtype == A.dtype
        if not fits or argument.shape != expected.shape:
            continue
        own = argument.clone()
        function(*args[:i], own, *args[i + 1 :], out=own)
        assert torch.equal(own, expected)


def test_a_piece_of_an_argument_may_take_the_result():
    whole = torch.arange(10.0)
    torch.mul(whole[:8], 2, out=whole[2:])
    assert whole.tolist() == [0, 1, 0, 2, 4, 6, 8, 10, 12, 14]
    square = SQUARE.clone()
    joined = torch.zeros(6, 3)
    joined[:3] = square
    torch.cat([joined[3:], joined[:3]], out=joined)
    assert torch.equal(joined[3:], square)
    assert not joined[:3].any()


def test_other_dtypes_and_shapes_are_cast_and_resized():
    out = torch.zeros(3, 4, dtype=torch.float64)
    torch.add(A, B, out=out)
    assert torch.equal(out, (A + B).double())
    empty = torch.empty(0)
    torch.add(A, B, out=empty)
    assert torch.equal(empty, A + B)


def test_nothing_is_written_where_gradients_are_refused():
    out = torch.full((3, 4), 7.0)
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        torch.add(A.clone().requires_grad_(), B, out=out)
    assert (out == 7).all()
    leaf = torch.full((3, 4), 7.0, requires_grad=True)
    with pytest.raises(RuntimeError):
        torch.add(A, B, out=leaf)
    assert (leaf == 7).all()
    assert leaf.grad_fn is None
    with torch.no_grad():
        torch.add(A, B, out=leaf)
    assert torch.equal(leaf.detach(), A + B)
    assert leaf.is_leaf


def test_saved_tensors_notice_the_write():
    x = torch.ones(4, requires_grad=True)
    factor = torch.full((4,), 2.0)
    y = x * factor
    torch.add(torch.ones(4), 1, out=factor)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_queued_and_captured_calls_write_in_place():
    stream = torch.cpu.Stream()
    out, twice = torch.zeros(3, 4), torch.zeros(3, 4)
    address = out.data_ptr()
    with torch.cpu.stream(stream):
        torch.add(A, B, out=out)
        torch.mul(out, 2, out=twice)
    stream.synchronize()
    assert torch.equal(twice, (A + B) * 2)
    assert out.data_ptr() == address
    graph = torch.cpu.Graph()
    given = A.clone()
    with torch.cpu.graph(graph):
        torch.add(given, B, out=out)
        torch.mul(out, 2, out=twice)
    given.fill_(1)
    graph.replay()
    assert torch.equal(twice, (1 + B) * 2)
    assert out.data_ptr() == address
