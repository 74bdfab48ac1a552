"""Cases of pooling: corners, unpooling, fractional windows, error texts."""

from __future__ import annotations

from ops_eval import cases

_CORNERS = [
    # NaN wins wherever it stands, in every window that holds it.
    "F.adaptive_max_pool2d(t([[[1.0, nan, 2.0], [nan, 4.0, 3.0], "
    "[5.0, 6.0, nan]]]), (2, 2), True)",
    "F.adaptive_max_pool2d(T.full((1, 2, 2), -inf), 1, True)",
    "F.adaptive_max_pool2d(T.full((1, 2, 2), nan), 1, True)",
    "F.adaptive_max_pool1d(t([[nan, 1.0, 2.0, inf, nan]]), 2, True)",
    "F.adaptive_max_pool3d(t([[[[1.0, nan], [2.0, 3.0]]]]), 1, True)",
    "F.adaptive_max_pool2d(T.zeros(1, 3, 3), 2, True)",
    "F.adaptive_max_pool2d(x(2, 3, 7, 5), (5, 7), True)",
    "F.adaptive_max_pool2d(x(2, 3, 7, 5), (None, 2), True)",
    "F.adaptive_max_pool2d(x(2, 3, 5), (None, 3), True)",
    "F.adaptive_max_pool2d(x(1, 2, 5, 4), (0, 2), True)",
    "F.adaptive_max_pool2d(T.ones(0, 2, 4, 4), 2, True)",
    "F.adaptive_max_pool2d(x(1, 5, 4, 2).permute(0, 3, 1, 2), 3, True)",
    "F.adaptive_max_pool2d(x(2, 3, 4, 4).half(), 3)",
    "F.adaptive_max_pool2d(x(2, 3, 4, 4).bfloat16(), 3)",
    "F.adaptive_max_pool2d(d(2, 3, 4, 4), 3)",
    "F.adaptive_max_pool3d(x(2, 3, 4, 5, 6), (None, 2, 4), True)",
    "F.adaptive_avg_pool2d(t([[[1.0, nan], [inf, 4.0]]]), (2, 1))",
    "F.adaptive_avg_pool2d(x(2, 3, 7, 5), (5, None))",
    "F.adaptive_avg_pool3d(x(2, 3, 4, 5, 6), (None, 2, 4))",
    "F.adaptive_avg_pool3d(x(3, 4, 5, 6), 1)",
    "F.adaptive_avg_pool2d(x(2, 3, 4, 4).half(), 3)",
    "F.adaptive_avg_pool2d(x(2, 3, 4, 4).bfloat16(), 3)",
    "F.max_pool1d(t([[1.0, nan, 2.0, 0.0, 1.0]]), 2, 1)",
    "F.max_pool1d(t([[1.0, nan, 2.0, nan, 1.0]]), 3, 1, 1, "
    "return_indices=True)",
    "F.max_pool2d(T.full((1, 3, 3), nan), 2, 1, 1, return_indices=True)",
    "F.max_pool3d(t([[[[nan, 1.0], [2.0, nan]], [[0.0, 1.0], [2.0, 3.0]]]]), "
    "2, return_indices=True)",
    "F.max_pool2d(T.full((1, 3, 3), -inf), 2, 1, 1, return_indices=True)",
    "F.max_pool2d(x(1, 7, 8), 3, 2, 1, 2, True, True)",
    "F.max_pool2d(x(1, 5, 5), 2, 2, 0, 1, True)",
    "F.max_pool2d(x(1, 5, 5), 3, 4, 1, 1, True)",
    "F.max_pool2d(x(1, 5, 5), 1, 3, 0, 1, True)",
    "F.max_pool3d(x(1, 5, 6, 7), (2, 3, 2), (2, 1, 3), (1, 1, 0), "
    "(1, 2, 2), True, True)",
    "F.max_pool3d(x(2, 5, 6, 7), 3, 2, 1)",
    "F.max_pool1d(l(2, 9) % 4, 3, 2, 1, return_indices=True)",
    "F.max_pool2d((l(1, 5, 5) % 7).to(T.int32), 2, 1)",
    "F.max_pool2d((l(1, 5, 5) % 7).to(T.uint8), 3, 2, 1)",
    "F.max_pool2d((l(1, 5, 5) % 7).to(T.int8) - 100, 3, 2, 1)",
    "F.max_pool2d(x(2, 5, 5).half(), 3, 2, 1, return_indices=True)",
    "F.max_pool2d(x(2, 5, 5).bfloat16(), 3, 2, 1, return_indices=True)",
    "F.avg_pool1d(x(2, 9), 4, 3, 2, True, True)",
    "F.avg_pool1d(x(2, 9), 4, 3, 2, True, False)",
    "F.avg_pool2d(x(2, 7, 8), (3, 2), (2, 3), (1, 1), True, True)",
    "F.avg_pool2d(x(2, 7, 8), (3, 2), (2, 3), (1, 1), True, False)",
    "F.avg_pool2d(x(2, 7, 8), (3, 2), (2, 3), (1, 1), True, True, 7)",
    "F.avg_pool2d(x(2, 7, 8), (3, 2), (2, 3), (1, 1), True, False, -2)",
    "F.avg_pool2d(x(2, 5, 5).half(), 3, 2, 1)",
    "F.avg_pool2d(x(2, 5, 5).bfloat16(), 3, 2, 1)",
    "F.avg_pool3d(x(2, 5, 6, 7), 3, 2, 1, True, False)",
    "F.avg_pool3d(x(2, 5, 6, 7), (2, 3, 2), (1, 2, 3), (1, 1, 0), True, True, "
    "3)",
    "F.avg_pool2d(T.ones(0, 2, 4, 4), 2)",
    "F.avg_pool3d(T.ones(0, 2, 4, 4, 4), 2)",
    "F.max_pool3d(T.ones(0, 2, 4, 4, 4), 2)",
    "F.max_pool1d(T.ones(0, 2, 4), 2)",
    "F.avg_pool1d(T.ones(0, 2, 4), 2)",
    "F.lp_pool1d(x(2, 9), 2, 3)",
    "F.lp_pool1d(x(2, 9), 3.0, 3, 2, True)",
    "F.lp_pool2d(x(2, 5, 6), 2, (2, 3), 1)",
    "F.lp_pool2d(x(1, 2, 5, 6), 1.5, 2, ceil_mode=True)",
    "F.lp_pool3d(x(1, 2, 4, 5, 6), 2, (2, 3, 2))",
    "F.lp_pool2d(x(2, 5, 6), float('inf'), 2)",
    "F.max_pool2d_with_indices(x(1, 4, 4), 2)",
    "F.adaptive_max_pool2d_with_indices(x(1, 4, 4), 2)",
]

_UNPOOL = [
    "F.max_unpool1d(*F.max_pool1d(x(1, 2, 8), 2, 2, return_indices=True), 2, "
    "2)",
    "F.max_unpool1d(*F.max_pool1d(x(2, 9), 2, 2, return_indices=True), 2, "
    "output_size=(9,))",
    "F.max_unpool1d(*F.max_pool1d(x(2, 9), 3, 2, 1, return_indices=True), 3, "
    "2, 1)",
    "F.max_unpool2d(*F.max_pool2d(x(1, 2, 4, 6), 2, return_indices=True), 2)",
    "F.max_unpool2d(*F.max_pool2d(x(2, 5, 7), 2, return_indices=True), 2, "
    "output_size=(2, 5, 7))",
    "F.max_unpool2d(*F.max_pool2d(x(2, 5, 7), (2, 3), return_indices=True), "
    "(2, 3), output_size=(5, 7))",
    "F.max_unpool2d(*F.max_pool2d(x(1, 4, 4), 3, 1, return_indices=True), 3, "
    "1)",
    "F.max_unpool3d(*F.max_pool3d(x(1, 2, 4, 4, 6), 2, return_indices=True), "
    "2)",
    "F.max_unpool3d(*F.max_pool3d(x(2, 5, 4, 6), (2, 1, 3), "
    "return_indices=True), (2, 1, 3), output_size=(5, 4, 6))",
    "F.max_unpool2d(T.ones(0, 2, 2, 2), T.zeros(0, 2, 2, 2, dtype=T.int64), "
    "2)",
    "F.max_unpool2d(l(1, 2, 2), l(1, 2, 2) * 3, 2)",
    "F.max_unpool2d(d(1, 2, 2).half(), l(1, 2, 2) * 3, 2)",
    "op('max_unpool2d')(x(1, 2, 2), l(1, 2, 2), (4, 4))",
    "op('max_unpool3d')(x(1, 2, 2, 2), l(1, 2, 2, 2), (2, 3, 4), (1, 1, 1), "
    "(0, 0, 0))",
    "T.nn.MaxUnpool1d(2)(*F.max_pool1d(x(1, 2, 8), 2, return_indices=True))",
    "T.nn.MaxUnpool2d(2, stride=2)(*F.max_pool2d(x(2, 5, 7), 2, "
    "return_indices=True), output_size=(2, 5, 7))",
    "T.nn.MaxUnpool3d(2)(*F.max_pool3d(x(1, 4, 4, 6), 2, "
    "return_indices=True))",
    "repr(T.nn.MaxUnpool1d(2)), repr(T.nn.MaxUnpool2d(3, 2, 1)), "
    "repr(T.nn.MaxUnpool3d((3, 2, 2), (2, 1, 2)))",
    "grad(lambda a: F.max_unpool1d(a, l(1, 3) * 2, 2), d(1, 3))",
    "grad(lambda a: F.max_unpool2d(a, l(1, 2, 2) * 4, 2), d(1, 2, 2))",
    "grad(lambda a: F.max_unpool3d(a, l(1, 1, 2, 2) * 2, 2), d(1, 1, 2, 2))",
    "grad(lambda a: F.max_unpool2d(*F.max_pool2d(a, 2, return_indices=True), "
    "2), d(2, 4, 4))",
    "grad2(lambda a: F.max_unpool2d(a.square(), l(1, 2, 2) * 4, 2), "
    "d(1, 2, 2))",
]

_FRACTIONAL = [
    "F.fractional_max_pool2d(x(1, 2, 7, 6), 2, (3, 3), "
    "_random_samples=x(1, 2, 2).abs())",
    "F.fractional_max_pool2d(x(2, 7, 6), (3, 2), (3, 4), "
    "return_indices=True, _random_samples=x(1, 2, 2).abs())",
    "F.fractional_max_pool2d(x(2, 7, 6), 2, output_ratio=(0.5, 0.7), "
    "_random_samples=x(1, 2, 2).abs())",
    "F.fractional_max_pool2d(t([[[1.0, nan, 2.0], [0.0, 1.0, 2.0], "
    "[5.0, 1.0, 2.0]]]), 2, 2, return_indices=True, "
    "_random_samples=T.full((1, 1, 2), 0.5))",
    "F.fractional_max_pool2d(x(1, 4, 4), 1, 4, return_indices=True, "
    "_random_samples=T.full((1, 1, 2), 0.9))",
    "F.fractional_max_pool2d(x(1, 4, 4), 2, 1, return_indices=True, "
    "_random_samples=T.full((1, 1, 2), 0.9))",
    "F.fractional_max_pool2d(x(1, 2, 9, 9), 2, 5)",
    "F.fractional_max_pool2d(d(2, 9, 9), 2, 5, return_indices=True)",
    "F.fractional_max_pool3d(x(1, 2, 5, 6, 7), 2, 3, "
    "_random_samples=x(1, 2, 3).abs())",
    "F.fractional_max_pool3d(x(2, 5, 6, 7), (2, 1, 3), (3, 4, 2), "
    "return_indices=True, _random_samples=x(1, 2, 3).abs())",
    "F.fractional_max_pool3d(x(1, 2, 5, 6, 7), 2, output_ratio=0.6)",
    "T.nn.FractionalMaxPool2d(2, output_size=3)(x(1, 2, 7, 6))",
    "T.nn.FractionalMaxPool2d(2, output_ratio=0.5, return_indices=True)"
    "(x(1, 2, 7, 6))",
    "T.nn.FractionalMaxPool3d(2, output_size=(2, 3, 3))(x(1, 2, 5, 6, 7))",
    "repr(T.nn.FractionalMaxPool2d(2, output_size=3)), "
    "repr(T.nn.FractionalMaxPool3d((2, 1, 2), output_ratio=0.5))",
    "grad(lambda a: F.fractional_max_pool2d(a, 2, 3, "
    "_random_samples=d(1, 1, 2).abs()), d(1, 6, 6))",
    "grad(lambda a: F.fractional_max_pool3d(a, 2, 2, "
    "_random_samples=d(1, 1, 3).abs()), d(1, 4, 4, 4))",
    "T.nn.FractionalMaxPool2d(2)",
    "T.nn.FractionalMaxPool2d(2, output_size=3, output_ratio=0.5)",
    "T.nn.FractionalMaxPool2d(2, output_ratio=1.5)",
    "T.nn.FractionalMaxPool3d(2, output_ratio=(0.5, 1.5, 0.5))",
    "F.fractional_max_pool2d(x(1, 4, 4), 2)",
    "F.fractional_max_pool2d(x(4, 4), 2, 2)",
    "F.fractional_max_pool2d(x(1, 4, 4), 2, 4)",
    "F.fractional_max_pool2d(x(1, 4, 4), 5, 1)",
    "F.fractional_max_pool2d(x(1, 4, 4), 2, 0)",
    "F.fractional_max_pool2d(x(1, 4, 4), 2, (2, 2, 2))",
    "F.fractional_max_pool2d(x(1, 4, 4), 2, 2, "
    "_random_samples=T.ones(1, 2, 2))",
    "F.fractional_max_pool2d(x(1, 4, 4), 2, 2, "
    "_random_samples=d(1, 1, 2).abs())",
    "F.fractional_max_pool3d(x(1, 4, 4, 4), 2, 4)",
    "F.fractional_max_pool3d(x(4, 4, 4), 2, 2)",
    "F.fractional_max_pool3d(x(1, 4, 4, 4), 2)",
]

_GRADIENTS = [
    "grad(lambda a: F.adaptive_max_pool1d(a, 2), d(2, 5))",
    "grad(lambda a: F.adaptive_max_pool3d(a, 2), d(1, 3, 4, 3))",
    "grad(lambda a: F.adaptive_max_pool2d(a, (3, 2), True), d(2, 5, 4))",
    "grad(lambda a: F.adaptive_avg_pool1d(a, 3), d(2, 5))",
    "grad(lambda a: F.adaptive_avg_pool3d(a, (2, 2, 1)), d(1, 3, 4, 3))",
    "grad(lambda a: F.max_pool1d(a, 2, return_indices=True), d(2, 5))",
    "grad(lambda a: F.max_pool2d(a, 3, 2, 1, 2, True), d(1, 7, 7))",
    "grad(lambda a: F.avg_pool2d(a, 3, 2, 1, True, True, 5), d(1, 6, 5))",
    "grad(lambda a: F.avg_pool3d(a, 2, 1, 1, True, False), d(1, 3, 2, 3))",
    "grad(lambda a: F.lp_pool1d(a, 2, 3), d(2, 6))",
    "grad(lambda a: F.lp_pool2d(a, 2, 2), d(1, 4, 4))",
    "grad2(lambda a: F.adaptive_max_pool2d(a.square(), 2), d(1, 3, 4))",
    "grad2(lambda a: F.adaptive_avg_pool2d(a.square(), (2, 3)), d(1, 3, 4))",
    "grad2(lambda a: F.avg_pool3d(a.square(), 2), d(1, 2, 4, 4))",
    "grad2(lambda a: F.lp_pool1d(a, 2, 3), d(2, 6))",
]

_ERRORS = [
    "F.adaptive_max_pool2d(x(1, 4, 4), (2, 2, 2))",
    "F.adaptive_max_pool2d(x(4), 2)",
    "F.adaptive_max_pool2d(x(1, 4, 4), (-1, 2))",
    "F.adaptive_max_pool2d(T.ones(1, 0, 4), 2)",
    "F.adaptive_max_pool2d(l(1, 4, 4), 2)",
    "F.adaptive_max_pool2d(x(1, 4, 4) > 0, 2)",
    "F.adaptive_max_pool3d(x(1, 4, 4), 2)",
    "F.adaptive_max_pool3d(T.ones(1, 2, 0, 4), 2)",
    "F.adaptive_max_pool3d(x(1, 4, 4, 4), (2, 2))",
    "F.adaptive_max_pool1d(x(1, 4, 4), (2, 2))",
    "F.adaptive_max_pool1d(T.ones(1, 0), 2)",
    "F.adaptive_max_pool1d(x(1, 4), -1)",
    "F.adaptive_avg_pool2d(x(1, 4, 4), (2, 2, 2))",
    "F.adaptive_avg_pool2d(x(1, 4, 4), (-1, 2))",
    "F.adaptive_avg_pool2d(T.ones(1, 0, 4), 2)",
    "F.adaptive_avg_pool2d(l(1, 4, 4), 2)",
    "F.adaptive_avg_pool3d(x(1, 4, 4), 2)",
    "F.adaptive_avg_pool3d(T.ones(1, 2, 0, 4), 2)",
    "F.adaptive_avg_pool1d(x(1, 4, 4), (2, 2))",
    "F.adaptive_avg_pool1d(x(1, 4), -1)",
    "F.max_pool1d(x(1, 4), 0)",
    "F.max_pool1d(x(1, 4), 2, 0)",
    "F.max_pool1d(x(1, 4), 2, 1, 2)",
    "F.max_pool1d(x(1, 4), 2, 1, -1)",
    "F.max_pool1d(x(1, 4), 2, 1, 0, 0)",
    "F.max_pool1d(x(1, 4), 5)",
    "F.max_pool1d(x(1, 4), (2, 2))",
    "F.max_pool1d(x(1, 1, 1, 4), 2)",
    "F.max_pool2d(x(1, 4, 4), 0)",
    "F.max_pool2d(x(1, 4, 4), -1)",
    "F.max_pool2d(x(1, 4, 4), 2, -1)",
    "F.max_pool2d(x(1, 4, 4), 2, 1, -1)",
    "F.max_pool2d(x(1, 4, 4), 2, 1, 0, 0)",
    "F.max_pool2d(x(1, 4, 4), 2, (1, 2, 3))",
    "F.max_pool2d(x(1, 4, 4), 2, 1, (1, 2, 3))",
    "F.max_pool2d(x(1, 4, 4), 2, 1, 1, (1, 2, 3))",
    "F.max_pool2d(T.ones(1, 0, 4), 2)",
    "F.max_pool2d(T.ones(2, 0, 4, 4), 2)",
    "F.max_pool3d(x(1, 4, 4), 2)",
    "F.max_pool3d(x(1, 2, 2, 2), 3)",
    "F.max_pool3d(x(1, 4, 4, 4), 2, 1, 2)",
    "F.max_pool3d(x(1, 4, 4, 4), (2, 2))",
    "F.max_pool3d(x(1, 4, 4, 4), 0)",
    "F.avg_pool1d(x(1, 4), 0)",
    "F.avg_pool1d(x(1, 4), 2, 0)",
    "F.avg_pool1d(x(1, 4), 2, 1, 2)",
    "F.avg_pool1d(x(1, 4), 5)",
    "F.avg_pool1d(x(1, 4), (2, 2))",
    "F.avg_pool2d(x(4, 4), 2)",
    "F.avg_pool2d(x(1, 4, 4), 0)",
    "F.avg_pool2d(x(1, 4, 4), 2, 0)",
    "F.avg_pool2d(x(1, 4, 4), 2, 1, 2)",
    "F.avg_pool2d(x(1, 4, 4), 2, 1, -1)",
    "F.avg_pool2d(x(1, 4, 4), (2, 2, 2))",
    "F.avg_pool2d(x(1, 4, 4), 2, (1, 1, 1))",
    "F.avg_pool2d(x(1, 4, 4), 2, 1, (1, 1, 1))",
    "F.avg_pool2d(x(1, 4, 4) > 0, 2)",
    "F.avg_pool3d(x(4, 4, 4), 2)",
    "F.avg_pool3d(x(1, 4, 4, 4), 2, divisor_override=0)",
    "F.avg_pool3d(x(1, 4, 4, 4), (2, 2))",
    "F.avg_pool3d(l(1, 4, 4, 4), 2)",
    "F.lp_pool1d(x(1, 4), 2, 5)",
    "F.adaptive_max_pool3d(l(1, 4, 4, 4), 2)",
    "F.adaptive_avg_pool3d(l(1, 4, 4, 4), 2)",
    "F.adaptive_avg_pool2d(l(1, 4, 4), 1)",
    "F.adaptive_avg_pool1d(T.ones(1, 0), 2)",
    "F.adaptive_avg_pool3d(x(4, 4, 4), 2)",
    "op('adaptive_avg_pool2d')(x(1, 4, 4), (2, 2, 2))",
    "op('adaptive_max_pool2d')(x(1, 4, 4), (2, 2, 2))",
    "F.max_pool3d(x(1, 4, 4, 4), -1)",
    "F.max_pool3d(x(1, 4, 4, 4), 2, -1)",
    "F.max_pool3d(x(1, 4, 4, 4), 2, 1, 0, 0)",
    "F.max_pool3d(x(1, 4, 4, 4), 2, (1, 1))",
    "F.max_pool3d(x(4, 4), 2)",
    "F.max_pool3d(T.ones(3, 4, 4, 4) > 0, 2)",
    "F.max_pool2d(x(1, 2, 3, 4, 5), 2)",
    "F.avg_pool2d(T.ones(1, 2, 0, 4), 2)",
    "F.avg_pool2d(x(1, 2, 3, 4, 5), 2)",
    "F.avg_pool3d(x(1, 4, 4, 4), 5)",
    "F.avg_pool3d(x(1, 4, 4, 4), 5, 1, 2)",
    "F.avg_pool3d(x(1, 4, 4, 4), 2, (1, 1))",
    "F.avg_pool3d(x(1, 4, 4, 4), 2, 1, (1, 1))",
    "F.avg_pool1d(x(1, 4), 2, (1, 1))",
    "F.avg_pool1d(x(1, 4), -1)",
    "F.max_pool1d(x(1, 4), 2, (1, 1))",
    "F.max_pool1d(x(1, 4), 2, 1, (1, 1))",
    "F.max_pool1d(x(1, 4), 2, 1, 0, (1, 1))",
    "F.max_pool1d(x(1, 4), 0, return_indices=True)",
    "F.max_pool1d(x(1, 4), 5, return_indices=True)",
    "F.max_pool1d(x(1, 4), (1, 1), return_indices=True)",
    "F.max_pool1d(T.ones(1, 0), 1)",
    "F.max_pool1d(T.ones(0, 4), 2)",
    "op('max_unpool2d')(x(1, 2, 2), l(1, 2, 2), (-4, 4))",
    "op('max_unpool3d')(x(1, 2, 2, 2), l(1, 2, 2, 2), (4, 4, 4), (1, 1), "
    "(0, 0, 0))",
    "F.max_unpool3d(T.ones(1, 1, 0, 2), l(1, 1, 0, 2), 2)",
    "F.fractional_max_pool2d(x(1, 4, 4), (2, 2, 2), 2)",
    "F.fractional_max_pool2d(x(2, 3, 4, 4), 2, 2, "
    "_random_samples=T.ones(1, 3, 2))",
    "F.fractional_max_pool2d(x(2, 4, 4), 2, 2, _random_samples=T.ones(2, 2))",
    "F.fractional_max_pool2d(x(2, 4, 4), 2, 2, "
    "_random_samples=T.ones(1, 2, 3))",
    "F.fractional_max_pool2d(T.ones(2, 0, 4, 4), 2, 2)",
    "F.fractional_max_pool2d(T.ones(0, 2, 4, 4), 2, 2)",
    "F.fractional_max_pool2d(l(1, 4, 4), 2, 2, _random_samples=l(1, 1, 2))",
    "F.fractional_max_pool2d(x(1, 4, 4), (2, 5), (2, 1))",
    "F.fractional_max_pool2d(x(1, 4, 4), 2, output_ratio=(0.5, 0.5, 0.5))",
    "F.fractional_max_pool3d(x(1, 4, 4, 4), 2, (2, 2))",
    "F.max_unpool2d(x(1, 2, 2), x(1, 2, 2), 2)",
    "F.max_unpool2d(x(1, 2, 2), l(1, 2, 3), 2)",
    "F.max_unpool2d(x(2, 2), l(2, 2), 2)",
    "F.max_unpool2d(x(1, 2, 2), l(1, 2, 2) + 13, 2)",
    "F.max_unpool2d(x(1, 2, 2), l(1, 2, 2) - 1, 2)",
    "F.max_unpool2d(x(1, 2, 2), l(1, 2, 2), 2, output_size=(9, 9))",
    "F.max_unpool2d(x(1, 2, 2), l(1, 2, 2), 2, output_size=(9,))",
    "F.max_unpool2d(T.ones(1, 0, 2), T.zeros(1, 0, 2, dtype=T.int64), 2)",
    "op('max_unpool2d')(x(1, 2, 2), l(1, 2, 2), (4,))",
    "F.max_unpool1d(x(2), l(2), 2)",
    "F.max_unpool3d(x(1, 2, 2), l(1, 2, 2), 2)",
    "F.max_unpool3d(x(1, 2, 2, 2), l(1, 2, 2, 2) + 57, 2)",
    "F.max_unpool3d(x(1, 2, 2, 2), x(1, 2, 2, 2), 2)",
    "op('max_unpool3d')(x(1, 2, 2, 2), l(1, 2, 2, 2), (4, 4), (1, 1, 1), "
    "(0, 0, 0))",
    "op('max_unpool3d')(x(1, 2, 2, 2), l(1, 2, 2, 2), (4, 4, 4), (1, 0, 1), "
    "(0, 0, 0))",
]

CASES = cases(_CORNERS, _UNPOOL, _FRACTIONAL, _GRADIENTS, _ERRORS)
