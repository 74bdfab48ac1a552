"""A program's parameters, with the facts of examples."""

from __future__ import annotations

import hotaru

from ..._types import ClassType, TensorType

__all__ = ["apply_input_props_using_example"]


def apply_input_props_using_example(graph, example_input) -> None:
    """Gives the parameters the dtypes, sizes and devices of examples.

    Args:
        graph: changed; a first parameter that is a module has no example.
        example_input: one for each parameter, None for those that stay as
            they are.

    RuntimeError: the numbers differ, or a tensor is for what is none.
    """
    values = list(graph.inputs())
    if values and isinstance(values[0].type(), ClassType):
        values = values[1:] if values[0].debugName() == "self" else values
    if len(values) != len(example_input):
        raise RuntimeError("Number of inputs in graph does not match the examples")
    for i, (value, example) in enumerate(zip(values, example_input)):
        if example is None:
            continue
        is_tensor = isinstance(example, hotaru.Tensor)
        if is_tensor != isinstance(value.type(), TensorType):
            raise RuntimeError(f"Input {i} does not match type of example", example)
        if is_tensor:
            value.setType(TensorType.create_from_tensor(example))
