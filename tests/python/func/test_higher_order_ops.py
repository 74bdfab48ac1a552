"""Loops and branches that take functions: `torch._higher_order_ops`.

The expected values are PyTorch's.
"""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from hotaru._dynamo.exc import UncapturedHigherOrderOpError
from hotaru._higher_order_ops import associative_scan, cond, scan, while_loop
from hotaru._higher_order_ops.map import map as over
from hotaru.func import vmap
from hotaru.utils import _pytree as pytree

import hotaru as torch

DTYPES = [
    torch.int8,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.complex64,
]


def numbers(dtype=torch.float32):
    return torch.arange(6).reshape(3, 2).to(dtype)


def step(carry, row):
    return carry + row, carry * row


def generic(function, xs, dim, **options):
    return associative_scan(function, xs, dim, combine_mode="generic", **options)


def lists(tree):
    return pytree.tree_map(lambda x: x.tolist(), tree)


# --- values ---


def test_scan_gives_the_last_carry_and_every_result():
    carry, out = scan(step, torch.zeros(2), numbers())
    assert carry.tolist() == [6, 9]
    assert out.tolist() == [[0, 0], [0, 3], [8, 20]]


def test_scan_from_the_end_keeps_results_where_their_slices_are():
    carry, out = scan(step, torch.zeros(2), numbers(), reverse=True)
    assert carry.tolist() == [6, 9]
    assert out.tolist() == [[0, 8], [8, 15], [0, 0]]


@pytest.mark.parametrize("dim", [1, -1])
@pytest.mark.parametrize(
    ("reverse", "wanted"),
    [(False, [[0, 0], [0, 6], [0, 20]]), (True, [[0, 0], [6, 0], [20, 0]])],
)
def test_scan_along_another_dimension(dim, reverse, wanted):
    carry, out = scan(step, torch.zeros(3), numbers(), dim=dim, reverse=reverse)
    assert carry.tolist() == [1, 5, 9]
    assert out.tolist() == wanted
    assert out.stride() == (1, 3)


def test_results_without_that_dimension_are_stacked_along_the_first():
    _, out = scan(lambda c, x: (c + x, x.sum()), torch.zeros(3), numbers(), dim=1)
    assert out.tolist() == [6, 9]


def test_scan_takes_and_gives_containers():
    def combine(carry, x):
        first, second = x
        total = {"a": carry["a"] + first}
        return total, [second * carry["a"], (first, None)]

    xs = (numbers(), numbers() + 1)
    carry, out = scan(combine, {"a": torch.zeros(2)}, xs)
    assert lists(carry) == {"a": [6, 9]}
    product, (copied, nothing) = out
    assert product.tolist() == [[0, 0], [0, 4], [10, 24]]
    assert copied.tolist() == numbers().tolist()
    assert nothing is None
    # A carry has the container that the function gave it.
    carry, _ = scan(lambda c, x: ([c[0] + x], x), (torch.zeros(2),), numbers())
    assert type(carry) is list


def test_scan_of_nothing_is_the_first_carry():
    init = torch.ones(2)
    carry, out = scan(step, init, [])
    assert carry is init
    assert out == []
    carry, out = scan(step, torch.zeros(0), numbers()[:, :0])
    assert (carry.shape, out.shape) == ((0,), (3, 0))
    assert scan(lambda c, x: (c + x, []), torch.zeros(2), numbers())[1] == []


def test_map_applies_a_function_to_rows():
    assert over(lambda x: x * 2, numbers()).tolist() == [[0, 2], [4, 6], [8, 10]]
    scale, shift = torch.tensor([2.0, 3.0]), 1
    found = over(lambda x, a, b: x * a + b, numbers(), scale, shift)
    assert found.tolist() == [[1, 4], [5, 10], [9, 16]]
    found = over(
        lambda x, a: x * a[0] + a[1]["k"],
        numbers(),
        (torch.ones(2), {"k": torch.ones(2)}),
    )
    assert found.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_map_takes_and_gives_containers():
    def sums(x):
        return {"s": x["a"] + x["b"][0], "t": (x["a"].sum(), None)}

    found = over(sums, {"a": numbers(), "b": [numbers()]})
    assert found["s"].tolist() == [[0, 2], [4, 6], [8, 10]]
    assert found["t"][0].tolist() == [1, 5, 9]
    assert found["t"][1] is None
    assert over(lambda x: [], numbers()) == []
    assert over(lambda x: x * 2, numbers()[:, :0]).shape == (3, 0)


def test_results_have_memory_of_their_own():
    x, init = numbers(), torch.zeros(2)
    over(lambda row: row, x).zero_()
    over(lambda row: row[:1], x).zero_()
    carry, out = scan(lambda c, row: (row, c), init, x)
    carry.fill_(7)
    out.fill_(7)
    carry, _ = scan(lambda c, row: (c, row), init, x)
    carry.fill_(7)
    (found,) = while_loop(lambda x: x.sum() < 0, lambda x: (x,), (x,))
    found.fill_(7)
    assert x.tolist() == numbers().tolist()
    assert init.tolist() == [0, 0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_stay(dtype):
    x = numbers(dtype)
    carry, out = scan(step, torch.zeros(2, dtype=dtype), x)
    assert carry.dtype == out.dtype == dtype
    assert out.tolist() == [[0, 0], [0, 3], [8, 20]]
    doubled = over(lambda row: row + row, x)
    assert doubled.dtype == dtype
    assert doubled.tolist() == (x + x).tolist()
    summed = generic(torch.add, x, 0)
    assert summed.dtype == dtype
    assert summed.tolist() == [[0, 1], [2, 4], [6, 9]]
    count, last = while_loop(
        lambda i, x: i < 2, lambda i, x: (i + 1, x + x), (torch.tensor(0), x)
    )
    assert (count.item(), last.dtype) == (2, dtype)
    assert last.tolist() == (x * 4).tolist()


def test_booleans():
    x = numbers() > 2
    carry, out = scan(
        lambda c, row: (c | row, c & row), torch.zeros(2, dtype=torch.bool), x
    )
    assert carry.tolist() == [True, True]
    assert out.tolist() == [[False, False], [False, False], [False, True]]


@pytest.mark.parametrize("count", range(1, 10))
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan_of_any_length(count, reverse):
    """Affine maps, which do not commute."""
    generator = torch.Generator().manual_seed(count)
    a, b = torch.randn(2, count, 3, dtype=torch.double, generator=generator)

    def combine(x, y):
        return x[0] * y[0], x[1] * y[0] + y[1]

    found = generic(combine, (a, b), 0, reverse=reverse)
    order = list(reversed(range(count))) if reverse else list(range(count))
    total = None
    for i in order:
        total = (a[i], b[i]) if total is None else combine(total, (a[i], b[i]))
        for part, wanted in zip(found, total):
            torch.testing.assert_close(part[i], wanted)


def test_associative_scan_of_slices_that_are_not_elements():
    m = torch.arange(12.0).reshape(3, 2, 2)
    found = generic(
        lambda a, b: {"m": a["m"] @ b["m"], "v": a["v"] * b["v"].sum()},
        {"m": m, "v": numbers()},
        0,
    )
    assert found["m"].tolist() == [
        [[0, 1], [2, 3]],
        [[6, 7], [26, 31]],
        [[118, 131], [518, 575]],
    ]
    assert found["v"].tolist() == [[0, 1], [0, 5], [0, 45]]


@pytest.mark.parametrize("dim", [1, -1])
def test_associative_scan_along_another_dimension(dim):
    found = generic(torch.add, numbers(), dim)
    assert found.tolist() == [[0, 1], [2, 5], [4, 9]]
    found = generic(torch.add, numbers(), dim, reverse=True)
    assert found.tolist() == [[1, 1], [5, 3], [9, 5]]
    # PyTorch has two rows here.
    assert generic(torch.add, numbers()[:, :0], 0).shape == (3, 0)


def test_while_loop_carries_tensors_and_integers():
    def body(i, x):
        return i + 1, x * 2

    for first in (torch.tensor(0), 0):
        i, x = while_loop(lambda i, x: i < 3, body, (first, numbers()))
        assert type(i) is type(first)
        assert (int(i), x.tolist()) == (3, (numbers() * 8).tolist())
        i, x = while_loop(lambda i, x: i < 0, body, [first, numbers()])
        assert (int(i), x.tolist()) == (0, numbers().tolist())


def test_while_loop_takes_and_gives_containers():
    def body(state):
        return ({"i": state["i"] + 1, "x": [state["x"][0] * 2]},)

    first = {"i": torch.tensor(0), "x": [torch.ones(2)]}
    (found,) = while_loop(lambda state: state["i"] < 3, body, (first,))
    assert lists(found) == {"i": 3, "x": [[8, 8]]}
    found = while_loop(lambda i: i < 3, lambda i: i + 1, (torch.tensor(0),))
    assert found.item() == 3
    assert while_loop(lambda: False, lambda: (), ()) == ()


# --- gradients ---


def gradients(function, *tensors):
    given = [t.clone().requires_grad_() for t in tensors]
    out = pytree.tree_leaves(function(*given))
    total = sum((x * x).sum() for x in out)
    return [g.tolist() for g in torch.autograd.grad(total, given)]


def decayed(carry, row):
    return carry * 0.5 + row, carry * row


def test_gradients_of_scan():
    dx, dc = gradients(
        lambda x, c: scan(decayed, c, x), numbers(), torch.tensor([1.0, 2.0])
    )
    assert dx == [[42.5625, 147.5], [78.125, 231.0], [50.75, 174.0]]
    assert dc == [21.28125, 73.75]
    dx, dc = gradients(
        lambda x, c: scan(decayed, c, x, dim=1, reverse=True),
        numbers(),
        torch.tensor([1.0, 2.0, 3.0]),
    )
    assert dx == [[1.5, 2.75], [72.0, 60.0], [352.5, 305.25]]
    assert dc == [2.375, 54.0, 257.625]


def test_gradients_of_map_reach_what_all_rows_use():
    weight = torch.tensor([1.0, 2.0])
    by_argument = gradients(
        lambda x, w: over(lambda row, w: row * w * w, x, w), numbers(), weight
    )
    closed_over = gradients(
        lambda x, w: over(lambda row: row * w * w, x), numbers(), weight
    )
    assert by_argument == closed_over
    assert by_argument == [[[0, 32], [4, 96], [8, 160]], [80, 1120]]
    assert over(lambda r: r * 2, numbers().requires_grad_()).requires_grad


def test_gradients_of_associative_scan_and_while_loop():
    (dx,) = gradients(lambda x: generic(lambda a, b: a * b + a, x, 0), numbers() + 1)
    assert dx == [[1186, 5004], [296, 2000], [192, 1400]]
    (dx,) = gradients(
        lambda x: while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, x * x), (0, x))[
            1
        ],
        torch.tensor([1.0, 2.0]),
    )
    assert dx == [8, 1024]


# --- under transforms and compilers ---


def test_under_vmap():
    x = torch.stack([numbers(), numbers() + 1])
    carry, out = vmap(lambda x, c: scan(decayed, c, x))(x, torch.zeros(2, 2))
    assert carry.tolist() == [[5, 6.75], [6.75, 8.5]]
    assert out.tolist() == [[[0, 0], [0, 3], [8, 17.5]], [[0, 0], [3, 8], [17.5, 30]]]
    found = vmap(lambda x: over(lambda row: row.cumsum(0), x))(x)
    assert found.tolist() == x.cumsum(2).tolist()
    found = vmap(lambda x: generic(torch.add, x, 0))(x)
    assert found.tolist() == x.cumsum(1).tolist()
    # Each slice loops as long as it has to.
    (found,) = vmap(
        lambda x: while_loop(lambda x: x.sum() < 5, lambda x: (x + 1,), (x,))
    )(numbers())
    assert found.tolist() == [[2, 3], [2, 3], [4, 5]]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: over(lambda row: row * 2, x),
        lambda x: scan(step, torch.zeros(2), x),
        lambda x: generic(torch.add, x, 0),
    ],
    ids=["map", "scan", "associative_scan"],
)
@pytest.mark.filterwarnings("error")  # compile warns where it makes no graph
def test_compiled_functions_have_a_graph(function):
    compiled = torch.compile(function)
    for x in (numbers(), numbers() + 1, numbers()[:2], numbers() * 3):
        torch.testing.assert_close(compiled(x), function(x))


def test_without_values():
    with torch._subclasses.FakeTensorMode():
        x = torch.empty(3, 2)
        carry, out = scan(step, torch.zeros(2), x)
        assert (carry.shape, out.shape) == ((2,), (3, 2))
        assert over(lambda row: row[:1], x).shape == (3, 1)
        assert generic(torch.add, x, 1).shape == (3, 2)
        # Nothing is known of what decides: all branches are asked, and a
        # round.
        (y,) = while_loop(lambda x: x.sum() < 3, lambda x: (x * 2,), (x,))
        assert y.shape == (3, 2)
        given = cond(x.sum() > 0, lambda x: {"y": x[0]}, lambda x: {"y": x[1]}, (x,))
        assert given["y"].shape == (2,)
        assert cond(torch.tensor(True), lambda: x, lambda: x[0]) is x
        with pytest.raises(RuntimeError, match="expected same dtype but got"):
            cond(x.sum() > 0, lambda x: x, lambda x: x.double(), (x,))
        with pytest.raises(RuntimeError, match="Unmatched output spec from"):
            cond(x.sum() > 0, lambda x: x, lambda x: [x], (x,))


# --- errors ---


def test_arguments_of_map_that_do_not_fit():
    x = numbers()
    with pytest.raises(RuntimeError, match="mapped xs cannot be 0"):
        over(lambda x: x, x[:0])
    with pytest.raises(RuntimeError, match="Mapped xs can only consist of ten"):
        over(lambda x: x, [x, 1])
    with pytest.raises(RuntimeError, match="must be consistent"):
        over(lambda x: x[0], [x, x[:2]])
    with pytest.raises(IndexError):
        over(lambda x: x, torch.tensor(1.0))
    with pytest.raises(RuntimeError, match=r"Cannot stack \(1, 1, 1\)"):
        over(lambda x: (x, 1), x)
    given = iter(([1], [1, 2], [1]))
    with pytest.raises(RuntimeError, match="different numbers of results"):
        over(lambda x: [x for _ in next(given)], x)


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"dim": 0.5}, RuntimeError, "Dim must be an int, but got"),
        ({"dim": 2}, IndexError, r"range of \[-2, 1\], but got 2"),
        ({"reverse": 1}, RuntimeError, "Reverse must be a bool, but got"),
        ({"combine_fn": 3}, RuntimeError, "Combine_fn must be a callable"),
        ({"init": []}, RuntimeError, "operator requires init leaves"),
        ({"init": 1.0}, RuntimeError, "All init leaves must be a Tensor but"),
        ({"xs": (numbers(), 2)}, RuntimeError, "All xs leaves must be a Ten"),
        ({"xs": numbers()[:0]}, RuntimeError, "and scan dimension > 0"),
        ({"xs": torch.tensor(1.0)}, RuntimeError, "All xs leaves must at lea"),
        ({"xs": (numbers(), numbers()[:2])}, RuntimeError, "be consistent"),
        ({"xs": (numbers()[:2], numbers())}, RuntimeError, "be consistent"),
    ],
)
def test_arguments_of_scan_that_do_not_fit(changes, error, text):
    given = {"combine_fn": step, "init": torch.zeros(2), "xs": numbers()}
    with pytest.raises(error, match=text):
        scan(**{**given, **changes})


@pytest.mark.parametrize(
    ("init", "combine", "text"),
    [
        (
            torch.zeros(2),
            lambda c, x: ((c + x).double(), x),
            "Expected init and carry to have same metadata but found:\n"
            "pair[0] differ in 'dtype: torch.float32 vs torch.float64', where "
            "lhs is FakeTensor(..., size=(2,)) and rhs is FakeTensor(..., "
            "size=(2,), dtype=torch.float64)\n"
            "  Higher Order Operator: torch.ops.higher_order.scan",
        ),
        (
            torch.zeros(()),
            step,
            "pair[0] differ in 'shape: torch.Size([]) vs torch.Size([2])', "
            "'stride: () vs (1,)', where",
        ),
        (
            (torch.zeros(2), torch.zeros(2)),
            lambda c, x: ((c[0] + x,), x),
            "Expected init and carry to have same number of outputs but got "
            "lhs:[FakeTensor(..., size=(2,)), FakeTensor(..., size=(2,))] and "
            "rhs:[FakeTensor(..., size=(2,))]",
        ),
        (
            torch.zeros(2),
            lambda c, x: (None, x),
            "differ in type: FakeTensor(..., size=(2,)) vs None, where lhs is",
        ),
        (
            torch.zeros(2),
            lambda c, x: c + x,
            "Expect combine_fn to return a tuple (next_carry, y) but got",
        ),
        (
            torch.zeros(2),
            lambda c, x: (c.add_(x), c * 1),
            "Higher order ops do not support input mutation.",
        ),
    ],
)
def test_functions_that_scan_does_not_take(init, combine, text):
    with pytest.raises(UncapturedHigherOrderOpError) as error:
        scan(combine, init, numbers())
    assert isinstance(error.value, RuntimeError)
    assert text in str(error.value)


def test_changed_arguments_are_refused():
    x = numbers()
    with pytest.raises(UncapturedHigherOrderOpError, match="input mutation"):
        over(lambda row: row.mul_(2), x)
    with pytest.raises(UncapturedHigherOrderOpError, match="map_impl"):
        over(lambda row, w: row * w.mul_(2), x, torch.ones(2))
    with pytest.raises(UncapturedHigherOrderOpError, match="while_loop"):
        while_loop(lambda x: x.sum() < 100, lambda x: (x.mul_(2),), (x,))
    with torch.inference_mode():  # whose tensors count no writes
        assert over(lambda row: row.mul_(2), torch.ones(2)).tolist() == [2, 2]


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"combine_mode": "pointwise"}, ValueError, "to be on CUDA or XPU"),
        ({"combine_mode": "foo"}, ValueError, "Combine_mode must either"),
        ({"dim": 0.5}, ValueError, "Dim must be an int"),
        ({"dim": -3}, IndexError, r"range of \[-2, 1\], but got -3"),
        ({"reverse": 1}, RuntimeError, "Reverse must be a bool"),
        ({"combine_fn": 3}, ValueError, "Combine_fn must be a callable"),
        ({"xs": [numbers(), 1]}, ValueError, "xs leaves must be a Tensor"),
        ({"xs": numbers()[:0]}, ValueError, "and scan dimension > 0"),
        ({"xs": numbers().to_sparse()}, ValueError, "consider using `to_den"),
        (
            {"combine_fn": lambda a, b: (a, b)},
            AssertionError,
            "received wrong number of arguments, expected 2, but got 3",
        ),
        (
            {"combine_fn": lambda a, b: None},
            ValueError,
            "must only return Tensors, got type <class 'NoneType'>",
        ),
    ],
)
def test_arguments_of_associative_scan_that_do_not_fit(changes, error, text):
    given = {
        "combine_fn": torch.add,
        "xs": numbers(),
        "dim": 0,
        "combine_mode": "generic",
    }
    with pytest.raises(error, match=text):
        associative_scan(**{**given, **changes})


@pytest.mark.parametrize(
    ("test", "body", "text"),
    [
        (3, lambda i, x: (i, x), "Expect cond_fn and body_fn to be callable"),
        (lambda i, x: x, lambda i, x: (i, x), "must return a boolean scalar"),
        (lambda i, x: 1, lambda i, x: (i, x), "must return a boolean scalar"),
        (lambda i, x: x[0] < 9, lambda i, x: (i,), "got lhs:.* and rhs:"),
        (
            lambda i, x: i < 3,
            lambda i, x: (i + 1, x.double()),
            "Expected body_fn_output and carried_inputs to have same metadata "
            r"but found:\npair\[1\] differ in 'dtype: .*float64 vs",
        ),
        (
            lambda i, x: i < 3,
            lambda i, x: (i + 1, x[:1] * 2),
            r"'shape: .*Size\(\[1\]\) vs .*Size\(\[2\]\)', where lhs is Fake",
        ),
        (lambda i, x: i < 3, lambda i, x: (1, x * 2), "in type: 1 vs Fake"),
    ],
)
def test_loops_that_do_not_fit(test, body, text):
    with pytest.raises(RuntimeError, match=text):
        while_loop(test, body, (torch.tensor(0), torch.ones(2)))


def test_what_a_loop_cannot_carry():
    with pytest.raises(AssertionError, match=r"\[0.5\] can only be of"):
        while_loop(lambda x: x < 3, lambda x: (x + 1,), (0.5,))
    with pytest.raises(RuntimeError, match="must be a tuple or list but got"):
        while_loop(lambda x: x < 3, lambda x: (x + 1,), torch.tensor(0))


# --- names ---


def test_operators_by_their_names():
    ops = torch.ops.higher_order
    x = numbers()
    (found,) = ops.map_impl(lambda x, w: (x * w,), [x], [torch.ones(2)])
    assert found.tolist() == x.tolist()
    found = ops.scan(lambda c, x: [c + x, c * x], [torch.zeros(2)], [x], ())
    assert [y.tolist() for y in found] == [[6, 9], [[0, 0], [0, 3], [8, 20]]]
    (found,) = ops.while_loop(lambda i: i < 3, lambda i: (i + 1,), (x[0, 0],), ())
    assert found.item() == 3
    with pytest.raises(AssertionError, match="should return a tuple but got"):
        ops.while_loop(lambda i: i < 3, lambda i: [i + 1], (x[0, 0],), ())
    (found,) = ops.cond(False, lambda x: (x + 1,), lambda x: (x - 1,), (x,))
    assert found.tolist() == (x - 1).tolist()
    (found,) = ops.associative_scan(lambda a, b: [a + b], [x], ())
    assert found.tolist() == x.cumsum(0).tolist()
    assert not ops.wrap_with_set_grad_enabled(
        False, lambda x: x * 2, x.requires_grad_()
    ).requires_grad
    assert str(ops.cond) == ops.cond.name() == "cond"
    assert pickle.loads(pickle.dumps(ops.cond)) is ops.cond
    with pytest.raises(AttributeError, match="nonsense"):
        _ = ops.nonsense


def test_operators_ask_what_they_are_given():
    class Told(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func, len(args)

    x = numbers().as_subclass(Told)
    op = torch.ops.higher_order.map_impl
    assert op(lambda row: row, [x], []) == (op, 3)


def test_names_of_the_package():
    import hotaru._higher_order_ops.map as module

    from hotaru import _higher_order_ops as package

    assert package.map is module is over  # as PyTorch's package has it
    assert torch.while_loop is while_loop
    assert torch.cond is cond
    with pytest.raises(AttributeError, match="no operator 'flex_attention'"):
        _ = package.flex_attention
    assert not hasattr(package, "nonsense")


def test_the_package_is_imported_when_it_is_asked_for():
    code = (
        "import sys, hotaru; "
        "assert 'hotaru._higher_order_ops' not in sys.modules; "
        "hotaru.ops.higher_order.scan; "
        "assert 'hotaru.export' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
