"""The types of schemas and graphs are one set of classes."""

import copy
import pickle

import pytest

import hotaru as torch

C = torch._C


def test_schemas_and_graphs_have_the_same_classes():
    def f(x: int) -> int:
        return x

    schema = torch.parse_schema("f(int x, Tensor? y) -> int")
    value = next(torch.jit.script(f).graph.inputs())
    assert schema.arguments[0].type is value.type() is C.IntType.get()
    assert schema.arguments[1].type == C.OptionalType.ofTensor()
    assert isinstance(schema, torch.FunctionSchema)
    assert not hasattr(torch, "AliasInfo")


def test_ints_of_a_meaning_keep_the_name_that_the_schema_says():
    a, b, c = torch.parse_schema("f(SymInt a, Layout b, t c) -> ()").arguments
    assert [x.type.kind() for x in (a, b, c)] == ["IntType", "IntType", "VarType"]
    assert a.real_type == C.SymIntType.get()
    assert (a.real_type.str(), str(a.real_type)) == ("SymInt", "int")
    assert b.real_type.kind() == "LayoutType"


def test_types_are_pickled_and_single_ones_stay_single():
    item = C.ListType(C.DictType(C.StringType.get(), C.TensorType.get()))
    assert pickle.loads(pickle.dumps(item)) == item
    assert copy.deepcopy(C.IntType.get()) is C.IntType.get()
    assert C._GeneratorType.get().kind() == "GeneratorType"
    with pytest.raises(TypeError):
        hash(item)


def test_hashes_differ_with_defaults_and_aliases():
    texts = [
        "foo(Tensor self, int a=2) -> Tensor(a!)",
        "foo(Tensor self, int a=3) -> Tensor(a!)",
        "foo(Tensor self, int a) -> Tensor(a!)",
        "foo(Tensor self, *, int a=2) -> Tensor(a!)",
        "foo(Tensor(a!) self, int a=2) -> Tensor(a!)",
        "foo(Tensor(b!) self, int a=2) -> Tensor(a!)",
        "foo(Tensor self, int[] a=[2]) -> Tensor(a!)",
    ]
    hashes = {hash(torch.parse_schema(text)) for text in texts}
    assert len(hashes) == len(texts)
    assert hashes == {hash(torch.parse_schema(text)) for text in texts}


def test_futures_are_written_in_brackets_by_graphs_alone():
    item = C.FutureType(C.IntType.get())
    assert C.ListType(item).str() == "Future[int][]"
    assert C.DictType(C.IntType.get(), item).str() == "Dict(int, Future(int))"
    assert C.UnionType([item]).str() == "Union(Future(int))"
    assert C.AwaitType(item).str() == "Await(Future(int))"
    assert C.RRefType(item).annotation_str == "RRef[Future[int]]"
    text = "f(Future(int)[] x, Future(int)? y) -> Future(int)"
    assert str(torch.parse_schema(text)) == text


@pytest.mark.parametrize(
    ("result", "count"),
    [
        ("((Tensor, Tensor))", 1),
        ("((Tensor, Tensor)[])", 1),
        ("((Tensor, Tensor), int)", 2),
        ("Tensor x", 1),
        ("()", 0),
    ],
)
def test_one_result_that_is_a_tuple_has_parentheses_of_its_own(result, count):
    schema = torch.parse_schema(f"f() -> {result}")
    assert str(schema) == f"f() -> {result}"
    assert len(schema.returns) == count


def test_a_function_that_returns_a_tuple_has_one_result():
    def f(x):
        return x, x

    schema = torch.jit.script(f).schema
    assert str(schema) == "f(Tensor x) -> ((Tensor, Tensor))"


def test_onnx_tells_the_version():
    assert torch.__version__.startswith(torch.onnx.producer_version)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        torch.onnx.nothing  # noqa: B018
