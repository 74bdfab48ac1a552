"""The methods of Tensor that are plain Python.

They are named here, and the files that have them are read when one of them is
called for the first time: few programs need more than some, and reading them
all would take longer than the rest of `import hotaru`.
"""

from __future__ import annotations

from .. import _C, _overrides
from .._C import Tensor, _late
from .._own_names import no_attribute

# By file; "type=_type" is the method `type`, which the file calls `_type`.
_METHODS = {
    "methods": "_is_view _is_zerotensor dense_dim sparse_dim __repr__ "
    "__format__ __array__ __array_wrap__ __dlpack__ __dlpack_device__ numpy "
    "backward requires_grad_ register_hook register_post_accumulate_grad_hook "
    "retain_grad new_tensor is_same_size is_conj is_neg module_load "
    "type=_type __rdiv__=_rdiv __dir__=_names",
    "elements": "__contains__ __reversed__ __complex__ "
    "__nonzero__ __long__ is_nonzero apply_ map_ map2_ fill_diagonal_ "
    "absolute_ negative_ float=cast_float "
    "double=cast_double half=cast_half bfloat16=cast_bfloat16 int=cast_int "
    "long=cast_long short=cast_short char=cast_char byte=cast_byte "
    "bool=cast_bool chalf=cast_chalf cfloat=cast_cfloat cdouble=cast_cdouble",
    "memory": "untyped_storage _typed_storage storage "
    "storage_type set_ is_set_to cuda record_stream get_device is_contiguous "
    "dim_order is_pinned pin_memory share_memory_ is_shared slice_inverse "
    "new=_new",
    "views": "_view_func _view_func_unsafe _rev_view_func_unsafe",
    "removed": "eig lstsq solve symeig reinforce resize "
    "resize_as is_distributed const_data_ptr",
    "sparse_names": "coalesce indices is_coalesced values "
    "crow_indices col_indices ccol_indices row_indices _indices _values _nnz "
    "_dimI _dimV _coalesced_ sparse_resize_ sparse_resize_and_clear_ "
    "resize_as_sparse_",
    "nested_names": "to_padded_tensor _nested_tensor_size "
    "_nested_tensor_strides _nested_tensor_storage_offsets",
}
# In packages above this one (`_late`).
_LENT = (
    "nonzero norm stft unique unique_consecutive lu to_dense to_sparse "
    "to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc "
    "sparse_mask smm sspaddmm hspmm to_mkldnn dequantize int_repr q_per_channel_axis "
    "q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point "
    "qscheme"
)
# Methods whose calls nobody else answers.
_UNSEEN = "__deepcopy__ __reduce_ex__ __setstate__"
# In-place forms of operators' second names.
_ALIASES = (
    "arctan2_=atan2_ divide_=div_ greater_=gt_ greater_equal_=ge_ less_=lt_ "
    "less_equal_=le_ multiply_=mul_ not_equal_=ne_ subtract_=sub_"
)
# Kinds of tensors and of devices that there are none of.
_NEVER = "is_ipu is_maia is_mps is_mtia is_vulkan is_xla is_xpu"


def _make_wrapper_subclass(cls, *args, **kwargs):
    """A tensor of the class without memory (`_dispatch.wrappers.make`)."""
    from .._late import lent

    return lent("make_wrapper")(cls, *args, **kwargs)


@classmethod
def _answer(cls, func, types, args=(), kwargs=None):
    """Layouts answer functions that take them and have no code for them."""
    from .._late import lent

    kwargs = kwargs or {}
    if kwargs.get("layout") is _C._mkldnn:
        lent("onednn_functions")  # whose import fills the table of answers
        return lent("onednn_kind").answer(func, args, kwargs)
    return lent("sparse_kind").answer(func, args, kwargs)


def _pairs(names: str):
    for name in names.split():
        name, _, inside = name.partition("=")
        yield name, inside or name


def _attach_methods() -> None:
    for file, names in _METHODS.items():
        for name, inside in _pairs(names):
            module = f"{__name__}.{file}"
            late = _late(module, inside, True, f"Tensor.{name}")
            setattr(Tensor, name, late)
    for name in _LENT.split():
        late = _late("hotaru._late", name, True, f"Tensor.{name}")
        setattr(Tensor, name, late)
    for name in _UNSEEN.split():
        late = _late(f"{__name__}.copying", name, False, f"Tensor.{name}")
        setattr(Tensor, name, late)
    Tensor.as_subclass = _late(
        _overrides.__name__, "as_subclass", False, "Tensor.as_subclass"
    )
    for name, other in _pairs(_ALIASES):
        setattr(Tensor, name, getattr(Tensor, other))
    Tensor._make_subclass = staticmethod(_C._make_subclass)
    Tensor._make_wrapper_subclass = staticmethod(_make_wrapper_subclass)
    Tensor.__torch_function__ = _overrides.default
    Tensor.__init_subclass__ = classmethod(_overrides.init_subclass)
    # Python 2's names, which PyTorch still has.
    Tensor.__div__ = Tensor.__truediv__
    Tensor.__idiv__ = Tensor.__itruediv__
    Tensor.__array_priority__ = 1000
    _C._SparseLayout.__torch_function__ = _answer


def _property(doc: str, get: str, put=None, delete=None) -> property:
    """Makes a property of functions among the methods; the text is given, as
    to look for it there would read the file.
    """
    parts = [
        name and _late(f"{__name__}.methods", name, False)
        for name in (get, put, delete)
    ]
    return property(*parts, doc)


def _attach_properties() -> None:
    never = property(lambda self: False)
    for name in _NEVER.split():
        setattr(Tensor, name, never)
    Tensor.is_mkldnn = property(
        lambda self: self.layout is _C._mkldnn,
        doc="True if the layout is `torch._mkldnn`.",
    )
    # Remains of the time when tensors and variables were two.
    Tensor.name = property(lambda self: None)
    Tensor.volatile = never
    for name, doc in (
        ("real", "The real part, a view; a real tensor itself."),
        ("imag", "The imaginary part of a complex tensor, a view."),
    ):
        put = _late(f"{__name__}.methods", f"_set_{name}", False)
        part = property(getattr(_C.ops, name), put, doc=doc)
        setattr(Tensor, name, part)
    Tensor._cdata = _property(
        "A number that names what the object stands for: as long as it lives "
        "its address, until `swap_tensors` makes it stand for something else.",
        "_cdata",
    )
    Tensor._backward_hooks = _property(
        "What `register_hook` was given, in order; None without hooks.",
        "_hooks",
        "_set_hooks",
        "_delete_hooks",
    )
    Tensor._grad_fn = _property(
        "The node that made it, as `grad_fn`.", "_node", None, "_delete_node"
    )
    Tensor.H = _property(
        "The conjugate of the transpose, of a matrix or a number.", "_adjoint_of_matrix"
    )
    Tensor.mH = _property(
        "The conjugate of the transpose, of each matrix of a batch.",
        "_adjoint_of_matrices",
    )
    Tensor.__cuda_array_interface__ = _property(
        "Where the values are in a GPU's memory, for other libraries.",
        "_cuda_array_interface",
    )
    for name in f"H mH real imag is_mkldnn {_NEVER}".split():
        setattr(Tensor, name, _overrides.asking(name, vars(Tensor)[name]))


_attach_methods()
_attach_properties()


def __getattr__(name: str):
    """Gives what pickles know here, and the functions behind the methods."""
    if not name.startswith("__"):
        # `from . import` would ask here for the files.
        from importlib import import_module

        for file in ("copying", "methods"):
            found = vars(import_module(f"{__name__}.{file}"))
            if name in found:
                return found[name]
    raise no_attribute(__name__, name)
