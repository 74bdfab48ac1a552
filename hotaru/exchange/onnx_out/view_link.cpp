// Views: tensors whose memory is another's.
#include <algorithm>
#include <utility>

#include "hotaru/exchange/onnx_out/exporter.h"
#include "hotaru/ops/create/factory.h"

namespace hotaru::exchange::onnx_out {

// Results that share an input's memory on the meta device are views of it.
void Exporter::link_view(const Node& node, const std::vector<Symbol>& inputs,
                         std::vector<Symbol>& outputs) {
  size_t base = inputs.size();
  for (size_t i = 0; i < inputs.size() && base == inputs.size(); ++i) {
    if (!inputs[i].is_tensor()) continue;
    const Storage* storage = inputs[i].cell->example.first.storage().get();
    for (const Symbol& output : outputs)
      if (output.cell->example.first.storage().get() == storage) base = i;
  }
  if (base == inputs.size()) return;
  // Writing through a view of repeated elements is an error of its own.
  for (size_t k = 0; k < outputs.size(); ++k) {
    Cell& cell = *outputs[k].cell;
    cell.base = inputs[base].cell;
    cell.base_version = cell.base->version;
    cell.view = [this, &node, inputs, base, k](const std::string& now) {
      std::vector<Symbol> again = inputs;
      again[base] = new_tensor(now, inputs[base].cell->example);
      std::vector<Symbol> made = lowered(node, std::move(again));
      const Symbol& one = made[0].is_list() ? made[0].items()[k] : made[k];
      return one.cell->name;
    };
    const IntSpan strides = cell.example.first.strides();
    if (std::find(strides.begin(), strides.end(), 0) != strides.end() &&
        node.op->name() == "expand")
      continue;
    cell.put = [this, &node, inputs, base, k](const std::string& old,
                                              const std::string& value) {
      return put_back(node, inputs, base, k, old, value);
    };
  }
}

// The base with the view's elements in their places: where those are is what
// the same view gives of the numbers of the base's elements.
std::string Exporter::put_back(const Node& node,
                               const std::vector<Symbol>& inputs, size_t base,
                               size_t output, const std::string& old,
                               const std::string& value) {
  const Example& example = inputs[base].cell->example;
  const std::string shape = emitter_.add("Shape", {old});
  const std::string zero = emitter_.scalar(int64_t{0}, DType::kInt64);
  const std::string one = emitter_.scalar(int64_t{1}, DType::kInt64);
  const std::string all = emitter_.add("Size", {old});
  const std::string flat = emitter_.ints({-1});
  std::vector<Symbol> again = inputs;
  const TensorOptions options(DType::kInt64, Device{DeviceType::kMeta});
  again[base] = new_tensor(
      emitter_.add("Reshape", {emitter_.add("Range", {zero, all, one}), shape}),
      {empty_strided(example.first.sizes(), example.first.strides(), options),
       empty_strided(example.second.sizes(), example.second.strides(),
                     options)});
  std::vector<Symbol> made = lowered(node, std::move(again));
  const Symbol& view =
      made[0].is_list() ? made[0].items()[output] : made[output];
  auto flattened = [&](const std::string& name) {
    return emitter_.add("Reshape", {name, flat});
  };
  const std::string updated = emitter_.add(
      "ScatterElements",
      {flattened(old), flattened(view.cell->name), flattened(value)},
      {attr("axis", 0)});
  return emitter_.add("Reshape", {updated, shape});
}

}  // namespace hotaru::exchange::onnx_out
