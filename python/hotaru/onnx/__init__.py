"""ONNX models of programs and programs of ONNX models.

`export` writes a model, `load` runs one.

Symbolic functions of other libraries are called where `dynamo=False`.
"""

from __future__ import annotations

import enum

from .. import __version__
from .._own_names import part
from . import errors
from ._export import OperatorExportTypes, TrainingMode, export, is_in_onnx_export
from ._load import load, operators
from ._program import ONNXProgram
from .errors import OnnxExporterError

__all__ = [
    "ONNXProgram",
    "OnnxExporterError",
    "OperatorExportTypes",
    "TensorProtoDataType",
    "TrainingMode",
    "errors",
    "export",
    "is_in_onnx_export",
    "load",
    "operators",
    "producer_version",
    "register_custom_op_symbolic",
    "unregister_custom_op_symbolic",
]

#: The version of this package without what was built in, as "2.13.0".
producer_version = __version__.partition("+")[0]

_LAZY = {
    "openvino",
    "runtime",
    "symbolic_helper",
    "symbolic_opset9",
    "symbolic_opset11",
    "symbolic_opset12",
    "symbolic_opset13",
}
_symbolics: dict[tuple[str, int], object] = {}


class TensorProtoDataType(enum.IntEnum):
    """Types of elements in ONNX's files (onnx.proto, TensorProto.DataType)."""

    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16
    FLOAT8E4M3FN = 17
    FLOAT8E4M3FNUZ = 18
    FLOAT8E5M2 = 19
    FLOAT8E5M2FNUZ = 20


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn, opset_version: int
) -> None:
    """Has `export(dynamo=False)` write an operator as a program says.

    From this version of ONNX on, `symbolic_fn(g, *args)` is called for each
    call of the operator, of whatever overload. It gets values of the graph, and
    Python's values for what is known, writes nodes by `g.op()` and returns the
    results' values.

    ValueError: the name is not of the form "domain::operator".
    """
    if symbolic_name.count("::") != 1:
        raise ValueError(
            f"Failed to register operator {symbolic_name}. "
            "The symbolic name must match the format domain::name, and should "
            "start with a letter and contain only alphanumerical characters"
        )
    _symbolics[symbolic_name, opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Forgets what was registered."""
    _symbolics.pop((symbolic_name, opset_version), None)


TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import openvino as openvino
    from . import runtime as runtime
    from . import symbolic_helper as symbolic_helper
    from . import symbolic_opset9 as symbolic_opset9
    from . import symbolic_opset11 as symbolic_opset11
    from . import symbolic_opset12 as symbolic_opset12
    from . import symbolic_opset13 as symbolic_opset13
else:

    def __getattr__(name: str):
        return part(__name__, name, _LAZY)
