"""makemore, each of its models, for a few steps."""

import sys

from probe import run, scratch, sources

with scratch() as folder:
    names = sources("makemore", "names.txt").read_text().split()[:400]
    (folder / "names.txt").write_text("\n".join(names))
    run(
        sources("makemore", "makemore.py"),
        "-i",
        "names.txt",
        "-o",
        "out",
        "--device",
        "cpu",
        "--type",
        sys.argv[1],
        "--max-steps",
        "25",
        "--n-layer",
        "2",
        "--n-head",
        "2",
        "--n-embd",
        "16",
        "--n-embd2",
        "16",
        "--num-workers",
        "0",
        "-b",
        "8",
        keep="loss|^[a-z]+$",
        drop=r"\| step time .*",
    )
