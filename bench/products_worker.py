"""Products of matrices as networks have them; a worker of products.py.

A task is "rows x inner x columns", with a "t" behind it if the second factor
lies transposed, as the weight of `nn.Linear` does.
"""

from __future__ import annotations

import worker

torch = worker.torch

# Rows, inner side, columns: perceptrons, heads and layers of transformers at
# batch 1 and more, classifiers of convolutional networks.
SHAPES = [
    (1, 16, 64),
    (1, 784, 512),
    (1, 768, 768),
    (1, 768, 3072),
    (1, 3072, 768),
    (1, 4096, 4096),
    (4, 64, 256),
    (4, 512, 512),
    (4, 2048, 1000),
    (16, 128, 128),
    (16, 768, 768),
    (16, 1024, 1024),
    (16, 4096, 1024),
    (32, 256, 64),
    (32, 784, 512),
    (32, 1024, 1024),
    (64, 128, 384),
    (64, 512, 512),
    (64, 768, 3072),
    (128, 64, 128),
    (128, 768, 768),
    (128, 768, 2304),
    (128, 3072, 768),
    (197, 384, 1152),
    (256, 64, 256),
    (256, 512, 2048),
    (256, 1024, 1024),
    (512, 512, 512),
    (512, 2048, 2048),
    (512, 4096, 4096),
]


def name_of(shape: tuple[int, int, int], transposed: bool) -> str:
    rows, inner, columns = shape
    return f"{rows} x {inner} x {columns}" + " t" * transposed


def product(shape: tuple[int, int, int], transposed: bool):
    """Maker of the product that a task measures, and of its operands."""

    def make():
        rows, inner, columns = shape
        a = torch.randn(rows, inner)
        if transposed:
            b = torch.randn(columns, inner).t()
        else:
            b = torch.randn(inner, columns)
        return "a @ b", {"a": a, "b": b}

    return make


if __name__ == "__main__":
    worker.TASKS.clear()
    for transposed in (False, True):
        for shape in SHAPES:
            name = name_of(shape, transposed)
            worker.TASKS[name] = product(shape, transposed)
    worker.main()
