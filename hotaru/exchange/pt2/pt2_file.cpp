#include "hotaru/exchange/pt2/pt2_file.h"

#include <algorithm>
#include <utility>

#include "hotaru/core/error.h"
#include "hotaru/exchange/pt2/pt2_json.h"
#include "hotaru/io/json.h"
#include "hotaru/io/storages.h"
#include "hotaru/io/torch_file.h"
#include "hotaru/io/zip_reader.h"

namespace hotaru::exchange::pt2 {

namespace {

using io::ZipReader;
using io::ZipRecord;

constexpr std::string_view kModels = "models/";
constexpr std::string_view kJson = ".json";
constexpr int64_t kOldestSchema = 7, kNewestSchema = 8;
// Where the archives of PyTorch 2.5 to 2.7 have the program.
constexpr std::string_view kOldProgram = "serialized_exported_program.json";

// "model" or the first.
const ZipRecord* find_program(const ZipReader& zip) {
  const ZipRecord* found = zip.find("models/model.json");
  if (!found) found = zip.find(kOldProgram);
  for (const ZipRecord& record : zip.records()) {
    std::string_view name = record.name;
    if (!found && name.starts_with(kModels) && name.ends_with(kJson))
      found = &record;
  }
  return found;
}

// Puts before an error what it is about.
template <class Read>
auto within(const std::string& where, const Read& read) {
  try {
    return read();
  } catch (const Error& e) {
    if (std::string_view(e.what()).starts_with(where)) throw;
    fail(where, ": ", e.what());
  }
}

class Reader {
 public:
  explicit Reader(const Ref<io::MappedFile>& bytes)
      : zip_(bytes, ZipReader::Root::kOptional) {
    file_.name = bytes->name();
  }

  File read() {
    const ZipRecord* program = find_program(zip_);
    HOTARU_CHECK(program, file_.name,
                 ": not an exported program: the archive has no record "
                 "models/*.json");
    io::check_byte_order(zip_);
    old_ = program->name == kOldProgram;
    file_.model = old_ ? "model"
                       : program->name.substr(
                             kModels.size(), program->name.size() -
                                                 kModels.size() - kJson.size());
    const io::JsonDocument json = parse(*program);
    within(zip_.where(*program), [&] { read_program(json.root()); });
    read_payloads();
    return std::move(file_);
  }

 private:
  io::JsonDocument parse(const ZipRecord& record) const {
    return io::JsonDocument(zip_.read(record), zip_.where(record));
  }

  void read_program(const Json& json) {
    check_version(json);
    const Json& module = field(json, "graph_module");
    file_.graph = read_graph(field(module, "graph"));
    const Json& signature = field(module, "signature");
    for (const Json& spec :
         array(field(signature, "input_specs"), "input_specs"))
      file_.inputs.push_back(read_input_spec(spec));
    for (const Json& spec :
         array(field(signature, "output_specs"), "output_specs"))
      file_.outputs.push_back(read_output_spec(spec));
    read_call(field(module, "module_call_graph"));
    if (const Json* ranges = find(json, "range_constraints"))
      for (const auto& [symbol, range] : object(*ranges, "range_constraints"))
        file_.ranges.emplace(io::text_of(symbol), read_range(range));
    if (const Json* guards = find(json, "guards_code"))
      for (const Json& guard : array(*guards, "guards_code"))
        file_.guards.push_back(text(guard, "guards_code"));
  }

  void check_version(const Json& json) {
    const Json& version = field(json, "schema_version");
    file_.schema_major = integer(field(version, "major"), "major");
    file_.schema_minor = integer(field(version, "minor"), "minor");
    HOTARU_CHECK(file_.schema_major >= kOldestSchema &&
                     file_.schema_major <= kNewestSchema,
                 "the program has the schema version ", file_.schema_major, ".",
                 file_.schema_minor, "; known are the versions ", kOldestSchema,
                 " and ", kNewestSchema, ". Please export it again");
    if (const Json* torch = find(json, "torch_version"))
      file_.torch_version = text(*torch, "torch_version");
  }

  static Range read_range(const Json& json) {
    Range range;
    auto bound = [&](std::string_view name) -> std::optional<int64_t> {
      const Json* value = find(json, name);
      // Some versions write infinity instead of nothing.
      if (!value || !(value->IsInt64() || value->IsUint64())) return {};
      return integer(*value, name);
    };
    range.min = bound("min_val");
    range.max = bound("max_val");
    return range;
  }

  // The program's own entry, the first, says what its arguments are.
  void read_call(const Json& calls) {
    for (const Json& call : array(calls, "module_call_graph")) {
      if (!text(field(call, "fqn"), "fqn").empty()) continue;
      const Json* signature = find(call, "signature");
      HOTARU_CHECK(signature,
                   "the program does not say what its arguments are");
      file_.in_spec = text(field(*signature, "in_spec"), "in_spec");
      file_.out_spec = text(field(*signature, "out_spec"), "out_spec");
      file_.in_tree = read_tree_spec(file_.in_spec, "in_spec");
      file_.out_tree = read_tree_spec(file_.out_spec, "out_spec");
      if (const Json* names = find(*signature, "forward_arg_names"))
        for (const Json& name : array(*names, "forward_arg_names"))
          file_.argument_names.push_back(text(name, "forward_arg_names"));
      return;
    }
    fail("the program does not say what its arguments are");
  }

  void read_payloads() {
    if (old_) {
      read_pickled("serialized_state_dict.pt", file_.weights);
      read_pickled("serialized_constants.pt", file_.constants);
      return;
    }
    read_folder("data/weights/", "_weights_config.json", file_.weights);
    read_folder("data/constants/", "_constants_config.json", file_.constants);
  }

  void read_folder(const std::string& folder, std::string_view suffix,
                   std::map<std::string, Payload>& out) {
    const std::string config = concat(folder, file_.model, suffix);
    const ZipRecord* record = zip_.find(config);
    if (!record) return read_pickled(concat(folder, file_.model, ".pt"), out);
    const io::JsonDocument json = parse(*record);
    io::ArchiveStorages storages(zip_, folder,
                                 io::ArchiveStorages::Checksums::kSkip);
    within(zip_.where(*record), [&] {
      for (const auto& [key, payload] :
           object(field(json.root(), "config"), "config")) {
        const std::string name(io::text_of(key));
        within(concat("tensor '", name, "'"), [&] {
          out.emplace(name, read_payload(name, payload, storages));
        });
      }
    });
  }

  static Payload read_payload(const std::string& name, const Json& json,
                              io::ArchiveStorages& storages) {
    const std::string path = text(field(json, "path_name"), "path_name");
    const Json* meta = find(json, "tensor_meta");
    HOTARU_CHECK(meta && !flag(field(json, "use_pickle"), "use_pickle"),
                 "it is an object of Python's, which takes unpickling code to "
                 "read; only tensors are supported");
    const TensorMeta tensor = read_tensor_meta(*meta);
    auto numbers = [&](const std::vector<Size>& sizes) {
      Dims out;
      for (const Size& size : sizes) {
        HOTARU_CHECK(size.kind == Size::Kind::kNumber && size.number >= 0,
                     "its size is no number from 0");
        out.push_back(size.number);
      }
      return out;
    };
    HOTARU_CHECK(tensor.sizes.size() == tensor.strides.size() &&
                     tensor.offset.kind == Size::Kind::kNumber,
                 "it has ", tensor.sizes.size(), " sizes and ",
                 tensor.strides.size(), " strides");
    return {
        .name = name,
        .tensor = make_tensor(storages.get(path, *tensor.dtype, 0),
                              *tensor.dtype, numbers(tensor.sizes),
                              numbers(tensor.strides), tensor.offset.number),
        .requires_grad = tensor.requires_grad};
  }

  // A dict that torch.save wrote, as PyTorch 2.5 to 2.8 did.
  void read_pickled(const std::string& name,
                    std::map<std::string, Payload>& out) {
    const ZipRecord* record = zip_.find(name);
    if (!record) return;
    const std::string bytes = zip_.read(*record);
    if (bytes.empty()) return;
    const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
    const Value value = io::load_torch_bytes({begin, begin + bytes.size()},
                                             zip_.where(*record));
    HOTARU_CHECK(value.is_dict(), zip_.where(*record), " holds no dict");
    for (const auto& [key, item] : value.as_dict().items) {
      HOTARU_CHECK(key.is_string() && item.is_tensor(), zip_.where(*record),
                   " holds something else than tensors by name");
      const std::string& tensor_name = key.as_string();
      out.emplace(tensor_name, Payload{.name = tensor_name,
                                       .tensor = item.as_tensor(),
                                       .requires_grad = true});
    }
  }

  ZipReader zip_;
  File file_;
  bool old_ = false;
};

TreeSpec read_node_spec(const Json& json) {
  using Kind = TreeSpec::Kind;
  TreeSpec out;
  for (const Json& child : array(field(json, "children_spec"), "children_spec"))
    out.children.push_back(read_node_spec(child));
  const Json* type = find(json, "type");
  if (!type) {
    HOTARU_CHECK(out.children.empty(), "a leaf of a tree has children");
    return out;
  }
  out.type = text(*type, "type");
  const Json* context = find(json, "context");
  if (context && context->IsString()) out.context = text(*context, "context");
  out.kind = Kind::kOther;
  if (out.type == "builtins.tuple" || out.type == "collections.namedtuple") {
    out.kind = Kind::kTuple;
  } else if (out.type == "builtins.list") {
    out.kind = Kind::kList;
  } else if (out.type == "builtins.dict" ||
             out.type == "collections.OrderedDict") {
    out.kind = Kind::kDict;
    const io::JsonDocument document(out.context, "a dict's keys");
    const auto keys = array(document.root(), "keys");
    HOTARU_CHECK(keys.Size() == out.children.size(), "a dict of a tree has ",
                 keys.Size(), " keys and ", out.children.size(), " values");
    for (const Json& key : keys) {
      if (!key.IsString()) {
        out.kind = Kind::kOther;
        break;
      }
      out.keys.push_back(text(key, "a key"));
    }
  }
  return out;
}

}  // namespace

TreeSpec read_tree_spec(const std::string& spec, const std::string& where) {
  const io::JsonDocument document(spec, where);
  const Json& json = document.root();
  HOTARU_CHECK(json.IsArray() && json.Size() == 2 && json[0].IsInt() &&
                   json[0].GetInt() == 1,
               where, ": the containers are described in an unknown way");
  return read_node_spec(json[1]);
}

File read_file(const Ref<io::MappedFile>& bytes) {
  return Reader(bytes).read();
}

bool is_pt2(const Ref<io::MappedFile>& bytes) {
  try {
    return find_program(ZipReader(bytes, ZipReader::Root::kOptional)) !=
           nullptr;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace hotaru::exchange::pt2
