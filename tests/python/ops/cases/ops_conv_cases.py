"""Cases of convolution, sliding windows and rearranged channels."""

from __future__ import annotations

from ops_eval import cases

_FORWARD = [
    "F.conv1d(x(2, 3, 7), x(2, 3, 3), x(2))",
    "F.conv1d(x(3, 7), x(2, 3, 3))",
    "F.conv1d(x(1, 4, 7), x(2, 2, 3), x(2), 2, 1, 2, 2)",
    "F.conv1d(x(1, 2, 6), x(2, 2, 4), None, padding='same')",
    "F.conv1d(x(1, 2, 6), x(2, 2, 3), None, padding='valid')",
    "F.conv1d(x(1, 1, 40), x(5, 1, 16), None, 8)",
    "F.conv1d(x(1, 9, 4), x(7, 9, 3), x(7), 1, 1)",
    "F.conv1d(T.ones(0, 3, 5), x(2, 3, 1))",
    "F.conv1d(x(2, 7, 3).transpose(1, 2), x(2, 3, 3))",
    "F.conv1d(x(1, 3, 7).half(), x(2, 3, 3).half(), x(2).half())",
    "F.conv1d(l(1, 2, 5), l(2, 2, 3))",
    "F.conv1d(x(1, 2, 5) * 1j, x(2, 2, 3) + 1j)",
    "F.conv2d(x(1, 2, 5, 4), x(3, 2, 3, 2), x(3))",
    "F.conv2d(x(1, 2, 5, 4), x(2, 1, 3, 2), x(2), (2, 1), (1, 0), (1, 2), 2)",
    "F.conv2d(x(1, 3, 4, 4), x(6, 1, 3, 3), None, 1, 1, 1, 3)",
    "F.conv2d(x(1, 3, 3, 3), x(2, 3, 1, 1), x(2))",
    "F.conv2d(x(2, 4, 4), x(2, 2, 3, 3), None, padding='same')",
    "F.conv3d(x(1, 2, 3, 3, 3), x(2, 2, 2, 2, 2), x(2), 1, (0, 1, 0))",
    "F.conv_transpose1d(x(1, 3, 4), x(3, 2, 3), x(2), 2, 1, 1)",
    "F.conv_transpose1d(x(1, 4, 4), x(4, 1, 3), None, 2, 0, 0, 2, 2)",
    "F.conv_transpose2d(x(1, 2, 3, 3), x(2, 2, 2, 3), x(2), (2, 1), (0, 1))",
    "F.conv_transpose2d(x(1, 2, 2, 2), x(2, 1, 2, 2), None, 1, 0, 1, 1, 2)",
    "F.conv_transpose3d(x(1, 1, 2, 2, 2), x(1, 2, 2, 2, 2), x(2))",
    "F.unfold(x(1, 2, 4, 4), (2, 3), 1, (1, 0), (2, 1))",
    "F.fold(x(1, 8, 9), (4, 4), 2)",
    "F.pixel_shuffle(x(1, 8, 2, 3), 2)",
    "F.pixel_unshuffle(x(1, 2, 4, 6), 2)",
    "F.channel_shuffle(x(1, 6, 2), 3)",
]

_GRADIENTS = [
    "grad(F.conv1d, d(1, 2, 5), d(2, 2, 3), d(2))",
    "grad(lambda a, b, c: F.conv1d(a, b, c, 2, 1, 2, 2), d(1, 2, 6), d(2, 1, 2), d(2))",
    "grad(lambda a, b: F.conv1d(a, b, None, padding='same'), d(1, 2, 5), d(2, 2, 2))",
    "grad(F.conv2d, d(1, 2, 3, 4), d(2, 2, 2, 2), d(2))",
    "grad(lambda a, b: F.conv2d(a, b, None, 1, 1, 1, 2), d(1, 2, 3, 3), d(2, 1, 3, 3))",
    "grad(F.conv3d, d(1, 1, 3, 2, 2), d(1, 1, 2, 2, 2), d(1))",
    "grad(lambda a, b, c: F.conv_transpose1d(a, b, c, 2, 1, 1), d(1, 2, 3), "
    "d(2, 2, 3), d(2))",
    "grad(F.conv_transpose2d, d(1, 1, 2, 2), d(1, 2, 2, 2), d(2))",
    "grad(lambda a: F.unfold(a, 2), d(1, 1, 3, 3))",
    "grad(lambda a: F.fold(a, (3, 3), 2), d(1, 4, 4))",
    "grad2(lambda a, b, c: F.conv1d(a, b, c, 2, 1), d(1, 2, 5), d(2, 2, 3), d(2))",
    "grad2(lambda a, b: F.conv_transpose1d(a, b, None, 2), d(1, 2, 3), d(2, 2, 3))",
    "grad2(lambda a, b: F.conv2d(a, b).square(), d(1, 1, 3, 3), d(1, 1, 2, 2))",
]

_ERRORS = [
    "F.conv1d(l(1, 1, 3).int(), l(1, 1, 2).int(), dilation=2)",
    "F.conv2d(x(1, 1, 3, 3) > 0, x(1, 1, 2, 2) > 0)",
    "F.conv_transpose1d(l(1, 1, 3).int(), l(1, 1, 2).int())",
    "F.conv_transpose3d(l(1, 1, 2, 2, 2).byte(), l(1, 1, 2, 2, 2).byte())",
    "F.conv_transpose2d(l(1, 1, 3, 3), l(1, 1, 2, 2))",
    "F.conv2d(T.ones(1, 2, 0, 3), x(2, 2, 1, 1), padding=1)",
    "F.conv_transpose1d(T.ones(1, 2, 0), x(2, 2, 1))",
    "F.conv_transpose2d(T.ones(1, 0, 3, 3), T.ones(0, 1, 2, 2))",
    "F.conv_transpose1d(T.ones(1, 1, 3), T.ones(1, 0, 2))",
    "F.conv2d(x(1, 3, 5, 5), x(2, 4, 3, 3))",
    "F.conv2d(x(1, 3, 5, 5), x(2, 3, 3))",
    "F.conv2d(x(3, 5), x(2, 3, 3, 3))",
    "F.conv2d(x(1, 3, 5, 5), x(2, 3, 7, 7))",
    "F.conv2d(x(1, 3, 5, 5), x(2, 3, 3, 3), x(3))",
    "F.conv2d(x(1, 3, 5, 5), x(2, 3, 3, 3), stride=0)",
    "F.conv2d(x(1, 3, 5, 5), x(2, 3, 3, 3), padding=-1)",
    "F.conv2d(x(1, 3, 5, 5), x(2, 3, 3, 3), dilation=0)",
    "F.conv2d(x(1, 3, 5, 5), x(2, 3, 3, 3), groups=2)",
    "F.conv2d(x(1, 4, 5, 5), x(3, 2, 3, 3), groups=2)",
    "F.conv2d(x(1, 3, 5, 5), x(2, 3, 3, 3), groups=0)",
    "F.conv2d(x(1, 3, 5, 5), d(2, 3, 3, 3))",
    "F.conv2d(x(1, 3, 5, 5), x(2, 3, 3, 3), d(2))",
    "F.conv2d(x(1, 3, 5, 5), x(2, 3, 3, 3), stride=(1, 1, 1))",
    "F.conv2d(x(1, 3, 5, 5), x(2, 3, 3, 3), padding='foo')",
    "F.conv2d(x(1, 3, 5, 5), x(2, 3, 3, 3), padding='same', stride=2)",
    "F.conv1d(x(1, 3, 5), x(2, 3, 7))",
    "F.conv1d(x(1, 3, 5, 5), x(2, 3, 3))",
    "F.conv_transpose2d(x(1, 3, 5, 5), x(2, 3, 3, 3))",
    "F.conv_transpose2d(x(1, 3, 5, 5), x(3, 2, 3, 3), x(3))",
    "F.conv_transpose2d(x(1, 3, 1, 1), x(3, 2, 3, 3), padding=3)",
    "F.unfold(x(1, 2, 2, 2), 3)",
    "F.fold(x(1, 4, 2), (2, 2), 2)",
    "F.fold(x(1, 3, 1), (2, 2), 2)",
    "F.pixel_shuffle(x(1, 3, 3, 3), 2)",
    "F.pixel_unshuffle(x(1, 3, 3, 3), 2)",
]

_BACKWARD = [
    "F.conv_tbc(x(5, 2, 3), x(2, 3, 4), x(4), 1)",
    "T.conv_tbc(x(5, 2, 3), x(2, 3, 4), x(3))",
    "T.conv_tbc(x(5, 2, 3), x(2, 2, 4), x(4))",
    "T.conv_tbc(x(2, 3), x(2, 3, 4), x(4))",
    "T.conv_tbc(x(5, 2, 3), x(3, 4), x(4))",
    "op('convolution_backward')(x(2, 4, 3, 3), x(2, 3, 5, 5), x(4, 3, 3, 3), "
    "[4], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, True])",
    "op('convolution_backward')(x(2, 2, 6, 9), x(2, 4, 3, 5), x(4, 1, 2, 3), "
    "None, [2, 2], [0, 1], [1, 1], True, [0, 0], 2, [True, True, False])[:2]",
    "op('_convolution_double_backward')(x(1, 2, 5), x(3, 2, 2, start=1), "
    "x(3), x(1, 3, 4), x(3, 2, 2), x(1, 2, 5, start=2), [1], [0], [1], False, "
    "[0], 1, [True, True, True])",
]

CASES = cases(_FORWARD, _GRADIENTS, _ERRORS, _BACKWARD)
