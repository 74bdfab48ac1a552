"""Functions that traces record, at module scope as `wrap` asks for."""

from math import sqrt

import hotaru as torch


def leaf(a, b):
    return a[0] + b


torch.fx.wrap("leaf")
torch.fx.wrap("len")


@torch.fx.wrap
def decorated(x):
    return x + 1


def calls(x):
    return leaf((x, 1), 2) + len(x) + decorated(x) + leaf((1, 2), 3)


def root(x):
    return sqrt(x.shape[0]) + sqrt(4)
