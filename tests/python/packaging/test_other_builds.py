"""The port for vcpkg, the recipe of Conan, and HOTARU_FROM: what can be tried
without either tool and without compiling.
"""

import ast
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PORT = ROOT / "packaging/vcpkg/ports/hotaru"
RECIPE = ROOT / "packaging/conan/conanfile.py"
VERSION = re.search(
    r"project\(hotaru VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()
)[1]
OPTIONS = set(
    re.findall(
        r"(?:option|set)\((HOTARU_\w+)",
        "".join(
            path.read_text()
            for path in (ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake"))
        ),
    )
)

needs_cmake = pytest.mark.skipif(
    not shutil.which("cmake"), reason="cmake is not installed"
)

#: vcpkg's functions that a port calls: each writes its name and arguments.
STAND_INS = """
foreach(name vcpkg_check_linkage vcpkg_cmake_configure vcpkg_cmake_install
    vcpkg_cmake_config_fixup vcpkg_fixup_pkgconfig vcpkg_install_copyright)
  cmake_language(EVAL CODE "function(${name})\\n"
    "message(STATUS \\"CALL ${name} \\${ARGN}\\")\\nendfunction()")
endforeach()
function(vcpkg_check_features)
  cmake_parse_arguments(given "" "OUT_FEATURE_OPTIONS" "FEATURES" ${ARGN})
  list(GET given_FEATURES 0 feature)
  list(GET given_FEATURES 1 option)
  set(value OFF)
  if(feature IN_LIST FEATURES)
    set(value ON)
  endif()
  set(${given_OUT_FEATURE_OPTIONS} -D${option}=${value} PARENT_SCOPE)
endfunction()
function(vcpkg_find_acquire_program name)
  set(${name} /usr/bin/pkg-config PARENT_SCOPE)
endfunction()
set(PORT hotaru)
include(${PORTFILE})
"""


def test_the_port_is_described_by_fields_that_vcpkg_documents():
    """Another field is an error there; versions agree with the project's."""
    port = json.loads((PORT / "vcpkg.json").read_text())
    assert set(port) <= {
        *("name", "version", "port-version", "description", "homepage"),
        *("documentation", "license", "supports", "maintainers", "summary"),
        *("dependencies", "default-features", "features", "overrides"),
    }
    assert port["version"] == VERSION
    for dependency in port["dependencies"]:
        if isinstance(dependency, dict):
            assert set(dependency) <= {
                *("name", "host", "platform", "features"),
                *("default-features", "version>="),
            }
    names = [d if isinstance(d, str) else d["name"] for d in port["dependencies"]]
    assert names == sorted(names)
    for name in (port["name"], *names, *port["features"]):
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert set(port["default-features"]) <= set(port["features"])


@needs_cmake
@pytest.mark.parametrize("features", ["core", "core;libtorch"])
def test_the_portfile_calls_vcpkg_with_options_that_exist(tmp_path, features):
    """Run by CMake over functions that only write what they were given."""
    script = tmp_path / "port.cmake"
    script.write_text(STAND_INS)
    done = subprocess.run(
        [
            *("cmake", f"-DPORTFILE={PORT / 'portfile.cmake'}"),
            *(f"-DCURRENT_PACKAGES_DIR={tmp_path}", f"-DFEATURES={features}"),
            *("-P", str(script)),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    calls = re.findall(r"CALL (\w+) (.*)", done.stdout)
    configured = dict(calls)["vcpkg_cmake_configure"]
    assert f"SOURCE_PATH;{ROOT};" in configured
    given = dict(re.findall(r"-D(HOTARU_\w+)=(\w+)", configured))
    assert set(given) <= OPTIONS, "an option that CMakeLists.txt does not have"
    asked = "libtorch" in features
    assert given["HOTARU_LIBTORCH"] == ("ON" if asked else "OFF")
    fixed = [words for name, words in calls if name == "vcpkg_cmake_config_fixup"]
    assert len(fixed) == 1 + asked
    # The first leaves the folder above both to the second; alone it removes it.
    assert ("DO_NOT_DELETE_PARENT_CONFIG_PATH" in fixed[0]) == asked
    assert (tmp_path / "share/hotaru/usage").exists()


def test_the_recipe_gives_options_that_exist():
    """And exports folders that are there."""
    tree = ast.parse(RECIPE.read_text())
    texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    given = {t for t in texts if isinstance(t, str) and t.startswith("HOTARU_")}
    assert given
    assert given <= OPTIONS
    sources = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "SOURCES"
    )
    for pattern in sources:
        assert list(ROOT.glob(pattern)), pattern


@needs_cmake
@pytest.mark.parametrize(
    ("options", "words"),
    [((), "install from the build folder"), (("-DSKBUILD=ON",), "no build folder")],
)
def test_a_prebuilt_library_is_refused_where_it_cannot_be(tmp_path, options, words):
    """HOTARU_FROM outside of a wheel, and with a folder that holds no library."""
    done = subprocess.run(
        [
            *("cmake", "-S", str(ROOT), "-B", str(tmp_path / "build")),
            *(f"-DHOTARU_FROM={tmp_path}", "-DHOTARU_PYTHON=OFF", *options),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert words in " ".join(done.stderr.split())
