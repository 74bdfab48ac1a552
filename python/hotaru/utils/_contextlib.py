"""Contexts that are decorators, too: PyTorch's base class of such."""

from __future__ import annotations

import functools
import inspect
import warnings

from .._extension.grad_mode import _CLASS, _each_step

__all__ = ["context_decorator"]


def _construct_in(context, kind: type):
    """A function that makes objects of a class within the context."""

    @functools.wraps(kind, updated=())
    def run(*args, **kwargs):
        with context():
            return kind(*args, **kwargs)

    return run


def context_decorator(ctx, func):
    """A function that runs in a context; a generator's steps do, one by one.

    Args:
        ctx: a context, which is entered by every call, or a function that
            makes one.

    Raises:
        RuntimeError: `ctx` is a context and callable.
    """
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise RuntimeError(
            f"Passed in {ctx} is both callable and also a valid context "
            "manager (has __enter__), making it ambiguous which interface to "
            "use.  If you intended to pass a context manager factory, rewrite "
            "your call as context_decorator(lambda: ctx()); if you intended to "
            "pass a context manager directly, rewrite your call as "
            "context_decorator(lambda: ctx)"
        )
    context = ctx if callable(ctx) else lambda: ctx
    if inspect.isclass(func):
        raise RuntimeError(
            "Cannot decorate classes; it is ambiguous whether or not only the "
            "constructor or all methods should have the context manager "
            "applied; additionally, decorating a class at definition-site will "
            "prevent use of the identifier as a conventional type.  To specify "
            "which methods to decorate, decorate each of them individually."
        )
    if inspect.isgeneratorfunction(func):
        return _each_step(context, func)

    @functools.wraps(func)
    def run(*args, **kwargs):
        with context():
            return func(*args, **kwargs)

    return run


class _DecoratorContextManager:
    """A context that decorates functions, each of whose calls has a `clone`."""

    def __call__(self, orig_func):
        if inspect.isclass(orig_func):
            warnings.warn(_CLASS, FutureWarning, stacklevel=2)
            return _construct_in(self.clone, orig_func)
        return context_decorator(self.clone, orig_func)

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, exc_type, exc_value, traceback) -> None:
        raise NotImplementedError

    def clone(self):
        """Another one, made as this one was: without arguments."""
        return self.__class__()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One without arguments: a decorator without parentheses as well."""

    def __new__(cls, orig_func=None):
        if orig_func is None:
            return super().__new__(cls)
        return cls()(orig_func)
