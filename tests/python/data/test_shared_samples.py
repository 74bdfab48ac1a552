"""Tensors of one message that share memory share it where they arrive, too."""

from __future__ import annotations

import data_sets
import hotaru.multiprocessing as mp
import pytest
from hotaru.utils.data import DataLoader
from hotaru.utils.data._utils.overlap import entangled, hull
from hypothesis import given, settings
from hypothesis import strategies as st

import hotaru


class _Tagged(hotaru.Tensor):
    pass


def _tied(t):
    net = hotaru.nn.Linear(t.numel() // 10, 10, bias=False)
    net.tied = net.weight
    net.alias = hotaru.nn.Parameter(net.weight.data)
    return net


# Each gives tensors, or storages, that all look at the first one's last item.
_MESSAGES = {
    "view": lambda t: (t, t[10:]),
    "view first": lambda t: (t[3:], t),
    "two views": lambda t: (t[3:], t[4:]),
    "transposed": lambda t: (t.view(30, -1), t.view(30, -1).t()),
    "permuted": lambda t: (t.view(3, 5, -1), t.view(3, 5, -1).permute(2, 0, 1)),
    "twice": lambda t: (t, t),
    "detached": lambda t: (t.requires_grad_(), t.detach(), t.data),
    "nested": lambda t: {"a": [t, {"b": t[2:]}], "c": (t[4:],)},
    "module": _tied,
    "bits": lambda t: (t, t.view(hotaru.int32), t.view(hotaru.uint8)[4:]),
    "odd halves": lambda t: (t[5:], t.view(hotaru.float16)[11:]),
    "complex": lambda t: (
        t.view(hotaru.complex64),
        hotaru.view_as_real(t.view(hotaru.complex64)),
        t.view(hotaru.complex64).imag,
    ),
    "rows of columns": lambda t: (t.view(30, -1)[:, -1], t.view(30, -1)[4:]),
    "column twice": lambda t: (t.view(-1, 30)[:, -1], t.view(-1, 30)[:, 29]),
    "expanded": lambda t: (t.expand(3, -1), t),
    "windows": lambda t: (t.unfold(0, 10, 1), t),
    "subclass": lambda t: (t.as_subclass(_Tagged), t[2:]),
    "storage": lambda t: (t[3:], t.untyped_storage(), t),
    "typed storage": lambda t: (t[3:], t.storage()),
    "sparse": lambda t: (
        t,
        hotaru.sparse_coo_tensor(
            hotaru.arange(t.numel())[None], t, t.shape, is_coalesced=True
        ),
    ),
}


class Samples(hotaru.utils.data.Dataset):
    """One sample, made of zeros where it is asked for."""

    def __init__(self, make, width: int) -> None:
        self.make, self.width = make, width

    def __len__(self) -> int:
        return 1

    def __getitem__(self, i):
        return self.make(hotaru.zeros(self.width))


def _leaves(value) -> list:
    if isinstance(value, hotaru.nn.Module):
        return [value.weight, value.tied, value.alias]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    if getattr(value, "is_sparse", False):
        return [value._values()]
    return [value]


def _bytes(value):
    """A storage, or a tensor's values, as bytes that look into it."""
    if isinstance(value, hotaru.Tensor):
        value = value.detach().untyped_storage()
    value = getattr(value, "_untyped_storage", value)
    return hotaru.empty(0, dtype=hotaru.uint8).set_(value)


def _by_worker(make, width):
    (sample,) = DataLoader(Samples(make, width), batch_size=None, num_workers=1)
    return sample


def _by_pipe(make, width):
    ours, theirs = mp.Pipe(duplex=False)
    theirs.send(make(hotaru.zeros(width)))
    return ours.recv()


# Tensors up to 4 KB travel in the message itself.
@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("width", [300, 3000])
@pytest.mark.parametrize("name", _MESSAGES)
@pytest.mark.parametrize("way", [_by_worker, _by_pipe])
def test_memory_stays_one(way, name, width):
    leaves = _leaves(way(_MESSAGES[name], width))
    memory = [_bytes(leaf) for leaf in leaves]
    assert len({one.data_ptr() for one in memory}) == 1
    first = memory[0]
    first.fill_(1)
    last = hotaru.ones(4, dtype=hotaru.uint8).view(hotaru.float32).item()
    for leaf in leaves:
        if isinstance(leaf, hotaru.Tensor) and leaf.dtype == hotaru.float32:
            assert leaf.reshape(-1)[-1].item() == last
    storages = {one.untyped_storage()._cdata for one in memory}
    assert len(storages) == 1


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("name", _MESSAGES)
def test_what_shares_memory_keeps_its_geometry(name):
    def geometry(value):
        leaves = _leaves(value)
        return [
            (type(t), t.dtype, t.shape, t.stride(), t.requires_grad)
            for t in leaves
            if isinstance(t, hotaru.Tensor)
        ]

    made = _MESSAGES[name](hotaru.zeros(300))
    assert geometry(_by_worker(_MESSAGES[name], 300)) == geometry(made)


def test_values_come_with_the_memory():
    def make(t):
        hotaru.arange(3000.0, out=t)
        return t[7:], t.view(30, 100).t(), t[2000:].view(hotaru.int32)

    tail, turned, bits = _by_worker(make, 3000)
    assert tail.equal(hotaru.arange(7.0, 3000))
    assert turned.equal(hotaru.arange(3000.0).view(30, 100).t())
    assert bits.view(hotaru.float32).equal(hotaru.arange(2000.0, 3000))


def test_an_item_of_a_batch_looks_into_it():
    def collate(samples):
        batch = hotaru.utils.data.default_collate(samples)[0]
        return {"batch": batch, "item": batch[1], "turned": batch.t()}

    loader = DataLoader(data_sets.Rows(8), 2, num_workers=1, collate_fn=collate)
    for number, got in enumerate(loader):
        assert got["batch"].is_shared()
        assert got["item"].eq(2.0 * number + 1).all()
        got["item"][5] = -1
        assert got["batch"][1, 5] == -1
        assert got["turned"][5, 1] == -1


def test_the_storage_of_a_batch_stays_while_somebody_looks():
    def collate(samples):
        batch = hotaru.utils.data.default_collate(samples)[0]
        return batch.untyped_storage()

    loader = DataLoader(data_sets.Rows(40), 2, num_workers=1, collate_fn=collate)
    for number, storage in enumerate(list(loader)):
        rows = hotaru.empty(0).set_(storage)[: 2 * data_sets.WIDTH]
        assert rows.view(2, -1)[:, 3].tolist() == [2.0 * number, 2 * number + 1]


def test_what_only_lies_side_by_side_is_sent_apart():
    """Two rows do not bring the data set that they are of."""
    table = hotaru.zeros(1000, 100)
    rows, columns = (table[3], table[700]), (table[:, 2], table[:, 50:53])
    for parts in (rows, columns):
        for tensor in _by_worker(lambda _, parts=parts: parts, 1):
            assert tensor.untyped_storage().nbytes() < 20_000
            assert tensor.eq(0).all()


def test_neighbours_that_fill_their_memory_come_together():
    def make(t):
        return list(t.view(100, 30).unbind(1))

    columns = _by_worker(make, 3000)
    assert len({_bytes(one).data_ptr() for one in columns}) == 1
    assert columns[3].stride() == (30,)


def test_sizes_of_nothing():
    t, nothing, empty = _by_worker(lambda t: (t, t[:0], hotaru.empty(0, 3)), 9)
    assert (t.shape, nothing.shape, empty.shape) == ((9,), (0,), (0, 3))


def test_an_expanded_tensor_does_not_grow():
    (wide,) = _by_worker(lambda t: (t.expand(100_000, -1),), 3000)
    assert wide.stride() == (0, 1)
    assert wide.untyped_storage().nbytes() == 12_000
    wide[0, 5] = 3
    assert wide[99_999, 5] == 3


# --- memory that is shared already --------------------------------------------


class Shared(hotaru.utils.data.Dataset):
    """Views of one tensor in shared memory, and what it holds."""

    def __init__(self, width: int) -> None:
        self.whole = hotaru.zeros(width).share_memory_()

    def __len__(self) -> int:
        return 3

    def __getitem__(self, i):
        return self.whole[i:], self.whole[-1].item()


@pytest.mark.parametrize("width", [8, 3000])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_shared_memory_is_sent_as_it_is(method, width):
    dataset = Shared(width)
    loader = DataLoader(
        dataset,
        batch_size=None,
        num_workers=1,
        prefetch_factor=1,
        multiprocessing_context=method,
    )
    seen = []
    for number, (view, last) in enumerate(loader):
        assert view.data_ptr() == dataset.whole[number:].data_ptr()
        view[-1] = 7  # the next sample is under way
        seen.append(last)
    assert seen[0] == 0
    assert seen[2] == 7
    assert dataset.whole[-1] == 7


def test_a_worker_shares_what_it_has():
    class Own(Shared):
        def __init__(self):
            pass

        def __getitem__(self, i):
            if i == 0:
                super().__init__(50)
            return super().__getitem__(i)

    loader = DataLoader(Own(), batch_size=None, num_workers=1, prefetch_factor=1)
    kept = []
    for view, last in loader:
        view[-1] = 5
        kept.append((view, last))
    assert kept[2][1] == 5
    assert len({_bytes(view).data_ptr() for view, _ in kept}) == 1


def test_more_shared_memory_than_a_message_takes():
    kept = [hotaru.full((3,), float(i)).share_memory_() for i in range(230)]
    loader = DataLoader(
        [0], num_workers=1, collate_fn=lambda _: [kept, hotaru.ones(5000)]
    )
    ((got, ones),) = loader
    assert [t.tolist() for t in got] == [t.tolist() for t in kept]
    assert ones.eq(1).all()
    got[0][0] = -1
    assert kept[0][0] == -1


def test_a_part_of_shared_memory_is_found_again():
    whole = hotaru.arange(10.0).share_memory_()
    part = hotaru.empty(0).set_(whole.untyped_storage()[8:32])
    assert part.tolist() == [2, 3, 4, 5, 6, 7]
    ours, theirs = mp.Pipe(duplex=False)
    theirs.send((part, whole))
    got, all_of_it = ours.recv()
    assert got.tolist() == part.tolist()
    assert got.untyped_storage().nbytes() == 24
    all_of_it[2] = 20
    assert got[0] == 20
    ((got, _),) = DataLoader([0], num_workers=1, collate_fn=lambda _: (part, whole))
    got[1] = 30
    assert whole[3] == 30


def test_memory_is_as_long_where_it_arrives():
    queue, answers = mp.get_context("fork").SimpleQueue(), mp.SimpleQueue()
    process = mp.get_context("fork").Process(
        target=data_sets.measure, args=(queue, answers)
    )
    process.start()
    queue.put([hotaru.zeros(30)[4:], hotaru.zeros(3).as_subclass(_Tagged)])
    assert answers.get() == [(120, True), (12, True)]
    queue.put([hotaru.empty(0, 2), hotaru.zeros(5)[:0]])
    assert answers.get() == [(0, False), (20, True)]
    process.join()


def test_one_memory_in_two_messages():
    ours, theirs = mp.Pipe(duplex=False)
    sent = hotaru.zeros(4)
    theirs.send(sent)
    theirs.send(sent[1:])
    first, second = ours.recv(), ours.recv()
    second[0] = 3
    assert first[1] == 3
    assert sent[1] == 3
    assert first.untyped_storage()._cdata == sent.untyped_storage()._cdata


# --- which tensors meet -------------------------------------------------------


@st.composite
def _views(draw):
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    stride = [draw(st.sampled_from([0, 1, 2, 3, 4, 6, 8])) for _ in shape]
    return shape, stride, draw(st.integers(0, 12))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(_views(), min_size=2, max_size=5))
def test_whatever_has_an_element_in_common_is_together(drawn):
    base = hotaru.arange(12 + 3 * 3 * 8 + 1)
    views = [base.as_strided(*geometry) for geometry in drawn]
    groups = entangled(views)
    members = [id(t) for group in groups for t in group]
    assert len(members) == len(set(members))
    for i, a in enumerate(views):
        for b in views[:i]:
            if set(a.reshape(-1).tolist()) & set(b.reshape(-1).tolist()):
                assert any({id(a), id(b)} <= {id(t) for t in group} for group in groups)


def test_what_is_told_apart():
    table = hotaru.zeros(100, 50)
    apart = [table[:10], table[10:20], table[:, 3], table[:, 7:9], table[:, 9]]
    assert entangled(apart[:2]) == []
    assert entangled(apart[2:]) == []
    block = table.view(10, 10, 5, 10)
    assert entangled([block[..., 1, 2:4], block[..., 1, 4:5]]) == []
    (group,) = entangled([table[:, 3], table[:, 7], table[50:, 7]])
    assert {tuple(t.shape) for t in group} == {(50,), (100,)}
    assert hull(group) == (28, (99 * 50 + 7 + 1) * 4)


def test_a_batch_has_no_more_memory_than_elements():
    """The rest of a block of shared memory would be saved with it."""
    samples = [hotaru.zeros(1500) for _ in range(4)]
    for batch in DataLoader(samples, 2, num_workers=1):
        assert batch.untyped_storage().nbytes() == 2 * 1500 * 4


class _Sized(hotaru.Tensor):
    """Notes how many stacked it."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        made = super().__torch_function__(func, types, args, kwargs)
        if func is hotaru.stack:
            made.stacked = len(args[0])
        return made


@pytest.mark.parametrize("count", [2, 5000])
def test_batches_of_a_class_are_stacked_by_the_class(count):
    samples = [hotaru.full((count,), float(i)).as_subclass(_Sized) for i in range(4)]
    loader = DataLoader(samples, batch_size=2, num_workers=1)
    for i, batch in enumerate(loader):
        assert type(batch) is _Sized
        assert batch.stacked == 2
        assert batch[:, -1].tolist() == [2 * i, 2 * i + 1]
