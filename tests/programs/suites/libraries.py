"""The libraries whose own tests are run: where those lie, what they need."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Library:
    """One library; its package is what pip installs, at its version."""

    name: str
    package: str
    tests: tuple[str, ...]  # patterns of files, in the library's sources
    keep: tuple[str, ...] = ()  # what the tests need beside their folders
    path: tuple[str, ...] = ()  # folders of the sources to import from
    env: dict = field(default_factory=dict)
    left_out: dict = field(default_factory=dict)  # pattern of files: reason
    checkout: str = ""  # the folder below --sources, if not named as it is
    installed: bool = False  # the tests are part of the installed package
    # Pattern that the name of a test that counts has. `-k` asks the folders above
    # the file, too, of which one is called after PyTorch.
    named: str = ""
    mention: str = ""  # a regular expression; files without it are left out
    arguments: tuple[str, ...] = ()  # of pytest, beside those of child.py

    @property
    def folders(self) -> tuple[str, ...]:
        """Paths taken from the sources: tests, and what configures them."""
        config = ("pyproject.toml", "setup.cfg", "pytest.ini", "conftest.py")
        heads = [pattern.split("*")[0] for pattern in self.tests]
        tests = dict.fromkeys(head.rpartition("/")[0] + "/" for head in heads)
        return (*tests, *self.keep, *config)


_EVERY = "**/test_*.py"
_NET = "fetches files from the network"

LIBRARIES = [
    Library(
        "torchmetrics",
        "torchmetrics",
        (f"tests/unittests/{_EVERY}",),
        path=("tests",),
        left_out={
            "*/detection/*": "needs pycocotools",
            "*/multimodal/*": _NET,
            "*/audio/*": "needs packages that measure speech",
        },
    ),
    Library("tensordict", "tensordict", (f"test/{_EVERY}",)),
    Library(
        "monai",
        "monai",
        (f"tests/{_EVERY}",),
        env={"QUICKTEST": "True"},
        left_out={
            "tests/integration/*": "trains for minutes",
            "*_dist.py": "several processes, for minutes",
        },
    ),
    Library(
        "diffusers",
        "diffusers",
        (f"tests/{_EVERY}",),
        left_out={"tests/pipelines/*": _NET},
    ),
    Library("pyro", "pyro-ppl", (f"tests/{_EVERY}",), keep=("examples/",)),
    Library(
        "lightning",
        "lightning",
        (f"tests/tests_pytorch/{_EVERY}",),
        path=("tests",),
        left_out={"*/helpers/test_datasets.py": _NET},
    ),
    Library(
        "fabric",
        "lightning",
        (f"tests/tests_fabric/{_EVERY}",),
        path=("tests",),
        checkout="lightning",
    ),
    Library("torch-geometric", "torch-geometric", (f"test/{_EVERY}",)),
    Library("e3nn", "e3nn", (f"tests/{_EVERY}", "tests/**/*_test.py")),
    Library(
        "einops",
        "einops",
        (f"einops/tests/{_EVERY}",),
        env={"EINOPS_TEST_BACKENDS": "numpy,torch"},
    ),
    Library("timm", "timm", (f"tests/{_EVERY}",)),
    Library(
        "torchvision",
        "torchvision",
        (f"test/{_EVERY}",),
        left_out={"test/test_datasets*": _NET, "test/test_video*": "no codecs"},
    ),
    Library("kornia", "kornia", (f"tests/{_EVERY}",), keep=("testing/",)),
    Library("gpytorch", "gpytorch", (f"test/{_EVERY}",)),
    Library("linear_operator", "linear-operator", (f"test/{_EVERY}",)),
    Library("botorch", "botorch", (f"test/{_EVERY}",)),
    Library(
        "torchrl",
        "torchrl",
        (f"test/{_EVERY}",),
        left_out={
            "test/llm/*": _NET,
            "test/services/*": "needs Ray",
            "test/libs/*": "needs simulators",
        },
    ),
    Library("captum", "captum", (f"tests/{_EVERY}",)),
    Library(
        "ignite",
        "pytorch-ignite",
        (f"tests/ignite/{_EVERY}",),
        keep=("tests/__init__.py",),
    ),
    Library("skorch", "skorch", (f"skorch/tests/{_EVERY}",)),
    Library("torchdiffeq", "torchdiffeq", ("tests/*_tests.py",)),
    Library("higher", "higher", (f"tests/{_EVERY}",)),
    Library("opt_einsum", "opt-einsum", (f"opt_einsum/tests/{_EVERY}",)),
    Library(
        "transformers",
        "transformers",
        (f"tests/{_EVERY}",),
        keep=("utils/", "src/"),
        path=(".", "utils"),
        left_out={"tests/quantization/*": "needs packages for CUDA"},
    ),
    Library(
        "torchaudio",
        "torchaudio",
        ("test/torchaudio_unittest/**/*_test.py",),
        path=("test",),
        left_out={"*_cuda_test.py": "needs CUDA", "*_gpu_test.py": "needs CUDA"},
    ),
    Library("accelerate", "accelerate", (f"tests/{_EVERY}",)),
    Library("peft", "peft", (f"tests/{_EVERY}",)),
    Library("safetensors", "safetensors", (f"bindings/python/tests/{_EVERY}",)),
    Library("sentence-transformers", "sentence-transformers", (f"tests/{_EVERY}",)),
    Library("array-api-compat", "array-api-compat", (f"tests/{_EVERY}",)),
    Library(
        "array-api-tests",
        "array-api-compat",
        ("array_api_tests/test_*.py",),
        keep=("array-api/", "reporting.py"),
        env={"ARRAY_API_TESTS_MODULE": "array_api_compat.torch"},
        arguments=("--max-examples=20", "--derandomize", "--disable-deadline"),
    ),
    Library("stable-baselines3", "stable-baselines3", (f"tests/{_EVERY}",)),
    Library("tianshou", "tianshou", (f"test/{_EVERY}",)),
    Library(
        "scipy",
        "scipy",
        (f"scipy/{_EVERY}",),
        env={"SCIPY_ARRAY_API": '["torch"]'},
        installed=True,
        mention=r"\bxp\b",
        arguments=("-ktorch",),
        named="torch",
    ),
    Library(
        "scikit-learn",
        "scikit-learn",
        (f"sklearn/{_EVERY}",),
        env={"SCIPY_ARRAY_API": "1"},
        installed=True,
        mention="torch|yield_namespace_device",
        arguments=("-ktorch and not cuda and not mps and not xpu",),
        named="torch",
    ),
]
