"""Sizes, strides and offsets of any value: an error, never memory of others."""

from __future__ import annotations

import numpy as np
import pytest

FAR = 2**62
OVERFLOW = "Storage size calculation overflowed"


@pytest.mark.parametrize(
    "size", [(FAR,), (2**40, 2**40), (FAR, FAR, 0), (2**61,), (2**63 - 1,)]
)
def test_resizing_beyond_64_bits_is_an_error(hotaru, size):
    x = hotaru.zeros(4)
    with pytest.raises(RuntimeError, match=OVERFLOW):
        x.resize_(size)
    assert x.shape == (4,)
    assert x.tolist() == [0] * 4


def test_resizing_counts_the_offset(hotaru):
    x = hotaru.zeros(4, dtype=hotaru.uint8)[2:]
    with pytest.raises(RuntimeError, match=OVERFLOW):
        x.resize_(2**63 - 1)
    assert hotaru.arange(4)[2:].resize_(3).storage_offset() == 2


def test_resize_as_an_expanded_tensor(hotaru):
    wide = hotaru.zeros(1, dtype=hotaru.uint8).expand(FAR)
    with pytest.raises(RuntimeError, match=OVERFLOW):
        hotaru.zeros(4).resize_as_(wide)


def test_a_script_cannot_read_beyond_what_it_resized(hotaru):
    @hotaru.jit.script
    def peek(at: int):
        y = hotaru.zeros(4)
        return y.resize_([4611686018427387904])[at]

    with pytest.raises(RuntimeError, match=OVERFLOW):
        peek(2**34)


@pytest.mark.parametrize(
    ("size", "stride", "offset", "error"),
    [
        ((FAR,), (1,), 0, OVERFLOW),
        ((2,), (FAR,), 0, OVERFLOW),
        ((2**40, 2**40), (2**40, 1), 0, OVERFLOW),
        ((1,), (1,), 2**63 - 1, OVERFLOW),
        ((1,), (1,), -1, "invalid storage offset"),
        ((-1,), (1,), 0, "negative dimension"),
        ((2,), (-1,), 0, "[Nn]egative strides"),
        ((5,), (1,), 0, "out of bounds for storage of size 16"),
    ],
)
def test_strided_views_stay_inside(hotaru, size, stride, offset, error):
    x = hotaru.zeros(4)
    with pytest.raises(RuntimeError, match=error):
        x.as_strided(size, stride, offset)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda h: h.empty_strided((2,), (2**61,)), OVERFLOW),
        (lambda h: h.empty_strided((2,), (-1,)), OVERFLOW),
        (lambda h: h.empty_permuted((FAR, 3), (0, 1)), OVERFLOW),
        (lambda h: h.zeros(0, FAR, FAR), "Stride calculation overflowed"),
        (lambda h: h.zeros(1).expand(-2), "overflow"),
        (lambda h: h.zeros(1, 1, 0).expand(2**40, 2**40, 0), "overflow"),
        (lambda h: h.zeros(4).repeat(FAR), "too large"),
        (lambda h: h.zeros(4).repeat(-1), "negative dimension -4"),
        (lambda h: big(h).repeat(2**31), "too large"),
        (lambda h: big(h).tile(2**31), "too large"),
        (lambda h: h.cat([big(h, FAR)] * 4), "add up"),
        (lambda h: h.zeros(0, 2**40, 2**40).flatten(1), "overflow"),
        (lambda h: h.arange(-(2**63), 2**63 - 1), "overflow"),
    ],
)
def test_shapes_that_overflow_are_errors(hotaru, make, error):
    with pytest.raises(RuntimeError, match=error):
        make(hotaru)


def big(hotaru, n=2**33):
    return hotaru.zeros(1, dtype=hotaru.uint8).expand(n)


@pytest.mark.parametrize(
    "scan", ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"]
)
@pytest.mark.parametrize("shape", [(0, FAR), (2**40, 0, 3)])
def test_any_number_of_empty_lines_takes_no_time(hotaru, scan, shape):
    result = getattr(hotaru.zeros(shape), scan)(shape.index(0))
    values = result if isinstance(result, hotaru.Tensor) else result.values
    assert values.shape == shape


def test_differences_of_nothing(hotaru):
    assert hotaru.zeros(0, FAR).diff(n=2**31).shape == (0, FAR - 2**31)


NOT_RESIZABLE = "Trying to resize storage that is not resizable"


def test_memory_that_numpy_looks_into_stays_where_it_is(hotaru):
    x = hotaru.arange(3.0)
    array = x.numpy()
    for alias in (x, x.data, x.view(-1), x[1:]):
        with pytest.raises(RuntimeError, match=NOT_RESIZABLE):
            alias.resize_(10000)
    assert x.resize_(2).shape == (2,)  # what is there suffices
    array[0] = 7
    assert x[0] == 7


@pytest.mark.parametrize(
    "share",
    [
        lambda h: h.from_numpy(np.zeros(3)),
        lambda h: h.frombuffer(bytearray(8), dtype=h.uint8),
        lambda h: h.arange(3.0).share_memory_(),
    ],
)
def test_memory_of_others_is_not_resized(hotaru, share):
    with pytest.raises(RuntimeError, match=NOT_RESIZABLE):
        share(hotaru).resize_(10000)


def test_a_numpy_array_keeps_memory_that_its_tensor_left(hotaru):
    x = hotaru.arange(1000.0)
    array = x.numpy()
    x.data = hotaru.zeros(1000)
    hotaru.ones(1000)
    assert array.tolist() == list(range(1000))


def test_resizing_waits_for_queued_work(hotaru):
    stream = hotaru.cpu.Stream()
    x = hotaru.zeros(1 << 16)
    with hotaru.cpu.stream(stream):
        for _ in range(50):
            x.add_(1)
        x.resize_(1 << 18)
    assert (x[: 1 << 16] == 50).all()


def test_lists_stop_where_memory_does():
    """A list of 2^26 floats under a limit of 1 GiB: an error, soon."""
    import subprocess
    import sys

    program = """
import resource, hotaru
x = hotaru.ones(1 << 26)
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
try:
    x.tolist()
except MemoryError:
    print("no memory")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "no memory\n", done.stderr


def test_empty_matrices_of_any_size(hotaru):
    far = 2**63 - 1
    assert hotaru.triu_indices(far, 0).shape == (2, 0)
    assert hotaru.zeros(0, far).tril().shape == (0, far)
    with pytest.raises(RuntimeError, match="Stride calculation overflowed"):
        hotaru.empty(0, far - 1, 3, 2, memory_format=hotaru.channels_last)


# A shape costs nothing, but each part is a tensor.
@pytest.mark.parametrize(
    "take",
    [
        lambda torch, x: x.unbind(),
        lambda torch, x: list(x),
        lambda torch, x: x.split(1),
        lambda torch, x: x.chunk(2**39),
        lambda torch, x: torch.zeros(0).chunk(2**40),
        lambda torch, x: torch.tensor_split(torch.ones(3), 2**40),
    ],
)
def test_more_parts_than_memory_has_room_for(hotaru, take):
    x = hotaru.ones(1).expand(2**40)
    with pytest.raises(RuntimeError, match="at most 16777216 parts"):
        take(hotaru, x)
    assert [len(part) for part in x.chunk(2)] == [2**39, 2**39]


def test_indices_of_triangles_ask_for_their_memory_first(hotaru):
    for make in (hotaru.tril_indices, hotaru.triu_indices):
        with pytest.raises(RuntimeError, match=OVERFLOW):
            make(2**40, 2**40)
    far = 2**62
    assert hotaru.triu_indices(far, 2).tolist() == [[0, 0, 1], [0, 1, 1]]


# Operators that take a count or a size take a tensor of one integer, too.
BY_VECTOR = {
    "sizes": lambda t, n, x: t.ones(n).shape == (2,),
    "in a list": lambda t, n, x: t.ones([n, 3]).shape == (2, 3),
    "view": lambda t, n, x: x.view(n, -1).shape == (2, 4),
    "reshape": lambda t, n, x: x.reshape(n, 4).shape == (2, 4),
    "expand": lambda t, n, x: t.ones(1).expand(n).shape == (2,),
    "repeat": lambda t, n, x: x.repeat(n, 1).shape == (8, 2),
    "topk": lambda t, n, x: x.topk(n)[0].shape == (4, 2),
    "narrow": lambda t, n, x: x.narrow(0, 1, n).tolist() == [[2, 3], [4, 5]],
    "split": lambda t, n, x: len(x.split(n)) == 2,
    "sum": lambda t, n, x: x.sum(n - 1).tolist() == [1, 5, 9, 13],
    "permute": lambda t, n, x: x.permute(n - 1, 0).shape == (2, 4),
    "pad": lambda t, n, x: t.nn.functional.pad(x, (n, n)).shape == (4, 6),
    "of dimensions": lambda t, n, x: t.eye(n.view(1, 1)).shape == (2, 2),
}


@pytest.mark.parametrize("call", BY_VECTOR)
def test_tensors_of_one_integer_are_sizes(hotaru, call):
    n, x = hotaru.tensor([2]), hotaru.arange(8.0).view(4, 2)
    assert BY_VECTOR[call](hotaru, n, x)
    with pytest.raises(TypeError):
        BY_VECTOR[call](hotaru, hotaru.tensor([2.0]), x)
    with pytest.raises((TypeError, RuntimeError)):
        BY_VECTOR[call](hotaru, hotaru.tensor([2, 2]), x)


@pytest.mark.parametrize(
    "call",
    [
        lambda t, n, x: x.transpose(n, 0),
        lambda t, n, x: x.unsqueeze(n),
        lambda t, n, x: x.select(n, 0),
        lambda t, n, x: t.cat([x, x], n),
        lambda t, n, x: x.softmax(n),
    ],
)
def test_tensors_with_dimensions_are_no_dimension(hotaru, call):
    x = hotaru.arange(8.0).view(4, 2)
    with pytest.raises(TypeError, match="must be int, not Tensor"):
        call(hotaru, hotaru.tensor([1]), x)
    call(hotaru, hotaru.tensor(1), x)


def test_splits_at_a_tensors_places(hotaru):
    """A vector is places, as long as it may be, and no number of parts."""
    x = hotaru.arange(4)
    parts = x.tensor_split(hotaru.tensor([1]))
    assert [p.tolist() for p in parts] == [[0], [1, 2, 3]]
    parts = x.tensor_split(hotaru.tensor(2))
    assert [p.tolist() for p in parts] == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("call", "size"),
    [
        ("x.expand(size)", (5, 1, 5)),
        ("x.view(size)", (5, 1, 5)),
        ("x.reshape(*size)", (5, 1, 5)),
        ("torch.zeros(*size)", (5, 1, 5)),
        ("torch.rand(size)", (5, 1, 5)),
        ("x.new_full(size, 2)", (5, 1, 5)),
        ("x.repeat(*size)", (25, 1, 25)),
        ("F.conv2d(x[None], x[None], stride=size[:2])", (1, 1, 1, 1)),
        ("F.pad(x, size[:2])", (5, 1, 11)),
        ("F.avg_pool2d(x, (1, size[1]), (2, size[1]))", (5, 1, 5)),
        ("x.sum((0, size[1]))", (5,)),
    ],
)
def test_bools_among_sizes(hotaru, call, size):
    """True is 1 everywhere but in the first place, as in PyTorch."""
    names = {"torch": hotaru, "F": hotaru.nn.functional}
    names["x"] = hotaru.ones(5, 1, 5)
    for kind in (tuple, list):
        got = eval(call, {**names, "size": kind((5, True, 5))})
        assert got.shape == size
    with pytest.raises(TypeError):
        hotaru.zeros((True, 5))
    with pytest.raises(TypeError):
        hotaru.ones(5).expand(True, 5)
