#include "hotaru/io/onnx/onnx_writer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#define PROTOZERO_USE_VIEW std::string_view
#include <protozero/pbf_writer.hpp>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/io/new_file.h"
#include "hotaru/ops/create/copy.h"

namespace hotaru::io::onnx {

namespace {

using Writer = protozero::pbf_writer;
using Sink = std::function<void(std::string_view)>;

// Protobuf's readers stop at 2 GiB.
constexpr uint64_t kMaxMessage = (uint64_t{1} << 31) - 1;
constexpr uint64_t kExternalFrom = 1024;
// So that tensors can be mapped: large ones at what any system maps.
constexpr uint64_t kAlignment = 64;
constexpr uint64_t kLargeAlignment = 65536;
constexpr uint64_t kLarge = uint64_t{1} << 20;

uint64_t bytes_of(const Tensor& tensor) {
  return uint64_t(tensor.numel()) * itemsize(tensor.dtype());
}

Tensor on_host(const Tensor& tensor) {
  return contiguous(to(tensor, Device{}));
}

std::string_view bytes_in(const Tensor& host) {
  return {static_cast<const char*>(host_bytes(host, "onnx.export")),
          bytes_of(host)};
}

void write_type(Writer& out, const ValueInfo& info) {
  Writer type(out, 2);
  auto tensor = [&](Writer& at) {
    Writer tensor_type(at, 1);
    tensor_type.add_int32(1, info.elem_type);
    if (!info.dims) return;
    // Built apart: protozero leaves out messages without a field, and here an
    // empty one says that there are no dimensions, or one of unknown size.
    std::string shape;
    Writer dims(shape);
    for (const ValueInfo::Dim& dim : *info.dims) {
      std::string text;
      Writer message(text);
      if (dim.size >= 0)
        message.add_int64(1, dim.size);
      else if (!dim.name.empty())
        message.add_string(2, dim.name);
      dims.add_message(1, text);
    }
    tensor_type.add_message(2, shape);
  };
  if (info.kind == ValueInfo::Kind::kTensor) tensor(type);
  if (info.kind != ValueInfo::Kind::kSequence) return;
  Writer sequence(type, 4);
  Writer item(sequence, 1);
  tensor(item);
}

void write_value(Writer& out, uint32_t field, const ValueInfo& info) {
  Writer message(out, field);
  message.add_string(1, info.name);
  if (info.kind != ValueInfo::Kind::kUnknown) write_type(message, info);
}

void write_graph(Writer& out, const Graph& graph);

void write_attribute(Writer& out, const Attribute& attribute) {
  using Type = Attribute::Type;
  Writer message(out, 5);
  message.add_string(1, attribute.name);
  switch (attribute.type) {
    case Type::kFloat:
      message.add_float(2, attribute.f);
      break;
    case Type::kInt:
      message.add_int64(3, attribute.i);
      break;
    case Type::kString:
      message.add_bytes(4, attribute.s);
      break;
    case Type::kTensor:
      message.add_message(5, attribute.tensors[0].message.data(),
                          attribute.tensors[0].message.size());
      break;
    case Type::kGraph: {
      Writer inner(message, 6);
      write_graph(inner, *attribute.graphs[0]);
      break;
    }
    case Type::kFloats:
      for (float each : attribute.floats) message.add_float(7, each);
      break;
    case Type::kInts:
      for (int64_t each : attribute.ints) message.add_int64(8, each);
      break;
    case Type::kStrings:
      for (const std::string& each : attribute.strings)
        message.add_bytes(9, each);
      break;
    default:
      fail("attribute '", attribute.name, "': a type that is not written");
  }
  message.add_enum(20, int(attribute.type));
}

void write_node(Writer& out, const Node& node) {
  Writer message(out, 1);
  for (const std::string& each : node.inputs) message.add_string(1, each);
  for (const std::string& each : node.outputs) message.add_string(2, each);
  if (!node.name.empty()) message.add_string(3, node.name);
  message.add_string(4, node.op);
  for (const Attribute& each : node.attributes) write_attribute(message, each);
  if (!node.domain.empty()) message.add_string(7, node.domain);
}

void write_graph(Writer& out, const Graph& graph) {
  for (const Node& each : graph.nodes) write_node(out, each);
  out.add_string(2, graph.name);
  for (const ValueInfo& each : graph.inputs) write_value(out, 11, each);
  for (const ValueInfo& each : graph.outputs) write_value(out, 12, each);
  for (const ValueInfo& each : graph.values) write_value(out, 13, each);
}

void write_head(Writer& out, const Model& model) {
  out.add_int64(1, model.ir_version);
  out.add_string(2, model.producer);
  out.add_string(3, model.producer_version);
  if (!model.doc.empty()) out.add_string(6, model.doc);
  for (const auto& [domain, version] : model.opsets) {
    Writer message(out, 8);
    message.add_string(1, domain);
    message.add_int64(2, version);
  }
  for (const auto& [key, value] : model.metadata) {
    Writer message(out, 14);
    message.add_string(1, key);
    message.add_string(2, value);
  }
}

// A tensor's message but for its elements.
std::string tensor_head(const std::string& name, const Tensor& tensor) {
  std::string head;
  Writer out(head);
  for (int64_t size : tensor.sizes()) out.add_int64(1, size);
  out.add_int32(2, int32_t(data_type_of(tensor.dtype())));
  out.add_string(8, name);
  return head;
}

// The tag and length that stand before bytes.
std::string prefix(uint32_t field, uint64_t length) {
  std::string out;
  protozero::write_varint(std::back_inserter(out), (field << 3) | 2);
  protozero::write_varint(std::back_inserter(out), length);
  return out;
}

void add_entry(Writer& out, const char* key, const std::string& value) {
  Writer message(out, 13);
  message.add_string(1, key);
  message.add_string(2, value);
}

struct Place {
  uint64_t offset = 0;
  bool external = false;
};

std::vector<Place> places_of(const std::vector<Initializer>& initializers) {
  std::vector<Place> places(initializers.size());
  uint64_t end = 0;
  for (size_t i = 0; i < initializers.size(); ++i) {
    const uint64_t bytes = bytes_of(initializers[i].tensor);
    if (bytes <= kExternalFrom) continue;
    const uint64_t to = bytes >= kLarge ? kLargeAlignment : kAlignment;
    places[i] = {(end + to - 1) / to * to, true};
    end = places[i].offset + bytes;
  }
  return places;
}

ValueInfo declared(const Initializer& each) {
  ValueInfo info;
  info.name = each.name;
  info.kind = ValueInfo::Kind::kTensor;
  info.elem_type = int(data_type_of(each.tensor.dtype()));
  info.dims.emplace();
  for (int64_t size : each.tensor.sizes())
    info.dims->push_back({.size = size, .name = {}});
  return info;
}

// The model is written in pieces, so that no tensor is copied: the lengths of
// the messages around them are known before.
void write_pieces(const Sink& sink, const Model& model,
                  const std::vector<Initializer>& initializers,
                  const WriteOptions& options, const std::vector<Place>& places,
                  const std::string& data_name) {
  std::string graph;
  Writer writer(graph);
  write_graph(writer, model.graph);
  if (options.as_inputs)
    for (const Initializer& each : initializers)
      write_value(writer, 11, declared(each));
  std::vector<std::string> heads;
  uint64_t length = graph.size();
  if (options.initializers) {
    for (size_t i = 0; i < initializers.size(); ++i) {
      const auto& [name, tensor] = initializers[i];
      std::string head = tensor_head(name, tensor);
      uint64_t inside = 0;
      if (!places.empty() && places[i].external) {
        Writer out(head);
        add_entry(out, "location", data_name);
        add_entry(out, "offset", std::to_string(places[i].offset));
        add_entry(out, "length", std::to_string(bytes_of(tensor)));
        out.add_enum(14, 1);
      } else {
        inside = bytes_of(tensor);
        head += prefix(9, inside);
      }
      head.insert(0, prefix(5, head.size() + inside));
      length += head.size() + inside;
      heads.push_back(std::move(head));
    }
  }
  std::string first;
  Writer head(first);
  write_head(head, model);
  first += prefix(7, length);
  HOTARU_CHECK_AS(ValueError, first.size() + length <= kMaxMessage,
                  "the model would take ", first.size() + length,
                  " bytes, and a file of ONNX holds 2 GiB: write it to a path "
                  "with external data");
  sink(first);
  sink(graph);
  for (size_t i = 0; i < heads.size(); ++i) {
    sink(heads[i]);
    if (!places.empty() && places[i].external) continue;
    sink(bytes_in(on_host(initializers[i].tensor)));
  }
}

void write_data(const std::string& path,
                const std::vector<Initializer>& initializers,
                const std::vector<Place>& places) {
  NewFile file(path);
  uint64_t end = 0;
  for (size_t i = 0; i < initializers.size(); ++i) {
    if (!places[i].external) continue;
    file.write(std::string(places[i].offset - end, '\0'));
    const Tensor host = on_host(initializers[i].tensor);
    file.write(bytes_in(host));
    end = places[i].offset + bytes_of(host);
  }
  file.finish();
}

}  // namespace

int64_t data_type_of(DType dtype) {
  for (int64_t number = 1; number < 32; ++number)
    if (dtype_of(number) == dtype) return number;
  fail<NotImplementedError>("ONNX has no tensors of ", dtype_name(dtype));
}

std::string tensor_message(const std::string& name, const Tensor& tensor) {
  const Tensor host = on_host(tensor);
  std::string out = tensor_head(name, tensor);
  Writer writer(out);
  const std::string_view bytes = bytes_in(host);
  writer.add_bytes(9, bytes.data(), bytes.size());
  return out;
}

uint64_t initializer_bytes(const std::vector<Initializer>& initializers) {
  uint64_t sum = 0;
  for (const Initializer& each : initializers) sum += bytes_of(each.tensor);
  return sum;
}

void write_model(const std::string& path, const Model& model,
                 const std::vector<Initializer>& initializers,
                 const WriteOptions& options) {
  const std::string data = path + ".data";
  std::vector<Place> places;
  if (options.external_data && options.initializers)
    places = places_of(initializers);
  auto outside = [](const Place& place) { return place.external; };
  if (std::none_of(places.begin(), places.end(), outside)) places.clear();
  NewFile file(path);
  write_pieces([&](std::string_view bytes) { file.write(bytes); }, model,
               initializers, options, places,
               std::filesystem::path(data).filename().string());
  if (!places.empty()) write_data(data, initializers, places);
  file.finish();
}

void write_model(const Sink& sink, const Model& model,
                 const std::vector<Initializer>& initializers,
                 const WriteOptions& options) {
  write_pieces(sink, model, initializers, options, {}, "");
}

}  // namespace hotaru::io::onnx
