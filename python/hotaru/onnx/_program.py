"""ONNX models in memory."""

from __future__ import annotations

import io
import os

# Size that protobuf's readers take: from here on weights lie beside the model.
_LARGE = 2**31 - 2**20


class ONNXProgram:
    """Result of `export`: to be saved, looked at and called.

    Attributes:
        input_names, output_names: of the graph, in order.
        opset_version: of the operators.
    """

    def __init__(self, native, flatten) -> None:
        self._native = native
        self._flatten = flatten
        self._module = None
        self.input_names: list[str] = native.inputs
        self.output_names: list[str] = native.outputs
        self.opset_version: int = native.opset

    def __repr__(self) -> str:
        nodes = sum(self._native.operators.values())
        return (
            f"ONNXProgram(inputs={self.input_names}, "
            f"outputs={self.output_names}, opset={self.opset_version}, "
            f"nodes={nodes}, "
            f"initializers={len(self._native.initializers)})"
        )

    def save(
        self,
        destination,
        *,
        include_initializers: bool = True,
        keep_initializers_as_inputs: bool = False,
        external_data: bool | None = None,
    ) -> None:
        """Writes the model to a path or an open file.

        With `external_data`, or where the model would pass protobuf's 2 GiB,
        weights go to a file of the same name and ".data" beside it.

        Raises:
            TypeError: external data and a file instead of a path.
        """
        large = include_initializers and self._is_large()
        external = bool(external_data) or large
        if isinstance(destination, (str, os.PathLike)):
            self._native.save(
                os.fspath(destination),
                external,
                include_initializers,
                keep_initializers_as_inputs,
            )
            return
        if external:
            raise TypeError(
                "Saving the ONNX file with external data is only supported "
                "when the destination is a file path."
            )
        destination.write(
            self._native.to_bytes(include_initializers, keep_initializers_as_inputs)
        )

    def to_bytes(self) -> bytes:
        """The file's bytes."""
        return self._native.to_bytes(True, False)

    @property
    def model_proto(self):
        """The model as an `onnx.ModelProto`, by the package `onnx`."""
        import onnx

        return onnx.load_from_string(self.to_bytes())

    def operators(self) -> dict[str, int]:
        """How often each ONNX operator stands in the graph's top level."""
        return self._native.operators

    def _is_large(self) -> bool:
        return self._native.initializer_bytes > _LARGE

    def _loaded(self):
        from ._load import load

        if self._module is not None:
            return self._module
        if self._is_large():
            import tempfile

            # The module maps the weights, which outlives the file's name.
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model.onnx")
                self.save(path)
                self._module = load(path)
        else:
            self._module = load(io.BytesIO(self.to_bytes()))
        return self._module

    def __call__(self, *args, **kwargs):
        """Runs the model by hotaru's own importer; a tuple of its outputs."""
        result = self._loaded()(*self._flatten(args, kwargs))
        return result if isinstance(result, tuple) else (result,)
