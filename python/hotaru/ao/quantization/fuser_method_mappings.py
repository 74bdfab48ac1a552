"""How sequences of modules become one."""

from __future__ import annotations

import itertools
from typing import Any, Callable

from ... import nn
from ...nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval
from ..nn import intrinsic as nni
from .utils import MatchAllNode, get_combined_dict

__all__ = [
    "fuse_conv_bn",
    "fuse_conv_bn_relu",
    "fuse_convtranspose_bn",
    "fuse_linear_bn",
    "get_fuser_method",
    "get_fuser_method_new",
]


def _check_modes(*modules) -> None:
    if len({m.training for m in modules}) > 1:
        names = {2: "Conv and BN both", 3: "Conv, BN and ReLU all"}
        raise AssertionError(
            f"{names[len(modules)]} must be in the same mode (train or eval)."
        )


def fuse_conv_bn(is_qat, conv, bn):
    """A convolution and a norm as one: with the norm within the weights
    outside of training.
    """
    _check_modes(conv, bn)
    kinds = {nn.Conv1d: nni.ConvBn1d, nn.Conv2d: nni.ConvBn2d, nn.Conv3d: nni.ConvBn3d}
    if not is_qat:
        return fuse_conv_bn_eval(conv, bn)
    _check_norm(conv, bn)
    kind = kinds.get(type(conv))
    if kind is None:
        raise NotImplementedError(f"Cannot fuse train modules: {(conv, bn)}")
    return kind(conv, bn)


def _check_norm(conv, bn) -> None:
    if bn.num_features != conv.out_channels:
        raise AssertionError(
            "Output channel of Conv2d must match num_features of BatchNorm2d."
        )
    if not bn.affine:
        raise AssertionError("Only support fusing BatchNorm2d with affine set to True")
    if not bn.track_running_stats:
        raise AssertionError(
            "Only support fusing BatchNorm2d with tracking_running_stats set to True"
        )


def fuse_conv_bn_relu(is_qat, conv, bn, relu):
    """A convolution, a norm and a rectifier as one."""
    _check_modes(conv, bn, relu)
    trained = {
        nn.Conv1d: nni.ConvBnReLU1d,
        nn.Conv2d: nni.ConvBnReLU2d,
        nn.Conv3d: nni.ConvBnReLU3d,
    }
    evaluated = {
        nn.Conv1d: nni.ConvReLU1d,
        nn.Conv2d: nni.ConvReLU2d,
        nn.Conv3d: nni.ConvReLU3d,
    }
    kinds = trained if is_qat else evaluated
    if is_qat:
        _check_norm(conv, bn)
    kind = kinds.get(type(conv))
    if kind is None:
        mode = "train" if is_qat else "eval"
        raise NotImplementedError(f"Cannot fuse {mode} modules: {(conv, bn, relu)}")
    if is_qat:
        return kind(conv, bn, relu)
    return kind(fuse_conv_bn_eval(conv, bn), relu)


def fuse_linear_bn(is_qat, linear, bn):
    """A linear map and a norm as one."""
    if linear.training != bn.training:
        raise AssertionError(
            "Linear and BN both must be in the same mode (train or eval)."
        )
    if not is_qat:
        return fuse_linear_bn_eval(linear, bn)
    if bn.num_features != linear.out_features:
        raise AssertionError(
            "Output features of Linear must match num_features of BatchNorm1d"
        )
    if not bn.affine:
        raise AssertionError("Only support fusing BatchNorm1d with affine set to True")
    if not bn.track_running_stats:
        raise AssertionError(
            "Only support fusing BatchNorm1d with tracking_running_stats set to True"
        )
    return nni.LinearBn1d(linear, bn)


def fuse_convtranspose_bn(is_qat, convt, bn):
    """A transposed convolution with a norm within its weights; not trained."""
    if convt.training != bn.training:
        raise AssertionError(
            "ConvTranspose and BN both must be in the same mode (train or eval)."
        )
    if is_qat:
        raise Exception("Fusing ConvTranspose+BatchNorm not yet supported in QAT.")
    return fuse_conv_bn_eval(convt, bn, transpose=True)


def _sequential_wrapper2(sequential) -> Callable:
    """A fuser that puts two modules into a class of sequences."""

    def fuser_method(is_qat, m1, m2):
        return sequential(m1, m2)

    return fuser_method


_DEFAULT_OP_LIST_TO_FUSER_METHOD: dict[tuple, Any] = {
    (nn.Linear, nn.ReLU): _sequential_wrapper2(nni.LinearReLU),
    (nn.Linear, nn.BatchNorm1d): fuse_linear_bn,
    (nn.BatchNorm2d, nn.ReLU): _sequential_wrapper2(nni.BNReLU2d),
    (nn.BatchNorm3d, nn.ReLU): _sequential_wrapper2(nni.BNReLU3d),
}
for _n in (1, 2, 3):
    _conv, _norm, _transposed = (
        getattr(nn, f"{name}{_n}d") for name in ("Conv", "BatchNorm", "ConvTranspose")
    )
    _DEFAULT_OP_LIST_TO_FUSER_METHOD.update(
        {
            (_conv, _norm): fuse_conv_bn,
            (_conv, _norm, nn.ReLU): fuse_conv_bn_relu,
            (_conv, nn.ReLU): _sequential_wrapper2(getattr(nni, f"ConvReLU{_n}d")),
            (_transposed, _norm): fuse_convtranspose_bn,
        }
    )


def _no_fuser(classes) -> AssertionError:
    return AssertionError(f"did not find fuser method for: {classes} ")


def get_fuser_method(op_list, additional_fuser_method_mapping=None):
    """The fuser of a tuple of classes: (is_qat, *modules) -> module.

    AssertionError for one that is not known.
    """
    mapping = get_combined_dict(
        _DEFAULT_OP_LIST_TO_FUSER_METHOD, additional_fuser_method_mapping or {}
    )
    found = mapping.get(op_list)
    if found is None:
        raise _no_fuser(op_list)
    return found


def _get_valid_patterns(op_pattern) -> list:
    """A pattern and those that have `MatchAllNode` in some of its places."""
    if not isinstance(op_pattern, (tuple, list)):
        return [op_pattern, MatchAllNode]
    parts = [_get_valid_patterns(p) for p in op_pattern]
    return [*itertools.product(*parts), MatchAllNode]


def get_fuser_method_new(op_pattern, fuser_method_mapping: dict):
    """The fuser of a pattern, where a mapping may say `MatchAllNode`."""
    for pattern in _get_valid_patterns(op_pattern):
        if pattern in fuser_method_mapping:
            return fuser_method_mapping[pattern]
    raise _no_fuser(op_pattern)
