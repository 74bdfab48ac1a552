"""Indices into scalars, empty slices and short operands are checked."""

from __future__ import annotations

import pytest


def index(hotaru, *values):
    return hotaru.tensor(values, dtype=hotaru.int64)


def test_filling_a_scalar(hotaru):
    s = hotaru.tensor(5.0)
    for at in (index(hotaru, 0, 0), index(hotaru, 0, -1, 0), hotaru.tensor(0)):
        assert s.index_fill(0, at, 3.0).item() == 3
        assert s.clone().index_fill_(0, at, 3.0).item() == 3
    assert s.index_fill(0, index(hotaru), 3.0).item() == 5
    for at in (1, -2):
        with pytest.raises(IndexError, match="out of bounds for dimension 0"):
            s.index_fill(0, index(hotaru, at), 3.0)


def test_filling_a_scalar_backward(hotaru):
    s = hotaru.tensor(5.0, requires_grad=True)
    value = hotaru.tensor(2.0, requires_grad=True)
    s.index_fill(0, index(hotaru, 0, 0), value).backward()
    assert s.grad == 0
    assert value.grad == 1


def test_filling_a_scalar_queued_and_in_a_graph(hotaru):
    s, at = hotaru.tensor(5.0), index(hotaru, 0, 0)
    with hotaru.cpu.stream(hotaru.cpu.Stream()):
        filled = s.index_fill(0, at, 3.0)
    assert filled.item() == 3
    f = hotaru.compile(lambda x, i: x.index_fill(0, i, 3.0) + 1)
    assert [f(s, at).item() for _ in range(3)] == [4, 4, 4]


def test_other_writes_into_a_scalar(hotaru):
    s = hotaru.tensor(5.0)
    assert s.index_add(0, hotaru.tensor(0), hotaru.tensor(2.0)).item() == 7
    assert s.index_copy(0, index(hotaru, 0, 0), hotaru.ones(2)).item() == 1
    assert s.index_copy(0, hotaru.tensor(0), hotaru.tensor(4.0)).item() == 4
    with pytest.raises(RuntimeError, match="shape must match self tensor"):
        s.index_add(0, index(hotaru, 0), hotaru.ones(1))
    with pytest.raises(IndexError, match="source is scalar"):
        s.index_copy(0, index(hotaru, 0, 0), hotaru.tensor(1.0))
    with pytest.raises(RuntimeError, match="only 1 value"):
        s.index_select(0, index(hotaru, 0, 0))
    with pytest.raises(IndexError):
        s.index_select(0, index(hotaru, 1))


@pytest.mark.parametrize("at", [3, 5, -1])
@pytest.mark.parametrize("shape", [(3, 0), (3, 0, 2)])
def test_slices_without_elements_have_a_number(hotaru, shape, at):
    x, bad = hotaru.zeros(shape), index(hotaru, at)
    with pytest.raises(IndexError):
        x.index_select(0, bad)
    with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
        x.index_add(0, bad, x[:1])
    with pytest.raises(IndexError):
        x.index_copy(0, bad, x[:1])
    with pytest.raises(IndexError):
        hotaru.nn.functional.embedding(bad, hotaru.zeros(3, 0))
    with pytest.raises(IndexError, match="empty tensor"):
        x.put(bad, hotaru.zeros(1))
    stream = hotaru.cpu.Stream()
    with hotaru.cpu.stream(stream):
        lost = x.index_select(0, bad)
    with pytest.raises(IndexError):
        lost.tolist()
    with pytest.raises(IndexError):
        stream.synchronize()


@pytest.mark.parametrize("write", ["index_add", "index_copy"])
def test_sources_of_fewer_dimensions(hotaru, write):
    x = hotaru.zeros(1, 2, 3, 4)
    with pytest.raises((RuntimeError, IndexError)):
        getattr(x, write)(2, index(hotaru, 0, 1), hotaru.zeros(2, 3))
    with pytest.raises((RuntimeError, IndexError)):
        getattr(x, write + "_")(3, index(hotaru, 0), hotaru.zeros(1))


def test_gradients_of_softmax_have_its_shape(hotaru):
    ops = hotaru._C.ops
    for f in (ops._softmax_backward_data, ops._log_softmax_backward_data):
        with pytest.raises(RuntimeError, match="does not fit"):
            f(hotaru.zeros(1, 2, 4), hotaru.zeros(1, 2, 3, 4), 1, hotaru.float32)


def bag(hotaru, mode, padding_idx, offsets, indices=(0, 1, 2)):
    weight = hotaru.arange(1, 7.0).reshape(3, 2).requires_grad_()
    out = hotaru.nn.functional.embedding_bag(
        hotaru.tensor(indices),
        weight,
        hotaru.tensor(offsets),
        mode=mode,
        padding_idx=padding_idx,
        include_last_offset=True,
    )
    out.sum().backward()
    return out.tolist(), weight.grad.tolist()


@pytest.mark.parametrize(
    ("mode", "padding_idx", "out", "grad"),
    [
        ("sum", 0, [[8, 10]], [[0, 0], [1, 1], [1, 1]]),
        ("mean", 2, [[2, 3]], [[0.5, 0.5], [0.5, 0.5], [0, 0]]),
        ("max", None, [[5, 6]], [[0, 0], [0, 0], [1, 1]]),
        ("sum", None, [[1, 2]], [[1, 1], [0, 0], [0, 0]]),
    ],
)
def test_a_last_offset_before_the_end(hotaru, mode, padding_idx, out, grad):
    """Where each row is looked at the last bag goes on to the end."""
    assert bag(hotaru, mode, padding_idx, [0, 1]) == (out, grad)


def test_more_parts_than_memory_are_refused(hotaru):
    most = 2**63 - 1
    with pytest.raises(RuntimeError, match="too many bins for dimension 0"):
        hotaru.histogram(hotaru.ones(3), most)
    with pytest.raises(RuntimeError, match="overflowed with sizes"):
        hotaru._chunk_cat([hotaru.ones(3)], 0, most)
    parts = hotaru._chunk_cat([hotaru.ones(3), hotaru.ones(4)], 0, 2)
    assert parts.tolist() == [[1, 1, 1, 1], [1, 0, 1, 1]]


def test_all_and_nothing(hotaru):
    """x[True] and x[False] take values of any dtype, as x[:] does."""
    torch = hotaru
    x = torch.zeros(3, dtype=torch.float64)
    x[True] = torch.tensor([1, 2, 3])
    assert x.tolist() == [1, 2, 3]
    x[True] = torch.ones(1, 1, 1, dtype=torch.int32)
    assert x.tolist() == [1, 1, 1]
    x[False] = torch.tensor([1, 2])
    x[False] = 5
    assert x.tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="dtypes match"):
        x[torch.tensor(True), None] = torch.tensor([1, 2, 3])
    with pytest.raises(RuntimeError):
        x[True] = torch.ones(2)
