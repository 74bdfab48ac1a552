#include "hotaru/script/passes/freeze.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "hotaru/autograd/node.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/script/archive/source_printer.h"
#include "hotaru/script/compile/constant.h"
#include "hotaru/script/passes/origins.h"
#include "hotaru/script/passes/passes.h"
#include "hotaru/script/program/class_type.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/types/enum_type.h"

namespace hotaru::script {

namespace {

bool is_module(const Value& value) {
  const ClassType* cls = class_of(value);
  return cls && cls->is_module();
}

// True for what cannot change behind the code's back, or is a tensor.
bool can_be_constant(const Value& value) {
  if (value.is_tuple()) {
    const std::vector<Value>& items = value.as_tuple().items;
    return std::all_of(items.begin(), items.end(), can_be_constant);
  }
  return !value.is_list() && !value.is_dict() &&
         (!value.is_instance() || enum_of(value)) && !value.is_object();
}

struct Method {
  Function* function;
  std::unique_ptr<Graph> graph;
};

// A module of the tree, and its class in the frozen program.
struct Frozen {
  InstanceObject* object;
  ClassType* cls;
  std::string name;
  std::deque<Method> methods;
  std::set<int> kept;  // slots that stay attributes, modules included

  bool has(const Function* function) const {
    return std::any_of(methods.begin(), methods.end(),
                       [&](const Method& m) { return m.function == function; });
  }
};

// An attribute that code reads.
struct Read {
  Graph* graph;
  Node* node;
  Frozen* module;
};

class Freezer {
 public:
  Freezer(const Module& root, const Rewrite& rewrite)
      : old_unit_(root.type().unit()), printer_(old_unit_), rewrite_(rewrite) {
    printer_.leave_out_modules();
    root_ = &frozen_of(*root.object());
  }

  Module run(const std::vector<std::string>& preserved) {
    if (root_->cls->find_method("forward")) add_method(*root_, "forward");
    for (auto time :
         {ClassType::HookTime::kBefore, ClassType::HookTime::kAfter})
      for (const Function* hook : root_->cls->hooks(time))
        add_method(*root_, hook->short_name());
    for (const std::string& name : preserved) preserve(name);
    while (next_ < work_.size()) {
      auto [frozen, method] = work_[next_++];
      Known known = {{method->graph->top().params[0], frozen}};
      find_modules(*method->graph, method->graph->top(), known);
      keep_written(known);
    }
    keep_shared();
    for (const Read& read : reads_) replace(read);
    for (Frozen& frozen : all_) {
      for (Method& method : frozen.methods) {
        ask_constants(*method.graph, method.graph->top());
        simplify(*method.graph);
        if (!rewrite_) continue;
        rewrite_(*method.graph);
        simplify(*method.graph);
      }
    }
    for (auto [frozen, method] : work_) {
      Known known = {{method->graph->top().params[0], frozen}};
      keep_modules(method->graph->top(), known);
    }
    return build();
  }

 private:
  // "name", or "sub.name" of what a submodule shall keep.
  void preserve(std::string_view name) {
    Frozen* module = root_;
    std::string_view rest = name;
    for (size_t dot; (dot = rest.find('.')) != std::string_view::npos;) {
      int slot = module->cls->find_attribute(rest.substr(0, dot));
      const Value* value =
          slot < 0 ? nullptr : &module->object->slots[size_t(slot)];
      HOTARU_CHECK(value && is_module(*value), "Unknown name: ", name);
      module->kept.insert(slot);
      module = &frozen_of(value->as_instance());
      rest.remove_prefix(dot + 1);
    }
    if (module->cls->find_method(rest)) return add_method(*module, rest);
    int slot = module->cls->find_attribute(rest);
    HOTARU_CHECK(slot >= 0 || module->cls->find_constant(rest),
                 "Unknown name: ", name);
    if (slot < 0) return;
    module->kept.insert(slot);
    const Value& value = module->object->slots[size_t(slot)];
    if (is_module(value)) preserve_all(frozen_of(value.as_instance()));
  }

  // The module as it is, with all its attributes and methods.
  void preserve_all(Frozen& module) {
    for (const auto& [name, function] : module.cls->methods())
      add_method(module, name);
    for (size_t slot = 0; slot < module.object->slots.size(); ++slot) {
      const Value& value = module.object->slots[slot];
      if (!module.kept.insert(int(slot)).second) continue;
      if (is_module(value)) preserve_all(frozen_of(value.as_instance()));
    }
  }

  Frozen& frozen_of(InstanceObject& object) {
    auto found = by_object_.find(&object);
    if (found != by_object_.end()) return *found->second;
    ClassType* cls = class_of(Value(Ref<InstanceObject>(&object)));
    HOTARU_CHECK(&cls->unit() == &old_unit_,
                 "jit.freeze: the submodule of "
                 "class '",
                 cls->name(), "' belongs to another program");
    size_t dot = cls->name().rfind('.');
    std::string name = concat(cls->name().substr(0, dot), ".___torch_mangle_",
                              all_.size(), cls->name().substr(dot));
    Frozen& frozen = all_.emplace_back(Frozen{&object, cls, name, {}, {}});
    by_object_[&object] = &frozen;
    return frozen;
  }

  void add_method(Frozen& frozen, std::string_view name) {
    Function* function = frozen.cls->find_method(name);
    HOTARU_CHECK(function, "jit.freeze: '", frozen.cls->name(),
                 "' has no method '", name, "'");
    if (frozen.has(function)) return;
    Method& method = frozen.methods.emplace_back(
        Method{function, function->compile_again()});
    // Functions that it calls become part of the method, so that submodules are
    // needed only where something of them stays.
    inline_calls(*method.graph);
    simplify(*method.graph);
    work_.emplace_back(&frozen, &method);
  }

  using Known = std::map<const Var*, Frozen*>;

  // Follows modules from attribute to attribute, notes which attributes are
  // read and which are assigned, and which methods are called.
  void find_modules(Graph& graph, Block& block, Known& known) {
    for (Node* node = block.first; node;) {
      Node* next = node->next;
      visit(graph, *node, known);
      for (Block* inner : node->blocks) find_modules(graph, *inner, known);
      node = next;
    }
  }

  void visit(Graph& graph, Node& node, Known& known) {
    auto of = [&](size_t i) -> Frozen* {
      auto found = known.find(node.in(i));
      return found == known.end() ? nullptr : found->second;
    };
    Frozen* self = node.inputs.empty() ? nullptr : of(0);
    bool takes_self = false;
    switch (node.kind) {
      case NodeKind::kGetAttr:
        if (self) read(graph, node, *self, known);
        takes_self = true;
        break;
      case NodeKind::kSetAttr:
        if (self) self->kept.insert(int(node.index));
        takes_self = true;
        break;
      case NodeKind::kOp:
        writers_.push_back(&node);
        break;
      case NodeKind::kCast:
        // To an interface: the module's own class says more.
        if (self) graph.replace_uses(node.out(), node.in(0));
        takes_self = true;
        break;
      case NodeKind::kCall:
        writers_.push_back(&node);
        takes_self = node.callee->owner() && node.callee->owner()->is_module();
        if (self && takes_self) {
          add_method(*self, node.callee->short_name());
          HOTARU_CHECK(self->has(node.callee), "jit.freeze: '",
                       node.callee->name(), "' is not the method of that name");
        }
        break;
      case NodeKind::kCallMethod:
        writers_.push_back(&node);
        takes_self = true;
        if (self) add_method(*self, node.name);
        break;
      case NodeKind::kFork: {
        writers_.push_back(&node);
        Graph& body = node.callee->graph();
        for (size_t i = 0; i < node.inputs.size(); ++i)
          if (Frozen* module = of(i)) known[body.top().params[i]] = module;
        find_modules(body, body.top(), known);
        return;
      }
      default:
        break;
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      bool fine = i == 0 && takes_self;
      if (of(i) && !fine && node.kind == NodeKind::kSetAttr) {
        fail_at(node.range,
                "Freezing does not support SetAttr on an interface type");
      }
      if (of(i) == root_ && node.kind == NodeKind::kReturn)
        fail_at(node.range, "attempted to freeze a module that return itself");
      if (of(i) && !fine) {
        fail_at(node.range,
                "jit.freeze: a module that is handed about other "
                "than to call its methods is not supported");
      }
    }
  }

  // Attributes whose memory the code may write to.
  void keep_written(const Known& known) {
    std::set<const Var*> written;
    for (const Node* node : writers_) add_written(*node, written);
    writers_.clear();
    for (const Var* var : written) {
      const Node* get = var->producer;
      if (!get || get->kind != NodeKind::kGetAttr) continue;
      auto module = known.find(get->in(0));
      if (module == known.end()) continue;
      module->second->kept.insert(
          module->second->cls->find_attribute(get->name));
    }
  }

  // Attributes that share memory with one that stays, stay, too.
  void keep_shared() {
    std::set<const void*> kept;
    for (bool more = true; more;) {
      more = false;
      for (Frozen& frozen : all_)
        for (int slot : frozen.kept)
          add_memory(frozen.object->slots[size_t(slot)], kept);
      for (const Read& read : reads_) {
        int slot = read.module->cls->find_attribute(read.node->name);
        if (read.module->kept.contains(slot)) continue;
        std::set<const void*> own;
        add_memory(read.module->object->slots[size_t(slot)], own);
        bool shares = std::any_of(own.begin(), own.end(), [&](const void* p) {
          return kept.contains(p);
        });
        if (shares) more |= read.module->kept.insert(slot).second;
      }
    }
  }

  // Storages, lists, dicts and objects that the value holds, no modules.
  static void add_memory(const Value& value, std::set<const void*>& found) {
    auto each = [&](const std::vector<Value>& items) {
      for (const Value& item : items) add_memory(item, found);
    };
    if (is_module(value)) return;
    if (value.is_tensor()) {
      const Tensor& tensor = value.tensor_ref();
      if (tensor.defined()) found.insert(tensor.storage().get());
    } else if (value.is_tuple()) {
      each(value.as_tuple().items);
    } else if (value.is_list()) {
      if (found.insert(&value.as_list()).second) each(value.as_list().items);
    } else if (value.is_dict()) {
      if (!found.insert(&value.as_dict()).second) return;
      for (const auto& [key, item] : value.as_dict().items)
        add_memory(item, found);
    } else if (value.is_instance()) {
      if (enum_of(value) || !found.insert(&value.as_instance()).second) return;
      each(value.as_instance().slots);
    }
  }

  void read(Graph& graph, Node& node, Frozen& self, Known& known) {
    int slot = self.cls->find_attribute(node.name);
    HOTARU_CHECK(slot >= 0, "jit.freeze: '", self.cls->name(),
                 "' has no attribute '", node.name, "'");
    const Value& value = self.object->slots[size_t(slot)];
    if (is_module(value)) {
      known[node.out()] = &frozen_of(value.as_instance());
    } else {
      if (!can_be_constant(value)) self.kept.insert(slot);
      reads_.push_back({&graph, &node, &self});
    }
  }

  // The modules that the finished code still reads.
  void keep_modules(Block& block, Known& known) {
    for (Node* node = block.first; node; node = node->next) {
      auto found = node->inputs.empty() ? known.end() : known.find(node->in(0));
      if (node->kind == NodeKind::kGetAttr && found != known.end()) {
        Frozen& self = *found->second;
        int slot = self.cls->find_attribute(node->name);
        const Value& value = self.object->slots[size_t(slot)];
        if (is_module(value)) {
          self.kept.insert(slot);
          known[node->out()] = &frozen_of(value.as_instance());
        }
      }
      if (node->kind == NodeKind::kFork) {
        Block& body = node->callee->graph().top();
        for (size_t i = 0; i < node->inputs.size(); ++i) {
          auto module = known.find(node->in(i));
          if (module != known.end()) known[body.params[i]] = module->second;
        }
        keep_modules(body, known);
      }
      for (Block* inner : node->blocks) keep_modules(*inner, known);
    }
  }

  // Answers vain questions to constant tensors, which nothing could change.
  static void ask_constants(Graph& graph, Block& block) {
    for (Node* node = block.first; node; node = node->next) {
      for (Block* inner : node->blocks) ask_constants(graph, *inner);
      if (node->kind != NodeKind::kOp || node->inputs.size() != 1) continue;
      const Value* of = node->constant(0);
      if (!of || !of->is_tensor() || !of->tensor_ref().defined()) continue;
      const auto& uses = node->in(0)->uses;
      if (std::any_of(uses.begin(), uses.end(), [](const Var::Use& use) {
            return has_side_effects(*use.node);  // which may be resize_
          }))
        continue;
      const std::string_view asked = node->op->name();
      Value answer;
      if (asked == "dim")
        answer = of->tensor_ref().dim();
      else if (asked == "dtype")
        answer = int64_t(of->tensor_ref().dtype());
      else if (asked == "is_floating_point")
        answer = is_floating_point(of->tensor_ref().dtype());
      else
        continue;
      graph.remove_input(node, 0);
      node->kind = NodeKind::kConstant;
      node->op = nullptr;
      node->value = std::move(answer);
    }
  }

  // An attribute that nobody assigns, by its value.
  void replace(const Read& read) {
    Frozen& self = *read.module;
    int slot = self.cls->find_attribute(read.node->name);
    if (self.kept.count(slot)) return;
    Value value = self.object->slots[size_t(slot)];
    if (value.is_tensor()) value = detach(value.tensor_ref());
    read.graph->remove_input(read.node, 0);
    read.node->kind = NodeKind::kConstant;
    read.node->value =
        constants_.try_emplace({&self, slot}, value).first->second;
  }

  std::string type_of_slot(const Frozen& frozen, int slot) {
    const Value& value = frozen.object->slots[size_t(slot)];
    if (is_module(value)) return frozen_of(value.as_instance()).name;
    return printer_.type_text(frozen.cls->attributes()[size_t(slot)].type);
  }

  std::string print(const Frozen& frozen) {
    std::string parameters, buffers, attributes;
    for (int slot : frozen.kept) {
      const Attribute& attribute = frozen.cls->attributes()[size_t(slot)];
      if (attribute.is_parameter) parameters += quoted_item(attribute.name);
      if (attribute.is_buffer) buffers += quoted_item(attribute.name);
      attributes += attribute_line(attribute.name, type_of_slot(frozen, slot));
    }
    std::string text =
        concat("class ", frozen.name.substr(frozen.name.rfind('.') + 1),
               "(Module):\n  __parameters__ = [", parameters,
               "]\n  __buffers__ = [", buffers, "]\n",
               &frozen == root_ ? SourcePrinter::hook_lines(*frozen.cls) : "",
               attributes, printer_.constant_lines(*frozen.cls));
    for (const Method& method : frozen.methods) {
      text += print_graph(*method.function, *method.graph, frozen.name,
                          printer_, 2);
    }
    return text;
  }

  Module build() {
    // By index: printing adds no module, but a kept one may have no reads yet.
    for (size_t i = 0; i < all_.size(); ++i) {
      for (int slot : all_[i].kept) {
        const Value& value = all_[i].object->slots[size_t(slot)];
        if (is_module(value)) frozen_of(value.as_instance());
      }
    }
    for (const Frozen& frozen : all_)
      printer_.add_class(frozen.name, [&] { return print(frozen); });
    std::map<std::string, std::string> texts = printer_.print();
    auto unit = CompilationUnit::create();
    unit->set_constants(printer_.constants());
    for (auto& [module, text] : texts)
      unit->define(std::make_unique<Source>(module, std::move(text)), module);
    std::unordered_map<const void*, Value> copies;
    std::vector<Ref<InstanceObject>> made;
    for (const Frozen& frozen : all_) {
      made.push_back(make_instance(*unit->find_type(frozen.name)->cls));
      copies[frozen.object] = made.back();
    }
    for (size_t i = 0; i < all_.size(); ++i) {
      size_t next = 0;  // attributes are declared in the order of `kept`
      for (int slot : all_[i].kept) {
        made[i]->slots[next++] =
            copy(all_[i].object->slots[size_t(slot)], *unit, copies);
      }
    }
    return Module(made[0]);
  }

  // Tensors over one storage become tensors over one copy of it.
  static Tensor copied(const Tensor& tensor,
                       std::unordered_map<const void*, Value>& copies) {
    const Ref<Storage>& storage = tensor.storage();
    auto [found, added] = copies.try_emplace(storage.get());
    if (added) {
      const int64_t size[] = {int64_t(storage->nbytes())};
      const int64_t step[] = {1};
      const Tensor whole = make_tensor(storage, DType::kUInt8, size, step, 0);
      found->second = clone(whole);
    }
    return make_tensor(found->second.tensor_ref().storage(), tensor.dtype(),
                       tensor.sizes(), tensor.strides(),
                       tensor.storage_offset());
  }

  // The same value in the new program; what is shared stays shared.
  static Value copy(const Value& value, CompilationUnit& unit,
                    std::unordered_map<const void*, Value>& copies) {
    auto shared = [&](const void* key, auto make) {
      auto found = copies.find(key);
      if (found != copies.end()) return found->second;
      return make();
    };
    auto each = [&](const std::vector<Value>& from, std::vector<Value>& to) {
      for (const Value& item : from) to.push_back(copy(item, unit, copies));
    };
    switch (value.tag()) {
      case Value::Tag::kTensor:
        return shared(value.tensor_ref().impl(), [&] {
          Tensor out = copied(value.tensor_ref(), copies);
          if (autograd::requires_grad(value.tensor_ref()))
            autograd::set_requires_grad(out, true);
          return copies[value.tensor_ref().impl()] = out;
        });
      case Value::Tag::kList:
        return shared(&value.as_list(), [&] {
          Value out = copies[&value.as_list()] = Value::list({});
          each(value.as_list().items, out.as_list().items);
          return out;
        });
      case Value::Tag::kTuple: {
        std::vector<Value> items;
        each(value.as_tuple().items, items);
        return Value::tuple(std::move(items));
      }
      case Value::Tag::kDict:
        return shared(&value.as_dict(), [&] {
          auto dict = make_ref<DictObject>();
          Value out = copies[&value.as_dict()] = dict;
          for (const auto& [key, item] : value.as_dict().items)
            dict->set(copy(key, unit, copies), copy(item, unit, copies));
          return out;
        });
      case Value::Tag::kInstance:
        if (const EnumType* own = enum_of(value)) {
          Value out = value;
          TypePtr type = unit.find_type(own->name);
          if (type && convert_value(out, type)) return out;
        }
        return shared(&value.as_instance(), [&] {
          const ClassType* cls = class_of(value);
          TypePtr type = cls ? unit.find_type(cls->name()) : nullptr;
          HOTARU_CHECK(type && !cls->is_module(),
                       "jit.freeze: an object of "
                       "class '",
                       cls ? cls->name() : "?",
                       "' is in a place "
                       "where no module is supported");
          auto object = make_instance(*type->cls);
          Value out = copies[&value.as_instance()] = object;
          object->slots.clear();
          each(value.as_instance().slots, object->slots);
          return out;
        });
      default:
        return value;
    }
  }

  CompilationUnit& old_unit_;
  SourcePrinter printer_;
  const Rewrite& rewrite_;
  std::deque<Frozen> all_;
  std::unordered_map<const void*, Frozen*> by_object_;
  Frozen* root_ = nullptr;
  std::vector<std::pair<Frozen*, Method*>> work_;
  size_t next_ = 0;
  std::vector<Read> reads_;
  std::vector<const Node*> writers_;  // of the method that is looked at
  // One tensor an attribute, however often it is read.
  std::map<std::pair<const Frozen*, int>, Value> constants_;
};

}  // namespace

Module freeze(const Module& module, const std::vector<std::string>& preserved,
              const Rewrite& rewrite) {
  bool training = module.has_attribute("training") &&
                  module.attribute("training").as_bool();
  HOTARU_CHECK(!training,
               "Freezing is currently only implemented for modules in eval "
               "mode. Please call .eval() on your module before freezing.");
  return Freezer(module, rewrite).run(preserved);
}

}  // namespace hotaru::script
