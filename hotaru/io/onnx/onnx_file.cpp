#include "hotaru/io/onnx/onnx_file.h"

#include <utility>

#include "hotaru/core/error.h"
#include "hotaru/io/proto_reader.h"

namespace hotaru::io::onnx {

namespace {

// Graphs within graphs, types within types.
constexpr int kMaxDepth = 64;
// Nodes, attributes, values: each costs some hundred bytes of memory, and two
// in a file.
constexpr size_t kMaxParts = 4'000'000;

class Parser {
 public:
  Model model(ProtoReader message) {
    Model out;
    while (message.next()) {
      switch (message.field()) {
        case 1:
          out.ir_version = message.integer();
          break;
        case 2:
          out.producer = message.text();
          break;
        case 3:
          out.producer_version = message.text();
          break;
        case 6:
          out.doc = message.text();
          break;
        case 7:
          out.graph = graph(ProtoReader(message.bytes()));
          break;
        case 8:
          opset(ProtoReader(message.bytes()), out.opsets);
          break;
        case 14:
          entry(ProtoReader(message.bytes()), out.metadata);
          break;
        case 25: {
          count();
          out.functions.push_back(function(ProtoReader(message.bytes())));
          break;
        }
        default:
          message.skip();
      }
    }
    return out;
  }

  void entry(ProtoReader message, std::map<std::string, std::string>& to) {
    count();
    auto [key, value] = message.text_entry();
    to[std::move(key)] = std::move(value);
  }

 private:
  struct Deeper {
    explicit Deeper(int& depth) : depth(depth) {
      HOTARU_CHECK(++depth <= kMaxDepth,
                   "graphs or types are nested more than ", kMaxDepth,
                   " levels deep");
    }
    ~Deeper() { --depth; }
    int& depth;
  };

  void count() {
    HOTARU_CHECK(++parts_ <= kMaxParts, "more than ", kMaxParts,
                 " nodes, attributes and values");
  }

  void opset(ProtoReader message, std::map<std::string, int64_t>& to) {
    count();
    std::string domain;
    int64_t version = 0;
    while (message.next()) {
      switch (message.field()) {
        case 1:
          domain = message.text();
          break;
        case 2:
          version = message.integer();
          break;
        default:
          message.skip();
      }
    }
    to[domain == "ai.onnx" ? "" : domain] = version;
  }

  Graph graph(ProtoReader message) {
    Deeper deeper(depth_);
    Graph out;
    while (message.next()) {
      switch (message.field()) {
        case 1:
          out.nodes.push_back(node(ProtoReader(message.bytes())));
          break;
        case 2:
          out.name = message.text();
          break;
        case 5:
          out.initializers.push_back(tensor(message.bytes()));
          break;
        case 11:
          out.inputs.push_back(value(ProtoReader(message.bytes())));
          break;
        case 12:
          out.outputs.push_back(value(ProtoReader(message.bytes())));
          break;
        case 13:
          out.values.push_back(value(ProtoReader(message.bytes())));
          break;
        case 15:
          out.initializers.push_back(sparse(message.bytes()));
          break;
        default:
          message.skip();
      }
    }
    return out;
  }

  Function function(ProtoReader message) {
    Function out;
    while (message.next()) {
      switch (message.field()) {
        case 1:
          out.name = message.text();
          break;
        case 4:
          add(out.inputs, message);
          break;
        case 5:
          add(out.outputs, message);
          break;
        case 6:
          add(out.attributes, message);
          break;
        case 7:
          out.nodes.push_back(node(ProtoReader(message.bytes())));
          break;
        case 9:
          opset(ProtoReader(message.bytes()), out.opsets);
          break;
        case 10:
          out.domain = message.text();
          break;
        case 11:
          out.defaults.push_back(attribute(ProtoReader(message.bytes())));
          break;
        case 13:
          out.overload = message.text();
          break;
        default:
          message.skip();
      }
    }
    return out;
  }

  Node node(ProtoReader message) {
    count();
    Node out;
    while (message.next()) {
      switch (message.field()) {
        case 1:
          add(out.inputs, message);
          break;
        case 2:
          add(out.outputs, message);
          break;
        case 3:
          out.name = message.text();
          break;
        case 4:
          out.op = message.text();
          break;
        case 5:
          out.attributes.push_back(attribute(ProtoReader(message.bytes())));
          break;
        case 7:
          out.domain = message.text();
          break;
        case 8:
          out.overload = message.text();
          break;
        case 9:
          scope(ProtoReader(message.bytes()), out.scope);
          break;
        default:
          message.skip();
      }
    }
    if (out.domain == "ai.onnx") out.domain.clear();
    return out;
  }

  // An entry of a node's metadata.
  static void scope(ProtoReader message, std::string& out) {
    auto [key, value] = message.text_entry();
    if (key == "namespace") out = std::move(value);
  }

  Attribute attribute(ProtoReader message) {
    using Type = Attribute::Type;
    count();
    Attribute out;
    Type said = Type::kNone, seen = Type::kNone;
    while (message.next()) {
      switch (message.field()) {
        case 1:
          out.name = message.text();
          continue;
        case 2:
          out.f = message.number();
          seen = Type::kFloat;
          break;
        case 3:
          out.i = message.integer();
          seen = Type::kInt;
          break;
        case 4:
          out.s = message.text();
          seen = Type::kString;
          break;
        case 5:
          out.tensors.push_back(tensor(message.bytes()));
          seen = Type::kTensor;
          break;
        case 6:
          out.graphs.push_back(
              std::make_shared<Graph>(graph(ProtoReader(message.bytes()))));
          seen = Type::kGraph;
          break;
        case 7:
          message.append(out.floats);
          seen = Type::kFloats;
          break;
        case 8:
          message.append(out.ints);
          seen = Type::kInts;
          break;
        case 9:
          add(out.strings, message);
          seen = Type::kStrings;
          break;
        case 10:
          out.tensors.push_back(tensor(message.bytes()));
          seen = Type::kTensors;
          break;
        case 11:
          out.graphs.push_back(
              std::make_shared<Graph>(graph(ProtoReader(message.bytes()))));
          seen = Type::kGraphs;
          break;
        case 14:
          type(ProtoReader(message.bytes()), out.declared);
          seen = Type::kType;
          break;
        case 20:
          said = Type(message.integer());
          continue;
        case 21:
          out.reference = message.text();
          continue;
        case 22:
          out.tensors.push_back(sparse(message.bytes()));
          seen = Type::kSparse;
          break;
        default:
          message.skip();
      }
    }
    // Files of IR version 1 do not say the type; nothing else keeps what an
    // attribute says it is from being what it has.
    out.type = said == Type::kNone ? seen : said;
    bool one = out.type == Type::kTensor || out.type == Type::kSparse;
    HOTARU_CHECK(!out.reference.empty() ||
                     ((!one || out.tensors.size() == 1) &&
                      (out.type != Type::kGraph || out.graphs.size() == 1)),
                 "attribute '", out.name, "' says that it is a ",
                 one ? "tensor" : "graph", ", and has ",
                 one ? out.tensors.size() : out.graphs.size());
    return out;
  }

  ValueInfo value(ProtoReader message) {
    count();
    ValueInfo out;
    while (message.next()) {
      switch (message.field()) {
        case 1:
          out.name = message.text();
          break;
        case 2:
          type(ProtoReader(message.bytes()), out);
          break;
        default:
          message.skip();
      }
    }
    return out;
  }

  void type(ProtoReader message, ValueInfo& out) {
    using Kind = ValueInfo::Kind;
    Deeper deeper(depth_);
    auto set = [&](Kind kind) {
      if (out.kind == Kind::kUnknown) {
        out.kind = kind;
      } else if (kind == Kind::kSequence) {
        out.of_sequence = true;  // an optional sequence, or sequences in one
        if (out.kind == Kind::kSequence) out.kind = Kind::kOther;
      }
    };
    while (message.next()) {
      switch (message.field()) {
        case 1:
          set(Kind::kTensor);
          tensor_type(ProtoReader(message.bytes()), out);
          break;
        case 4:
          set(Kind::kSequence);
          element_type(ProtoReader(message.bytes()), out);
          break;
        case 5:
        case 7:
        case 8:
          set(Kind::kOther);
          message.skip();
          break;
        case 9:
          set(Kind::kOptional);
          element_type(ProtoReader(message.bytes()), out);
          break;
        default:
          message.skip();
      }
    }
  }

  void element_type(ProtoReader message, ValueInfo& out) {
    while (message.next())
      if (message.field() == 1)
        type(ProtoReader(message.bytes()), out);
      else
        message.skip();
  }

  void tensor_type(ProtoReader message, ValueInfo& out) {
    while (message.next()) {
      switch (message.field()) {
        case 1:
          out.elem_type = int(message.integer());
          break;
        case 2:
          shape(ProtoReader(message.bytes()), out);
          break;
        default:
          message.skip();
      }
    }
  }

  void shape(ProtoReader message, ValueInfo& out) {
    out.dims.emplace();
    while (message.next()) {
      if (message.field() != 1) {
        message.skip();
        continue;
      }
      count();
      ValueInfo::Dim dim;
      ProtoReader part(message.bytes());
      while (part.next()) {
        switch (part.field()) {
          case 1:
            dim.size = part.integer();
            break;
          case 2:
            dim.name = part.text();
            break;
          default:
            part.skip();
        }
      }
      out.dims->push_back(std::move(dim));
    }
  }

  TensorProto tensor(std::string_view message) {
    count();
    TensorProto out{.name = {}, .message = message};
    ProtoReader reader(message);
    while (reader.next())
      if (reader.field() == 8)
        out.name = reader.text();
      else
        reader.skip();
    return out;
  }

  // Named by the tensor of its values.
  TensorProto sparse(std::string_view message) {
    TensorProto out{.name = {}, .message = message, .sparse = true};
    ProtoReader reader(message);
    while (reader.next())
      if (reader.field() == 1)
        out.name = tensor(reader.bytes()).name;
      else
        reader.skip();
    return out;
  }

  void add(std::vector<std::string>& to, ProtoReader& message) {
    count();
    to.push_back(message.text());
  }

  int depth_ = 0;
  size_t parts_ = 0;
};

}  // namespace

const Attribute* Node::find(std::string_view attribute) const {
  for (const Attribute& each : attributes)
    if (each.name == attribute) return &each;
  return nullptr;
}

OnnxFile::OnnxFile(Ref<MappedFile> file) : file_(std::move(file)) {
  std::string_view bytes(reinterpret_cast<const char*>(file_->data()),
                         file_->size());
  try {
    model_ = Parser().model(ProtoReader(bytes));
  } catch (const protozero::exception& e) {
    fail(file_->name(),
         ": this is no ONNX model, or a damaged one: ", e.what());
  } catch (const Error& e) {
    fail(file_->name(), ": ", e.what());
  }
  HOTARU_CHECK(model_.ir_version > 0 && !model_.opsets.empty(), file_->name(),
               ": this is no ONNX model: it does not say which version it has");
}

}  // namespace hotaru::io::onnx
