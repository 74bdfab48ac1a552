"""ONNX models of 8-bit integers: loaded, graphed, saved, written again."""

import io

import hotaru.onnx
import numpy as np
import onnx_bytes as ob
import pytest

import hotaru

INT8 = 3


def initializer(name, value):
    kind = {"uint8": ob.UINT8, "float32": ob.FLOAT, "int32": ob.INT32}
    value = np.asarray(value)
    if value.dtype == np.int8:  # as bytes, which is what they are in the file
        raw = ob.tensor(
            name, ob.UINT8, value.shape, value.view(np.uint8).ravel().tolist()
        )
        return raw.replace(ob.field(2, ob.UINT8), ob.field(2, INT8), 1)
    return ob.tensor(name, kind[value.dtype.name], value.shape, value.ravel().tolist())


def load(nodes, constants, dtype=ob.UINT8, outputs=("y",)):
    data = ob.model(
        ob.graph(
            nodes,
            [ob.value_info("x", dtype)],
            list(outputs),
            [initializer(n, v) for n, v in constants.items()],
        )
    )
    return hotaru.onnx.load(io.BytesIO(data)).eval()


def quantities(rng, w, of_channels):
    count = w.shape[-1] if w.ndim == 2 else w.shape[0]
    return {
        "w": w,
        "xs": np.float32(0.02),
        "xz": np.uint8(117),
        "ws": rng.random(count if of_channels else 1).astype(np.float32),
        "wz": np.full(count if of_channels else 1, -3, np.int8),
        "ys": np.float32(9.3),
        "yz": np.uint8(131),
    }


NAMES = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]


def linear(rng, of_channels):
    w = rng.integers(-128, 128, (37, 24)).astype(np.int8)
    x = rng.integers(0, 256, (2, 9, 37)).astype(np.uint8)
    values = quantities(rng, w, of_channels)
    sums = (x.astype(np.int64) - 117) @ (w.astype(np.int64) + 3)
    scale = values["xs"] * values["ws"] / values["ys"]
    y = np.rint(sums.astype(np.int32).astype(np.float32) * scale) + 131
    node = ob.node("QLinearMatMul", NAMES, ["y"])
    return load([node], values), x, np.clip(y, 0, 255)


def picture(rng, of_channels):
    w = rng.integers(-128, 128, (6, 2, 3, 3)).astype(np.int8)
    x = rng.integers(0, 256, (1, 4, 8, 9)).astype(np.uint8)
    bias = rng.integers(-9000, 9000, 6).astype(np.int32)
    values = {**quantities(rng, w, of_channels), "b": bias}
    padded = np.pad(x.astype(np.int64) - 117, [(0, 0), (0, 0), (1, 0), (2, 1)])
    wide = hotaru.from_numpy(padded.astype(np.float64))
    sums = hotaru.nn.functional.conv2d(
        wide, hotaru.from_numpy(w.astype(np.float64) + 3), stride=(2, 1), groups=2
    ).numpy()
    shape = (-1, 1, 1)
    scale = (values["xs"] * values["ws"] / values["ys"]).reshape(shape)
    sums = (sums.astype(np.int32) + bias.reshape(shape)).astype(np.float32)
    node = ob.node(
        "QLinearConv", [*NAMES, "b"], ["y"], group=2, strides=[2, 1], pads=[1, 2, 0, 1]
    )
    y = np.clip(np.rint(sums * scale) + 131, 0, 255)
    return load([node], values), x, y


@pytest.mark.parametrize("make", [linear, picture])
@pytest.mark.parametrize("of_channels", [False, True])
def test_requantised_results_of_every_way_to_run(make, of_channels):
    model, x, expected = make(np.random.default_rng(0), of_channels)
    given = hotaru.from_numpy(x)
    np.testing.assert_array_equal(model(given).numpy(), expected)
    run = hotaru.compile(model)
    for _ in range(3):
        np.testing.assert_array_equal(run(given).numpy(), expected)
    stream = hotaru.cpu.Stream()
    with hotaru.cpu.stream(stream):
        queued = model(given)
    stream.synchronize()
    np.testing.assert_array_equal(queued.numpy(), expected)


@pytest.mark.parametrize("make", [linear, picture])
def test_they_are_saved_and_written_again(make):
    model, x, expected = make(np.random.default_rng(1), True)
    given = hotaru.from_numpy(x)
    archive = io.BytesIO()
    hotaru.jit.save(model, archive)
    archive.seek(0)
    again = hotaru.jit.load(archive)
    np.testing.assert_array_equal(again(given).numpy(), expected)
    written = io.BytesIO()
    hotaru.onnx.export(model, (given,), written)
    assert b"QLinear" in written.getvalue()
    written.seek(0)
    read = hotaru.onnx.load(written)
    np.testing.assert_array_equal(read(given).numpy(), expected)


@pytest.mark.parametrize("rows", [1, 20])
def test_dynamic_quantisation(rows):
    rng = np.random.default_rng(rows)
    w = rng.integers(-128, 128, (40, 24)).astype(np.int8)
    x = rng.standard_normal((rows, 40)).astype(np.float32)
    nodes = [
        ob.node("DynamicQuantizeLinear", ["x"], ["q", "qs", "qz"]),
        ob.node("MatMulInteger", ["q", "w", "qz", "wz"], ["s"]),
        ob.node("Cast", ["s"], ["f"], to=1),
        ob.node("Mul", ["qs", "ws"], ["by"]),
        ob.node("Mul", ["f", "by"], ["y"]),
    ]
    values = {"w": w, "wz": np.int8(2), "ws": np.float32(0.01)}
    model = load(nodes, values, ob.FLOAT, ["q", "qs", "qz", "y"])
    run = hotaru.compile(model)
    for call in (model, run, run):
        q, scale, zero, y = (t.numpy() for t in call(hotaru.from_numpy(x)))
        low, high = min(x.min(), 0), max(x.max(), 0)
        assert scale == np.float32(np.float32(high - low) / np.float32(255))
        sums = (q.astype(np.int64) - zero) @ (w.astype(np.int64) - 2)
        by = np.float32(scale) * np.float32(0.01)
        np.testing.assert_array_equal(y, sums.astype(np.float32) * by)


def quantized_as_onnx(x):
    """DynamicQuantizeLinear, as ONNX's text has it, in float32."""
    low, high = min(x.min(), np.float32(0)), max(x.max(), np.float32(0))
    scale = np.float32(np.float32(high - low) / np.float32(255)) or np.float32(1)
    zero = np.rint(np.clip(-low / scale, 0, 255)).astype(np.float32)
    return np.clip(np.rint(x / scale) + zero, 0, 255), scale, zero


@pytest.mark.parametrize("n", [1, 15, 16, 33, 1000])
@pytest.mark.parametrize("shift", [0, 5, -5, 1e30])
def test_dynamic_quantisation_of_any_range(n, shift):
    draw = np.random.default_rng(n).standard_normal
    x = (draw((n, 3), dtype=np.float32) + np.float32(shift)).astype(np.float32)
    run = hotaru._C._operator("hotaru::dynamic_quantize_linear")
    wide = hotaru.from_numpy(np.ascontiguousarray(x.T)).t()
    for given in (hotaru.from_numpy(x), wide):
        with hotaru.cpu.stream(hotaru.cpu.Stream()):
            q, scale, zero = run(given)
        hotaru.cpu.synchronize()
        wanted = quantized_as_onnx(x)
        assert (q.dtype, zero.dtype) == (hotaru.uint8, hotaru.uint8)
        assert (scale.shape, zero.shape) == ((), ())
        np.testing.assert_array_equal(q.numpy(), wanted[0])
        assert (scale.item(), zero.item()) == wanted[1:]


def test_dynamic_quantisation_of_what_has_no_range():
    run = hotaru._C._operator("hotaru::dynamic_quantize_linear")
    q, scale, zero = run(hotaru.zeros(2, 3))
    assert (q.tolist(), scale.item(), zero.item()) == ([[0] * 3] * 2, 1, 0)
    q, scale, zero = run(hotaru.empty(0, 3))
    assert (q.shape, scale.item(), zero.item()) == ((0, 3), 1, 0)
    q, scale, zero = run(hotaru.tensor([1.0, hotaru.nan, 2.0]))
    assert q.tolist() == [0, 0, 0]
    assert scale.isnan()
    for end in (hotaru.inf, -hotaru.inf):
        q, scale, zero = run(hotaru.tensor([end, 1.0]))
        assert (q.tolist(), scale.item(), zero.item()) == ([0, 0], hotaru.inf, 0)
    with pytest.raises(RuntimeError, match="expected scalar type Float"):
        run(hotaru.zeros(2).double())


def test_dynamic_quantisation_is_written_as_itself():
    node = ob.node("DynamicQuantizeLinear", ["x"], ["q", "qs", "qz"])
    model = load([node], {}, ob.FLOAT, ["q", "qs", "qz"])
    x, written = hotaru.randn(4, 5), io.BytesIO()
    hotaru.onnx.export(model, (x,), written)
    assert b"DynamicQuantizeLinear" in written.getvalue()
    written.seek(0)
    for a, b in zip(hotaru.onnx.load(written)(x), model(x)):
        assert hotaru.equal(a, b)
