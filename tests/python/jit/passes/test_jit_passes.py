"""Passes over programs as graphs: what each takes out, and what it leaves."""

import gc
import weakref

import pytest
from hotaru._C import TensorType

import hotaru as torch

C = torch._C


def kinds(graph) -> list[str]:
    return [node.kind() for node in graph.nodes()]


def test_a_graph_is_one_object_while_it_is_held():
    @torch.jit.script
    def f(x):
        return x + 1

    graph = f.graph
    assert f.graph is graph
    told = weakref.ref(graph)
    del graph
    gc.collect()
    assert told() is None


def test_a_changed_graph_stays_the_programs():
    @torch.jit.script
    def f(x):
        return x * 2 + x * 2

    assert kinds(f.graph).count("aten::mul") == 2
    C._jit_pass_cse(f.graph)
    gc.collect()
    assert kinds(f.graph).count("aten::mul") == 1
    assert torch.equal(f(torch.ones(2)), torch.full((2,), 4.0))
    with pytest.raises(RuntimeError, match="describes it"):
        f.graph.addInput()


def test_a_changed_graph_goes_with_its_function():
    f = torch.jit.CompilationUnit("def f(x):\n    return x * 2 + x * 2").f
    C._jit_pass_cse(f.graph)
    told = weakref.ref(f.graph)
    del f
    gc.collect()
    assert told() is None


def test_dead_code_keeps_what_the_caller_can_see():
    @torch.jit.script
    def f(x, y):
        a = torch.zeros([2])
        a.add_(1)  # to nobody
        b = x[0]
        b.mul_(3)  # to the caller's
        c = torch.ones([2])
        c.add_(y)
        print(y)
        return c

    C._jit_pass_dce(f.graph)
    found = kinds(f.graph)
    assert "aten::mul_" in found
    assert "prim::Print" in found
    assert found.count("aten::add_") == 1
    assert "aten::zeros" not in found


def test_dead_code_in_loops_and_branches():
    @torch.jit.script
    def f(x, n: int, c: bool):
        a = x
        b = x
        for _ in range(n):
            a = a + 1
            b = b * 2
        if c:
            d, _e = a + 3, a + 4
        else:
            d, _ = a - 3, a - 4
        return d

    C._jit_pass_dce(f.graph)
    loop = f.graph.findNode("prim::Loop")
    assert loop.outputsSize() == 1
    assert f.graph.findNode("prim::If").outputsSize() == 1
    assert "aten::mul" not in str(f.graph)
    f.graph.lint()


def test_the_same_twice_but_for_writes_and_random_numbers():
    @torch.jit.script
    def f(x):
        a = x * 2
        b = x * 2
        c = torch.rand_like(x)
        d = torch.rand_like(x)
        e = x + 1
        e.add_(1)
        g = x + 1
        return a, b + 1, c, d, e, g

    C._jit_pass_cse(f.graph)
    found = kinds(f.graph)
    assert found.count("aten::mul") == 1
    assert found.count("aten::rand_like") == 2
    assert found.count("aten::add") == 3


def test_constants_are_computed():
    @torch.jit.script
    def f(x, n: int):
        a = 3 * 4 + 1
        b = x + a if a > 10 else x - a
        for _ in range(0):
            b = b * 2
        c = torch.ones([2]) * 3
        c.add_(1)
        return b, c

    C._jit_pass_constant_propagation(f.graph)
    text = str(f.graph)
    assert "value=13" in text
    assert "prim::If" not in text
    assert "prim::Loop" not in text
    assert "aten::add_" in text  # what is written to is no constant
    f.graph.lint()


def test_a_division_by_zero_stays():
    @torch.jit.script
    def f():
        return 1 // 0

    C._jit_pass_constant_propagation(f.graph)
    assert "aten::floordiv" in kinds(f.graph)


@pytest.mark.parametrize(
    ("source", "gone"),
    [
        ("len([x, x, x])", "aten::len"),
        ("[x, y][-1]", "aten::__getitem__"),
        ("[1, 2, 3, 4][1:3]", "aten::slice"),
        ("{1: x, 2: y}[2]", "aten::__getitem__"),
        ("len({1: x, 2: y})", "aten::len"),
        ("n + 0", "aten::add"),
        ("1 * n", "aten::mul"),
        ("n == n", "aten::eq"),
        ("x.t().t() + 1", "aten::t"),
        ("(x + 0) - 5", "aten::add"),
    ],
)
def test_small_pieces(source, gone):
    unit = torch.jit.CompilationUnit(f"""
def f(x, y, n: int):
    return {source}
""")
    assert gone in kinds(unit.f.graph)
    C._jit_pass_peephole(unit.f.graph)
    assert gone not in kinds(unit.f.graph)
    unit.f.graph.lint()


@pytest.mark.parametrize(
    ("source", "stays"),
    [
        ("x + 0", "aten::add"),  # a new tensor, which is the caller's
        ("(x + 0.0) - 5", "aten::add"),  # integers become floats
        ("(x + True) - 5", "aten::add"),
        ("[x, y][n]", "aten::__getitem__"),
        ("{1: x, n: y}[1]", "aten::__getitem__"),
        ("n - 1", "aten::sub"),
        ("0 - n", "aten::sub"),
    ],
)
def test_pieces_that_stay(source, stays):
    unit = torch.jit.CompilationUnit(f"""
def f(x, y, n: int):
    return {source}
""")
    C._jit_pass_peephole(unit.f.graph)
    assert stays in kinds(unit.f.graph)


def test_lists_that_change_are_not_read_early():
    @torch.jit.script
    def f(x: int):
        a = [1, x]
        a.append(3)
        b = [1, 2]
        b[0] = 5
        return len(a), b[0]

    C._jit_pass_peephole(f.graph)
    found = kinds(f.graph)
    assert "aten::len" in found
    assert "aten::__getitem__" in found


def test_what_conditions_say():
    @torch.jit.script
    def f(x: int, y: int):
        if x != 4 or y != 5:
            raise Exception("no")
        return x + y

    C._jit_pass_refine_integer_values(f.graph)
    C._jit_pass_constant_propagation(f.graph)
    C._jit_pass_dce(f.graph)
    assert next(f.graph.outputs()).toIValue() == 9

    @torch.jit.script
    def g(x: int, y: int):
        if x != 4 and y != 5:
            raise Exception("no")
        return x + y

    C._jit_pass_refine_integer_values(g.graph)
    C._jit_pass_constant_propagation(g.graph)
    assert next(g.graph.outputs()).toIValue() is None


def test_sizes_dtypes_and_strides_reach_results():
    @torch.jit.script
    def f(x, y, n: int):
        a = torch.relu(x) + y
        return a, a.sum(0), torch.cat([x, x], 1), x.view(n, -1)

    example = torch.ones(2, 3), torch.ones(2, 3, dtype=torch.double), 3
    C._jit_pass_complete_shape_analysis(f.graph, example, False)
    made = next(f.graph.outputs()).node()
    types = [value.type() for value in made.inputs()]
    told = "Double(2, 3, strides=[3, 1], requires_grad=0, device=cpu)"
    assert types[0].str() == told
    assert types[1].sizes() == [3]
    assert types[2].sizes() == [2, 6]
    assert types[3].dtype() is torch.float32
    assert types[3].sizes() is None
    C._jit_pass_erase_shape_information(f.graph)
    assert all(v.type() == TensorType.get() for v in made.inputs())


def test_facts_that_loops_and_branches_share():
    @torch.jit.script
    def f(x, n: int, c: bool):
        y = x
        for _ in range(n):
            y = y.unsqueeze(0)
        z = x + 1 if c else x.to(torch.float64)
        return y, z

    C._jit_pass_complete_shape_analysis(f.graph, (torch.ones(2, 2), 1, True), False)
    y, z = next(f.graph.outputs()).node().inputs()
    assert y.type().str() == "FloatTensor(requires_grad=0, device=cpu)"
    assert z.type().scalarType() is None
    assert z.type().sizes() == [2, 2]


def test_a_resized_tensor_has_no_facts():
    @torch.jit.script
    def f(x):
        b = torch.zeros([2, 2])
        c = b.add_(1)
        b.resize_as_(x)
        return c

    graph = C._propagate_shapes(f.graph, (torch.zeros(1, 1),), False)
    assert next(graph.outputs()).type() == TensorType.get()
    assert next(f.graph.inputs()).type() == TensorType.get()  # the copy alone


def test_devices():
    @torch.jit.script
    def f(x, y):
        return x + y

    def device(*given):
        for value, name in zip(f.graph.inputs(), given):
            kind = None if name is None else torch.device(name)
            value.setType(TensorType.get().with_device(kind))
        C._jit_pass_propagate_device(f.graph)
        return next(f.graph.outputs()).type().device()

    held = f.graph
    assert device("cpu", "cpu") == torch.device("cpu")
    C._jit_pass_erase_shape_information(held)
    assert device("cpu", "cuda") is None
    C._jit_pass_erase_shape_information(held)
    assert device("cpu", None) is None


def test_changes_become_new_values():
    @torch.jit.script
    def f(x):
        a = torch.zeros([2])
        a.add_(1)
        b = a * 2
        a.mul_(3)  # b was made of it before
        c = x[0]
        c.add_(1)  # the caller's
        d = [1, 2]
        d.append(3)
        d[0] = 5
        return a, b, c, d

    C._jit_pass_remove_mutation(f.graph)
    found = kinds(f.graph)
    assert found.count("aten::add_") == 1
    assert "aten::mul_" in found
    assert "aten::append" not in found
    assert "aten::_set_item" not in found
    f.graph.lint()
    graph = torch._C._create_function_from_graph("g", f.graph.copy())
    x = torch.zeros(2)
    a, b, c, d = graph(x)
    assert (a.tolist(), b.tolist(), c.tolist(), d) == ([3, 3], [2, 2], 1, [5, 2, 3])
    assert x.tolist() == [1, 0]


def test_which_values_share_memory():
    @torch.jit.script
    def f(x):
        y = torch.rand([2, 2])
        z = y[0]
        w = y + 1
        z.add_(1)
        return [w]

    graph = f.graph
    shared = graph.alias_db()
    y, z = (graph.findNode(f"aten::{n}").output() for n in ("rand", "select"))
    w, x = graph.findNode("aten::add").output(), next(graph.inputs())
    assert shared.may_contain_alias(y, z)
    assert shared.has_writers(y)
    assert not shared.has_writers(w)
    assert not shared.may_contain_alias(x, y)
    assert shared.may_contain_alias(w, next(graph.outputs()))
    assert not shared.may_contain_alias(y, [x, w])
    assert "WILDCARD: x" in str(shared)
    assert "digraph alias_db" in shared.to_graphviz_str()
    assert graph.findNode("aten::rand").isNondeterministic()
    assert not graph.findNode("aten::add").isNondeterministic()


def test_switches_read_back():
    before = C._jit_can_fuse_on_cpu(), C._jit_texpr_fuser_enabled()
    with torch.jit.fuser("fuser1"):
        assert C._jit_can_fuse_on_cpu()
        assert C._jit_texpr_fuser_enabled()
    assert (C._jit_can_fuse_on_cpu(), C._jit_texpr_fuser_enabled()) == before
    with pytest.raises(Exception, match="unrecognized fuser"), torch.jit.fuser("x"):
        pass
    old = C._get_graph_executor_optimize()
    assert C._get_graph_executor_optimize(False) is old
    assert C._get_graph_executor_optimize() is False
    C._set_graph_executor_optimize(old)
    old = C._jit_set_autocast_mode(False)
    assert C._jit_set_autocast_mode(old) is False
