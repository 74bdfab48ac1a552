// Files of torch.save: state dicts and other values that hold tensors.
#pragma once

#include <string>
#include <vector>

#include "hotaru/core/value.h"

namespace hotaru::io {

/// Reads what torch.save wrote (PyTorch 1.6 and later): numbers, strings,
/// devices, tensors, and lists, tuples and dicts of these. Tensors lie in the
/// mapped file without a copy, on the CPU. Executes nothing. Throws Error
/// naming file, record and offset for anything else.
Value load_torch_file(const std::string& path);
/// The same from bytes in memory; `name` stands for the path in errors.
Value load_torch_bytes(std::vector<std::byte> bytes, const std::string& name);

/// Writes a value so that torch.load(path, weights_only=True) reads it. The
/// file appears under its name when it is complete. Tensors that share memory
/// still do after loading. Throws TypeError for values that cannot be saved.
void save_torch_file(const std::string& path, const Value& value);

}  // namespace hotaru::io
