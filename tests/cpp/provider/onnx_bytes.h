// ONNX models made of a few words of protobuf, for tests and benchmarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace hotaru::onnx_bytes {

/// A message, or a field of it, as bytes.
using Message = std::string;

inline Message varint(uint64_t value) {
  Message out;
  for (; value >= 128; value >>= 7) out += char(value % 128 + 128);
  return out + char(value);
}
inline Message number(int field, uint64_t value) {
  return varint(uint64_t(field) << 3) + varint(value);
}
inline Message text(int field, const std::string& value) {
  return varint(uint64_t(field) << 3 | 2) + varint(value.size()) + value;
}

inline constexpr int kFloat = 1, kInt64 = 7;

/// Sizes that are numbers, or names.
using Sizes = std::vector<std::string>;

/// A ValueInfoProto; no sizes at all where `shaped` is false.
inline Message value(const std::string& name, int type, const Sizes& sizes,
                     bool shaped = true) {
  Message dims;
  for (const std::string& size : sizes)
    dims += text(1, size.find_first_not_of("0123456789") == size.npos
                        ? number(1, std::stoull(size))
                        : text(2, size));
  Message tensor = number(1, uint64_t(type));
  if (shaped) tensor += text(2, dims);
  return text(1, name) + text(2, text(1, tensor));
}

inline Message node(const std::string& op, const Sizes& inputs,
                    const Sizes& outputs) {
  Message out;
  for (const std::string& name : inputs) out += text(1, name);
  for (const std::string& name : outputs) out += text(2, name);
  return out + text(4, op);
}

inline Message initializer(const std::string& name,
                           const std::vector<int64_t>& sizes,
                           const std::vector<float>& values) {
  Message out;
  for (int64_t size : sizes) out += number(1, uint64_t(size));
  std::string raw(values.size() * sizeof(float), 0);
  if (!raw.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  return out + number(2, kFloat) + text(8, name) + text(9, raw);
}

struct Parts {
  std::vector<Message> nodes, initializers, inputs, outputs;
};

/// A model of opset 17.
inline std::vector<std::byte> model(const Parts& parts) {
  Message graph;
  for (const Message& m : parts.nodes) graph += text(1, m);
  graph += text(2, "graph");
  for (const Message& m : parts.initializers) graph += text(5, m);
  for (const Message& m : parts.inputs) graph += text(11, m);
  for (const Message& m : parts.outputs) graph += text(12, m);
  constexpr uint64_t kIrVersion = 8, kOpset = 17;
  const Message all = number(1, kIrVersion) + text(7, graph) +
                      text(8, text(1, "") + number(2, kOpset));
  std::vector<std::byte> bytes(all.size());
  std::memcpy(bytes.data(), all.data(), all.size());
  return bytes;
}

/// Linear layers with rectifiers between, from "x" to "y"; weights are
/// powers of two, so that sums have one value in any order.
inline std::vector<std::byte> mlp(const std::vector<int64_t>& widths) {
  Parts parts;
  parts.inputs = {value("x", kFloat, {"batch", std::to_string(widths[0])})};
  parts.outputs = {
      value("y", kFloat, {"batch", std::to_string(widths.back())})};
  std::string from = "x";
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    const std::string n = std::to_string(i);
    std::vector<float> weight(size_t(widths[i] * widths[i + 1]));
    for (size_t j = 0; j < weight.size(); ++j)
      weight[j] = (j % 3 == 0 ? -1.0f : 1.0f) / float(1 << (j % 5 + 2));
    parts.initializers.push_back(
        initializer("w" + n, {widths[i], widths[i + 1]}, weight));
    parts.initializers.push_back(
        initializer("b" + n, {widths[i + 1]},
                    std::vector<float>(size_t(widths[i + 1]), 0.25f)));
    const bool last = i + 2 == widths.size();
    const std::string to = last ? "y" : "s" + n;
    parts.nodes.push_back(node("Gemm", {from, "w" + n, "b" + n}, {to}));
    from = to;
    if (last) break;
    parts.nodes.push_back(node("Relu", {from}, {"r" + n}));
    from = "r" + n;
  }
  return model(parts);
}

}  // namespace hotaru::onnx_bytes
