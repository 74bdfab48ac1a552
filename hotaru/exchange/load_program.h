// One door for model files: the format is what the bytes say, not the name.
#pragma once

#include <string>
#include <vector>

#include "hotaru/io/mapped_file.h"
#include "hotaru/script/program/module.h"

namespace hotaru::exchange {

enum class Format {
  kTorchScript,  // an archive of torch.jit.save
  kExported,     // .pt2, of torch.export.save
  kOnnx,
  kTorchFile,  // what torch.save writes
  kSafetensors,
  kGguf,
  kUnknown,
};

/// Tells a file's format by its first bytes and, of zip archives, its records;
/// a file of protobuf is taken for ONNX. Throws Error for damaged zip archives.
Format format_of(const Ref<io::MappedFile>& file);

/// "an ONNX model", for messages.
const char* format_text(Format format);

/// Loads a program of any format: a module to call, to train if it has
/// parameters, to graph and to save as a TorchScript archive. Throws Error
/// naming the file for what is no program, in the words of that format's
/// loader for a damaged one.
script::Module load_program(const std::string& path);
/// The same from bytes; `name` stands for the path.
script::Module load_program(std::vector<std::byte> bytes,
                            const std::string& name);

}  // namespace hotaru::exchange

namespace hotaru {

/// exchange::load_program.
inline script::Module load(const std::string& path) {
  return exchange::load_program(path);
}

}  // namespace hotaru
