"""The operators of bench/sweep.py, by family, and what they are given at each
size. Written against `torch`, so that hotaru runs the same lines.
"""

from __future__ import annotations

import torch

F = torch.nn.functional

# By size: rows and columns of plain operands, edge of matrices, and pictures.
# Of floats 512 bytes, 256 KB (a core's own cache), 16 MB (beyond it).
SIZES = {
    "tiny": (4, 32, 8, (1, 4, 8, 8)),
    "cache": (128, 512, 128, (2, 16, 32, 32)),
    "beyond": (2048, 2048, 512, (16, 32, 64, 64)),
}

FLOAT = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos",
    "cosh", "deg2rad", "digamma", "erf", "erfc", "erfinv", "exp", "exp2",
    "expm1", "floor", "frac", "i0", "isfinite", "isinf", "isnan", "lgamma",
    "log", "log10", "log1p", "log2", "logit", "nan_to_num", "neg",
    "reciprocal", "round", "rsqrt", "sigmoid", "sign", "signbit", "sin",
    "sinc", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
]  # fmt: skip
SPECIAL = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "entr",
    "erfcx", "i0e", "i1", "i1e", "log_ndtr", "modified_bessel_i0",
    "modified_bessel_k0", "ndtr", "ndtri", "spherical_bessel_j0",
]  # fmt: skip
ACTIVATIONS = [
    "celu", "elu", "gelu", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "leaky_relu", "logsigmoid", "mish", "relu", "relu6", "selu",
    "silu", "softplus", "softshrink", "softsign", "tanhshrink",
]  # fmt: skip
BINARY = [
    "add", "atan2", "copysign", "div", "eq", "floor_divide", "fmax", "fmin",
    "fmod", "gt", "hypot", "ldexp", "logaddexp", "logaddexp2", "logical_and",
    "maximum", "minimum", "mul", "nextafter", "remainder", "sub", "xlogy",
]  # fmt: skip
REDUCTIONS = [
    "all()", "all(1)", "amax(0)", "amax(1)", "aminmax(dim=1)", "any(0)",
    "argmax()", "argmax(0)", "argmax(1)", "argmin(1)", "argsort(1)",
    "count_nonzero(1)", "cummax(1)", "cumprod(1)", "cumsum(0)", "cumsum(1)",
    "diff(dim=1)", "dist(g)", "histc(100)", "kthvalue(3, 1)",
    "logcumsumexp(1)", "logsumexp(0)", "logsumexp(1)", "max()", "max(0)",
    "max(1)", "mean()", "mean(0)", "mean(1)", "median(1)", "min(0)", "mode(1)",
    "msort()", "nanmean(1)", "nanmedian(1)", "nansum(1)", "norm()",
    "norm(2, 0)", "norm(1, 1)", "norm(3, 1)", "prod()", "prod(1)",
    "quantile(0.3, 1)", "renorm(2, 0, 1.0)", "sort(0)", "sort(1)", "std(0)",
    "std(1)", "sum()", "sum(0)", "sum(1)", "topk(3, 1)", "unique()", "var()",
    "var(0)", "var(1)",
]  # fmt: skip
LOSSES = [
    "binary_cross_entropy_with_logits(f, unit)",
    "binary_cross_entropy(unit, unit.detach())", "cosine_similarity(f, g)",
    "cosine_embedding_loss(f, g, ones)", "cross_entropy(f, target)",
    "cross_entropy(f, target, label_smoothing=0.1)",
    "gaussian_nll_loss(f, g, p)", "hinge_embedding_loss(f, signs)",
    "huber_loss(f, g)", "kl_div(f, unit)", "l1_loss(f, g)",
    "margin_ranking_loss(f, g, signs)", "mse_loss(f, g)",
    "multi_margin_loss(f, target)", "nll_loss(f, target)",
    "poisson_nll_loss(f, p)", "smooth_l1_loss(f, g)",
    "soft_margin_loss(f, signs.detach())", "triplet_margin_loss(f, g, p)",
]  # fmt: skip
NORMS = [
    "layer_norm(f, f.shape[1:], row, bias)", "rms_norm(f, f.shape[1:], row)",
    "batch_norm(image, None, None, channel, channel, True)",
    "batch_norm(image, channel.detach(), channel.detach().abs(), channel, "
    "channel)",
    "group_norm(image, 4, channel, channel)", "instance_norm(image)",
    "local_response_norm(image, 3)", "normalize(f)", "softmax(f, 0)",
    "softmax(f, 1)", "log_softmax(f, 0)", "log_softmax(f, 1)",
    "softmin(f, 1)", "glu(f, 1)", "dropout(f, 0.3)", "gumbel_softmax(f)",
]  # fmt: skip
PICTURES = [
    "adaptive_avg_pool2d(image, 1)", "adaptive_avg_pool2d(image, 3)",
    "adaptive_max_pool2d(image, 3)", "affine_grid(theta, image.shape)",
    "avg_pool2d(image, 2)", "avg_pool2d(image, 3, 1, 1)",
    "conv1d(line, taps, padding=1)", "conv2d(image, kernel, padding=1)",
    "conv2d(image, kernel, stride=2, padding=1)", "conv2d(image, point)",
    "conv2d(image, depth, padding=1, groups=depth.shape[0])",
    "conv3d(cube, kernel3, padding=1)", "conv_transpose2d(image, up, None, 2)",
    "fold(F.unfold(image, 2, stride=2), image.shape[2:], 2, stride=2)",
    "grid_sample(image, grid, align_corners=False)",
    "grid_sample(image, grid, 'nearest', align_corners=False)",
    "interpolate(image, scale_factor=2.0)",
    "interpolate(image, scale_factor=2.0, mode='bilinear')",
    "interpolate(image, scale_factor=2.0, mode='bicubic')",
    "interpolate(image, scale_factor=0.5, mode='bilinear')",
    "interpolate(image, scale_factor=0.5, mode='bilinear', antialias=True)",
    "lp_pool2d(image, 2, 2)", "max_pool1d(line, 2)", "max_pool2d(image, 2)",
    "max_pool2d(image, 3, 1, 1)", "max_pool3d(cube, 2)",
    "pad(image, (1, 1, 1, 1))", "pad(image, (1, 1, 1, 1), 'reflect')",
    "pad(image, (1, 1, 1, 1), 'replicate')",
    "pad(image, (1, 1, 1, 1), 'circular')", "pixel_shuffle(image, 2)",
    "pixel_unshuffle(image, 2)", "unfold(image, 3, padding=1)",
]  # fmt: skip
PRODUCTS = [
    "a @ b", "a.t() @ b", "a @ b.t()", "a @ v", "v @ a", "torch.dot(v, v)",
    "torch.outer(v, w)", "torch.addmm(b, a, b)", "torch.bmm(heads, heads.mT)",
    "heads @ heads", "torch.baddbmm(heads, heads, heads)",
    "torch.einsum('bij,bkj->bik', heads, heads)", "F.linear(f, weight, top)",
    "F.bilinear(a, b, bilinear)", "F.embedding(ids, words)",
    "F.embedding_bag(ids, words)",
    "F.scaled_dot_product_attention(q, q, q)",
    "F.scaled_dot_product_attention(q, q, q, is_causal=True)",
    "torch.cdist(a, b)", "torch.cdist(a, b, 1.0)", "F.pdist(a)",
    "torch.kron(a[:8], b[:8])", "torch.cross(three, three, dim=1)",
    "torch.tensordot(a, b)", "a.double() @ b.double()",
]  # fmt: skip
LINALG = [
    "torch.linalg.cholesky(spd)", "torch.linalg.det(spd)",
    "torch.linalg.inv(spd)", "torch.linalg.slogdet(spd)",
    "torch.linalg.solve(spd, a)", "torch.linalg.solve_triangular(tri, a, "
    "upper=True)", "torch.linalg.qr(a)", "torch.linalg.eigh(spd)",
    "torch.linalg.eigvalsh(spd)", "torch.linalg.svdvals(a)",
    "torch.linalg.lstsq(a, b).solution", "torch.linalg.matrix_exp(small)",
    "torch.linalg.matrix_power(small, 5)", "torch.linalg.lu(a)",
    "torch.linalg.pinv(spd)", "torch.cholesky_solve(a, spd)",
]  # fmt: skip
PLACES = [
    "f.t().contiguous()", "image.permute(0, 2, 3, 1).contiguous()",
    "f[:, ::2].contiguous()", "f.clone()", "torch.cat([f, g])",
    "torch.cat([f, g], 1)", "torch.stack([f, g])", "torch.stack([f, g], 2)",
    "f.flip(0)", "f.flip(1)", "f.roll(3, 0)", "f.roll(3, 1)", "f.rot90()",
    "f.repeat(2, 1)", "f.repeat_interleave(2, 1)", "f.tril()", "f.triu()",
    "f.diag()", "f.expand(2, -1, -1).contiguous()", "f.unfold(1, 5, 3).clone()",
    "torch.where(mask, f, g)", "torch.where(mask, f, 0.0)",
    "f.masked_fill(mask, 1.0)", "f.masked_select(mask)", "f[mask]",
    "f[rows]", "f[:, columns]", "f[rows, columns_of_rows]",
    "f.index_select(0, rows)", "f.index_select(1, columns)",
    "f.index_add(0, rows, g)", "f.index_copy(0, rows, g)",
    "f.index_fill(0, rows, 1.0)", "f.index_put((rows,), g, True)",
    "f.gather(0, down)", "f.gather(1, along)", "f.scatter(0, down, g)",
    "f.scatter(1, along, g)", "f.scatter_add(0, down, g)",
    "f.scatter_add(1, along, g)", "f.scatter_reduce(1, along, g, 'amax')",
    "f.take(down)", "torch.take_along_dim(f, along, 1)", "mask.nonzero()",
    "f.unbind(0)", "f.split(2)", "f.reshape(-1)", "f.t()", "f[0]", "f[:, 1:3]",
    "f.unsqueeze(0)", "f.view(-1)", "f.to(torch.float64)", "f.half()",
    "f.bfloat16()", "f.int()", "f.bool()", "h.float()", "bf.float()",
    "i.float()",
]  # fmt: skip
MORE = [
    "f + row", "f * col", "f + 1", "f * 0.5", "1 - f", "1 / p", "f > 0",
    "p ** 2", "p ** 3", "p ** 0.5", "p ** 2.5", "p ** p", "2 ** f", "f % 2",
    "f // 2", "torch.addcmul(f, g, g)", "torch.addcdiv(f, g, p)",
    "torch.lerp(f, g, 0.3)", "torch.lerp(f, g, unit)", "f.clamp(-1, 1)",
    "f.clamp(min=0)", "f.clamp(g, p)", "F.prelu(f, top[:1])",
    "F.threshold(f, 0, 0)", "torch.heaviside(f, g)", "torch.isclose(f, g)",
    "torch.allclose(f, f)", "torch.equal(f, g)", "f.polygamma(1)",
    "torch.special.zeta(p + 1, p)", "torch.special.gammainc(p, p)",
    "torch.special.xlog1py(f, p)", "torch.complex(f, g)", "z * z", "z + z",
    "z.abs()", "z.angle()", "z.exp()", "z @ z.t()", "z.sum(1)",
    "torch.polar(p, f)", "h + h", "h * h", "bf + bf", "bf * bf", "h.exp()",
    "bf.sum(1)", "h.softmax(1)", "F.layer_norm(bf, bf.shape[1:])",
    "F.gelu(bf)", "a.half() @ b.half()", "a.bfloat16() @ b.bfloat16()",
    "i + i", "i * i", "i // 3", "i % 3", "i & 7", "i << 1", "i.sum(1)",
    "i.max(1)", "i == i", "i.sort(1)", "~mask", "mask & mask",
    "mask.sum()", "torch.fft.fft(f)", "torch.fft.rfft(f)", "torch.fft.fft2(f)",
    "torch.stft(sound, 64, 16, 64, window, return_complex=True)",
    "torch.searchsorted(edges, f)", "torch.bucketize(f, edges)",
    "torch.bincount(ids.flatten())", "F.one_hot(target)",
    "torch.trapezoid(f, dim=1)", "torch.gradient(f, dim=1)",
    "torch.vander(row)", "torch.cov(f)", "torch.corrcoef(f)", "torch.trace(f)",
    "F.ctc_loss(frames, labels, lengths, counts)",
]  # fmt: skip
WRITES = [
    "out.add_(f)", "out.mul_(0.5)", "out.copy_(f)",
    "square_out.copy_(square.t())",
    "out.zero_()", "out.fill_(1.0)", "out.clamp_(-1, 1)", "out.sigmoid_()",
    "torch.add(f, g, out=out)", "torch.exp(f, out=out)",
    "torch.mm(square, square, out=square_out)", "out.masked_fill_(mask, 0.0)",
    "out.index_add_(0, rows, f)", "out.uniform_()", "out.normal_()",
    "out.bernoulli_(0.3)", "out.exponential_()", "torch.empty_like(f)",
    "torch.zeros_like(f)", "torch.ones_like(f)", "torch.rand_like(f)",
    "torch.randn_like(f)", "torch.randint_like(f, 9)", "torch.arange(1000)",
    "torch.linspace(0, 1, 1000)", "torch.eye(100)", "torch.randperm(1000)",
    "torch.bernoulli(unit)", "torch.multinomial(p, 3)", "torch.poisson(p)",
    "torch._foreach_add(many, 1.0)", "torch._foreach_mul(many, many)",
    "torch._foreach_norm(many)", "torch._foreach_sqrt(many)",
]  # fmt: skip


def families() -> dict[str, list[str]]:
    """Statements by family."""
    domain = {
        "acosh": "p + 1", "digamma": "p", "lgamma": "p", "log": "p",
        "log10": "p", "log1p": "p", "log2": "p", "logit": "unit",
        "rsqrt": "p", "sqrt": "p", "acos": "unit", "asin": "unit",
        "atanh": "unit", "erfinv": "unit",
    }  # fmt: skip
    return {
        "elementary": [f"torch.{x}({domain.get(x, 'f')})" for x in FLOAT],
        "special": [f"torch.special.{x}(f)" for x in SPECIAL],
        "activations": [f"F.{x}(f)" for x in ACTIVATIONS],
        "two operands": [f"torch.{x}(f, p)" for x in BINARY],
        "reductions": [f"f.{x}" for x in REDUCTIONS],
        "losses": [f"F.{x}" for x in LOSSES],
        "norms": [f"F.{x}" for x in NORMS],
        "pictures": [f"F.{x}" for x in PICTURES],
        "products": PRODUCTS,
        "linear algebra": LINALG,
        "places": PLACES,
        "more": MORE,
        "writes and draws": WRITES,
    }


def operands(size: str) -> dict:
    """Names in the statements, at a size."""
    torch.manual_seed(0)
    rows, columns, edge, shape = SIZES[size]
    rand, draw = torch.randn, torch.randint
    n, channels, height, width = shape
    f, g, a = rand(rows, columns), rand(rows, columns), rand(edge, edge)
    heads, small = rand(8, edge // 4, edge // 4), min(edge, 64)
    index = {
        "rows": torch.randperm(rows), "columns": draw(0, columns, (columns,)),
        "columns_of_rows": draw(0, columns, (rows,)),
        "down": draw(0, rows, (rows, columns)),
        "along": draw(0, columns, (rows, columns)),
        "target": draw(0, columns, (rows,)), "ids": draw(0, 100, (rows, 16)),
        "labels": draw(1, 20, (4, 5)), "lengths": torch.full((4,), edge),
        "counts": torch.full((4,), 3), "i": draw(0, 9, (rows, columns)),
    }  # fmt: skip
    return index | {
        "f": f, "g": g, "p": f.abs() + 0.1, "unit": f.sigmoid() * 0.98 + 0.01,
        "row": f[0].clone(), "bias": f[1].clone(), "col": f[:, :1].clone(),
        "ones": torch.ones(rows), "signs": f.sign() + (f == 0).float(),
        "mask": f > 0, "h": f.half(), "bf": f.bfloat16(),
        "z": torch.complex(f, g), "out": rand(rows, columns),
        "square": rand(edge, edge), "square_out": a.clone(),
        "a": a, "b": rand(edge, edge), "v": rand(edge), "w": rand(edge),
        "heads": heads, "weight": rand(edge, columns), "top": rand(edge),
        "bilinear": rand(4, edge, edge), "words": rand(100, edge),
        "q": rand(2, 4, edge, 32), "three": rand(rows, 3),
        "spd": a @ a.t() + edge * torch.eye(edge),
        "tri": (a.triu() + edge * torch.eye(edge)),
        "small": a[:small, :small] / small,
        "image": rand(shape), "line": rand(n, channels, height * width),
        "cube": rand(n, channels, 4, height, width)[:1].clone(),
        "channel": rand(channels), "kernel": rand(channels, channels, 3, 3),
        "point": rand(channels, channels, 1, 1),
        "depth": rand(channels, 1, 3, 3), "taps": rand(channels, channels, 3),
        "kernel3": rand(channels, channels, 3, 3, 3),
        "up": rand(channels, channels, 2, 2), "theta": rand(n, 2, 3),
        "grid": torch.rand(n, height, width, 2) * 2 - 1,
        "sound": rand(2, 16 * edge), "window": torch.hann_window(64),
        "edges": torch.linspace(-3, 3, 1000),
        "frames": rand(edge, 4, 20).log_softmax(2),
        "many": [rand(columns) for _ in range(20)],
    }  # fmt: skip
