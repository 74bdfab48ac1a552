"""Files of torch.save: both formats, options, storages, broken files."""

from __future__ import annotations

import base64
import collections
import gzip
import io
import mmap
import pickle
import sys
import zipfile
import zlib

import pytest
from save_load_cases import ARCHIVE, LEGACY

import hotaru as torch
from hotaru import serialization

FORMATS = pytest.mark.parametrize("zipped", [True, False])
SAFE = pytest.mark.parametrize("weights_only", [True, False])


def written(obj, **options) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(obj, file, **options)
    file.seek(0)
    return file


def old(obj) -> io.BytesIO:
    return written(obj, _use_new_zipfile_serialization=False)


def unpacked(text: str) -> io.BytesIO:
    return io.BytesIO(zlib.decompress(base64.b85decode(text)))


@SAFE
@pytest.mark.parametrize("text", [ARCHIVE, LEGACY], ids=["archive", "legacy"])
def test_files_of_pytorch(text, weights_only):
    found = torch.load(unpacked(text), weights_only=weights_only)
    assert type(found) is collections.OrderedDict
    assert found["a"].tolist() == [0, 1, 2, 3, 4, 5]
    found["a"][2] = 9
    assert found["b"].tolist() == [9, 3]
    assert found["st"].dtype is torch.float32
    assert found["st"][2] == 9
    assert (found["n"], found["s"], found["big"]) == (3, "é", 2**70)
    assert found["t"] == (1.5, None, True)
    assert found["c"].tolist() == [1 - 2j]
    assert type(found["p"]) is torch.nn.Parameter
    assert found["p"].requires_grad
    assert found["d"] is torch.float16
    assert found["dev"] == torch.device("cpu")
    assert found["sz"] == torch.Size([2, 3])
    assert found["u"].dtype is torch.uint16
    assert found["u"].tolist() == [1, 65535]


@SAFE
@FORMATS
def test_both_formats_keep_what_is_shared(zipped, weights_only):
    x = torch.arange(6.0)
    value = [x, x[1:3], x.storage(), x.untyped_storage(), {"x": x}]
    with pytest.raises(RuntimeError, match="view the same data as different"):
        written(value)
    del value[3]
    file = written(value, _use_new_zipfile_serialization=zipped)
    found = torch.load(file, weights_only=weights_only)
    assert found[0] is found[3]["x"]
    found[2][1] = 7
    assert found[0].tolist() == [0, 7, 2, 3, 4, 5]
    assert found[1].tolist() == [7, 2]


@FORMATS
def test_attributes_of_tensors_come_back(zipped):
    x = torch.nn.Parameter(torch.ones(2))
    x.note = "a"
    y = torch.zeros(1)
    y.note = "b"
    file = written([x, y], _use_new_zipfile_serialization=zipped)
    found = torch.load(file)
    assert [t.note for t in found] == ["a", "b"]
    assert [type(t) for t in found] == [torch.nn.Parameter, torch.Tensor]


class Slotted(torch.Tensor):
    """A subclass with a slot and attributes."""

    __slots__ = ("extra",)


class Stateful(torch.Tensor):
    """A subclass that says itself what its state is."""

    def __getstate__(self):
        return ("mark", self.__dict__)

    def __setstate__(self, state):
        assert state[0] == "mark"
        self.__dict__.update(state[1])
        self.restored = True


def test_subclasses_with_slots_and_state():
    slotted = torch.arange(2.0).as_subclass(Slotted)
    slotted.extra, slotted.plain = 1, 2
    stateful = torch.arange(2.0).as_subclass(Stateful)
    stateful.plain = 3
    with serialization.safe_globals([Slotted, Stateful]):
        a, b = torch.load(written([slotted, stateful]))
    assert (type(a), a.extra, a.plain) == (Slotted, 1, 2)
    assert (type(b), b.plain, b.restored) == (Stateful, 3, True)
    assert a.as_subclass(torch.Tensor).tolist() == [0, 1]


def test_a_file_of_several_values():
    file = io.BytesIO()
    pickle.dump(41, file)
    for i in range(2):
        torch.save(
            torch.full((2,), float(i)), file, _use_new_zipfile_serialization=False
        )
    pickle.dump(43, file)
    file.seek(0)
    assert pickle.load(file) == 41
    assert torch.load(file).tolist() == [0, 0]
    assert torch.load(file).tolist() == [1, 1]
    assert pickle.load(file) == 43


def test_archives_behind_a_header_and_packed(tmp_path):
    file = io.BytesIO()
    file.write(b"header")
    torch.save(torch.ones(2), file)
    file.seek(6)
    assert torch.load(file).tolist() == [1, 1]
    with gzip.open(tmp_path / "x.gz", "wb") as packed:
        packed.write(written(torch.ones(3)).getvalue())
    with gzip.open(tmp_path / "x.gz", "rb") as packed:
        assert torch.load(packed).tolist() == [1, 1, 1]


class OnlyWrites:
    """Nothing but what `save` promises to call."""

    def __init__(self):
        self.data = bytearray()

    def write(self, data):
        self.data += data
        return len(data)

    def flush(self):
        pass


@FORMATS
def test_save_asks_little_of_a_file(zipped):
    file = OnlyWrites()
    torch.save([torch.ones(5)], file, _use_new_zipfile_serialization=zipped)
    assert torch.load(io.BytesIO(bytes(file.data)))[0].tolist() == [1] * 5


def test_load_wants_files_that_seek():
    class Pipe:
        def read(self, n=-1):
            return b""

    with pytest.raises(AttributeError, match="from a file that is seekable"):
        torch.load(Pipe())
    with pytest.raises(AttributeError, match="expected 'f' to be string, path"):
        torch.save(1, 5)


def test_records_are_aligned_and_whole(tmp_path):
    path = tmp_path / "model.pt"
    torch.save([torch.ones(3), torch.zeros(0), torch.ones(1)], path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [
            "model/data.pkl",
            "model/byteorder",
            "model/data/0",
            "model/data/1",
            "model/data/2",
            "model/version",
        ]
    with serialization._open_zipfile_reader(path) as reader:
        for name in ("data/0", "data/2"):
            assert reader.get_record_offset(name) % 64 == 0
        assert reader.has_record("data.pkl")
        assert not reader.has_record("data/3")
        with pytest.raises(RuntimeError, match="file not found"):
            reader.get_record("data/3")


def test_checksums_can_be_left_out(tmp_path):
    path = tmp_path / "x.pt"
    assert serialization.get_crc32_options()
    serialization.set_crc32_options(False)
    try:
        torch.save(torch.ones(3), path)
    finally:
        serialization.set_crc32_options(True)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is not None
    assert torch.load(path).tolist() == [1, 1, 1]


def test_a_failed_save_leaves_the_file(tmp_path):
    path = tmp_path / "x.pt"
    torch.save(torch.ones(3), path)
    with pytest.raises((AttributeError, pickle.PicklingError, TypeError)):
        torch.save(lambda: 0, path)
    assert torch.load(path).tolist() == [1, 1, 1]
    assert [p.name for p in tmp_path.iterdir()] == ["x.pt"]
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not ex"):
        torch.save(1, tmp_path / "none" / "x.pt")
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "none")


def test_mapped_files(tmp_path):
    path = tmp_path / "x.pt"
    torch.save(torch.ones(3), path)
    x = torch.load(path, mmap=True)
    x[0] = 5
    assert torch.load(path, mmap=True).tolist() == [1, 1, 1]
    with serialization.set_default_mmap_options(mmap.MAP_SHARED):
        torch.load(path, mmap=True)[0] = 7
    assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    assert torch.load(path).tolist() == [7, 1, 1]
    with pytest.raises(ValueError, match="f must be a file path in order"):
        torch.load(written(1), mmap=True)
    with pytest.raises(RuntimeError, match="mmap can only be used with files"):
        torch.load(old(1), mmap=True)
    with pytest.raises(ValueError, match=r"mmap.MAP_SHARED, but got 99"):
        serialization.set_default_mmap_options(99)


def test_byte_order():
    file = io.BytesIO()
    with serialization._open_zipfile_writer(file) as writer:
        text = zipfile.ZipFile(written(torch.tensor([1, 2]))).read("archive/data.pkl")
        writer.write_record("data.pkl", text, len(text))
        data = b"".join(n.to_bytes(8, "big") for n in (1, 2))
        writer.write_record("data/0", data, len(data))
    order = serialization.LoadEndianness
    assert serialization.get_default_load_endianness() is None
    try:
        for given, wanted in (
            (order.BIG, [1, 2]),
            (order.LITTLE, [1 << 56, 2 << 56]),
            (None, [1 << 56, 2 << 56]),
        ):
            serialization.set_default_load_endianness(given)
            file.seek(0)
            assert torch.load(file).tolist() == wanted
    finally:
        serialization.set_default_load_endianness(None)
    with pytest.raises(TypeError, match="set_default_load_endianness"):
        serialization.set_default_load_endianness(3)


def test_files_without_data():
    with serialization.skip_data():
        file = written([torch.ones(3)])
        with pytest.raises(RuntimeError, match="outside the skip_data context"):
            torch.load(file)
        with pytest.raises(RuntimeError, match="Cannot use skip_data=True"):
            old(1)
        with pytest.warns(UserWarning, match="meta device under skip_data"):
            written(torch.ones(2, device="meta"))
    file.seek(0)
    assert torch.load(file)[0].tolist() == [0, 0, 0]


def test_the_meta_device():
    x = torch.ones(2, 3, device="meta").t()
    found = torch.load(written(x))
    assert (found.device.type, found.shape) == ("meta", (3, 2))
    assert found.stride() == (1, 3)
    found = torch.load(written(torch.ones(2)), map_location="meta")
    assert (found.device.type, found.shape) == ("meta", (2,))


def test_places_of_ones_own():
    calls = []

    def deserialize(storage, location):
        if location != "attic":
            return None
        calls.append(storage.nbytes())
        return storage

    before = list(serialization._places._registry)
    serialization.register_package(5, lambda storage: "attic", deserialize)
    try:
        file = written(torch.ones(2))
        assert torch.load(file).tolist() == [1, 1]
    finally:
        serialization._places._registry[:] = before
    assert calls == [8]
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"\(tagged with attic\)"):
        torch.load(file)
    file.seek(0)
    found = torch.load(file, map_location={"attic": "cpu"})
    assert found.tolist() == [1, 1]


def test_broken_files():
    whole = written(torch.arange(100.0)).getvalue()
    for size in (0, 3, 4, 30, 200, len(whole) - 1):
        with pytest.raises(
            (RuntimeError, EOFError, pickle.UnpicklingError, IndexError)
        ):
            torch.load(io.BytesIO(whole[:size]))
    short = io.BytesIO()
    with serialization._open_zipfile_writer(short) as writer:
        with zipfile.ZipFile(io.BytesIO(whole)) as archive:
            text = archive.read("archive/data.pkl")
        writer.write_record("data.pkl", text, len(text))
        writer.write_record("data/0", bytes(8), 8)
    short.seek(0)
    with pytest.raises(RuntimeError, match="it has 8 bytes, not 400"):
        torch.load(short)
    data = bytearray(old(torch.arange(100.0)).getvalue())
    with pytest.raises(RuntimeError, match="unexpected EOF"):
        torch.load(io.BytesIO(data[:-1]))


def test_pickle_modules():
    class Throwing:
        class Unpickler(pickle.Unpickler):
            def load(self):
                raise RuntimeError("rumpelstiltskin")

        load = Unpickler.load

    file = written(1)
    with pytest.raises(RuntimeError, match="rumpelstiltskin"):
        torch.load(file, pickle_module=Throwing)
    file.seek(0)
    with pytest.raises(RuntimeError, match="explicit pickle_module is specif"):
        torch.load(file, pickle_module=pickle, weights_only=True)
    file = written({"x": torch.ones(1)}, pickle_module=pickle)
    assert torch.load(file)["x"].tolist() == [1]


def nested(depth: int) -> list:
    out: list = []
    for _ in range(depth):
        out = [out]
    return out


@FORMATS
def test_nests_may_be_as_deep_as_plain_pickles_are(zipped):
    """A pickler in Python takes three calls a level where C's takes one."""
    limit = sys.getrecursionlimit()
    deep = nested(limit * 2 // 5)
    pickle.dumps(deep)
    file = written(deep, _use_new_zipfile_serialization=zipped)
    assert torch.load(file) is not None
    assert sys.getrecursionlimit() == limit


def test_nests_without_an_end_are_refused():
    limit = sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        written(nested(limit * 4))
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("change", [4, -4])
def test_records_of_another_size_are_refused(tmp_path, change, mapped):
    torch.save({"x": torch.arange(6.0)}, tmp_path / "right")
    with (
        zipfile.ZipFile(tmp_path / "right") as right,
        zipfile.ZipFile(tmp_path / "wrong", "w") as wrong,
    ):
        for name in right.namelist():
            data = right.read(name)
            if name.endswith("data/0"):
                data = data[:change] if change < 0 else data + bytes(change)
            wrong.writestr(name, data)
    with pytest.raises(RuntimeError, match=rf"{24 + change} bytes.*24( bytes|$)"):
        torch.load(tmp_path / "wrong", mmap=mapped)


def test_an_old_file_that_ends_early_says_how_much_is_missing(tmp_path):
    path = tmp_path / "old"
    torch.save(torch.arange(6.0), path, _use_new_zipfile_serialization=False)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(RuntimeError, match=r"EOF.* has 24 bytes, and 5 of them"):
        torch.load(path)
