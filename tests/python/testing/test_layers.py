"""The lint of layers finds what is planted in a small tree, and nothing else.

The tree has two packages in Python, `low` and `top`, and two layers in C++,
`core` and `ops`. Each case adds files, or gives some another text.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
_LOW = "from ._late import lent\ndef thing():\n    return lent('build')()\n"
_MAKE = "from .. import thing\ndef build():\n    return thing\n"
_LATE = """
LENT = {"build": "top.make:build"}
def lent(name): ...
def loaded(name): ...
"""
_PYTHON = {
    "python/hotaru/__init__.py": """
from .top import build
_LAZY = {"top"}
_OFFERED = {"low": "thing"}
""",
    "python/hotaru/_late.py": _LATE,
    "python/hotaru/low.py": _LOW,
    "python/hotaru/top/__init__.py": """
from importlib import import_module
from .make import build
def __getattr__(name):
    return import_module(f"{__name__}.make")
""",
    "python/hotaru/top/make.py": f"""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from . import build
{_MAKE}""",
}
_ORDER = ("_late", "low", "top")
_ABOVE = "imports hotaru.top.make, which stands above"
_TEXT = "is imported by a text"


def _low(text: str) -> dict:
    return {"python/hotaru/low.py": _LOW + text}


def _rows(rows: str, **others: str) -> dict:
    late = _LATE.replace('"top.make:build"', rows)
    return {"python/hotaru/_late.py": late, **others}


def _lines(count: int, text: str = "") -> str:
    return f"def long():\n{text}" + "    pass\n" * count


_PLANTED = {
    "upwards": (_low("from .top.make import build"), _ABOVE),
    "upwards in a function": (_low("def f():\n    from .top import make"), _ABOVE),
    "upwards by the face": (_low("from . import build"), _ABOVE),
    "upwards by an attribute": (
        _low("import hotaru\nbuilt = hotaru.top.make.build"),
        _ABOVE,
    ),
    "a circle of files": (
        {
            "python/hotaru/top/make.py": _MAKE + "from . import other",
            "python/hotaru/top/other.py": "def f():\n    from .make import x",
        },
        "circle hotaru.top.make -> hotaru.top.other -> hotaru.top.make",
    ),
    "a circle by the face of a package": (
        {
            "python/hotaru/top/make.py": _MAKE + "from .other import x",
            "python/hotaru/top/other.py": "from . import build",
        },
        "circle",
    ),
    "a package without a place": (
        {"python/hotaru/new.py": ""},
        "hotaru.new: not in the order of packages",
    ),
    "a module's name": (_low("import_module('hotaru.top')"), f"'hotaru.top' {_TEXT}"),
    "a name from a neighbour on": (
        {"python/hotaru/top/make.py": (_MAKE + "import_module('..low', __package__)")},
        f"'..low' {_TEXT}",
    ),
    "a name behind a constant": (
        _low("HOME = __package__\nimport_module(f'{HOME}.top')"),
        _TEXT,
    ),
    "a constant": (
        _low("TOP = 'hotaru.top'\nsys.modules.get(TOP)"),
        f"'hotaru.top' {_TEXT}",
    ),
    "a name behind the package's": (_low("import_module(f'{__package__}.top')"), _TEXT),
    "a loaded module": (_low("sys.modules['hotaru.top']"), _TEXT),
    "a module that may be loaded": (_low("sys.modules.get(f'hotaru.{x}')"), _TEXT),
    "a method by a text": (_low("_late('hotaru.top', 'build')"), _TEXT),
    "a row of no module": (
        _rows('"top.gone:build"'),
        "'build' is not in top.gone:build",
    ),
    "a row of no function": (
        _rows('"top.make:gone"'),
        "'build' is not in top.make:gone",
    ),
    "a row for nobody": (
        _rows('"top.make:build", "make": "top.make"'),
        "'make' is lent to nobody",
    ),
    "a row that could be an import": (
        _rows(
            '"top.make:build", "thing": "low:thing"',
            **{"python/hotaru/top/other.py": "lent('thing')"},
        ),
        "'thing' could be imported by hotaru.top.other",
    ),
    "a row that is no circle within a package": (
        _rows(
            '"top.make:build", "other": "top.other"',
            **{
                "python/hotaru/top/other.py": "",
                "python/hotaru/top/third.py": "lent('other')",
            },
        ),
        "'other' could be imported by hotaru.top.third",
    ),
    "a name without a row": (_low("lent('other')"), "nobody lends 'other'"),
    "a long function": (
        {"bench/long.py": _lines(80)},
        "bench/long.py:1: long has 81 lines",
    ),
    "a long method": (
        {"bench/long.py": "class A:\n" + " async def f():\n" + "  pass\n" * 80},
        "f has 81 lines",
    ),
    "a line kept from the formatter": (
        {"bench/kept.py": "x = [1,\n     2]  # fmt" + ": skip"},
        "bench/kept.py:2: kept from the formatter",
    ),
}
_FINE = {
    "nothing": {},
    "what is only looked for": _rows(
        '"top.make:build", "low": "low"',
        **{"python/hotaru/top/other.py": "loaded('low')"},
    ),
    "a row for a circle within a package": _rows(
        '"top.make:build", "other": "top.other"',
        **{
            "python/hotaru/top/other.py": "from .third import x",
            "python/hotaru/top/third.py": "lent('other')",
        },
    ),
    "a public name at a call": _low(
        "import hotaru\ndef f():\n    return hotaru.top.make"
    ),
    "a text about a long function": {
        "bench/long.py": _lines(79, '    """' + "\n" * 40 + '    """\n')
    },
}


@pytest.fixture
def rules(monkeypatch, tmp_path):
    """The lint's modules, in an empty folder."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.chdir(tmp_path)
    from layers import native_rules, python_rules, rooms

    return native_rules, python_rules, rooms


def _written(files: dict) -> list[str]:
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(files)


@pytest.mark.parametrize("case", _PLANTED)
def test_what_is_planted_in_python_is_found(rules, case):
    files, message = _PLANTED[case]
    found = rules[1].python_offences(_written({**_PYTHON, **files}), order=_ORDER)
    assert any(message in one for one in found), found
    assert all(one.count(":") >= 1 for one in found)


@pytest.mark.parametrize("case", _FINE)
def test_what_is_right_in_python_is_not(rules, case):
    files = _written({**_PYTHON, **_FINE[case]})
    assert rules[1].python_offences(files, order=_ORDER) == []


def test_a_part_of_a_package_may_stand_elsewhere(rules):
    files = _written(
        {**_PYTHON, "python/hotaru/top/basis.py": "", **_low("from .top import basis")}
    )
    order = ("_late", "top.basis", "low", "top")
    assert rules[1].python_offences(files, order=order) == []
    assert rules[1].python_offences(files, order=_ORDER) == [
        "python/hotaru/low.py:4: imports hotaru.top.basis, which stands "
        "above; see _late.py"
    ]
    gone = rules[1].python_offences(files, order=(*order, "gone"))
    assert gone == ["scripts/layers/python_order.py:1: there is no gone"]


_NATIVE = {
    "hotaru/core/tensor.h": "",
    "hotaru/core/printing/print.h": "",
    "hotaru/core/host.h": "raw_data()",
    "hotaru/ops/matmul/product.h": '#include "hotaru/core/tensor.h"\n',
}
_PLANTED_NATIVE = {
    "a layer above": (
        {"hotaru/core/tensor.h": '#include "hotaru/ops/matmul/product.h"'},
        "which is a layer above",
    ),
    "what is outside": (
        {"hotaru/core/a.cpp": '#include "tests/a.h"', "tests/a.h": ""},
        "which is a layer above",
    ),
    "a room above": (
        {"hotaru/core/printing/print.h": '#include "hotaru/core/tensor.h"'},
        "a room above its own",
    ),
    "a circle": (
        {"hotaru/core/a.h": '#include "b.h"', "hotaru/core/b.h": '#include "a.h"'},
        "circle hotaru/core/a.h -> hotaru/core/b.h -> hotaru/core/a.h",
    ),
    "no layer": ({"hotaru/other/a.h": ""}, "not in a layer"),
    "no layer any more": ({"hotaru/cpp_api/a.h": ""}, "not in a layer"),
    "no room": ({"hotaru/core/other/a.h": ""}, "has no room 'other'"),
    "no family": ({"hotaru/ops/other/a.cpp": ""}, "has no room 'other'"),
    "a tensor's bytes": (
        {"hotaru/io/a.cpp": "auto* p = t.data<float>();"},
        "outside kernels",
    ),
    "a header of Linux's": (
        {"hotaru/io/a.cpp": "#include <sys/mman.h>"},
        "sys/mman.h outside hotaru/platform",
    ),
    "threads as the system has them": (
        {"cli/a.cpp": "#  include <pthread.h>"},
        "pthread.h outside hotaru/platform",
    ),
    "a file of Linux's": (
        {"hotaru/io/a.cpp": 'std::ifstream file("/proc/cpuinfo");'},
        "/proc/ outside hotaru/platform",
    ),
    "a call of Linux's": (
        {"hotaru/io/a.cpp": "const int thread = gettid();"},
        "gettid outside hotaru/platform",
    ),
    "an element": (
        {"hotaru/ops/matmul/a.cpp": "if (item(t)) return;"},
        "in an operator",
    ),
}


@pytest.mark.parametrize("case", _PLANTED_NATIVE)
def test_what_is_planted_in_c_is_found(rules, case):
    files, message = _PLANTED_NATIVE[case]
    found = rules[0].native_offences(_written({**_NATIVE, **files}))
    assert any(message in one for one in found), found


def test_what_is_right_in_c_is_not(rules):
    own = {
        "hotaru/platform/pages.cpp": "#include <sys/mman.h>",
        "hotaru/io/file.cpp": "#include <sys/stat.h>\n#include <csignals.h>\n",
    }
    assert rules[0].native_offences(_written({**_NATIVE, **own})) == []


def test_rooms_that_are_too_full(rules):
    names = [f"a/b/{i}.py" for i in range(30)]
    assert rules[2].overfull([*names, "a/c.py"]) == []
    assert rules[2].overfull([*names, "a/b/c.py"]) == [
        "a/b:1: 31 files; a room holds 30 at most"
    ]
