"""Copies whose rows are columns of what they read, beside numpy's."""

import itertools

import numpy as np
import pytest

import hotaru as torch

# None of them fills its tiles; one has a dimension of 1, one few elements.
SHAPES = [(3, 5, 37, 50), (1, 48, 9, 65), (2, 3, 4, 5), (1, 1, 300, 17), (0, 8, 8, 8)]
DTYPES = ["float32", "float64", "int32", "int64", "int16", "bool", "complex64"]


def numbers(shape, dtype):
    values = np.arange(int(np.prod(shape))).reshape(shape) % 251
    return values.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_order_of_dimensions(shape, dtype):
    x = numbers(shape, dtype)
    for order in itertools.permutations(range(4)):
        got = torch.from_numpy(x).permute(order).contiguous()
        assert np.array_equal(got.numpy(), x.transpose(order)), order


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_into_parts_from_parts(dtype):
    x = numbers((2, 40, 33, 70), dtype)
    want = np.zeros((2, 70, 50, 33), dtype)
    got = torch.from_numpy(want.copy())
    want[:, 3:60, 5:37] = x[:, 4:36, :, 7:64].transpose(0, 3, 1, 2)
    got[:, 3:60, 5:37].copy_(torch.from_numpy(x)[:, 4:36, :, 7:64].permute(0, 3, 1, 2))
    assert np.array_equal(got.numpy(), want)


def test_what_is_broadcast_or_converted_is_copied_too():
    x = numbers((20, 30), "float32")
    t = torch.from_numpy(x)
    got = torch.empty(4, 30, 20)
    got.copy_(t.t())
    assert np.array_equal(got.numpy(), np.broadcast_to(x.T, (4, 30, 20)))
    assert np.array_equal(t.t().to(torch.int32).contiguous().numpy(), x.T)
    # NaN's bits stay.
    bits = torch.full((16, 24), 0x7FA00001, dtype=torch.int32)
    moved = bits.view(torch.float32).t().contiguous().view(torch.int32)
    assert bool((moved == 0x7FA00001).all())
    large = torch.arange(700 * 300, dtype=torch.float32).view(700, 300)
    assert np.array_equal(large.t().contiguous().numpy(), large.numpy().T)


@pytest.mark.parametrize("kind", ["uint8", "float16", "float32", "complex128"])
@pytest.mark.parametrize("line", [3, 4, 8, 16, 32, 64])
def test_copies_of_short_lines(kind, line):
    """Lines of 16 to 128 bytes move as one, whatever is around them."""
    random = np.random.default_rng(line)
    x = random.integers(0, 100, (3, 2, 7, 2, 5, line)).astype(kind)
    t = torch.tensor(x)
    shuffled = (0, 2, 1, 4, 3, 5)
    got = t.permute(shuffled).contiguous()
    assert (got.numpy() == x.transpose(shuffled)).all()
    wide = t.unsqueeze(3).expand(3, 2, 7, 4, 2, 5, line).contiguous()
    assert (wide.numpy() == x[:, :, :, None].repeat(4, 3)).all()
    # Into every second place of something larger, whose others stay.
    large = torch.full((3, 2, 7, 2, 10, line), 7).to(t.dtype)
    large[..., ::2, :] = t
    assert (large[..., ::2, :].numpy() == x).all()
    assert (large[..., 1::2, :].numpy() == 7).all()
    # Their elements begin between lines of memory, and go backwards.
    inner = torch.tensor(x[..., ::-1, :].copy())[..., 1:]
    assert (inner.contiguous().numpy() == x[..., ::-1, 1:]).all()
