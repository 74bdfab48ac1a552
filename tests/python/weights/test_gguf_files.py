"""GGUF: values of every type of block, metadata, and what is refused."""

from __future__ import annotations

import json
import struct

import pytest
import weight_bytes as wb

BLOCKS = json.loads((wb.GOLDEN / "gguf_blocks.json").read_text())
NUMBERS = {"Q4_0": 2, "Q4_1": 3, "Q5_0": 6, "Q5_1": 7, "Q8_0": 8} | {
    "Q4_K": 12,
    "Q5_K": 13,
    "Q6_K": 14,
}
F32 = 0


@pytest.fixture
def weights(hotaru):
    from hotaru import weights

    return weights


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_to_the_bit(hotaru, weights, name):
    packed = bytes.fromhex(BLOCKS[name]["blocks"])
    floats = bytes.fromhex(BLOCKS[name]["floats"])
    shape = [len(floats) // 8, 2]
    line = wb.tensor("t", shape, NUMBERS[name], 0)
    found = weights.load(wb.gguf((), [line], packed))["t"]
    assert found.dtype == hotaru.float32
    assert found.shape == (2, len(floats) // 8)
    assert found.numpy().tobytes() == floats


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_on_all_threads(hotaru, weights, name):
    packed = bytes.fromhex(BLOCKS[name]["blocks"]) * 700
    floats = bytes.fromhex(BLOCKS[name]["floats"]) * 700
    line = wb.tensor("t", [len(floats) // 4], NUMBERS[name], 0)
    found = weights.load(wb.gguf((), [line], packed))["t"]
    assert found.numpy().tobytes() == floats


def test_file_of_the_formats_own_library(hotaru, weights):
    path = wb.GOLDEN / "weights.gguf"
    with weights.safe_open(path, "pt") as file:
        assert file.metadata() == {
            "general.architecture": "tiny",
            "tiny.block_count": 2,
            "tiny.epsilon": 0.5,
            "tiny.flag": True,
            "tiny.negative": -(2**40),
            "tokenizer.tokens": ["<s>", "\u00fc", "ab"],
            "tokenizer.scores": [0.0, -1.5, 2.0],
            "tokenizer.types": [1, 2, 3],
        }
        assert file.metadata()["tiny.flag"] is True
        embedding = file.get_tensor("embed.weight")
        assert embedding.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
        assert file.get_tensor("counts").tolist() == [[[0, 1]], [[2, 3]]]
        assert file.get_tensor("half").dtype == hotaru.float16
        assert file.get_tensor("blk.0.q").shape == (3, 64)
        assert file.get_slice("blk.0.q").get_dtype() == "Q8_0"
        with pytest.raises(RuntimeError, match=r"'blk\.0\.unknown' is of type Q3_K"):
            file.get_tensor("blk.0.unknown")
    info = {t.name: t for t in weights.info(path).tensors}
    assert info["blk.0.q"].nbytes == 6 * 34
    assert info["blk.0.unknown"].dtype is None
    assert info["half"].offset == 640


def test_plain_types_lie_in_the_mapping(hotaru, weights, tmp_path):
    kinds = {
        "float32": (0, 4),
        "float16": (1, 2),
        "int8": (24, 1),
        "int16": (25, 2),
        "int32": (26, 4),
        "int64": (27, 8),
        "float64": (28, 8),
        "bfloat16": (30, 2),
    }
    lines = [
        wb.tensor(name, [32 // size], kind, 32 * i)
        for i, (name, (kind, size)) in enumerate(kinds.items())
    ]
    path = tmp_path / "x.gguf"
    path.write_bytes(wb.gguf((), lines, bytes(range(32)) * len(lines)))
    first = weights.safe_open(path, "pt")
    for name in kinds:
        tensor = first.get_tensor(name)
        assert tensor.dtype == getattr(hotaru, name)
        assert tensor.view(hotaru.uint8).tolist() == list(range(32))
        # The same memory each time it is asked for.
        assert tensor.data_ptr() == first.get_tensor(name).data_ptr()


def test_metadata_of_every_type(weights, tmp_path):
    pack = struct.pack
    nested = wb.array(
        wb.ARRAY,
        2,
        wb.array(wb.UINT8, 2, b"\1\2") + wb.array(wb.STRING, 1, wb.text("x")),
    )
    keys = {
        "u8": (wb.UINT8, b"\xff", 255),
        "i8": (wb.INT8, b"\xff", -1),
        "u16": (wb.UINT16, b"\xff\xff", 65535),
        "i16": (wb.INT16, b"\xff\xff", -1),
        "u32": (wb.UINT32, pack("<I", 2**32 - 1), 2**32 - 1),
        "i32": (wb.INT32, pack("<i", -5), -5),
        "f32": (wb.FLOAT32, pack("<f", 0.25), 0.25),
        "yes": (wb.BOOL, b"\1", True),
        "no": (wb.BOOL, b"\0", False),
        "text": (wb.STRING, wb.text("a\u00e9"), "a\u00e9"),
        "piece": (wb.STRING, wb.text(b"\xe2\x96"), "\udce2\udc96"),
        "u64": (wb.UINT64, pack("<Q", 2**63), float(2**63)),
        "small": (wb.UINT64, pack("<Q", 2**62), 2**62),
        "i64": (wb.INT64, pack("<q", -(2**63)), -(2**63)),
        "f64": (wb.FLOAT64, pack("<d", 0.1), 0.1),
        "empty": (wb.ARRAY, wb.array(wb.STRING, 0, b""), []),
        "nested": (wb.ARRAY, nested, [[1, 2], ["x"]]),
    }
    data = wb.gguf([wb.key(n, k, v) for n, (k, v, _) in keys.items()])
    for version in (2, 3):
        path = tmp_path / "x.gguf"
        path.write_bytes(data[:4] + pack("<I", version) + data[8:])
        info = weights.info(path)
        assert info.format == f"GGUF {version}"
        wanted = {name: value for name, (_, _, value) in keys.items()}
        assert info.metadata == wanted


def test_alignment_of_the_data(weights):
    align = wb.key("general.alignment", wb.UINT32, struct.pack("<I", 256))
    lines = [wb.tensor("a", [1], F32, 0), wb.tensor("b", [1], F32, 256)]
    data = struct.pack("<f", 1) + bytes(252) + struct.pack("<f", 2)
    found = weights.load(wb.gguf([align], lines, data, alignment=256))
    assert (found["a"].item(), found["b"].item()) == (1.0, 2.0)


def test_type_of_an_unknown_number(weights):
    lines = [wb.tensor("new", [7], 99, 32), wb.tensor("old", [1], F32, 0)]
    data = wb.gguf((), lines, bytes(40))
    with pytest.raises(RuntimeError, match="'new' is of type number 99"):
        weights.load(data)


def deep(levels: int) -> bytes:
    """Arrays in arrays, `levels` of them."""
    head = wb.array(wb.ARRAY, 1, b"") * (levels - 1)
    return head + wb.array(wb.UINT8, 1, b"\1")


def bad_alignment(kind: int, value: bytes) -> bytes:
    return wb.gguf([wb.key("general.alignment", kind, value)])


def one(name="t", dims=(8,), kind=F32, offset=0, data=bytes(32)) -> bytes:
    return wb.gguf((), [wb.tensor(name, dims, kind, offset)], data)


KEY = wb.key("k", wb.UINT8, b"\1")
LINE = wb.tensor("t", [8], F32, 0)

BAD = {
    "magic alone": (b"GGUF", "4 bytes are needed at offset 4"),
    "version 1": (wb.gguf(version=1), "offset 4: version 1 of GGUF"),
    "version 4": (wb.gguf(version=4), "offset 4: version 4 of GGUF"),
    "big endian": (b"GGUF\0\0\0\3" + bytes(16), "offset 4: a big-endian"),
    "many tensors": (
        wb.gguf(counts=(2**63, 0)),
        "offset 8: 9223372036854775808 tensors",
    ),
    "tensors that are not there": (
        wb.gguf(counts=(1000, 0)),
        "offset 8: the file cannot hold 1000 tensors",
    ),
    "keys that are not there": (wb.gguf(counts=(0, 9)), "cannot hold 0 tens"),
    "key twice": (wb.gguf([KEY, KEY]), "offset 38: the metadata key 'k' stan"),
    "key no UTF-8": (
        wb.gguf([wb.key(b"\xc0\x80", wb.UINT8, b"\1")]),
        "offset 24: a metadata key is no UTF-8",
    ),
    "long key": (
        wb.gguf([wb.key("k" * 65536, wb.UINT8, b"\1")]),
        "offset 24: a string of 65536 bytes",
    ),
    "type of value": (
        wb.gguf([wb.key("k", 13, b"\1")]),
        "offset 33: a value of type 13",
    ),
    "bool": (wb.gguf([wb.key("k", wb.BOOL, b"\2")]), "offset 37: a bool is 2"),
    "bool in an array": (
        wb.gguf([wb.key("k", wb.ARRAY, wb.array(wb.BOOL, 2, b"\1\2"))]),
        "offset 50: a bool is 2",
    ),
    "long text": (
        wb.gguf([wb.key("k", wb.STRING, struct.pack("<Q", 2**60))]),
        "1152921504606846976 bytes are needed at offset 45",
    ),
    "long array": (
        wb.gguf([wb.key("k", wb.ARRAY, wb.array(wb.INT64, 2**61, b""))]),
        "offset 37: an array of 2305843009213693952 elements",
    ),
    "array of empty arrays": (
        wb.gguf([wb.key("k", wb.ARRAY, wb.array(wb.ARRAY, 2**30, b""))]),
        "offset 37: an array of 1073741824 elements",
    ),
    "deep arrays": (
        wb.gguf([wb.key("k", wb.ARRAY, deep(9))]),
        "offset 133: arrays in more than 8 arrays",
    ),
    "alignment 0": (
        bad_alignment(wb.UINT32, bytes(4)),
        "offset 53: 'general.alignment' must be",
    ),
    "alignment 24": (bad_alignment(wb.UINT32, struct.pack("<I", 24)), "power of two"),
    "alignment a text": (bad_alignment(wb.STRING, wb.text("32")), "must be a uint32"),
    "tensor twice": (wb.gguf((), [LINE, LINE], bytes(32)), "'t' stands in"),
    "name no UTF-8": (one(name=b"\xff"), "offset 24: a tensor's name is no"),
    "five dimensions": (one(dims=(1,) * 5), "'t' at offset 24 has 5 dim"),
    "huge size": (
        one(dims=(2**63,)),
        "'t' at offset 24: the size 9223372036854775808 is no size",
    ),
    "product overflows": (
        one(dims=(2**32, 2**32)),
        "'t' at offset 24: the shape [4294967296, 4294967296] holds more",
    ),
    "product overflows beside 0": (
        one(dims=(2**62, 0, 4)),
        "'t' at offset 24: the shape [4, 0, 4611686018427387904] holds more",
    ),
    "half a block": (
        one(dims=(33,), kind=8, data=bytes(99)),
        "'t' at offset 24: rows of 33 elements are no whole blocks of Q8_0",
    ),
    "not aligned": (
        one(offset=8, data=bytes(64)),
        "'t': offset 8 of the data is no multiple of 32",
    ),
    "beyond the file": (
        one(dims=(9,)),
        "'t': 36 bytes at offset 0 of the data, which begins at 64 and has 32",
    ),
    "far beyond the file": (
        one(offset=2**64 - 32),
        "'t': 32 bytes at offset 18446744073709551584 of the data",
    ),
    "no data": (one(data=b"")[:57], "32 bytes at offset 0 of the data"),
    "overlap": (
        wb.gguf(
            (), [wb.tensor("a", [9], F32, 0), wb.tensor("b", [8], F32, 32)], bytes(64)
        ),
        "'b' begins at offset 128, inside of what ends at 132",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_refused(weights, tmp_path, name):
    data, reason = BAD[name]
    path = tmp_path / "bad.gguf"
    path.write_bytes(data)
    with pytest.raises(RuntimeError) as caught:
        weights.load_file(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert reason in str(caught.value)


def test_metadata_that_takes_too_much_memory(weights, tmp_path):
    count = 17 << 20
    path = tmp_path / "x.gguf"
    value = wb.array(wb.UINT8, count, bytes(count))
    path.write_bytes(wb.gguf([wb.key("k", wb.ARRAY, value)], [LINE], bytes(32)))
    assert weights.load_file(path)["t"].shape == (8,)
    with pytest.raises(RuntimeError, match="too much memory"):
        weights.info(path)


def test_cut_anywhere(weights):
    data = (wb.GOLDEN / "weights.gguf").read_bytes()
    for size in range(len(data) - 32):
        with pytest.raises(RuntimeError):
            weights.load(data[:size])
