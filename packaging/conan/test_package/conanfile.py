"""Builds a program against the package, and runs it."""

from pathlib import Path

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class TestHotaru(ConanFile):
    settings = ("os", "arch", "compiler", "build_type")
    generators = ("CMakeToolchain", "CMakeDeps", "VirtualRunEnv")

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            program = Path(self.cpp.build.bindir) / "test_package"
            self.run(str(program), env="conanrun")
