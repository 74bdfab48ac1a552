"""gather and scatter over operands of any layout, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


@st.composite
def problems(draw):
    """A shape, the dimension, the index' shape, and layouts of four tensors."""
    rank = draw(st.integers(1, 4))
    shape = draw(st.lists(st.integers(1, 6), min_size=rank, max_size=rank))
    dim = draw(st.integers(0, rank - 1))
    sizes = [draw(st.integers(0, s)) for s in shape]
    sizes[dim] = draw(st.integers(0, 9))
    layouts = [
        (draw(st.permutations(range(rank))), draw(st.integers(1, 2))) for _ in range(4)
    ]
    expanded = draw(st.sampled_from([None, *range(rank)]))
    return shape, dim, sizes, layouts, expanded, draw(st.integers(0, 2**32 - 1))


def laid_out(hotaru, values, layout):
    """A tensor of these values whose dimensions lie in another order, apart."""
    order, step = layout
    shape = [values.shape[d] for d in order]
    shape[-1] *= step
    base = hotaru.zeros(shape, dtype=hotaru.tensor(values).dtype)
    out = base[..., ::step].permute(*np.argsort(order).tolist())
    out.copy_(hotaru.tensor(values))
    return out


def positions(index, dim):
    """Places that the index names, as numpy's advanced indexing takes it."""
    grid = list(np.indices(index.shape, sparse=True))
    grid[dim] = index
    return tuple(grid)


@settings(max_examples=300, deadline=None)
@given(problems())
def test_layouts(problem):
    import hotaru

    shape, dim, sizes, layouts, expanded, seed = problem
    random = np.random.default_rng(seed)
    values = random.integers(-50, 50, shape).astype(np.float32)
    index = random.integers(0, shape[dim], sizes)
    if expanded is not None and sizes[expanded]:
        index = np.broadcast_to(np.take(index, [0], axis=expanded), sizes).copy()
    source = random.integers(-50, 50, sizes).astype(np.float32)
    x = laid_out(hotaru, values, layouts[0])
    at = laid_out(hotaru, index, layouts[1])
    if expanded is not None and sizes[expanded]:
        at = at.narrow(expanded, 0, 1).expand(*sizes)
    src = laid_out(hotaru, source, layouts[2])
    where = positions(index, dim)

    assert x.gather(dim, at).tolist() == values[where].tolist()

    for reduce, ufunc in (("sum", np.add), ("amax", np.maximum)):
        wanted = values.copy()
        ufunc.at(wanted, where, source)
        target = laid_out(hotaru, values, layouts[3])
        target.scatter_reduce_(dim, at, src, reduce)
        assert target.tolist() == wanted.tolist(), reduce

    wanted = values.copy()
    wanted[where] = 7
    assert x.scatter(dim, at, 7.0).tolist() == wanted.tolist()


@pytest.mark.parametrize("shape", [(300_000,), (500, 700), (700, 3, 200)])
@pytest.mark.parametrize("dim", [0, -1])
def test_threads_share_the_work(shape, dim):
    """Large enough for two threads, with many equal indices."""
    import hotaru

    random = np.random.default_rng(1)
    values = random.integers(-9, 9, shape).astype(np.float32)
    index = random.integers(0, shape[dim] // 3, shape)
    where = positions(index, dim % len(shape))
    x, at = hotaru.tensor(values), hotaru.tensor(index)
    before = hotaru.get_num_threads()
    try:
        hotaru.set_num_threads(2)
        gathered = x.gather(dim, at)
        added = x.scatter_add(dim, at, x)
    finally:
        hotaru.set_num_threads(before)
    assert (gathered.numpy() == values[where]).all()
    wanted = values.copy()
    np.add.at(wanted, where, values)
    assert (added.numpy() == wanted).all()


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("bad", [-1, 5])
def test_an_index_outside_is_an_error_wherever_it_stands(dim, bad):
    import hotaru

    x = hotaru.zeros(5, 5)
    for spot in ((0, 0), (2, 3), (4, 4)):
        at = hotaru.zeros(5, 5, dtype=hotaru.int64)
        at[spot] = bad
        text = f"index {bad} is out of bounds for dimension {dim} with size 5"
        with pytest.raises(RuntimeError, match=text):
            x.gather(dim, at)
        with pytest.raises(RuntimeError, match=text):
            x.scatter_add(dim, at, x)
    column = hotaru.full((5, 1), bad).expand(5, 5)
    with pytest.raises(RuntimeError, match="is out of bounds"):
        x.gather(dim, column)
