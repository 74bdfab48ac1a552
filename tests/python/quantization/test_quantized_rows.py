"""Rows of quantised tables as floats."""

import pytest

import hotaru as torch


def table_of(rows, width):
    torch.manual_seed(width)
    scales = torch.rand(rows) * 0.1 + 0.01
    return torch.quantize_per_channel(
        torch.randn(rows, width) * 2, scales, torch.rand(rows) * 100, 0, torch.quint8
    )


@pytest.mark.parametrize("width", [1, 16, 65])
def test_integers_are_scaled_and_moved_with_one_rounding(width):
    """As PyTorch's kernel does on processors with FMA; two roundings give
    another last bit in most numbers.
    """
    table = table_of(9, width)
    module = torch.ao.nn.quantized.Embedding(9, width)
    module.set_weight(table)
    scale = table.q_per_channel_scales().float().unsqueeze(-1)
    zero = table.q_per_channel_zero_points().float().unsqueeze(-1)
    exact = table.int_repr() * scale.double() + (-zero * scale).double()
    for indices in (
        torch.tensor([[8, 0], [3, 3]]),
        torch.tensor(2),
        torch.arange(9).int(),
        torch.empty(0, 2).long(),
    ):
        got = module(indices)
        want = exact[indices.long()].float()
        assert got.shape == (*indices.shape, width)
        if "AVX" in torch._C._simd_target_name():
            assert torch.equal(got, want)
        else:
            assert torch.allclose(got, want, rtol=0, atol=1e-5)


def test_rows_that_are_not_there_are_an_error():
    module = torch.ao.nn.quantized.Embedding(4, 5)
    for bad in (4, -5):
        with pytest.raises(IndexError, match="out of"):
            module(torch.tensor([bad]))


def test_iteration_and_truth():
    x = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    q = torch.quantize_per_tensor(x, 0.5, 3, torch.quint8)
    assert [row.dequantize().tolist() for row in q] == x.tolist()
    assert all(row.is_quantized and row.q_zero_point() == 3 for row in q)
    assert [bool(value) for value in q[0]] == [False, True]
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(q[0][0])
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(q)


@pytest.mark.parametrize(
    ("part", "scales", "axis"),
    [
        (lambda x: x[0], 0.5, None),
        (lambda x: x[1:], 0.25, None),
        (lambda x: x[[1, 0]], [0.25, 0.5], 0),
        (lambda x: x[:, 1], [0.5, 0.25], 0),
        (lambda x: x.unsqueeze(0), [0.5, 0.25], 1),
        (lambda x: x.split(1)[1], 0.25, None),
        (lambda x: x.narrow(1, 0, 2), [0.5, 0.25], 0),
    ],
)
def test_parts_of_channels_keep_their_scales(part, scales, axis):
    numbers = torch.tensor([[1.0, 0.0, -2.0], [0.0, 3.0, 0.5]])
    q = torch.quantize_per_channel(
        numbers, torch.tensor([0.5, 0.25]), torch.tensor([0, 1]), 0, torch.qint8
    )
    found = part(q)
    assert found.dequantize().equal(part(numbers))
    if axis is None:
        assert found.q_scale() == scales
    else:
        assert found.q_per_channel_scales().tolist() == scales
        assert found.q_per_channel_axis() == axis
