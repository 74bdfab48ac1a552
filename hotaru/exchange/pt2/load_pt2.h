// Programs of torch.export.save (`.pt2`).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hotaru/exchange/pt2/pt2_file.h"
#include "hotaru/script/program/module.h"

namespace hotaru::exchange {

/// An exported program, and the module made of it.
struct ExportedProgram {
  pt2::File file;
  script::Module module;
  /// The method of the module that takes and gives the leaves of containers.
  std::string flat_method;
  /// Set if forward takes leaves, for want of types for the containers.
  bool flat_only = false;
};

/// Loads a program as a module that runs, trains and saves as one of
/// TorchScript does: `forward` takes the arguments of the exported one, by
/// position or name. Weights lie in the mapped file without a copy. The module
/// is in the mode that the program was exported in. Nothing in the file is
/// executed. Throws Error naming file and record for what is no such file, or
/// holds what has no form here; NotImplementedError lists missing operators.
script::Module load_pt2(const std::string& path);
/// The same from bytes in memory; `name` stands for the path in errors.
script::Module load_pt2(std::vector<std::byte> bytes, const std::string& name);

/// The same with what the file says of the program.
ExportedProgram load_exported_program(const Ref<io::MappedFile>& bytes);

}  // namespace hotaru::exchange
