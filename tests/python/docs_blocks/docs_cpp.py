"""Blocks of C++ in pages, as one source: each in a namespace of its own."""

from __future__ import annotations

from docs_page import Block, page_blocks, page_names

# Words of blocks that need the headers of hotaru::torch.
OF_LIBTORCH = ("torch/", "torch::", "at::")


def cpp_blocks() -> list[tuple[str, Block]]:
    """Blocks that are compiled, and their pages."""
    return [
        (name, block)
        for name in page_names()
        for block in page_blocks(name)
        if block.kind == "cpp" and not block.reason
    ]


def is_libtorch(block: Block) -> bool:
    """Tells whether a block is written for libtorch."""
    return any(word in whole(block) for word in OF_LIBTORCH)


def whole(block: Block) -> str:
    """A block behind what its page puts before it, functions closed."""
    before = block.marks.get("before", "")
    open_braces = before.count("{") - before.count("}")
    return f"{before}\n{block.text}{'}' * open_braces}\n"


def source_of(blocks: list[tuple[str, Block]]) -> str:
    """All of them, includes first; lines are those of the pages."""
    includes: list[str] = []
    parts = []
    for number, (name, block) in enumerate(blocks):
        before = block.marks.get("before", "").count("\n") + 1
        lines = whole(block).splitlines()
        includes += [line for line in lines if line.startswith("#include")]
        kept = ["" if line.startswith("#include") else line for line in lines]
        first = f'#line {max(1, block.line - before)} "{name}"'
        parts += [f"namespace block_{number} {{", first, *kept, "}"]
    return "\n".join([*dict.fromkeys(includes), *parts]) + "\n"
