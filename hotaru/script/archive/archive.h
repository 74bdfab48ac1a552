// TorchScript archives: what torch.jit.save writes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/io/mapped_file.h"
#include "hotaru/script/program/module.h"

namespace hotaru::script {

/// Loads an archive. Tensors lie in the mapped file without a copy (private
/// pages: writing to them changes memory, not the file); all are on the CPU,
/// whatever device they were saved from. Code is compiled when it first runs,
/// so a missing operator is an error of the method that needs it. Nothing in
/// the file is executed. Throws Error naming file, record and offset for
/// anything but a valid archive of version 1 to 10.
///
/// `extra_files`, if given, receives the contents of the records extra/NAME
/// for its keys; names that the archive lacks keep their value.
Module load(const std::string& path,
            std::map<std::string, std::string>* extra_files = nullptr);

/// The same from bytes in memory; `name` stands for the path in errors.
Module load(std::vector<std::byte> bytes, const std::string& name,
            std::map<std::string, std::string>* extra_files = nullptr);
Module load(Ref<io::MappedFile> file,
            std::map<std::string, std::string>* extra_files = nullptr);

/// Writes a module with its submodules, their attributes and their code as an
/// archive that load(), torch.jit.load of PyTorch 1.13 and later, and so
/// libtorch, read. Equal modules give equal bytes. The file appears under
/// `path` when it is complete. `extra_files` become the records extra/NAME.
/// Throws TypeError for attributes that have no form in a file (futures,
/// generators), ScriptError for methods that do not compile and Error when the
/// file cannot be written.
void save(const Module& module, const std::string& path,
          const std::map<std::string, std::string>& extra_files = {});

/// The same for a function, as the forward of a module without attributes.
void save(Function& function, const std::string& path,
          const std::map<std::string, std::string>& extra_files = {});

using ByteSink = std::function<void(std::string_view bytes)>;

/// The same to whatever takes bytes, in order; `root` is the archive's name.
void save(const Module& module, const ByteSink& sink, const std::string& root,
          const std::map<std::string, std::string>& extra_files = {});
void save(Function& function, const ByteSink& sink, const std::string& root,
          const std::map<std::string, std::string>& extra_files = {});

}  // namespace hotaru::script
