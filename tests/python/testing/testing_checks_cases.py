"""Cases of `FileCheck`: whether checks hold, and how the error begins."""

from __future__ import annotations

from core_scope import case

_CHECKS = r"""
told(C().check("22"), "232")
told(C().check("2").check("3").check("2"), "232")
told(C().check("3").check("3"), "232")
told(C().check_count("22", 2), "22222")
told(C().check_count("22", 3), "22222")
told(C().check_count("2", 4, exactly=True), "22222")
told(C().check_count("2", 4, True).check("2"), "22222")
told(C().check_count("2", 2, True).check("3"), "2232")
told(C().check_count("2", 0, True), "2")
told(C().check_same("33"), "22\n33")
told(C().check("2").check_same("3"), "22  1  3")
told(C().check("1").check_next("2"), "12")
told(C().check("1").check_next("2"), "1\n2")
told(C().check("1").check_next("2"), "1\n\n2")
told(C().check_dag("1").check_dag("2").check("3"), "2 1 3")
told(C().check_dag("1").check_dag("2").check("3"), "1 3 2")
told(C().check_dag("1").check_dag("7"), "1 3 2")
told(C().check_dag("a").check_dag("a"), "a b")
told(C().check_dag("a").check_not("b").check_dag("c"), "a b c")
told(C().check_dag("a").check_not("b").check_dag("c"), "c a b")
told(C().check_not("3").check_dag("1").check_dag("2").check_not("3"), "2 3 1")
told(C().check_not("2").check("1"), "21")
told(C().check_not("2").check("1"), "12")
told(C().check("2").check_not("1"), "21")
told(C().check_count("2", 2).check_not("1").check_count("2", 2), "22 1 22")
told(C().check_count("2", 2).check_count("2", 2).check_not("2"), "22 2 22")
told(C().check("a").check_not("z").check_next("b"), "a z\n b")
told(C().check_regex("a+b").check("c"), "xx aaab c")
told(C().check_regex("a+b").check("a"), "xx aaab c")
told(C().check_regex("a+b"), "xx")
told(C(), "x")
told(C(), "# CHECK: a\n# CHECK-NOT: b", "a\nc")
told(C(), "# CHECK: a\n# CHECK-NOT: b", "a\nb")
told(C(), "# CHECK-COUNT-2: a", "a")
told(C(), "# CHECK-COUNT-EXACTLY-2: a", "a\na\na")
told(C(), "# CHECK-DAG: a\n# CHECK-SAME: b\n#CHECK-NEXT: c", "a b\nc")
told(C(), "# CHECK-REGEX: a+b", "a b")
told(C(), "# CHECK-FOO: a", "a")
told(C(), "# CHECK a", "a")
told(C(), "# CHECK-COUNT: a", "a")
told(C(), "# CHECK:b", "b")
told(C(), "CHECK: zz", "a")
told(C(), "// CHECK: zz", "a")
told(C(), "x # CHECK: zz", "a")
told(C(), "# foo CHECK: zz", "a")
told(C().check("a"), "# CHECK: b", "b")
told(C().check_source_highlighted("b + c"), S)
told(C().check_source_highlighted("b +"), S)
told(C().check_source_highlighted("+ c"), S)
told(C().check_source_highlighted("a = b"), S)
told(C().check_source_highlighted("zz"), S)
told(C().check_source_highlighted("b + c").check("a = b"), S)
told(C().check_source_highlighted("b + c"), "b + c\n" + S)
"""
_BEFORE = r"""
C = torch.testing.FileCheck
S = "line\n    a = b + c\n        ~~~~~ <--- HERE\n    d\n"
def told(checks, *texts):
    try:
        checks.run(*texts)
    except RuntimeError as error:
        return str(error).partition("\n")[0]
    return "holds"
"""

CASES = {line: case(_BEFORE + line) for line in _CHECKS.split("\n") if line}
