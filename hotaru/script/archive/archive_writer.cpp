// Modules to archives.
#include <algorithm>
#include <filesystem>
#include <set>

#include "hotaru/core/printing/concat.h"
#include "hotaru/io/storages.h"
#include "hotaru/io/zip_writer.h"
#include "hotaru/script/archive/archive.h"
#include "hotaru/script/archive/object_pickler.h"
#include "hotaru/script/archive/source_printer.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::script {

namespace {

using ExtraFiles = std::map<std::string, std::string>;

// From this version on PyTorch looks for it elsewhere.
constexpr int64_t kFirstHiddenVersion = 6;
// The meaning that today's operators have; PyTorch 1.13 knows it, too.
constexpr int64_t kNewestVersion = 10;

void add_storages(io::ZipWriter& zip, const std::string& folder,
                  const io::Pickler& pickler) {
  for (size_t i = 0; i < pickler.storages().size(); ++i) {
    const Ref<Storage>& stored = pickler.storages()[i].storage;
    if (stored->device().type == DeviceType::kMeta) {
      zip.add(concat(folder, "/", i), io::Bytes());
      continue;
    }
    const Ref<Storage> host = io::on_device(stored, {});
    zip.add(
        concat(folder, "/", i),
        io::Bytes(static_cast<const std::byte*>(host->data()), host->nbytes()));
  }
}

// A program in the form that archives have.
struct Program {
  std::map<std::string, std::string> sources;  // by module
  std::vector<Value> constants;
  int64_t version;
};

// As the archive had it: what PyTorch printed is exact.
Program original_program(const CompilationUnit& unit) {
  Program program{{}, unit.constants(), unit.origin()->version};
  for (const std::string& module : unit.origin()->modules)
    program.sources[module] = unit.load_source(module)->text();
  return program;
}

// The classes of all instances within a value.
void add_classes(const Value& value, TypeTable& types, SourcePrinter& printer,
                 std::set<const void*>& seen) {
  auto each = [&](const std::vector<Value>& values) {
    for (const Value& item : values) add_classes(item, types, printer, seen);
  };
  switch (value.tag()) {
    case Value::Tag::kInstance:
      if (EnumType* type = enum_of(value))
        return printer.add(types.enumeration(Ref<EnumType>(type)));
      if (!seen.insert(&value.as_instance()).second) return;
      if (const ClassType* cls = class_of(value)) printer.add(cls->type());
      return each(value.as_instance().slots);
    case Value::Tag::kList:
      return each(value.as_list().items);
    case Value::Tag::kTuple:
      return each(value.as_tuple().items);
    case Value::Tag::kDict:
      for (const auto& [key, item] : value.as_dict().items)
        add_classes(item, types, printer, seen);
      return;
    default:
      return;
  }
}

Program printed_program(SourcePrinter& printer) {
  Program program{printer.print(), {}, kNewestVersion};
  program.constants = printer.constants();
  return program;
}

Program program_of(const Module& module) {
  CompilationUnit& unit = module.type().unit();
  if (unit.origin()) return original_program(unit);
  SourcePrinter printer(unit);
  std::set<const void*> seen;
  add_classes(Value(module.object()), unit.types(), printer, seen);
  return printed_program(printer);
}

void write(io::ZipWriter& zip, CompilationUnit& unit, const Value& root,
           const Program& program, const ExtraFiles& extra) {
  for (const auto& [name, contents] : extra)
    zip.add(concat("extra/", name), contents);
  auto add_values = [&](const std::string& name, const Value& value) {
    ObjectPickler pickler(unit);
    std::string pickle = pickler.pickle(value, nullptr);
    add_storages(zip, name, pickler);
    zip.add(name + ".pkl", pickle);
  };
  add_values("data", root);
  for (const auto& [name, text] : program.sources) {
    std::string path = name;
    std::replace(path.begin(), path.end(), '.', '/');
    zip.add(concat("code/", path, ".py"), text);
  }
  add_values("constants", Value::tuple(program.constants));
  zip.add(program.version < kFirstHiddenVersion ? "version" : ".data/version",
          concat(program.version, "\n"));
  zip.add("byteorder", "little");
  zip.finish();
}

void write(io::ZipWriter& zip, const Module& module, const ExtraFiles& extra) {
  write(zip, module.type().unit(), Value(module.object()), program_of(module),
        extra);
}

// PyTorch's form of a function in a file: the forward of a module.
void write(io::ZipWriter& zip, Function& function, const ExtraFiles& extra) {
  const std::string name = "__torch__.PlaceholderModule";
  CompilationUnit& unit = function.unit();
  SourcePrinter printer(unit);
  printer.add_class(name, [&] {
    return concat(
        "class PlaceholderModule(Module):\n  __parameters__ = []\n"
        "  __buffers__ = []\n  training : bool\n",
        print_function(function, printer, 2, name));
  });
  Program program = printed_program(printer);
  ClassType cls(unit, name, ClassType::Kind::kModule);
  cls.add_attribute({.name = "training", .type = TypeTable::boolean()});
  auto root = make_instance(cls);
  root->slots[0] = true;
  write(zip, unit, Value(root), program, extra);
}

std::string root_name(const std::string& path) {
  std::string stem = std::filesystem::path(path).stem().string();
  return stem.empty() ? "archive" : stem;
}

}  // namespace

void save(const Module& module, const std::string& path,
          const ExtraFiles& extra_files) {
  io::ZipWriter zip(path, root_name(path));
  write(zip, module, extra_files);
}

void save(Function& function, const std::string& path,
          const ExtraFiles& extra_files) {
  io::ZipWriter zip(path, root_name(path));
  write(zip, function, extra_files);
}

void save(const Module& module, const ByteSink& sink, const std::string& root,
          const ExtraFiles& extra_files) {
  io::ZipWriter zip(sink, root);
  write(zip, module, extra_files);
}

void save(Function& function, const ByteSink& sink, const std::string& root,
          const ExtraFiles& extra_files) {
  io::ZipWriter zip(sink, root);
  write(zip, function, extra_files);
}

void Module::save(const std::string& path) const {
  script::save(*this, path);
}

}  // namespace hotaru::script
