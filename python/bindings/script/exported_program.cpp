// Programs of torch.export.save, and what their files say of them.
#include "bindings/script/exported_program.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "bindings/gil.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/pt2/load_pt2.h"

namespace hotaru::python {
namespace {

using exchange::ExportedProgram;
using exchange::pt2::Argument;
using exchange::pt2::InputSpec;
using exchange::pt2::OutputSpec;
using exchange::pt2::TreeSpec;

constexpr std::string_view kTuple = "builtins.tuple";

/// A value's name, as a tuple of one, or a constant.
nb::object argument(const Argument& value) {
  using Kind = Argument::Kind;
  switch (value.kind) {
    case Kind::kNone:
      return nb::none();
    case Kind::kInt:
      return nb::int_(value.integer);
    case Kind::kFloat:
      return nb::float_(value.real);
    case Kind::kBool:
      return nb::bool_(value.flag);
    case Kind::kString:
      return nb::str(value.text.c_str(), value.text.size());
    default:
      return nb::make_tuple(value.text);
  }
}

const char* kind_name(InputSpec::Kind kind) {
  switch (kind) {
    case InputSpec::Kind::kParameter:
      return "PARAMETER";
    case InputSpec::Kind::kBuffer:
      return "BUFFER";
    case InputSpec::Kind::kTensor:
      return "CONSTANT_TENSOR";
    default:
      return "USER_INPUT";
  }
}

const char* kind_name(OutputSpec::Kind kind) {
  switch (kind) {
    case OutputSpec::Kind::kLoss:
      return "LOSS_OUTPUT";
    case OutputSpec::Kind::kBuffer:
      return "BUFFER_MUTATION";
    case OutputSpec::Kind::kParameter:
      return "PARAMETER_MUTATION";
    case OutputSpec::Kind::kInput:
      return "USER_INPUT_MUTATION";
    default:
      return "USER_OUTPUT";
  }
}

template <class Spec>
nb::tuple spec_tuple(const Spec& spec) {
  nb::object target = nb::none();
  if (!spec.target.empty()) target = nb::str(spec.target.c_str());
  return nb::make_tuple(kind_name(spec.kind), argument(spec.argument), target);
}

nb::dict tensors(
    const std::map<std::string, exchange::pt2::Payload>& payloads) {
  nb::dict out;
  for (const auto& [name, payload] : payloads)
    out[name.c_str()] = nb::steal(wrap(payload.tensor));
  return out;
}

bool is_leaf(const TreeSpec& tree) {
  return tree.kind == TreeSpec::Kind::kLeaf;
}

bool has_leaves_only(const TreeSpec& tree) {
  return std::all_of(tree.children.begin(), tree.children.end(), is_leaf);
}

/// True if compiled code gives the containers as they are: none, or tuples.
bool has_tuples_only(const TreeSpec& tree) {
  return is_leaf(tree) || (tree.type == kTuple && !tree.children.empty() &&
                           std::all_of(tree.children.begin(),
                                       tree.children.end(), has_tuples_only));
}

/// Demands of a call: how many arguments by position, the names of the others,
/// whether all are leaves, and whether the method `forward` is the call then.
nb::tuple call_facts(const ExportedProgram& program) {
  const exchange::pt2::File& file = program.file;
  const TreeSpec& in = file.in_tree;
  HOTARU_CHECK(in.children.size() == 2, file.name,
               ": the program's arguments are not a tuple and a dict");
  const TreeSpec& out = file.out_tree;
  const bool plain =
      has_leaves_only(in.children[0]) && has_leaves_only(in.children[1]);
  const bool flat =
      is_leaf(out) ||
      (out.type == kTuple && out.children.size() > 1 && has_leaves_only(out));
  const bool gives =
      flat || (program.flat_method != "forward" && has_tuples_only(out));
  const bool direct = plain && in.children[1].children.empty() && gives;
  return nb::make_tuple(in.children[0].children.size(), in.children[1].keys,
                        plain, direct);
}

nb::dict facts(const ExportedProgram& program) {
  const exchange::pt2::File& file = program.file;
  nb::list inputs, outputs;
  for (const InputSpec& spec : file.inputs) {
    nb::tuple known = spec_tuple(spec);
    nb::object persistent = nb::none();
    if (spec.kind == InputSpec::Kind::kBuffer)
      persistent = nb::bool_(spec.persistent);
    inputs.append(nb::make_tuple(known[0], known[1], known[2], persistent));
  }
  for (const OutputSpec& spec : file.outputs) outputs.append(spec_tuple(spec));
  nb::dict ranges;
  for (const auto& [symbol, range] : file.ranges)
    ranges[symbol.c_str()] = std::make_pair(range.min, range.max);
  nb::dict out;
  out["module"] = program.module;
  out["flat_method"] = program.flat_method;
  out["call"] = call_facts(program);
  out["in_spec"] = file.in_spec;
  out["out_spec"] = file.out_spec;
  out["argument_names"] = file.argument_names;
  out["inputs"] = inputs;
  out["outputs"] = outputs;
  out["ranges"] = ranges;
  out["guards"] = file.guards;
  out["constants"] = tensors(file.constants);
  out["torch_version"] = file.torch_version;
  out["schema_version"] = std::make_pair(file.schema_major, file.schema_minor);
  return out;
}

nb::dict load(const Ref<io::MappedFile>& bytes) {
  std::optional<ExportedProgram> program;
  {
    const GilRelease release;
    program = exchange::load_exported_program(bytes);
  }
  return facts(*program);
}

}  // namespace

void init_exported_program(nb::module_& m) {
  m.def("_load_exported_program", [](const std::string& path) {
    return load(io::MappedFile::open(path));
  });
  m.def("_load_exported_program_bytes",
        [](const nb::bytes& data, const std::string& name) {
          std::vector<std::byte> bytes(data.size());
          std::memcpy(bytes.data(), data.c_str(), data.size());
          return load(io::MappedFile::from_bytes(std::move(bytes), name));
        });
}

}  // namespace hotaru::python
