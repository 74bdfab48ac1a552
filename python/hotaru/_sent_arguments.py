"""Arguments as PyTorch's functions in Python hand them on to the protocol."""

from __future__ import annotations

import functools
import inspect

from ._C import Tensor

# Functions of PyTorch that are written in Python and say all their options,
# given or not, by name.
_NAMES = """__array__ __repr__ adaptive_avg_pool2d adaptive_avg_pool3d
    adaptive_max_pool1d adaptive_max_pool1d_with_indices adaptive_max_pool2d
    adaptive_max_pool2d_with_indices adaptive_max_pool3d
    adaptive_max_pool3d_with_indices affine_grid alpha_dropout batch_norm
    binary_cross_entropy binary_cross_entropy_with_logits cdist celu
    cosine_embedding_loss cross_entropy ctc_loss dropout dropout1d dropout2d
    dropout3d elu embedding embedding_bag feature_alpha_dropout fold
    fractional_max_pool2d fractional_max_pool2d_with_indices
    fractional_max_pool3d fractional_max_pool3d_with_indices gaussian_nll_loss
    glu grid_sample group_norm gumbel_softmax hardsigmoid hardswish hardtanh
    hinge_embedding_loss huber_loss instance_norm interpolate kl_div l1_loss
    layer_norm leaky_relu linear_cross_entropy local_response_norm log_softmax
    lp_pool1d lp_pool2d lp_pool3d lu margin_ranking_loss max_pool1d
    max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d
    max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d mish
    module_load mse_loss multi_head_attention_forward multi_margin_loss
    multilabel_margin_loss multilabel_soft_margin_loss nll_loss norm normalize
    poisson_nll_loss relu relu6 rms_norm rrelu selu silu smooth_l1_loss
    soft_margin_loss softmax softmin softsign split stft tanhshrink tensordot
    threshold triplet_margin_loss triplet_margin_with_distance_loss unfold
    unique unique_consecutive"""
_IN_PYTHON = frozenset(_NAMES.split())
# Options that functions have, but not the methods that are the same here.
_NO_METHODS = frozenset(["copy", "out"])


@functools.cache
def _signature(function) -> inspect.Signature:
    return inspect.signature(function.__wrapped__)


def sent(function, name: str, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The arguments of a function in Python as classes and modes get them: what
    has no default in order, the rest by name. Calls that do not fit are what
    they are.
    """
    if name not in _IN_PYTHON or str(function.__module__).endswith("special"):
        return args, kwargs
    signature = _signature(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return args, kwargs
    method = vars(Tensor).get(name) is function
    bound.apply_defaults()
    given, named = [], {}
    for key, parameter in signature.parameters.items():
        value = bound.arguments[key]
        if parameter.kind is parameter.VAR_POSITIONAL:
            given += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(value)
        elif parameter.default is parameter.empty:
            given.append(value)
        elif not method or key not in _NO_METHODS:
            named[key] = value
    if name == "l1_loss":  # PyTorch forgets one
        del named["weight"]
    return tuple(given), named
