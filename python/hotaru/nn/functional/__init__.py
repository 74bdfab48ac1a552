"""Functions of networks: the stateless side of `hotaru.nn`.

Where a function is one operator, the name is the operator itself, looked up at
first use, so that a call costs nothing extra.
"""

from __future__ import annotations

from ... import ops as _ops
from ._activation import (
    celu,
    celu_,
    elu,
    elu_,
    glu,
    gumbel_softmax,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    log_softmax,
    mish,
    relu,
    relu6,
    rrelu,
    rrelu_,
    selu,
    selu_,
    sigmoid,
    silu,
    softmax,
    softmin,
    softsign,
    tanh,
    tanhshrink,
    threshold,
    threshold_,
)
from ._attention import multi_head_attention_forward
from ._dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from ._loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cross_entropy,
    ctc_loss,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    mse_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from ._norm import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    normalize,
    rms_norm,
)
from ._pooling import (
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
)
from ._sparse import embedding, embedding_bag
from ._vision import (
    affine_grid,
    fold,
    grid_sample,
    interpolate,
    unfold,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)

# Name here -> operator, where the two are the same function.
_OPERATORS = {
    name: name
    for name in (
        "adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d bilinear "
        "channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d "
        "conv_transpose2d conv_transpose3d cosine_similarity gelu hardshrink linear "
        "native_channel_shuffle one_hot pad pairwise_distance pdist pixel_shuffle "
        "pixel_unshuffle prelu relu_ scaled_dot_product_attention softplus softshrink"
    ).split()
}
_OPERATORS["logsigmoid"] = "log_sigmoid"


def __getattr__(name: str):
    operator = getattr(_ops, _OPERATORS[name], None) if name in _OPERATORS else None
    if operator is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = operator
    return operator


def __dir__() -> list:
    return sorted({*globals(), *_OPERATORS})


__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "affine_grid",
    "alpha_dropout",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "gaussian_nll_loss",
    "glu",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "local_response_norm",
    "log_softmax",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "poisson_nll_loss",
    "relu",
    "relu6",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]
