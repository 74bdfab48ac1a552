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
    "sum": (torch.sum, A, 1),
    "mean": (torch.mean, A, 0),
    "amax": (torch.amax, B, (0, 1)),
    "prod": (torch.prod, A, 1, True),
    "var": (torch.var, A, 0),
    "mv": (torch.mv, SQUARE, B[0, :3]),
    "zeros": (torch.zeros, 3, 4),
    "linspace": (torch.linspace, 0, 1, 7),
}
# Functions that one kernel computes from elements.
ELEMENTWISE = {
    "add": (torch.add, A, B),
    "sub": (torch.sub, A, B),
    "mul": (torch.mul, A, 3),
    "exp": (torch.exp, B),
    "sigmoid": (torch.sigmoid, B),
    "addcmul": (torch.addcmul, A, B, B),
    "maximum": (torch.maximum, A, B),
    "atan2": (torch.atan2, A, B),
}


def kernels_of(call) -> list[str]:
    """The names of the kernels that a call runs, and of operators."""
    with torch.profiler.profile() as profile:
        call()
    return [event.key for event in profile.key_averages()]


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
    """It is read as it was, also where an operator has steps of its own; those
    that read at indices refuse it, as PyTorch's do (test_overlap.py).
    """
    function, *args = CALLS[name]
    if name in ("gather", "index_select"):
        return
    expected = function(*args)
    for i, argument in enumerate(args):
        fits = isinstance(argument, torch.Tensor) and argument.dtype == A.dtype
        if not fits or argument.shape != expected.shape:
            continue
        own = argument.clone()
        function(*args[:i], own, *args[i + 1 :], out=own)
        assert torch.equal(own, expected)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_kernels_of_elements_write_anywhere(name):
    """Without a copy: other strides, odd addresses, over an operand."""
    function, *args = ELEMENTWISE[name]
    expected = function(*args)
    own = args[0].clone()
    for first, out in (
        (args[0], torch.zeros(4, 3).t()),
        (args[0], torch.zeros(3, 8)[:, ::2]),
        (args[0], torch.zeros(13)[1:].view(3, 4)),
        (args[0].t().contiguous().t(), torch.zeros(3, 4)),
        (own, own),
    ):
        kernels = kernels_of(
            lambda out=out, first=first: function(first, *args[1:], out=out)
        )
        assert not any("copy" in kernel for kernel in kernels), kernels
        assert torch.equal(out, expected)


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "prod", "var", "mv"])
def test_reductions_and_products_write_without_a_copy(name):
    function, *args = CALLS[name]
    expected = function(*args)
    room = torch.full((3, 64), -7.0)
    count = max(expected.numel(), 1)
    out = room[1, :count].view(expected.shape)  # not where its storage begins
    kernels = kernels_of(lambda: function(*args, out=out))
    assert not any("copy" in kernel for kernel in kernels), kernels
    assert torch.equal(out, expected)
    assert (room[[0, 2]] == -7).all()
    assert (room[1, count:] == -7).all()


def test_operators_of_several_steps_may_take_an_argument():
    """No step writes over what a later one reads."""
    whole = [
        (torch.logit, torch.rand(3, 4) * 0.8 + 0.1),
        (torch.hypot, A, B),
        (torch.logaddexp, A, B),
        (torch.xlogy, A, A + 1),
        (torch.pow, A, 2.5),
        (torch.div, A, B + 3),
        (torch.floor_divide, A, B + 3),
        (torch.nan_to_num, A),
        (torch.lerp, A, B, 0.3),
        (torch.sinc, B),
        (torch.addcdiv, A, B, A + 1),
        (torch.clamp, A, B, A),
        (torch.softmax, A, 1),
        (torch.cumsum, A, 1),
        (torch.addmm, SQUARE, SQUARE, SQUARE),
        (torch.mm, SQUARE, SQUARE),
        (torch.matmul, SQUARE, SQUARE),
        (torch.linalg.matrix_power, SQUARE, 3),
        (torch.triu, SQUARE),
    ]
    for function, *args in whole:
        expected = function(*args)
        for i, argument in enumerate(args):
            if not isinstance(argument, torch.Tensor):
                continue
            own = argument.clone()
            function(*args[:i], own, *args[i + 1 :], out=own)
            assert torch.equal(own, expected), function
        # One tensor in all places.
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        if len(tensors) < 2:
            continue
        own = tensors[0].clone()
        same = [own if isinstance(a, torch.Tensor) else a for a in args]
        expected = function(*same)
        function(*same, out=own)
        assert torch.equal(own.nan_to_num(), expected.nan_to_num()), function


def test_neighbours_in_one_row_may_take_the_result():
    row = torch.arange(9.0)
    torch.add(row[1:], row[:-1], out=row[:-1])
    assert row.tolist() == [1, 3, 5, 7, 9, 11, 13, 15, 8]
    row = torch.arange(9.0)
    torch.add(row[1:], 1, out=row[:-1])
    assert row.tolist() == [2, 3, 4, 5, 6, 7, 8, 9, 8]


def test_a_repeated_element_takes_no_result():
    out = torch.zeros(1).expand(4)
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.add(torch.ones(4), 1, out=out)


def test_other_dtypes_are_refused_in_pytorchs_words():
    whole = torch.zeros(3, 4, dtype=torch.int64)
    message = "result type Float can't be cast to the desired output type Long"
    with pytest.raises(RuntimeError, match=message):
        torch.add(A, B, out=whole)
    assert not whole.any()


def test_a_piece_of_an_argument_may_take_the_result():
    whole = torch.arange(10.0)
    torch.mul(whole[:8], 2, out=whole[2:])
    assert whole.tolist() == [0, 1, 0, 2, 4, 6, 8, 10, 12, 14]
    joined = torch.zeros(6, 3)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        torch.cat([joined[3:], joined[:3]], out=joined)


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
    assert torch.equal(out, 1 + B)
    assert out.data_ptr() == address


def test_queued_and_captured_calls_write_over_operands_and_reductions():
    stream = torch.cpu.Stream()
    out, row = A.clone(), torch.zeros(3, 8)[:, ::2]
    total = torch.zeros(2, 4)
    with torch.cpu.stream(stream):
        torch.sub(out, B, out=out)
        torch.mul(out, 2, out=row)
        torch.sum(row, 0, out=total[1])
    stream.synchronize()
    assert torch.equal(out, A - B)
    assert torch.equal(row, (A - B) * 2)
    assert torch.equal(total[1], row.sum(0))
    assert not total[0].any()
    graph = torch.cpu.Graph()
    given = A.clone()
    with torch.cpu.graph(graph):
        torch.sub(given, B, out=out)
        torch.add(out, 1, out=out)
        torch.sum(out, 0, out=total[1])
    given.fill_(2)
    graph.replay()
    assert torch.equal(out, 2 - B + 1)
    assert torch.equal(total[1], (2 - B + 1).sum(0))
    assert not total[0].any()


@pytest.mark.filterwarnings("ignore:An output")
@pytest.mark.parametrize("size", [0, 3, (2, 2)])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"p": 1},
        {"p": "nuc"},
        {"p": 2, "dim": 0},
        {"p": None},
        {"p": 3, "dim": 1, "keepdim": True},
        {"p": "nuc", "dim": (0, 1)},
    ],
    ids=str,
)
def test_norms_take_the_size_of_the_result(options, size):
    x = torch.tensor([[3.0, 4.0], [1.0, 2.0]])
    out = torch.ones(size)
    assert torch.norm(x, out=out, **options) is out
    assert torch.equal(out, torch.norm(x, **options))


X, IDS = torch.tensor([[0.5, 0.25], [0.125, 0.75]]), torch.tensor([[0, 1]])
EXACT = {
    "mm": lambda out: torch.mm(X, X, out=out),
    "addmm": lambda out: torch.addmm(X, X, X, out=out),
    "dot": lambda out: torch.dot(X[0], X[1], out=out),
    "inverse": lambda out: torch.inverse(X, out=out),
    "linalg.norm": lambda out: torch.linalg.norm(X, out=out),
    "norm": lambda out: torch.norm(X, out=out),
    "gather": lambda out: torch.gather(X, 0, IDS, out=out),
    "index_select": lambda out: torch.index_select(X, 0, IDS[0], out=out),
    "argmax": lambda out: torch.argmax(X, out=out),
    "searchsorted": lambda out: torch.searchsorted(X[0], X[1], out=out),
    "isposinf": lambda out: torch.isposinf(X, out=out),
    "softmax": lambda out: torch.softmax(X, 1, out=out),
    "where": lambda out: torch.where(X > 0.3, X, X, out=out),
    "tril": lambda out: torch.tril(X, out=out),
    "quantile": lambda out: torch.quantile(X, 0.5, out=out),
    "any": lambda out: torch.any(X > 0.3, out=out),
}


@pytest.mark.parametrize("name", EXACT)
def test_what_is_written_exactly_needs_its_dtype(name):
    """A value beyond the dtype would come back as another one."""
    call = EXACT[name]
    dtype = {"argmax": torch.int64, "searchsorted": torch.int64}.get(name)
    dtype = dtype or (torch.bool if name in ("isposinf", "any") else X.dtype)
    call(torch.empty(0, dtype=dtype))
    for other in (torch.float64, torch.int8, torch.complex64, torch.int32):
        with pytest.raises(RuntimeError):
            call(torch.empty(0, dtype=other))


def test_what_is_cast_takes_wider_dtypes():
    for function in (torch.exp, torch.sum, torch.sigmoid, torch.cumsum):
        arguments = (X, 0) if function is torch.cumsum else (X,)
        out = torch.empty(0, dtype=torch.float64)
        assert function(*arguments, out=out).dtype == torch.float64


REDUCTIONS = ["sum", "nansum", "mean", "nanmean", "std", "var", "logsumexp"]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_in_the_dtype_of_out(name):
    """Sums of float32 into float64: all of it is computed in float64."""
    x = torch.rand(7, 5, generator=torch.Generator().manual_seed(0))
    out = torch.empty(5, dtype=torch.float64)
    reduce = getattr(torch, name)
    reduce(x, 0, out=out)
    torch.testing.assert_close(out, reduce(x.double(), 0), rtol=0, atol=0)


@pytest.mark.parametrize("shape", [(3, 3), (9, 1), (9,)])
def test_ranges_keep_the_shape_of_out(shape):
    """Where the number of elements fits."""
    for call in (
        lambda **o: torch.arange(9, **o),
        lambda **o: torch.linspace(0, 1, 9, **o),
        lambda **o: torch.logspace(0, 1, 9, **o),
    ):
        out = torch.zeros(shape)
        call(out=out)
        assert out.shape == shape
        assert torch.equal(out.flatten(), call().float())


PAIRS = {
    "topk": lambda out: torch.topk(X, 2, out=out),
    "sort": lambda out: torch.sort(X, out=out),
    "max": lambda out: torch.max(X, 1, out=out),
    "min": lambda out: torch.min(X, 1, out=out),
    "median": lambda out: torch.median(X, 1, out=out),
    "mode": lambda out: torch.mode(X, 1, out=out),
    "kthvalue": lambda out: torch.kthvalue(X, 1, out=out),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_values_and_indices_are_exact(name):
    PAIRS[name]((torch.empty(0), torch.empty(0, dtype=torch.int64)))
    for dtypes in ((torch.float32,) * 2, (torch.float64, torch.int64)):
        with pytest.raises(RuntimeError):
            PAIRS[name](tuple(torch.empty(0, dtype=d) for d in dtypes))


@pytest.mark.parametrize("out", [[torch.empty(2)], (torch.empty(2),), 3, "x"])
def test_one_result_takes_one_tensor(out):
    kind = type(out).__name__
    with pytest.raises(TypeError, match=f"must be Tensor, not {kind}"):
        torch.add(X, X, out=out)


@pytest.mark.parametrize(
    "call",
    [
        lambda out: torch.add(X, 1, out=out),
        lambda out: torch.sum(X, out=out),
        lambda out: torch.mm(X, X, out=out),
        lambda out: torch.cumsum(X, 0, out=out),
        lambda out: torch.topk(X, 1, out=(out, IDS.to("meta"))),
    ],
)
def test_results_go_to_no_other_device(call):
    with pytest.raises(RuntimeError, match="cross-device copies"):
        call(torch.empty(2, 2, device="meta"))


def test_addr_computes_in_the_widest_dtype():
    wide = torch.zeros(2, 2, dtype=torch.float64)
    assert torch.addr(wide, X[0], X[1]).dtype == torch.float64
    assert torch.addr(wide, X[0], X[1], beta=0).dtype == torch.float64


def test_scatters_by_strides_keep_gaps():
    """The strides are those of the input's own memory."""
    base = torch.arange(9.0, requires_grad=True)
    x = base.view(3, 3)[:, :-1]
    found = torch.as_strided_scatter(x, torch.zeros(2, 2), (2, 2), (2, 1))
    assert found.tolist() == [[0, 0], [0, 4], [6, 7]]
    assert found.stride() == (3, 1)
    found.sum().backward()
    assert base.grad.tolist() == [0, 0, 0, 0, 1, 0, 1, 1, 0]


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_complex_products_commute(dtype):
    x, y = torch.randn(2, 1001, dtype=dtype)
    assert torch.equal(x * y, y * x)
    assert not (x * x.conj()).imag.any()
    assert torch.equal((x * y)[:3], x[:3] * y[:3])
