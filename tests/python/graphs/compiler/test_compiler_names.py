"""`compiler` and `_dynamo`: PyTorch's names over `compile`."""

from __future__ import annotations

import contextlib
import io
import os

import hotaru._dynamo as dynamo
import pytest

import hotaru as torch
from hotaru import compiler


@pytest.fixture(autouse=True)
def fresh():
    yield
    compiler.reset()
    compiler.set_default_backend("graphs")


X = torch.arange(4.0)


class Counting:
    """A function that counts how often Python runs it."""

    def __init__(self) -> None:
        def function(x):
            print("ran")  # which a graph does not do again
            return x * 2 + 1

        self.compiled = torch.compile(function)

    def ran(self, x=X) -> bool:
        with contextlib.redirect_stdout(io.StringIO()) as told:
            result = self.compiled(x)
        assert result.tolist() == (x * 2 + 1).tolist()
        return bool(told.getvalue())


def test_force_eager_runs_python_also_where_there_is_a_graph():
    f = Counting()
    f.ran()
    assert not f.ran()
    with compiler.set_stance("force_eager"):
        assert f.ran()
        assert f.ran()
    assert not f.ran()


def test_stances_where_a_graph_is_missing():
    f = Counting()
    f.ran()
    other = torch.ones(7)
    with compiler.set_stance("fail_on_recompile"):
        assert not f.ran()
        with pytest.raises(RuntimeError, match="fail_on_recompile"):
            f.ran(other)
    with compiler.set_stance("eager_on_recompile"):
        assert f.ran(other)
        assert f.ran(other)
        assert not f.ran()


def test_first_call_without_a_graph():
    with compiler.set_stance("eager_then_compile"):
        f = Counting()
        f.ran()
        assert f.compiled.captures == 0
        f.ran()
        assert f.compiled.captures == 1


def test_stance_as_decorator_and_as_call():
    f = Counting()
    f.ran()

    @compiler.set_stance("force_eager")
    def inside():
        return f.ran()

    assert not f.ran()
    assert inside()
    assert not f.ran()
    compiler.set_stance("force_eager")
    assert f.ran()
    with pytest.raises(RuntimeError, match="invalid"):
        compiler.set_stance("nothing")


def test_reset_captures_again():
    f = Counting()
    f.ran()
    assert not f.ran()
    dynamo.reset()
    assert f.ran()
    assert f.compiled.captures == 1


def test_default_backend():
    assert compiler.get_default_backend() in compiler.list_backends()
    compiler.set_default_backend("eager")

    def function(x):
        return x

    assert torch.compile(function) is function
    with pytest.raises(ValueError, match="unknown backend"):
        compiler.set_default_backend("nothing")
    assert "eager" in compiler.list_backends(None)
    assert "eager" not in compiler.list_backends()


def test_switches():
    with dynamo.config.patch(cache_size_limit=2):
        assert dynamo.config.recompile_limit == 2
        assert torch.compile(lambda x: x)._cache_size == 2
    assert dynamo.config.cache_size_limit == 8
    with dynamo.config.patch("disable", True):
        assert torch.compile(len) is len
    dynamo.config.some_new_switch = True  # as programs do
    del dynamo.config.some_new_switch


def test_marks_stand_on_tensors():
    t = torch.ones(3, 4)
    dynamo.mark_dynamic(t, 0, min=2)
    assert t._dynamo_dynamic_indices == {0}
    (found,) = t._dynamo_dynamic_range
    assert (found.dim, found.min, found.max) == (0, 2, None)
    dynamo.maybe_mark_dynamic(t, (0, 1))
    assert t._dynamo_weak_dynamic_indices == {0, 1}
    dynamo.mark_static(t)
    assert t._dynamo_static_indices == {0, 1}
    dynamo.mark_static_address(t)
    assert t._dynamo_static_input_type == "unguarded"


def test_module_compiles_in_place():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh())
    names, wanted = list(model.state_dict()), model(X)
    assert model.compile() is None
    assert torch.equal(model(X), wanted)
    assert torch.equal(model(X), wanted)
    assert model.forward.captures == 1
    assert list(model.state_dict()) == names
    seen = []
    model.register_forward_hook(lambda *given: seen.append(given[2]))
    assert torch.equal(model(X), wanted)
    assert len(seen) == 1
    model(X).sum().backward()
    assert model[0].weight.grad is not None
    model.compile(disable=True)
    assert "forward" not in vars(model)


def test_forbidden_functions():
    @dynamo.forbid_in_graph
    def alone(x):
        return x + 1

    assert alone(1) == 2
    run = torch.compile(lambda x: alone(x), fullgraph=True)
    with pytest.raises(RuntimeError, match="forbidden"):
        run(X)


@pytest.mark.cpu_graphs("arrays are on the host")
def test_functions_of_arrays():
    import numpy as np

    run = compiler.wrap_numpy(lambda a, *, b: {"sum": np.add(a, b), "n": 3})
    found = run(X, b=torch.ones(4))
    assert found["n"] == 3
    assert torch.equal(found["sum"], X + 1)


def test_substitutes_have_the_same_arguments():
    def original(x, y=1):
        return x + y

    with pytest.raises(TypeError, match="Signature mismatch"):
        compiler.substitute_in_graph(original)(lambda x: x)
    made = compiler.substitute_in_graph(original)(lambda x, y=1: None)
    assert made(1) == 2
    assert compiler.allow_in_graph([len]) == [len]
    with pytest.raises(AssertionError):
        compiler.allow_in_graph(3)


def test_traces_are_not_there():
    with pytest.raises(NotImplementedError, match="symbolic_trace"):
        dynamo.export(len)
    assert dynamo.is_dynamo_supported()


def test_a_block_with_another_cache(tmp_path, monkeypatch):
    from hotaru._inductor.runtime.cache_dir_utils import cache_dir
    from hotaru._inductor.utils import fresh_inductor_cache

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "mine"))
    monkeypatch.delenv("TRITON_CACHE_DIR", raising=False)
    entries = {}
    with fresh_inductor_cache(entries, dir=str(tmp_path)):
        inside = cache_dir()
        assert os.path.dirname(inside) == str(tmp_path)
        kernels = os.environ["TRITON_CACHE_DIR"]
        assert kernels == os.path.join(inside, "triton")
        os.mkdir(kernels)
        for name in ("kernel", "kernel.lock"):
            with open(os.path.join(kernels, name), "w") as out:
                out.write("abc")
    assert entries == {"kernel": 3}
    assert not os.path.exists(inside)
    assert cache_dir() == str(tmp_path / "mine")
    assert "TRITON_CACHE_DIR" not in os.environ
    with fresh_inductor_cache(dir=str(tmp_path), delete=False):
        kept = cache_dir()
    assert os.path.isdir(kept)
