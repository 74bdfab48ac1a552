# ruff: noqa: E501  (a case is one line)
"""Cases of numbers, beside 16-bit floats and elsewhere, and of results."""

from __future__ import annotations

from ops_eval import cases

# Numbers that PyTorch keeps a float, or rounds to the tensor's dtype first.
_BESIDE = [
    f"(lambda x: {text})(x(32, dtype=T.{dtype}))"
    for dtype in ("float16", "bfloat16")
    for text in (
        "x * 0.1",
        "0.1 * x",
        "x * 1e30",
        "x * 70000",
        "x.clone().mul_(0.1)",
        "x * t(0.1)",
        "t(0.1) * x",
        "x[::2] * 0.3",
        "x.view(1, 32).expand(3, 32) * 0.3",
        "T.mul(x, 0.3, out=T.empty(32))",
        "x / 0.3",
        "x / t(0.3, dtype=T.float64)",
        "x.clone().div_(0.3)",
        "0.3 / x",
        "x // 0.1",
        "T.div(x, 0.1, rounding_mode='trunc')",
        "x + 0.1",
        "x - 0.1",
        "0.1 - x",
        "T.add(x, x, alpha=0.1)",
        "T.sub(x, x, alpha=0.7)",
        "x.clone().add_(x, alpha=-0.1)",
        "T.rsub(x, 0.1, alpha=0.3)",
        "x.abs() ** 0.3",
        "0.3**x",
        "T.lerp(x, x.flip(0), 0.1)",
        "T.lerp(x, x.flip(0), t(0.1, dtype=x.dtype))",
        "T.addmm(x[:1], x[:3, None], x[None, :3], beta=0.1, alpha=0.3)",
        "T.baddbmm(x[:1], x[:6].view(2, 3, 1), x[:4].view(2, 1, 2), beta=0.1, alpha=0.3)",
        "x.view(32, 1).expand(32, 2).mul(0.1).t()",
    )
] + [
    "F.batch_norm(x(6, 3, dtype=T.float16), None, None, training=True)",
    "F.batch_norm(x(6, 3, dtype=T.float16), x(3), x(3).abs(), x(3), x(3), True)",
    "F.batch_norm(x(6, 3, dtype=T.bfloat16), x(3), x(3).abs(), x(3), x(3), True)",
    "F.instance_norm(x(2, 3, 5, dtype=T.float16))",
    "T.add(x(3, dtype=T.float16), x(3, dtype=T.float16), alpha=1e30)",
    "x(3, dtype=T.float16) ** 1e6",
    "0.1 / x(7)",
    "2 / l(4).add(1)",
    "1j / x(3)",
    "2.5 / d(3)",
    "grad(lambda a: 3 / a, x(4))",
]

_HUGE = "[nan, inf, -inf, 1e10, -1e10, 1e20, 3e9, -3e9, 300.7, -1.5, 2.5, 65535.9]"
_CASTS = [
    f"t({_HUGE}, dtype=T.{source}).to(T.{to})"
    for source in ("float32", "float64", "float16", "bfloat16")
    for to in ("uint8", "int8", "int16", "int32", "int64", "bool")
] + [
    f"t({_HUGE}).view(3, 4).t().to(T.int32)",
    "t([3000000001.0, -3000000001.0], dtype=T.float64).to(T.uint8)",
    "t([3000000001.0, -3000000001.0], dtype=T.float64).to(T.int8)",
]

_COMPLEX = [
    "t([0j, 1 + 2j, complex(inf, 0), complex(nan, 1)]) ** 0",
    "t([0j, 1 + 2j]) ** -0.0",
    "t([0j, 1 + 2j, complex(inf, 0)]) ** 1",
    "t([0j, 1 + 2j]) ** 0j",
    "T.float_power(t([0j, 1 + 2j]), 0)",
    "t([True, False]).fill_(1j)",
    "t([True, False]).fill_(0j)",
    "T.full((1,), 1j, dtype=T.bool)",
    "t([1.0]).fill_(1j)",
]

_OUT = [
    f"T.{name}({source}, 0, out=T.empty({shape}, dtype=T.{dtype}))"
    for name, shape in (("sum", 3), ("prod", 3), ("cumsum", "2, 3"))
    for source in ("x(2, 3) * 9", "l(2, 3).to(T.int8)")
    for dtype in ("int64", "float32", "float64", "bool", "int8", "complex64")
] + [
    "T.sum(x(2, 3), 0, dtype=T.float64, out=T.empty(3, dtype=T.float64))",
    "T.mean(x(2, 3), 0, out=T.empty(3, dtype=T.float64))",
    "T.mean(x(2, 3), 0, out=T.empty(3, dtype=T.int64))",
]

_ONE = [
    "T.linalg.vector_norm(t([[3.0], [-2.0]]), 1e30, 1)",
    "T.linalg.vector_norm(t([[3.0], [-2.0]]), 0.5, 1, keepdim=True)",
    "T.linalg.vector_norm(t([[1e-30], [1e30]]), 2, 1)",
    "T.linalg.vector_norm(t([[1e30]]), 2)",
    "t(-2.375).norm(1e30)",
    "T.linalg.vector_norm(t([[3.0], [0.0]]), 0, 1)",
    "T.linalg.vector_norm(t([[3 + 4j]]), 2, 1)",
    "T.linalg.vector_norm(l(3, 2, 1).float().permute(1, 2, 0), 2, 1)",
    "T.linalg.vector_norm(l(3, 2, 1).float().permute(1, 2, 0), 2, 1, keepdim=True)",
    "x(2, 1, 3).transpose(0, 2).norm(1, 1)",
    "grad(lambda a: T.linalg.vector_norm(a, 2, 1), x(3, 1))",
    "grad(lambda a: T.linalg.vector_norm(a, 3, 1), x(3, 1))",
    "T.zeros(0, dtype=T.int32).median()",
    "T.zeros(0, dtype=T.uint8).median()",
    "T.trapezoid(T.zeros(0, 3, dtype=T.int8), dim=0)",
    "T.trapezoid(T.zeros(2, 0))",
    "F.interpolate(t([[[1.0, nan, 2.0]]]), size=3, mode='linear')",
    "F.interpolate(t([[[[1.0, nan], [1.0, 2.0]]]]), size=(4, 2), mode='bilinear')",
    "grad(F.hardswish, t([inf, -inf, 3.0, -3.0, 1.0]))",
    "grad(F.hardsigmoid, t([nan, inf, -inf, 3.0, -3.0, 1.0]))",
    "grad(F.binary_cross_entropy, t([0.0, 1.0, 0.5]), t([0.5, 0.5, 0.25]))",
]

_GRADIENTS = [
    "grad(T.linalg.det, t([[1.0, 2.0], [2.0, 4.0]]))",
    "grad(T.linalg.det, t([[[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]]))",
    "grad(lambda b: t([-2.0, 0.0, 3.0]) ** b, t([4 + 1j, 2 + 0j, 1j]))",
    "grad(lambda a: T.hypot(a, t([0.0, 4.0, 1e30])), t([0.0, 3.0, 1e30]))",
    "grad(T.hypot, t([3.0, 1e-30]), t([4.0, 1e-30]))",
    "grad(T.copysign, t([3.0, 0.0, -2.0]), t([-1.0, 2.0, 0.0]))",
] + [
    f"grad(lambda a: (lambda b: (lambda r: (b.add_(1), r)[1])(T.{name}(a, b)))(x(3)), x(3))"
    for name in ("hypot", "copysign", "mul", "atan2", "maximum", "logaddexp")
]

_PLACES = [
    "t([1, 2, 3], dtype=T.int16).index_put_((t([True, False, True]),), t(2.7))",
    "t([1, 2, 3], dtype=T.int16).index_put_((t([True, False, True]),), t([2.7]))",
    "t([1, 2, 3], dtype=T.int16).index_put_((t([True, False, True]),), t([2.7, 1.0]))",
    "t([1, 2, 3], dtype=T.int16).index_put_((t([0, 1]),), t(2.7))",
    "t([1, 2, 3]).index_put_((t([True, False, True]),), t(2.7), accumulate=True)",
    "t([[1, 2], [3, 4]]).index_put_((t([True, False]),), t(2.7))",
    "t([[1, 2], [3, 4]]).index_put_((t([True, False]), t([0])), t(2.7))",
    "(lambda a: a.__setitem__(a > 0, x(1, 1, 2)) or a)(t([1.0, 0.0, 2.0]))",
    "(lambda a: a.__setitem__(t([0, 2]), x(1, 2)) or a)(t([1.0, 0.0, 2.0]))",
    "t([1.0, 0.0]).index_put_((t([0, 1]),), x(1, 2))",
    "t([1.0]).expand(3).copy_(t([1.0, 2.0, 3.0]))",
    "(lambda a: a.copy_(a))(t([1.0]).expand(3))",
    "T.take_along_dim(t([[1, 2, 3]]), t([[5, -1, 0, -5, 7]]), -1)",
    "[a.mul_(2) for a in T.tensor_split(x(5), 2)]",
    "[a.grad_fn.name() for a in T.tensor_split(x(5).requires_grad_(), 2)]",
    "[a.grad_fn.name() for a in T.hsplit(x(6).requires_grad_(), 2)]",
    "T.tensor_split(x(7, 2), (1, 4))",
    "T.tensor_split(x(2, 7), [-2], dim=1)",
    "T.tensor_split(x(3), 5)",
    "T.tensor_split(x(3), 0)",
    "T.tensor_split(x(), 1)",
]

_LIMITS = [
    f"(lambda a: {text})(T.zeros(2, dtype=T.{dtype}))"
    for dtype in ("float16", "bfloat16", "float32")
    for text in (
        "a.__setitem__(0, 1e300) or a",
        "a.__setitem__(t([0]), 1e300) or a",
        "a.fill_(1e300)",
        "a.masked_fill(t([True, False]), 1e300)",
        "a.index_fill(0, t([0]), 1e300)",
        "a.clamp(max=1e300)",
        "T.full((1,), 1e300, dtype=a.dtype)",
        "a.new_full((1,), 1e30)",
        "T.nan_to_num(a / 0, 1e300)",
        "T.nan_to_num(a + inf, posinf=1e30)",
        "F.pad(a, (1, 0), value=1e30)",
        "F.threshold(a, 1, 1e30)",
        "a + 1e30",
    )
] + [
    "t([True, False]).clamp(t(0.5, dtype=T.float64), T.ones(2))",
    "l(2).clamp(t(0.5), t(1))",
    "x(2).clamp(t(0.5, dtype=T.float64), t([1.0], dtype=T.float64))",
    "F.cosine_similarity(x(1, 4), t(2.0, dtype=T.float64), 0)",
    "grad(lambda a: F.smooth_l1_loss(t([True, False]), a), x(2))",
    "grad(lambda a: F.mse_loss(l(2), a), x(2))",
]

# Arguments far larger than the result take the result's time.
_FAR = [
    "T.tril_indices(1, 2**31)",
    "T.triu_indices(2**31, 1)",
    "T.tril_indices(3, 2**62)",
    "T.triu_indices(2**62, 3)",
    "T.tril_indices(4, 3, -2)",
    "T.triu_indices(4, 3, 1)",
    "T.triu_indices(3, 4, -1, dtype=T.int32)",
    "T.tril_indices(3, 3, -(2**40))",
    "T.triu_indices(3, 3, -(2**62))",
]

# Views cannot be detached in place: these are none, the last three are.
_OWN = [
    f"({text}).detach_()"
    for text in (
        "T.kron(x(2, 3), x(2, 3))",
        "T.tril_indices(2, 2)",
        "x(2, 3).roll(1)",
        "x(2, 3).rot90()",
        "T.polar(x(4), x(4))",
        "T.complex(x(4), x(4))",
        "T.linalg.matrix_power(x(2, 2), 0)",
        "F.max_pool1d(x(2, 6), 2)",
        "F.pixel_shuffle(x(1, 4, 2, 2), 2)",
        "x(2, 3).t().reshape(-1)",
        "x(2, 3).t().flatten()",
        "x(2, 3).t()",
        "x(2, 3).reshape(-1)",
        "T.tensordot(x(2, 3), x(3, 2), 1)",
    )
]

_PRODUCTS = [
    "T.tensordot(l(1, 1, 2, 2).to(T.uint8), l(1, 1, 2, 2).to(T.uint8), 1)",
    "T.einsum('ij,jk->ik', l(1, 4).to(T.int8), l(1, 4).to(T.int8))",
    "T.einsum('...i,...i', t([2]), x(2, 2))",
    "T.einsum('ij,kj->i', l(2, 2).to(T.int8), l(2, 2).to(T.int8))",
    "T.chain_matmul(x(2, 3), x(3, 4), x(4, 1))",
    "T.linalg.matrix_power(x(2, 2, dtype=T.bfloat16), 0)",
    "T.linalg.matrix_power(x(2, 2, dtype=T.bfloat16), 2)",
    "T.linalg.matrix_power(l(2, 2), 3)",
    "T.linalg.matrix_power(l(2, 2), -1)",
    "T.linalg.matrix_power(x(2, 3), 2)",
    "T.linalg.matrix_power(x(2), 2)",
    "[t(1.0).mT, t(1.0).mH, t(1.0).H, x(2, 2).H, x(3, 2, 2).mH]",
    "x(3).H",
    "x(3, 2, 2).H",
]

CASES = cases(
    _BESIDE, _CASTS, _COMPLEX, _OUT, _ONE, _PLACES, _LIMITS, _FAR, _OWN, _PRODUCTS
)
