// torch::save and torch::load: tensors, lists of them, modules, optimizers.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "torch/serialize/archive.h"
#include "torch/types.h"

namespace torch {

namespace serialize {
/// A tensor alone is the archive's "0".
OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor);
InputArchive& operator>>(InputArchive& archive, Tensor& tensor);
/// The first of several is "0"; what is read is appended.
OutputArchive& operator<<(OutputArchive& archive,
                          const std::vector<Tensor>& tensors);
InputArchive& operator>>(InputArchive& archive, std::vector<Tensor>& tensors);
}  // namespace serialize
using serialize::operator<<;
using serialize::operator>>;

/// Writes to a path or a stream what has an operator<< for archives. Python's
/// torch.jit.load reads the file.
template <class Value, class... To>
void save(const Value& value, To&&... to) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(std::forward<To>(to)...);
}

/// Reads it back into an object of the same kind.
template <class Value, class... From>
void load(Value& value, From&&... from) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<From>(from)...);
  archive >> value;
}

/// The bytes of a file of Python's torch.save, which torch.load reads there:
/// tensors, numbers, strings, and lists, tuples and dicts of these. Throw for
/// other values, and for bytes that are no such file.
std::vector<char> pickle_save(const c10::IValue& value);
c10::IValue pickle_load(const std::vector<char>& bytes);

}  // namespace torch
