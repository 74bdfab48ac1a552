"""Makes package.pt and package.json: a package that PyTorch writes.

    .venv-peers/bin/python tests/golden/make_package.py

The JSON file holds what its modules and tensors give.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import torch
from torch import package
from torch.package import package_exporter

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "python" / "package"))

import packaged_cases  # noqa: E402

warnings.simplefilter("ignore")  # of storages in pickles, and of tracing
package_exporter._gate_torchscript_serialization = False
expected = packaged_cases.write(torch, package, str(HERE / "package.pt"))
(HERE / "package.json").write_text(json.dumps(expected) + "\n")
