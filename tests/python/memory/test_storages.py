"""Storages: the bytes behind tensors, with and without a dtype."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import warnings
import weakref
import zipfile
from multiprocessing.reduction import ForkingPickler

import pytest

import hotaru as torch


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_bytes_are_shared_with_the_tensor():
    x = torch.tensor([1.0, 2.0])
    storage = x.untyped_storage()
    assert (storage.nbytes(), len(storage)) == (8, 8)
    assert storage.tolist() == [0, 0, 128, 63, 0, 0, 0, 64]
    storage[3] = 0xBF
    assert x.tolist() == [-1.0, 2.0]
    x[1] = 0
    assert storage[7] == 0
    assert storage.data_ptr() == x.data_ptr()
    assert x[1:].untyped_storage() is storage


def test_one_object_as_long_as_the_memory():
    x = torch.ones(2)
    x.untyped_storage().mark = "kept"
    gc.collect()
    assert x.untyped_storage().mark == "kept"
    seen = weakref.ref(x.untyped_storage())
    assert seen() is x.untyped_storage()
    del x
    gc.collect()
    assert seen() is None


def test_what_is_set_on_it_goes_with_the_memory():
    class Marker:
        pass

    x, marker = torch.ones(2), Marker()
    gone = weakref.ref(marker)
    x.untyped_storage().mark = marker
    del marker
    assert gone() is not None
    alias = x.detach()
    del x
    assert gone() is not None
    del alias
    assert gone() is None


def test_cycles_are_collected():
    class Marker:
        pass

    first, second = torch.UntypedStorage(2), torch.UntypedStorage(2)
    first.other, second.other, first.mark = second, first, Marker()
    gone = weakref.ref(first.mark)
    del first, second
    gc.collect()
    assert gone() is None


def test_made_of_a_size_or_of_bytes():
    assert torch.UntypedStorage().nbytes() == 0
    assert torch.UntypedStorage(3).nbytes() == 3
    assert torch.UntypedStorage([1, 2, 300]).tolist() == [1, 2, 44]
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        torch.UntypedStorage(1, 2)
    with pytest.raises(RuntimeError, match="was of type str instead of int"):
        torch.UntypedStorage("s")


def test_bytes_by_index():
    storage = torch.UntypedStorage([1, 2, 3, 4])
    part = storage[1:3]
    part[0] = 9
    assert storage.tolist() == [1, 9, 3, 4]
    assert storage[-1] == 4
    with pytest.raises(IndexError, match="index 4 out of range for storage"):
        storage[4]
    with pytest.raises(RuntimeError, match="only a step of 1 is supported"):
        storage[::2]
    storage[0:2] = 7
    assert storage.fill_(5).tolist() == [5] * 4
    assert storage.copy_(torch.UntypedStorage([4, 3, 2, 1]))[0] == 4
    with pytest.raises(RuntimeError, match="self was 4 bytes but src was 3"):
        storage.copy_(torch.UntypedStorage(3))


def test_resizing_keeps_the_leading_bytes():
    x = torch.tensor([1, 2, 3])
    storage = x.untyped_storage()
    storage.resize_(40)
    assert storage.nbytes() == 40
    assert x.tolist() == [1, 2, 3]
    assert x.resize_(5)[:3].tolist() == [1, 2, 3]
    view = memoryview(x.numpy())
    with pytest.raises(RuntimeError, match="not resizable"):
        storage.resize_(80)
    del view


@pytest.mark.parametrize(
    ("dtype", "swapped"),
    [
        (torch.float64, [7, 6, 5, 4, 3, 2, 1, 0]),
        (torch.complex64, [3, 2, 1, 0, 7, 6, 5, 4]),
        (torch.int16, [1, 0, 3, 2, 5, 4, 7, 6]),
        (torch.bool, list(range(8))),
    ],
)
def test_byteswap(dtype, swapped):
    storage = torch.UntypedStorage(list(range(8)))
    storage.byteswap(dtype)
    assert storage.tolist() == swapped


def test_from_buffer():
    shorts = torch.ShortStorage.from_buffer(bytes([1, 2, 3, 4]), "big")
    assert shorts.tolist() == [258, 772]
    assert shorts.type() == "torch.ShortStorage"
    part = torch.UntypedStorage.from_buffer(
        b"abc", count=1, offset=1, dtype=torch.uint8
    )
    assert part.tolist() == [98]
    with pytest.raises(ValueError, match="invalid byte_order 'x'"):
        torch.UntypedStorage.from_buffer(b"ab", "x", dtype=torch.int16)
    with pytest.raises(ValueError, match="offset must be non-negative"):
        torch.UntypedStorage.from_buffer(b"ab", offset=5, dtype=torch.uint8)


def test_from_file(tmp_path):
    path = str(tmp_path / "numbers")
    first = torch.FloatStorage.from_file(path, True, 3)
    torch.FloatTensor(first).copy_(torch.tensor([1.0, 2.0, 3.0]))
    second = torch.FloatStorage.from_file(path, True, 3)
    assert second.tolist() == [1.0, 2.0, 3.0]
    first[0] = 5.0
    assert second[0] == 5.0
    private = torch.FloatStorage.from_file(path, False, 3)
    private[1] = 9.0
    assert second[1] == 2.0
    assert torch.from_file(path, False, 2, dtype=torch.float32).tolist() == [5, 2]


def test_typed_storages():
    floats = torch.FloatStorage([1, 2, 3])
    assert type(floats) is torch.TypedStorage
    assert isinstance(floats, torch.FloatStorage)
    assert not isinstance(floats, torch.DoubleStorage)
    assert floats.tolist() == [1.0, 2.0, 3.0]
    assert floats.double().type() == "torch.DoubleStorage"
    assert floats.fill_(2).int().tolist() == [2, 2, 2]
    assert repr(floats) == (
        " 2.0\n 2.0\n 2.0\n[torch.storage.TypedStorage("
        "dtype=torch.float32, device=cpu) of size 3]"
    )
    assert torch.ones(2).storage_type() is torch.FloatStorage
    with pytest.raises(RuntimeError, match="cannot set item with value type"):
        floats.fill_(floats)
    with pytest.raises(RuntimeError, match="'device' cannot be specified"):
        torch.FloatStorage(device="cpu")
    with pytest.raises(RuntimeError, match="Argument 'dtype' must be specified"):
        torch.TypedStorage(wrap_storage=floats.untyped())


def test_the_warning_is_given_once():
    torch.storage._reset_warn_typed_storage_removal()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        torch.FloatStorage()
        torch.ones(2).storage()
    assert len(given) == 1
    assert given[0].filename == __file__
    assert str(given[0].message).startswith("TypedStorage is deprecated.")


def test_tensors_over_storages():
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    assert torch.tensor(x.storage()).data_ptr() == x.data_ptr()
    assert torch.tensor(x.untyped_storage(), dtype=torch.int32).numel() == 4
    y = torch.empty(0).set_(x.untyped_storage(), 1, (2,), (2,))
    assert y.tolist() == [2.0, 4.0]
    y[0] = 7
    assert x[1] == 7
    assert torch.empty(0).set_(x, 1, (2,)).tolist() == [7.0, 3.0]
    assert y.set_().numel() == 0
    with pytest.raises(RuntimeError, match="Expected a Storage of type float"):
        torch.empty(0).set_(torch.arange(4).storage())
    with pytest.raises(RuntimeError, match="tensor of type long int to a tens"):
        torch.empty(0).set_(torch.arange(4))
    with pytest.raises(RuntimeError, match="Expected a Storage of type Int or"):
        torch.tensor(x.storage(), dtype=torch.int32)


def test_set_is_a_write_to_autograd():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = y * y
    with torch.no_grad():
        y.set_(torch.zeros(2))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_copies_share_what_was_shared():
    x = torch.arange(4.0)
    first, second, storage = copy.deepcopy([x, x[1:], x.untyped_storage()])
    first[1] = 9
    assert second[0] == 9
    assert storage is first.untyped_storage()
    assert x[1] == 1


@pytest.mark.parametrize("make", [torch.UntypedStorage, torch.ByteStorage])
def test_pickles(make):
    loaded = pickle.loads(pickle.dumps(make([1, 2, 3])))
    assert type(loaded) is type(make())
    assert loaded.tolist() == [1, 2, 3]


def test_shared_memory():
    x = torch.tensor([1.0, 2.0])
    storage = x.untyped_storage()
    assert not storage.is_shared()
    assert storage.share_memory_() is storage
    assert storage.is_shared()
    assert x.is_shared()
    assert x.tolist() == [1.0, 2.0]


def test_legacy_constructors():
    x = torch.ones(2, dtype=torch.float64)
    assert x.new(2, 3).shape == (2, 3)
    assert x.new([1, 2]).dtype == torch.float64
    assert x.new(torch.Size([3])).shape == (3,)
    assert torch.FloatTensor(torch.Size([2])).shape == (2,)
    with pytest.raises(TypeError, match=r"expected TensorOptions.dtype=float,"):
        torch.FloatTensor(x)
    with pytest.raises(RuntimeError, match="expects device type: cpu but"):
        x.new(device="cuda")


def test_attributes_are_copied():
    x = torch.ones(2)
    x.mark = [1]
    copied = copy.deepcopy(x)
    assert copied.mark == [1]
    assert copied.mark is not x.mark
    assert x.is_set_to(x.view(2))
    assert not x.is_set_to(copied)


def test_generators_are_pickled():
    generator = torch.Generator().manual_seed(5)
    torch.rand(3, generator=generator)
    loaded = pickle.loads(pickle.dumps(generator))
    assert loaded.initial_seed() == 5
    expected = torch.rand(3, generator=generator)
    assert torch.equal(torch.rand(3, generator=loaded), expected)


def test_memory_that_tensors_see_stays():
    x = torch.arange(4.0)
    storage = x.untyped_storage()
    with pytest.raises(RuntimeError, match="cannot shrink to 4 while tensors"):
        storage.resize_(4)
    assert x.tolist() == [0, 1, 2, 3]
    del x
    assert storage.resize_(4).nbytes() == 4


def _with_note(tensor):
    tensor.note = "kept"
    return tensor


class Sub(torch.Tensor):
    pass


UNWRITTEN = {
    "copy": copy.copy,
    "pickle": pickle.dumps,
    "save": lambda x: torch.save(x, io.BytesIO()),
    "rebuild": lambda x: (lambda made: made[0](*made[1]))(x.__reduce_ex__(2)),
    "detached copy": lambda x: copy.copy(x.detach()),
    "noted": lambda x: copy.copy(_with_note(x.detach())),
    "subclass": lambda x: copy.copy(x.detach().as_subclass(Sub)),
    "parameter": lambda x: copy.copy(torch.nn.Parameter(x.detach())),
    "buffer": lambda x: copy.copy(torch.nn.Buffer(x.detach())),
    "storage": lambda x: ForkingPickler.dumps(x.untyped_storage()),
    "typed": lambda x: ForkingPickler.dumps(x.detach().storage()),
    "storage copy": lambda x: copy.copy(x.untyped_storage()),
    "text": lambda x: repr(x.untyped_storage()),
    "list": lambda x: x.untyped_storage().tolist(),
}


@pytest.mark.parametrize("name", UNWRITTEN)
def test_who_reads_memory_does_not_write_it(name):
    leaf = torch.ones(2, 3, requires_grad=True)
    middle = leaf * 2
    kept = middle * middle + leaf * leaf
    for x in (middle, leaf):
        before = x._version
        with torch.no_grad():
            UNWRITTEN[name](x)
        UNWRITTEN[name](x)
        assert x._version == before
    kept.sum().backward()
    assert torch.equal(leaf.grad, torch.full((2, 3), 10.0))


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.uint16, torch.bool, torch.complex64]
)
def test_copies_share_memory_and_writes_through_them_count(dtype):
    x = torch.ones(4, 3).to(dtype).t()[1:]
    made = copy.copy(x)
    assert made.stride() == (1, 3)
    assert made.storage_offset() == 1
    assert made._base is None
    assert made.data_ptr() == x.data_ptr()
    assert made.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    made.zero_()
    assert not x.any()
    assert x._version == 1


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,)])
def test_copies_of_little(shape):
    made = copy.copy(torch.ones(shape))
    assert torch.equal(made, torch.ones(shape))


def test_a_copy_of_a_result_is_a_leaf_that_requires_gradients():
    x = torch.ones(2, requires_grad=True) * 2
    made = copy.copy(x)
    assert made.requires_grad
    assert made.is_leaf
    (made * 3).sum().backward()
    assert made.grad.tolist() == [3, 3]


@pytest.mark.parametrize("dtype", [torch.uint16, torch.float8_e5m2], ids=str)
def test_files_name_untyped_storages_by_their_home(dtype):
    """PyTorch's reader of plain data takes them by no other name."""
    tensor = torch.arange(6).to(dtype).view(2, 3).t()
    file = io.BytesIO()
    torch.save(tensor, file)
    archive = zipfile.ZipFile(io.BytesIO(file.getvalue()))
    pickled = archive.read("archive/data.pkl")
    assert b"ctorch.storage\nUntypedStorage\n" in pickled
    # Files of before named it by where it is used.
    old = pickled.replace(b"ctorch.storage\n", b"ctorch\n")
    for text in (pickled, old):
        copied = io.BytesIO()
        with zipfile.ZipFile(copied, "w") as out:
            for entry in archive.namelist():
                found = entry == "archive/data.pkl"
                out.writestr(entry, text if found else archive.read(entry))
        copied.seek(0)
        again = torch.load(copied, weights_only=True)
        assert again.dtype == dtype
        assert again.stride() == (1, 3)
        assert again.tolist() == tensor.tolist()
