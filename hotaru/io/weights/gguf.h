// GGUF, the files of llama.cpp: typed metadata, a table of tensors, their
// bytes, plain or in quantised blocks.
#pragma once

#include "hotaru/io/weights/weight_file.h"

namespace hotaru::io {

/// True if the bytes begin with "GGUF".
bool is_gguf(Bytes bytes);

/// Reads the table of a file of version 2 or 3, little-endian. Shapes are
/// row-major, the reverse of the file's order; tensors in quantised blocks are
/// read as float32. Throws Error, with file, tensor and offset, for another
/// version, keys and names that stand twice or are no UTF-8, more than four
/// dimensions, rows that are no whole blocks, and tensors that are not aligned,
/// overlap or reach beyond the file. A type unknown here is an error of read();
/// metadata that would take more than 256 MiB one of metadata().
Ref<WeightFile> open_gguf(Ref<MappedFile> file);

}  // namespace hotaru::io
