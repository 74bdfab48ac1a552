"""PyTorch's execution core, small, fast and predictable.

`import hotaru as torch`: the names and their behaviour are PyTorch's.
"""

import sys as _sys

from . import _C
from ._C import *
from ._C import Tensor, device, dtype, layout, memory_format, ops
from ._extension.size import Size
from ._own_names import no_attribute as _no_attribute

# Their names are the package's, not those of the files that define them.
for _type in (
    device,
    dtype,
    layout,
    memory_format,
    _C.AcceleratorError,
    _C.Event,
    _C.Generator,
    _C.OutOfMemoryError,
    _C.Stream,
    Size,
):
    _type.__module__ = __name__

_sys.modules[__name__ + ".ops"] = ops


def _ops_attribute(name: str):
    """PyTorch's own operators are in ops.aten, a program's in its namespace."""
    if name.startswith("__") or name in _NO_SPACE:
        raise _no_attribute(ops.__name__, name)
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
    "_VF",
    "__config__",
    "__future__",
    "_awaits",
    "_custom_op",
    "_custom_ops",
    "_dynamo",
    "_export",
    "_functions",
    "_functorch",
    "_guards",
    "_higher_order_ops",
    "_inductor",
    "_jit_internal",
    "_library",
    "_linalg_utils",
    "_lobpcg",
    "_logging",
    "_lowrank",
    "_ops",
    "_prims",
    "_prims_common",
    "_refs",
    "_subclasses",
    "_symbolic",
    "_tensor_str",
    "_utils",
    "_utils_internal",
    "_vmap_internals",
    "_weights_only_unpickler",
    "accelerator",
    "amp",
    "ao",
    "autograd",
    "backends",
    "classes",
    "compiler",
    "cpu",
    "cuda",
    "distributed",
    "distributions",
    "export",
    "fft",
    "foreach",
    "func",
    "functional",
    "futures",
    "fx",
    "graphs",
    "hub",
    "jit",
    "library",
    "linalg",
    "masked",
    "monitor",
    "mps",
    "mtia",
    "multiprocessing",
    "nested",
    "nn",
    "numa",
    "onnx",
    "optim",
    "overrides",
    "package",
    "profiler",
    "quantization",
    "quasirandom",
    "random",
    "return_types",
    "serialization",
    "signal",
    "sparse",
    "special",
    "storage",
    "testing",
    "torch_version",
    "types",
    "utils",
    "version",
    "weights",
    "xpu",
}
# Names that are here and made in a module that is not imported before, by
# module: those of `from hotaru import *`, and others.
_OFFERED = {
    "_extension.communication": """
        FileStore HashStore PrefixStore Store TCPStore
    """,
    "_extension.determinism": """
        are_deterministic_algorithms_enabled get_deterministic_debug_mode
        is_deterministic_algorithms_warn_only_enabled
        set_deterministic_debug_mode use_deterministic_algorithms
    """,
    "_extension.dtypes": "finfo iinfo",
    "_functions": """
        _assert as_tensor broadcast_shapes e from_dlpack get_device
        get_printoptions inf is_complex is_conj is_floating_point is_inference
        is_neg is_nonzero is_same_size is_signed is_storage is_tensor nan
        newaxis numel pi set_anomaly_enabled set_printoptions typename
    """,
    "_functions.arrays": "asarray from_file frombuffer vander",
    "_functions.attention": "_masked_softmax _transform_bias_rescale_qkv",
    "_functions.checks": """
        _check _check_index _check_is_size _check_not_implemented
        _check_tensor_all _check_tensor_all_with _check_type _check_value
        _check_with
    """,
    "_functions.copies": "detach_copy view_as_complex_copy view_as_real_copy",
    "_functions.in_place": "logit_ nan_to_num_ negative_ rrelu_ square_",
    "_functions.ranges": "linspace logspace range",
    "_functions.symbolic": """
        _sym_sqrt _sym_cos _sym_cosh _sym_sin _sym_sinh _sym_tan _sym_tanh
        _sym_asin _sym_acos _sym_atan _sym_log2 sym_constrain_range
        sym_constrain_range_for_size sym_float sym_fresh_size sym_int sym_ite
        sym_max sym_min sym_not sym_sqrt sym_sum
    """,
    "_functions.windows": """
        bartlett_window blackman_window hamming_window hann_window
        kaiser_window
    """,
    "_extension.grad_mode": """
        enable_grad inference_mode no_grad set_grad_enabled
    """,
    "_lowrank": "lu pca_lowrank svd_lowrank",
    "_tensor.nested_names": "jagged",
    "nested.create": """
        _nested_from_padded _nested_from_padded_and_nested_example
        _nested_tensor_from_mask _nested_tensor_from_mask_left_aligned
        _nested_compute_contiguous_strides_offsets
        _nested_tensor_from_tensor_list _nested_view_from_buffer
    """,
    "_symbolic.integers": "SymInt",
    "functional": """
        atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors
        cartesian_prod cdist chain_matmul einsum meshgrid nonzero norm stft
        tensordot unique unique_consecutive unravel_index
    """,
    "torch_version": "__version__",
}
_OTHERS = {
    "serialization": "load save",
    "serialization._file_classes": "PyTorchFileReader PyTorchFileWriter",
    "func": "vmap",
    "storage": "TypedStorage UntypedStorage",
    "compiler": "_disable_dynamo",
    "graphs": "compile",
    "jit._load_program": "load_program",
    "_functions.settings": """
        get_device_module get_float32_matmul_precision has_lapack has_mkl
        has_openmp has_spectral init_num_threads is_distributed
        set_default_tensor_type set_float32_matmul_precision
        set_flush_denormal
    """,
    "random": "manual_seed seed thread_safe_generator",
    "_functions.batch_norms": """
        batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt
        batch_norm_gather_stats batch_norm_gather_stats_with_counts
        batch_norm_stats batch_norm_update_stats
    """,
    "_lobpcg": "lobpcg",
    "_tensor.removed": "eig lstsq matrix_rank solve symeig",
    "nn.functional._scaled": "_grouped_mm _scaled_mm",
    "_higher_order_ops.cond": "cond",
    "_higher_order_ops.while_loop": "while_loop",
    "_functions.rare": """
        _shape_as_tensor ccol_indices_copy col_indices_copy crow_indices_copy
        indices_copy native_norm resize_as_sparse_ row_indices_copy
        slice_inverse values_copy
    """,
    "_overrides": "DisableTorchFunction DisableTorchFunctionSubclass",
    "_symbolic": "SymBool SymFloat",
    "amp": "GradScaler autocast",
    "_onednn.functions": """
        _mkldnn_reshape _mkldnn_transpose _mkldnn_transpose_
        mkldnn_adaptive_avg_pool2d mkldnn_convolution
        mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d
    """,
    "_quantized.choose": "_choose_qparams_per_tensor",
    "_quantized.create": """
        _empty_affine_quantized _empty_per_channel_affine_quantized
        _make_per_channel_quantized_tensor _make_per_tensor_quantized_tensor
        dequantize int_repr q_per_channel_axis q_per_channel_scales
        q_per_channel_zero_points q_scale q_zero_point quantize_per_channel
        quantize_per_tensor quantize_per_tensor_dynamic
    """,
    "_quantized.dtypes": """
        per_channel_affine per_channel_affine_float_qparams
        per_channel_symmetric per_tensor_affine per_tensor_symmetric qint32
        qint8 qscheme quint2x4 quint4x2 quint8
    """,
    "_quantized.fake": """
        _fake_quantize_learnable_per_channel_affine
        _fake_quantize_learnable_per_tensor_affine
        _fake_quantize_per_tensor_affine_cachemask_tensor_qparams
        fake_quantize_per_channel_affine fake_quantize_per_tensor_affine
        fused_moving_avg_obs_fake_quant
    """,
    "amp._thread": """
        get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype
        is_autocast_cpu_enabled is_autocast_enabled set_autocast_cache_enabled
        set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype
        set_autocast_enabled set_autocast_gpu_dtype
    """,
    "sparse.compressed.convert": """
        _convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo
    """,
    "sparse.compressed.create": """
        _validate_compressed_sparse_indices _validate_sparse_bsc_tensor_args
        _validate_sparse_bsr_tensor_args
        _validate_sparse_compressed_tensor_args
        _validate_sparse_csc_tensor_args _validate_sparse_csr_tensor_args
        sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor
        sparse_csc_tensor sparse_csr_tensor
    """,
    "sparse.compressed.reduce": "_sparse_csr_prod _sparse_csr_sum",
    "sparse.coo.create": """
        _sparse_coo_tensor_unsafe _validate_sparse_coo_tensor_args
        sparse_coo_tensor
    """,
    "sparse.coo.products": "dsmm hsmm hspmm saddmm smm spmm sspaddmm",
    "sparse.coo.shape": "_sparse_broadcast_to",
    "sparse.coo.reductions": "_sparse_sum",
}
_MADE_IN = {
    name: module
    for table in (_OFFERED, _OTHERS)
    for module, names in table.items()
    for name in names.split()
}
_LEGACY = {"_storage_classes", "_tensor_classes"}

# Operators that PyTorch has in `torch.ops` alone.
_OPS_ALONE = {
    "_unsafe_view",
    "_upsample_bicubic2d_aa",
    "_upsample_bilinear2d_aa",
    "_upsample_lanczos2d_aa",
    "_upsample_nearest_exact1d",
    "_upsample_nearest_exact2d",
    "_upsample_nearest_exact3d",
    "slow_conv3d",
    "thnn_conv2d",
    "unique_dim",
}
# Every operator is a function here, too, unless a module has its name or Python
# code gives the name another meaning.
_HIDDEN = {*_LAZY, *_MADE_IN, *_OPS_ALONE}
globals().update(
    {
        name: op
        for name, op in vars(ops).items()
        if name not in _HIDDEN and not name.startswith("__")
    }
)
for _name in _MADE_IN:  # the extension has some, which are not complete
    globals().pop(_name, None)

# Its older name.
_segment_reduce = ops.segment_reduce
# The format that operators took once where none was given.
legacy_contiguous_format = _C.contiguous_format
# The layout of oneDNN (`_onednn`).
_mkldnn = _C._mkldnn

from . import _extension, _tensor


def __getattr__(name: str):
    if name in _LAZY or name in _MADE_IN:
        import importlib

        module = _MADE_IN.get(name, name)
        found = importlib.import_module(f"{__name__}.{module}")
        if name in _LAZY:
            return found
        return globals().setdefault(name, getattr(found, name))
    if name == "__all__":  # of `from hotaru import *`
        names = {*globals(), *_offered()}
        return sorted(name for name in names if not name.startswith("_"))
    from ._extension.places import PUBLIC

    if name in PUBLIC:
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
    raise _no_attribute(__name__, name)


def _offered() -> list[str]:
    """Names that `from hotaru import *` gives beside those already there."""
    modules = ["functional", "torch_version", "version"]
    return modules + " ".join(_OFFERED.values()).split()


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_MADE_IN})
