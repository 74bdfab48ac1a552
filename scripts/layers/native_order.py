"""The order of the C++ layers in hotaru/, and the rooms in them.

The order is that of docs/architecture.md: a file of a layer may include
its own layer and those before it.
"""

LAYERS = (
    "platform",
    "core",
    "runtime",
    "comm",
    "backend",
    "graph",
    "autograd",
    "ops",
    "engine",
    "io",
    "script",
    "exchange",
    "provider",
)
# Rooms of a layer in the order in which their headers include each other; ""
# is the layer's own folder.
ROOMS = {
    "platform": ("",),
    "core": ("printing", "checks", "memory", "", "inference", "sparse"),
    "runtime": ("", "threads", "streams", "own"),
    "comm": ("", "store", "mesh", "group"),
    "io": ("", "onnx", "weights"),
    "exchange": ("", "onnx", "onnx_out", "onnx_out/rows", "pt2", "picture"),
    "provider": ("", "ort"),
    "graph": (
        "capture",
        "program",
        "passes",
        "passes/products",
        "passes/pictures",
        "drawing",
        "",
    ),
    "script": (
        "source",
        "types",
        "ir",
        "program",
        "compile",
        "passes",
        "run",
        "builtins",
        "archive",
    ),
}
# Rooms of `ops`, `backend/common` and each device: what an operator belongs to.
FAMILIES = {
    "activation",
    "attention",
    "conv",
    "create",
    "distance",
    "fft",
    "foreach",
    "index",
    "linalg",
    "loss",
    "matmul",
    "norm",
    "optim",
    "pointwise",
    "pool",
    "random",
    "reduce",
    "resample",
    "rnn",
    "shape",
    "sort",
    "sparse",
    "vision",
}
# Rooms of a device that no family owns. What runs on the GPU has families of
# its own, and what it is told is all the host's half knows of it.
DEVICE_ROOMS = {
    "cpu": {
        "simd",
        "conv/amx",
        "conv/blocked",
        "conv/gradients",
        "linalg/spectra",
        "matmul/amx",
        "matmul/halves",
        "matmul/int8",
        "matmul/narrow",
        "matmul/quads",
        "matmul/whole",
    },
    "cuda": {"libraries", "collective", "cupti", "fused", "graph", "jit"}
    | {"params", "device"}
    | {"jit/std", "jit/host"}
    | {f"{half}/{name}" for half in ("params", "device") for name in FAMILIES},
    "soft_gpu": {"libraries"},
}
