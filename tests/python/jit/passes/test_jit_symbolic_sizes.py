"""Sizes that are not known, which symbols stand for, through graphs."""

from __future__ import annotations

import pytest
from hotaru._C import TensorType

import hotaru as torch

C = torch._C
F = torch.nn.functional


def sizes_of(function, *sizes):
    """The result's sizes: a text for each symbol of an input, None for others."""
    graph = torch.jit.script(function).inlined_graph.copy()
    C._jit_pass_peephole(graph)
    C._jit_pass_constant_propagation(graph)
    names = {}
    for value, given in zip(graph.inputs(), sizes):
        if given is None:
            continue
        symbols = []
        for n in given:
            known = n if isinstance(n, int) else names.get(n)
            if known is None:
                known = names[n] = C._new_symbolic_shape_symbol()
            symbols.append(known)
        value.setType(value.type().with_sizes(symbols))
    C._jit_pass_propagate_shapes_on_graph(graph)
    found = next(graph.outputs()).type().symbolic_sizes()
    if found is None:
        return None
    back = {number: name for name, number in names.items()}
    return [n if n >= 0 else back.get(n) for n in found]


def test_symbols_belong_to_types():
    any_sizes = TensorType.get().with_sizes([3, None, None])
    three, first, second = any_sizes.symbolic_sizes()
    assert three == 3
    assert first < 0
    assert second < 0
    assert first != second
    assert any_sizes.symbolic_sizes() == [three, first, second]
    assert any_sizes.varyingSizes() == [3, None, None]
    assert any_sizes.sizes() is None
    assert any_sizes.str() == "Tensor(3, *, *)"
    other = TensorType.get().with_sizes([3, None, C._new_symbolic_shape_symbol()])
    assert any_sizes == other
    assert TensorType.get().symbolic_sizes() is None
    graph = C.parse_ir("graph(%x.1 : Float(SS(-2), *, 4)):\n  return (%x.1)")
    read = next(graph.inputs()).type().symbolic_sizes()
    assert read[0] == -2
    assert read[2] == 4


def mul(x, y):
    return x * y


def matmul(x, y):
    return torch.matmul(x, y)


def cat(x, y):
    return torch.cat([x, y], dim=1)


def first_rows(x):
    return x[:100]


def first_row(x):
    return x[:1]


def later_rows(x):
    return x[5:]


def squeezed(x):
    return x.squeeze()


def turned(x):
    return x.permute(2, 0, 1)


def summed(x):
    return x.sum(dim=1, keepdim=True)


def flat(x):
    return x.view(x.size(0), -1)


def like(x, y):
    return x.view(y.size(0), 8, y.size(-1))


def made(x):
    return torch.zeros([x.size(1), 3, x.size(0)])


def doubled(x):
    return torch.zeros([x.size(0) * 2, 3])


def pooled(x):
    return F.max_pool2d(x, 2)


def averaged(x):
    return torch.ops.aten.adaptive_avg_pool2d(x, [5, 7])


def convolved(x, w):
    return torch.conv2d(x, w, None, [2, 2], [1, 1])


def in_place(x, y):
    return x.div_(y)


def joined(x, y, c: bool):
    if c:
        return x + 1
    return y * 2


def grown(x, n: int):
    for _ in range(n):
        x = torch.cat([x, x], dim=0)
    return x


def grown_inside(x, n: int):
    y = x
    for _ in range(n):
        y = x * 2
        x = torch.cat([x, x], dim=0)
    return y


def kept(x, n: int):
    for _ in range(n):
        x = x * 2 + x
    return x


def losses(x, y):
    return torch.ops.aten.cross_entropy_loss(x, y, reduction=0)


CASES = [
    (mul, [(1, 6, 5), (1, 7, 1, 5)], [1, 7, 6, 5]),
    (mul, ["ab", "cde"], ["c", None, None]),
    (mul, [("a", 1, "b"), (1, "c", "b")], ["a", "c", "b"]),
    (matmul, ["ab", "bc"], ["a", "c"]),
    (matmul, ["nab", "nbc"], ["n", "a", "c"]),
    (cat, [("a", 3), ("a", "b")], ["a", None]),
    (first_rows, ["ab"], [None, "b"]),
    (first_row, ["ab"], [None, "b"]),
    (later_rows, ["ab"], [None, "b"]),
    (squeezed, ["ab"], None),
    (turned, ["abc"], ["c", "a", "b"]),
    (summed, ["abc"], ["a", 1, "c"]),
    (flat, ["abc"], ["a", None]),
    (like, [None, (5, 8, "a")], [5, 8, "a"]),
    (made, ["ab"], ["b", 3, "a"]),
    (doubled, ["ab"], [None, 3]),
    (pooled, [("n", 3, "h", "w")], ["n", 3, None, None]),
    (averaged, [("n", "c", "h", "w")], ["n", "c", 5, 7]),
    (convolved, [("n", "c", "h", "w"), (8, 3, 3, 3)], ["n", 8, None, None]),
    (in_place, [(4, "a"), None], [4, "a"]),
    (joined, [("a", 3, 4), ("a", 3, 5)], ["a", 3, None]),
    (grown, [("a", 3)], [None, 3]),
    (grown_inside, [("a", 3)], [None, 3]),
    (kept, [("a", 3)], ["a", 3]),
    (losses, [(8, 2), (8,)], [8]),
    (losses, [("n", 2), ("n",)], ["n"]),
]


@pytest.mark.parametrize(
    ("function", "sizes", "wanted"), CASES, ids=lambda x: getattr(x, "__name__", None)
)
def test_sizes_follow_symbols(function, sizes, wanted):
    assert sizes_of(function, *sizes) == wanted


def test_parameters_keep_what_is_known_and_others_forget():
    graph = torch.jit.script(mul).graph.copy()
    for value in graph.inputs():
        value.setType(value.type().with_sizes([2, 3]))
    C._jit_pass_propagate_shapes_on_graph(graph)
    assert next(graph.outputs()).type().sizes() == [2, 3]
    C._jit_erase_non_input_shape_information(graph)
    assert next(graph.outputs()).type().sizes() is None
    assert [value.type().sizes() for value in graph.inputs()] == [[2, 3], [2, 3]]
