#include "bindings/autograd/notes.h"

#include "bindings/graph/around_calls.h"
#include "hotaru/core/printing/concat.h"
#include "hotaru/runtime/warning.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;
using autograd::Node;

// The keys are PyTorch's.
constexpr char kTraceback[] = "traceback_";
constexpr char kParent[] = "parent_";

std::string traceback_of(nb::handle notes) {
  if (!notes.is_valid() || !nb::cast<nb::dict>(notes).contains(kTraceback))
    return {};
  const nb::object lines = notes[kTraceback];
  return nb::cast<nb::str>(nb::str("").attr("join")(lines)).c_str();
}

/// Notes in a Python dictionary.
class PyNotes final : public autograd::NodeNotes {
 public:
  explicit PyNotes(nb::dict notes) : notes_(std::move(notes)) {}

  nb::dict dict() const { return nb::borrow<nb::dict>(notes_.get()); }

  void warn(const std::string& name) const override {
    const GilAcquire gil;
    const std::string forward = traceback_of(dict());
    hotaru::warn(forward.empty()
                     ? concat("Error detected in ", name,
                              ". No forward pass information available. Enable "
                              "detect anomaly during forward pass for more "
                              "information.")
                     : concat("Error detected in ", name,
                              ". Traceback of forward call that caused the "
                              "error:\n",
                              forward));
    warn_parents();
  }

 private:
  void warn_parents() const {
    nb::object at = dict();
    while (nb::cast<nb::dict>(at).contains(kParent)) {
      const nb::object parent = at[kParent];
      const std::string name = nb::cast<nb::str>(parent.attr("name")()).c_str();
      at = parent.attr("metadata");
      const std::string forward = traceback_of(at);
      hotaru::warn(
          forward.empty()
              ? concat("\n\nPrevious calculation was induced by ", name,
                       ". No forward pass information available. Enable detect "
                       "anomaly during forward pass for more information.")
              : concat("\n\nPrevious calculation was induced by ", name,
                       ". Traceback of forward call that induced the previous "
                       "calculation:\n",
                       forward));
    }
  }

  Held notes_;
};

std::unique_ptr<autograd::NodeNotes> take_notes(Node* parent) {
  const GilAcquire gil;
  nb::dict notes;
  notes[kTraceback] = nb::module_::import_("traceback").attr("format_stack")();
  if (parent) notes[kParent] = node_object(Ref<Node>(parent));
  return std::make_unique<PyNotes>(std::move(notes));
}

}  // namespace

nb::dict metadata_of(const PyNode& node) {
  auto& notes = node.get().notes;
  if (!notes) notes = std::make_unique<PyNotes>(nb::dict());
  return static_cast<PyNotes&>(*notes).dict();
}

void init_notes(nb::module_& m) {
  autograd::set_notes_maker(&take_notes);
  m.def("_set_anomaly", [](bool enabled, bool check_nan) {
    autograd::set_anomaly(enabled, check_nan);
    count_setting_change();
  });
  m.def("is_anomaly_enabled", &autograd::anomaly_enabled);
  m.def("is_anomaly_check_nan_enabled", &autograd::anomaly_checks_nan);
}

}  // namespace hotaru::python
