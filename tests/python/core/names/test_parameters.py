"""Parameters that functions show to `inspect.signature`, which PyTorch's have;
none hides them behind `**kwargs`, and none takes what is no parameter.
"""

from __future__ import annotations

import inspect

import pytest
from hotaru.utils import cpp_extension

import hotaru as torch

T = torch.Tensor
PARAMETERS = {
    "__dlpack__": (T.__dlpack__, "self stream max_version dl_device copy"),
    "eig": (T.eig, "self eigenvectors"),
    "lstsq": (T.lstsq, "self other"),
    "solve": (T.solve, "self other"),
    "symeig": (T.symeig, "self eigenvectors"),
    "clip_grad_norm": (
        torch.nn.utils.clip_grad_norm,
        "parameters max_norm norm_type error_if_nonfinite foreach",
    ),
    "trace_module": (
        torch.jit.trace_module,
        "mod inputs optimize check_trace check_inputs check_tolerance strict "
        "_force_outplace _module_class _compilation_unit "
        "example_inputs_is_kwarg _store_inputs",
    ),
    "library_paths": (
        cpp_extension.library_paths,
        "device_type torch_include_dirs cross_target_platform",
    ),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_are_seen(name):
    function, names = PARAMETERS[name]
    assert list(inspect.signature(function).parameters) == names.split()


@pytest.mark.parametrize("name", PARAMETERS)
def test_no_other_keyword_is_taken(name):
    function, names = PARAMETERS[name]
    parameters = inspect.signature(function).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.name != "self"]
    arguments = [torch.ones(1)] * (len(needed) + names.startswith("self"))
    with pytest.raises(TypeError, match="nonesuch"):
        function(*arguments, nonesuch=1)


@pytest.mark.parametrize("name", ["eig", "lstsq", "solve", "symeig"])
def test_what_is_gone_says_so(name):
    x = torch.eye(2)
    arguments = (x,) if name in ("lstsq", "solve") else ()
    with pytest.raises(RuntimeError, match=r"is now removed.*torch\.linalg"):
        getattr(x, name)(*arguments)


def test_a_capture_takes_its_graph_by_pytorchs_name():
    graph, x = torch.cpu.Graph(), torch.ones(2)
    with torch.cpu.graph(cuda_graph=graph):
        y = x * 2
    graph.replay()
    assert y.tolist() == [2, 2]
