"""Gradients of convolutions, by whichever way they go."""

import pytest

SHAPES = {
    # (images, channels, outputs, groups), picture, kernel, stride, padding,
    # dilation
    "blocks": ((2, 24, 40, 1), (17, 19), (3, 3), 1, 1, 1),
    "blocks of one channel more": ((3, 17, 33, 1), (16, 16), (3, 3), 1, 1, 1),
    "blocks, strided": ((4, 16, 16, 1), (32, 32), (3, 3), 2, 1, 1),
    "blocks, dilated": ((2, 16, 16, 1), (24, 24), (3, 3), 1, 2, 2),
    "blocks, wide padding": ((2, 16, 16, 1), (20, 20), (3, 5), 1, 3, 1),
    "one dimension": ((8, 32, 16, 1), (1, 200), (1, 5), 1, (0, 2), 1),
    "few positions": ((2, 64, 48, 1), (4, 4), (3, 3), 1, 1, 1),
    "few positions, strided": ((2, 32, 48, 1), (8, 8), (3, 3), 2, 1, 1),
    "one position": ((5, 16, 8, 1), (4, 4), (4, 4), 1, 0, 1),
    "pointwise": ((3, 20, 36, 1), (15, 11), (1, 1), 1, 0, 1),
    "pointwise, strided": ((3, 20, 36, 1), (15, 11), (1, 1), 2, 0, 1),
    "depthwise": ((3, 12, 12, 12), (15, 13), (3, 3), 1, 1, 1),
    "depthwise, strided": ((3, 12, 12, 12), (15, 14), (3, 3), 2, 1, 1),
    "depthwise, wide": ((2, 8, 8, 8), (15, 15), (7, 7), 1, 3, 1),
    "depthwise, dilated": ((2, 8, 8, 8), (15, 16), (3, 3), 2, 2, 2),
    "groups": ((2, 24, 36, 3), (12, 12), (3, 3), 1, 1, 1),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", SHAPES)
def test_as_in_double(hotaru, name, threads):
    torch = hotaru
    (n, c, o, groups), picture, kernel, stride, padding, dilation = SHAPES[name]
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        torch.manual_seed(0)
        x = torch.randn(n, c, *picture, requires_grad=True)
        w = torch.randn(o, c // groups, *kernel, requires_grad=True)
        b = torch.randn(o, requires_grad=True)
        exact = [t.detach().double().requires_grad_() for t in (x, w, b)]
        options = (stride, padding, dilation, groups)
        y = torch.nn.functional.conv2d(x, w, b, *options)
        dy = torch.randn_like(y)
        y.backward(dy)
        wanted = torch.nn.functional.conv2d(*exact, *options)
        wanted.backward(dy.double())
        back = torch.nn.functional.conv_transpose2d(
            dy, w.detach(), torch.ones(c), stride, padding, 0, groups, dilation
        )
    finally:
        torch.set_num_threads(before)
    for got, want in ((y, wanted), *((t, e) for t, e in zip((x, w, b), exact))):
        a = got if got is y else got.grad
        e = want if got is y else want.grad
        # Sums of up to 9,216 products, in float32.
        assert (a - e).abs().max() < 4e-6 * e.abs().max()
    size = back.shape[2:]
    plain = x.grad[:, :, : size[0], : size[1]] + 1
    assert (back - plain).abs().max() < 4e-6 * x.grad.abs().max() + 1e-6


@pytest.mark.parametrize("name", SHAPES)
def test_bfloat16_is_rounded_once(hotaru, name):
    torch = hotaru
    (n, c, o, groups), picture, kernel, stride, padding, dilation = SHAPES[name]
    torch.manual_seed(0)
    low = [
        torch.randn(*size).bfloat16().requires_grad_()
        for size in ((n, c, *picture), (o, c // groups, *kernel), (o,))
    ]
    wide = [t.detach().double().requires_grad_() for t in low]
    options = (stride, padding, dilation, groups)
    y = torch.nn.functional.conv2d(*low, *options)
    wanted = torch.nn.functional.conv2d(*wide, *options)
    dy = torch.randn_like(y)
    y.backward(dy)
    wanted.backward(dy.double())
    pairs = [(y, wanted), *((t.grad, e.grad) for t, e in zip(low, wide))]
    for got, want in pairs:
        # Half a unit of the last of eight bits, and sums in float32.
        limit = 2.0**-8 * want.abs() * 1.01 + 4e-6 * want.abs().max()
        assert ((got.double() - want).abs() <= limit).all()


@pytest.mark.parametrize("name", ["blocks", "few positions", "depthwise"])
def test_the_same_twice(hotaru, name):
    torch = hotaru
    (n, c, o, groups), picture, kernel, stride, padding, dilation = SHAPES[name]
    x = torch.randn(n, c, *picture, requires_grad=True)
    w = torch.randn(o, c // groups, *kernel, requires_grad=True)

    def gradients():
        y = torch.nn.functional.conv2d(x, w, None, stride, padding, dilation, groups)
        return torch.autograd.grad(y.square().sum(), (x, w))

    for a, b in zip(gradients(), gradients()):
        assert torch.equal(a, b)
