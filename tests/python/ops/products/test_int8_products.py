"""Products and convolutions of 8-bit integers against sums in int64."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from simd_choice import needs_simd

import hotaru

MATMUL = hotaru._C._operator("hotaru::matmul_integer")
QMATMUL = hotaru._C._operator("hotaru::qlinear_matmul")
CONV = hotaru._C._operator("hotaru::conv_integer")
QCONV = hotaru._C._operator("hotaru::qlinear_conv")
DTYPES = {"u": np.uint8, "s": np.int8}


def draw(rng, shape, kind):
    bounds = np.iinfo(DTYPES[kind])
    return rng.integers(bounds.min, bounds.max + 1, shape).astype(DTYPES[kind])


def tensor(array):
    return hotaru.from_numpy(np.array(array))


def expect_product(a, b, a_zero=0, b_zero=0):
    wide = (a.astype(np.int64) - a_zero) @ (b.astype(np.int64) - b_zero)
    return wide.astype(np.int32)


def rounded(value, zero, dtype):
    bounds = np.iinfo(dtype)
    moved = np.rint(value) + np.float32(zero)
    return np.clip(moved, bounds.min, bounds.max).astype(dtype)


def layouts(array):
    """The same matrix by rows, by columns, and as a part of a larger one."""
    large = np.zeros((2 * array.shape[0], 3 * array.shape[1]), array.dtype)
    large[::2, ::3] = array
    yield tensor(array)
    yield tensor(np.ascontiguousarray(array.T)).t()
    yield tensor(large)[::2, ::3]


def check_layouts(rng, m, k, n, kinds):
    """Products of drawn matrices, in all layouts, beside exact ones."""
    a, b = draw(rng, (m, k), kinds[0]), draw(rng, (k, n), kinds[1])
    a_zero, b_zero = draw(rng, (m,), kinds[0]), draw(rng, (n,), kinds[1])
    expected = expect_product(
        a, b, a_zero.astype(np.int64)[:, None], b_zero.astype(np.int64)
    )
    zeros = tensor(a_zero), tensor(b_zero)
    for left, right in itertools.product(layouts(a), layouts(b)):
        out = MATMUL(left, right, *zeros)
        assert out.dtype == hotaru.int32
        assert out.is_contiguous()
        np.testing.assert_array_equal(out.numpy(), expected)


# Rows of each way (few, a tile, some), inner lengths beside pairs and vectors,
# columns beside vectors and panels.
@pytest.mark.parametrize("m", [1, 2, 5, 6, 9, 17, 33])
@pytest.mark.parametrize("kinds", ["uu", "us", "su", "ss"])
def test_products_of_all_layouts_with_zero_points(m, kinds):
    rng = np.random.default_rng(m)
    for k, n in itertools.product((1, 2, 7, 16, 33), (1, 8, 15, 17, 33, 130)):
        check_layouts(rng, m, k, n, kinds)


# Inner lengths beside quads, vectors of bytes, what is transposed at a time,
# and a way of the cache; rows beyond what is packed at a time.
@pytest.mark.parametrize("kinds", ["uu", "us", "su", "ss"])
@pytest.mark.parametrize(
    ("m", "k", "n"),
    [
        (4, 63, 20),
        (3, 65, 9),
        (8, 259, 5),
        (14, 130, 40),
        (27, 1027, 33),
        (70, 4096, 35),
        (9, 4, 70),
        (12, 5, 3),
    ],
)
def test_products_of_long_rows(m, k, n, kinds):
    rng = np.random.default_rng(k)
    check_layouts(rng, m, k, n, kinds)


@pytest.mark.parametrize("kinds", ["us", "uu", "ss"])
@pytest.mark.parametrize("k", [*range(10), 63, 64, 65, 1030])
def test_graphs_pack_what_stays_with_its_zero_points(k, kinds):
    rng = np.random.default_rng(k)
    a = draw(rng, (6, k), kinds[0])
    for n, by_columns in itertools.product((1, 31, 33, 64), (False, True)):
        b, b_zero = draw(rng, (k, n), kinds[1]), draw(rng, (n,), kinds[1])
        a_zero = draw(rng, (1,), kinds[0])
        right = tensor(b.T.copy()).t() if by_columns else tensor(b)
        given = tensor(a)
        graph = hotaru.cpu.Graph()
        zeros = tensor(a_zero), tensor(b_zero)
        with hotaru.cpu.graph(graph):
            out = MATMUL(given, right, *zeros)
        for _ in range(2):
            graph.replay()
            wide = a.astype(np.int64), b.astype(np.int64)
            expected = (wide[0] - a_zero) @ (wide[1] - b_zero)
            np.testing.assert_array_equal(out.numpy(), expected)
            a = draw(rng, (6, k), kinds[0])
            given.copy_(tensor(a))


@pytest.mark.parametrize("m", [1, 3, 7, 40])
@pytest.mark.parametrize("value", [-128, 127, 255])
def test_extremes_wrap_as_int32(m, value):
    dtype = np.uint8 if value == 255 else np.int8
    zero = 0 if value == 255 else 127
    # 255 * 255 * 70,000 is more than int32 holds.
    a, b = (np.full((m, 70_000), value, dtype), np.full((70_000, 18), value, dtype))
    for left, right in ((a, b), (a, np.ascontiguousarray(b.T).T)):
        out = MATMUL(tensor(left), hotaru.from_numpy(right))
        np.testing.assert_array_equal(out.numpy(), expect_product(a, b))
    out = MATMUL(tensor(a), tensor(b), tensor(dtype(zero)), tensor(dtype(zero)))
    np.testing.assert_array_equal(out.numpy(), expect_product(a, b, zero, zero))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((4,), (4,)),
        ((4,), (4, 3)),
        ((2, 4), (4,)),
        ((2, 3, 4), (4, 5)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((0, 4), (4, 3)),
        ((2, 0), (0, 3)),
        ((0, 2, 3), (3, 4)),
        ((2, 3), (3, 0)),
        ((7, 2, 3), (7, 3, 4)),
    ],
)
def test_shapes_are_those_of_matmul(left, right):
    rng = np.random.default_rng(0)
    a, b = draw(rng, left, "u"), draw(rng, right, "s")
    out = MATMUL(tensor(a), tensor(b), tensor(np.uint8(3)), None)
    expected = expect_product(a, b, 3)
    assert tuple(out.shape) == expected.shape
    np.testing.assert_array_equal(out.numpy(), expected)


def test_zero_points_of_batches():
    rng = np.random.default_rng(0)
    a, b = draw(rng, (2, 3, 4), "u"), draw(rng, (4, 5), "s")
    a_zero, b_zero = draw(rng, (2, 3, 1), "u"), draw(rng, (2, 1, 5), "s")
    out = MATMUL(*map(tensor, (a, b, a_zero, b_zero)))
    expected = expect_product(a, b, a_zero.astype(np.int64), b_zero.astype(np.int64))
    np.testing.assert_array_equal(out.numpy(), expected)
    one_a_row = MATMUL(*map(tensor, (a, b, a_zero[0, :, 0])))
    np.testing.assert_array_equal(
        one_a_row.numpy(), expect_product(a, b, a_zero[0].astype(np.int64))
    )


@pytest.mark.parametrize("m", [1, 5, 20])
@pytest.mark.parametrize("kind", "us")
@pytest.mark.parametrize(("rows", "columns"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_requantised_to_the_bit(m, kind, rows, columns):
    rng = np.random.default_rng(m)
    a, b = draw(rng, (m, 37), "u"), draw(rng, (37, 21), "s")
    a_scale = rng.random(m if rows else 1).astype(np.float32)
    b_scale = rng.random(21 if columns else 1).astype(np.float32)
    y_scale, zero = np.float32(300.7), draw(rng, (), kind)
    sums = expect_product(a, b, 120, -7).astype(np.float32)
    scale = a_scale[:, None] * b_scale / y_scale
    out = QMATMUL(
        *map(tensor, (a, a_scale, np.uint8(120), b, b_scale, np.int8(-7))),
        tensor(y_scale),
        tensor(zero),
    )
    expected = rounded(sums * scale, zero, DTYPES[kind])
    np.testing.assert_array_equal(out.numpy(), expected)


def test_halves_round_to_even_and_results_saturate():
    sums = np.arange(-600, 600, dtype=np.int32)
    a = np.ones((1, 5), np.int8)
    parts = sums[None, :] // 5 + (np.arange(5)[:, None] < sums % 5)
    for zero in (np.uint8(3), np.int8(-3)):
        out = QMATMUL(
            tensor(a),
            tensor(np.float32(1)),
            None,
            tensor(parts.astype(np.int8)),
            tensor(np.float32(1)),
            None,
            tensor(np.float32(2)),
            tensor(zero),
        )
        expected = rounded(sums * np.float32(0.5), zero, zero.dtype)
        np.testing.assert_array_equal(out.numpy()[0], expected)
    for scale in (1e30, -1e30):
        out = QMATMUL(
            tensor(a),
            tensor(np.float32(scale)),
            None,
            tensor(parts.astype(np.int8)),
            tensor(np.float32(1)),
            None,
            tensor(np.float32(1)),
            tensor(np.uint8(0)),
        )
        expected = np.where(sums * scale > 0, 255, 0)
        np.testing.assert_array_equal(out.numpy()[0], expected)


def expect_conv(x, w, x_zero, w_zero, stride, begin, end, dilation, groups):
    """Window by window, in int64."""
    dims = w.ndim - 2
    x = np.pad(
        x.astype(np.int64) - x_zero, [(0, 0), (0, 0), *zip(begin, end, strict=True)]
    )
    w = w.astype(np.int64) - w_zero.reshape(-1, *[1] * (dims + 1))
    size = [
        (x.shape[d + 2] - (w.shape[d + 2] - 1) * dilation[d] - 1) // stride[d] + 1
        for d in range(dims)
    ]
    out = np.zeros((x.shape[0], w.shape[0], *size), np.int64)
    of_group, outputs = w.shape[1], w.shape[0] // groups
    for g in range(groups):
        part = x[:, g * of_group : (g + 1) * of_group]
        rows = slice(g * outputs, (g + 1) * outputs)
        for at in itertools.product(*map(range, w.shape[2:])):
            taken = tuple(
                slice(a * d, a * d + (n - 1) * s + 1, s)
                for a, d, n, s in zip(at, dilation, size, stride, strict=True)
            )
            weights = w[(rows, slice(None), *at)]
            window = part[(slice(None), slice(None), *taken)]
            out[:, rows] += np.einsum("oc,nc...->no...", weights, window)
    return out.astype(np.int32)


@pytest.mark.parametrize("seed", range(60))
def test_convolutions_of_any_window(seed):
    rng = np.random.default_rng(seed)
    dims = seed % 3 + 1

    def few(low, high):
        return [int(rng.integers(low, high)) for _ in range(dims)]

    groups, channels = int(rng.choice([1, 1, 2, 3])), int(rng.integers(1, 6))
    outputs = groups * int(rng.choice([1, 2, 7, 16]))
    kernel, stride, dilation = few(1, 5), few(1, 4), few(1, 4)
    begin, end = few(0, 4), few(0, 4)
    size = [
        max(s, (k - 1) * d + 1 - b - e)
        for s, k, d, b, e in zip(
            few(1, {1: 60, 2: 24, 3: 9}[dims]),
            kernel,
            dilation,
            begin,
            end,
            strict=True,
        )
    ]
    kinds = rng.choice(["u", "s"], 3)
    x = draw(rng, (2, channels * groups, *size), kinds[0])
    w = draw(rng, (outputs, channels, *kernel), kinds[1])
    x_zero = draw(rng, (), kinds[0])
    w_zero = draw(rng, (outputs if seed % 2 else 1,), kinds[1])
    window = stride, begin, end, dilation, groups
    sums = expect_conv(x, w, x_zero.astype(np.int64), w_zero.astype(np.int64), *window)
    given = [tensor(t) for t in (x, w, x_zero, w_zero)]
    np.testing.assert_array_equal(CONV(*given, *window).numpy(), sums)
    # x and w where other memory lies in between.
    apart = [hotaru.stack([t, t], -1).select(-1, 1) for t in (given[0], given[1])]
    np.testing.assert_array_equal(CONV(*apart, *given[2:], *window).numpy(), sums)

    bias = rng.integers(-3000, 3000, outputs).astype(np.int32)
    w_scale = rng.random(outputs if seed % 2 else 1).astype(np.float32)
    x_scale, y_scale = np.float32(rng.random()), np.float32(90 * rng.random())
    zero = draw(rng, (), kinds[2])
    shape = (-1, *[1] * dims)
    scale = (x_scale * w_scale / y_scale).reshape(shape)
    expected = rounded(
        (sums + bias.reshape(shape)).astype(np.float32) * scale, zero, DTYPES[kinds[2]]
    )
    out = QCONV(
        given[0],
        tensor(x_scale),
        given[2],
        given[1],
        tensor(w_scale),
        given[3],
        tensor(y_scale),
        tensor(zero),
        tensor(bias),
        *window,
    )
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("kinds", ["us", "uu", "ss"])
@pytest.mark.parametrize(
    ("channels", "kernel", "stride", "dilation"),
    [
        (3, 7, 2, 1),
        (1, 7, 1, 1),
        (1, 9, 3, 2),
        (5, 3, 2, 1),
        (6, 1, 1, 1),
        (7, 5, 1, 2),
        (8, 3, 3, 1),
        (33, 3, 1, 1),
        (2, 11, 4, 1),
    ],
)
def test_graphs_pack_windows_of_words_that_are_not_full(
    channels, kernel, stride, dilation, kinds
):
    """Words of four channels or positions of the kernel, of which some are not
    there, beside weights with and without zero points.
    """
    rng = np.random.default_rng(channels * kernel)
    pad = dilation * (kernel // 2)
    window = [stride] * 2, [pad] * 2, [pad] * 2, [dilation] * 2, 1
    x = draw(rng, (1, channels, 23, 41), kinds[0])
    w = draw(rng, (15, channels, kernel, kernel), kinds[1])
    for w_zero in (draw(rng, (15,), kinds[1]), np.zeros(15, w.dtype)):
        given, graph = tensor(x), hotaru.cpu.Graph()
        rest = tensor(w), tensor(np.array(100, x.dtype)), tensor(w_zero)
        with hotaru.cpu.graph(graph):
            out = CONV(given, rest[0], *rest[1:], *window)
        for _ in range(2):
            graph.replay()
            expected = expect_conv(x, w, 100, w_zero.astype(np.int64), *window)
            np.testing.assert_array_equal(out.numpy(), expected)
            x = draw(rng, x.shape, kinds[0])
            given.copy_(tensor(x))


@pytest.mark.parametrize("kinds", ["us", "uu", "su", "ss"])
@pytest.mark.parametrize("kernel", [(1, 3), (3, 3), (5, 9), (2, 4), (3,), (2, 3, 5)])
def test_channels_alone_by_lines(kernel, kinds):
    """One and two outputs a channel, steps of one, two and three, widths beside
    what is computed at a time, padding on one side and beyond the picture.
    """
    rng = np.random.default_rng(len(kernel) * kernel[-1])
    dims = len(kernel)
    for width, step, begin, end, outputs in (
        (9, 1, 0, 0, 1),
        (16, 1, 1, 2, 2),
        (17, 2, 3, 0, 1),
        (40, 2, 0, 4, 1),
        (31, 1, 20, 1, 1),
        (50, 3, 1, 1, 1),
        (64, 2, 1, 1, 5),
    ):
        x = draw(rng, (2, 3, *[6] * (dims - 1), width), kinds[0])
        w = draw(rng, (3 * outputs, 1, *kernel), kinds[1])
        window = [step] * dims, [begin] * dims, [end] * dims, [1] * dims, 3
        for w_zero in (draw(rng, (len(w),), kinds[1]), np.zeros(1, w.dtype)):
            out = CONV(
                tensor(x),
                tensor(w),
                tensor(np.array(77, x.dtype)),
                tensor(w_zero),
                *window,
            )
            np.testing.assert_array_equal(
                out.numpy(), expect_conv(x, w, 77, w_zero.astype(np.int64), *window)
            )
            scaled = QCONV(
                tensor(x),
                tensor(np.float32(0.1)),
                tensor(np.array(77, x.dtype)),
                tensor(w),
                tensor(np.full(len(w_zero), 0.2, np.float32)),
                tensor(w_zero),
                tensor(np.float32(9)),
                tensor(np.uint8(100)),
                tensor(np.arange(len(w), dtype=np.int32)),
                *window,
            )
            bias = np.arange(len(w)).reshape(-1, *[1] * dims)
            scale = np.float32(0.1) * np.float32(0.2) / np.float32(9)
            np.testing.assert_array_equal(
                scaled.numpy(),
                rounded((out.numpy() + bias).astype(np.float32) * scale, 100, np.uint8),
            )


def test_deep_convolutions_in_bands_on_two_threads():
    rng = np.random.default_rng(0)
    before = hotaru.get_num_threads()
    for size, channels, outputs, kernel in (
        ((9, 9), 300, 40, (3, 3)),
        ((120, 130), 20, 9, (3, 3)),
        ((4000,), 33, 12, (5,)),
        ((7, 7), 96, 130, (1, 1)),
        ((7, 9), 260, 200, (3, 3)),
        ((11, 70), 300, 90, (3, 3)),
    ):
        x, w = (
            draw(rng, (1, channels, *size), "u"),
            draw(rng, (outputs, channels, *kernel), "s"),
        )
        dims = len(size)
        window = [1] * dims, [1] * dims, [1] * dims, [1] * dims, 1
        expected = expect_conv(x, w, 7, np.zeros(1, np.int64), *window)
        for threads in (1, 2):
            hotaru.set_num_threads(threads)
            out = CONV(tensor(x), tensor(w), tensor(np.uint8(7)), None, *window)
            np.testing.assert_array_equal(out.numpy(), expected)
    hotaru.set_num_threads(before)


def test_windows_that_reach_far_beyond_the_picture():
    x, w = np.array([[[5]]], np.uint8), np.array([[[2, 3]]], np.int8)
    for dilation, begin, end in ((100_000, 100_000, 0), (100_000, 0, 100_000)):
        out = CONV(
            tensor(x),
            tensor(w),
            tensor(np.uint8(1)),
            None,
            [1],
            [begin],
            [end],
            [dilation],
            1,
        )
        assert out.tolist() == [[[12 if begin else 8]]]


def test_no_elements():
    x = hotaru.zeros(0, 3, 4, 4, dtype=hotaru.uint8)
    w = hotaru.zeros(2, 3, 3, 3, dtype=hotaru.int8)
    window = [1, 1], [0, 0], [0, 0], [1, 1], 1
    assert CONV(x, w, None, None, *window).shape == (0, 2, 2, 2)
    # Sums of no channels are zero.
    out = CONV(
        hotaru.zeros(1, 0, 4, 4, dtype=hotaru.uint8), w[:, :0], None, None, *window
    )
    assert out.shape == (1, 2, 2, 2)
    assert not out.any()


def byte(*shape):
    return hotaru.zeros(*shape, dtype=hotaru.uint8)


def convolve(w, stride=1, begin=0, end=0):
    window = [stride], [begin], [end], [1], 1
    return CONV(byte(1, 2, 4), w, None, None, *window)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: MATMUL(byte(2, 3), byte(4, 2)), "cannot be multiplied"),
        (lambda: MATMUL(byte(2, 3).int(), byte(3, 2)), "a should be uint8"),
        (
            lambda: MATMUL(byte(2, 3), byte(3, 2), hotaru.tensor(0)),
            "the zero point of a should be Byte as a, got Long",
        ),
        (
            lambda: MATMUL(byte(2, 3), byte(3, 2), byte(3)),
            "should be one number or one for each row of 2",
        ),
        (lambda: convolve(byte(2, 3, 1)), "do not fit 1 groups"),
        (lambda: convolve(byte(2, 2, 5)), "a window of 5 does not fit into 4"),
        (lambda: convolve(byte(2, 2, 2), begin=2**62, end=2**62), "too large"),
        (lambda: convolve(byte(2, 2, 2), stride=0), "should be positive"),
    ],
)
def test_what_is_refused(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


def operands(rng):
    a, b = draw(rng, (9, 40), "u"), draw(rng, (40, 33), "s")
    x, w = draw(rng, (1, 6, 9, 9), "u"), draw(rng, (6, 3, 3, 3), "s")
    return [tensor(t) for t in (a, b, x, w)]


def program(a, b, x, w):
    window = [1, 1], [1, 1], [1, 1], [1, 1], 2
    zero, scale = tensor(np.uint8(100)), tensor(np.float32(0.01))
    low = tensor(np.int8(-3))
    return (
        MATMUL(a, b, zero, low),
        QMATMUL(a, scale, zero, b, scale, low, scale, zero),
        CONV(x, w, zero, low, *window),
        QCONV(x, scale, zero, w, scale, low, scale, zero, None, *window),
        hotaru._int_mm(b.t(), b),
    )


def test_queued_streams():
    given = operands(np.random.default_rng(0))
    expected = program(*given)
    stream = hotaru.cpu.Stream()
    with hotaru.cpu.stream(stream):
        results = program(*given)
    stream.synchronize()
    for result, wanted in zip(results, expected, strict=True):
        assert hotaru.equal(result, wanted)


def test_graphs_pack_weights_once_and_again_when_they_change():
    rng = np.random.default_rng(0)
    given = operands(rng)
    run = hotaru.compile(lambda a, x: program(a, given[1], x, given[3]))
    for _ in range(3):
        for old, fresh in zip(given, operands(rng), strict=True):
            old.copy_(fresh)  # the weights, too
        for _ in range(2):
            results = run(given[0], given[2])
            for result, wanted in zip(results, program(*given), strict=True):
                assert hotaru.equal(result, wanted)


def test_other_devices_know_the_shapes():
    given = [t.to("meta") for t in operands(np.random.default_rng(0))]
    a, b, x, w = given
    assert MATMUL(a, b).shape == (9, 33)
    out = CONV(x, w, None, None, [2, 1], [1, 0], [0, 1], [1, 2], 2)
    assert out.shape == (1, 6, 4, 6)
    assert out.dtype == hotaru.int32


def test_older_processors_give_the_same():
    needs_simd("baseline")
    code = (
        "import test_int8_products as t\n"
        "for kinds in ('us', 'su'):\n"
        "    for m in (1, 6, 9):\n"
        "        t.test_products_of_all_layouts_with_zero_points(m, kinds)\n"
        "for seed in range(12):\n"
        "    t.test_convolutions_of_any_window(seed)\n"
        "t.test_requantised_to_the_bit(5, 's', 1, 1)\n"
        "t.test_halves_round_to_even_and_results_saturate()\n"
        "t.test_extremes_wrap_as_int32(3, 255)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "HOTARU_SIMD": "baseline",
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        cwd=os.path.dirname(__file__),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
