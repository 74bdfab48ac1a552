"""Errors that `torch.onnx` raises."""

from __future__ import annotations

__all__ = [
    "OnnxExporterError",
    "OnnxExporterWarning",
    "SymbolicValueError",
    "UnsupportedOperatorError",
]


class OnnxExporterWarning(UserWarning):
    """Warnings of the exporter."""


class OnnxExporterError(RuntimeError):
    """A program that cannot be exported."""


class UnsupportedOperatorError(OnnxExporterError):
    """Operators that the exporter cannot write, all of them at once.

    Attributes:
        operators: (name, how often, where it stands first) of each.
    """

    def __init__(
        self,
        name: str,
        version: int = 0,
        supported_version: int | None = None,
        *,
        operators: list[tuple[str, int, str]] = (),
    ) -> None:
        self.operators = list(operators) or [(name, 1, "")]
        text = (
            f"Exporting the operator '{name}' to ONNX opset version {version} "
            "is not supported."
        )
        if supported_version is not None:
            text += (
                " Support for this operator was added in version "
                f"{supported_version}, try exporting with this version"
            )
        if len(self.operators) > 1 or self.operators[0][2]:
            lines = [
                f"  {each} ({count} times)\n{where}"
                for each, count, where in self.operators
            ]
            text += "\nOperators without an ONNX form:\n" + "\n".join(lines)
        super().__init__(text)


class SymbolicValueError(OnnxExporterError):
    """A value of a program that has no form in ONNX."""
