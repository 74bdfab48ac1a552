"""Functions of networks: the stateless side of `hotaru.nn`.

Where a function is one operator, the name is the operator itself, looked up at
first use, so that a call costs nothing extra.
"""

from __future__ import annotations

from ... import _C
from ... import ops as _ops
from ..._C import _overridden as has_torch_function_unary
from ..._C import _overridden as has_torch_function_variadic
from ..._overrides import has_torch_function
from ..._overrides import overridable as _overridable
from ..._own_names import no_attribute
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
from ._attention_parts import (
    _canonical_mask,
    _in_projection,
    _in_projection_packed,
    _none_or_dtype,
)
from ._dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from ._grouped import grouped_mm
from ._linear_loss import linear_cross_entropy
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
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from ._scaled import ScalingType, SwizzleType, scaled_grouped_mm, scaled_mm
from ._sparse import embedding, embedding_bag
from ._vision import (
    GRID_SAMPLE_INTERPOLATION_MODES,
    GRID_SAMPLE_PADDING_MODES,
    affine_grid,
    assert_int_or_pair,
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
    "adaptive_avg_pool1d": "adaptive_avg_pool1d",
    "avg_pool1d": "avg_pool1d",
    "avg_pool2d": "avg_pool2d",
    "avg_pool3d": "avg_pool3d",
    "bilinear": "bilinear",
    "channel_shuffle": "channel_shuffle",
    "conv1d": "conv1d",
    "conv2d": "conv2d",
    "conv3d": "conv3d",
    "conv_tbc": "conv_tbc",
    "conv_transpose1d": "conv_transpose1d",
    "conv_transpose2d": "conv_transpose2d",
    "conv_transpose3d": "conv_transpose3d",
    "cosine_similarity": "cosine_similarity",
    "gelu": "gelu",
    "hardshrink": "hardshrink",
    "linear": "linear",
    "logsigmoid": "log_sigmoid",
    "native_channel_shuffle": "native_channel_shuffle",
    "one_hot": "one_hot",
    "pad": "pad",
    "pairwise_distance": "pairwise_distance",
    "pdist": "pdist",
    "pixel_shuffle": "pixel_shuffle",
    "pixel_unshuffle": "pixel_unshuffle",
    "prelu": "prelu",
    "relu_": "relu_",
    "scaled_dot_product_attention": "scaled_dot_product_attention",
    "softplus": "softplus",
    "softshrink": "softshrink",
}


def __getattr__(name: str):
    if name == "grad":
        from .. import grad

        return grad
    operator = getattr(_ops, _OPERATORS[name], None) if name in _OPERATORS else None
    if operator is None:
        raise no_attribute(__name__, name)
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
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
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
    "linear_cross_entropy",
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
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
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

_TYPES = {
    t.__name__: t for t in (_C.Tensor, bool, float, int, str)
}  # names of types that files of functions write as text


def _resolve_annotations() -> None:
    """Simple types in signatures are types, as in PyTorch's."""
    for name in __all__:
        notes = getattr(globals().get(name), "__annotations__", None)
        if isinstance(notes, dict):
            notes.update(
                (key, _TYPES[kind]) for key, kind in notes.items() if kind in _TYPES
            )


_resolve_annotations()
# The old names of `interpolate` are not seen, nor are `sigmoid` and `tanh`, as
# in PyTorch; what they call is.
_overridable(
    globals(),
    [
        name
        for name in __all__
        if not name.startswith("upsample") and name not in ("sigmoid", "tanh")
    ],
)
_threshold = threshold  # pickles know it by that name
