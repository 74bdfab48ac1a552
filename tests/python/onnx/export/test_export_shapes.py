"""`dynamic_shapes` of arguments that come together: `*args`, `**kwargs`, lists
and dictionaries, as `torch.export.export` takes them.
"""

import io

import pytest

import hotaru as torch
from hotaru import nn

ROWS = {0: "n"}


class Many(nn.Module):
    def forward(self, *parts):
        return torch.cat([part.sum(1) for part in parts])


class Named(nn.Module):
    def forward(self, first, **rest):
        return first.sum(1) + sum(each.sum(1) for each in rest.values())


class Nested(nn.Module):
    def forward(self, named, listed):
        return named["a"].sum(1) + listed[0].sum(1) + listed[1].sum(1)


def _x(rows=3):
    return torch.arange(4.0 * rows).reshape(rows, 4)


CASES = {
    "one of many": (Many(), lambda r: (_x(r),), ((ROWS,),)),
    "many": (Many(), lambda r: (_x(r), _x(r)), ((ROWS, ROWS),)),
    "many, by name": (Many(), lambda r: (_x(r),) * 2, {"parts": [ROWS, ROWS]}),
    "many, one by one": (Many(), lambda r: (_x(r), _x(r)), (ROWS, ROWS)),
    "many, one fixed": (Many(), lambda r: (_x(r), _x(3)), ((ROWS, None),)),
    "many, a list": (Many(), lambda r: (_x(r),), ((["n", None],),)),
    "nested": (
        Nested(),
        lambda r: ({"a": _x(r)}, [_x(r), _x(r)]),
        ({"a": ROWS}, [ROWS, ROWS]),
    ),
}


def _leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return [leaf for part in parts for leaf in _leaves(part)]


@pytest.mark.parametrize("name", CASES)
def test_shapes_stand_as_the_arguments_do(name):
    model, arguments, shapes = CASES[name]
    program = torch.onnx.export(model, arguments(3), dynamic_shapes=shapes)
    back = torch.onnx.load(io.BytesIO(program.to_bytes()))
    for rows in (3, 1, 5):
        given = arguments(rows)
        assert torch.equal(back(*_leaves(given)), model(*given))


@pytest.mark.parametrize(
    "shapes",
    [
        {"first": ROWS, "rest": {"a": ROWS, "b": ROWS}},
        {"first": ROWS, "a": ROWS, "b": ROWS},
    ],
)
def test_shapes_of_keywords(shapes):
    model, rest = Named(), {"a": _x(), "b": _x()}
    program = torch.onnx.export(model, (_x(),), kwargs=rest, dynamic_shapes=shapes)
    back = torch.onnx.load(io.BytesIO(program.to_bytes()))
    more = {"a": _x(5), "b": _x(5)}
    assert torch.equal(back(_x(5), *more.values()), model(_x(5), **more))


@pytest.mark.parametrize(
    ("model", "args", "shapes", "text"),
    [
        (Many(), (_x(), _x()), ((ROWS,),), "1 entries for the 2 of parts"),
        (
            Nested(),
            ({"a": _x()}, [_x(), _x()]),
            ({"b": ROWS}, [ROWS, ROWS]),
            "names \\['b'\\] in named",
        ),
    ],
)
def test_shapes_of_what_is_not_there_are_refused(model, args, shapes, text):
    with pytest.raises(ValueError, match=text):
        torch.onnx.export(model, args, dynamic_shapes=shapes)
