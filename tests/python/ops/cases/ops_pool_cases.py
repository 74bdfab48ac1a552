"""Cases of pooling, padding and interpolation."""

from __future__ import annotations

from ops_eval import cases

_POOLING = [
    "F.max_pool1d(x(1, 2, 7), 2)",
    "F.max_pool1d(x(2, 7), 3, 2, 1, ceil_mode=True)",
    "F.max_pool1d(x(1, 2, 7), 3, 1, 1, 2)",
    "F.max_pool1d(x(1, 2, 7), 3, 2, return_indices=True)",
    "F.max_pool2d(x(1, 2, 5, 4), 2)",
    "F.max_pool2d(x(2, 5, 4), (3, 2), (2, 3), 1, (1, 2), True)",
    "F.max_pool2d(x(1, 2, 5, 4), (3, 2), (2, 3), 1, return_indices=True)",
    "F.max_pool2d(t([[[[1.0, nan, 2.0], [0.0, nan, 3.0]]]]), 2, 1, "
    "return_indices=True)",
    "F.max_pool2d(T.full((1, 1, 2, 2), -inf), 2, return_indices=True)",
    "F.max_pool2d(T.ones(1, 1, 3, 3), 2, 1, return_indices=True)",
    "F.max_pool2d(x(1, 1, 1, 1), 2, 1, 1, 3, return_indices=True)",
    "F.max_pool2d(l(1, 1, 4, 4) % 7, 2)",
    "F.max_pool2d(x(1, 4, 4, 2).permute(0, 3, 1, 2), 2)",
    "F.max_pool2d(T.ones(0, 2, 4, 4), 2)",
    "F.max_pool3d(x(1, 2, 4, 3, 3), 2, 1, return_indices=True)",
    "F.avg_pool1d(x(1, 2, 7), 3, 2, 1, True, False)",
    "F.avg_pool2d(x(1, 2, 5, 4), 2)",
    "F.avg_pool2d(x(1, 2, 5, 4), 3, 2, 1, True)",
    "F.avg_pool2d(x(1, 2, 5, 4), 3, 2, 1, True, False)",
    "F.avg_pool2d(x(1, 2, 5, 4), 3, 2, 1, False, True, 5)",
    "F.avg_pool2d(l(1, 1, 4, 4), 2)",
    "F.avg_pool3d(x(1, 1, 4, 3, 3), (2, 1, 2), 2, (1, 0, 1), False, False)",
    "F.adaptive_avg_pool1d(x(1, 2, 7), 3)",
    "F.adaptive_avg_pool1d(x(2, 4), 6)",
    "F.adaptive_avg_pool2d(x(1, 2, 5, 4), 1)",
    "F.adaptive_avg_pool2d(x(1, 2, 5, 4), (3, 6))",
    "F.adaptive_avg_pool2d(x(1, 2, 5, 4), (0, 2))",
    "F.adaptive_avg_pool3d(x(1, 1, 4, 3, 2), (2, 2, 3))",
    "F.adaptive_max_pool1d(x(1, 2, 7), 3, True)",
    "F.adaptive_max_pool2d(x(1, 2, 5, 4), (3, 6), True)",
    "F.adaptive_max_pool3d(x(1, 1, 4, 3, 2), 2, True)",
    "F.avg_pool2d(x(1, 1, 4, 4).half(), 2)",
]

_PADDING = [
    "F.pad(x(3), (1, 2), value=2.5)",
    "F.pad(x(2, 3), (1, 0, -1, 2))",
    "F.pad(x(2, 3), (0, -1), value=1.0)",
    "F.pad(l(3), (1, 1), value=7)",
    "F.pad(T.ones(0, 2), (1, 1, 1, 0), value=1.0)",
    "F.pad(T.ones(2) > 0, (1, 1))",
    "F.pad(x(2, 4), (2, 3), mode='reflect')",
    "F.pad(x(1, 3, 4), (1, 2, 2, 1), mode='reflect')",
    "F.pad(x(1, 2, 2, 3), (1, 2, 1, 1, 1, 0), mode='reflect')",
    "F.pad(x(2, 4), (5, 3), mode='replicate')",
    "F.pad(x(1, 3, 4), (-1, 2, 2, 1), mode='replicate')",
    "F.pad(x(2, 4), (4, 3), mode='circular')",
    "F.pad(x(2, 4), (-1, 2), mode='circular')",
    "F.pad(x(1, 1, 3, 4), (1, 2, 2, 0), mode='circular')",
]

_INTERPOLATION = [
    "F.interpolate(x(1, 2, 4), 7)",
    "F.interpolate(x(1, 2, 4), scale_factor=1.7)",
    "F.interpolate(x(1, 2, 4), 8, mode='nearest-exact')",
    "F.interpolate(x(1, 2, 4), 3, mode='linear')",
    "F.interpolate(x(1, 2, 4), 7, mode='linear', align_corners=True)",
    "F.interpolate(x(1, 1, 3, 4), (6, 3))",
    "F.interpolate(x(1, 1, 3, 4), (5, 3), mode='nearest-exact')",
    "F.interpolate(x(1, 1, 3, 4), (5, 3), mode='bilinear')",
    "F.interpolate(x(1, 1, 3, 4), scale_factor=(1.5, 0.6), mode='bilinear')",
    "F.interpolate(x(1, 1, 3, 4), (5, 1), mode='bilinear', align_corners=True)",
    "F.interpolate(x(1, 1, 3, 4), (5, 6), mode='bicubic')",
    "F.interpolate(x(1, 1, 3, 4), (5, 6), mode='bicubic', align_corners=True)",
    "F.interpolate(x(1, 1, 2, 3, 2), (3, 2, 4))",
    "F.interpolate(x(1, 1, 2, 3, 2), (3, 2, 4), mode='trilinear')",
    *(
        f"F.interpolate(x(1, 2, 7, 9), {size}, mode='{mode}', "
        f"align_corners={align}, antialias=True)"
        for mode in ("bilinear", "bicubic", "lanczos")
        for size in ("(3, 4)", "(8, 2)", "None, (0.4, 1.3)")
        for align in (True, False)
    ),
    "F.interpolate(x(1, 2, 5), 3, mode='linear', antialias=True)",
    "F.interpolate(x(1, 1, 5, 5), 3, mode='lanczos')",
    "op('_upsample_bilinear2d_aa')(x(1, 1, 5, 5), [2, 2], False, 0.5, 0.4)",
    "F.interpolate((l(1, 1, 3, 3) * 9).to(T.uint8), (5, 5))",
    "F.affine_grid(x(1, 2, 3), (1, 1, 2, 3), align_corners=True)",
    "F.affine_grid(x(1, 3, 4), (1, 1, 2, 1, 2), align_corners=False)",
]

_GRIDS = [
    f"F.grid_sample(x(1, 2, 3, 4), x(1, 2, 3, 2) * 1.4, '{mode}', '{padding}', {align})"
    for mode in ("bilinear", "nearest", "bicubic")
    for padding in ("zeros", "border", "reflection")
    for align in (True, False)
] + [
    "F.grid_sample(x(1, 1, 2, 3, 2), x(1, 1, 2, 2, 3), align_corners=False)",
    "F.grid_sample(x(1, 1, 3, 3), t([[[[nan, 0.0], [inf, 9.0]]]]), "
    "'nearest', align_corners=True)",
    "grad(lambda a, b: F.grid_sample(a, b, align_corners=True), "
    "d(1, 2, 3, 4), d(1, 2, 2, 2) * 1.3)",
    "grad(lambda a, b: F.grid_sample(a, b, 'bicubic', 'reflection', False), "
    "d(1, 1, 3, 4), d(1, 2, 2, 2) * 1.3)",
    "grad(lambda a, b: F.grid_sample(a, b, 'bilinear', 'border', False), "
    "d(1, 1, 2, 3, 2), d(1, 1, 2, 2, 3))",
    "F.grid_sample(x(1, 1, 3), x(1, 2, 2, 2), align_corners=True)",
    "F.grid_sample(x(1, 1, 3, 3), x(1, 2, 2, 3), align_corners=True)",
    "F.grid_sample(x(1, 1, 3, 3), x(2, 2, 2, 2), align_corners=True)",
    "F.grid_sample(x(1, 1, 3, 3), d(1, 2, 2, 2), align_corners=True)",
]

_GRADIENTS = [
    "grad(lambda a: F.max_pool1d(a, 2), d(1, 2, 5))",
    "grad(lambda a: F.max_pool2d(a, 2, 1), d(1, 1, 3, 3))",
    "grad(lambda a: F.max_pool3d(a, 2, 1), d(1, 1, 3, 2, 3))",
    "grad(lambda a: F.avg_pool1d(a, 3, 2, 1), d(1, 2, 5))",
    "grad(lambda a: F.avg_pool2d(a, 2, 1, 1, False, False), d(1, 1, 3, 3))",
    "grad(lambda a: F.adaptive_avg_pool2d(a, (2, 3)), d(1, 1, 3, 4))",
    "grad(lambda a: F.adaptive_avg_pool2d(a, 1), d(1, 2, 3, 4))",
    "grad(lambda a: F.adaptive_max_pool2d(a, 2), d(1, 1, 3, 4))",
    "grad(lambda a: F.pad(a, (1, -1, 0, 2), value=3.0), d(2, 3))",
    "grad(lambda a: F.pad(a, (2, 1), mode='reflect'), d(2, 4))",
    "grad(lambda a: F.pad(a, (2, 1, 1, 1), mode='replicate'), d(1, 2, 3))",
    "grad(lambda a: F.pad(a, (2, 1), mode='circular') * 1, d(2, 4))",
    "grad(lambda a: F.interpolate(a, 7), d(1, 1, 4))",
    "grad(lambda a: F.interpolate(a, (5, 2), mode='bilinear'), d(1, 1, 3, 3))",
    "grad(lambda a: F.interpolate(a, (5, 2), mode='bicubic'), d(1, 1, 3, 3))",
    *(
        f"grad(lambda a: F.interpolate(a, (2, 4), mode='{mode}', "
        "antialias=True), d(1, 1, 7, 3))"
        for mode in ("bilinear", "bicubic", "lanczos")
    ),
    "grad2(lambda a: F.max_pool2d(a.square(), 2, 1), d(1, 1, 3, 3))",
    "grad2(lambda a: F.avg_pool2d(a.square(), 2), d(1, 1, 4, 4))",
    "grad2(lambda a: F.pad(a.square(), (2, 1), mode='reflect'), d(2, 4))",
]

_ERRORS = [
    "F.avg_pool3d(x(1, 2, 3, 3, 3).half(), 2)",
    "F.avg_pool3d(T.ones(0, 2, 3, 3, 3).bfloat16(), 2)",
    "F.avg_pool3d(l(1, 3, 3, 3).int(), 2)",
    "F.interpolate(T.ones(2, 0, 3), 4)",
    "F.interpolate(T.ones(2, 0, 3, 3), 4, mode='bicubic')",
    "F.interpolate(T.ones(2, 0, 3, 3, 3), 4, mode='trilinear')",
    "F.interpolate(l(1, 2, 3).byte(), 4, mode='linear')",
    "F.interpolate(x(1, 2, 3), 0)",
    "F.interpolate(x(1, 2, 3, 3).half(), 4, mode='bilinear', antialias=True)",
    "F.max_pool2d(x(2, 3), 2)",
    "F.max_pool2d(x(1, 2, 3), 4)",
    "F.max_pool2d(x(1, 2, 3), 2, padding=2)",
    "F.max_pool2d(x(1, 4, 4), 2, stride=0)",
    "F.max_pool2d(x(1, 4, 4), (2, 2, 2))",
    "F.max_pool2d(x(1, 4, 4) > 0, 2)",
    "F.max_pool1d(x(4), 2)",
    "F.avg_pool2d(x(1, 2, 3), 4)",
    "F.avg_pool2d(x(1, 4, 4), 2, divisor_override=0)",
    "F.avg_pool1d(x(4), 2)",
    "F.adaptive_avg_pool2d(x(4), 2)",
    "F.adaptive_avg_pool1d(x(4), 2)",
    "F.adaptive_max_pool1d(x(4), 2)",
    "F.pad(x(2, 3), (1, 1, 1, 1, 1, 1))",
    "F.pad(x(2, 3), (1,))",
    "F.pad(x(2, 3), (1, 1), mode='foo')",
    "F.pad(x(2, 3), (3, 1), mode='reflect')",
    "F.pad(x(3), (1, 1), mode='reflect')",
    "F.pad(x(1, 2, 3), (1, 1), mode='reflect', value=2)",
    "F.pad(x(2, 3), (4, 1), mode='circular')",
    "F.pad(x(1, 2, 3), (-4, 1), mode='replicate')",
    "op('upsample_nearest2d')(x(1, 2, 3), (2, 2))",
    "op('upsample_nearest2d')(x(1, 2, 3, 3), (0, 2))",
]

_AGAIN = [
    *(
        f"grad(lambda a: F.adaptive_{kind}_pool{n}d(a, {size}), "
        f"x(1, 2, {', '.join(['4'] * n)}))"
        for kind in ("avg", "max")
        for n, size in ((1, 0), (2, (2, 0)), (3, (0, 2, 2)))
    ),
    "F.max_pool3d(x(2, 4, 4, 4).permute(3, 0, 1, 2), 2).stride()",
    *(
        f"grad2(lambda a, b: F.grid_sample(a, b, {mode!r}, {padding!r}, "
        f"{corners}), d(1, 2, 3, 4), d(1, 2, 3, 2) * 1.4)"
        for mode in ("bilinear", "bicubic")
        for padding in ("zeros", "border", "reflection")
        for corners in (False, True)
    ),
    "grad2(lambda a, b: F.grid_sample(a, b, align_corners=False), "
    "d(1, 1, 2, 3, 2), d(1, 1, 2, 2, 3))",
    "grad(lambda g, a: op('max_pool2d_with_indices_backward')(g, a, 2, 2, 0, "
    "1, False, t([[[0, 3]]])), d(1, 1, 2), d(1, 2, 4))",
    "F.max_unpool2d(x(1, 2, 2, 2).contiguous(memory_format=T.channels_last), "
    "t([0, 2, 5, 7, 1, 3, 4, 6]).reshape(1, 2, 2, 2), "
    "2).is_contiguous(memory_format=T.channels_last)",
]

CASES = cases(_POOLING, _PADDING, _INTERPOLATION, _GRIDS, _GRADIENTS, _ERRORS, _AGAIN)
