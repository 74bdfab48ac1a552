"""Names for pipes, and promises about their order."""

from __future__ import annotations

from .datapipe import IterDataPipe, MapDataPipe

__all__ = [
    "functional_datapipe",
    "guaranteed_datapipes_determinism",
    "non_deterministic",
]


class functional_datapipe:  # noqa: N801
    """Decorates a class of pipes: `pipe.name(...)` makes one of `pipe`."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name
        self.enable_df_api_tracing = enable_df_api_tracing

    def __call__(self, cls):
        kind = cls.cls if isinstance(cls, non_deterministic) else cls
        if isinstance(kind, type) and issubclass(kind, IterDataPipe):
            IterDataPipe.register_datapipe_as_function(
                self.name, cls, self.enable_df_api_tracing
            )
        elif isinstance(kind, type) and issubclass(kind, MapDataPipe):
            MapDataPipe.register_datapipe_as_function(self.name, cls)
        else:
            raise TypeError("`functional_datapipe` can only decorate IterDataPipe")
        return cls


_determinism = False


class guaranteed_datapipes_determinism:  # noqa: N801
    """Inside, pipes marked as `non_deterministic` cannot be made."""

    def __init__(self) -> None:
        global _determinism
        self.prev, _determinism = _determinism, True

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception) -> None:
        global _determinism
        _determinism = self.prev


class non_deterministic:  # noqa: N801
    """Marks a class of pipes whose order may differ from run to run.

    Decorates the class, or is given a function of the arguments that says
    whether it does. Raises TypeError for anything but classes of IterDataPipe
    and functions.
    """

    def __init__(self, arg) -> None:
        self.cls, self.deterministic_fn = None, None
        if not isinstance(arg, type):
            if not callable(arg):
                raise TypeError(f"{arg} can not be decorated by non_deterministic")
            self.deterministic_fn = arg
        elif issubclass(arg, IterDataPipe):
            self.cls = arg
        else:
            raise TypeError(
                "Only `IterDataPipe` can be decorated with "
                f"`non_deterministic`, but {arg.__name__} is found"
            )

    def __call__(self, *args, **kwargs):
        if self.cls is None:
            self.cls = non_deterministic(args[0]).cls
            return self
        return self.deterministic_wrapper_fn(*args, **kwargs)

    def deterministic_wrapper_fn(self, *args, **kwargs) -> IterDataPipe:
        """Makes the pipe.

        TypeError: it is not deterministic where that is asked for.
        """
        said = self.deterministic_fn
        if _determinism and (said is None or said(*args, **kwargs)):
            raise TypeError(
                f"{self.cls.__name__} is non-deterministic, but you set "
                "'guaranteed_datapipes_determinism'. "
                "You can turn off determinism for this DataPipe if that is "
                "acceptable for your application"
            )
        return self.cls(*args, **kwargs)
