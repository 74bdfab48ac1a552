"""BuildExtension, the command of setuptools that compiles extensions."""

from __future__ import annotations

from collections.abc import Callable


def make_build_extension(standard: Callable, defines: Callable) -> type:
    """The class; `standard(flags)` gives flags in the right C++ standard,
    `defines(name)` the macros of an extension.
    """
    from setuptools.command.build_ext import build_ext

    class BuildExtension(build_ext):
        """Compiles `CppExtension`s: in C++20, with the macros that PyTorch's
        headers give them.

        `use_ninja` and `no_python_abi_suffix` are taken; the compiler is
        called directly.
        """

        @classmethod
        def with_options(cls, **options):
            """A class whose instances are made with these options."""

            class WithOptions(cls):
                def __init__(self, *args, **kwargs):
                    kwargs.update(options)
                    super().__init__(*args, **kwargs)

            return WithOptions

        def __init__(self, *args, **kwargs) -> None:
            self.no_python_abi_suffix = kwargs.pop("no_python_abi_suffix", False)
            kwargs.pop("use_ninja", None)
            super().__init__(*args, **kwargs)

        def build_extension(self, ext) -> None:
            given = ext.extra_compile_args
            flags = given.get("cxx", []) if isinstance(given, dict) else given
            ext.extra_compile_args = standard([*flags, *defines(ext.name)])
            super().build_extension(ext)

        def get_ext_filename(self, ext_name: str) -> str:
            name = super().get_ext_filename(ext_name)
            if not self.no_python_abi_suffix:
                return name
            parts = name.split(".")
            return ".".join([*parts[:-2], parts[-1]])

    return BuildExtension
