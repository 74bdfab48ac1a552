"""Programs of pytorch/examples/fx; most have their assertions in them."""

import sys

from probe import emit, run, sources

# How many digits a tensor shows depends on its last bit.
# Tables of graphs have addresses in them.
run(
    sources("examples", "fx", f"{sys.argv[1]}.py"),
    keep="^(?!tensor|opcode|--|placeholder|call_|output)",
)
emit(ended=True)
