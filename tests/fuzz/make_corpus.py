"""Makes the fuzzers' seed corpora from the archives in tests/golden/script.

    python tests/fuzz/make_corpus.py OUTPUT

writes OUTPUT/archive (whole archives and their pickles), OUTPUT/script (their
source files and the samples below), OUTPUT/weights (the files of weights in
tests/golden), OUTPUT/pt2 (exported programs) and OUTPUT/onnx. Needs no PyTorch.
"""

import sys
import zipfile
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "script"

SAMPLES = {
    "loop": """
def f(n: int, x: Optional[Tensor]=None) -> int:
    total = 0
    while n > 0:
        n -= 1
        if n == 3:
            continue
        for i in range(n):
            total += i
    return total
""",
    "closure": """
def g(x):
    # type: (Tensor) -> Tensor
    def __forked_function():
        return torch.relu(x)
    fut = fork(__forked_function)
    return torch.wait(fut)
""",
    "class": """
class P(NamedTuple):
  x : int
  y : Tensor
class C:
  n : int
  def __init__(self: __torch__.C, n: int) -> NoneType:
    self.n = n
    return None
  def __enter__(self: __torch__.C) -> int:
    return self.n
  def __exit__(self: __torch__.C, a: Any, b: Any, c: Any) -> NoneType:
    return None
def h(k: List[int]) -> Dict[str, int]:
  c = __torch__.C.__new__(__torch__.C)
  _0 = (c).__init__(1)
  with c as n:
    d = {"a": n, f"b{n}": k[0]}
  return d
""",
}


def main():
    out = Path(sys.argv[1])
    for name in ("archive", "onnx", "pt2", "script", "weights"):
        (out / name).mkdir(parents=True, exist_ok=True)
    for name, text in SAMPLES.items():
        (out / "script" / f"{name}.py").write_text(text)
    golden = GOLDEN.parent
    seeds = {
        "weights": golden.glob("weights.*"),
        "pt2": (golden / "pt2").glob("*.pt2"),
        "onnx": (golden / "onnx").glob("*.onnx"),
    }
    for room, paths in seeds.items():
        for path in sorted(paths):
            (out / room / path.name).write_bytes(path.read_bytes())
    for path in sorted(GOLDEN.glob("*.pt")):
        if path.stat().st_size < 30_000:
            (out / "archive" / path.name).write_bytes(path.read_bytes())
        with zipfile.ZipFile(path) as archive:
            for record in archive.namelist():
                flat = path.stem + "_" + record.replace("/", "_")
                if record.endswith(".py"):
                    (out / "script" / flat).write_bytes(archive.read(record))
                elif record.endswith(".pkl") and "debug" not in record:
                    (out / "archive" / flat).write_bytes(archive.read(record))


if __name__ == "__main__":
    main()
