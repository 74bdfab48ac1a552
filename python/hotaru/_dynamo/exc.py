"""Errors of PyTorch's tracer by their names: programs catch them.

hotaru raises `UncapturedHigherOrderOpError` of them; what cannot be captured
is a warning of `compile`, or with `fullgraph` a RuntimeError.
"""

from __future__ import annotations

import enum

__all__ = ["TorchDynamoException", "UncapturedHigherOrderOpError"]


class TorchDynamoException(RuntimeError):  # noqa: N818
    """A program that cannot be traced as it stands."""


class UncapturedHigherOrderOpError(TorchDynamoException):
    """A function that its operator can't run: what it returns does not fit, or
    it changes its arguments.
    """


class InternalTorchDynamoError(TorchDynamoException):
    """A fault of the tracer itself."""


class ResumePrologueTracingError(TorchDynamoException):
    """A traced function that could not be gone on with."""


class RestartAnalysis(TorchDynamoException):
    """Tracing begins again, with what was learnt."""

    def __init__(self, *args, restart_reason: str | None = None) -> None:
        self.restart_reason = restart_reason
        super().__init__(*args)


class SpeculationRestartAnalysis(RestartAnalysis):
    """A guess of the tracer was wrong."""


class AutogradGradRestartAnalysis(RestartAnalysis):
    """The function asks for gradients."""


class RequiresGradRestartAnalysis(RestartAnalysis):
    """The function makes a tensor one that needs gradients."""


class UnspecializeRestartAnalysis(RestartAnalysis):
    """A module's attributes change from call to call."""


class CompileCollectiveRestartAnalysis(RestartAnalysis):
    """Other processes know more of the sizes."""


class TensorifyScalarRestartAnalysis(RestartAnalysis):
    """A number becomes a tensor."""


class SkipFrame(TorchDynamoException):
    """A function that is left as it is."""


class TorchRuntimeError(TorchDynamoException):
    """An operator that fails while it is traced."""


class InvalidBackend(TorchDynamoException):
    """A backend that nobody registered."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` "
            "for available backends."
        )


class ResetRequired(TorchDynamoException):
    """The backend changed; `torch._dynamo.reset()` comes first."""

    def __init__(self) -> None:
        super().__init__("Must call `torch._dynamo.reset()` before changing backends.")


class ShortenTraceback(TorchDynamoException):
    """An error that is shown without the tracer's own lines."""

    def __init__(self, *args, first_useful_frame=None, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.first_useful_frame = first_useful_frame

    def remove_dynamo_frames(self):
        """The error itself: there are no such lines."""
        return self


class BackendCompilerFailed(ShortenTraceback):
    """A backend that failed."""

    def __init__(self, backend_fn, inner_exception, first_useful_frame=None):
        self.backend_name = getattr(backend_fn, "__name__", "?")
        self.inner_exception = inner_exception
        super().__init__(
            f"backend={self.backend_name!r} raised:\n"
            f"{type(inner_exception).__name__}: {inner_exception}",
            first_useful_frame=first_useful_frame,
        )


class Unsupported(TorchDynamoException):
    """Python that the tracer does not know."""

    def __init__(
        self,
        msg: str,
        gb_type: str = "",
        skip_frame: bool = False,
        *,
        case_name: str | None = None,
        real_stack=None,
    ) -> None:
        super().__init__(msg)
        self.real_stack = [] if real_stack is None else real_stack
        self.msg, self.case_name, self.gb_type = msg, case_name, gb_type
        self.skip_frame = skip_frame


class UnknownPropertiesDuringBackwardTrace(TorchDynamoException):
    """A backward that depends on what is known when it runs."""


class RecompileError(TorchDynamoException):
    """A graph that would be made again, which was forbidden."""


class InfiniteGeneratorError(TorchDynamoException):
    """A generator without an end."""


class CondOpArgsMismatchError(TorchDynamoException):
    """Branches that take other arguments than they get."""


class UserErrorType(enum.Enum):
    """Kinds of mistakes of a program."""

    DYNAMIC_CONTROL_FLOW = enum.auto()
    ANTI_PATTERN = enum.auto()
    STANDARD_LIBRARY = enum.auto()
    CONSTRAINT_VIOLATION = enum.auto()
    DYNAMIC_DIM = enum.auto()
    INVALID_INPUT = enum.auto()
    INVALID_OUTPUT = enum.auto()
    UNSUPPORTED_ALIASED_MUTATED_DYNAMIC_INPUTS = enum.auto()


class UserError(TorchDynamoException):
    """A mistake of the program, with its kind."""

    def __init__(self, error_type: UserErrorType, msg: str, case_name=None) -> None:
        super().__init__(msg)
        self.error_type, self.message = error_type, msg
        self.case_name = case_name


class StepUnsupported(TorchDynamoException):
    """A step of a function that the tracer does not know."""


class UnsafeScriptObjectError(TorchDynamoException):
    """An object of C++ that is not safe to trace."""


class FailOnRecompileLimitHit(Exception):  # noqa: N818
    """A function that was compiled too often."""


class PackageError(TorchDynamoException):
    """A kept function that cannot be loaded here."""


class ObservedException(TorchDynamoException):
    """An exception that the traced program raises."""
