"""Operators of `torch.ops.aten` that check, and others by which PyTorch's
exported programs name what are methods and functions here.

`composed` defines one when it is first asked
for.
"""

from __future__ import annotations

from .. import _C
from .._functions.symbolic import sym_constrain_range, sym_constrain_range_for_size
from ..nn.functional._scaled import _grouped_mm


def _assert_scalar(self, assert_msg):
    if not self:
        raise RuntimeError(assert_msg)


def _then_token(check):
    """The functional form: the token it is given stands for having checked."""

    def kernel(*args):
        check(*args[:-1])
        return args[-1].clone()

    return kernel


def _of_booleans(self, name):
    if self.dtype is not _C.bool:
        raise RuntimeError(f"{name}: expected a tensor of bool, not {self.dtype}")
    return self


def _is_all_true(self):
    return _of_booleans(self, "_is_all_true").all()


def _is_any_true(self):
    return _of_booleans(self, "_is_any_true").any()


_BOUNDS = "(Scalar size, *, int? min=None, int? max=None) -> ()"
_BOUNDS_TOKEN = "(Scalar size, int? min, int? max, Tensor dep_token) -> Tensor"

DEFINED = {
    "_assert_scalar": ("(Scalar self, str assert_msg) -> ()", _assert_scalar),
    "_functional_assert_scalar": (
        "(Scalar self, str assert_msg, Tensor dep_token) -> Tensor",
        _then_token(_assert_scalar),
    ),
    "_is_all_true": ("(Tensor self) -> Tensor", _is_all_true),
    "_is_any_true": ("(Tensor self) -> Tensor", _is_any_true),
    "sym_constrain_range": (_BOUNDS, sym_constrain_range),
    "sym_constrain_range_for_size": (_BOUNDS, sym_constrain_range_for_size),
    "_functional_sym_constrain_range": (
        _BOUNDS_TOKEN,
        _then_token(
            lambda size, low, high: sym_constrain_range(size, min=low, max=high)
        ),
    ),
    "_functional_sym_constrain_range_for_size": (
        _BOUNDS_TOKEN,
        _then_token(
            lambda size, low, high: sym_constrain_range_for_size(
                size, min=low, max=high
            )
        ),
    ),
    "fill_diagonal_": (
        "(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
        lambda self, fill_value, wrap=False: self.fill_diagonal_(fill_value, wrap),
    ),
    "_grouped_mm": (
        "(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, "
        "ScalarType? out_dtype=None) -> Tensor",
        _grouped_mm,
    ),
}
