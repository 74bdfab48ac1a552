#include "hotaru/exchange/pt2/tree_text.h"

#include "hotaru/core/checks/check.h"
#include "hotaru/script/archive/literal.h"

namespace hotaru::exchange::pt2 {

using Tree = TreeSpec::Kind;

std::string leaf_type(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::kNone:
      return "NoneType";
    case Argument::Kind::kTensor:
      return "Tensor";
    case Argument::Kind::kInt:
    case Argument::Kind::kSymInt:
      return "int";
    case Argument::Kind::kFloat:
    case Argument::Kind::kSymFloat:
      return "float";
    case Argument::Kind::kBool:
    case Argument::Kind::kSymBool:
      return "bool";
    case Argument::Kind::kString:
      return "str";
    case Argument::Kind::kComplex:
      return "complex";
    default:
      fail(
          "an argument or result of the program is of a kind that is not "
          "supported");
  }
}

size_t leaf_count(const TreeSpec& tree) {
  if (tree.kind == Tree::kLeaf) return 1;
  size_t count = 0;
  for (const TreeSpec& child : tree.children) count += leaf_count(child);
  return count;
}

std::optional<std::string> tree_type(const TreeSpec& tree,
                                     const std::vector<std::string>& types,
                                     size_t& next) {
  if (tree.kind == Tree::kLeaf) return types.at(next++);
  if (tree.kind == Tree::kOther || tree.children.empty()) return {};
  std::string all;
  std::optional<std::string> first;
  for (const TreeSpec& child : tree.children) {
    const std::optional<std::string> type = tree_type(child, types, next);
    if (!type) return {};
    if (!first) first = type;
    if (tree.kind != Tree::kTuple && type != first) return {};
    all += concat(all.empty() ? "" : ", ", *type);
  }
  if (tree.kind == Tree::kTuple) return concat("Tuple[", all, "]");
  if (tree.kind == Tree::kList) return concat("List[", *first, "]");
  return concat("Dict[str, ", *first, "]");
}

void unpack(const TreeSpec& tree, const std::string& value, GraphText& body,
            std::vector<std::string>& leaves) {
  if (tree.kind == Tree::kLeaf) {
    leaves.push_back(value);
    return;
  }
  const size_t count = tree.children.size();
  if (tree.kind != Tree::kTuple) {
    body.open(concat("if len(", value, ") != ", count, ":"));
    body.line(concat("raise RuntimeError(",
                     script::quoted(concat("Expected ", value, " to have ",
                                           count, " elements")),
                     ")"));
    body.close();
  }
  for (size_t i = 0; i < count; ++i) {
    const std::string index =
        tree.kind == Tree::kDict ? script::quoted(tree.keys[i]) : concat(i);
    unpack(tree.children[i], concat(value, "[", index, "]"), body, leaves);
  }
}

std::string pack(const TreeSpec& tree, const std::vector<std::string>& leaves,
                 size_t& next) {
  if (tree.kind == Tree::kLeaf) return leaves.at(next++);
  std::string items;
  for (size_t i = 0; i < tree.children.size(); ++i) {
    items += i > 0 ? ", " : "";
    if (tree.kind == Tree::kDict)
      items += concat(script::quoted(tree.keys[i]), ": ");
    items += pack(tree.children[i], leaves, next);
  }
  switch (tree.kind) {
    case Tree::kTuple:
      return concat("(", items, tree.children.size() == 1 ? ",)" : ")");
    case Tree::kList:
      return concat("[", items, "]");
    default:
      return concat("{", items, "}");
  }
}

}  // namespace hotaru::exchange::pt2
