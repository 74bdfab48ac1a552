"""Operators beyond those of everyday, by family; a worker of compare.py."""

from __future__ import annotations

import worker

torch = worker.torch
F = torch.nn.functional

SPECIAL = [
    "erf", "erfc", "erfcx", "erfinv", "expit", "exp2", "expm1", "log1p",
    "log_ndtr", "ndtr", "ndtri", "logit", "sinc", "psi", "gammaln", "i0",
    "i0e", "i1", "i1e", "entr", "bessel_j0", "bessel_j1", "bessel_y0",
    "bessel_y1", "modified_bessel_i0", "modified_bessel_k0",
    "scaled_modified_bessel_k1", "spherical_bessel_j0", "airy_ai",
]  # fmt: skip
POINTWISE = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "tan",
    "ceil", "round", "trunc", "frac", "sgn", "sign", "signbit", "rsqrt",
    "reciprocal", "square", "neg", "abs", "digamma", "lgamma", "logical_not",
    "isnan", "isfinite", "deg2rad", "angle", "nan_to_num", "softplus_",
    "mish_", "selu_", "elu_", "hardswish_", "hardtanh_", "logsigmoid_",
    "softsign_", "celu_", "relu6_",
]  # fmt: skip
BINARY = [
    "atan2", "copysign", "hypot", "logaddexp", "logaddexp2", "fmod",
    "remainder", "maximum", "fmin", "ldexp", "nextafter", "xlogy_", "xlog1py_",
    "zeta_", "gammainc_", "gammaincc_", "heaviside", "floor_divide",
    "true_divide", "eq", "lt", "logical_and", "dist",
]  # fmt: skip
REDUCTIONS = [
    "prod(1)", "mean(0)", "var(0)", "std(1)", "median(1)", "mode(1)",
    "kthvalue(3,1)", "amax(1)", "aminmax(dim=1)", "nansum(1)", "nanmedian(1)",
    "nanmean(1)", "all(1)", "any(1)", "count_nonzero(1)", "logcumsumexp(1)",
    "cumprod(1)", "cummax(1)", "cummin(1)", "diff(dim=1)", "argmin(0)",
    "argsort(1)", "norm(2,1)", "norm(1,0)", "norm(3,1)", "quantile(0.3,1)",
    "nanquantile(0.3,1)", "cov()", "corrcoef()", "trace()", "unique()",
    "msort()", "renorm(2,0,1)", "log_softmax(0)", "softmin(1)", "roll(3,1)",
    "flip(1)", "rot90()", "tril()", "triu()", "diag()", "tile(2,1)",
    "repeat_interleave(2,1)", "unfold(1,5,3)", "as_strided((500,),(3,))",
    "histc(100)", "bincount_", "cumsum(0)", "sum_to_size(1,1000)",
    "isclose(f)", "allclose(f)", "nonzero()", "masked_fill(u,1.0)",
    "masked_select(u)", "clamp(-1,1)", "lerp(f,0.3)", "addcmul(f,f)",
    "addcdiv(f,p)", "float_power(2)", "bernoulli_", "frexp()",
]  # fmt: skip
OTHER = [
    "torch.searchsorted(edges, f)", "torch.bucketize(f, edges)",
    "torch.histogram(f, 50)", "torch.histogramdd(f[:, :2], [9, 9])",
    "torch.cdist(small, small, 3.0)", "torch.pdist(small)",
    "torch.nn.functional.pdist(small, 1.0)",
    "torch.cartesian_prod(row, row)", "torch.combinations(row[:300])",
    "torch.kron(small, small[:20, :20])", "torch.cross(three, three, dim=1)",
    "torch.trapezoid(f, dim=1)", "torch.cumulative_trapezoid(f, dim=1)",
    "torch.gradient(f, dim=1)", "torch.bincount(ids)", "torch.unique(ids)",
    "torch.unique_consecutive(ids)", "torch.isin(ids, ids[:100])",
    "torch.gcd(ids, ids + 3)", "torch.lcm(ids, ids + 3)",
    "torch.bitwise_and(ids, 7)", "ids << 2", "ids // 7", "ids % 7",
    "ids.cumsum(0)", "ids.sort()", "ids.float()",
    "zeros.index_reduce(0, rows, f, 'amax')", "zeros.index_add(0, rows, f)",
    "zeros.index_copy(0, rows, f)", "zeros.index_fill(0, rows, 1.0)",
    "zeros.scatter_reduce(1, grid, f, 'prod')", "torch.take(f, grid)",
    "zeros.put(grid, f)", "torch.take_along_dim(f, grid, 1)",
    "torch.segment_reduce(f, 'sum', lengths=lengths)",
    "torch.masked.mean(f, 1, mask=u)", "torch.masked.softmax(f, 1, mask=u)",
    "torch.stft(sound, 256, 64, 256, window, return_complex=True)",
    "torch.istft(spectrum, 256, 64, 256, window)",
    "torch.polygamma(1, p)", "torch.polygamma(3, p)", "torch.mvlgamma(p+3, 2)",
    "torch.special.hermite_polynomial_h(f, 5)",
    "torch.special.chebyshev_polynomial_t(f, 5)",
    "torch.complex(f, f)", "z * z", "z + z", "z.abs()", "z.angle()", "z.exp()",
    "z.sum(1)", "z.log()", "z / z", "z.sqrt()", "z.conj().resolve_conj()",
    "torch.polar(p, f)", "torch.view_as_real(z)",
    "torch._foreach_add(many, many)", "torch._foreach_norm(many)",
    "torch._foreach_mul(many, 2.0)", "torch._foreach_addcdiv(many, many, many)",
    "torch.matrix_exp(small)", "torch.linalg.matrix_power(small, 5)",
    "torch.linalg.matrix_norm(f, 'nuc')[()] if 0 else f.norm('fro')",
    "torch.linalg.vector_norm(f, 3)", "torch.linalg.multi_dot([f, f, row])",
    "torch.einsum('ij,kj->ik', small, small)", "torch.tensordot(small, small)",
    "F.conv1d(line, taps)", "F.conv3d(cube, taps3)", "F.unfold(image, 3)",
    "F.fold(patches, (32, 32), 3)", "F.max_pool1d(line, 3)",
    "F.max_pool3d(cube, 2)", "F.adaptive_avg_pool2d(image, 7)",
    "F.adaptive_max_pool2d(image, 7)", "F.lp_pool2d(image, 2, 2)",
    "F.fractional_max_pool2d(image, 2, output_size=10)",
    "F.avg_pool3d(cube, 2)", "F.max_unpool2d(*F.max_pool2d(image, 2, "
    "return_indices=True), 2)", "F.batch_norm(image, None, None, None, None, "
    "True)", "F.instance_norm(image)", "F.group_norm(image, 4)",
    "F.local_response_norm(image, 3)", "F.rms_norm(f, (1000,))",
    "F.cross_entropy(f, target)", "F.nll_loss(f, target)",
    "F.kl_div(f, f)", "F.mse_loss(f, f)", "F.smooth_l1_loss(f, f)",
    "F.huber_loss(f, f)", "F.binary_cross_entropy_with_logits(f, f)",
    "F.ctc_loss(frames, labels, lengths_in, lengths_out)",
    "F.cosine_similarity(f, f)", "F.normalize(f)", "F.pixel_shuffle(image, 2)",
    "F.channel_shuffle(image, 4)", "F.interpolate(image, scale_factor=2.0)",
    "F.interpolate(image, scale_factor=2.0, mode='bicubic')",
    "F.interpolate(image, size=20, mode='bilinear', antialias=True)",
    "F.affine_grid(theta, (8, 3, 64, 64))", "F.one_hot(ids, 1000)",
    "F.pad(image, (2, 2, 2, 2), 'reflect')", "F.pad(image, (2,) * 4, "
    "'replicate')", "F.pad(image, (2,) * 4, 'circular')",
    "F.dropout(f, 0.3)", "F.gumbel_softmax(f)",
    "F.multi_margin_loss(f, target)",
    "F.triplet_margin_loss(f, f, f)", "F.embedding_bag(ids.view(100, -1), f)",
    "torch.rand(1000, 1000)", "torch.bernoulli(u0)", "torch.poisson(p)",
    "torch.multinomial(p, 5)", "torch.randint(0, 9, (1000, 1000))",
    "zeros.exponential_()", "zeros.geometric_(0.3)", "zeros.cauchy_()",
    "zeros.log_normal_()", "torch.normal(f, p)",
    "torch.tril_indices(500, 500)", "torch.linspace(0, 1, 100000)",
    "torch.logspace(0, 1, 100000)", "torch.arange(100000)", "torch.vander(row)",
    "torch.block_diag(small, small)", "torch.meshgrid(row, row, indexing='ij')"
    "[0].contiguous()", "torch.stack([f, f], 2)", "f.split(100)",
    "torch.hamming_window(10000)", "torch.kaiser_window(10000)",
]  # fmt: skip


def operands() -> dict:
    """Names that the statements may use."""
    torch.manual_seed(0)
    f = torch.randn(1000, 1000)
    ids = torch.randint(0, 1000, (100000,))
    image = torch.randn(8, 16, 30, 30)
    sound = torch.randn(4, 16000)
    window = torch.hann_window(256)
    names = {
        "torch": torch, "F": F, "f": f, "p": f.abs() + 0.1, "u": f > 0,
        "u0": f.sigmoid(), "z": torch.complex(f, f + 1), "row": f[0].clone(),
        "small": f[:100, :100].clone() / 10, "three": torch.randn(100000, 3),
        "edges": torch.linspace(-3, 3, 1000), "ids": ids,
        "rows": torch.randint(0, 1000, (1000,)),
        "grid": torch.randint(0, 1000, (1000, 1000)),
        "zeros": torch.zeros(1000, 1000), "lengths": torch.full((100,), 10),
        "sound": sound, "window": window,
        "spectrum": torch.stft(sound, 256, 64, 256, window,
                               return_complex=True),
        "many": [torch.randn(1000) for _ in range(100)],
        "line": torch.randn(8, 16, 1000), "taps": torch.randn(32, 16, 5),
        "cube": torch.randn(2, 8, 16, 16, 16),
        "taps3": torch.randn(16, 8, 3, 3, 3),
        "image": image, "patches": torch.randn(8, 16 * 9, 900),
        "target": torch.randint(0, 1000, (1000,)),
        "theta": torch.randn(8, 2, 3),
        "frames": torch.randn(50, 16, 20).log_softmax(2),
        "labels": torch.randint(1, 20, (16, 30)),
        "lengths_in": torch.full((16,), 50), "lengths_out":
        torch.randint(10, 25, (16,)),
    }  # fmt: skip
    return names


def statements() -> list[str]:
    """Statements that are measured."""
    found = [f"torch.special.{x}(f)" for x in SPECIAL]
    for x in POINTWISE:
        found.append(f"F.{x[:-1]}(f)" if x[-1] == "_" else f"torch.{x}(f)")
    for x in BINARY:
        if x[-1] == "_":
            found.append(f"torch.special.{x[:-1]}(p, p + 1)")
        else:
            found.append(f"torch.{x}(f, p)")
    for x in REDUCTIONS:
        if x[-1] != "_":
            found.append(f"f.{x}")
    return found + OTHER


if __name__ == "__main__":
    worker.statements(operands(), statements())
