"""Answers of tensors of each kind about themselves: kinds x names.

A kind is a way to make a tensor that answers operators itself; a question is a
name of Tensor, with what it is called with. Of an error the class is compared,
of a result the kind, dtype, shape and numbers.
"""

from __future__ import annotations

import copy
import warnings

ROWS = [[1.0, 0.0, -2.0, 0.0], [0.0, 3.0, 0.5, 0.0]]


def _nested(lib, layout):
    parts = [lib.tensor([[1.0, -2.0]]), lib.tensor([[0.5, 3.0], [4.0, 5.0]])]
    return lib.nested.nested_tensor(parts, layout=layout)


def _masked(lib, layout=None):
    rows = lib.tensor(ROWS)
    mask = lib.tensor(ROWS) != 0
    if layout is not None:
        rows, mask = (rows.to_sparse(layout=layout), mask.to_sparse(layout=layout))
    return lib.masked.masked_tensor(rows, mask)


def _channels(lib):
    scales, points = lib.tensor([0.5, 0.25]), lib.tensor([0, 1])
    return lib.quantize_per_channel(lib.tensor(ROWS), scales, points, 0, lib.qint8)


def _compressed(lib, layout, *block):
    return lib.tensor(ROWS).to_sparse(layout=layout, blocksize=block or None)


def _distributed(lib, cut: bool):
    from importlib import import_module

    dist = import_module(f"{lib.__name__}.distributed")
    tensor = import_module(f"{lib.__name__}.distributed.tensor")
    mesh = import_module(f"{lib.__name__}.distributed.device_mesh")
    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    mesh = mesh.init_device_mesh("cpu", (1,))
    placement = tensor.Shard(0) if cut else tensor.Replicate()
    return tensor.distribute_tensor(lib.tensor(ROWS), mesh, [placement])


def _fake(lib):
    from importlib import import_module

    fakes = import_module(f"{lib.__name__}._subclasses.fake_tensor")
    return fakes.FakeTensorMode().from_tensor(lib.tensor(ROWS))


KINDS = {
    "coo": lambda lib: lib.tensor(ROWS).to_sparse(),
    "csr": lambda lib: _compressed(lib, lib.sparse_csr),
    "csc": lambda lib: _compressed(lib, lib.sparse_csc),
    "bsr": lambda lib: _compressed(lib, lib.sparse_bsr, 1, 2),
    "bsc": lambda lib: _compressed(lib, lib.sparse_bsc, 1, 2),
    "nested": lambda lib: _nested(lib, lib.strided),
    "jagged": lambda lib: _nested(lib, lib.jagged),
    "quantized": lambda lib: lib.quantize_per_tensor(
        lib.tensor(ROWS), 0.5, 8, lib.quint8
    ),
    "channels": _channels,
    "masked": _masked,
    "masked coo": lambda lib: _masked(lib, lib.sparse_coo),
    "masked csr": lambda lib: _masked(lib, lib.sparse_csr),
    "shard": lambda lib: _distributed(lib, True),
    "replicate": lambda lib: _distributed(lib, False),
    "fake": _fake,
}

# Attributes, and methods that are called without arguments.
ATTRIBUTES = """
    H T data device dtype grad grad_fn imag is_cpu is_cuda is_ipu is_leaf
    is_maia is_meta is_mkldnn is_mps is_mtia is_nested is_quantized is_sparse
    is_sparse_csr is_vulkan is_xla is_xpu itemsize layout mH mT name names
    nbytes ndim output_nr real requires_grad retains_grad shape volatile
    _backward_hooks _base _grad _version
""".split()  # noqa: SIM905
METHODS = """
    __bool__ __complex__ __dir__ __float__ __hash__ __index__ __int__ __len__
    _indices _is_view _is_zerotensor _nnz _values adjoint
    bfloat16 bool byte ccol_indices cdouble cfloat chalf char clone coalesce
    col_indices conj conj_physical contiguous cpu crow_indices data_ptr
    dense_dim dequantize detach detach_ dim dim_order double element_size
    float get_device half has_names indices int int_repr is_coalesced
    is_complex is_conj is_contiguous is_distributed is_floating_point
    is_inference is_neg is_nonzero is_pinned is_shared is_signed item long
    ndimension nelement numel q_per_channel_axis q_per_channel_scales
    q_per_channel_zero_points q_scale q_zero_point qscheme requires_grad_
    resolve_conj resolve_neg retain_grad row_indices short size
    sparse_dim storage_offset stride t tolist type values
""".split()  # noqa: SIM905
# Functions of the tensor alone, and of it beside others.
QUESTIONS = {
    "size(0)": lambda lib, x: x.size(0),
    "size(-1)": lambda lib, x: x.size(-1),
    "size(5)": lambda lib, x: x.size(5),
    "stride(0)": lambda lib, x: x.stride(0),
    "stride(-1)": lambda lib, x: x.stride(-1),
    "is_tensor": lambda lib, x: lib.is_tensor(x),
    "is_storage": lambda lib, x: lib.is_storage(x),
    "torch.is_complex": lambda lib, x: lib.is_complex(x),
    "torch.is_floating_point": lambda lib, x: lib.is_floating_point(x),
    "torch.is_conj": lambda lib, x: lib.is_conj(x),
    "torch.is_neg": lambda lib, x: lib.is_neg(x),
    "torch.is_nonzero": lambda lib, x: lib.is_nonzero(x),
    "torch.is_inference": lambda lib, x: lib.is_inference(x),
    "torch.is_signed": lambda lib, x: lib.is_signed(x),
    "torch.is_distributed": lambda lib, x: lib.is_distributed(x),
    "torch.is_same_size": lambda lib, x: lib.is_same_size(x, x),
    "torch.numel": lambda lib, x: lib.numel(x),
    "torch.get_device": lambda lib, x: lib.get_device(x),
    "torch.typename": lambda lib, x: lib.typename(x),
    "torch.resolve_conj": lambda lib, x: lib.resolve_conj(x),
    "torch.resolve_neg": lambda lib, x: lib.resolve_neg(x),
    "torch.conj": lambda lib, x: lib.conj(x),
    "torch.real": lambda lib, x: lib.real(x),
    "torch.detach": lambda lib, x: lib.detach(x),
    "torch.clone": lambda lib, x: lib.clone(x),
    "is_same_size": lambda lib, x: x.is_same_size(x),
    "is_set_to": lambda lib, x: x.is_set_to(x),
    "result_type": lambda lib, x: lib.result_type(x, x),
    "result_type of a number": lambda lib, x: lib.result_type(x, 1.5),
    "result_type beside": lambda lib, x: lib.result_type(
        x, lib.ones(2, dtype=lib.float64)
    ),
    "can_cast": lambda lib, x: lib.can_cast(x.dtype, lib.float64),
    "type(name)": lambda lib, x: x.type("torch.DoubleTensor"),
    "type_as": lambda lib, x: x.type_as(x),
    "is x": lambda lib, x: x.to(x.dtype) is x,
    "is contiguous x": lambda lib, x: x.contiguous() is x,
    "is cpu x": lambda lib, x: x.cpu() is x,
    "is real x": lambda lib, x: x.real is x,
    "is resolved x": lambda lib, x: x.resolve_conj() is x,
    "detached": lambda lib, x: x.requires_grad_().detach().requires_grad,
    "wanted": lambda lib, x: x.requires_grad_().requires_grad,
    "leaf": lambda lib, x: x.requires_grad_().is_leaf,
    "clone of wanted": lambda lib, x: x.requires_grad_().clone().grad_fn is not None,
    "hook": lambda lib, x: x.requires_grad_().register_hook(print) is not None,
    "hook after": lambda lib, x: (
        x.requires_grad_().register_post_accumulate_grad_hook(print) is not None
    ),
    "hook of none": lambda lib, x: x.register_hook(print),
    "set attribute": lambda lib, x: setattr(x, "own", 3) or x.own,
    "set grad": lambda lib, x: setattr(x, "grad", None) or x.grad,
    "set requires_grad": lambda lib, x: (
        setattr(x, "requires_grad", True) or x.requires_grad
    ),
    "has shape": lambda lib, x: hasattr(x, "shape"),
    "has nothing": lambda lib, x: hasattr(x, "nothing_of_the_kind"),
    "isinstance": lambda lib, x: isinstance(x, lib.Tensor),
    "isinstance float": lambda lib, x: isinstance(x, lib.FloatTensor),
    "parameter": lambda lib, x: lib.nn.Parameter(x).requires_grad,
    "in dict": lambda lib, x: {x: 1}[x],
    "hash": lambda lib, x: hash(x) == id(x),
    "shallow copy": lambda lib, x: copy.copy(x).dtype,
    "deep copy": lambda lib, x: copy.deepcopy(x),
    "copied attribute": lambda lib, x: setattr(x, "own", [1]) or copy.deepcopy(x).own,
    "copied leaf": lambda lib, x: copy.deepcopy(x.requires_grad_()),
    "copied result": lambda lib, x: copy.deepcopy(x.requires_grad_().clone()),
    "data is set": lambda lib, x: setattr(x, "data", x.data) or x.dtype,
    "broadcast_tensors": lambda lib, x: len(lib.broadcast_tensors(x, x)),
    "unsafe_chunk": lambda lib, x: len(lib.unsafe_chunk(x, 2)),
    "has_names": lambda lib, x: x.has_names(),
    "len": lambda lib, x: len(x),
    "iter": lambda lib, x: len(list(x)),
    "untyped_storage": lambda lib, x: x.untyped_storage().nbytes() > 0,
    "storage": lambda lib, x: x.storage() is not None,
    "storage_type": lambda lib, x: x.storage_type().__name__,
    "is_autocast": lambda lib, x: lib.is_autocast_enabled("cpu"),
    "repr": lambda lib, x: isinstance(repr(x), str),
    "format": lambda lib, x: isinstance(f"{x}", str),
    "is_contiguous(format)": lambda lib, x: x.is_contiguous(
        memory_format=lib.contiguous_format
    ),
    "to(device)": lambda lib, x: x.to("cpu") is x,
    "in": lambda lib, x: 3.0 in x,
    "greater": lambda lib, x: x.greater(1.0),
    "less_equal": lambda lib, x: x.less_equal(1.0),
    "flipud": lambda lib, x: x.flipud(),
    "rot90": lambda lib, x: x.rot90(),
    "moveaxis": lambda lib, x: x.moveaxis(0, 1),
    "expand_as": lambda lib, x: x.expand_as(x),
    "reshape_as": lambda lib, x: x.reshape_as(x),
    "ravel": lambda lib, x: x.ravel(),
    "positive": lambda lib, x: +x,
    "isfinite": lambda lib, x: x.isfinite(),
    "rows": lambda lib, x: x[0],
    "slice": lambda lib, x: x[:1],
    "negated": lambda lib, x: -x,
    "twice": lambda lib, x: x + x,
    "added in place": lambda lib, x: x.add_(x),
    "grad mode": lambda lib, x: lib.no_grad()(lambda: x.requires_grad)(),
}

_PLAIN_VALUES = (bool, int, float, complex, str, type(None))
_NOT_SHOWN = frozenset(["__dir__", "__hash__", "data_ptr"])


def said(lib, value):
    """A result as plain data that says what kind of thing it is."""
    if isinstance(value, lib.Tensor):
        return _of_tensor(lib, value)
    if isinstance(value, (list, tuple)):
        return [said(lib, item) for item in value]
    if type(value) not in (int, bool) and isinstance(value, (int, lib.SymInt)):
        return "a ragged size"
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, _PLAIN_VALUES):
        return value
    known = (lib.dtype, lib.layout, lib.device)
    if isinstance(value, known) or type(value).__name__ == "qscheme":
        return str(value)
    return type(value).__name__


def _of_tensor(lib, x):
    kind = type(x).__name__
    if kind not in ("MaskedTensor", "DTensor", "FakeTensor"):
        kind = "nested" if x.is_nested else "Tensor"
    shape = x.dim() if x.is_nested else list(x.shape)
    found = [kind, str(x.layout), str(x.dtype), shape, x.requires_grad]
    return [*found, _numbers(x, kind)]


def _numbers(x, kind):
    x = x.detach()
    if kind == "MaskedTensor":
        x = x.to_dense()
        return [x.get_data().tolist(), x.get_mask().tolist()]
    if kind == "DTensor":
        return x.full_tensor().tolist()
    if kind == "FakeTensor":
        return list(x.stride())
    if x.is_nested:
        return [part.tolist() for part in x.unbind()]
    if x.is_quantized:
        return x.dequantize().tolist()
    x = x.to_dense() if str(x.layout) != "torch.strided" else x
    numbers = x.tolist()
    return str(numbers) if x.is_complex() else numbers


def _case(make, ask, shown: bool = True):
    def case(lib):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x = make(lib)
            try:
                found = ask(lib, x)
                return said(lib, found) if shown else "there"
            except Exception as error:
                return ["raises", type(error).__name__]

    return case


def _read(name: str):
    return lambda lib, x: getattr(x, name)


def _called(name: str):
    return lambda lib, x: getattr(x, name)()


def _all():
    for kind, make in KINDS.items():
        for name in ATTRIBUTES:
            yield f"{kind}: .{name}", _case(make, _read(name))
        for name in METHODS:
            shown = name not in _NOT_SHOWN
            yield f"{kind}: {name}()", _case(make, _called(name), shown)
        for name, ask in QUESTIONS.items():
            yield f"{kind}: {name}", _case(make, ask)


CASES = dict(_all())
