"""Results of operators have the fields in scripts that they have in Python."""

import io

import pytest

import hotaru as torch

CALLS = [
    "torch.max(x, dim=0)",
    "x.min(0)",
    "torch.sort(x)",
    "x.topk(1)",
    "torch.median(x, 0)",
    "torch.nanmedian(x, 0)",
    "torch.mode(x, 0)",
    "torch.kthvalue(x, 1)",
    "torch.cummax(x, 0)",
    "x.cummin(0)",
    "torch.aminmax(x)",
    "torch.linalg.qr(x)",
    "torch.linalg.svd(x)",
    "torch.linalg.eigh(x)",
    "torch.linalg.eig(x)",
    "torch.slogdet(x)",
    "torch.linalg.slogdet(x)",
    "torch.frexp(x)",
    "torch.linalg.lu(x)",
    "torch.linalg.lu_factor(x)",
    "torch.linalg.lu_factor_ex(x)",
    "torch.linalg.inv_ex(x)",
    "torch.linalg.cholesky_ex(x)",
    "torch.linalg.lstsq(x, x)",
    "torch.linalg.solve_ex(x, x)",
    "torch.linalg.ldl_factor(x)",
    "torch.geqrf(x)",
    "torch.svd(x)",
    "torch.histogram(x, 2)",
    "torch.triangular_solve(x, x)",
    "torch.qr(x)",
]

X = torch.tensor([[4.0, 1.0], [1.0, 3.0]])


def run(source: str, *arguments):
    return torch.jit.CompilationUnit(source).f(*arguments)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_fields(call):
    eager = eval(call, {"torch": torch, "x": X})
    fields = [n for n in dir(eager) if n[0] != "_" and n[:2] != "n_"]
    fields = [n for n in fields if n not in ("count", "index")]
    assert len(fields) > 1
    read = ", ".join(f"r.{name}" for name in fields)
    got = run(f"def f(x):\n    r = {call}\n    return {read}\n", X)
    for name, value in zip(fields, got):
        assert torch.equal(value, getattr(eager, name)), name


FLOW = {
    "given back": (
        "def g(x):\n    return torch.max(x, 0)\n"
        "def f(x):\n    return g(x).indices, getattr(g(x), 'values')",
        ([0, 1], [4, 3]),
    ),
    "in a loop": (
        "def f(x):\n"
        "    r = torch.max(x, 0)\n"
        "    for i in range(3):\n"
        "        r = torch.min(r.values.unsqueeze(0) + i, 0)\n"
        "    return r.values, r.indices",
        ([7, 6], [0, 0]),
    ),
    "of two operators": (
        "def f(x):\n"
        "    if bool((x > 0).all()):\n"
        "        r = torch.max(x, 0)\n"
        "    else:\n"
        "        r = torch.sort(x)\n"
        "    return r.values, r.indices",
        ([4, 3], [0, 1]),
    ),
    "or a plain tuple": (
        "def f(x):\n"
        "    if bool((x > 9).all()):\n"
        "        r = torch.max(x, 0)\n"
        "    else:\n"
        "        r = (x[1], x[0])\n"
        "    return r[0], r[1]",
        ([1, 3], [4, 1]),
    ),
    "in lists": (
        "def g(pairs: List[Tuple[Tensor, Tensor]]):\n"
        "    return pairs[-1][0]\n"
        "def f(x):\n"
        "    pairs: List[Tuple[Tensor, Tensor]] = []\n"
        "    pairs.append(torch.max(x, 0))\n"
        "    pairs += [torch.min(x, 0)]\n"
        "    return g(pairs), g([torch.max(x, 0)])",
        ([1, 1], [4, 3]),
    ),
    "in a dict": (
        "def f(x):\n"
        "    found = {'a': torch.max(x, 0)}\n"
        "    return found['a'].values, found['a'].indices",
        ([4, 3], [0, 1]),
    ),
    "optional": (
        "def f(x):\n"
        "    found: Optional[Tuple[Tensor, Tensor]] = torch.max(x, 0)\n"
        "    assert found is not None\n"
        "    return found[0], found[1]",
        ([4, 3], [0, 1]),
    ),
    "asked for": (
        "def f(x):\n"
        "    r = torch.max(x, 0)\n"
        "    assert hasattr(r, 'values') and not hasattr(r, 'nothing')\n"
        "    assert isinstance(r, Tuple[Tensor, Tensor])\n"
        "    a, b = r\n"
        "    return a, b",
        ([4, 3], [0, 1]),
    ),
}


@pytest.mark.parametrize("where", FLOW)
def test_flow(where):
    source, expected = FLOW[where]
    assert tuple(v.tolist() for v in run(source, X)) == expected


def test_unknown_fields_and_what_python_gets():
    with pytest.raises(RuntimeError, match="no attribute or method 'nothing'"):
        run("def f(x):\n    return torch.max(x, 0).nothing", X)
    assert type(run("def f(x):\n    return torch.max(x, 0)", X)) is tuple


def test_archives():
    class Best(torch.nn.Module):
        def forward(self, x):
            best = torch.max(x, dim=0)
            return best.values + torch.sort(x).indices.sum(), best

    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(Best()), buffer)
    buffer.seek(0)
    value, best = torch.jit.load(buffer)(X)
    assert value.tolist() == [6, 5]
    assert best[1].tolist() == [0, 1]


# Which tensors these return is said by flags, by name or by place.
BY_FLAGS = [
    "torch.unique(x)",
    "torch.unique(x, True, True)",
    "torch.unique(x, return_counts=True)",
    "torch.unique(x, False, False)",
    "torch.unique(x, True, True, True, 0)",
    "torch.unique(x, return_inverse=True, return_counts=True, dim=1)",
    "torch.unique_consecutive(x)",
    "torch.unique_consecutive(x, True)",
    "torch.unique_consecutive(x, return_counts=True, dim=0)",
    "torch.unique_consecutive(x, True, False, 0)",
    "torch.unique_consecutive(x, True, True)",
]


@pytest.mark.parametrize("call", BY_FLAGS)
def test_results_by_flags(call):
    x = torch.tensor([[3, 1, 1], [3, 1, 1], [2, 1, 1]])
    compiled = torch.jit.CompilationUnit(f"def f(x):\n    return {call}\n").f
    kept = io.BytesIO()
    torch.jit.save(compiled, kept)
    kept.seek(0)
    want = eval(call, {"torch": torch, "x": x})
    for got in (compiled(x), torch.jit.load(kept)(x)):
        assert numbers(got) == numbers(want)


def numbers(found):
    """A tensor's numbers, or a tuple of several tensors'."""
    if isinstance(found, torch.Tensor):
        return found.tolist()
    return tuple(t.tolist() for t in found)


def test_a_flag_of_results_is_a_constant():
    with pytest.raises(RuntimeError, match="must be a constant"):
        run("def f(x, b: bool):\n    return torch.unique(x, True, b)\n", X, True)
