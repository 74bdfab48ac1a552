"""Memory shared with other libraries: DLPack, and CUDA's array interface."""

from __future__ import annotations

from .. import _C

__all__ = ["cuda_array_interface", "dlpack", "dlpack_device", "from_cuda_array"]

# DLPack's numbers of device types.
_CPU, _CUDA = 1, 2

_TYPESTR = {
    "bool": "|b1",
    "uint8": "|u1",
    "int8": "|i1",
    "int16": "<i2",
    "int32": "<i4",
    "int64": "<i8",
    "float16": "<f2",
    "float32": "<f4",
    "float64": "<f8",
    "complex64": "<c8",
    "complex128": "<c16",
}


def dlpack_device(self) -> tuple[int, int]:
    """(device type, index) in DLPack's numbers; ValueError on meta."""
    if self.is_meta:
        raise ValueError("Unknown device type meta for Dlpack")
    return (_CUDA, self.device.index) if self.is_cuda else (_CPU, 0)


def dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A capsule of DLPack, versioned for who knows version 1.

    Args:
        stream: of a CUDA tensor the stream that will use it, as a number; its
            work comes after this tensor's. None or 1: the default stream, -1:
            the caller sees to the order.
        max_version: what the consumer knows.
        dl_device: where it has to be; only where it is.
        copy: True for memory of its own.

    BufferError where the tensor requires grad or for another device, TypeError
    for a stream that is no number.
    """
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    _check_exported(self)
    if dl_device not in (None, dlpack_device(self)):
        raise BufferError(
            f"__dlpack__: the tensor is on {self.device}, device {dl_device} "
            "was asked for"
        )
    if self.is_cuda:
        _let_follow(stream, self.device.index)
    elif stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    exported = _C._to_dlpack(self.clone() if copy else self)
    return exported.__dlpack__(max_version=max_version)


def _check_exported(tensor) -> None:
    """BufferError for what a consumer could not read off the bare memory."""
    if tensor.layout is not _C.strided:
        raise BufferError("Can't export tensors with layout other than torch.strided")
    if tensor.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set")
    if tensor.is_meta:
        raise BufferError("Cannot pack tensors on meta")
    if tensor.is_quantized:
        raise BufferError("QUInt/QInt types are not supported by dlpack")


def _let_follow(stream, index: int) -> None:
    """Makes a stream of another library's follow the current one."""
    if stream == -1:
        return
    if stream == 0:
        raise BufferError("__dlpack__: stream 0 is ambiguous, use 1, 2 or -1")
    ours = _C._current_stream(_C.device("cuda", index))
    theirs = _C._cuda_external_stream(index, 0 if stream in (None, 1) else stream)
    if theirs != ours:
        theirs.wait_stream(ours)


def cuda_array_interface(self) -> dict:
    """The tensor as CUDA's array interface, version 2, describes it.

    AttributeError for a tensor on another device, RuntimeError for one that
    requires grad.
    """
    if not self.is_cuda:
        raise AttributeError(
            "Can't get __cuda_array_interface__ on non-CUDA tensor type: "
            f"{self.type()} If CUDA data is required use tensor.cuda() to copy "
            "tensor to device memory."
        )
    if self.requires_grad:
        raise RuntimeError(
            "Can't get __cuda_array_interface__ on Variable that requires "
            "grad. If gradients aren't required, use var.detach() to get "
            "Variable that doesn't require grad."
        )
    name = str(self.dtype).split(".")[-1]
    if name not in _TYPESTR:
        raise TypeError(
            f"__cuda_array_interface__ has no name for elements of {self.dtype}"
        )
    strides = tuple(s * self.element_size() for s in self.stride())
    return {
        "typestr": _TYPESTR[name],
        "shape": tuple(self.shape),
        "strides": None if self.is_contiguous() else strides,
        "data": (self.data_ptr() if self.numel() else 0, False),
        "version": 2,
    }


def from_cuda_array(array):
    """A tensor over the memory of an object with CUDA's array interface.

    ValueError for an address that is not on a CUDA device, TypeError for
    elements that tensors cannot have.
    """
    described = array.__cuda_array_interface__
    typestr = described["typestr"]
    for name, known in _TYPESTR.items():
        if known[1:] == typestr[1:] and typestr[0] in "<|=":
            dtype = getattr(_C, name)
            break
    else:
        raise TypeError(f"tensors have no elements of type {typestr!r}")
    if described.get("mask") is not None:
        raise TypeError("arrays with a mask are not supported")
    stream = described.get("stream")
    if stream:  # None, or a stream whose work comes first
        _C._cuda_external_stream(
            _C._cuda_current_device(), 0 if stream == 1 else stream
        ).synchronize()
    return _C._from_device_memory(
        described["data"][0], described["shape"], described.get("strides"), dtype, array
    )
