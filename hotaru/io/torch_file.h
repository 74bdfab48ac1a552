// Files of torch.save: state dicts and other values that hold tensors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hotaru/core/value.h"
#include "hotaru/io/mapped_file.h"

namespace hotaru::io {

/// Puts a storage, which is on the CPU, where it belongs: itself, or its copy.
/// saved_on: the device that it was saved on, "cuda:1".
using Place = std::function<Ref<Storage>(const std::string& saved_on,
                                         const Ref<Storage>& storage)>;
/// On that device. Throws PyTorch's errors if there is none.
Ref<Storage> place_as_saved(const std::string& saved_on,
                            const Ref<Storage>& storage);

/// Reads what torch.save wrote (PyTorch 1.6 and later): numbers, strings,
/// devices, tensors, and lists, tuples and dicts of these. Tensors on the CPU
/// lie in the mapped file without a copy. Executes nothing. Throws Error
/// naming file, record and offset for anything else.
Value load_torch_file(const std::string& path,
                      const Place& place = place_as_saved);
/// The same from bytes in memory; `name` stands for the path in errors.
Value load_torch_bytes(std::vector<std::byte> bytes, const std::string& name,
                       const Place& place = place_as_saved);

/// True for a file that torch.save wrote before PyTorch 1.6, which is read by
/// the Python package alone.
bool is_old_torch_file(const MappedFile& file);

/// Writes a value so that torch.load(path, weights_only=True) reads it. The
/// file appears under its name when it is complete. Tensors that share memory
/// still do after loading. Throws TypeError for values that cannot be saved.
void save_torch_file(const std::string& path, const Value& value);
/// The file's bytes.
std::string save_torch_bytes(const Value& value);

}  // namespace hotaru::io
