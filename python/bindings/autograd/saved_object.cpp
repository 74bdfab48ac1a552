#include "bindings/autograd/saved_object.h"

#include <nanobind/stl/string.h>

#include "bindings/errors.h"
#include "bindings/gil.h"
#include "bindings/graph/around_calls.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/schema.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;
using autograd::RecordedNode;
using autograd::SavingNode;

/// Hooks that pack and unpack with two Python functions.
class PySavedHooks final : public autograd::SavedHooks {
 public:
  PySavedHooks(nb::object pack, nb::object unpack)
      : pack_(std::move(pack)),
        unpack_(std::move(unpack)),
        packed_(nb::object()) {}

  void pack(const Tensor& tensor) override {
    const GilAcquire gil;
    packed_.reset(pack_.get()(nb::steal(wrap(tensor))));
  }

  Tensor unpack() override {
    const GilAcquire gil;
    const nb::object value = unpack_.get()(packed_.get());
    HOTARU_CHECK_AS(TypeError, is_tensor(value.ptr()),
                    "Output of saved tensor unpack_hook expected to be a "
                    "Tensor but got result of type ",
                    class_name(value.ptr()));
    return tensor_of(value.ptr());
  }

  nb::object unpacker() const { return unpack_.get(); }
  nb::object packed() const { return packed_.get(); }

 private:
  Held pack_, unpack_, packed_;
};

/// A pack hook, an unpack hook, and those outside of them.
struct HookPair {
  Held pack, unpack;
  std::shared_ptr<HookPair> outer;
};

/// The hooks of this thread's `saved_tensors_hooks`.
struct DefaultHooks {
  std::shared_ptr<HookPair> innermost;
  /// Why none may be set, unless empty.
  std::string disabled;
};
thread_local DefaultHooks default_hooks;

std::unique_ptr<autograd::SavedHooks> make_default_hooks() {
  const GilAcquire gil;
  const HookPair& pair = *default_hooks.innermost;
  return std::make_unique<PySavedHooks>(pair.pack.get(), pair.unpack.get());
}

void update_maker() {
  autograd::set_saved_hooks_maker(default_hooks.innermost ? &make_default_hooks
                                                          : nullptr);
}

void push_hooks(nb::object pack, nb::object unpack) {
  HOTARU_CHECK(default_hooks.disabled.empty(), default_hooks.disabled);
  default_hooks.innermost = std::make_shared<HookPair>(
      HookPair{Held(std::move(pack)), Held(std::move(unpack)),
               std::move(default_hooks.innermost)});
  count_interposer(1);
  update_maker();
}

void pop_hooks() {
  if (!default_hooks.innermost) return;
  default_hooks.innermost = default_hooks.innermost->outer;
  count_interposer(-1);
  update_maker();
}

void disable_hooks(const std::string& text) {
  HOTARU_CHECK(!default_hooks.innermost, text);
  default_hooks.disabled = text;
}

nb::object disabled_text() {
  const std::string& text = default_hooks.disabled;
  return text.empty() ? nb::none() : nb::object(nb::str(text.c_str()));
}

/// A saved tensor as it is, of a node that it keeps alive.
struct SavedObject {
  Ref<SavingNode> node;
  size_t index;

  autograd::SavedTensor& get() const {
    HOTARU_CHECK(
        !node->released,
        "Calling register_hooks on a saved tensor after it has been freed. "
        "Saved intermediate values of the graph are freed when you call "
        ".backward() or autograd.grad(). Specify retain_graph=True if you "
        "need to backward through the graph a second time or if you need to "
        "access saved variables after calling backward.");
    return node->saved.at(index);
  }
};

void register_hooks(const SavedObject& self, nb::callable pack,
                    nb::callable unpack) {
  self.get().set_hooks(std::make_unique<PySavedHooks>(pack, unpack));
}

/// "LogSoftmaxBackward0" is of log_softmax, as far as its name tells.
std::string operator_of(const std::string& node_name) {
  std::string out;
  const size_t end = node_name.rfind("Backward");
  if (end == std::string::npos) return out;
  for (size_t i = 0; i < end; ++i) {
    const auto c = static_cast<unsigned char>(node_name[i]);
    if (std::isupper(c) && i > 0) out += '_';
    out += char(std::tolower(c));
  }
  return out;
}

using Names = std::vector<std::string>;

/// The names of a schema's tensors; those of a list end in "[]".
Names tensor_names(const std::vector<Argument>& arguments) {
  Names names;
  for (const Argument& argument : arguments)
    if (argument.type.kind == ArgKind::kTensor)
      names.push_back(argument.name + (argument.type.list ? "[]" : ""));
  return names;
}

/// The schema that a node's inputs fit, or null.
const Schema* schema_of(const RecordedNode& node) {
  const std::string name = operator_of(node.name());
  const Schema* best = nullptr;
  for (const std::string& spelling : {name, "_" + name}) {
    for (const Operator* op : Registry::instance().find(spelling)) {
      const Names names = tensor_names(op->schema().arguments);
      if (names.size() == node.edges().size()) return &op->schema();
      if (!best && !names.empty()) best = &op->schema();
    }
    if (best) break;
  }
  return best;
}

/// The name of what is at a place (see RecordedNode::places).
std::string name_at(const Schema& schema, int place) {
  if (place < 0) {
    const auto& results = schema.results;
    const size_t i = size_t(-1 - place);
    if (i < results.size() && !results[i].name.empty()) return results[i].name;
    return results.size() > 1 ? concat("result", i) : "result";
  }
  const Names names = tensor_names(schema.arguments);
  for (size_t i = 0; i < names.size() && i <= size_t(place); ++i)
    if (names[i].ends_with("[]")) return names[i];
  return size_t(place) < names.size() ? names[size_t(place)] : "";
}

/// The values, or the saved tensors themselves, of a name; empty if there are
/// none.
nb::list named(const PyNode& self, const std::string& name, bool raw) {
  nb::list out;
  auto* node = dynamic_cast<RecordedNode*>(&self.get());
  const Schema* schema = node ? schema_of(*node) : nullptr;
  if (!schema) return out;
  for (size_t i = 0; i < node->places.size(); ++i) {
    const std::string found = name_at(*schema, node->places[i]);
    if (found != name && found != name + "[]") continue;
    if (raw)
      out.append(nb::cast(SavedObject{Ref<SavingNode>(node), i}));
    else
      out.append(nb::steal(wrap(node->unpack(i))));
  }
  return out;
}

}  // namespace

KeepDefaultHooks::KeepDefaultHooks() : innermost_(default_hooks.innermost) {}

KeepDefaultHooks::~KeepDefaultHooks() {
  default_hooks.innermost =
      std::static_pointer_cast<HookPair>(std::move(innermost_));
  update_maker();
}

nb::object saved_attribute(const PyNode& node, const std::string& name) {
  constexpr std::string_view kRaw = "_raw_saved_", kValue = "_saved_";
  const bool raw = name.starts_with(kRaw);
  if (raw || name.starts_with(kValue)) {
    const std::string short_name =
        name.substr(raw ? kRaw.size() : kValue.size());
    const nb::list found = named(node, short_name, raw);
    if (found.size() == 1) return found[0];
    if (found.size() > 1) return nb::tuple(found);
  }
  const std::string text = concat(
      "'", nb::cast<nb::str>(nb::find(&node).type().attr("__name__")).c_str(),
      "' object has no attribute '", name, "'");
  throw nb::attribute_error(text.c_str());
}

nb::tuple saved_values(const PyFunctionNode& self) {
  nb::list out;
  auto& node = static_cast<PythonNode&>(self.get());
  node.check_kept();
  const size_t count = node.saved.size();
  for (size_t i = 0; i < count; ++i)
    out.append(nb::steal(wrap(node.unpack(i))));
  return nb::tuple(out);
}

nb::tuple saved_objects(const PyFunctionNode& self) {
  nb::list out;
  auto& node = static_cast<PythonNode&>(self.get());
  node.check_kept();
  for (size_t i = 0; i < node.saved.size(); ++i)
    out.append(nb::cast(SavedObject{Ref<SavingNode>(&node), i}));
  return nb::tuple(out);
}

void init_saved(nb::module_& m) {
  nb::class_<SavedObject>(m, "SavedTensor", "A tensor that a node saved.")
      .def("__init__",
           [](nb::handle, nb::args) {
             fail(
                 "Trying to create a SavedTensor object from Python is "
                 "forbidden.");
           })
      .def("register_hooks", &register_hooks)
      .def("unpack",
           [](const SavedObject& s) {
             return nb::steal(wrap(s.node->unpack(s.index)));
           })
      .def_prop_ro("data", [](const SavedObject& s) {
        return nb::steal(wrap(s.get().tensor()));
      });
  m.def("_has_saved_tensors_default_hooks",
        [] { return default_hooks.innermost != nullptr; });
  m.def("_push_saved_tensors_default_hooks", &push_hooks);
  m.def("_pop_saved_tensors_default_hooks", &pop_hooks);
  m.def("_saved_tensors_hooks_disable", &disable_hooks);
  m.def("_saved_tensors_hooks_enable", [] { default_hooks.disabled.clear(); });
  m.def("_saved_tensors_hooks_is_enabled",
        [] { return default_hooks.disabled.empty(); });
  m.def("_saved_tensors_hooks_get_disabled_error_message", &disabled_text);
}

}  // namespace hotaru::python
