#include "hotaru/exchange/onnx_out/table.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

namespace hotaru::exchange::onnx_out {

namespace {

using Table = std::unordered_map<std::string, const Row*>;

Table table_of(std::initializer_list<Rows> families) {
  Table out;
  for (Rows rows : families)
    for (const Row& row : rows) out.emplace(row.op, &row);
  return out;
}

const Table& tensor_table() {
  static const Table table = table_of(
      {unary_rows(),    binary_rows(),    activation_rows(), reduce_rows(),
       order_rows(),    shape_rows(),     pad_rows(),        view_rows(),
       part_rows(),     create_rows(),    index_rows(),      scatter_rows(),
       matmul_rows(),   conv_rows(),      pool_rows(),       norm_rows(),
       rnn_rows(),      attention_rows(), loss_rows(),       resize_rows(),
       quantized_rows()});
  return table;
}

const Row* find(const Table& table, std::string name,
                const std::string& overload) {
  auto found = table.find(name + "." + overload);
  if (found == table.end()) found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

// view_copy and its like: a graph has values and no memory, so that a view is a
// copy.
std::string_view without_copy(std::string_view name) {
  return name.ends_with("_copy") ? name.substr(0, name.size() - 5) : name;
}

}  // namespace

const Row* find_row(const Operator& op) {
  const Schema& schema = op.schema();
  const Row* row = find(tensor_table(), schema.name, schema.overload);
  if (!row) {
    row = find(tensor_table(), std::string(without_copy(schema.name)),
               schema.overload);
  }
  if (row || !schema.name.ends_with('_') || schema.arguments.empty() ||
      !schema.arguments[0].type.written)
    return row;
  return find(tensor_table(), schema.name.substr(0, schema.name.size() - 1),
              schema.overload);
}

const Row* find_number_row(const Operator& op) {
  static const Table table = table_of({number_rows()});
  return find(table, op.schema().name, op.schema().overload);
}

const Row* find_host_row(const Operator& op) {
  static const Table table = table_of({host_rows(), mode_rows()});
  return find(table, op.schema().name, op.schema().overload);
}

std::vector<std::string> exported_operators() {
  std::set<std::string> names;
  for (const auto& [name, row] : tensor_table())
    names.insert(name.substr(0, name.find('.')));
  return {names.begin(), names.end()};
}

}  // namespace hotaru::exchange::onnx_out
