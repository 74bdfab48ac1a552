#include "hotaru/script/types/type.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "hotaru/core/checks/check.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::script {

namespace {

struct NamedKind {
  TypeKind kind;
  const char* annotation;
  const char* graph;
};

constexpr std::array<NamedKind, 13> kPlain = {{
    {TypeKind::kAny, "Any", "Any"},
    {TypeKind::kNone, "NoneType", "NoneType"},
    {TypeKind::kBool, "bool", "bool"},
    {TypeKind::kInt, "int", "int"},
    {TypeKind::kFloat, "float", "float"},
    {TypeKind::kComplex, "complex", "complex"},
    {TypeKind::kNumber, "number", "Scalar"},
    {TypeKind::kString, "str", "str"},
    {TypeKind::kTensor, "Tensor", "Tensor"},
    {TypeKind::kDevice, "Device", "Device"},
    {TypeKind::kGenerator, "Generator", "Generator"},
    {TypeKind::kStorage, "Storage", "Storage"},
    {TypeKind::kAnyEnum, "AnyEnumType", "AnyEnumType"},
}};

const std::array<Type, kPlain.size()>& plain_types() {
  // Never destroyed: workers may use them while the process exits.
  static const auto& types = *[] {
    std::array<Type, kPlain.size()> out;
    for (size_t i = 0; i < kPlain.size(); ++i) out[i].kind = kPlain[i].kind;
    return new auto(std::move(out));
  }();
  return types;
}

TypePtr plain(TypeKind kind) {
  return &plain_types()[size_t(kind)];
}

template <class F>
std::string join(const std::vector<TypePtr>& items, F print) {
  std::string out;
  for (TypePtr item : items) {
    if (!out.empty()) out += ", ";
    out += print(item);
  }
  return out;
}

// Place of a type among those of a Union, as PyTorch sorts them.
int union_place(TypePtr type) {
  constexpr TypeKind kOrder[] = {
      TypeKind::kAny,      TypeKind::kEnum,      TypeKind::kAnyEnum,
      TypeKind::kTensor,   TypeKind::kStorage,   TypeKind::kTuple,
      TypeKind::kList,     TypeKind::kDict,      TypeKind::kNumber,
      TypeKind::kFloat,    TypeKind::kComplex,   TypeKind::kFuture,
      TypeKind::kAwait,    TypeKind::kInt,       TypeKind::kNone,
      TypeKind::kString,   TypeKind::kGenerator, TypeKind::kBool,
      TypeKind::kOptional, TypeKind::kVar,       TypeKind::kDevice};
  return int(std::find(std::begin(kOrder), std::end(kOrder), type->kind) -
             std::begin(kOrder));
}

// Reads the type language of schemas.
class SchemaTypes {
 public:
  SchemaTypes(TypeTable& table, std::string_view text)
      : table_(table), text_(text) {}

  TypePtr all() {
    TypePtr type = read();
    if (pos_ != text_.size()) malformed();
    return type;
  }

 private:
  TypePtr read() {
    skip();
    TypePtr type;
    if (accept('('))
      type = table_.tuple(list());
    else
      type = base();
    for (;;) {
      if (accept('[')) {
        while (pos_ < text_.size() && text_[pos_] != ']') ++pos_;
        if (!accept(']')) malformed();
        type = table_.list(type);
      } else if (accept('?')) {
        type = table_.optional(type);
      } else {
        return type;
      }
    }
  }

  TypePtr base() {
    size_t begin = pos_;
    while (pos_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[pos_])) ||
            text_[pos_] == '_' || text_[pos_] == '.'))
      ++pos_;
    std::string_view name = text_.substr(begin, pos_ - begin);
    if (name.empty()) malformed();
    if (accept('(')) {
      if (name == "Dict") {
        std::vector<TypePtr> items = list();
        if (items.size() == 2) return table_.dict(items[0], items[1]);
      } else if (name == "Tuple") {
        return table_.tuple(list());
      } else if (name == "Future") {
        std::vector<TypePtr> items = list();
        if (items.size() == 1) return table_.future(items[0]);
      } else if (name == "Await") {
        std::vector<TypePtr> items = list();
        if (items.size() == 1) return table_.awaited(items[0]);
      } else {  // an alias mark such as Tensor(a!)
        while (pos_ < text_.size() && !accept(')')) ++pos_;
        return named(name);
      }
      malformed();
    }
    return named(name);
  }

  TypePtr named(std::string_view name) {
    for (const NamedKind& entry : kPlain)
      if (name == entry.annotation || name == entry.graph)
        return plain(entry.kind);
    constexpr std::string_view kIntegers[] = {"SymInt", "ScalarType", "Layout",
                                              "MemoryFormat"};
    for (std::string_view integer : kIntegers)
      if (name == integer) return TypeTable::integer();
    if (name.starts_with("__torch__."))
      if (TypePtr found = table_.find_class(name)) return found;
    return table_.variable(std::string(name));
  }

  // The items up to the closing parenthesis.
  std::vector<TypePtr> list() {
    std::vector<TypePtr> items;
    while (!accept(')')) {
      items.push_back(read());
      if (!accept(',') && (pos_ >= text_.size() || text_[pos_] != ')'))
        malformed();
    }
    return items;
  }

  void skip() {
    while (pos_ < text_.size() && text_[pos_] == ' ') ++pos_;
  }
  bool accept(char c) {
    skip();
    if (pos_ >= text_.size() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }
  [[noreturn]] void malformed() const {
    fail<ValueError>("malformed type '", text_, "' in an operator's schema");
  }

  TypeTable& table_;
  std::string_view text_;
  size_t pos_ = 0;
};

}  // namespace

std::string Type::annotation() const {
  auto print = [](TypePtr type) { return type->annotation(); };
  switch (kind) {
    case TypeKind::kOptional: {
      if (item()->kind != TypeKind::kUnion)
        return "Optional[" + item()->annotation() + "]";
      std::vector<TypePtr> all = item()->items;
      const auto after =
          std::find_if(all.begin(), all.end(), [](TypePtr other) {
            return union_place(other) > union_place(TypeTable::none());
          });
      all.insert(after, TypeTable::none());
      return "Union[" + join(all, print) + "]";
    }
    case TypeKind::kList:
      return "List[" + item()->annotation() + "]";
    case TypeKind::kFuture:
      return "Future[" + item()->annotation() + "]";
    case TypeKind::kAwait:
      return "Await[" + item()->annotation() + "]";
    case TypeKind::kDict:
      return "Dict[" + join(items, print) + "]";
    case TypeKind::kUnion:
      return "Union[" + join(items, print) + "]";
    case TypeKind::kTuple:
      if (!name.empty()) return name;
      return items.empty() ? "Tuple[()]" : "Tuple[" + join(items, print) + "]";
    case TypeKind::kClass:
      return cls->name();
    case TypeKind::kEnum:
      return enumeration->name;
    case TypeKind::kVar:
      return name;
    default:
      return kPlain[size_t(kind)].annotation;
  }
}

std::string Type::str() const {
  auto print = [](TypePtr type) { return type->str(); };
  switch (kind) {
    case TypeKind::kOptional:
      return item()->str() + "?";
    case TypeKind::kList:
      return item()->str() + "[]";
    case TypeKind::kFuture:
      return "Future(" + item()->str() + ")";
    case TypeKind::kAwait:
      return "Await(" + item()->str() + ")";
    case TypeKind::kDict:
      return "Dict(" + join(items, print) + ")";
    case TypeKind::kUnion:
      return "Union(" + join(items, print) + ")";
    case TypeKind::kTuple:
      return name.empty() ? "(" + join(items, print) + ")" : name;
    case TypeKind::kClass:
      return cls->name();
    case TypeKind::kEnum:
      return "Enum<" + enumeration->name + ">";
    case TypeKind::kVar:
      return name;
    default:
      return kPlain[size_t(kind)].graph;
  }
}

TypePtr TypeTable::any() {
  return plain(TypeKind::kAny);
}
TypePtr TypeTable::none() {
  return plain(TypeKind::kNone);
}
TypePtr TypeTable::boolean() {
  return plain(TypeKind::kBool);
}
TypePtr TypeTable::integer() {
  return plain(TypeKind::kInt);
}
TypePtr TypeTable::floating() {
  return plain(TypeKind::kFloat);
}
TypePtr TypeTable::complex() {
  return plain(TypeKind::kComplex);
}
TypePtr TypeTable::number() {
  return plain(TypeKind::kNumber);
}
TypePtr TypeTable::string() {
  return plain(TypeKind::kString);
}
TypePtr TypeTable::tensor() {
  return plain(TypeKind::kTensor);
}
TypePtr TypeTable::device() {
  return plain(TypeKind::kDevice);
}
TypePtr TypeTable::generator() {
  return plain(TypeKind::kGenerator);
}
TypePtr TypeTable::storage() {
  return plain(TypeKind::kStorage);
}
TypePtr TypeTable::any_enum() {
  return plain(TypeKind::kAnyEnum);
}

// Names alone don't tell classes and named tuples apart, so that types of one
// text are compared member by member.
TypePtr TypeTable::intern(Type type) {
  constexpr size_t kMaxWeight = 20000;
  for (TypePtr item : type.items) type.weight += item->weight;
  HOTARU_CHECK(type.weight <= kMaxWeight, "a type is made of more than ",
               kMaxWeight, " types");
  std::string key = type.str();
  auto& same_text = by_key_[key];
  for (TypePtr other : same_text)
    if (other->kind == type.kind && other->items == type.items &&
        other->cls == type.cls && other->enumeration == type.enumeration &&
        other->fields == type.fields &&
        other->defaults.size() == type.defaults.size())
      return other;
  types_.push_back(std::move(type));
  same_text.push_back(&types_.back());
  return &types_.back();
}

TypePtr TypeTable::optional(TypePtr item) {
  if (item->kind == TypeKind::kOptional || item->kind == TypeKind::kNone ||
      item->kind == TypeKind::kAny)
    return item;
  return intern({.kind = TypeKind::kOptional, .items = {item}});
}

TypePtr TypeTable::list(TypePtr item) {
  return intern({.kind = TypeKind::kList, .items = {item}});
}

TypePtr TypeTable::dict(TypePtr key, TypePtr value) {
  HOTARU_CHECK(key->kind != TypeKind::kEnum && key->kind != TypeKind::kUnion,
               "Cannot create dict for key type '", key->str(),
               "', only int, float, complex, Tensor, device and string keys "
               "are supported");
  return intern({.kind = TypeKind::kDict, .items = {key, value}});
}

TypePtr TypeTable::tuple(std::vector<TypePtr> items) {
  return intern({.kind = TypeKind::kTuple, .items = std::move(items)});
}

TypePtr TypeTable::named_tuple(std::string name,
                               std::vector<std::string> fields,
                               std::vector<TypePtr> items,
                               std::vector<Value> defaults) {
  return intern({.kind = TypeKind::kTuple,
                 .items = std::move(items),
                 .name = std::move(name),
                 .fields = std::move(fields),
                 .defaults = std::move(defaults)});
}

TypePtr TypeTable::future(TypePtr item) {
  return intern({.kind = TypeKind::kFuture, .items = {item}});
}

TypePtr TypeTable::awaited(TypePtr item) {
  return intern({.kind = TypeKind::kAwait, .items = {item}});
}

TypePtr TypeTable::union_of(std::vector<TypePtr> items) {
  std::vector<TypePtr> flat;
  bool with_none = false;
  auto add = [&](TypePtr item) {
    if (item->kind == TypeKind::kNone)
      with_none = true;
    else if (std::find(flat.begin(), flat.end(), item) == flat.end())
      flat.push_back(item);
  };
  for (TypePtr item : items) {
    if (item->kind == TypeKind::kUnion) {
      for (TypePtr inner : item->items) add(inner);
    } else if (item->kind == TypeKind::kOptional) {
      with_none = true;
      add(item->item());
    } else {
      add(item);
    }
  }
  if (flat.empty()) return none();
  // Types that another one holds already say nothing.
  for (size_t i = flat.size(); i-- > 0;) {
    const bool held = std::any_of(flat.begin(), flat.end(), [&](TypePtr other) {
      return other != flat[i] && other->kind != TypeKind::kNumber &&
             is_subtype(flat[i], other);
    });
    if (held) flat.erase(flat.begin() + std::ptrdiff_t(i));
  }
  std::stable_sort(flat.begin(), flat.end(), [](TypePtr a, TypePtr b) {
    return union_place(a) < union_place(b);
  });
  TypePtr result =
      flat.size() == 1
          ? flat[0]
          : intern({.kind = TypeKind::kUnion, .items = std::move(flat)});
  return with_none ? optional(result) : result;
}

TypePtr TypeTable::class_type(ClassType* cls) {
  return intern({.kind = TypeKind::kClass, .cls = cls});
}

TypePtr TypeTable::enumeration(const Ref<EnumType>& type) {
  TypePtr out = intern({.kind = TypeKind::kEnum, .enumeration = type.get()});
  bool kept = std::any_of(kept_.begin(), kept_.end(), [&](const auto& known) {
    return known.get() == type.get();
  });
  if (!kept) kept_.push_back(type);
  return out;
}

TypePtr TypeTable::variable(std::string name) {
  return intern({.kind = TypeKind::kVar, .name = std::move(name)});
}

TypePtr TypeTable::parse_schema(std::string_view text) {
  return SchemaTypes(*this, text).all();
}

bool has_variables(TypePtr type) {
  return type->kind == TypeKind::kVar ||
         std::any_of(type->items.begin(), type->items.end(), has_variables);
}

// True if the types differ in nothing but the fields of operators' results.
static bool alike(TypePtr a, TypePtr b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->name != b->name || a->cls != b->cls ||
      a->enumeration != b->enumeration || a->items.empty() ||
      a->items.size() != b->items.size() ||
      (!a->name.empty() && a->fields != b->fields))
    return false;
  for (size_t i = 0; i < a->items.size(); ++i)
    if (!alike(a->items[i], b->items[i])) return false;
  return true;
}

bool is_subtype(TypePtr from, TypePtr to) {
  if (from == to || to->kind == TypeKind::kAny) return true;
  if (from->kind == TypeKind::kUnion) {
    return std::all_of(from->items.begin(), from->items.end(),
                       [&](TypePtr item) { return is_subtype(item, to); });
  }
  switch (to->kind) {
    case TypeKind::kOptional:
      if (from->kind == TypeKind::kNone) return true;
      if (from->kind == TypeKind::kOptional)
        return is_subtype(from->item(), to->item());
      return is_subtype(from, to->item());
    case TypeKind::kUnion:
      return std::any_of(to->items.begin(), to->items.end(),
                         [&](TypePtr item) { return is_subtype(from, item); });
    case TypeKind::kAnyEnum:
      return from->kind == TypeKind::kEnum;
    case TypeKind::kNumber:
      return from->kind == TypeKind::kInt || from->kind == TypeKind::kFloat ||
             from->kind == TypeKind::kComplex;
    case TypeKind::kTuple: {
      if (from->kind != TypeKind::kTuple || !to->name.empty() ||
          from->items.size() != to->items.size())
        return false;
      for (size_t i = 0; i < to->items.size(); ++i)
        if (!is_subtype(from->items[i], to->items[i])) return false;
      return true;
    }
    case TypeKind::kFuture:
    case TypeKind::kAwait:
      return from->kind == to->kind && is_subtype(from->item(), to->item());
    case TypeKind::kList:
    case TypeKind::kDict:
      return alike(from, to);
    case TypeKind::kClass:
      return from->kind == TypeKind::kClass && to->cls->is_interface() &&
             from->cls->implements(*to->cls);
    default:
      return false;
  }
}

TypePtr unify(TypeTable& types, TypePtr a, TypePtr b) {
  if (is_subtype(a, b)) return b;
  if (is_subtype(b, a)) return a;
  if (a->kind == TypeKind::kNone) return types.optional(b);
  if (b->kind == TypeKind::kNone) return types.optional(a);
  if (a->kind == TypeKind::kOptional || b->kind == TypeKind::kOptional) {
    TypePtr plain_a = a->kind == TypeKind::kOptional ? a->item() : a;
    TypePtr plain_b = b->kind == TypeKind::kOptional ? b->item() : b;
    TypePtr item = unify(types, plain_a, plain_b);
    return item ? types.optional(item) : nullptr;
  }
  if (a->kind == TypeKind::kTuple && b->kind == TypeKind::kTuple &&
      a->items.size() == b->items.size()) {
    std::vector<TypePtr> items;
    for (size_t i = 0; i < a->items.size(); ++i) {
      TypePtr item = unify(types, a->items[i], b->items[i]);
      if (!item) return nullptr;
      items.push_back(item);
    }
    return types.tuple(std::move(items));
  }
  return nullptr;
}

}  // namespace hotaru::script
