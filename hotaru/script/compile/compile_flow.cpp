// Branches, loops and with statements.
#include <algorithm>
#include <set>

#include "hotaru/core/printing/concat.h"
#include "hotaru/script/compile/compiler.h"

namespace hotaru::script {

namespace {

void target_names(const Expr& target, std::set<std::string_view>& out) {
  if (target.kind == ExprKind::kName)
    out.insert(target.text);
  else if (target.kind == ExprKind::kTuple || target.kind == ExprKind::kList ||
           target.kind == ExprKind::kStarred)
    for (const Expr* item : target.items) target_names(*item, out);
}

// Every variable that the statements may assign.
void assigned_names(std::span<const Stmt* const> body,
                    std::set<std::string_view>& out) {
  for (const Stmt* stmt : body) {
    bool assigns =
        stmt->kind == StmtKind::kAssign || stmt->kind == StmtKind::kAugAssign ||
        stmt->kind == StmtKind::kFor || stmt->kind == StmtKind::kDelete;
    if (assigns)
      for (const Expr* target : stmt->targets) target_names(*target, out);
    for (const WithItem& item : stmt->items)
      if (item.target) target_names(*item.target, out);
    assigned_names(stmt->body, out);
    // A chain of elif may be longer than a stack is deep.
    while (stmt->orelse.size() == 1 && stmt->orelse[0]->kind == StmtKind::kIf) {
      stmt = stmt->orelse[0];
      assigned_names(stmt->body, out);
    }
    assigned_names(stmt->orelse, out);
  }
}

}  // namespace

void FunctionCompiler::if_statement(const Stmt& stmt) {
  Condition test = condition(*stmt.value);
  if (test.fixed) {
    refine(
        *test.fixed ? test.refinements.when_true : test.refinements.when_false,
        stmt.range);
    return statements(*test.fixed ? stmt.body : stmt.orelse);
  }
  Node* node = emit(NodeKind::kIf, stmt.range, {test.var});
  Scope yes{scope_, {}};
  Scope no{scope_, {}};
  Block* then = graph_.make_block(node);
  Block* otherwise = graph_.make_block(node);
  run_in(then, &yes, [&] {
    refine(test.refinements.when_true, stmt.range);
    statements(stmt.body);
  });
  run_in(otherwise, &no, [&] {
    refine(test.refinements.when_false, stmt.range);
    statements(stmt.orelse);
  });
  join(node, yes, no);
}

// Makes outputs of an if for the names that its branches assigned.
void FunctionCompiler::join(Node* node, Scope& yes, Scope& no) {
  Block* blocks[2] = {node->blocks[0], node->blocks[1]};
  Scope* scopes[2] = {&yes, &no};
  bool ends[2] = {blocks[0]->terminator() != nullptr,
                  blocks[1]->terminator() != nullptr};
  if (ends[0] && ends[1]) {
    // Nothing follows: what comes after an if that always leaves is dead.
    emit(NodeKind::kUnreachable, node->range, {});
    return;
  }
  if (ends[0] || ends[1]) {
    // The other branch's names go on as they are.
    size_t live = ends[0] ? 1 : 0;
    Node* yield = nullptr;
    run_in(blocks[live], scopes[live],
           [&] { yield = emit(NodeKind::kYield, node->range, {}); });
    for (auto& [name, binding] : scopes[live]->names) {
      if (binding.var) {
        graph_.add_input(yield, binding.var);
        binding.var = graph_.add_output(node, binding.var->type, name);
      }
      scope_->names[name] = binding;
    }
    return;
  }
  Node* yields[2];
  for (int i = 0; i < 2; ++i) {
    run_in(blocks[i], scopes[i],
           [&] { yields[i] = emit(NodeKind::kYield, node->range, {}); });
  }
  std::set<std::string_view> names;
  for (Scope* scope : scopes)
    for (const auto& [name, binding] : scope->names) names.insert(name);
  for (std::string_view name : names) {
    Binding sides[2];
    for (int i = 0; i < 2; ++i) {
      auto found = scopes[i]->names.find(name);
      const Binding* known =
          found != scopes[i]->names.end() ? &found->second : lookup(name);
      if (known) {
        sides[i] = *known;
      } else {
        sides[i].error = concat(name, " is not defined in the ",
                                i == 0 ? "true" : "false", " branch");
      }
    }
    Binding result;
    result.declared =
        sides[0].declared && sides[1].declared ? sides[0].declared : nullptr;
    if (!sides[0].var || !sides[1].var) {
      result = sides[0].var ? sides[1] : sides[0];
      scope_->names[name] = result;
      continue;
    }
    TypePtr left = sides[0].var->type;
    TypePtr right = sides[1].var->type;
    TypePtr type = unify(types_, left, right);
    if (!type) type = result.declared;
    // Archives declare the type of both branches in one.
    for (const Binding& side : sides) {
      bool fits = !type && side.declared && is_subtype(left, side.declared) &&
                  is_subtype(right, side.declared);
      if (fits) type = side.declared;
    }
    if (!type) {
      result.error = concat("Type mismatch: ", name, " is set to type ",
                            left->annotation(), " in the true branch and type ",
                            right->annotation(), " in the false branch");
      scope_->names[name] = result;
      continue;
    }
    if (sides[0].var == sides[1].var) {
      result.var = sides[0].var;
    } else {
      for (int i = 0; i < 2; ++i) graph_.add_input(yields[i], sides[i].var);
      result.var = graph_.add_output(node, type, name);
    }
    scope_->names[name] = result;
  }
}

// Names that exist before the loop and that its body assigns.
std::vector<std::string_view> FunctionCompiler::carried_names(
    std::span<const Stmt* const> body, const Targets& targets) const {
  std::set<std::string_view> assigned;
  assigned_names(body, assigned);
  for (const Expr* target : targets) target_names(*target, assigned);
  std::vector<std::string_view> out;
  for (std::string_view name : assigned) {
    const Binding* known = lookup(name);
    if (known && known->var) out.push_back(name);
  }
  return out;
}

void FunctionCompiler::finish_loop(Node* node, const Loop& loop) {
  for (size_t i = 0; i < loop.carried.size(); ++i) {
    const Binding* known = lookup(loop.carried[i]);
    Var* out = graph_.add_output(node, loop.types[i], loop.carried[i]);
    scope_->names[loop.carried[i]] = {out, known->declared, nullptr, {}};
  }
}

// Leaves the innermost loop or begins its next round with the carried
// variables as they are now.
void FunctionCompiler::loop_exit(NodeKind kind, const SourceRange& range) {
  if (!loop_ && unrolled_) {
    fail_at(range,
            "Because we emit iteration over modulelists or tuples as unrolled "
            "loops, we do not support break or continue inside the body of "
            "these loops");
  }
  if (!loop_) {
    fail_at(range, "SyntaxError: '",
            kind == NodeKind::kBreak ? "break' outside" : "continue' not in",
            " loop");
  }
  leave_withs(loop_->open_withs, range);
  std::vector<Var*> values;
  for (size_t i = 0; i < loop_->carried.size(); ++i) {
    Var* var = use(loop_->carried[i], range);
    values.push_back(as_type(
        var, loop_->types[i], range,
        concat("Variable '", loop_->carried[i], "' previously had type "),
        " but is now being assigned to a value of type "));
  }
  emit(kind, range, values);
}

void FunctionCompiler::while_statement(const Stmt& stmt) {
  Loop loop;
  loop.outer = loop_;
  loop.carried = carried_names(stmt.body, {});
  loop.open_withs = withs_.size();
  std::vector<Var*> initial;
  for (std::string_view name : loop.carried) {
    const Binding* known = lookup(name);
    loop.types.push_back(known->declared ? known->declared : known->var->type);
    initial.push_back(known->var);
  }
  Node* node = emit(NodeKind::kWhile, stmt.range, initial);
  Block* test_block = graph_.make_block(node);
  Block* body_block = graph_.make_block(node);
  Scope test_scope{scope_, {}};
  Scope body_scope{scope_, {}};
  for (size_t i = 0; i < loop.carried.size(); ++i) {
    std::string_view name = loop.carried[i];
    TypePtr declared = lookup(name)->declared;
    test_scope.names[name] = {graph_.add_param(test_block, loop.types[i], name),
                              declared,
                              nullptr,
                              {}};
    body_scope.names[name] = {graph_.add_param(body_block, loop.types[i], name),
                              declared,
                              nullptr,
                              {}};
  }
  Condition test;
  run_in(test_block, &test_scope, [&] {
    test = condition(*stmt.value);
    Var* flag = test.var ? test.var : constant(*test.fixed, stmt.range);
    emit(NodeKind::kYield, stmt.range, {flag});
  });
  loop_ = &loop;
  run_in(body_block, &body_scope, [&] {
    refine(test.refinements.when_true, stmt.range);
    statements(stmt.body);
    if (!terminated()) loop_exit(NodeKind::kContinue, stmt.range);
  });
  loop_ = loop.outer;
  finish_loop(node, loop);
}

void FunctionCompiler::counted_loop(
    Var* count, std::span<const Stmt* const> body, const SourceRange& range,
    const Targets& also_assigned,
    const std::function<void(Var*)>& bind_target) {
  Loop loop;
  loop.outer = loop_;
  loop.carried = carried_names(body, also_assigned);
  loop.open_withs = withs_.size();
  std::vector<Var*> inputs = {count};
  for (std::string_view name : loop.carried) {
    const Binding* known = lookup(name);
    loop.types.push_back(known->declared ? known->declared : known->var->type);
    inputs.push_back(known->var);
  }
  Node* node = emit(NodeKind::kLoop, range, inputs);
  Block* block = graph_.make_block(node);
  Scope scope{scope_, {}};
  Var* index = graph_.add_param(block, TypeTable::integer());
  for (size_t i = 0; i < loop.carried.size(); ++i) {
    std::string_view name = loop.carried[i];
    scope.names[name] = {graph_.add_param(block, loop.types[i], name),
                         lookup(name)->declared,
                         nullptr,
                         {}};
  }
  loop_ = &loop;
  run_in(block, &scope, [&] {
    bind_target(index);
    statements(body);
    if (!terminated()) loop_exit(NodeKind::kContinue, range);
  });
  loop_ = loop.outer;
  finish_loop(node, loop);
}

void FunctionCompiler::unrolled(const Expr& target,
                                const std::vector<Var*>& items,
                                std::span<const Stmt* const> body) {
  Loop* outer = loop_;
  loop_ = nullptr;
  const bool was = std::exchange(unrolled_, true);
  for (Var* item : items) {
    if (terminated()) break;
    assign_to(target, item, nullptr);
    statements(body);
  }
  loop_ = outer;
  unrolled_ = was;
}

void FunctionCompiler::for_statement(const Stmt& stmt) {
  const Expr& target = *stmt.targets[0];
  Iteration iteration = iterate(*stmt.value);
  if (iteration.items) return unrolled(target, *iteration.items, stmt.body);
  counted_loop(iteration.count, stmt.body, stmt.range, {&target},
               [&](Var* index) {
                 assign_to(target, iteration.element(index), nullptr);
               });
}

void FunctionCompiler::leave_withs(size_t keep, const SourceRange& range) {
  for (size_t i = withs_.size(); i > keep; --i) {
    Var* manager = withs_[i - 1];
    emit(NodeKind::kExit, range, {manager});
    Sugared exit = attribute_of(manager, "__exit__", range);
    CallArg nothing{none(range), {}, range};
    call_sugared(exit, {nothing, nothing, nothing}, range);
  }
}

void FunctionCompiler::with_statement(const Stmt& stmt) {
  size_t outer = withs_.size();
  for (const WithItem& item : stmt.items) {
    Var* manager = value(*item.context);
    const SourceRange& range = item.context->range;
    if (manager->type->kind != TypeKind::kClass ||
        !manager->type->cls->find_method("__enter__") ||
        !manager->type->cls->find_method("__exit__")) {
      fail_at(range,
              "'with' needs an object with __enter__ and __exit__, "
              "not a value of type '",
              manager->type->annotation(), "'");
    }
    Var* entered =
        call_sugared(attribute_of(manager, "__enter__", range), {}, range);
    Node* node = emit(NodeKind::kEnter, range, {manager});
    node->callee = manager->type->cls->find_method("__exit__");
    withs_.push_back(manager);
    if (item.target) assign_to(*item.target, entered, nullptr);
  }
  statements(stmt.body);
  if (!terminated()) leave_withs(outer, stmt.range);
  withs_.resize(outer);
}

}  // namespace hotaru::script
