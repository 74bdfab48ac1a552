"""The libraries themselves."""

from __future__ import annotations

import warnings
from enum import Enum

from .. import _C
from .._extension.attention_kinds import SDPBackend, allow_kind, allowed, sdpa_kernel
from .._late import lent
from ._flags import Flag, Library, is_bool, is_precision
from ._plan_cache import CufftPlanCaches
from ._precision import (
    BackendPrecision,
    LegacyTf32,
    OperatorPrecision,
    find,
    legacy,
    matmul_allows_tf32,
    put,
)
from ._ways import ways


def _check_depthwise(value) -> None:
    if value not in ("auto", "cudnn", "native"):
        raise RuntimeError(
            f"Unknown cuDNN depthwise kernel mode: {value}. "
            "Expected one of: auto, cudnn, native"
        )


class _CudnnFlag(Flag):
    """One that the library is told."""

    def put(self, library, value) -> None:
        super().put(library, value)
        told = ("enabled", "benchmark", "deterministic")
        _C._set_cudnn(*(library._values[name] for name in told))


def library_on_gpu(name: str) -> tuple[str, str]:
    """A library's version, and why there is none."""
    if _C._device_count("cuda") == 0:
        return "", "there is no CUDA device"
    [library] = _C._cuda_libraries(name)
    return library["version"], library["why_not"]


class Cudnn(Library):
    """cuDNN, which computes convolutions and recurrent layers on a GPU where it
    is found. Other operators have kernels of hotaru's own.
    """

    enabled = _CudnnFlag(True, is_bool("set_enabled_cudnn"))
    benchmark = _CudnnFlag(False, is_bool("set_benchmark_cudnn"))
    benchmark_limit = Flag(None)
    deterministic = _CudnnFlag(False, is_bool("set_deterministic_cudnn"))
    allow_tf32 = LegacyTf32(True, is_bool("set_allow_tf32_cublas"))
    fp32_precision = BackendPrecision("cuda")
    depthwise_kernel = Flag("auto", _check_depthwise)
    _settable = (
        "enabled",
        "benchmark",
        "benchmark_limit",
        "deterministic",
        "allow_tf32",
        "fp32_precision",
        "depthwise_kernel",
    )

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.conv, self.rnn = (OperatorPrecision("cuda", op) for op in ("conv", "rnn"))

    def is_available(self) -> bool:
        """True if it is there, and a device to use it on."""
        return self.version() is not None

    def version(self) -> int | None:
        """Its number, 91900 for 9.19.0; None where it is not found."""
        version, _ = library_on_gpu("cuDNN")
        if not version:
            return None
        major, minor, patch = map(int, version.split("."))
        return major * 10000 + minor * 100 + patch

    def is_acceptable(self, tensor) -> bool:
        """True if PyTorch's would compute with a tensor."""
        floats = ("float16", "float32", "float64")
        known = str(tensor.dtype).rpartition(".")[2] in floats
        return self.enabled and tensor.is_cuda and known and self.is_available()

    def flags(
        self,
        enabled: bool = False,
        benchmark: bool = False,
        benchmark_limit: int = 10,
        deterministic: bool = False,
        allow_tf32: bool = True,
        fp32_precision: str = "none",
        depthwise_kernel: str = "auto",
    ):
        """A block in which the flags are these."""
        return self._set_for_a_while(
            enabled=enabled,
            benchmark=benchmark,
            deterministic=deterministic,
            allow_tf32=allow_tf32,
            fp32_precision=fp32_precision,
            depthwise_kernel=depthwise_kernel,
        )


class Mkldnn(Library):
    """Flags of oneDNN, which is not used: its layout is there, for hotaru's own
    kernels. Those follow the precisions: of products, in `matmul`, of
    convolutions, in `conv`, and of recurrent layers, in `rnn`; the last two in
    graphs.
    """

    enabled = Flag(True, is_bool("set_enabled_mkldnn"))
    deterministic = Flag(False, is_bool("set_deterministic_mkldnn"))
    allow_tf32 = Flag(None)
    fp32_precision = BackendPrecision("mkldnn")
    _settable = ("enabled", "deterministic", "allow_tf32", "fp32_precision")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.matmul, self.conv, self.rnn = (
            OperatorPrecision("mkldnn", op) for op in ("matmul", "conv", "rnn")
        )

    def is_available(self) -> bool:
        """Tells whether tensors may have the layout `torch._mkldnn`: always."""
        return True

    def is_acl_available(self) -> bool:
        """Tells whether its form for ARM is used: never."""
        return False

    def flags(
        self,
        enabled: bool = False,
        deterministic: bool = False,
        allow_tf32: bool = True,
        fp32_precision: str = "none",
    ):
        """A block in which the flags are these."""
        return self._set_for_a_while(
            enabled=enabled,
            deterministic=deterministic,
            allow_tf32=allow_tf32,
            fp32_precision=fp32_precision,
        )


class Nnpack(Library):
    """The flag of NNPACK, which is not used."""

    enabled = Flag(True, is_bool("set_enabled_NNPACK"))
    _settable = ("enabled",)

    def flags(self, enabled: bool = False):
        """A block in which the flag is this."""
        return self._set_for_a_while(enabled=enabled)


class Mha(Library):
    """The fast path of `MultiheadAttention`: one operator for a layer in
    evaluation.
    """

    _fast = Flag(True, freezes=False)

    def get_fastpath_enabled(self) -> bool:
        """Tells what `set_fastpath_enabled` was given last; True at first."""
        return self._values["_fast"]

    def set_fastpath_enabled(self, value: bool) -> None:
        """Keeps whether the fast path may be taken."""
        self._fast = value


_ENGINES = ["qnnpack", "onednn", "x86", "fbgemm"]


def _check_engine(value) -> None:
    if value not in [*_ENGINES, "none"]:
        raise RuntimeError(f"{value} is not a valid value for quantized engine")
    if value == "none":
        raise RuntimeError("quantized engine NoQEngine is not supported")


class Quantized(Library):
    """Which library PyTorch computes quantised modules with. Here the kernels
    are the same for each.
    """

    engine = Flag("x86", _check_engine, freezes=False)

    @property
    def supported_engines(self) -> list[str]:
        """Names that `engine` can be."""
        return list(_ENGINES)


class Mps(Library):
    """Apple's GPUs, for which there is no back end."""

    def is_built(self) -> bool:
        """Tells whether this build can use them: never."""
        return False

    def is_macos_or_newer(self, major: int, minor: int) -> bool:
        """Tells whether the system is a macOS of that version: never."""
        return False


class _MatmulTf32(Flag):
    """Sets the precision of products, and what
    `get_float32_matmul_precision` says.
    """

    def __get__(self, library, owner=None):
        return self if library is None else matmul_allows_tf32()

    def put(self, library, value) -> None:
        super().put(library, value)
        legacy["matmul"] = "high" if value else "highest"
        put("cuda", "matmul", "tf32" if value else "ieee")


class _MatmulPrecision(Flag):
    """The precision of products on a GPU."""

    def __get__(self, library, owner=None):
        return self if library is None else find("cuda", "matmul")

    def put(self, library, value) -> None:
        put("cuda", "matmul", value)


class Matmul(Library):
    """How products may be computed on a GPU. cuBLASLt makes use of
    `allow_tf32`; without it, and on the CPU, they are in full precision.
    """

    allow_tf32 = _MatmulTf32(False, freezes=False)
    allow_fp16_reduced_precision_reduction = Flag(True, freezes=False)
    allow_bf16_reduced_precision_reduction = Flag(True, freezes=False)
    allow_fp16_accumulation = Flag(False, freezes=False)
    fp32_precision = _MatmulPrecision("none", is_precision, freezes=False)

    def __getattr__(self, name: str):
        raise AttributeError("Unknown attribute " + name)

    def __setattr__(self, name: str, value) -> None:
        own = name == "_values" or name.startswith("__")
        if not own and not isinstance(vars(type(self)).get(name), Flag):
            raise AttributeError("Unknown attribute " + name)
        super().__setattr__(name, value)


class _Library(Enum):
    """A library by name; printed as PyTorch's, whose classes are private."""

    def __repr__(self) -> str:
        return f"<_{self}: {self.value}>"

    def __str__(self) -> str:
        return f"_{type(self).__name__}.{self.name}"


class LinalgBackend(_Library):
    """Libraries that PyTorch's factorisations on CUDA may be of."""

    Default = 0
    Cusolver = 1
    Magma = 2


class BlasBackend(_Library):
    """Libraries that PyTorch's products on CUDA may be of."""

    Cublas = 1
    Cublaslt = 2
    Ck = 3


def _preferred(choices: type, named: dict, wanted):
    """The member that a name or a member stands for."""
    if isinstance(wanted, str):
        if wanted not in named:
            raise RuntimeError(f"Unknown input value. Choose from: {', '.join(named)}.")
        wanted = named[wanted]
    if type(wanted) is not choices:
        raise RuntimeError("Unknown input value type.")
    return wanted


class Cuda(Library):
    """hotaru's CUDA back end, and which of PyTorch's kinds of attention it may
    use; it has one of its own.
    """

    _math_reduces_in_half = Flag(False, freezes=False)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.matmul = Matmul(f"{name}.matmul")
        self._linalg_library = LinalgBackend.Default
        self.cufft_plan_cache = CufftPlanCaches()

    def is_built(self) -> bool:
        """True if this build can use CUDA devices, if there are any."""
        try:
            _C._cuda_driver_version()
        except AssertionError:
            return False
        return True

    def is_available(self) -> bool:
        """True if there is a CUDA device."""
        return lent("cuda_is_available")()

    def preferred_linalg_library(self, backend=None) -> LinalgBackend:
        """The library of factorisations, set if one is named.

        Either name means cuSOLVER for large matrices, where it is found, and
        hotaru's own kernels for all else. RuntimeError for cuSOLVER where it is
        not found, for MAGMA, and for what is no name of any.
        """
        if backend is None:
            return self._linalg_library
        named = {m.name.lower(): m for m in LinalgBackend}
        wanted = _preferred(LinalgBackend, named, backend)
        missing = "Cannot set preferred backend to {0} if PyTorch has not been "
        missing += "compiled with {0}."
        if wanted is LinalgBackend.Magma:
            raise RuntimeError(missing.format("MAGMA"))
        if wanted is LinalgBackend.Cusolver:
            version, why_not = library_on_gpu("cuSOLVER")
            if not version:
                text = missing.format("cuSOLVER")
                raise RuntimeError(f"{text} hotaru: it is not used ({why_not})")
        self._linalg_library = wanted
        return wanted

    def preferred_blas_library(self, backend=None) -> BlasBackend:
        """The library of products that PyTorch would say; hotaru has its own.

        RuntimeError for another one, and for what is no name of any.
        """
        if backend is None:
            return BlasBackend.Cublas
        named = {
            "default": BlasBackend.Cublas,
            "cublas": BlasBackend.Cublas,
            "hipblas": BlasBackend.Cublas,
            "cublaslt": BlasBackend.Cublaslt,
            "hipblaslt": BlasBackend.Cublaslt,
            "ck": BlasBackend.Ck,
        }
        wanted = _preferred(BlasBackend, named, backend)
        if wanted is not BlasBackend.Cublas:
            raise RuntimeError(
                f"Cannot set preferred BLAS backend to {wanted.name}: hotaru "
                "has its own products."
            )
        return wanted

    def flash_sdp_enabled(self) -> bool:
        """True if flash attention may be used."""
        return allowed[SDPBackend.FLASH_ATTENTION]

    def enable_flash_sdp(self, enabled: bool) -> None:
        """Allows or forbids flash attention."""
        allow_kind(SDPBackend.FLASH_ATTENTION, enabled)

    def mem_efficient_sdp_enabled(self) -> bool:
        """True if memory-efficient attention may be used."""
        return allowed[SDPBackend.EFFICIENT_ATTENTION]

    def enable_mem_efficient_sdp(self, enabled: bool) -> None:
        """Allows or forbids memory-efficient attention."""
        allow_kind(SDPBackend.EFFICIENT_ATTENTION, enabled)

    def math_sdp_enabled(self) -> bool:
        """True if attention by products and softmax may be used."""
        return allowed[SDPBackend.MATH]

    def enable_math_sdp(self, enabled: bool) -> None:
        """Allows or forbids attention by products and softmax."""
        allow_kind(SDPBackend.MATH, enabled)

    def cudnn_sdp_enabled(self) -> bool:
        """True if cuDNN's attention may be used."""
        return allowed[SDPBackend.CUDNN_ATTENTION]

    def enable_cudnn_sdp(self, enabled: bool) -> None:
        """Allows or forbids cuDNN's attention."""
        allow_kind(SDPBackend.CUDNN_ATTENTION, enabled)

    def fp16_bf16_reduction_math_sdp_allowed(self) -> bool:
        """True if attention by products may add in half precision."""
        return self._values["_math_reduces_in_half"]

    def allow_fp16_bf16_reduction_math_sdp(self, enabled: bool) -> None:
        """Allows or forbids to add in half precision."""
        self._math_reduces_in_half = bool(enabled)

    def sdp_kernel(
        self,
        enable_flash: bool = True,
        enable_math: bool = True,
        enable_mem_efficient: bool = True,
        enable_cudnn: bool = True,
    ):
        """The older form of `nn.attention.sdpa_kernel`."""
        warnings.warn(
            "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, "
            "this context manager will be removed. Please see "
            "`torch.nn.attention.sdpa_kernel()` for the new context manager, "
            "with updated signature.",
            FutureWarning,
            stacklevel=2,
        )
        chosen = {
            SDPBackend.FLASH_ATTENTION: enable_flash,
            SDPBackend.EFFICIENT_ATTENTION: enable_mem_efficient,
            SDPBackend.MATH: enable_math,
            SDPBackend.CUDNN_ATTENTION: enable_cudnn,
        }
        return sdpa_kernel([kind for kind, on in chosen.items() if on])


class Cpu(Library):
    """The processor."""

    ways = staticmethod(ways)

    def get_cpu_capability(self) -> str:
        """The instruction set that kernels use, as "AVX512"."""
        from ..__config__ import cpu_capability

        return cpu_capability()
