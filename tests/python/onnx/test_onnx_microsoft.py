"""Operators that ONNX Runtime's tools write: beside what ONNX Runtime gives.

Some of the results of ONNX Runtime 1.32 on a CPU are kept; this file as a
program writes them anew.
"""

import io
import json
from pathlib import Path

import hotaru.onnx
import numpy as np
import onnx_bytes as ob
import pytest

import hotaru

DOMAIN = "com.microsoft"
_FILE = Path(__file__).parents[1] / "golden" / "onnx_microsoft.json"
_KINDS = {
    "float32": ob.FLOAT,
    "uint8": ob.UINT8,
    "int8": ob.INT8,
    "int32": ob.INT32,
    "int64": ob.INT64,
    "bool": ob.BOOL,
}


def real(*shape, seed=0):
    """Numbers from -1 to 1."""
    places = np.arange(np.prod(shape), dtype=np.int64)
    numbers = (places * 7 + seed * 5) % 23 - 11
    return (numbers / 11).astype(np.float32).reshape(shape)


def byte(*shape, seed=0, dtype=np.uint8):
    places = np.arange(np.prod(shape), dtype=np.int64)
    numbers = (places * 37 + seed * 11) % 256
    return numbers.astype(np.uint8).view(dtype).reshape(shape)


def signed(*shape, seed=0):
    return byte(*shape, seed=seed, dtype=np.int8)


def number(value, dtype=np.float32):
    return np.array(value, dtype)


def bits(*shape, seed=0):
    return (byte(*shape, seed=seed) % 3 > 0).astype(np.int32)


# Operator, inputs of which those from `first` on are constants, attributes,
# names of outputs.
def _cases_of_reals():
    image = real(1, 4, 5, 5), real(6, 4, 3, 3, seed=1), real(6, seed=2)
    window = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    yield "FusedConv relu", "FusedConv", image, {"activation": "Relu", **window}
    yield (
        "FusedConv sum",
        "FusedConv",
        (*image, real(1, 6, 5, 5, seed=3)),
        {"activation": "Clip", "activation_params": [-0.5, 2.5], **window},
    )
    yield (
        "FusedGemm",
        "FusedGemm",
        (real(3, 4), real(5, 4), real(5)),
        {"transB": 1, "activation": "LeakyRelu", "activation_alpha": 0.25},
    )
    yield (
        "FusedMatMul",
        "FusedMatMul",
        (real(3, 2, 4), real(2, 5, 4)),
        {"transBatchA": 1, "transB": 1, "alpha": 0.5},
    )
    yield "FastGelu", "FastGelu", (real(3, 4), real(4, seed=1)), {}
    yield "QuickGelu", "QuickGelu", (real(3, 4),), {"alpha": 1.5}
    rows = real(2, 3, 8), real(2, 3, 8, seed=1)
    norm = real(8, seed=2), real(8, seed=3)
    yield (
        "SkipLayerNormalization",
        "SkipLayerNormalization",
        (*rows, *norm, real(8, seed=4)),
        {"epsilon": 1e-5},
        ["a", "", "", "d"],
    )
    yield (
        "SkipSimplifiedLayerNormalization",
        "SkipSimplifiedLayerNormalization",
        (*rows, norm[0]),
        {},
        ["a", "", "", "d"],
    )
    yield from _cases_of_embeddings(rows, norm)


def _cases_of_embeddings(rows, norm):
    ids = np.array([[4, 1, 0], [2, 6, 3]], np.int32)
    tables = real(7, 8), real(5, 8, seed=1), real(2, 8, seed=2)
    yield (
        "EmbedLayerNormalization",
        "EmbedLayerNormalization",
        (ids, ids % 2, *tables, *norm, bits(2, 3)),
        {},
        ["a", "b"],
    )
    weights = real(8, 24), real(24, seed=1)
    for name, mask in (
        ("words", bits(2, 3, seed=1)),
        ("lengths", np.array([2, 3], np.int32)),
        ("ends and starts", np.array([2, 3, 0, 1], np.int32)),
    ):
        yield (
            f"Attention {name}",
            "Attention",
            (rows[0], *weights, mask),
            {"num_heads": 2},
        )
    yield (
        "Attention past",
        "Attention",
        (rows[0], *weights, None, real(2, 2, 2, 4, 4)),
        {"num_heads": 2, "unidirectional": 1},
        ["a", "b"],
    )
    yield (
        "MultiHeadAttention",
        "MultiHeadAttention",
        (
            rows[0],
            real(2, 5, 8),
            real(2, 5, 8, seed=1),
            weights[1],
            bits(2, 5),
            real(1, 2, 3, 5),
        ),
        {"num_heads": 2},
    )
    yield (
        "RotaryEmbedding",
        "RotaryEmbedding",
        (rows[0], number([2], np.int64), real(10, 2), real(10, 2, seed=1)),
        {"interleaved": 1},
    )


def _cases_of_bytes():
    for kind, made, type_ in (("u", byte, np.uint8), ("s", signed, np.int8)):
        yield from _quantized_cases(kind, made, type_)
        yield from _quantized_products(kind, made, type_)


def _quantized_cases(kind, made, type_):
    window = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    a = made(2, 3, 4), number(0.02), number(7, type_)
    b = made(2, 3, 4, seed=5), number(0.03), number(3, type_)
    to = number(0.05), number(20, type_)
    for op in ("QLinearAdd", "QLinearMul"):
        yield f"{op} {kind}", op, (*a, *b, *to), {}
    least = number(type_(0) if kind == "u" else type_(-128), type_)
    for axis, opset in ((0, 13), (1, 13), (1, 11)):
        yield (
            f"QLinearSoftmax {axis} {opset} {kind}",
            "QLinearSoftmax",
            (a[0], number(0.05), a[2], number(1 / 256), least),
            {"axis": axis, "opset": opset},
        )
    yield f"QLinearSigmoid {kind}", "QLinearSigmoid", (*a, *to), {}
    yield (f"QLinearLeakyRelu {kind}", "QLinearLeakyRelu", (*a, *to), {"alpha": 0.25})
    yield (f"QLinearConcat {kind}", "QLinearConcat", (*to, *a, *b), {"axis": 2})
    pool = made(1, 2, 5, 5), *a[1:], *to
    yield (
        f"QLinearAveragePool {kind}",
        "QLinearAveragePool",
        pool,
        {"strides": [2, 2], **window},
    )
    yield (
        f"QLinearGlobalAveragePool {kind}",
        "QLinearGlobalAveragePool",
        pool,
        {"channels_last": 1},
    )


def _quantized_products(kind, made, type_):
    weights = real(8, 24), real(24, seed=1)
    by = made(4, 5), real(5, seed=1), made(5, seed=3)
    yield (
        f"MatMulIntegerToFloat {kind}",
        "MatMulIntegerToFloat",
        (
            byte(2, 3, 4),
            by[0],
            number(0.02),
            by[1],
            number(9, np.uint8),
            by[2],
            real(5),
        ),
        {},
    )
    yield (
        f"DynamicQuantizeMatMul {kind}",
        "DynamicQuantizeMatMul",
        (real(2, 3, 4), *by, real(5)),
        {},
    )
    yield (
        f"QGemm {kind}",
        "QGemm",
        (
            byte(3, 4),
            number(0.02),
            number(9, np.uint8),
            made(5, 4),
            number(0.03),
            number(3, type_),
            np.arange(5, dtype=np.int32) * 90,
            number(0.5),
            number(20, np.uint8),
        ),
        {"transB": 1},
    )
    yield (
        f"QAttention {kind}",
        "QAttention",
        (
            byte(2, 3, 8),
            made(8, 24),
            weights[1],
            number(0.005),
            number(0.01),
            None,
            number(120, np.uint8),
            number(3, type_),
        ),
        {"num_heads": 2, "unidirectional": 1},
    )
    for direction, n in (("reverse", 1), ("bidirectional", 2)):
        yield (
            f"DynamicQuantizeLSTM {direction} {kind}",
            "DynamicQuantizeLSTM",
            (
                real(4, 2, 3),
                made(n, 3, 16),
                made(n, 4, 16, seed=1),
                real(n, 32),
                None,
                real(n, 2, 4),
                real(n, 2, 4, seed=1),
                None,
                np.full(n, 0.01, np.float32),
                np.full(n, 3, type_),
                np.full(n, 0.012, np.float32),
                np.full(n, 5, type_),
            ),
            {"hidden_size": 4, "direction": direction},
            ["a", "b", "c"],
        )


def _cases_of_bits():
    for size in (2, 4, 8):
        zeros = byte(5, -(-3 * size // 8), seed=2)
        yield (
            f"MatMulNBits {size}",
            "MatMulNBits",
            (real(2, 40), byte(5, 3, 2 * size), real(5, 3) * 0.1, zeros),
            {"K": 40, "N": 5, "bits": size, "block_size": 16},
        )


def _cases_of_language_models():
    """Queries of four heads, keys of two, as exporters of such models write."""

    def grouped(name, *more, before=0, count=3, ends=None, **attributes):
        total = before + count
        past = [None, None]
        if before:
            past = [real(2, 2, before, 16, seed=s) for s in (5, 6)]
        ends = [total - 1] * 2 if ends is None else ends
        rows = [real(2, count, 16 * n, seed=s) for s, n in enumerate((4, 2, 2))]
        return (
            f"GroupQueryAttention {name}",
            "GroupQueryAttention",
            (*rows, *past, number(ends, np.int32), number(total, np.int32), *more),
            {"num_heads": 4, "kv_num_heads": 2, **attributes},
            ["a", "b", "c"],
        )

    tables = real(12, 8, seed=3), real(12, 8, seed=4)
    yield grouped("prompt", *tables, do_rotary=1)
    yield grouped("step", *tables, before=5, count=1, do_rotary=1)
    yield grouped(
        "steps apart",
        *tables,
        before=5,
        count=1,
        ends=[5, 3],
        do_rotary=1,
        rotary_interleaved=1,
    )
    yield grouped("window", count=8, local_window_size=3)
    yield grouped("capped", softcap=1.5, smooth_softmax=1)
    yield grouped("sink", None, None, None, None, real(4))
    bias = real(2, 4, 3, 3)
    yield grouped("bias", None, None, None, bias, scale=0.3)
    packed = real(2, 3, 128), None, None, None, None
    yield (
        "GroupQueryAttention packed",
        "GroupQueryAttention",
        (*packed, number([2, 2], np.int32), number(3, np.int32), *tables),
        {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1},
    )
    yield (
        "MultiHeadAttention scores",
        "MultiHeadAttention",
        (real(2, 3, 8), real(2, 5, 8), real(2, 5, 8, seed=1), None, bits(2, 5)),
        {"num_heads": 2},
        ["a", "", "", "d"],
    )
    yield (
        "QAttention past",
        "QAttention",
        (
            byte(2, 3, 8),
            signed(8, 24),
            real(24),
            number(0.005),
            number(0.01),
            None,
            number(120, np.uint8),
            number(0, np.int8),
            real(2, 2, 2, 4, 4),
        ),
        {"num_heads": 2},
        ["a", "b"],
    )


def _cases_of_windows():
    """Windows that reach beyond the padding, and channels that are last."""
    to = number(0.02), number(7, np.uint8), number(0.03), number(99, np.uint8)
    for last in (0, 1):
        shape = (1, 5, 6, 2) if last else (1, 2, 5, 6)
        for count in (0, 1):
            yield (
                f"QLinearAveragePool up {last} {count}",
                "QLinearAveragePool",
                (byte(*shape), *to),
                {
                    "kernel_shape": [2, 3],
                    "strides": [3, 2],
                    "pads": [0, 1, 1, 0],
                    "ceil_mode": 1,
                    "channels_last": last,
                    "count_include_pad": count,
                },
            )
    yield (
        "QLinearConv last",
        "QLinearConv",
        (
            byte(1, 6, 5, 4),
            *to[:2],
            signed(6, 2, 3, 3),
            number([0.03, 0.02, 0.01, 0.04, 0.05, 0.02]),
            np.zeros(6, np.int8),
            number(0.2),
            number(9, np.uint8),
            np.arange(6, dtype=np.int32) * 90,
        ),
        {
            "channels_last": 1,
            "group": 2,
            "kernel_shape": [3, 3],
            "pads": [1, 0, 1, 2],
            "strides": [2, 1],
        },
    )
    yield (
        "NhwcMaxPool",
        "NhwcMaxPool",
        (byte(1, 6, 5, 4),),
        {
            "kernel_shape": [3, 2],
            "strides": [2, 2],
            "pads": [1, 0, 1, 1],
            "ceil_mode": 1,
        },
    )
    yield from _cases_of_activations()


def _cases_of_activations():
    image = real(1, 4, 5, 5), real(6, 4, 3, 3, seed=1), real(6, seed=2)
    yield (
        "FusedConv HardSwish",
        "FusedConv",
        image,
        {"activation": "HardSwish", "activation_params": [1 / 6, 0.5]},
    )
    for kind, numbers in (
        ("Elu", [0.7]),
        ("Softplus", []),
        ("Softsign", []),
        ("ThresholdedRelu", [0.3]),
        ("ScaledTanh", [0.7, 0.3]),
        ("ParametricSoftplus", [0.7, 0.3]),
        ("Selu", [1.6, 0.0, 1.1]),
    ):
        names = ("activation_alpha", "activation_beta", "activation_gamma")
        yield (
            f"FusedGemm {kind}",
            "FusedGemm",
            (real(3, 4), real(5, 4), real(5)),
            {"transB": 1, "activation": kind, **dict(zip(names, numbers))},
        )
    boxes = number([[0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1.2]])
    for mode in ("bilinear", "nearest"):
        yield (
            f"CropAndResize {mode}",
            "CropAndResize",
            (real(1, 2, 6, 6), boxes, np.zeros(2, np.int32), number([3, 4], np.int32)),
            {"mode": mode},
        )


def _cases_of_tables():
    ids = np.array([[4, 1, 0], [2, 6, 3]], np.int32)
    zeros = [number(v, np.uint8) for v in (3, 9, 5, 100, 120)]
    yield (
        "QEmbedLayerNormalization",
        "QEmbedLayerNormalization",
        (
            ids,
            ids % 2,
            byte(7, 8),
            byte(5, 8, seed=1),
            byte(2, 8, seed=2),
            byte(8, seed=3),
            byte(8, seed=4),
            bits(2, 3),
            number(0.02),
            number(0.01),
            number(0.03),
            number(0.02),
            number(0.01),
            *zeros,
        ),
        {},
        ["a", "b"],
    )
    for size in (2, 4, 8):
        # The table is the input: rows that there are not are zero.
        yield (
            f"GatherBlockQuantized {size}",
            "GatherBlockQuantized",
            (
                byte(10, 3, 8 * size),
                np.array([[1, -1], [0, 10]]),
                real(10, 3, 4),
                byte(10, 3, size // 2, seed=2),
            ),
            {"bits": size, "block_size": 16, "quantize_axis": 2},
        )
    for kind in (0, 1):
        yield (
            f"MatMulBnb4 {kind}",
            "MatMulBnb4",
            (real(2, 40), byte(100), abs(real(4))),
            {"K": 40, "N": 5, "block_size": 64, "quant_type": kind},
        )
    yield (
        "MatMulNBits order",
        "MatMulNBits",
        (
            real(2, 32),
            byte(5, 2, 8),
            real(5, 2) * 0.1,
            None,
            number([0, 1] * 16, np.int32),
        ),
        {"K": 32, "N": 5, "bits": 4, "block_size": 16},
    )
    yield (
        "MatMulNBits left out",
        "MatMulNBits",
        (real(2, 32), byte(0, 2, 8), real(0, 2), None, None, real(5)),
        {"K": 32, "N": 5, "bits": 4, "block_size": 16},
    )
    yield (
        "MatMulIntegerToFloat each",
        "MatMulIntegerToFloat",
        (
            byte(2, 3, 4),
            byte(2, 4, 5),
            number(0.02),
            real(2, 1, 5),
            number(9, np.uint8),
            byte(2, 1, 5),
        ),
        {},
    )


def _cases_of_shapes():
    yield "ExpandDims", "ExpandDims", (real(3, 4), number(-1, np.int32)), {}
    yield ("Pad", "Pad", (real(3, 4), np.array([1, 0, 2, 1]), number(0.5)), {})
    yield "UnfoldTensor", "UnfoldTensor", (real(2, 9),), {"size": 3, "step": 2}
    yield ("Unique", "Unique", (number([2, 1, 1, 3, 2]),), {}, ["a", "b", "c"])
    yield (
        "NGramRepeatBlock",
        "NGramRepeatBlock",
        (np.array([[1, 2, 3, 1, 2], [4, 4, 4, 4, 4]]), real(2, 6)),
        {"ngram_size": 3},
    )
    yield ("GatherND", "GatherND", (real(3, 4), np.array([[0, 1], [2, 3]])), {})
    yield "ScaledSiLU", "ScaledSiLU", (real(3, 4),), {"alpha": 1.5}


CASES = {
    name: (*rest, ["y"])[:4]
    for made in (
        _cases_of_reals,
        _cases_of_bytes,
        _cases_of_bits,
        _cases_of_language_models,
        _cases_of_windows,
        _cases_of_tables,
        _cases_of_shapes,
    )
    for name, *rest in made()
}


def model_of(op, inputs, attributes, outputs):
    """The first input is the model's, all others are its constants."""
    names = ["" if v is None else f"i{k}" for k, v in enumerate(inputs)]
    constants = [
        ob.tensor(name, _KINDS[v.dtype.name], v.shape, v.ravel().tolist())
        for name, v in list(zip(names, inputs))[1:]
        if v is not None
    ]
    first = inputs[0]
    node = ob.node(op, names, outputs, DOMAIN, **attributes)
    info = ob.value_info("i0", _KINDS[first.dtype.name], first.shape)
    # Their types follow from the operator's.
    found = [ob.field(1, name) for name in outputs if name]
    if op == "MultiHeadAttention" and len(outputs) == 4:
        found[-1] = ob.value_info(outputs[-1])
    graph = ob.graph([node], [info], found, constants)
    return ob.model(graph, opset=17, **{DOMAIN: 1})


def kept(results):
    """Some numbers of each result."""
    return [
        [round(float(v), 4) for v in r.ravel()[:: max(r.size // 5, 1)]] for r in results
    ]


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_onnx_runtime(name):
    op, inputs, attributes, outputs = CASES[name]
    data = model_of(op, inputs, attributes, outputs)
    model = hotaru.onnx.load(io.BytesIO(data)).eval()
    got = model(hotaru.from_numpy(inputs[0]))
    got = got if isinstance(got, tuple) else (got,)
    got = kept([y.detach().numpy() for y in got])
    want = json.loads(_FILE.read_text())[name]
    assert len(got) == len(want)
    for mine, theirs in zip(got, want):
        assert mine == pytest.approx(theirs, abs=3e-4)


def test_their_names():
    assert "com.microsoft::FusedConv" in hotaru.onnx.operators()
    model = ob.model(ob.graph([ob.node("None", ["x"], ["y"], DOMAIN)], ["x"], ["y"]))
    with pytest.raises(NotImplementedError, match=r"com\.microsoft\.None"):
        hotaru.onnx.load(io.BytesIO(model))


def write_results():
    """Asks ONNX Runtime, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    found = {}
    for name, (op, inputs, attributes, outputs) in CASES.items():
        data = model_of(op, inputs, attributes, outputs)
        session = onnxruntime.InferenceSession(data, options)
        found[name] = kept(session.run(None, {"i0": inputs[0]}))
    rows = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
    _FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    write_results()
