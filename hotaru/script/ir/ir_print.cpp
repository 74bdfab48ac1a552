// Graphs as TorchScript prints them.
#include "hotaru/core/printing/concat.h"
#include "hotaru/script/ir/ir.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/run/interpreter.h"

namespace hotaru::script {

std::string qualified(std::string_view name) {
  return concat(name.find("::") == name.npos ? "aten::" : "", name);
}

const char* kind_name(const Node& node) {
  switch (node.kind) {
    case NodeKind::kConstant:
      return "prim::Constant";
    case NodeKind::kOp:
      return nullptr;
    case NodeKind::kCall:
      return node.callee->owner() ? "prim::CallMethod" : "prim::CallFunction";
    case NodeKind::kCallMethod:
      return "prim::CallMethod";
    case NodeKind::kFork:
      return node.index ? "prim::awaitable" : "prim::fork";
    case NodeKind::kGetAttr:
      return "prim::GetAttr";
    case NodeKind::kSetAttr:
      return "prim::SetAttr";
    case NodeKind::kIf:
      return "prim::If";
    case NodeKind::kLoop:
      return "prim::Loop";
    case NodeKind::kWhile:
      return "prim::While";
    case NodeKind::kTuple:
      return "prim::TupleConstruct";
    case NodeKind::kTupleUnpack:
      return "prim::TupleUnpack";
    case NodeKind::kTupleIndex:
      return "prim::TupleIndex";
    case NodeKind::kList:
      return "prim::ListConstruct";
    case NodeKind::kListUnpack:
      return "prim::ListUnpack";
    case NodeKind::kDict:
      return "prim::DictConstruct";
    case NodeKind::kCreate:
      return "prim::CreateObject";
    case NodeKind::kCast:
      return "prim::unchecked_cast";
    case NodeKind::kIsInstance:
      return "prim::isinstance";
    case NodeKind::kIs:
      return node.index ? "aten::__isnot__" : "aten::__is__";
    case NodeKind::kFormat:
      return "aten::format";
    case NodeKind::kPrint:
      return "prim::Print";
    case NodeKind::kRaise:
      return "prim::RaiseException";
    case NodeKind::kEnter:
      return "prim::Enter";
    case NodeKind::kExit:
      return "prim::Exit";
    case NodeKind::kYield:
      return "->";
    case NodeKind::kReturn:
      return "return";
    case NodeKind::kBreak:
      return "break";
    case NodeKind::kContinue:
      return "continue";
    case NodeKind::kUnreachable:
      return "unreachable";
  }
  return "?";
}

std::string ir_text(TypePtr type) {
  if (type->items.empty()) return type->str();
  auto items = [&] {
    std::string out;
    for (TypePtr item : type->items)
      out += concat(out.empty() ? "" : ", ", ir_text(item));
    return out;
  };
  switch (type->kind) {
    case TypeKind::kOptional:
      return ir_text(type->item()) + "?";
    case TypeKind::kList:
      return ir_text(type->item()) + "[]";
    case TypeKind::kFuture:
      return concat("Future(", items(), ")");
    case TypeKind::kAwait:
      return concat("Await(", items(), ")");
    case TypeKind::kDict:
      return concat("Dict(", items(), ")");
    case TypeKind::kTuple:
      break;
    default:
      return type->str();
  }
  if (type->name.empty()) return concat("(", items(), ")");
  std::string out = "NamedTuple(";
  const size_t first = type->items.size() - type->defaults.size();
  for (size_t i = 0; i < type->items.size(); ++i) {
    out +=
        concat(i ? ", " : "", type->fields[i], " : ", ir_text(type->items[i]));
    if (i >= first) out += concat(" = ", value_text(type->defaults[i - first]));
  }
  return out + ")";
}

namespace {

class Printer {
 public:
  std::string print(const Graph& graph) {
    out_ = "graph(";
    const auto& params = graph.top().params;
    for (size_t i = 0; i < params.size(); ++i) {
      if (i > 0) out_ += ",\n      ";
      out_ += definition(params[i]);
    }
    out_ += "):\n";
    nodes(graph.top(), 1);
    return std::move(out_);
  }

 private:
  static std::string name(const Var* var) {
    return var->name.empty() ? concat("%", var->id)
                             : concat("%", var->name, ".", var->id);
  }
  static std::string definition(const Var* var) {
    return concat(name(var), " : ", ir_text(var->type));
  }

  void list(const std::vector<Var*>& vars, bool types) {
    for (size_t i = 0; i < vars.size(); ++i) {
      if (i > 0) out_ += ", ";
      out_ += types ? definition(vars[i]) : name(vars[i]);
    }
  }

  void nodes(const Block& block, size_t depth) {
    for (const Node* node = block.first; node; node = node->next)
      this->node(*node, depth);
  }

  void node(const Node& node, size_t depth) {
    out_.append(2 * depth, ' ');
    if (!node.outputs.empty()) {
      list(node.outputs, true);
      out_ += " = ";
    }
    if (node.is_terminator()) {
      out_ += concat(kind_name(node), " (");
    } else {
      out_ += node.kind == NodeKind::kOp ? qualified(node.op->name())
                                         : std::string(kind_name(node));
      out_ += attributes(node) + "(";
    }
    list(node.inputs, false);
    out_ += ")";
    if (node.range.source && !node.is_terminator()) {
      out_ += concat(" # ", node.range.source->name(), ":",
                     node.range.line_number());
    }
    out_ += "\n";
    for (size_t i = 0; i < node.blocks.size(); ++i) {
      out_.append(2 * depth + 2, ' ');
      out_ += concat("block", i, "(");
      list(node.blocks[i]->params, true);
      out_ += "):\n";
      nodes(*node.blocks[i], depth + 2);
    }
  }

  static std::string attributes(const Node& node) {
    switch (node.kind) {
      case NodeKind::kConstant:
        if (node.value.is_none()) return "";
        if (node.value.is_string())
          return concat("[value=\"", node.value.as_string(), "\"]");
        return concat("[value=", value_text(node.value), "]");
      case NodeKind::kGetAttr:
      case NodeKind::kSetAttr:
      case NodeKind::kCallMethod:
        return concat("[name=\"", node.name, "\"]");
      case NodeKind::kCall:
        return concat("[name=\"", node.callee->short_name(), "\"]");
      case NodeKind::kTupleIndex:
        return concat("[index=", node.index, "]");
      default:
        return "";
    }
  }

  std::string out_;
};

}  // namespace

std::string Graph::str() const {
  return Printer().print(*this);
}

}  // namespace hotaru::script
