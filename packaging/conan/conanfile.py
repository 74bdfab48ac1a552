"""Conan 2 recipe: hotaru's library, headers and command, without Python.

    conan create packaging/conan -s compiler.cppstd=20

takes the sources of the checkout that the recipe lies in. Highway, RapidJSON and
the other headers come from the system's packages, as ConanCenter's Highway
has other flags: `-c tools.system.package_manager:mode=install` installs them. The
profile that Conan detects has C++17, which the recipe refuses.
"""

from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("hotaru/*", "libtorch/*", "cli/*", "cmake/*", "CMakeLists.txt", "LICENSE")


class Hotaru(ConanFile):
    name = "hotaru"
    description = "PyTorch's execution core, small, fast and predictable"
    license = "Apache-2.0"
    topics = ("tensors", "torchscript", "onnx", "inference")
    package_type = "shared-library"
    settings = ("os", "arch", "compiler", "build_type")
    options = {  # noqa: RUF012 (Conan's own way)
        "libtorch": [True, False],
        "command": [True, False],
    }
    default_options = {"libtorch": True, "command": True}  # noqa: RUF012

    def set_version(self):
        text = load(self, str(ROOT / "CMakeLists.txt"))
        self.version = text.split("project(hotaru VERSION ")[1].split()[0]

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, src=str(ROOT), dst=self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            from conan.errors import ConanInvalidConfiguration

            raise ConanInvalidConfiguration("hotaru needs Linux; see docs/porting.md")
        check_min_cppstd(self, 20)

    def system_requirements(self):
        Apt(self).install(
            [
                "libhwy-dev",
                "zlib1g-dev",
                "rapidjson-dev",
                "nlohmann-json3-dev",
                "libprotozero-dev",
                "libcli11-dev",
                "pkg-config",
            ],
            check=True,
        )

    def layout(self):
        cmake_layout(self)

    def generate(self):
        tools = CMakeToolchain(self, generator="Ninja")
        tools.cache_variables.update(
            {
                "HOTARU_PYTHON": False,
                "HOTARU_CUDA": False,
                "HOTARU_SOFT_GPU": False,
                "HOTARU_SIMD": "all",
                "HOTARU_LIBTORCH": bool(self.options.libtorch),
                "HOTARU_CLI": bool(self.options.command),
            }
        )
        tools.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(
            self,
            "LICENSE",
            src=self.source_folder,
            dst=str(Path(self.package_folder) / "licenses"),
        )

    def package_info(self):
        # The targets are those that the package itself describes.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/hotaru", "lib/cmake/Torch"]
        self.cpp_info.includedirs = ["include"]
        self.cpp_info.libs = ["hotaru"]
