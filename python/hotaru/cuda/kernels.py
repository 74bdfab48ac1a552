"""Kernels of a program's own, compiled from CUDA source text by NVRTC.

A launch is a call like any operator's: it keeps its order with whatever else
uses its tensors, on all streams, and becomes part of graphs.
"""

from __future__ import annotations

from .. import _C
from ._begin import begin as _lazy_init
from .devices import get_device_properties

__all__ = ["compile_kernel"]

_CONFIGURED = 48 * 1024  # from here on shared memory has to be configured
_READ, _WRITE, _BOTH = 0, 1, 2  # the numbers of C++'s Access


def _sizes(name: str, given) -> tuple[int, int, int]:
    """Three sizes, whatever was given."""
    given = (given,) if isinstance(given, int) else tuple(given)
    if not 1 <= len(given) <= 3:
        raise ValueError(f"{name} must have one to three sizes, but got {given}")
    given += (1,) * (3 - len(given))
    if any(not 0 <= n < 2**32 for n in given):
        raise ValueError(f"{name} must not be negative, but got {given}")
    return given


def _named(what: str, given, args: tuple) -> set[int]:
    """Positions of arguments that are named by position or as tensors."""
    out = set()
    for one in given:
        if isinstance(one, int):
            where = [one] if -len(args) <= one < len(args) else []
            where = [i % len(args) for i in where]
        else:
            where = [i for i, arg in enumerate(args) if arg is one]
        if not where:
            raise ValueError(f"{what}: {one!r} is no argument of the kernel")
        out.update(where)
    return out


def _access(args: tuple, reads, writes) -> list[int]:
    """Lists what the kernel does to each argument; nothing if nobody said."""
    if not reads and not writes:
        return []
    read = _named("reads", reads, args)
    written = _named("writes", writes, args)
    out = []
    for i in range(len(args)):
        if i in written:
            out.append(_BOTH if not reads or i in read else _WRITE)
        elif i in read or not reads:
            out.append(_READ)
        else:
            out.append(_BOTH)
    return out


class _CudaKernel:
    """A compiled kernel; call it to launch it."""

    def __init__(self, kernel, reads, writes) -> None:
        self._kernel = kernel
        self._reads = reads
        self._writes = writes
        self._most_shared = 0
        # Positions mean the same in every call of as many arguments.
        self._by_count: dict[int, list[int]] = {}
        self._positions = all(isinstance(i, int) for i in (*reads, *writes))

    def __repr__(self) -> str:
        return f"<CUDA kernel {self._kernel.name}>"

    def __call__(
        self,
        grid=(1, 1, 1),
        block=(1, 1, 1),
        args=None,
        shared_mem: int = 0,
        stream=None,
        *,
        reads=None,
        writes=None,
    ) -> None:
        """Launches it on the current stream of its tensors' device.

        Args:
            grid: how many blocks, in up to three dimensions.
            block: how many threads a block has, likewise.
            args: the kernel's parameters. A tensor is passed as the address
                of its first element, an int or a bool as a 32-bit int, a
                float as a double; scalars of numpy and of ctypes, structures
                too, as they are.
            shared_mem: bytes of dynamic shared memory.
            stream: another stream of that device.
            reads, writes: as in `compile_kernel`, in place of what was said
                there.
        """
        args = tuple(args or ())
        if reads is None and writes is None and self._positions:
            access = self._by_count.get(len(args))
            if access is None:
                access = _access(args, self._reads, self._writes)
                self._by_count[len(args)] = access
        else:
            access = _access(
                args,
                self._reads if reads is None else reads,
                self._writes if writes is None else writes,
            )
        if shared_mem >= _CONFIGURED and shared_mem > self._most_shared:
            now = (
                f"only {self._most_shared} bytes configured"
                if self._most_shared
                else "not configured"
            )
            raise RuntimeError(
                f"Kernel requires {shared_mem} bytes of shared memory "
                f"(>= 48KB), but {now}. "
                "Call kernel.set_shared_memory_config(shared_mem) after "
                "compilation and before launching the kernel."
            )
        _C._cuda_launch_kernel(
            self._kernel,
            _sizes("grid", grid),
            _sizes("block", block),
            args,
            access,
            shared_mem,
            stream,
        )

    def set_shared_memory_config(self, shared_mem_bytes: int) -> None:
        """Lets launches have so many bytes of shared memory; needed from
        48 KiB on.
        """
        if shared_mem_bytes >= _CONFIGURED:
            props = get_device_properties(_C._cuda_current_device())
            most = props.shared_memory_per_block_optin
            if shared_mem_bytes > most:
                raise RuntimeError(
                    f"Requested shared memory ({shared_mem_bytes} bytes) "
                    f"exceeds device limit ({most} bytes). "
                    "Consider reducing block size or shared memory usage."
                )
        self._most_shared = shared_mem_bytes


def compile_kernel(
    source: str,
    name: str,
    *,
    reads=(),
    writes=(),
    header_code: str = "",
    compute_capability: str | None = None,
    cuda_include_dirs: list | None = None,
    nvcc_options: list | None = None,
) -> _CudaKernel:
    """Compiles a kernel from CUDA source text, for the current device.

    What was compiled is kept on disk, so that other processes need not.

    Args:
        source: the text. CUDA's own headers are found where they are
            installed.
        name: of the ``__global__`` function, or of a template with its
            arguments: ``"scale<float>"``.
        reads, writes: arguments that the kernel only reads, and those that it
            writes, as positions or, in a call, as tensors. With `writes`
            alone all others are only read; with both, what is named in
            `writes` alone is written as a whole. Without either every tensor
            counts as read and written.
        header_code: text that goes before `source` and does not count as its
            lines.
        compute_capability: what to compile for, e.g. ``"90a"``, in place of
            the device's own.
        cuda_include_dirs: further folders of headers. Kernels that have some,
            or include files in quotes, are compiled each time.
        nvcc_options: options of NVRTC.

    Raises:
        RuntimeError: the text does not compile, with the compiler's log; or
            there is no NVRTC.
    """
    _lazy_init()
    if header_code:
        source = f'{header_code}\n#line 1 "{name}.cu"\n{source}'
    kernel = _C._cuda_compile_kernel(
        source,
        name,
        compute_capability or "",
        [str(folder) for folder in cuda_include_dirs or ()],
        list(nvcc_options or ()),
        _C._cuda_current_device(),
    )
    return _CudaKernel(kernel, reads, writes)


def _compile_kernel(
    kernel_source: str,
    kernel_name: str,
    compute_capability: str | None = None,
    cuda_include_dirs: list | None = None,
    nvcc_options: list | None = None,
    *,
    header_code: str = "",
) -> _CudaKernel:
    """PyTorch's name for `compile_kernel`."""
    return compile_kernel(
        kernel_source,
        kernel_name,
        header_code=header_code,
        compute_capability=compute_capability,
        cuda_include_dirs=cuda_include_dirs,
        nvcc_options=nvcc_options,
    )
