"""jit.script: what names, comments and objects around a program say to it."""

# Type comments and old spellings are what is tested.
# ruff: noqa: UP006, UP035

import types
from typing import List, Optional, Tuple, Union

import pytest
from hotaru.jit.annotations import BroadcastingList3

import hotaru as torch
from hotaru import Tensor, nn

X = torch.arange(6.0).reshape(2, 3)


def test_a_type_comment_needs_no_result():
    def f(x, n):
        # type: (Tensor, int)
        return x * n

    compiled = torch.jit.script(f)
    assert compiled.schema.arguments[1].type.annotation_str == "int"
    assert torch.equal(compiled(X, 3), X * 3)
    with pytest.raises(RuntimeError, match="'n'"):
        compiled(X, X)


def test_comments_of_parameters_and_of_values_are_no_signature():
    def f(
        x,  # type: Tensor
        n,  # type: int
    ):
        # type: (...) -> List[int]
        found = []  # type: List[int]
        found.append(n)
        return found

    assert torch.jit.script(f)(X, 2) == [2]


def test_functions_left_to_python_may_have_type_comments():
    class Left(nn.Module):
        @torch.jit.ignore
        def twice(self, n):
            # type: (int) -> Tuple[int, int]
            return n, n

        @torch.jit.unused
        def never(self, x):
            # type: (Tensor) -> List[Tensor]
            return [x]

        def forward(self, x, n: int, flag: bool):
            if flag:
                return self.never(x)[0]
            a, b = self.twice(n)
            return x * (a + b)

    compiled = torch.jit.script(Left())
    assert torch.equal(compiled(X, 2, False), X * 4)
    with pytest.raises(Exception, match="never"):
        compiled(X, 2, True)


def test_classes_in_a_function_know_each_other():
    @torch.jit.script
    class Leaf:
        def __init__(self, value: int):
            self.value = value

    @torch.jit.script
    class Tree:
        def __init__(self):
            self.leaf = torch.jit.annotate(Optional[Leaf], None)

        def grow(self, leaf: Leaf):
            self.leaf = leaf

        def same(self, other):
            # type: (Leaf) -> bool
            mine = self.leaf
            return mine is not None and mine.value == other.value

    def f(n: int) -> Tuple[bool, bool]:
        tree = Tree()
        tree.grow(Leaf(n))
        return tree.same(Leaf(2)), tree.same(Leaf(n))

    assert torch.jit.script(f)(1) == (False, True)


def test_errors_in_a_class_tell_who_uses_it():
    class Wrong:
        def method(self):
            import os  # noqa: F401

    def f(x) -> Wrong:
        return Wrong()

    with pytest.raises(RuntimeError) as error:
        torch.jit.script(f)
    first, then = str(error.value).split(
        "'Wrong' is being compiled since it was called from 'f'"
    )
    assert "import os" in first
    assert "-> Wrong" in then


def test_methods_bound_to_one_object_count():
    class Model(nn.Module):
        def forward(self, x):
            return x + 1

        @torch.jit.ignore
        def told(self):
            return "class"

    def forward(self, x):
        return x + 2

    @torch.jit.ignore
    def told(self):
        return "object"

    plain, changed = Model(), Model()
    changed.forward = types.MethodType(forward, changed)
    changed.told = types.MethodType(told, changed)
    for model, more, text in ((plain, 1, "class"), (changed, 2, "object")):
        compiled = torch.jit.script(model)
        assert torch.equal(compiled(X), X + more)
        assert compiled.told() == text


class Statics(nn.Module):
    @staticmethod
    def scaled(x, n: int):
        return x * n

    def forward(self, x):
        return Statics.scaled(x, 2) + self.scaled(x, 3)


def test_static_methods_by_the_name_of_their_class():
    assert torch.equal(torch.jit.script(Statics())(X), X * 5)


class Walked(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.rest = nn.Sequential(nn.ReLU(), nn.BatchNorm1d(3))
        self.offset = nn.Buffer(torch.ones(3))

    @torch.jit.export
    def names(self):
        children: List[str] = []
        for name, _ in self.named_children():
            children.append(name)
        modules: List[str] = []
        for name, _ in self.named_modules():
            modules.append(name)
        parameters: List[str] = []
        for name, value in self.named_parameters():
            parameters.append(name + str(value.dim()))
        buffers: List[str] = []
        for name, value in self.named_buffers():
            buffers.append(name + str(value.dim()))
        return children, modules, parameters, buffers

    def forward(self, x):
        for child in self.children():
            x = child(x)
        for value in self.buffers():
            x = x + value.sum()
        return x


def test_walks_over_modules():
    model = Walked().eval()
    compiled = torch.jit.script(model)
    assert compiled.names() == model.names()
    torch.testing.assert_close(compiled(X), model(X))


def test_sources_given_to_modules_of_one_class():
    found = []
    for n in range(2):
        module = torch.jit.ScriptModule()
        module.define(f"def more(self, x):\n    return x + {n}\n")
        found.append(module.more(torch.zeros(1)).item())
    assert found == [0, 1]


def test_schemas_count_what_one_number_stands_for():
    def f(size: BroadcastingList3[int], x: Tensor):
        return x

    assert str(torch.jit.script(f).schema).startswith("f(int[3] size, ")


def test_an_argument_by_keyword_that_is_missing():
    def g(x, *, y: Tensor):
        return x + y

    def f(x):
        return g(x, x)

    with pytest.raises(RuntimeError, match="Argument y not provided"):
        torch.jit.script(f)


def test_initial_values_in_programs():
    def f(x, generator: torch.Generator):
        return nn.init.uniform_(x, 1.0, 2.0, generator=generator)

    draws = [g.manual_seed(3) for g in (torch.Generator(), torch.Generator())]
    got = torch.jit.script(f)(torch.zeros(4), draws[0])
    assert torch.equal(got, f(torch.zeros(4), draws[1]))


def test_traces_of_keyword_inputs_and_of_other_methods():
    class Model(nn.Module):
        def forward(self, a=None, b=None):
            return a - b

        def other(self, x):
            return x

    given = {"b": torch.ones(2), "a": torch.full((2,), 3.0)}
    traced = torch.jit.trace_module(
        Model(), {"forward": given}, example_inputs_is_kwarg=True
    )
    assert traced(**given).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="missing value for argument 'a'"):
        traced(b=torch.ones(2), c=torch.ones(2))
    with pytest.raises(AttributeError, match="use trace_module"):
        torch.jit.trace(Model().other, torch.ones(2))


def test_traced_assignment_drops_leading_dimensions():
    def f(x, index, value):
        y = x.clone()
        y[index] = value
        return y

    index, value = torch.tensor([1, 2]), torch.tensor([[[7.0, 8.0]]])
    traced = torch.jit.trace(f, (torch.zeros(4), index, value))
    assert traced(torch.ones(5), index, value).tolist() == [1, 7, 8, 1, 1]


def test_a_conditional_value_of_the_declared_type():
    def f(n: int) -> Union[int, str]:
        found: Union[int, str] = n if n > 0 else "none"
        return found if n > 1 else "few"

    compiled = torch.jit.script(f)
    assert [compiled(n) for n in range(3)] == ["few", "few", 2]

    def g(n: int) -> int:
        return n if n > 0 else "none"

    with pytest.raises(RuntimeError, match="'int' if the condition holds"):
        torch.jit.script(g)
