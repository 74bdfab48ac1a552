// Inputs that the user gives a model, from the words of the command line.
#pragma once

#include <string>
#include <vector>

#include "command_line.h"
#include "hotaru/core/value.h"

namespace hotaru::cli {

/// A value for one argument: a .npy file, a number, true, false or none.
/// Throws ValueError for other words, Error for a file that can't be read.
Value parse_input(const std::string& word);

/// A tensor of that shape, e.g. "1,512" or "1,77:int64": floating types hold
/// draws from the standard normal distribution, others zeros. Throws
/// ValueError for other words.
Tensor parse_shape(const std::string& word);

/// A number as a tensor without dimensions; other values as they are.
Value number_as(DType dtype, const Value& value);

/// The arguments in the order in which the command line names them.
class Inputs {
 public:
  /// Adds --input and --shape to a verb; the object must outlive it.
  void add_options(const Verb& verb);
  /// Reads the files and makes the tensors.
  std::vector<Value> values() const;
  /// The same for a program's file: numbers for the inputs of an ONNX model are
  /// tensors without dimensions, of the types that it declares.
  std::vector<Value> values_for(const std::string& path) const;

 private:
  struct Word {
    bool is_shape;
    std::string text;
  };
  std::vector<Word> words_;
};

}  // namespace hotaru::cli
