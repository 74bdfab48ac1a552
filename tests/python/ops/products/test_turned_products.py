"""Products of some rows with many columns of a weight, computed turned."""

import pytest


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(
    ("rows", "inner", "columns"),
    [(32, 256, 256), (33, 259, 271), (64, 700, 513), (96, 300, 1001)],
)
def test_linear_layers(hotaru, threads, rows, inner, columns):
    torch = hotaru
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        torch.manual_seed(0)
        # Rows of both may be further apart than they are long.
        x = torch.randn(rows, inner + 3)[:, :inner]
        weight = torch.randn(columns, inner + 5)[:, :inner]
        bias = torch.randn(columns)
        got = torch.nn.functional.linear(x, weight, bias)
        product = x @ weight.t()
    finally:
        torch.set_num_threads(before)
    wanted = x.double() @ weight.double().t()
    most = 2e-6 * wanted.abs().max().item()  # sums of up to 700 products
    assert (product - wanted).abs().max().item() < most
    assert (got - wanted - bias).abs().max().item() < most
