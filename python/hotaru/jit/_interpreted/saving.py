"""Modules that Python runs as archives, which PyTorch loads."""

from __future__ import annotations

import io

from ..._late import lent
from .pickles import Writer


def archive_of(module, extra: dict) -> bytes:
    """The bytes of an archive: the code as it came, the state as it is."""
    program, out = module.program, io.BytesIO()
    writer = lent("PyTorchFileWriter")(out)
    for name, value in (("constants", tuple(program.constants)), ("data", module)):
        pickled = Writer(lambda each: each.described())
        data = pickled.dump(value)
        writer.write_record(f"{name}.pkl", data, len(data))
        for key, content in enumerate(pickled.records):
            writer.write_record(f"{name}/{key}", content, len(content))
    for name, text in program.archive.texts.items():
        writer.write_record(f"code/{name}", text, len(text))
    for name, content in extra.items():
        data = content.encode() if isinstance(content, str) else content
        writer.write_record(f"extra/{name}", data, len(data))
    writer.write_end_of_file()
    return out.getvalue()
