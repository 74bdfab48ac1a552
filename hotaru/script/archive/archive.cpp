#include "hotaru/script/archive/archive.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/io/storages.h"
#include "hotaru/io/unpickler.h"
#include "hotaru/io/zip_reader.h"
#include "hotaru/script/compile/constant.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/program/own_class.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::script {

namespace {

constexpr int64_t kMinVersion = 1;
constexpr int64_t kMaxVersion = 10;

class ArchiveReader : public io::PickleHost {
 public:
  explicit ArchiveReader(Ref<io::MappedFile> file)
      : zip_(std::make_shared<io::ZipReader>(std::move(file))),
        unit_(CompilationUnit::create()) {}

  Module read(std::map<std::string, std::string>* extra_files) {
    if (!zip_->find("constants.pkl") && zip_->find("data.pkl")) {
      fail(zip_->file_name(),
           ": this file holds tensors saved by torch.save, not a TorchScript "
           "archive; load it with hotaru.load");
    }
    unit_->set_origin({code_modules(), check_version()});
    io::check_byte_order(*zip_);
    unit_->set_parse_limits(
        {.depth = ParseLimits::kArchiveDepth, .memory = memory_limit()});
    // The loader runs while the archive loads and, for functions that are
    // first called later, afterwards.
    unit_->set_loader([zip = zip_](std::string_view module) {
      return load_source(*zip, module);
    });
    Value constants = unpickle_record("constants", "constants/");
    HOTARU_CHECK(constants.is_tuple(), zip_->file_name(),
                 ": constants.pkl does not hold a tuple");
    for (const Value& constant : constants.as_tuple().items) {
      HOTARU_CHECK(!class_of(constant), zip_->file_name(),
                   ": constants.pkl holds an object of a class, which is not "
                   "supported");
    }
    unit_->set_constants(constants.as_tuple().items);
    Value root = unpickle_record("data", "data/");
    ClassType* cls = class_of(root);
    HOTARU_CHECK(cls && cls->is_module(), zip_->file_name(),
                 ": data.pkl does not hold a module");
    if (extra_files) read_extra_files(*extra_files);
    return Module(Ref<InstanceObject>(&root.as_instance()));
  }

  /// Programs lie on the CPU, wherever they were saved: load() moves them.
  /// What had no elements has none.
  Ref<Storage> storage(const std::string& key, DType dtype, int64_t numel,
                       const std::string& device) override {
    if (device == "meta") return storages_->meta(key, dtype, numel);
    return storages_->get(key, dtype, numel);
  }

  Value instance(const std::string& qualified_name) override {
    TypePtr type = unit_->find_type(qualified_name);
    if (!type || type->kind != TypeKind::kClass || type->cls->is_interface())
      return {};
    return make_instance(*type->cls);
  }

  Value enum_member(const std::string& qualified_name,
                    const Value& value) override {
    TypePtr type = unit_->find_type(qualified_name);
    if (!type || type->kind != TypeKind::kEnum) return {};
    int i = type->enumeration->find_value(value);
    HOTARU_CHECK(i >= 0, "the Enum class '", qualified_name,
                 "' has no member of that value");
    return script::enum_member(*type->enumeration, i);
  }

  bool is_opaque(const Value& instance) override {
    return own_class_of(instance) != nullptr;
  }

  void set_state(const Value& instance, Value state) override {
    if (const OwnClass* own = own_class_of(instance)) {
      const OwnMethod* method = own->find("__setstate__");
      HOTARU_CHECK(method, "the class '", own->name(),
                   "' has no __setstate__ (torch::class_::def_pickle)");
      call_own_method(*method, {instance, std::move(state)});
      return;
    }
    ClassType& cls = *class_of(instance);
    if (Function* setter = cls.find_method("__setstate__")) {
      for (Value& slot : instance.as_instance().slots) slot = Value();
      (*setter)({instance, std::move(state)});
      return check_whole(instance, cls);
    }
    HOTARU_CHECK(state.is_dict(), "the state of '", cls.name(),
                 "' is not a dict");
    DictObject& dict = state.as_dict();
    for (size_t i = 0; i < cls.attributes().size(); ++i) {
      const Attribute& attribute = cls.attributes()[i];
      const Value* value = dict.find(attribute.name);
      bool optional = attribute.type->kind == TypeKind::kOptional ||
                      attribute.type->kind == TypeKind::kNone;
      if (!value && optional) continue;
      HOTARU_CHECK(value, "'", cls.name(), "' has no value for attribute '",
                   attribute.name, "'");
      Value converted = *value;
      HOTARU_CHECK(convert_value(converted, attribute.type), "attribute '",
                   attribute.name, "' of '", cls.name(),
                   "' should be of type '", attribute.type->annotation(),
                   "', but the pickle gives a value of type '",
                   value->type_name(), "'");
      instance.as_instance().slots[i] = std::move(converted);
    }
  }

  Tensor tensor_by_id(int64_t id) override {
    const std::vector<Value>& constants = unit_->constants();
    HOTARU_CHECK(id >= 0 && id < int64_t(constants.size()) &&
                     constants[size_t(id)].is_tensor(),
                 "the archive has no tensor constant ", id);
    return constants[size_t(id)].as_tensor();
  }

 private:
  // After __setstate__, which need not set all.
  static void check_whole(const Value& instance, const ClassType& cls) {
    for (size_t i = 0; i < cls.attributes().size(); ++i) {
      const Attribute& attribute = cls.attributes()[i];
      HOTARU_CHECK(
          value_matches(instance.as_instance().slots[i], attribute.type),
          "The field '", attribute.name,
          "' was left uninitialized after '__setstate__', but expected a "
          "value of type '",
          attribute.type->annotation(), "'");
    }
  }

  // Limit of syntax trees and of pickled values each.
  size_t memory_limit() const { return io::memory_for(zip_->file()->size()); }

  int64_t check_version() const {
    const io::ZipRecord* record = zip_->find(".data/version");
    if (!record) record = &zip_->get("version");
    std::string text = zip_->read(*record);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
      text.pop_back();
    int64_t version = 0;
    const char* end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data(), end, version);
    HOTARU_CHECK(error == std::errc() && stop == end, zip_->where(*record),
                 ": '", text.substr(0, 20), "' is not a version number");
    HOTARU_CHECK(version >= kMinVersion,
                 "Attempted to read a PyTorch file with version ", version,
                 ", but the minimum supported version for reading is ",
                 kMinVersion,
                 ". Your PyTorch script module file is too old. Please "
                 "regenerate it with latest version of PyTorch to mitigate "
                 "this issue. (file ",
                 zip_->file_name(), ")");
    HOTARU_CHECK(version <= kMaxVersion,
                 "Attempted to read a PyTorch file with version ", version,
                 ", but the maximum supported version for reading is ",
                 kMaxVersion,
                 ". The version of your PyTorch installation may be too old, "
                 "please upgrade PyTorch to latest version to mitigate this "
                 "issue. (file ",
                 zip_->file_name(), ")");
    return version;
  }

  std::vector<std::string> code_modules() const {
    constexpr std::string_view kFolder = "code/", kSuffix = ".py";
    std::vector<std::string> modules;
    for (const io::ZipRecord& record : zip_->records()) {
      std::string_view name = record.name;
      if (!name.starts_with(kFolder) || !name.ends_with(kSuffix)) continue;
      name.remove_prefix(kFolder.size());
      name.remove_suffix(kSuffix.size());
      modules.emplace_back(name);
      std::replace(modules.back().begin(), modules.back().end(), '/', '.');
    }
    std::sort(modules.begin(), modules.end());
    return modules;
  }

  // "__torch__.a.b" is code/__torch__/a/b.py.
  static std::unique_ptr<Source> load_source(const io::ZipReader& zip,
                                             std::string_view module) {
    std::string path = concat("code/", module, ".py");
    std::replace(path.begin(), path.end() - 3, '.', '/');
    const io::ZipRecord* record = zip.find(path);
    if (!record) return nullptr;
    return std::make_unique<Source>(path, zip.read(*record));
  }

  Value unpickle_record(const std::string& name, const std::string& folder) {
    const io::ZipRecord& record = zip_->get(name + ".pkl");
    storages_ = std::make_unique<io::ArchiveStorages>(*zip_, folder);
    std::string pickle = zip_->read(record);
    return io::unpickle(pickle, zip_->where(record), *this,
                        {.memory = memory_limit()});
  }

  void read_extra_files(std::map<std::string, std::string>& files) const {
    for (auto& [name, contents] : files) {
      const io::ZipRecord* record = zip_->find("extra/" + name);
      if (record) contents = zip_->read(*record);
    }
  }

  std::shared_ptr<io::ZipReader> zip_;
  std::shared_ptr<CompilationUnit> unit_;
  std::unique_ptr<io::ArchiveStorages> storages_;
};

}  // namespace

Module load(const std::string& path,
            std::map<std::string, std::string>* extra_files) {
  return load(io::MappedFile::open(path), extra_files);
}

Module load(std::vector<std::byte> bytes, const std::string& name,
            std::map<std::string, std::string>* extra_files) {
  return load(io::MappedFile::from_bytes(std::move(bytes), name), extra_files);
}

Module load(Ref<io::MappedFile> file,
            std::map<std::string, std::string>* extra_files) {
  return ArchiveReader(std::move(file)).read(extra_files);
}

}  // namespace hotaru::script
