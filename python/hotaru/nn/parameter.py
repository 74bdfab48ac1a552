"""Tensors that a `Module` collects by assignment."""

from __future__ import annotations

from collections import OrderedDict

from .. import _C, Tensor, empty
from .._C import _disabled_torch_function_impl
from .._overrides import DisableTorchFunctionSubclass
from .._own_names import own_root
from .._tensor.attributes import attributes_of


class _ParameterMeta(type(Tensor)):
    """Tensors of other classes count as instances once they are marked so."""

    def __instancecheck__(cls, instance) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        mark = cls.__dict__.get("_mark")
        if mark is None or not isinstance(instance, Tensor):
            return False
        return getattr(instance, mark, False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that is a module's parameter.

    Assigned as an attribute of a `Module` it joins `Module.parameters()`.

    Args:
        data: values, shared and not copied; an empty tensor when left out.
        requires_grad: whether gradients are accumulated; True also inside
            `no_grad()`. RuntimeError for integer data.

    Of a tensor of a subclass a parameter stays of that class: what its
    `detach()` gives, marked such that it counts as a Parameter. RuntimeError
    if that is of another class.
    """

    _mark = "_is_param"
    # Operators take it as a plain tensor.
    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True):
        if data is None:
            data = empty(0)
        kind = _C._answering_class(data)
        if kind is Tensor or issubclass(kind, Parameter):
            return Tensor._make_subclass(cls, data, requires_grad)
        made = _detached(data, "Parameter").requires_grad_(requires_grad)
        made._is_param = True
        return made

    def __deepcopy__(self, memo: dict) -> Parameter:
        key = id(self)
        if key not in memo:
            memo[key] = type(self)(self.data.clone(), self.requires_grad)
        return memo[key]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: int):
        # The empty mapping stands for backward hooks, which are not pickled.
        args = (self.data, self.requires_grad, OrderedDict())
        state = attributes_of(self)
        if state:
            return (_rebuild_parameter_with_state, (*args, state))
        return (_rebuild_parameter, args)


def _detached(data: Tensor, kind: str) -> Tensor:
    """The values of a tensor of a subclass, as one of it."""
    made = data.detach()
    if type(made) is not type(data):
        raise RuntimeError(
            f"Creating a {kind} from an instance of type {type(data).__name__} "
            "requires that detach() returns an instance of the same type, but "
            f"return type {type(made).__name__} was found instead. "
            "To use the type as a Parameter, please correct the detach() "
            "semantics defined by its __torch_dispatch__() implementation."
        )
    return made


class Buffer(Tensor, metaclass=_ParameterMeta):
    """Marks a tensor as a module's buffer: state that is not trained. Its
    class stays what it was; it is an instance by its mark.

    Args:
        data: values, shared and not copied; an empty tensor when left out.
        persistent: whether `Module.state_dict()` contains it.
    """

    __torch_function__ = _disabled_torch_function_impl
    _mark = "_is_buffer"

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True):
        if data is None:
            data = empty(0)
        buffer = data.detach().requires_grad_(data.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer


_NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This "
    "error usually happens in `load_state_dict` when trying to load an "
    "uninitialized parameter into an initialized one. Call `forward` to "
    "initialize the parameters before accessing their attributes."
)


# Attributes that may be asked for: where they are and of what kind.
_ALLOWED = frozenset(
    [
        "__get__",
        "__set__",
        "__hash__",
        "size",
        "copy_",
        "is_complex",
        "is_floating_point",
        "half",
        "float",
        "double",
        "char",
        "short",
        "int",
        "long",
        "cuda",
        "cpu",
        "to",
        "get_device",
        "_has_compatible_shallow_copy_type",
    ]
)


class UninitializedTensorMixin:
    """Base of parameters and buffers as long as no input has told their shape;
    values they have none.
    """

    @property
    def shape(self):
        raise RuntimeError(_NO_SHAPE)

    def materialize(self, shape, device=None, dtype=None) -> None:
        """Becomes what it stands for, of that shape, without values yet."""
        device = self.data.device if device is None else device
        dtype = self.data.dtype if dtype is None else dtype
        self.data = empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") not in _ALLOWED:
            raise ValueError(
                f"Attempted to use an uninitialized parameter in {func}. This "
                "error happens when you are using a `LazyModule` or explicitly "
                f"manipulating `torch.nn.parameter.{cls.__name__}` objects. "
                "When using LazyModules Call `forward` with a dummy batch to "
                "initialize the parameters before calling torch functions"
            )
        with DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    def share_memory_(self):
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. "
            "Call `forward` to initialize the parameters before calling "
            "`module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict):
        if id(self) not in memo:
            memo[id(self)] = self._another()
        return memo[id(self)]

    def __reduce_ex__(self, protocol: int):
        return type(self), (self.requires_grad, self.device, self.dtype)

    def _another(self):
        return type(self)(self.requires_grad, self.device, self.dtype)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape the first input will tell."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device=None, dtype=None):
        data = empty(0, device=device, dtype=dtype)
        return Tensor._make_subclass(cls, data, requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Buffer):
    """A buffer whose shape the first input will tell."""

    cls_to_become = Tensor

    def __new__(
        cls,
        requires_grad: bool = False,
        device=None,
        dtype=None,
        persistent: bool = True,
    ):
        data = empty(0, device=device, dtype=dtype)
        buffer = Tensor._make_subclass(cls, data, requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer


def is_lazy(param) -> bool:
    """Tells whether a parameter or buffer waits for its shape."""
    return isinstance(param, UninitializedTensorMixin)


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks):
    """Rebuilds a pickled parameter; `backward_hooks` belongs to the format."""
    param = Parameter(data, requires_grad)
    if backward_hooks:
        param._backward_hooks = backward_hooks
    return param


def _rebuild_parameter_with_state(
    data: Tensor, requires_grad: bool, backward_hooks, state
):
    """As `_rebuild_parameter`, then restores the instance attributes."""
    param = _rebuild_parameter(data, requires_grad, backward_hooks)
    param.__dict__.update(state)
    return param


for _function in (_rebuild_parameter, _rebuild_parameter_with_state):
    _function.__module__ = f"{own_root()}._utils"  # see there
