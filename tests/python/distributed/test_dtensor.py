"""Tensors in parts against the whole ones: values, gradients, placements."""

from __future__ import annotations

import hotaru.nn.functional as F
import pytest
from hotaru.distributed.device_mesh import init_device_mesh
from hotaru.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
)
from hotaru.distributed.tensor.placement_types import _StridedShard

import hotaru as torch

R, S0, S1, S2 = Replicate(), Shard(0), Shard(1), Shard(2)


def whole(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def ids(*shape):
    generator = torch.Generator().manual_seed(1)
    return torch.randint(0, 6, shape, generator=generator)


# A function, its arguments, and which placements to try for each of them.
CASES = {
    "add": (lambda a, b: a + b, [whole(5, 4), whole(4, seed=1)]),
    "add_scalar": (lambda a: 2 - a * 3 + 1, [whole(5, 4)]),
    "mul": (lambda a, b: a * b, [whole(5, 4), whole(5, 1, seed=1)]),
    "div": (lambda a, b: a / (b * b + 1), [whole(5, 4), whole(5, 4, seed=1)]),
    "where": (lambda a, b: torch.where(a > 0, a, b), [whole(4, 6), whole(6, seed=2)]),
    "gelu": (lambda a: F.gelu(a).tanh(), [whole(3, 4)]),
    "sum": (lambda a: a.sum(), [whole(5, 4)]),
    "sum_dim": (lambda a: a.sum(1), [whole(5, 4, 2)]),
    "sum_keep": (lambda a: a.sum((0, -1), keepdim=True), [whole(5, 4, 2)]),
    "mean": (lambda a: a.mean(0) * 2, [whole(5, 4)]),
    "mean_even": (lambda a: a.mean(), [whole(4, 4)]),
    "var": (lambda a: a.var(1), [whole(5, 4)]),
    "max": (lambda a: a.max(), [whole(4, 4)]),
    "amax": (lambda a: a.amax(0), [whole(4, 4)]),
    "max_dim": (lambda a: a.max(1)[0], [whole(5, 4)]),
    "kthvalue": (lambda a: a.kthvalue(2, 0)[0], [whole(5, 4)]),
    "kthvalue_last": (lambda a: a.kthvalue(3)[0], [whole(5, 4)]),
    "kthvalue_keep": (lambda a: a.kthvalue(1, 0, True)[0], [whole(5, 4, 2)]),
    "prod": (lambda a: a.prod(), [whole(4, 2)]),
    "norm": (lambda a: a.norm(), [whole(5, 4)]),
    "vector_norm": (lambda a: torch.linalg.vector_norm(a, 3, dim=0), [whole(5, 4)]),
    "norm_inf": (lambda a: torch.linalg.vector_norm(a, float("inf")), [whole(5, 4)]),
    "softmax": (lambda a: a.softmax(-1), [whole(5, 4)]),
    "cumsum": (lambda a: a.cumsum(0), [whole(5, 4)]),
    "mm": (lambda a, b: a @ b, [whole(5, 4), whole(4, 6, seed=1)]),
    "bmm": (lambda a, b: a @ b, [whole(4, 5, 3), whole(4, 3, 2, seed=1)]),
    "matmul": (lambda a, b: a @ b, [whole(4, 5, 3), whole(3, 2, seed=1)]),
    "mv": (lambda a, b: a @ b, [whole(5, 4), whole(4, seed=1)]),
    "addmm": (torch.addmm, [whole(6, seed=3), whole(5, 4), whole(4, 6, seed=1)]),
    "linear": (F.linear, [whole(2, 5, 4), whole(6, 4, seed=1), whole(6, seed=2)]),
    "einsum": (
        lambda a, b: torch.einsum("bik,kj->bij", a, b),
        [whole(4, 5, 4), whole(4, 6, seed=1)],
    ),
    "view": (lambda a: a.view(4, 2, 3), [whole(4, 6)]),
    "view_join": (lambda a: a.view(-1, 6), [whole(4, 2, 6)]),
    "flatten": (lambda a: a.flatten(1), [whole(4, 2, 3)]),
    "transpose": (lambda a: a.transpose(0, 1).contiguous(), [whole(4, 6)]),
    "T": (lambda a: a.T @ a, [whole(4, 6)]),
    "permute": (lambda a: a.permute(2, 0, 1), [whole(4, 2, 3)]),
    "unsqueeze": (lambda a: a.unsqueeze(1), [whole(4, 6)]),
    "squeeze": (lambda a: a.squeeze(1), [whole(4, 1, 6)]),
    "squeeze_all": (lambda a: a.squeeze(), [whole(2, 1, 6)]),
    "expand": (lambda a: a.expand(3, 4, 6), [whole(4, 6)]),
    "chunk": (lambda a: a.chunk(2, 1)[1], [whole(4, 6)]),
    "split": (lambda a: a.split(2)[1], [whole(5, 6)]),
    "unbind": (lambda a: a.unbind(1)[1], [whole(5, 6)]),
    "index": (lambda a: a[1:3, None, ..., 2], [whole(5, 3, 6)]),
    "index_int": (lambda a: a[:, 1], [whole(5, 6)]),
    "cat": (lambda a, b: torch.cat([a, b]), [whole(5, 4), whole(2, 4, seed=1)]),
    "stack": (lambda a, b: torch.stack([a, b], 1), [whole(5, 4), whole(5, 4, seed=1)]),
    "layer_norm": (
        lambda a, w, b: F.layer_norm(a, (6,), w, b),
        [whole(4, 6), whole(6, seed=1), whole(6, seed=2)],
    ),
    "attention": (
        F.scaled_dot_product_attention,
        [whole(4, 2, 5, 4, seed=i) for i in range(3)],
    ),
    "embedding": (
        lambda w: F.embedding(replicated(ids(3, 4)), w, padding_idx=2),
        [whole(7, 4)],
    ),
    "cross_entropy": (lambda a: F.cross_entropy(a, replicated(ids(5))), [whole(5, 7)]),
    "cross_entropy_sum": (
        lambda a: F.cross_entropy(
            a, replicated(ids(5)), ignore_index=2, reduction="sum"
        ),
        [whole(5, 6)],
    ),
    "conv": (lambda x, w: F.conv2d(x, w), [whole(4, 2, 5, 5), whole(3, 2, 2, 2)]),
    "sort": (lambda a: a.sort(1)[0], [whole(5, 4)]),
    "flip": (lambda a: a.flip(0), [whole(5, 4)]),
    "rows limited": (lambda a: a.renorm(2, 0, 1.0), [whole(5, 4)]),
    "columns limited": (lambda a: a.renorm(1, -1, 0.5), [whole(5, 4)]),
    "tril": (lambda a: a.tril(), [whole(4, 5, 5)]),
    "no_rule": (lambda a: torch.trace(a), [whole(4, 4)]),
    "lerp": (lambda a, b: a.lerp(b, 0.25), [whole(5, 4), whole(5, 4, seed=1)]),
}

_mesh: list = []


def replicated(tensor):
    return distribute_tensor(tensor, _mesh[-1], None) if _mesh else tensor


def placements_of(tensor, mesh):
    """All ways to lie along one dimension of a mesh."""
    return [R, *(Shard(d) for d in range(tensor.dim()))]


def check(name, mesh, choose) -> list[str]:
    """Lists what differs from the whole computation."""
    function, values = CASES[name]
    wholes = [v.clone().requires_grad_() for v in values]
    expected = function(*wholes)
    weights = whole(*expected.shape, seed=9)
    (expected * weights).sum().backward()
    problems = []
    _mesh.append(mesh)
    try:
        for placements in choose(values):
            given = [
                distribute_tensor(v, mesh, p).requires_grad_()
                for v, p in zip(values, placements, strict=True)
            ]
            result = function(*given)
            if not isinstance(result, DTensor):
                problems.append(f"{name} {placements}: {type(result)}")
                continue
            (result * replicated(weights)).sum().backward()
            for kind, a, b in (
                ("value", result.full_tensor(), expected),
                *(
                    (f"gradient {i}", g.grad.full_tensor(), w.grad)
                    for i, (g, w) in enumerate(zip(given, wholes, strict=True))
                ),
            ):
                if a.shape != b.shape or not torch.allclose(a, b, atol=1e-11):
                    problems.append(f"{name} {placements}: {kind}: {a} {b}")
            for g in given:
                if g.grad.placements != g.placements:
                    problems.append(f"{name}: gradient in {g.grad.placements}")
    finally:
        _mesh.pop()
    return problems


def combinations(values):
    """One argument after the other in every placement, and all along 0."""
    found = []
    for i, value in enumerate(values):
        for placement in placements_of(value, None):
            found.append([(R,)] * i + [(placement,)] + [(R,)] * (len(values) - i - 1))
    found.append([(S0,)] * len(values))
    found.append([(Shard(v.dim() - 1),) for v in values])
    return found


@pytest.mark.parametrize("size", [2, 3])
def test_operators_give_what_they_give_of_wholes(world, size):
    def run(rank):
        mesh = init_device_mesh("cpu", (size,))
        return [p for name in CASES for p in check(name, mesh, combinations)]

    for problems in world(size, run):
        assert problems == [], "\n".join(problems)


UNEVEN = {
    "view": lambda a: a.view(35),
    "views": lambda a: a.view(5, 7),
    "rest": lambda a: a.view(-1, 7),
    "flatten": lambda a: a.flatten(),
    "reshape": lambda a: a.reshape(35),
    "ravel": lambda a: a.ravel(),
    "unflatten": lambda a: a.unflatten(1, (5, 1)),
    "front": lambda a: a.unflatten(0, (1, 7)),
    "split": lambda a: torch.cat([p.flatten() for p in a.split(2, 1)]),
    "rows": lambda a: torch.cat([p.flatten() for p in a.split(3)]),
    "lengths": lambda a: a.split([1, 4], 1)[1].reshape(28),
    "chunk": lambda a: a.chunk(2, 1)[1].reshape(14),
    "parts": lambda a: a.tensor_split(3)[1].reshape(10),
    "unbind": lambda a: a.unbind(1)[3],
    "unbound": lambda a: a.unbind(0)[2],
    "transposed": lambda a: a.t().reshape(35),
    "copied": lambda a: a.t().contiguous().view(35),
    "new": lambda a: a.unsqueeze(0).view(35),
    "joined": lambda a: torch.cat([a, a], 1).view(70),
    "stacked": lambda a: torch.stack([a, a]).view(70),
    "product": lambda a: (a @ a.t()).view(49),
    "flipped": lambda a: a.flip(1).view(35),
    "triangle": lambda a: a.tril().view(35),
    "kind": lambda a: a.view(torch.int64).view(35),
    "smaller": lambda a: a.view(torch.int32).flatten(),
    "larger": lambda a: (
        a.float()
        .unsqueeze(-1)
        .expand(7, 5, 2)
        .contiguous()
        .view(dtype=torch.int64)
        .view(35)
    ),
}


def test_other_shapes_of_uneven_parts(world):
    """The ranks do alike: what fails on one alone ends the group."""
    given = torch.arange(35.0, dtype=torch.float64).view(7, 5)

    def run(rank):
        mesh, wrong = init_device_mesh("cpu", (3,)), []
        for name, function in UNEVEN.items():
            expected = function(given)
            for place in (S0, S1, R):
                found = function(distribute_tensor(given, mesh, [place]))
                if found.shape != expected.shape or not torch.equal(
                    found.full_tensor(), expected
                ):
                    wrong.append((name, place))
        return wrong

    assert world(3, run) == [[], [], []]


def test_parts_of_uneven_sums_are_dense(world):
    def run(rank):
        mesh = init_device_mesh("cpu", (3,))
        part = DTensor.from_local(torch.ones(7, 5), mesh, [Partial()])
        return [
            part.redistribute(mesh, [place]).to_local().is_contiguous()
            for place in (S0, S1, R)
        ]

    assert world(3, run) == [[True] * 3] * 3


def test_operators_on_a_mesh_of_two_dimensions(world):
    def choose(values):
        found = []
        for a, b in ((R, S0), (S0, R), (S0, S0), (S0, S1), (S1, S0)):
            found.append(
                [
                    tuple(
                        p if not p.is_shard() or p.dim < v.dim() else R for p in (a, b)
                    )
                    for v in values
                ]
            )
        return found

    def run(rank):
        mesh = init_device_mesh("cpu", (2, 2))
        return [p for name in CASES for p in check(name, mesh, choose)]

    for problems in world(4, run):
        assert problems == [], "\n".join(problems)


REDUCTIONS = {
    "sum": lambda a: a.sum(0),
    "mean": lambda a: a.mean(),
    "mean_dim": lambda a: a.mean(0),
    "mean_keep": lambda a: a.mean((0, 1), keepdim=True) * 3,
    "amax": lambda a: a.amax(0),
    "amin": lambda a: a.amin((0, 1)),
    "max": lambda a: a.max(),
    "prod": lambda a: a.prod(),
    "var": lambda a: a.var(0),
    "norm": lambda a: a.norm(),
    "logsumexp": lambda a: a.logsumexp(0),
}


def test_reductions_of_dimensions_cut_twice(world):
    def choose(values):
        return [[(S0, S0)], [(S1, S1)], [(S0, S1)], [(S0, R)]]

    def run(rank):
        mesh = init_device_mesh("cpu", (2, 2))
        for size in (2, 3, 6):
            for name, function in REDUCTIONS.items():
                CASES[f"{name} of {size}"] = (function, [whole(size, size)])
        names = [name for name in CASES if " of " in name]
        return [p for name in names for p in check(name, mesh, choose)]

    for problems in world(4, run):
        assert problems == [], "\n".join(problems)


def test_redistribute_between_all_placements(world):
    def run(rank):
        mesh = init_device_mesh("cpu", (3,))
        value, problems = whole(7, 4, 5), []
        for source in (R, S0, S1, S2):
            for target in (R, S0, S1, S2):
                x = distribute_tensor(value, mesh, [source]).requires_grad_()
                y = x.redistribute(mesh, [target])
                (y * y).sum().backward()
                expected = distribute_tensor(value, mesh, [target])
                same = torch.equal(y.to_local(), expected.to_local())
                if not same or y.placements != (target,):
                    problems.append(f"{source} {target}")
                if not torch.allclose(x.grad.full_tensor(), 2 * value):
                    problems.append(f"{source} {target}: gradient")
        for kind, factor in (("sum", 3), ("avg", 1), ("max", 1)):
            for target in (R, S0, S1):
                x = DTensor.from_local(value, mesh, [Partial(kind)])
                y = x.redistribute(mesh, [target]).full_tensor()
                if not torch.allclose(y, factor * value):
                    problems.append(f"{kind} {target}")
        return problems

    for problems in world(3, run):
        assert problems == []


def test_parts_of_pieces(world):
    def run(rank):
        mesh = init_device_mesh("cpu", (2,))
        strided = _StridedShard(0, split_factor=2)
        x = distribute_tensor(torch.arange(8.0), mesh, [strided])
        assert x.full_tensor().tolist() == list(range(8))
        y = x.redistribute(mesh, [S0]).redistribute(mesh, [strided])
        assert torch.equal(x.to_local(), y.to_local())
        assert (x + 1).full_tensor().tolist() == list(range(1, 9))
        with pytest.raises(NotImplementedError, match="equal parts"):
            distribute_tensor(torch.ones(6), mesh, [strided])
        return x.to_local().tolist()

    assert world(2, run) == [[0, 1, 4, 5], [2, 3, 6, 7]]


ALONG_PIECES = {
    "softmax": lambda a: a.softmax(1),
    "cumsum": lambda a: a.cumsum(1),
    "flip": lambda a: a.flip(1),
    "sort": lambda a: a.sort(1)[0],
    "tril": lambda a: a.tril(),
    "row": lambda a: a + a[0],
    "renorm": lambda a: a.renorm(2, 0, 1.0),
    "cross entropy": lambda a: F.cross_entropy(a, replicated(ids(4))),
}


def test_operators_of_parts_of_pieces(world):
    """Operators that need a dimension whole gather it, however it is cut."""

    def choose(values):
        return [[(_StridedShard(1, split_factor=2), S1)]]

    def run(rank):
        mesh = init_device_mesh("cpu", (2, 2))
        for name, function in ALONG_PIECES.items():
            CASES[f"pieces: {name}"] = (function, [whole(4, 8)])
        names = [f"pieces: {name}" for name in ALONG_PIECES]
        return [p for name in names for p in check(name, mesh, choose)]

    for problems in world(4, run):
        assert problems == [], "\n".join(problems)


OF_SUMS = {
    "long": lambda a: a.long(),
    "to": lambda a: a.to(torch.int32),
    "bool": lambda a: (a - 2.5).bool(),
    "int to bool": lambda a: (a * 4).long().bool(),
    "sum": lambda a: a.sum(dtype=torch.int64),
    "sum of rows": lambda a: a.sum(0, dtype=torch.int64),
    "copied": lambda a: torch.zeros_like(a, dtype=torch.int64).copy_(a),
    "double": lambda a: a.double(),
    "filled": lambda a: a.clone().fill_(2),
    "zeros": lambda a: a.clone().zero_(),
    "clone": lambda a: a.clone(),
}


@pytest.mark.parametrize("kind", ["sum", "avg", "max", "min", "product"])
def test_operators_of_partial_results(world, kind):
    """A sum is cast, not what each rank adds to it."""
    value = torch.arange(6.0).view(2, 3) * 0.75 + 0.25
    parts = {
        "sum": (value * 0.25, value * 0.75),
        "avg": (value * 0.5, value * 1.5),
        "max": (value, value - 1),
        "min": (value + 1, value),
        "product": (value * 2, torch.full_like(value, 0.5)),
    }[kind]

    def run(rank):
        mesh = init_device_mesh("cpu", (2,))
        problems = []
        for name, function in OF_SUMS.items():
            expected = function(value)
            x = DTensor.from_local(parts[rank], mesh, [Partial(kind)])
            found = function(x).full_tensor()
            if found.dtype != expected.dtype or not torch.equal(found, expected):
                problems.append(f"{name}: {found} {expected}")
        return problems

    for problems in world(2, run):
        assert problems == [], "\n".join(problems)


def test_sums_of_numbers_leave_out_sums_that_are_none(world):
    def run(rank):
        mesh = init_device_mesh("cpu", (2,))
        part = torch.tensor([1.0, 2.0 if rank else float("nan")])
        x = DTensor.from_local(part, mesh, [Partial()])
        return x.nansum(0).full_tensor().item()

    assert world(2, run) == [2.0, 2.0]


LISTS = {
    "add": lambda a: torch._foreach_add([a], [a * 2], alpha=3),
    "mul": lambda a: torch._foreach_mul([a], [2.0]),
    "addcmul": lambda a: torch._foreach_addcmul([a], [a], [a], 2.0),
    "addcdiv": lambda a: torch._foreach_addcdiv([a], [a], [a * 2], [3.0]),
    "lerp": lambda a: torch._foreach_lerp([a], [a * a], weight=0.25),
    "most": lambda a: torch._foreach_maximum([a], 0.5),
    "power": lambda a: torch._foreach_pow(2.0, [a]),
    "exp": lambda a: torch._foreach_exp([a]),
    "in place": lambda a: (b := [a * 1], torch._foreach_mul_(b, 2.0))[0],
}


def test_operators_of_lists_have_a_history(world):
    def run(rank):
        mesh = init_device_mesh("cpu", (3,))
        found = {}
        for name, function in LISTS.items():
            value = whole(4, 3).abs()
            x = value.clone().requires_grad_()
            (function(x)[0] * whole(4, 3, seed=2)).sum().backward()
            y = distribute_tensor(value, mesh, [S0]).requires_grad_()
            weights = distribute_tensor(whole(4, 3, seed=2), mesh, [S0])
            (function(y)[0] * weights).sum().backward()
            found[name] = torch.allclose(x.grad, y.grad.full_tensor())
        leaf = distribute_tensor(whole(4, 3), mesh, [S0]).requires_grad_()
        with pytest.raises(RuntimeError, match="a leaf Variable"):
            torch._foreach_mul_([leaf], 2.0)
        return found

    for found in world(3, run):
        assert found == dict.fromkeys(LISTS, True)


def test_from_local_and_to_local_pass_gradients(world):
    def run(rank):
        mesh = init_device_mesh("cpu", (2,))
        local = torch.full((2, 3), float(rank + 1)).requires_grad_()
        x = DTensor.from_local(local, mesh, [S0])
        assert x.shape == (4, 3)
        (x.to_local() * 2).sum().backward()
        own = local.grad.clone()
        local.grad = None
        DTensor.from_local(local, mesh, [S0], grad_placements=[S0])
        with pytest.raises(NotImplementedError, match="redistribute"):
            DTensor.from_local(local, mesh, [S0], grad_placements=[R])
        DTensor.from_local(local, mesh, [Partial()]).sum().backward()
        partial = local.grad.clone()
        w = distribute_tensor(torch.ones(3), mesh, [R]).requires_grad_()
        used = w.to_local(grad_placements=[Partial()])
        (used * (rank + 1)).sum().backward()
        return own.tolist(), partial.tolist(), w.grad.to_local().tolist()

    for own, partial, shared in world(2, run):
        assert own == [[2.0] * 3] * 2
        assert partial == [[1.0] * 3] * 2
        assert shared == [3.0] * 3


def test_autograd_grad_of_tensors_in_parts(world):
    def run(rank):
        mesh = init_device_mesh("cpu", (2,))
        x = distribute_tensor(torch.arange(6.0).view(3, 2), mesh, [S0])
        x.requires_grad_()
        y = x * 2
        inner = torch.autograd.grad(y.pow(2).sum(), [y, x])
        (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(slope.sum(), x)
        given = torch.autograd.grad(
            x * 3, x, distribute_tensor(torch.full((3, 2), 2.0), mesh, [S0])
        )
        # Histories of plain tensors and of such in parts meet.
        w = torch.ones(3, 2, requires_grad=True)
        mixed = torch.autograd.grad((x.full_tensor() * w).sum(), [w, x])
        unused = torch.autograd.grad((x * 2).sum(), [w, x], allow_unused=True)
        zeros = torch.autograd.grad((w * 2).sum(), x, materialize_grads=True)
        assert unused[0] is None
        assert x.grad is None
        found = (*inner, second, *given, *mixed, unused[1], *zeros)
        return [
            (g.full_tensor() if isinstance(g, DTensor) else g).tolist() for g in found
        ]

    plain = torch.arange(6.0).view(3, 2)
    ones = torch.ones(3, 2)
    right = [plain * 4, plain * 8, plain * 6, ones * 6, plain, ones, ones * 2, ones * 0]
    for found in world(2, run):
        assert found == [t.tolist() for t in right]


def test_in_place_operators_keep_the_placement(world):
    def run(rank):
        mesh = init_device_mesh("cpu", (2,))
        x = distribute_tensor(whole(5, 4), mesh, [S0])
        y = distribute_tensor(whole(5, 4, seed=1), mesh, [S1])
        before = x._local_tensor.data_ptr()
        x.add_(y).mul_(2).clamp_(min=0)
        expected = ((whole(5, 4) + whole(5, 4, seed=1)) * 2).clamp(min=0)
        x[1:3] = 7
        expected[1:3] = 7
        x.cumsum_(0)
        expected.cumsum_(0)
        assert x.placements == (S0,)
        assert x._local_tensor.data_ptr() == before
        assert torch.allclose(x.full_tensor(), expected)
        z = torch.zeros_like(x)
        z.copy_(y)
        assert torch.allclose(z.full_tensor(), whole(5, 4, seed=1))
        torch.add(x, y, out=z)
        assert torch.allclose(z.full_tensor(), expected + whole(5, 4, seed=1))

    world(2, run)


def test_in_place_operators_have_a_history(world):
    def run(rank):
        mesh = init_device_mesh("cpu", (2,))
        x = distribute_tensor(whole(4, 3), mesh, [S0]).requires_grad_()
        y = x * 2
        y.mul_(y)
        y[1] = 0
        y.sum().backward()
        with pytest.raises(RuntimeError, match="a leaf Variable"):
            x.add_(1)
        return x.grad.full_tensor()

    expected = 8 * whole(4, 3)
    expected[1] = 0
    for found in world(2, run):
        assert torch.allclose(found, expected)


def test_norms_of_lists_take_what_lies_alike_together(world):
    def run(rank):
        mesh = init_device_mesh("cpu", (3,))
        values = [whole(*shape, seed=i) for i, shape in enumerate(SHAPES)]
        given = [
            distribute_tensor(v, mesh, [p])
            for v, p in zip(values, (S0, S0, R, S1), strict=True)
        ]
        given.append(DTensor.from_local(values[0], mesh, [Partial()]))
        values.append(3 * values[0])
        for order in (2.0, 1.0, 3.0, float("inf")):
            found = torch._foreach_norm(given, order)
            for a, b in zip(found, values, strict=True):
                expected = torch.linalg.vector_norm(b, order)
                assert torch.allclose(a.full_tensor(), expected)
            total = torch.nn.utils.get_total_norm(given, order).full_tensor()
            norm = torch.nn.utils.get_total_norm(values, order)
            assert torch.allclose(total, norm)

    world(3, run)


SHAPES = ((7, 2), (2, 3), (4,), (2, 5))


def test_only_what_must_be_is_exchanged(world):
    from hotaru.distributed.tensor.debug import CommDebugMode

    def run(rank):
        mesh = init_device_mesh("cpu", (2,))
        x = distribute_tensor(whole(4, 6), mesh, [S0]).requires_grad_()
        up = distribute_tensor(whole(6, 8), mesh, [S1]).requires_grad_()
        down = distribute_tensor(whole(8, 6), mesh, [S0]).requires_grad_()
        ops = torch.ops.c10d_functional
        counts = []
        for step in (
            lambda: (x + 1).tanh() * x,
            lambda: x.view(2, 2, 6).transpose(1, 2),
            lambda: (x.redistribute(mesh, [R]) @ up) @ down,
            lambda: (x @ distribute_tensor(whole(6, 2), mesh)).sum(),
            lambda: x.redistribute(mesh, [S1]),
            lambda: x.sum(0).new_full((3,), 2.0) + torch.zeros_like(x.sum()),
        ):
            with CommDebugMode() as mode:
                step()
            counts.append(mode.get_comm_counts())
        assert counts == [
            {},
            {},
            {ops.all_gather_into_tensor: 1},
            {ops.broadcast: 1},
            {ops.all_to_all_single: 1},
            {},
        ]
        with CommDebugMode() as mode:
            y = (x.redistribute(mesh, [R]) @ up).relu() @ down
            y.redistribute(mesh, [R]).sum().backward()
        assert mode.get_comm_counts() == {
            ops.all_gather_into_tensor: 1,
            ops.all_reduce: 2,
        }
        t = torch.ones(2)
        name = mesh.get_group().group_name
        found = torch.ops._c10d_functional.all_reduce(t, "sum", name)
        assert found.tolist() == [2, 2]
        found = ops.all_gather_into_tensor(t * rank, "", [0, 1], 2)
        assert found.tolist() == [0, 0, 1, 1]

    world(2, run)


def test_random_numbers_are_alike_where_parts_are(world):
    def run(rank):
        torch.manual_seed(rank)
        mesh = init_device_mesh("cpu", (2,))
        same = torch.distributed.tensor.rand(4, device_mesh=mesh)
        x = distribute_tensor(torch.ones(64), mesh, [R])
        dropped = F.dropout(x, 0.5)
        parts = torch.distributed.tensor.randn(8, device_mesh=mesh, placements=[S0])
        parts.normal_()
        return (
            same.to_local().tolist(),
            dropped.to_local().tolist(),
            parts.to_local().tolist(),
        )

    (a, b, c), (d, e, f) = world(2, run)
    assert a == d
    assert b == e
    assert c != f
    assert 0 < sum(x == 0 for x in b) < 64


def test_plain_tensors_beside_them_are_refused(world):
    # Classes that files may hold of DTensors are no list of the program's.
    assert torch.serialization.get_safe_globals() == []

    def run(rank):
        from hotaru.distributed.tensor.experimental import implicit_replication

        mesh = init_device_mesh("cpu", (2,))
        x = distribute_tensor(torch.ones(4, 2), mesh, [S0])
        with pytest.raises(RuntimeError, match=r"got mixed torch\.Tensor and"):
            x + torch.ones(4, 2)
        with implicit_replication():
            assert (x + torch.ones(4, 2)).placements == (S0,)
        assert (x * torch.tensor(2.0)).full_tensor().sum() == 16
        with pytest.raises(RuntimeError, match="leaf tensors"):
            distribute_tensor(torch.ones(2, requires_grad=True) * 2, mesh)
        with pytest.raises(ValueError, match="same length"):
            distribute_tensor(torch.ones(2), mesh, [R, R])
        with pytest.raises(RuntimeError, match="internal use only"):
            x.redistribute(mesh, [Partial()])
        text = repr(x)
        assert text.startswith("DTensor(local_tensor=tensor([[1., 1.]")
        assert text.endswith("placements=(Shard(dim=0),))")

    world(2, run)
