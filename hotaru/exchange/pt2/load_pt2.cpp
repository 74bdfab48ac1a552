#include "hotaru/exchange/pt2/load_pt2.h"

#include <set>
#include <utility>

#include "hotaru/autograd/node.h"
#include "hotaru/core/error.h"
#include "hotaru/exchange/module_tree.h"
#include "hotaru/exchange/pt2/graph_text.h"
#include "hotaru/exchange/pt2/program_text.h"

namespace hotaru::exchange {

namespace {

using pt2::InputSpec;

constexpr size_t kSyntaxBase = size_t{640} << 20;

const pt2::Payload& find_tensor(const pt2::File& file, const InputSpec& spec) {
  const bool weight = spec.kind != InputSpec::Kind::kTensor && spec.persistent;
  const auto& first = weight ? file.weights : file.constants;
  const auto& second = weight ? file.constants : file.weights;
  auto found = first.find(spec.target);
  if (found != first.end()) return found->second;
  found = second.find(spec.target);
  HOTARU_CHECK(found != second.end(), "the archive has no tensor '",
               spec.target.substr(0, 80), "'");
  return found->second;
}

ModuleTree::Role role_of(const InputSpec& spec) {
  switch (spec.kind) {
    case InputSpec::Kind::kParameter:
      return ModuleTree::Role::kParameter;
    case InputSpec::Kind::kBuffer:
      return ModuleTree::Role::kBuffer;
    default:
      return ModuleTree::Role::kAttribute;
  }
}

bool same_memory(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.storage_offset() == b.storage_offset() &&
         a.sizes() == b.sizes() && a.strides() == b.strides();
}

// Parameters of one memory become one tensor, so that steps change it once.
void add_tensors(const pt2::File& file, ModuleTree& tree) {
  std::multimap<const Storage*, const pt2::Payload*> parameters;
  std::set<std::string> added;
  for (const InputSpec& spec : file.inputs) {
    if (spec.kind == InputSpec::Kind::kUser ||
        spec.kind == InputSpec::Kind::kConstant ||
        spec.kind == InputSpec::Kind::kToken ||
        !added.insert(spec.target).second)
      continue;
    const pt2::Payload* payload = &find_tensor(file, spec);
    if (spec.kind == InputSpec::Kind::kParameter) {
      const Storage* memory = payload->tensor.storage().get();
      auto [other, end] = parameters.equal_range(memory);
      for (; other != end; ++other)
        if (same_memory(other->second->tensor, payload->tensor))
          payload = other->second;
      parameters.emplace(memory, payload);
    }
    tree.add(spec.target, payload->tensor, role_of(spec));
    if (spec.kind == InputSpec::Kind::kParameter && !payload->requires_grad) {
      Tensor tensor = payload->tensor;
      autograd::set_requires_grad(tensor, false);
    }
  }
}

}  // namespace

ExportedProgram load_exported_program(const Ref<io::MappedFile>& bytes) {
  pt2::File file = pt2::read_file(bytes);
  try {
    pt2::ProgramText text = pt2::program_text(file);
    auto unit = script::CompilationUnit::create();
    unit->set_parse_limits({.memory = kSyntaxBase + 64 * text.methods.size()});
    if (text.uses_modes) {
      unit->define(
          std::make_unique<script::Source>("modes", pt2::modes_source()),
          pt2::kModes);
    }
    ModuleTree tree(unit, "ExportedProgram");
    add_tensors(file, tree);
    script::Module module =
        tree.finish(file.name, std::move(text.methods), text.training);
    return {.file = std::move(file),
            .module = std::move(module),
            .flat_method = text.flat_method,
            .flat_only = text.flat_only};
  } catch (const NotImplementedError& e) {
    fail<NotImplementedError>(file.name, ": ", e.what());
  } catch (const Error& e) {
    fail(file.name, ": ", e.what());
  }
}

script::Module load_pt2(const std::string& path) {
  return load_exported_program(io::MappedFile::open(path)).module;
}

script::Module load_pt2(std::vector<std::byte> bytes, const std::string& name) {
  return load_exported_program(
             io::MappedFile::from_bytes(std::move(bytes), name))
      .module;
}

}  // namespace hotaru::exchange
