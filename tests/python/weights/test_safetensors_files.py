"""safetensors: what is read and written, and what is refused."""

from __future__ import annotations

import struct

import pytest
import weight_bytes as wb

F32 = wb.entry("F32", [1], 0, 4)
DTYPES = """bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16
bfloat16 float32 float64 complex64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz
float8_e5m2fnuz""".split()  # noqa: SIM905


@pytest.fixture
def weights(hotaru):
    from hotaru import weights

    return weights


@pytest.fixture
def named(hotaru):
    """Tensors that the golden file holds."""
    return {
        "b.weight": hotaru.arange(6.0).reshape(2, 3),
        "b.bias": hotaru.arange(3.0),
        "a": hotaru.arange(5, dtype=hotaru.uint8),
        "half": hotaru.arange(3, dtype=hotaru.float16),
        "mask": hotaru.tensor([True, False]),
        "scalar": hotaru.tensor(7),
        "double": hotaru.ones(1, 2, dtype=hotaru.float64),
        "empty": hotaru.ones(0, 4, dtype=hotaru.int16),
        'odd "name"\n\u00fc': hotaru.tensor([0, 1]).to(hotaru.uint32),
    }


def same(a, b) -> bool:
    return (
        a.dtype == b.dtype
        and a.shape == b.shape
        and a.numpy().tobytes() == b.numpy().tobytes()
    )


def test_file_of_the_formats_own_library(weights, named):
    path = wb.GOLDEN / "weights.safetensors"
    for found in (weights.load_file(path), weights.load(path.read_bytes())):
        assert set(found) == set(named)
        assert all(same(found[name], named[name]) for name in named)
    with weights.safe_open(path, "pt") as file:
        assert file.metadata() == {"format": "pt"}
        assert file.keys() == sorted(named)
        assert file.offset_keys()[0] == "scalar"  # largest items first


def test_writes_the_bytes_of_the_formats_own_library(weights, named, tmp_path):
    golden = (wb.GOLDEN / "weights.safetensors").read_bytes()
    assert weights.save(named, {"format": "pt"}) == golden
    weights.save_file(named, tmp_path / "x.safetensors", {"format": "pt"})
    assert (tmp_path / "x.safetensors").read_bytes() == golden
    assert [p.name for p in tmp_path.iterdir()] == ["x.safetensors"]


def test_every_dtype_comes_back(hotaru, weights):
    bits = hotaru.arange(48, dtype=hotaru.uint8)
    tensors = {n: bits.clone().view(getattr(hotaru, n)) for n in DTYPES}
    found = weights.load(weights.save(tensors))
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype, name
        assert hotaru.equal(found[name].view(hotaru.uint8), bits), name


def test_dtypes_that_the_format_lacks(hotaru, weights):
    tensor = hotaru.zeros(2, dtype=hotaru.complex128)
    with pytest.raises(TypeError, match=r"'z' is of dtype torch\.complex128"):
        weights.save({"z": tensor})


BAD = {
    "no length": (b"\1\0\0", "no weights"),
    "header beyond the file": (
        struct.pack("<Q", 99) + b"{}",
        "99 bytes are needed at offset 8, but only 2 are left",
    ),
    "header too long": (struct.pack("<Q", 2**27) + b"{}", "no weights"),
    "no object": (wb.safetensors("[]"), "no weights"),
    "bad JSON": (wb.safetensors('{"a":}'), "offset 13: no JSON"),
    "zeros behind the object": (wb.safetensors("{}\0\0"), "offset 10: no JSON"),
    "key twice": (
        wb.safetensors('{"a":{},"a":{}}'),
        "the key 'a' stands twice in one object",
    ),
    "no entry": (wb.safetensors({"a": 1}), "tensor 'a'"),
    "no dtype": (
        wb.safetensors({"a": {"shape": [], "data_offsets": [0, 0]}}),
        "tensor 'a': the header has no string 'dtype' for it",
    ),
    "no shape": (
        wb.safetensors({"a": {"dtype": "F32", "data_offsets": [0, 0]}}),
        "no array 'shape'",
    ),
    "negative size": (
        wb.safetensors({"a": wb.entry("F32", [-1], 0, 0)}),
        "tensor 'a': 'shape' holds what is no integer",
    ),
    "size of a fraction": (
        wb.safetensors({"a": wb.entry("F32", [1.0], 0, 4)}, b"1234"),
        "tensor 'a': 'shape' holds what is no integer",
    ),
    "many dimensions": (
        wb.safetensors({"a": wb.entry("F32", [1] * 65, 0, 4)}, b"1234"),
        "65 dimensions",
    ),
    "three offsets": (
        wb.safetensors({"a": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0, 0]}}),
        "'data_offsets' has 3 numbers",
    ),
    "offsets turned": (
        wb.safetensors({"a": wb.entry("F32", [1], 4, 0)}, b"1234"),
        "tensor 'a': bytes 4 to 0",
    ),
    "beyond the file": (
        wb.safetensors({"a": wb.entry("F32", [2], 0, 8)}, b"1234"),
        "tensor 'a': bytes 0 to 8 behind the header, offset 69, where the file has 4",
    ),
    "huge offsets": (
        wb.safetensors({"a": wb.entry("U8", [1], 2**64 - 1, 2**64 - 1)}),
        "'data_offsets' holds what is no integer",
    ),
    "wrong size": (
        wb.safetensors({"a": wb.entry("F32", [2], 0, 4)}, b"1234"),
        "tensor 'a' at offset 69: the shape [2] of F32 needs 8 bytes, the "
        "header gives it 4",
    ),
    "size overflows": (
        wb.safetensors({"a": wb.entry("F32", [2**40, 2**40], 0, 4)}, b"1234"),
        "needs more than 2^61 bytes",
    ),
    "size overflows to the right one": (
        wb.safetensors({"a": wb.entry("I8", [2**32, 2**32], 0, 0)}),
        "needs more than 2^61 bytes",
    ),
    "overflow in an empty shape": (
        wb.safetensors({"a": wb.entry("I8", [2**40, 0, 2**40], 0, 0)}),
        "needs more than 2^61 bytes",
    ),
    "half a byte": (
        wb.safetensors({"a": wb.entry("F4", [3], 0, 1)}, b"1"),
        "tensor 'a'",
    ),
    "not from 0": (
        wb.safetensors({"a": wb.entry("F32", [1], 4, 8)}, b"12345678"),
        "tensor 'a' begins at offset 73, behind a gap after what ends at 69",
    ),
    "overlap": (
        wb.safetensors({"a": F32, "b": wb.entry("F32", [1], 2, 6)}, b"123456"),
        "tensor 'b' begins at offset 132, inside of what ends at 134",
    ),
    "the same place": (
        wb.safetensors({"a": F32, "b": F32}, b"1234"),
        "tensor 'b' begins at offset",
    ),
    "rest": (
        wb.safetensors({"a": F32}, b"12345"),
        "1 bytes at the end belong to no tensor",
    ),
    "metadata of numbers": (
        wb.safetensors({"__metadata__": {"a": 1}}),
        "'__metadata__' has number for 'a', but must have strings only",
    ),
    "metadata is a list": (
        wb.safetensors({"__metadata__": []}),
        "'__metadata__' is array",
    ),
    "deep JSON": (wb.safetensors('{"a":' + "[" * 10**5), "200 levels"),
}


@pytest.mark.parametrize("name", BAD)
def test_refused(weights, tmp_path, name):
    data, reason = BAD[name]
    path = tmp_path / "bad.safetensors"
    path.write_bytes(data)
    with pytest.raises(weights.SafetensorError) as caught:
        weights.load_file(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert reason in str(caught.value)


def test_accepted_though_unusual(weights):
    assert weights.load(wb.safetensors("{}  ")) == {}
    assert weights.load(wb.safetensors({"__metadata__": None})) == {}
    found = weights.load(
        wb.safetensors({"e": wb.entry("F32", [0], 0, 0), "a": F32}, bytes(4))
    )
    assert found["a"].tolist() == [0.0]
    assert found["e"].shape == (0,)


def test_unknown_dtype_is_an_error_when_asked_for(weights, tmp_path):
    header = {
        # Pairs are elements here, and 1 is no number of them.
        "a": wb.entry("F4", [4, 1], 0, 2),
        "b": wb.entry("U8", [2], 2, 4),
        "c": wb.entry("X9", [7], 4, 5),
    }
    path = tmp_path / "x.safetensors"
    path.write_bytes(wb.safetensors(header, b"12345"))
    with weights.safe_open(path, "pt") as file:
        assert file.get_tensor("b").tolist() == [51, 52]
        for name, dtype in (("a", "F4"), ("c", "X9")):
            with pytest.raises(RuntimeError, match=f"'{name}' is of.* {dtype}"):
                file.get_tensor(name)


def test_bytes_that_are_not_aligned(hotaru, weights, tmp_path):
    values = struct.pack("<d", 1.5)
    text = '{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}'
    path = tmp_path / "x.safetensors"
    for spaces in range(8):
        path.write_bytes(wb.safetensors(text + " " * spaces, values))
        found = weights.load_file(path)["a"]
        assert found.tolist() == [1.5]
        assert found.data_ptr() % 8 == 0


def test_writing_to_a_tensor_leaves_the_file(hotaru, weights, tmp_path):
    path = tmp_path / "x.safetensors"
    weights.save_file({"a": hotaru.ones(5000)}, path)
    before = path.read_bytes()
    file = weights.safe_open(path, "pt")
    tensor = file.get_tensor("a")
    tensor.mul_(3)
    assert path.read_bytes() == before
    del file
    assert tensor.sum().item() == 15000
    # Tensors that lie in the file can be written over it.
    weights.save_file({"a": tensor}, path)
    assert weights.load_file(path)["a"][0].item() == 3


def test_open_files(hotaru, weights, tmp_path):
    path = tmp_path / "x.safetensors"
    weights.save_file({"a": hotaru.arange(12.0).reshape(3, 4)}, path)
    with weights.safe_open(str(path), framework="pt", device="cpu") as file:
        assert file.metadata() is None
        part = file.get_slice("a")
        assert part.get_shape() == [3, 4]
        assert part.get_dtype() == "F32"
        assert part[1:, ::2].tolist() == [[4.0, 6.0], [8.0, 10.0]]
        assert part[2].tolist() == [8.0, 9.0, 10.0, 11.0]
        assert part[..., -1].tolist() == [3.0, 7.0, 11.0]
        with pytest.raises(RuntimeError, match=r"has no tensor 'b'; it has 1"):
            file.get_tensor("b")
        with pytest.raises(RuntimeError, match="has no tensor 'b'"):
            file.get_slice("b")
    with pytest.raises(RuntimeError, match="was closed"):
        file.get_tensor("a")
    with weights.safe_open(path, "pt", device="meta") as file:
        assert file.get_tensor("a").device.type == "meta"
    with pytest.raises(FileNotFoundError):
        weights.safe_open(tmp_path / "none", "pt")
    with pytest.raises(ValueError, match="framework 'tf'"):
        weights.safe_open(path, "tf")
    with pytest.raises(ValueError, match="backend 'gds'"):
        weights.safe_open(path, "pt", backend="gds")


def test_what_cannot_be_saved(hotaru, weights, tmp_path):
    whole = hotaru.zeros(4, 4)
    path = tmp_path / "x.safetensors"
    path.write_bytes(b"before")
    for tensors, error, reason in (
        ([whole], ValueError, "a dict"),
        ({"a": 1}, ValueError, "'a' is no tensor"),
        ({1: whole}, ValueError, "1 is no string"),
        ({"a": whole.t()[1:]}, ValueError, "'a' is not contiguous"),
        ({"a": whole.to_sparse()}, ValueError, "'a' is sparse"),
        ({"a": whole, "b": whole[1:]}, RuntimeError, "share memory"),
        ({"__metadata__": whole}, ValueError, "cannot be a tensor's name"),
    ):
        with pytest.raises(error, match=reason):
            weights.save_file(tensors, path)
    for metadata in ({"a": 1}, {1: "a"}):
        with pytest.raises(TypeError, match="strings for strings"):
            weights.save_file({"a": whole}, path, metadata)
    with pytest.raises(FileNotFoundError, match="no folder"):
        weights.save_file({"a": whole}, tmp_path / "none" / "x")
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_parts_of_one_memory_that_do_not_overlap(hotaru, weights):
    whole = hotaru.arange(4.0)
    found = weights.load(weights.save({"a": whole[:2], "b": whole[2:]}))
    assert found["b"].tolist() == [2.0, 3.0]


def test_modules_with_shared_parameters(hotaru, weights, tmp_path):
    def tied():
        model = hotaru.nn.Sequential(hotaru.nn.Linear(3, 3), hotaru.nn.Linear(3, 3))
        model[1].weight = model[0].weight
        return model

    path = tmp_path / "x.safetensors"
    saved, other = tied(), tied()
    with pytest.raises(RuntimeError, match="save_model"):
        weights.save_file(saved.state_dict(), path)
    weights.save_model(saved, path, {"a": "b"})
    assert weights.info(path).metadata == {"a": "b", "1.weight": "0.weight"}
    assert weights.load_model(other, path) == ([], [])
    assert hotaru.equal(other[1].weight, saved[1].weight)
    with pytest.raises(RuntimeError, match=r'Unexpected key.*"1.bias"'):
        weights.load_model(hotaru.nn.Sequential(hotaru.nn.Linear(3, 3)), path)
    missing, unexpected = weights.load_model(
        hotaru.nn.Sequential(hotaru.nn.Linear(3, 3)), path, strict=False
    )
    assert (missing, unexpected) == ([], ["1.bias"])
