"""Changes of the harness and of test files: never of what a test asserts.

The harness is a copy of torch/testing from PyTorch's wheel. A change is a pair
of texts; one of the harness whose first text is not there is told, since
PyTorch has changed.
"""

from __future__ import annotations

import re
import sys
import unittest
from pathlib import Path

_UTILS = "testing/_internal/common_utils.py"
_DEVICES = "testing/_internal/common_device_type.py"
_CLASSES = (
    'getattr(namespace, "__all__", None) or [n for n in dir(namespace) '
    "if isinstance(getattr(namespace, n), type)]"
)
_SWAP = "torch.__future__.set_swap_module_params_on_conversion"

HARNESS = {
    "testing/_internal/jit_utils.py": [
        (
            "from contextlib import contextmanager",
            "import contextlib\nfrom contextlib import contextmanager",
        ),
        # Hooks of the compiler that compare what is saved and loaded; no test
        # asks for them.
        ("        torch._C._jit_set_emit_hooks(", "        (lambda *hooks: None)("),
        (
            "            torch.jit.TracerWarning.ignore_lib_warnings()",
            "            pass",
        ),
        ("    torch._C._jit_clear_class_registry()\n", "    pass\n    return\n"),
        # A function is checked through its text and itself; the text needs
        # CompilationUnit.
        (
            "                self.checkScript(\n                    source,",
            "                hasattr(torch.jit, 'CompilationUnit') and "
            "self.checkScript(\n                    source,",
        ),
        (
            "torch.jit.optimized_execution(optimize)",
            "getattr(torch.jit, 'optimized_execution', "
            "contextlib.nullcontext)(optimize)",
        ),
    ],
    "testing/_utils.py": [
        (
            "with torch.utils._mode_utils.no_dispatch(), torch._C._DisableFuncTorch():",
            "with contextlib.nullcontext():",
        )
    ],
    "testing/_internal/common_optimizers.py": [
        ("in _get_foreach_kernels_supported_devices()", "in ('cuda',)")
    ],
    "testing/_internal/common_modules.py": [
        ("in namespace.__all__", f"in ({_CLASSES})"),
        (
            "namespace.__name__.replace('torch.', '')",
            "namespace.__name__.replace('hotaru.', '').replace('torch.', '')",
        ),
    ],
    _DEVICES: [
        # A list without entries over hotaru is no reason to reject the file.
        ('if os.environ.get("OPINFO_RESTRICT_TO_DSL"):', "if True:"),
        ("torch.finfo(torch.float8_e4m3fn).max", "448.0"),
        ("torch.finfo(torch.float8_e5m2).max", "57344.0"),
        ("torch.finfo(torch.float8_e4m3fnuz).max", "240.0"),
        ("torch.finfo(torch.float8_e5m2fnuz).max", "57344.0"),
    ],
    _UTILS: [
        # Parts of PyTorch's build: a test that needs one shall run.
        ("TEST_MKL = torch.backends.mkl.is_available()", "TEST_MKL = True"),
        (
            "TEST_ONEDNN = torch.backends.mkldnn.enabled and "
            "torch.backends.mkldnn.is_available()",
            "TEST_ONEDNN = True",
        ),
        (
            "TEST_ACL = torch.backends.mkldnn.is_available() and "
            "torch.ops.mkldnn._is_mkldnn_acl_supported()",
            "TEST_ACL = False",
        ),
        # A test that asks for the default needs no torch.__future__.
        (
            "        self.swap_tensors_restore = torch.__future__.get",
            "        self.swap_tensors_restore = None\n"
            "        if not self.use_swap_tensors and not hasattr(getattr("
            "torch, '__future__', None), "
            "'get_swap_module_params_on_conversion'):\n"
            "            return\n"
            "        self.swap_tensors_restore = torch.__future__.get",
        ),
        (
            f"        {_SWAP}(self.swap_tensors_restore)",
            "        if self.swap_tensors_restore is not None:\n"
            f"            {_SWAP}(self.swap_tensors_restore)",
        ),
        ("if values is check_exhausted_iterator:", "if False:"),
        (
            "_prev_torch_function_state = torch._C._TorchFunctionState.ENABLED",
            "_prev_torch_function_state = None",
        ),
        ("torch._C._get_privateuse1_backend_name()", "'privateuseone'"),
    ],
}

# Changes of test files, over both.
TESTS = {
    # Saves a whole module while the file is loaded.
    "test_serialization.py": [
        ("x = torch.save(torch.nn.Module(), checkpoint)", "x = None")
    ],
    # A recursion without end with the classes that 2.13 makes of these.
    "test_linalg.py": [("super(self.__class__, self).", "super().")],
    "test_sparse.py": [("super(self.__class__, self).", "super().")],
}

# A dtype that hotaru lacks still names the test that wants it.
_DTYPE_CHECKS = (
    _UTILS,
    _DEVICES,
    "testing/_internal/common_dtype.py",
    "testing/_internal/opinfo/core.py",
)


def _rewrite(file: Path, pairs: list[tuple[str, str]], tell=True) -> None:
    text = file.read_text(encoding="utf-8")
    for old, new in pairs:
        if old not in text and tell:
            print(f"note: {file.name} has no {old!r}", file=sys.stderr)
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")


def change_harness(root: Path) -> None:
    """Changes the copy of the harness in the folder."""
    for name, pairs in HARNESS.items():
        _rewrite(root / name, pairs)
    for name in _DTYPE_CHECKS:
        file = root / name
        text = re.sub(
            r"isinstance\((\w+), torch\.dtype\)",
            r"isinstance(\1, (torch.dtype, __Missing__))",
            file.read_text(encoding="utf-8"),
        )
        file.write_text(text, encoding="utf-8")


def change_tests(root: Path) -> None:
    """Changes the copy of the test files in the folder."""
    for name, pairs in TESTS.items():
        if (root / name).exists():
            _rewrite(root / name, pairs, tell=False)


def loosen_test_case() -> None:
    """PyTorch's TestCase without what its compiler and sparse checks need."""
    utils = sys.modules.get("torch.testing._internal.common_utils")
    if utils is None:
        return

    def run(self, result=None):
        return unittest.TestCase.run(self, result)

    def set_up(self):
        utils.set_rng_seed()

    def tear_down(self):
        pass

    utils.TestCase.run = run
    utils.TestCase.setUp = set_up
    utils.TestCase.tearDown = tear_down
