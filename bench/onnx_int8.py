"""Measures ONNX's operators on 8-bit integers beside ONNX Runtime.

    .venv/bin/python bench/onnx_int8.py [--threads 1] [--rounds 25]
                                        [--only conv] [--texts FOLDER]

Needs onnx and onnxruntime in this environment. Both run in this process and
take short turns; a figure is the median of the rounds, a ratio the median of
the rounds' ratios (ONNX Runtime's time over hotaru's: above 1 hotaru is
faster). With one thread it is the processor's time, else the wall's. Also says
how far the results are apart: without VNNI, ONNX Runtime adds pairs of products
of uint8 by int8 in 16 bits, which saturate. With --texts, operators that mean
what that folder's files say (HOTARU_ONNX_TEXTS) are measured, too.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import hotaru

TURN = 0.02


def bytes_of(rng, shape, dtype):
    bounds = np.iinfo(dtype)
    return rng.integers(bounds.min, bounds.max + 1, shape).astype(dtype)


def model(nodes, x, constants, output):
    kind = helper.np_dtype_to_tensor_dtype
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", kind(x.dtype), x.shape)],
        [helper.make_tensor_value_info("y", kind(np.dtype(output)), None)],
        [numpy_helper.from_array(v, n) for n, v in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    made.ir_version = 10
    return made.SerializeToString()


def scales(dtype, result):
    return {
        "xs": np.float32(0.02),
        "xz": np.uint8(120),
        "ws": np.float32(0.01),
        "wz": dtype(0),
        "ys": np.float32(result),
        "yz": np.uint8(128),
    }


NAMES = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]


def product(rng, m, k, n, dtype=np.int8):
    x, w = bytes_of(rng, (m, k), np.uint8), bytes_of(rng, (k, n), dtype)
    node = helper.make_node("QLinearMatMul", NAMES, ["y"])
    return model([node], x, {"w": w, **scales(dtype, 0.9)}, np.uint8), x


def convolution(rng, channels, size, kernel, groups=1, stride=1, dtype=np.int8):
    x = bytes_of(rng, (1, channels, size, size), np.uint8)
    shape = (channels, channels // groups, kernel, kernel)
    node = helper.make_node(
        "QLinearConv",
        NAMES,
        ["y"],
        group=groups,
        strides=[stride] * 2,
        pads=[kernel // 2] * 4,
    )
    w = bytes_of(rng, shape, dtype)
    return model([node], x, {"w": w, **scales(dtype, 0.9)}, np.uint8), x


def dynamic(rng, m, k, n, dtype=np.int8):
    """Nodes that dynamic quantisation makes of a linear layer."""
    x = rng.standard_normal((m, k)).astype(np.float32)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "qs", "qz"]),
        helper.make_node("MatMulInteger", ["q", "w", "qz", "wz"], ["s"]),
        helper.make_node("Cast", ["s"], ["f"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Mul", ["qs", "ws"], ["by"]),
        helper.make_node("Mul", ["f", "by"], ["y"]),
    ]
    constants = {
        "w": bytes_of(rng, (k, n), dtype),
        "wz": dtype(0),
        "ws": np.float32(0.01),
    }
    return model(nodes, x, constants, np.float32), x


CASES = {
    "matmul 128 x 768 x 768": (product, 128, 768, 768),
    "matmul 128 x 768 x 768, uint8": (product, 128, 768, 768, np.uint8),
    "matmul 1 x 768 x 3072": (product, 1, 768, 3072),
    "matmul 16 x 768 x 768": (product, 16, 768, 768),
    "matmul 4 x 16 x 16": (product, 4, 16, 16),
    "conv 64, 56 x 56, 3 x 3": (convolution, 64, 56, 3),
    "conv 64, 56 x 56, 3 x 3, uint8": (convolution, 64, 56, 3, 1, 1, np.uint8),
    "conv 128, 28 x 28, 3 x 3 by 2": (convolution, 128, 28, 3, 1, 2),
    "conv 256, 14 x 14, 1 x 1": (convolution, 256, 14, 1),
    "conv 512, 7 x 7, 3 x 3": (convolution, 512, 7, 3),
    "conv 64, 56 x 56, 3 x 3, depthwise": (convolution, 64, 56, 3, 64),
    "conv 144, 28 x 28, 3 x 3 by 2, depthwise": (convolution, 144, 28, 3, 144, 2),
    "dynamic 128 x 768 x 768": (dynamic, 128, 768, 768),
    "dynamic 1 x 768 x 768": (dynamic, 1, 768, 768),
}


def peer(data, x, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        data, options, providers=["CPUExecutionProvider"]
    )
    (y,) = session.run(None, {"x": x})
    binding = session.io_binding()
    value = onnxruntime.OrtValue.ortvalue_from_numpy
    kept = value(x), value(y)
    binding.bind_ortvalue_input("x", kept[0])
    binding.bind_ortvalue_output("y", kept[1])
    return (lambda: session.run_with_iobinding(binding)), y


def own(path, x):
    run = hotaru.compile(hotaru.onnx.load(path).eval())
    given = hotaru.from_numpy(x)
    with hotaru.inference_mode():
        y = run(given).numpy().copy()

    def call():
        with hotaru.inference_mode():
            run(given)

    return call, y


def turn(call, clock, count):
    begin = clock()
    for _ in range(count):
        call()
    return (clock() - begin) / count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", default="")
    parser.add_argument("--texts")
    options = parser.parse_args()
    hotaru.set_num_threads(options.threads)
    clock = time.thread_time if options.threads == 1 else time.perf_counter
    names = ["hotaru", "ONNX Runtime"] + ["other texts"] * bool(options.texts)
    print(f"| | {' | '.join(names)} | ratio | largest difference |")
    print("| --- |" + " --- |" * (len(names) + 2))
    folder = tempfile.mkdtemp()
    for name, (make, *arguments) in CASES.items():
        if options.only not in name:
            continue
        data, x = make(np.random.default_rng(0), *arguments)
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(data)
        (call, y), (other, z) = own(path, x), peer(data, x, options.threads)
        calls = [call, other]
        if options.texts:
            os.environ["HOTARU_ONNX_TEXTS"] = options.texts
            calls.append(own(path, x)[0])
            del os.environ["HOTARU_ONNX_TEXTS"]
        counts = []
        for one in calls:
            one()
            counts.append(max(1, int(TURN / max(turn(one, clock, 2), 1e-6))))
        rounds = [
            [turn(c, clock, n) for c, n in zip(calls, counts, strict=True)]
            for _ in range(options.rounds)
        ]
        times = [statistics.median(t) for t in zip(*rounds, strict=True)]
        ratio = statistics.median(r[1] / r[0] for r in rounds)
        apart = np.abs(y.astype(np.float64) - z).max()
        cells = [f"{1e6 * t:.0f} µs" for t in times]
        print(f"| {name} | {' | '.join(cells)} | {ratio:.2f} | {apart:.3g} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
