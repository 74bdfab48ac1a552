"""Names that mean what they mean in Python: compiled code gives its results.

Functions are functions and not operators of the same name, layouts and slices
are values, tuples of one type stand for lists.
"""

from __future__ import annotations

from typing import Union

import operator_programs
import pytest

import hotaru as torch

# Expressions of x (float32 [2, 3, 4]), i and v, a sparse tensor's parts.
EXPRESSIONS = {
    "dtypes": (
        "x.to(torch.promote_types(x.dtype, torch.float64))",
        "x.to(torch.result_type(x, i)), x.to(torch.result_type(i, 2.5))",
        "x.to(torch.result_type(2, x)), x.to(torch.result_type(1, 2.5))",
        "torch.can_cast(x.dtype, torch.int32)",
        "torch.can_cast(i.dtype, x.dtype)",
        "x.is_signed(), torch.is_signed(i), torch.is_complex(x)",
    ),
    "subscripts": (
        "x[Ellipsis, slice(None, 1, None)]",
        "x[(Ellipsis, slice(None, 1))]",
        "x[slice(1)]",
        "x[slice(0, 2, 1), 0]",
        "x[1, slice(None, None, 2)]",
        "x[slice(i[0, 1], None)]",
        "x[Ellipsis, None]",
        "x[0, Ellipsis, 1]",
        "x.shape[slice(None, -1, None)]",
        "[1, 2, 3][slice(1, None)]",
        "(1, 2.5, 3)[slice(1, None)]",
        "'abc'[slice(None, None, 2)]",
        "(1, 2, 3)[slice(None, None, -1)]",
        "x[None, slice(0, 1), ..., 0]",
    ),
    "sequences": (
        "x.reshape(x.shape[:-1] + (2, 2))",
        "x.new_zeros((2,) + x.shape[1:])",
        "torch.tensor((0.5, 2.5))",
        "torch.tensor((1, 2), dtype=torch.int32)",
        "torch.as_tensor((1, 2))",
        "sorted((3, 1, 2))",
        "max((1, 3, 2))",
        "torch.zeros([*(1, 2), 3])",
        "torch.ones([])",
        "x.sum([]), x.amax([])",
        "sum((1, 2)), any((False, True))",
    ),
    "layouts": (
        "x.layout == torch.sparse_coo, x.layout == torch.strided",
        "x.to_sparse().layout == torch.sparse_coo, x.is_sparse",
        "x.to_sparse().is_sparse, x.is_sparse_csr",
        "torch.zeros(2, layout=x.layout)",
        "x.is_contiguous(memory_format=torch.contiguous_format)",
        "x[None].is_contiguous(memory_format=torch.channels_last)",
        "x[None].contiguous(memory_format=torch.channels_last)"
        ".is_contiguous(memory_format=torch.channels_last)",
    ),
    "sparse": (
        "torch.sparse_coo_tensor(i, v, [2, 3]).to_dense()",
        "torch.sparse_coo_tensor(i, v).to_dense()",
        "torch.sparse_coo_tensor([2, 3]).to_dense()",
        "torch.sparse_coo_tensor(i, v, [2, 3], dtype=torch.float64).to_dense()",
        "torch.sparse.mm(torch.sparse_coo_tensor(i, v, [2, 3]), x[0])",
        "torch.sparse_coo_tensor(i, v, [2, 3]).coalesce().values()",
    ),
    "norms": (
        "torch.norm(x)",
        "torch.norm(x, dim=1)",
        "torch.norm(x, p='fro')",
        "torch.norm(x, p=1, dim=0, keepdim=True)",
        "torch.norm(x, 2, [0, 1])",
        "torch.norm(x, p='fro', dim=(0, 1))",
        "torch.norm(x[0], p='nuc')",
        "torch.norm(x, p='nuc', dim=(1, 2))",
        "torch.norm(x, p=None, dim=1)",
        "torch.norm(x, dtype=torch.float64)",
        "torch.norm(x, float('inf'))",
    ),
    "functions": (
        "x[0].flatten().stft(4, return_complex=True)",
        "torch.stft(x[0].flatten(), 4, center=False, return_complex=True)",
        "x.where(x > 2, -x), x.where(x > 2, 0.5)",
        "x.polygamma(1)",
        "x.unique(), x.unique(return_counts=True)",
        "x.round().unique_consecutive(return_inverse=True)",
        "x.unique_consecutive(dim=0)",
        "torch.cdist(x, x, 2.0)",
        "torch.cdist(x, x, compute_mode='donot_use_mm_for_euclid_dist')",
        "torch.lu(x[:, :2, :2])",
        "torch.lu(x[:, :2, :2], get_infos=True)",
        "torch.atleast_3d([x, i]), torch.atleast_1d(x)",
        "torch.nn.utils.rnn.pad_sequence([x[0], x[1, :2]], True)",
        "torch.nn.utils.rnn.pad_sequence([x[0], x[1, :2]], padding_value=-1.0)",
        "torch.nn.utils.rnn.pad_sequence((x[0], x[1, :2]), True, 0., 'left')",
        "x.chalf(), x.max(1).values, x.sort(0).indices",
    ),
}
CASES = [(k, text) for k, texts in EXPRESSIONS.items() for text in texts]
QUESTIONS = (
    "x.get_device(), torch.get_device(x), x.is_conj(), torch.is_neg(x)",
    "x[0, 0, 0].is_nonzero(), torch.is_inference(x), x.is_inference()",
    "x.is_same_size(x), torch.is_same_size(x, v), x.is_distributed()",
    "x.is_set_to(x), x.is_set_to(x.clone()), x.is_set_to(x[0])",
    "x.sparse_dim(), x.dense_dim(), x.to_sparse().sparse_dim()",
    "x[0].clone().fill_diagonal_(7.0)",
    "x.clone().arctan2_(x)",
    "x.view(6, 4).clone().fill_diagonal_(7.0, wrap=True)",
    "x.view(12, 2).clone().fill_diagonal_(7.0, True)",
    "x.view(12, 2).clone().fill_diagonal_(7.0)",
    "torch.overrides.has_torch_function((x, i)), torch.numel(x)",
    "x.retains_grad, x.is_xla, x.is_mtia",
    "x.type(torch.float64)",
    "torch.Size([1, 2]), torch.Size(x.shape), torch.Size((3,))",
    "torch.nn.functional.embedding(i, x[0], sparse=True)",
    "torch.nn.functional.embedding_bag(i, x[0], sparse=True)",
)
WINDOWS = [
    f"torch.{name}_window({given})"
    for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")
    for given in (
        "5",
        "5, periodic=False",
        "6, True",
        "7, dtype=torch.float64",
        "0",
        "1",
        "5, False, dtype=torch.float16",
        "5, device=x.device",
    )
] + [
    "torch.hamming_window(5, True, 0.5)",
    "torch.hamming_window(5, periodic=False, alpha=0.5, beta=0.4)",
    "torch.kaiser_window(5, True, 8.0)",
    "torch.kaiser_window(5, False, beta=3.0)",
]


def inputs():
    x = torch.arange(24.0).view(2, 3, 4).sin() + 2
    i = torch.tensor([[0, 1], [2, 0]])
    return x, i, torch.tensor([3.0, 4.0])


def both(text: str):
    """Results of an expression by Python and compiled."""
    source = f"def f(x: Tensor, i: Tensor, v: Tensor):\n    return {text}\n"
    names = {"torch": torch, "Tensor": torch.Tensor}
    exec(source, names)
    eager = names["f"]
    return eager(*inputs()), operator_programs.compiled(torch, source, eager, ())(
        *inputs()
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [text for _, text in CASES] + [*QUESTIONS, *WINDOWS])
def test_an_expression_means_what_it_means_in_python(text):
    want, got = both(text)
    assert operator_programs.same(torch, want, got), (want, got)


def test_windows_refuse_what_python_refuses():
    for text in ("torch.hann_window(-1)", "torch.kaiser_window(3, dtype=torch.int64)"):
        source = f"def f():\n    return {text}\n"
        compiled = operator_programs.compiled(torch, source, None, ())
        with pytest.raises(RuntimeError, match=r"window (requires|expects)"):
            compiled()


def test_assertions_of_truths_and_tensors():
    def f(x: torch.Tensor, rows: int):
        torch._assert(x.shape[0] == rows, "rows")
        torch._assert(x.sum() > 0, "positive")
        return x + 1

    compiled = torch.jit.script(f)
    assert compiled(torch.ones(2), 2).tolist() == [2, 2]
    with pytest.raises(torch.jit.Error, match="rows"):
        compiled(torch.ones(2), 3)
    with pytest.raises(torch.jit.Error, match="positive"):
        compiled(-torch.ones(2), 2)


def test_slices_are_values_and_targets():
    def f(x: torch.Tensor):
        part = slice(0, 1)
        y = x.clone()
        y[slice(0, 1), Ellipsis] = 7
        y[part, 1] += 1
        return x[part], y

    x = inputs()[0]
    want, got = f(x), torch.jit.script(f)(x)
    assert all(map(torch.equal, want, got))


def test_numbers_of_tensors_are_those_of_a_declared_tuple():
    def f(n: int) -> tuple[int, float, int]:
        return torch.full((1,), n).item(), torch.ones(1).item(), n

    got = torch.jit.script(f)(3)
    assert got == (3, 1.0, 3)
    assert list(map(type, got)) == [int, float, int]


def test_gradients_in_compiled_code():
    def f(x: torch.Tensor):
        y = x.detach().requires_grad_(True)
        none = y.grad is None
        (y * y).sum().backward()
        z = (y * y * y).sum()
        return y.grad, torch.autograd.grad([z], [y])[0], none

    x = torch.tensor([1.0, 2.0])
    first, second, none = torch.jit.script(f)(x)
    assert first.tolist() == [2, 4]
    assert second.tolist() == [3, 12]
    assert none is True


def test_draws_in_place_are_traced_once():
    """Traces drew twice: once into a constant, then into the tensor."""

    def f(x):
        return x.normal_(0, 5)

    traced = torch.jit.trace(f, (torch.zeros(3),), check_trace=False)
    torch.manual_seed(0)
    want = f(torch.zeros(3))
    torch.manual_seed(0)
    assert torch.equal(traced(torch.zeros(3)), want)


def test_methods_whose_operator_has_self_elsewhere_are_traced():
    def f(x, c):
        return x.where(c, -x), x.polygamma(1)

    x = torch.tensor([1.5, 2.5])
    c = torch.tensor([True, False])
    traced = torch.jit.trace(f, (x, c))
    assert all(map(torch.equal, f(x, c), traced(x, c)))


class Recipe:
    """Plain objects that modules keep."""

    def __init__(self, axes: list[int]):
        self.axes: list[int] = axes


class Keeps(torch.nn.Module):
    def __init__(self, kept):
        super().__init__()
        self.kept = kept

    def forward(self, x):
        return x + self.kept[1].axes[0]


def test_objects_in_lists_tuples_and_dicts_of_modules():
    made = [Recipe([3]), Recipe([5])]
    for kept in (made, tuple(made), {0: made[0], 1: made[1]}):
        compiled = torch.jit.script(Keeps(kept))
        assert compiled(torch.ones(1)).item() == 6


def test_sparse_tensors_in_traces():
    def f(x):
        return x.to_sparse().coalesce().values(), x.to_sparse(1).to_dense()

    x = torch.tensor([[0.0, 1.0], [2.0, 0.0]])
    traced = torch.jit.trace(f, (x,))
    assert all(map(torch.equal, f(x + 1), traced(x + 1)))
    sparse = torch.jit.trace(lambda x: x.to_sparse(), (x,))(x * 2)
    assert sparse.layout == torch.sparse_coo
    assert torch.equal(sparse.to_dense(), x * 2)


Text, Whole, Real, Truth, Pair = str, int, float, bool, complex


def of_text(x: Text):
    return x


def of_whole(x: Whole):
    return x


def of_real(x: Real):
    return x


def of_truth(x: Truth):
    return x


def of_pair(x: Pair):
    return x


def within(x: dict[Text, Whole], y: Real | None = None) -> list[Whole]:
    z = torch.jit.annotate(list[Whole], [])
    z.append(x["a"])
    return z


def asked(x: Union[int, str]):
    return isinstance(x, Text), isinstance(x, (Whole, Real))


def test_aliases_of_types_of_python_are_annotations():
    for f, given, name in (
        (of_text, "a", "str"),
        (of_whole, 1, "int"),
        (of_real, 1.5, "float"),
        (of_truth, True, "bool"),
        (of_pair, 1j, "complex"),
    ):
        compiled = torch.jit.script(f)
        assert compiled(given) == given
        assert str(compiled.schema) == f"{f.__name__}({name} x) -> {name}"
    compiled = torch.jit.script(within)
    assert compiled({"a": 3}) == [3]
    assert str(compiled.schema) == ("within(Dict(str, int) x, float? y=None) -> int[]")
    compiled = torch.jit.script(asked)
    assert compiled("a") == (True, False)
    assert compiled(1) == (False, True)
