"""Writes declared.pt: what PyTorch gives for functions that C++ declares.

    PYTHON make_declared.py, with PyTorch

tests/libtorch/declared_values_test.cpp computes the same.
"""

from pathlib import Path

import torch

a = torch.ops.aten
D = torch.float64


def S(sizes, k):  # noqa: N802
    n = 1
    for size in sizes:
        n *= size
    return (torch.arange(n, dtype=D) * k).sin().reshape(sizes)


x = S((2, 3, 8, 8), 0.37)
y = S((4, 5), 0.61)
g = S((4, 5), 0.83)
t01 = S((4, 5), 0.29).sigmoid()
lab = torch.arange(4) % 5
one = torch.ones((), dtype=D)
E = {
    "affine": a.affine_grid_generator_backward(
        S((2, 3, 4, 2), 0.3), [2, 3, 3, 4], True
    ),
    "bce": a.binary_cross_entropy_backward(one, t01, t01 * 0.5, None, 1),
    "mse": a.mse_loss_backward(g, y, t01, 0),
    "sl1": a.smooth_l1_loss_backward(g, y, t01, 0, 0.5),
    "huber": a.huber_loss_backward(g, y, t01, 0, 0.5),
    "softm": a.soft_margin_loss_backward(g, y, t01.sign(), 0),
    "mm": a.multi_margin_loss_backward(one, y, lab, 1, 1, None, 1),
    "gelu": a.gelu_backward(g, y, approximate="tanh"),
    "silu": a.silu_backward(g, y),
    "mish": a.mish_backward(g, y),
    "hsig": a.hardsigmoid_backward(g, y * 4),
    "hsw": a.hardswish_backward(g, y * 4),
    "htanh": a.hardtanh_backward(g, y, -0.5, 0.5),
    "sp": a.softplus_backward(g, y, 2, 1),
    "ss": a.softshrink_backward(g, y, 0.3),
    "hs": a.hardshrink_backward(g, y, 0.3),
    "glu": a.glu_backward(S((4, 2), 0.5), S((4, 4), 0.7), 1),
    "elu": a.elu_backward(g, 1.5, 1.1, 0.7, False, y),
    "elur": a.elu_backward(g, 1.5, 1.1, 0.7, True, y),
    "lrelu": a.leaky_relu_backward(g, y, 0.2, False),
    "thr": a.threshold_backward(g, y, 0.1),
    "sig": a.sigmoid_backward(g, y),
    "tanh": a.tanh_backward(g, y),
    "logit": a.logit_backward(g, t01, 0.4),
    "rr": a.rrelu_with_noise_backward(g, y, t01, 0.1, 0.3, False, False),
    "ap2": a.avg_pool2d_backward(
        S((2, 3, 4, 4), 0.5), x, [3, 3], [2, 2], [1, 1], False, False, None
    ),
    "aap": a._adaptive_avg_pool2d_backward(S((2, 3, 3, 3), 0.5), x),
    "rp2": a.reflection_pad2d_backward(S((2, 3, 10, 11), 0.5), x, [1, 2, 1, 1]),
    "rep1": a.replication_pad1d_backward(S((3, 8, 11), 0.5), x[0], [1, 2]),
    "ubi": a.upsample_bilinear2d_backward(
        S((2, 3, 12, 5), 0.5), [12, 5], [2, 3, 8, 8], False
    ),
    "ubc": a.upsample_bicubic2d_backward(
        S((2, 3, 12, 5), 0.5), [12, 5], [2, 3, 8, 8], True
    ),
    "un1": a.upsample_nearest1d_backward(S((2, 3, 12), 0.5), [12], [2, 3, 8]),
    "une": a._upsample_nearest_exact2d_backward(
        S((2, 3, 12, 5), 0.5), [12, 5], [2, 3, 8, 8]
    ),
    "ubaa": a._upsample_bilinear2d_aa_backward(
        S((2, 3, 5, 5), 0.5), [5, 5], [2, 3, 8, 8], False
    ),
    "diag": a.diagonal_backward(S((4,), 0.5), [4, 5], 0, 0, 1),
    "sel": a.select_backward(S((4,), 0.5), [4, 5], 1, 2),
    "unf": a.unfold_backward(S((3, 5, 2), 0.5), [4, 5], 0, 2, 1),
    "tr": a.trace_backward(one, [4, 5]),
    "ccm": a.cumprod_backward(g, y, 1, y.cumprod(1)),
    "mexp": a.matrix_exp_backward(S((4, 4), 0.2), S((4, 4), 0.4)),
    "pd": a._pdist_backward(S((6,), 0.3), y, 2.0, torch.pdist(y, 2.0)),
    "cd": a._cdist_backward(S((4, 4), 0.3), y, g, 2.0, torch.cdist(y, g)),
    "hann": torch.hann_window(9, dtype=D),
    "black": torch.blackman_window(8, dtype=D),
    "bart": torch.bartlett_window(7, False, dtype=D),
    "kai": torch.kaiser_window(8, True, 6.0, dtype=D),
    "hamm": torch.hamming_window(8, True, 0.6, 0.3, dtype=D),
    "range": torch.range(0.5, 4.2, 0.3, dtype=D),
    "vand": torch.vander(y[0], 3, True),
    "vandd": torch.vander(y[0]),
    "csr": a._convert_indices_from_coo_to_csr(torch.arange(6) // 2, 5),
    "fd": torch.zeros(7, 3, dtype=D).fill_diagonal_(2, True),
    "fd3": torch.zeros(3, 3, 3, dtype=D).fill_diagonal_(2),
    "ms": a.masked_scatter_backward(g, y > 0, [12]),
    "vsr": a.value_selecting_reduction_backward(S((4,), 0.5), 1, lab, [4, 5], False),
    "hdd": a._histogramdd_from_bin_cts(S((20, 2), 0.5), [3, 4]),
    "nll": a.nll_loss_backward(
        one, y, lab, None, 1, -100, torch.full((), 4.0, dtype=D)
    ),
    "mx3": a.max_pool3d_with_indices_backward(
        S((3, 4, 4, 4), 0.5),
        S((3, 8, 8, 8), 0.37),
        [2, 2, 2],
        [2, 2, 2],
        [0, 0, 0],
        [1, 1, 1],
        False,
        torch.nn.functional.max_pool3d_with_indices(S((3, 8, 8, 8), 0.37), 2)[1],
    ),
}

torch.save(
    {name: value.contiguous() for name, value in E.items()},
    Path(__file__).with_name("declared.pt"),
)
