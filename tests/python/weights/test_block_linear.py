"""Weights that stay in GGUF's blocks, and products with them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import weight_bytes as wb
from simd_choice import needs_simd

import hotaru as torch

BLOCKS = json.loads((wb.GOLDEN / "gguf_blocks.json").read_text())
NUMBERS = {"Q4_0": 2, "Q4_1": 3, "Q5_0": 6, "Q5_1": 7, "Q8_0": 8} | {
    "Q4_K": 12,
    "Q5_K": 13,
    "Q6_K": 14,
}
ELEMENTS = {name: 256 if name.endswith("K") else 32 for name in NUMBERS}


@pytest.fixture
def weights(hotaru):
    from hotaru import weights

    return weights


def matrix_file(name: str, rows: int, blocks: int) -> bytes:
    """A file of a matrix "w" [rows, blocks of that type] and a float "f"."""
    packed = bytes.fromhex(BLOCKS[name]["blocks"])
    count = len(BLOCKS[name]["floats"]) // 8 // ELEMENTS[name]
    size = len(packed) // count
    wanted = [
        packed[i % count * size : (i % count + 1) * size] for i in range(rows * blocks)
    ]
    data = b"".join(wanted)
    data += bytes(-len(data) % 32)
    lines = [
        wb.tensor("w", [blocks * ELEMENTS[name], rows], NUMBERS[name], 0),
        wb.tensor("f", [1], 0, len(data)),
    ]
    return wb.gguf((), lines, data + b"\0\0\x80?")


@pytest.fixture
def opened(weights, tmp_path):
    def make(name: str, rows: int, blocks: int):
        path = tmp_path / f"{name}-{rows}-{blocks}.gguf"
        path.write_bytes(matrix_file(name, rows, blocks))
        kept = weights.load_file(path, blocks="keep")
        return kept["w"], weights.load_file(path)["w"]

    return make


def close(got, x, wide, bias=None):
    """True if got is x Wᵀ + b but for float sums and one rounding; of Q4_0's
    inputs 2^-16 of a block's largest, here up to four times the mean.
    """
    want = x.double() @ wide.double().t()
    sizes = x.double().abs() @ wide.double().abs().t() + 1e-6
    if bias is not None:
        want, sizes = want + bias.double(), sizes + bias.double().abs()
    exponent = {"float32": -14, "bfloat16": -8, "float16": -10}
    limit = 2.0 ** exponent[str(x.dtype).partition(".")[2]]
    return bool(((got.double() - want).abs() <= limit * sizes).all())


@pytest.mark.parametrize("name", BLOCKS)
def test_kept_blocks_are_the_file_s_bytes(weights, opened, tmp_path, name):
    kept, _ = opened(name, 3, 2)
    path = next(tmp_path.iterdir())
    assert kept.type == name
    assert kept.shape == (3, 2 * ELEMENTS[name])
    with weights.safe_open(path) as file:
        again = file.get_blocks("w")
        at = next(t for t in weights.info(path).tensors if t.name == "w")
        part = path.read_bytes()[at.offset : at.offset + at.nbytes]
        assert again.data.numpy().tobytes() == part
        # Mapped once: what is written is seen by who opened it here.
        again.data[0, 0] += 1
        assert file.get_blocks("w").data.numpy().tobytes() != part
        assert file.has_blocks("w")
        assert not file.has_blocks("f")
        with pytest.raises(RuntimeError, match=r"'f' is of type F32, which"):
            file.get_blocks("f")
    assert path.read_bytes()[at.offset : at.offset + at.nbytes] == part


def test_other_files_have_no_blocks(hotaru, weights, tmp_path):
    path = tmp_path / "x.safetensors"
    weights.save_file({"x": hotaru.ones(2)}, path)
    assert hotaru.equal(weights.load_file(path, blocks="keep")["x"], hotaru.ones(2))
    refused = pytest.raises(RuntimeError, match="none of GGUF's blocks")
    with weights.safe_open(path) as file, refused:
        file.get_blocks("x")
    with pytest.raises(ValueError, match="'float32' and 'keep'"):
        weights.load_file(path, blocks="int8")


@pytest.mark.parametrize("name", BLOCKS)
def test_products_with_every_type(hotaru, weights, opened, name):
    hotaru.manual_seed(3)
    few = 1 if ELEMENTS[name] == 256 else 3  # 96: below what a vector takes
    for rows, blocks in ((1, 1), (67, few), (130, 16)):
        kept, wide = opened(name, rows, blocks)
        bias = hotaru.randn(rows)
        plain, biased = kept.linear(), weights.BlockLinear(kept, bias)
        for m in (1, 2, 3, 5, 8, 9, 33):
            x = hotaru.randn(m, wide.shape[1])
            with hotaru.no_grad():
                assert close(plain(x), x, wide)
                for dtype in (hotaru.bfloat16, hotaru.float16):
                    got = plain(x.to(dtype))
                    assert got.dtype == dtype
                    assert close(got, x.to(dtype), wide)
                assert close(biased(x), x, wide, bias)


@pytest.mark.parametrize("name", ["Q8_0", "Q4_0", "Q6_K"])
def test_shapes_strides_threads_streams_and_graphs(hotaru, opened, name):
    kept, wide = opened(name, 200, 8)
    linear, k = kept.linear().eval(), wide.shape[1]
    with hotaru.no_grad():
        x = hotaru.randn(k, 6).t()
        want = linear(x.contiguous())
        assert hotaru.equal(linear(x), want)
        assert linear(x.reshape(2, 3, k)).shape == (2, 3, 200)
        assert hotaru.equal(linear(x[0]), linear(x[:1])[0])
        assert linear(x[:0]).shape == (0, 200)
        saved = hotaru.get_num_threads()
        try:
            for threads in (1, 3):
                hotaru.set_num_threads(threads)
                assert hotaru.equal(linear(x), want)
        finally:
            hotaru.set_num_threads(saved)
        with hotaru.cpu.stream(hotaru.cpu.Stream()):
            queued = linear(x)
        hotaru.cpu.synchronize()
        assert hotaru.equal(queued, want)
        graphed = hotaru.compile(linear, fullgraph=True)
        for scale in (1, 3):
            assert hotaru.equal(graphed(x * scale), linear(x * scale))


def products(x, data):
    return torch.ops.hotaru.linear_blocks(x, data, "Q4_0")


def test_modules_move_and_compile_to_torchscript(hotaru, opened, tmp_path):
    kept, _ = opened("Q4_0", 5, 2)
    linear = kept.linear(hotaru.arange(5.0)).eval()
    assert "in_features=64, out_features=5, type=Q4_0, bias=True" in repr(linear)
    x = hotaru.randn(2, 64)
    by_name = hotaru.jit.script(products)
    with hotaru.no_grad():
        assert hotaru.equal(by_name(x, kept.data) + linear.bias, linear(x))
    scripted = hotaru.jit.script(linear)
    hotaru.jit.save(scripted, tmp_path / "m.pt")
    loaded = hotaru.jit.load(tmp_path / "m.pt")
    with hotaru.no_grad():
        assert hotaru.equal(scripted(x), linear(x))
        assert hotaru.equal(loaded(x), linear(x))
        # Floats of a module are cast; its blocks are bytes and stay.
        assert linear.bfloat16()(x.bfloat16()).dtype == hotaru.bfloat16


@pytest.mark.parametrize("name", ["Q8_0", "Q4_0"])
def test_numbers_of_any_size_and_none(hotaru, opened, name):
    kept, wide = opened(name, 4, 5)
    linear = kept.linear()
    with hotaru.no_grad():
        x = hotaru.randn(1, 160)
        for factor in (2.0**-90, 2.0**90):
            assert close(linear(x * factor) / factor, x, wide)
        x[0, 32:64] = 0  # a block without a scale
        assert close(linear(x), x, wide)
        assert hotaru.equal(linear(x * 0), hotaru.zeros(1, 4))
        x[0, 70] = hotaru.nan
        assert linear(x).isnan().all()
        x[0, 70] = hotaru.inf
        assert not linear(x).isfinite().any()


def test_gradients_of_input_and_bias(hotaru, opened):
    kept, wide = opened("Q8_0", 7, 2)
    linear = kept.linear(hotaru.zeros(7))
    x = hotaru.randn(3, 64, requires_grad=True)
    linear(x).sum().backward()
    assert hotaru.allclose(x.grad, wide.sum(0).expand(3, 64), rtol=1e-4)
    assert hotaru.equal(linear.bias.grad, hotaru.full((7,), 3.0))


def test_refused_operands(hotaru, weights, opened):
    run = hotaru.ops.hotaru.linear_blocks
    kept, _ = opened("Q8_0", 3, 2)
    x = hotaru.ones(1, 64)
    for args, text in (
        ((x, kept.data, "Q9"), "the type 'Q9' is none of the blocks"),
        ((x, kept.data, "F32"), "the type 'F32' is none of the blocks"),
        ((x, kept.data, "Q4_0"), "rows of 68 bytes are no whole blocks"),
        ((x.double(), kept.data, "Q8_0"), "a 16-bit float, got Double"),
        ((x[:, 1:], kept.data, "Q8_0"), r"shape \[1, 63\] does not fit"),
        ((x, kept.data.char(), "Q8_0"), "should be a matrix of uint8"),
        ((x, kept.data[0], "Q8_0"), "should be a matrix of uint8"),
        ((x, kept.data, "Q8_0", hotaru.ones(2)), r"bias of shape \[2\]"),
        ((x, kept.data, "Q8_0", hotaru.ones(3).half()), "expected a bias"),
    ):
        with pytest.raises(RuntimeError, match=text):
            run(*args)
    with pytest.raises(ValueError, match="should be a matrix"):
        weights.Blocks(kept.data, "Q8_0", (3, 2, 32)).linear()


@pytest.mark.parametrize("simd", ["avx2", "baseline"])
def test_other_instruction_sets(simd):
    if os.environ.get("HOTARU_SIMD"):
        pytest.skip("chosen already")
    needs_simd(simd)
    tests = (
        "test_products_with_every_type",
        "test_int4_by_every_number_of_rows",
        "test_int8_by_every_number_of_rows",
    )
    here = os.path.dirname(__file__)
    files = [__file__, os.path.join(here, "../ops/products/test_narrow_weights.py")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *files, "-k", " or ".join(tests)],
        env={**os.environ, "HOTARU_SIMD": simd},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]
