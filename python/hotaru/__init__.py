"""PyTorch's execution core, small, fast and predictable.

`import hotaru as torch`: the names and their behaviour are PyTorch's.
"""

from __future__ import annotations

import sys as _sys

from . import _C
from ._C import *
from ._C import Tensor, device, dtype, layout, memory_format, ops
from ._extension.size import Size

# Their names are the package's, not those of the files that define them.
for _type in (
    device, dtype, layout, memory_format,
    _C.AcceleratorError, _C.Event, _C.Generator, _C.OutOfMemoryError,
    _C.Stream, Size,
):  # fmt: skip
    _type.__module__ = __name__

_sys.modules[__name__ + ".ops"] = ops


def _ops_attribute(name: str):
    """PyTorch's own operators are in ops.aten, a program's in its namespace."""
    if name.startswith("__") or name in _NO_SPACE:
        raise AttributeError(
            f"module {ops.__name__!r} has no attribute {name!r}"
        )
    if name == "profiler":
        from .profiler._namespace import namespace

        return vars(ops).setdefault(name, namespace)
    if name in ("load_library", "loaded_libraries"):
        from ._library import shared

        return getattr(shared, name)
    from . import _ops

    return vars(ops).setdefault(name, _ops.namespace(name))


_NO_SPACE = {"import_module"}
ops.__getattr__ = _ops_attribute

# Imported when first asked for: `import hotaru` stays cheap.
_LAZY = {
    # Operators that programs define, and what few ask for.
    "_VF", "_awaits", "_custom_op", "_custom_ops", "_export", "_functorch",
    "_guards",
    "_library", "_prims", "_prims_common", "_refs",
    "_subclasses", "_utils", "_utils_internal", "library", "monitor", "types",
    "__config__", "__future__", "_dynamo", "_jit_internal", "_ops",
    "_linalg_utils", "_lobpcg", "_tensor_str", "_vmap_internals",
    "_weights_only_unpickler", "accelerator", "amp", "ao", "autograd",
    "backends", "classes",
    "compiler", "cpu", "cuda", "distributed", "distributions", "export", "fft",
    "func",
    "futures", "fx", "graphs", "hub", "jit", "linalg", "masked",
    "mps", "multiprocessing", "nested",
    "nn", "onnx",
    "optim", "overrides", "package", "profiler", "quantization",
    "quasirandom", "random",
    "return_types", "serialization",
    "signal", "sparse", "special", "storage", "testing", "utils", "weights",
    "xpu",
}  # fmt: skip
# Names that are here and made in a module that is not imported before.
_MADE_IN = {
    name: module
    for module, names in {
        "serialization": ("load", "save"),
        "serialization._file_classes": (
            "PyTorchFileReader", "PyTorchFileWriter",
        ),
        "func": ("vmap",),
        "storage": ("TypedStorage", "UntypedStorage"),
        "compiler": ("_disable_dynamo",),
        "graphs": ("compile",),
        "jit._load_program": ("load_program",),
        "_functions.settings": (
            "cond", "get_device_module", "get_float32_matmul_precision",
            "has_lapack", "has_mkl", "has_openmp", "has_spectral",
            "init_num_threads", "is_distributed",
            "set_default_tensor_type", "set_float32_matmul_precision",
            "set_flush_denormal",
        ),
        "random": ("manual_seed", "seed", "thread_safe_generator"),
        "_functions.batch_norms": (
            "batch_norm_backward_elemt", "batch_norm_backward_reduce",
            "batch_norm_elemt", "batch_norm_gather_stats",
            "batch_norm_gather_stats_with_counts", "batch_norm_stats",
            "batch_norm_update_stats",
        ),
        "_functions.eigenpairs": ("lobpcg",),
        "_functions.rare": (
            "ccol_indices_copy", "col_indices_copy", "crow_indices_copy",
            "indices_copy", "native_norm", "resize_as_sparse_",
            "row_indices_copy", "slice_inverse", "values_copy",
        ),
        "_overrides": ("DisableTorchFunction", "DisableTorchFunctionSubclass"),
        "_symbolic": ("SymBool", "SymFloat"),
        "amp": ("GradScaler", "autocast"),
        "_quantized.choose": ("_choose_qparams_per_tensor",),
        "_quantized.create": (
            "_empty_affine_quantized", "_empty_per_channel_affine_quantized",
            "_make_per_channel_quantized_tensor",
            "_make_per_tensor_quantized_tensor", "dequantize", "int_repr",
            "q_per_channel_axis", "q_per_channel_scales",
            "q_per_channel_zero_points", "q_scale", "q_zero_point",
            "quantize_per_channel", "quantize_per_tensor",
            "quantize_per_tensor_dynamic",
        ),
        "_quantized.dtypes": (
            "per_channel_affine", "per_channel_affine_float_qparams",
            "per_channel_symmetric", "per_tensor_affine",
            "per_tensor_symmetric", "qint32", "qint8", "qscheme", "quint2x4",
            "quint4x2", "quint8",
        ),
        "_quantized.fake": (
            "_fake_quantize_learnable_per_channel_affine",
            "_fake_quantize_learnable_per_tensor_affine",
            "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
            "fake_quantize_per_channel_affine",
            "fake_quantize_per_tensor_affine",
            "fused_moving_avg_obs_fake_quant",
        ),
        "amp._thread": (
            "get_autocast_cpu_dtype", "get_autocast_dtype",
            "get_autocast_gpu_dtype", "is_autocast_cpu_enabled",
            "is_autocast_enabled", "set_autocast_cache_enabled",
            "set_autocast_cpu_dtype", "set_autocast_cpu_enabled",
            "set_autocast_dtype", "set_autocast_enabled",
            "set_autocast_gpu_dtype",
        ),
        "sparse.compressed.convert": (
            "_convert_indices_from_coo_to_csr",
            "_convert_indices_from_csr_to_coo",
        ),
        "sparse.compressed.create": (
            "_validate_compressed_sparse_indices",
            "_validate_sparse_bsc_tensor_args",
            "_validate_sparse_bsr_tensor_args",
            "_validate_sparse_compressed_tensor_args",
            "_validate_sparse_csc_tensor_args",
            "_validate_sparse_csr_tensor_args",
            "sparse_bsc_tensor", "sparse_bsr_tensor",
            "sparse_compressed_tensor", "sparse_csc_tensor",
            "sparse_csr_tensor",
        ),
        "sparse.compressed.reduce": ("_sparse_csr_prod", "_sparse_csr_sum"),
        "sparse.coo.create": (
            "_sparse_coo_tensor_unsafe", "_validate_sparse_coo_tensor_args",
            "sparse_coo_tensor",
        ),
        "sparse.coo.products": (
            "dsmm", "hsmm", "hspmm", "saddmm", "smm", "spmm", "sspaddmm",
        ),
        "sparse.coo.shape": ("_sparse_broadcast_to",),
        "sparse.coo.reductions": ("_sparse_sum",),
    }.items()
    for name in names
}  # fmt: skip
_LEGACY = {"_storage_classes", "_tensor_classes"}

# Operators that PyTorch has in `torch.ops` alone.
_OPS_ALONE = {
    "_unsafe_view", "_upsample_bicubic2d_aa", "_upsample_bilinear2d_aa",
    "_upsample_lanczos2d_aa", "_upsample_nearest_exact1d",
    "_upsample_nearest_exact2d", "_upsample_nearest_exact3d", "slow_conv3d",
    "thnn_conv2d", "unique_dim",
}  # fmt: skip
# Every operator is a function here, too, unless a module has its name; the
# Python code below gives some names another meaning.
globals().update(
    {
        name: op
        for name, op in vars(ops).items()
        if name not in _LAZY
        and name not in _OPS_ALONE
        and not name.startswith("__")
    }
)

# Its older name.
_segment_reduce = ops.segment_reduce
# A layout that no tensor has here, for programs that compare with it.
_mkldnn = _C._mkldnn

from . import _extension, _tensor
from ._extension.determinism import *
from ._extension.dtypes import finfo, iinfo
from ._functions import *
from ._functions import _assert
from ._functions.arrays import *
from ._functions.attention import *
from ._functions.checks import *
from ._functions.copies import *
from ._functions.in_place import *
from ._functions.ranges import *
from ._functions.symbolic import *
from ._functions.windows import *
from ._grad_mode import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from ._lowrank import *
from ._tensor import nested_names as _nested_names
from .functional import *
from .torch_version import TorchVersion as _TorchVersion
from .version import __version__ as _version

__version__ = _TorchVersion(_version)
_nested_names.install(globals())

# The extension's seed the CPU alone.
for _name, _module in _MADE_IN.items():
    if _module == "random":
        globals().pop(_name, None)
# Complete once `storage` is imported.
del globals()["UntypedStorage"]


def __getattr__(name: str):
    if name in _LAZY or name in _MADE_IN:
        import importlib

        module = _MADE_IN.get(name, name)
        found = importlib.import_module(f"{__name__}.{module}")
        if name in _LAZY:
            return found
        return globals().setdefault(name, getattr(found, name))
    if name in _extension.PUBLIC:
        return getattr(_C, name)
    if name.endswith(("Storage", "Tensor")) or name in _LEGACY:
        from ._tensor import legacy

        value = legacy.named(name)
        if value is not None:
            return value
    if name == "Tag":
        return _C.Tag
    if name == "torch":  # PyTorch's package imports itself by this name
        return _sys.modules[__name__]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()).union(_LAZY, _MADE_IN))
