"""Programs that PyTorch refuses, its words and the place that it marks."""

# TorchScript knows the old spellings, and they are what is tested.
# ruff: noqa: B007, C406, F821, RUF043, RUF059, UP006, UP035

import math
from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

import pytest

import hotaru as torch
from hotaru import nn


class Plain:
    kind = 3

    def __init__(self):
        self.n = 1


class NoTruth:
    def __init__(self):
        self.n = 1

    def __bool__(self):
        return (1, 2)


class Point(NamedTuple):
    x: int
    y: int = 3


def branch_changes_the_type(x):
    c = 1.0
    if bool(x):
        c = 1
    return c


def branch_gives_none_a_value(x):
    y = None
    if bool(x):
        y = 5
    return y


def loop_changes_the_type(n: int):
    y = 1.0
    for _ in range(n):
        y = 1
    return y


def loop_variable_changes_the_type(n: int):
    i = "a"
    for i in range(n):
        pass
    return i


def other_list_in_a_branch(x: int):
    out = [1]
    if x > 0:
        out = []
    return out


def annotated_in_a_branch(x: int):
    y = 5
    if x > 0:
        y: Optional[int] = 7
    return y


def break_of_an_unrolled_loop(x):
    b = x
    for a in (x, x):
        b = a
        if bool(b):
            break
    return b


def tensor_as_a_tuple(x):
    a, b = x + x
    return a


def number_as_a_tuple(x: int):
    a, b = x
    return a


def tuple_of_anything(x: Any):
    if isinstance(x, tuple):
        a, b = x
    return x


def name_of_an_attribute(x, name: str):
    return hasattr(x, name)


def attribute_of_a_tensor(x):
    return hasattr(x, "foo")


def attribute_of_a_tuple(x: Tuple[int, int]):
    return hasattr(x, "foo")


def default_of_a_number(x: int):
    return getattr(x, "foo", 3)


def name_of_a_default(x, name: str):
    return getattr(x, name, 3)


def zip_of_unlike_lengths(n: int):
    for i, j in zip(range(n), (1, 2)):
        n += i + j
    return n


def bool_of_a_tuple():
    return 1 if NoTruth() else 2


def bool_of_an_object():
    return 1 if Plain() else 2


def object_without_an_operator():
    c = Plain()
    c += 1
    return c


def attribute_of_a_class():
    c = Plain()
    return c.kind


def builtin_of_python(x: float):
    return math.hypot(x, x)


def keyword_of_a_slice(x):
    return x[slice(2, None, step=2)]


def key_of_two_types(x: Dict[Union[int, str], str]):
    return x


def dict_of_another_key():
    d: Dict[int, str] = dict([("a", "b")])
    return d


def dict_of_another_value():
    d: Dict[str, str] = dict([("a", 1)])
    return d


def unknown_annotation(d: Dict[str, nn.Module]):
    return d


def no_field():
    return Point()


def unknown_field():
    return Point(1, z=3)


def too_many_fields():
    return Point(1, 2, 3)


CASES = [
    (branch_changes_the_type, "c", "'c' previously had type float .* of type int"),
    (branch_gives_none_a_value, "y", "'y' previously had type NoneType .* type int"),
    (loop_changes_the_type, "y", "'y' previously had type float .* type int"),
    (loop_variable_changes_the_type, "i", "'i' previously had type str .* type int"),
    (other_list_in_a_branch, "out", "Empty lists default to List.Tensor."),
    (annotated_in_a_branch, "y", "declare and annotate the type of variable 'y'"),
    (break_of_an_unrolled_loop, "break", "do not support break or continue inside"),
    (tensor_as_a_tuple, "x + x", "Tensor cannot be used as a tuple"),
    (number_as_a_tuple, "x", "int cannot be used as a tuple"),
    (tuple_of_anything, "x", "Provided tuple is not fully defined/refined"),
    (name_of_an_attribute, "name", "hasattr's second argument must be a string"),
    (attribute_of_a_tensor, "x", "must be an object or NamedTuple, got Tensor"),
    (attribute_of_a_tuple, "x", "got a normal Tuple Tuple.int, int. instead"),
    (default_of_a_number, 'getattr(x, "foo", 3)', "or NamedTuple, got int instead"),
    (name_of_a_default, "getattr(x, name, 3)", "getattr's second argument"),
    (zip_of_unlike_lengths, "zip(range(n), (1, 2))", "statically determinable length"),
    (bool_of_a_tuple, "NoTruth()", "expected a bool expression for condition"),
    (bool_of_an_object, "Plain()", "Could not cast value of type .*Plain to bool"),
    (object_without_an_operator, "c += 1", "not define an __iadd__ or __add__ method"),
    (attribute_of_a_class, "c.kind", "'kind' is defined as a class attribute"),
    (builtin_of_python, "math.hypot", "Python builtin <built-in function hypot> is"),
    (keyword_of_a_slice, "slice", "Slice does not accept any keyword arguments"),
    (dict_of_another_key, "dict(", "match the type of an actual key type `str`"),
    (dict_of_another_value, "dict(", "match the type of an actual value type `int`"),
    (no_field, "Point", r"Point\(int x, int y=3\).*\nArgument x not provided"),
    (unknown_field, "Point", "Keyword argument z unknown"),
    (too_many_fields, "Point", "at most 2 arguments but found 3 positional"),
]


def marked(text: str) -> str:
    """The first part of the source that the error marks."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip().startswith("~"))
    begin = lines[at].index("~")
    return lines[at - 1][begin : begin + lines[at].count("~")]


@pytest.mark.parametrize(
    ("function", "place", "message"), CASES, ids=[c[0].__name__ for c in CASES]
)
def test_refused(function, place, message):
    with pytest.raises(RuntimeError, match=message) as caught:
        torch.jit.script(function)
    shown = marked(str(caught.value))
    assert shown.startswith(place) or place.startswith(shown)


def test_keys_of_two_types():
    with pytest.raises(RuntimeError, match="only int, float, complex, Tensor, device"):
        torch.jit.script(key_of_two_types)


def test_annotations_that_are_no_types_are_value_errors():
    with pytest.raises(ValueError, match="Unknown type annotation: 'nn.Module'"):
        torch.jit.script(unknown_annotation)


def test_excerpts_have_the_lines_around():
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(branch_changes_the_type)
    _, file, *shown = str(caught.value).splitlines()
    assert file.startswith(f'  File "{__file__}", line ')
    assert shown == [
        "    c = 1.0",
        "    if bool(x):",
        "        c = 1",
        "        ~ <--- HERE",
        "    return c",
    ]


def test_excerpts_of_methods_are_where_they_stand():
    class Wrong(nn.Module):
        def forward(self, x):
            return missing(x)

    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(Wrong())
    shown = str(caught.value).splitlines()[2:]
    assert shown == [
        "        def forward(self, x):",
        "            return missing(x)",
        "                   ~~~~~~~ <--- HERE",
    ]


def test_what_text_alone_refuses():
    for body, message in (
        ("for i, j in [1], [2]:\n        x += i", "List of iterables is not supported"),
        ("for *a in [1, 2]:\n        x += 1", "A Starred expression may only appear"),
        ("break", "SyntaxError: 'break' outside loop"),
        ("for i in range(2):\n        def g():\n            break", "SyntaxError"),
    ):
        with pytest.raises(RuntimeError, match=message):
            torch.jit.CompilationUnit(f"def f(x):\n    {body}\n    return x\n")


def test_comments_of_signatures():
    def misspelt(a):
        #  type: (int) -> int
        return a

    def another_number(a):
        # type: (int, int) -> int
        return a

    with pytest.raises(RuntimeError, match="annotation prefix in line 1 is probably"):
        torch.jit.script(misspelt)
    with pytest.raises(RuntimeError, match=r"annotations \(2\) did not") as caught:
        torch.jit.script(another_number)
    assert marked(str(caught.value)).startswith("def another_number(a)")


def test_attributes_are_first_assigned_at_the_top():
    class Conditional:
        def __init__(self, x: int):
            if x > 0:
                self.x = x

    class Late:
        def __init__(self, x: int):
            self.x = x

        def put(self, x: int):
            self.x: int = x

    with pytest.raises(RuntimeError, match="cannot be in a control-flow block"):
        torch.jit.script(Conditional)
    with pytest.raises(ValueError, match="must be declared in __init__, not 'put'"):
        torch.jit.script(Late)


def test_values_in_a_module_s_class_are_none_of_its_attributes():
    class Net(nn.Module):
        __constants__ = ("known",)
        known = 3
        other = 4

        def forward(self):
            return self.known

        @torch.jit.export
        def more(self):
            return self.other

    with pytest.raises(RuntimeError, match="'Net' has no attribute 'other'"):
        torch.jit.script(Net())


def test_lists_of_modules_are_no_attributes():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = [nn.ReLU()]

        def forward(self, x):
            for part in self.parts:
                x = part(x)
            return x

    with pytest.raises(RuntimeError, match="'Net' has no attribute 'parts'"):
        torch.jit.script(Net())


def test_functions_in_attributes_say_why_they_do_not_compile():
    def wrong(x):
        return i_do_not_exist

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.function = wrong

        def forward(self, x):
            return self.function(x)

    with pytest.raises(RuntimeError, match="failed to compile(.|\n)*i_do_not_exist"):
        torch.jit.script(Net())


def test_ignored_attributes():
    class Net(nn.Module):
        __jit_ignored_attributes__ = ("a", "sub", "made")

        def __init__(self, uses: bool):
            super().__init__()
            self.a = 1
            self.sub = nn.Module()
            self.b = 4

        @property
        def made(self):
            raise ValueError("nobody asks")

        def forward(self) -> int:
            return self.b

        @torch.jit.ignore
        def outside(self) -> int:
            return self.a

    compiled = torch.jit.script(Net(False))
    assert (compiled(), compiled.outside()) == (4, 1)

    class Uses(Net):
        @torch.jit.export
        def asks(self):
            return self.a

    with pytest.raises(RuntimeError, match="attribute was ignored during compilation"):
        torch.jit.script(Uses(True))


def test_declared_overloads_have_no_body_and_a_definition():
    with pytest.raises(RuntimeError, match="Only `pass` statement or `...` can be"):

        @torch.jit._overload
        def wrong(x: str) -> str:
            return x

    @torch.jit._overload
    def lonely(x: int) -> int: ...

    def caller():
        return lonely(0)

    with pytest.raises(RuntimeError, match='the function "lonely" is missing'):
        torch.jit.script(caller)

    class Net(nn.Module):
        @torch.jit._overload_method
        def forward(self, x: int):
            pass

    with pytest.raises(RuntimeError, match='the method "forward" is missing'):
        torch.jit.script(Net())
