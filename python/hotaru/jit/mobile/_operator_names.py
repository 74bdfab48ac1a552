"""Names that PyTorch's interpreter has for operators of the language.

Here one operator serves lists and dicts of all types; there one is written for each
type, with the type in its name.
"""

from __future__ import annotations

from ..._types import DictType, ListType

# Where the key's type stands in the name: `len.Dict_int`, `keys.int`.
_DICT = {
    "len": "Dict_{}",
    "__getitem__": "Dict_{}",
    "Delete": "Dict_{}",
    "pop.Dict": "Dict_{}",
    "pop.Dict_default": "Dict_default_{}",
    "copy": "Dict_{}",
    "dict.Dict": "Dict_{}",
    "dict.pairs": "{}",
    "__contains__": "{}",
    "get.Dict": "{}",
    "get.default_Dict": "default_{}",
    "keys": "{}",
    "values": "{}",
    "items": "{}",
    "_set_item": "{}",
    "popitem": "{}",
    "setdefault": "{}",
    "update": "{}",
    "clear": "{}",
}
_LIST = {
    "__contains__.t": "{}_list",
    "eq.t": "{}_list",
    "ne.t": "{}_list",
    "index.list": "list_{}",
    "count.list": "{}",
    "remove.t": "{}",
    "sort.t": "{}",
    "sorted.t": "{}",
}
# Overloads of numbers and texts that are one operator there.
_ONE = {
    "aten::hex.int": ("aten::hex", ""),
    "aten::oct.int": ("aten::oct", ""),
    "aten::bin.int": ("aten::bin", ""),
    "aten::div.int_float": ("aten::div", ""),
    "aten::div.float_int": ("aten::div", ""),
    "aten::device.str": ("aten::device", ""),
    "aten::index.device": ("prim::index", ""),
    "prim::index.device": ("prim::index", ""),
    "aten::grad.attribute": ("prim::grad", ""),
    "prim::grad.attribute": ("prim::grad", ""),
    "aten::ndimension": ("aten::dim", ""),
    "aten::nelement": ("aten::numel", ""),
    "aten::scalar_to_tensor": ("prim::NumToTensor", "Scalar"),
    "aten::NumToTensor": ("prim::NumToTensor", "Scalar"),
    "prim::NumToTensor": ("prim::NumToTensor", "Scalar"),
    "aten::hash": ("aten::hash", "generic"),
}
# Conversions of a value to the type it has.
SAME = ("aten::Int.int", "aten::Float.float", "aten::Bool.bool")

# Overloads that PyTorch has, of operators that have others here.
_THERE = {
    "aten::Bool": "Tensor int float",
    "aten::Complex": (
        "Scalar Tensor_Tensor int_bool bool_int float_bool bool_float float_int "
        "int_float int_int bool_bool float_float Tensor_float float_Tensor Tensor_int "
        "int_Tensor Tensor_bool bool_Tensor"
    ),
    "aten::__contains__": (
        "int_list float_list str_list str int bool float complex Tensor"
    ),
    "aten::div": "- Tensor Scalar Tensor_mode Scalar_mode int complex float",
    "aten::pow": (
        "Tensor_Tensor Tensor_Scalar Scalar int complex float int_float float_int "
        "float_complex complex_float Scalar_Scalar int_to_int"
    ),
    "aten::count": "- int float bool Tensor str",
    "aten::index": (
        "Tensor Tensor_hacked_twin str list_int list_float list_bool list_Tensor "
        "list_str"
    ),
    "aten::remove": "int float bool Tensor str",
    "aten::sort": "- stable values values_stable int float Tensor bool str any",
    "aten::sorted": "int float Tensor bool str any",
    "prim::max": (
        "- int float int_float float_int int_list float_list bool_list self_int "
        "self_float self_bool"
    ),
    "prim::is_autocast_enabled": "",
}
_THERE["prim::min"] = _THERE["prim::max"]
_THERE["aten::is_autocast_enabled"] = "-"
for _name in ("aten::eq", "aten::ne"):
    _THERE[_name] = (
        "- Tensor Scalar int_list float_list Tensor_list bool_list str_list device "
        "bool enum int complex float int_float float_int float_complex complex_float "
        "str"
    )
# Key types of dicts there.
_KEYS = ("str", "int", "bool", "float", "complex", "Tensor")

# Operators that hotaru alone has, or that do something else there.
_MISSING = (
    "aten::popitem.Dict",  # the first pair
    "aten::dict.pairs",
    "aten::angle_",
    "aten::fmax_",
    "aten::fmin_",
    "aten::isinf_",
    "aten::isnan_",
    "aten::maximum_",
    "aten::minimum_",
    "aten::trigamma",
    "aten::trigamma_",
    "aten::_set_autocast",
    "aten::is_tracing",
    "aten::eq.any",
    "aten::ne.any",
    "aten::removeprefix",
    "aten::removesuffix",
    "aten::casefold",
    "aten::isascii",
    "aten::mul.str_int",
    "aten::trunc.float",
    "aten::bitwise_not.int",
    "aten::call_foreign",
)


def name_of(signature: str, types: list) -> tuple[str, str]:
    """Name and overload, such as `("aten::add", "Tensor")`.

    Args:
        signature: the operator's, as graphs have it: "aten::add.Tensor(...) -> ...".
        types: of its inputs, in order.

    NotImplementedError: PyTorch's interpreter has none that does the same.
    """
    whole = signature.partition("(")[0]
    name, _, overload = whole.partition(".")
    space, _, base = name.rpartition("::")
    if whole in _ONE:
        return _ONE[whole]
    first = types[0] if types else None
    forms = (_DICT, f"{base}.{overload}", base) if "Dict" in overload else None
    if base == "dict" and overload == "pairs":
        forms = (_DICT, f"{base}.{overload}", base)
    if forms is not None:
        form = forms[0].get(forms[1]) or forms[0].get(forms[2])
        key = _key_type(first)
        if form and key in _KEYS and whole not in _MISSING:
            return name, form.format(key)
        raise _none(whole)
    if f"{base}.{overload}" in _LIST and isinstance(first, ListType):
        element = first.getElementType().annotation_str
        overload = _LIST[f"{base}.{overload}"].format(element)
        if overload not in _THERE[name].split() and base.startswith("sort"):
            overload = "any"
    elif whole == "aten::Complex":
        overload = "_".join(type.annotation_str for type in types)
    if base in ("tensor", "as_tensor") and "Union[" in first.annotation_str:
        raise _none(f"{whole} of {first.annotation_str}")
    if whole in _MISSING or space not in ("aten", "prim"):
        raise _none(whole)
    if name in _THERE and (overload or "-") not in _THERE[name].split():
        raise _none(whole)
    return name, overload


def _none(whole: str) -> NotImplementedError:
    return NotImplementedError(
        f"_save_for_lite_interpreter: '{whole}' has no instruction in PyTorch's "
        "interpreter for mobile devices; write the program without it, or save "
        "it with torch.jit.save"
    )


def _key_type(type) -> str | None:
    if isinstance(type, DictType):
        return type.getKeyType().annotation_str
    if isinstance(type, ListType):  # of pairs, from which a dict is made
        parts = type.getElementType().containedTypes()
        return parts[0].annotation_str if parts else None
    return None
