// Modules to archives.
#include <algorithm>
#include <filesystem>

#include "hotaru/core/error.h"
#include "hotaru/io/zip_writer.h"
#include "hotaru/script/archive.h"
#include "hotaru/script/class_type.h"
#include "hotaru/script/object_pickler.h"
#include "hotaru/script/unit.h"

namespace hotaru::script {

namespace {

using ExtraFiles = std::map<std::string, std::string>;

// From this version on PyTorch looks for it elsewhere.
constexpr int64_t kFirstHiddenVersion = 6;

void add_storages(io::ZipWriter& zip, const std::string& folder,
                  const io::Pickler& pickler) {
  for (size_t i = 0; i < pickler.storages().size(); ++i) {
    const Storage& storage = *pickler.storages()[i].storage;
    zip.add(concat(folder, "/", i),
            io::Bytes(static_cast<const std::byte*>(storage.data()),
                      storage.nbytes()));
  }
}

// The program as the archive had it: what PyTorch printed is exact.
int64_t add_original_code(io::ZipWriter& zip, CompilationUnit& unit) {
  for (const std::string& module : unit.origin()->modules) {
    std::string path = module;
    std::replace(path.begin(), path.end(), '.', '/');
    zip.add(concat("code/", path, ".py"), unit.load_source(module)->text());
  }
  return unit.origin()->version;
}

void write(io::ZipWriter& zip, const Module& module, const ExtraFiles& extra) {
  CompilationUnit& unit = module.type().unit();
  for (const auto& [name, contents] : extra) {
    zip.add(concat("extra/", name), contents);
  }
  ObjectPickler data(unit);
  std::string pickle = data.pickle(Value(module.object()), nullptr);
  add_storages(zip, "data", data);
  zip.add("data.pkl", pickle);
  HOTARU_CHECK(unit.origin(), "saving '", module.type_name(),
               "': the program has no source");
  int64_t version = add_original_code(zip, unit);
  ObjectPickler constants(unit);
  pickle = constants.pickle(Value::tuple(unit.constants()), nullptr);
  add_storages(zip, "constants", constants);
  zip.add("constants.pkl", pickle);
  zip.add(version < kFirstHiddenVersion ? "version" : ".data/version",
          concat(version, "\n"));
  zip.add("byteorder", "little");
  zip.finish();
}

}  // namespace

void save(const Module& module, const std::string& path,
          const ExtraFiles& extra_files) {
  std::string stem = std::filesystem::path(path).stem().string();
  io::ZipWriter zip(path, stem.empty() ? "archive" : stem);
  write(zip, module, extra_files);
}

void save(const Module& module,
          const std::function<void(std::string_view bytes)>& sink,
          const std::string& root, const ExtraFiles& extra_files) {
  io::ZipWriter zip(sink, root);
  write(zip, module, extra_files);
}

void Module::save(const std::string& path) const {
  script::save(*this, path);
}

}  // namespace hotaru::script
