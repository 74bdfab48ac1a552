"""Archives of modules with states of their own, and of tensors without memory."""

from __future__ import annotations

import io
import zipfile

import pytest

import hotaru as torch
from hotaru import nn


def _again(module, **options):
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(module), file)
    file.seek(0)
    return torch.jit.load(file, **options)


class Counted(nn.Module):
    def __init__(self, count: int):
        super().__init__()
        self.count = count
        self.weight = nn.Parameter(torch.ones(2) * count)

    @torch.jit.export
    def __getstate__(self):
        return (self.count + 10, self.weight, self.training)

    @torch.jit.export
    def __setstate__(self, state: tuple[int, torch.Tensor, bool]):
        self.count = state[0]
        self.weight = state[1] * 2
        self.training = state[2]

    def forward(self, x):
        return x * self.weight + self.count


def test_states_of_modules_are_what_their_code_makes_of_them():
    loaded = _again(nn.Sequential(Counted(1), Counted(2)).eval())
    assert [loaded[0].count, loaded[1].count] == [11, 12]
    assert not loaded[0].training
    assert loaded(torch.zeros(2)).tolist() == [11 * 4 + 12] * 2
    twice = _again(loaded)
    assert twice[0].count == 21
    assert twice[1].weight.tolist() == [8, 8]


def test_what_a_state_leaves_out_is_told():
    class Half(nn.Module):
        def __init__(self):
            super().__init__()
            self.left, self.right = 1, "b"

        @torch.jit.export
        def __getstate__(self):
            return (self.left, self.training)

        @torch.jit.export
        def __setstate__(self, state: tuple[int, bool]):
            self.left = state[0]
            self.training = state[1]

        def forward(self, x):
            return x + self.left

    with pytest.raises(RuntimeError, match="'right' was left uninitialized"):
        _again(Half())


def test_tensors_without_elements_stay_without():
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.bare = nn.Linear(2, 3, device="meta")
            self.full = nn.Linear(2, 2)
            self.buffer = nn.Buffer(torch.empty(4, dtype=torch.int64, device="meta"))

        def forward(self, x):
            return self.full(x)

    module = Mixed()
    for loaded in (_again(module), _again(module, map_location="cpu")):
        assert loaded.bare.weight.is_meta
        assert loaded.bare.weight.requires_grad
        assert loaded.bare.weight.shape == (3, 2)
        assert loaded.buffer.is_meta
        assert loaded.buffer.dtype is torch.int64
        assert torch.equal(loaded(torch.ones(2)), module(torch.ones(2)))


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse()
        self.b = nn.Buffer(torch.tensor([[0.0, 2.0], [3.0, 4.0]]).to_sparse_csr())

    def forward(self, x):
        return x + self.a, self.b.matmul(self.b)


@pytest.mark.parametrize("freezes", [False, True])
def test_sparse_tensors_in_programs_and_archives(freezes):
    x = torch.eye(2).to_sparse()
    module = Sparse().eval()
    script = torch.jit.script(module)
    script = torch.jit.freeze(script) if freezes else script
    file = io.BytesIO()
    torch.jit.save(script, file)
    file.seek(0)
    for run in (script, torch.jit.load(file)):
        for got, right in zip(run(x), module(x)):
            assert got.layout is right.layout
            assert torch.equal(got.to_dense(), right.to_dense())


def test_programs_of_sparse_tensors_pass_what_is_no_default():
    @torch.jit.script
    def program(x, y):
        z = torch.add(x, y, alpha=3)
        return z.sum(), torch.sum(z, [0], dtype=torch.float64), z * 2.0

    x = torch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse()
    whole, columns, doubled = program(x, x)
    assert whole.item() == 20
    assert columns.dtype is torch.float64
    assert columns.to_dense().tolist() == [12, 8]
    assert doubled.to_dense().tolist() == [[0, 16], [24, 0]]


def _patched(change) -> io.BytesIO:
    """An archive of a sparse module with the records that `change` gives."""
    file, other = io.BytesIO(), io.BytesIO()
    torch.jit.save(torch.jit.script(Sparse()), file)
    with zipfile.ZipFile(file) as given, zipfile.ZipFile(other, "w") as made:
        for name in given.namelist():
            made.writestr(name, change(name, given.read(name)))
    other.seek(0)
    return other


@pytest.mark.parametrize("value", [2, -1, 2**62])
def test_indices_that_point_outside_are_refused(value):
    def change(name, content):
        if not name.split("/", 1)[1].startswith("data/"):
            return content
        if len(content) != 32:  # the two indices of two places
            return content
        return value.to_bytes(8, "little", signed=True) + content[8:]

    with pytest.raises(RuntimeError, match=r"outside of a dimension|do not fit"):
        torch.jit.load(_patched(change))
    torch.jit.load(_patched(lambda _, content: content))


class Converted(nn.Module):
    def forward(self, x):
        y = x.to_sparse()
        indices = torch.tensor([[0, 1], [1, 0]])
        made = torch.sparse_coo_tensor(
            indices, torch.ones(2), [2, 2], dtype=torch.float64
        )
        rows = x.to_sparse(layout=torch.sparse_csr)
        return (
            (y + y).to_dense(),
            y.coalesce().indices(),
            y.coalesce().values(),
            torch.sparse.mm(y, x),
            made.to_dense(),
            torch.sparse_coo_tensor([2, 3]).to_dense(),
            rows.crow_indices(),
            x.to_sparse_csr().col_indices(),
            (y.sparse_dim(), x.to_sparse(1).dense_dim(), y.is_coalesced()),
        )


def test_conversions_are_saved_and_give_gradients():
    module, x = Converted(), torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    right = module(x)
    for run in (torch.jit.script(module), _again(module)):
        *got, facts = run(x)
        assert facts == right[-1]
        for a, b in zip(got, right):
            assert torch.equal(a, b)
            assert a.dtype is b.dtype
    x = x.requires_grad_()
    _again(module)(x)[0].sum().backward()
    assert x.grad.to_dense().tolist() == [[0, 2], [2, 0]]
