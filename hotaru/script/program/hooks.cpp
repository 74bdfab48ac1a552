#include "hotaru/script/program/hooks.h"

#include <string>

#include "hotaru/core/checks/check.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/run/interpreter.h"

namespace hotaru::script {

namespace {

using HookTime = ClassType::HookTime;

std::vector<TypePtr> input_types(Function& forward) {
  std::vector<TypePtr> out;
  for (const Parameter& param : forward.params()) out.push_back(param.type);
  out.erase(out.begin());
  return out;
}

std::string last_name(const ClassType& cls) {
  return cls.name().substr(cls.name().rfind('.') + 1);
}

// Checks one hook; its messages are PyTorch's.
class HookChecker {
 public:
  HookChecker(ClassType& cls, Function& forward, Function& hook, HookTime time)
      : hook_(hook),
        before_(time == HookTime::kBefore),
        class_name_(last_name(cls)),
        input_(cls.unit().types().tuple(input_types(forward))) {}

  void check_before() const {
    check_input(2);
    if (!hook_.has_declared_result()) {
      wrong(
          " is missing a return annotation. Return annotations are required, "
          "please add one.\n");
    }
    TypePtr result = hook_.result_type();
    if (result->kind == TypeKind::kNone || is_subtype(result, input_)) return;
    if (takes_single() && is_subtype(result, input_->item())) return;
    std::string why = "\n";
    if (result->kind != TypeKind::kTuple) {
      why = "";
    } else if (input_->items.size() == 1 &&
               input_->item()->kind == TypeKind::kTuple) {
      why = concat(
          " When forward has a single tuple input argument, the return needs "
          "to be 'None' or a nested tuple containing forward's input tuple "
          "argument as in: '",
          input_->annotation(), "'.\n");
    } else if (result->items.size() != input_->items.size()) {
      why =
          " The returned tuple contains the wrong number of contained types.\n";
    } else {
      why = " The returned tuple contains the wrong inner types.\n";
    }
    wrong(concat(" returned the wrong type of: '", result->annotation(), "'.",
                 why));
  }

  void check_after(TypePtr output) const {
    check_input(3, output);
    TypePtr declared = hook_.params()[2].type;
    if (is_subtype(output, declared)) return;
    wrong(
        concat(" has the wrong type for the output argument. Received type: '",
               declared->annotation(), "'. Expected type: '",
               output->annotation(), "'.\n"),
        output);
  }

 private:
  bool takes_single() const {
    return input_->items.size() == 1 &&
           input_->item()->kind != TypeKind::kTuple;
  }

  void check_input(size_t wanted, TypePtr output = nullptr) const {
    const std::vector<Parameter>& params = hook_.params();
    if (params.size() != wanted) {
      wrong(concat(" was expected to only have exactly ", wanted,
                   " inputs but it had ", params.size(), " inputs. "),
            output);
    }
    TypePtr declared = params[1].type;
    if (declared->kind != TypeKind::kTuple) {
      wrong(concat(" expected the input argument to be typed as a Tuple but "
                   "found type: '",
                   declared->annotation(), "' instead.\n"),
            output);
    }
    if (is_subtype(input_, declared)) return;
    const bool many = declared->items.size() != input_->items.size();
    wrong(
        concat(many ? " has the wrong number of contained types for the input "
                      "argument's Tuple. Received type: '"
                    : " has the wrong inner types for the input tuple "
                      "argument. Received type: '",
               declared->annotation(), "'.\n"),
        output);
  }

  [[noreturn]] void wrong(const std::string& what,
                          TypePtr output = nullptr) const {
    const char* kind = before_ ? "pre-hook" : "hook";
    const std::string name(hook_.short_name());
    std::string signature =
        concat(name, "(self, input: ", input_->annotation());
    if (before_) {
      std::string results =
          takes_single() ? concat("either 'None', '",
                                  input_->item()->annotation(), "', or '")
                         : "either 'None' or '";
      fail(before_ ? "Pre-hook '" : "Hook '", name, "' on module '",
           class_name_, "'", what,
           "This error occurred while scripting the "
           "forward pre-hook '",
           name, "' on module '", class_name_,
           "'. If you did not want to script this pre-hook remove it from the "
           "original NN module before scripting. Pre-hooks for module '",
           class_name_,
           "' are expected to have the following signature: ", signature,
           ") with a return type of ", results, input_->annotation(), "'.");
    }
    fail("Hook '", name, "' on module '", class_name_, "'", what,
         "This error occurred while scripting the forward ", kind, " '", name,
         "' on module ", class_name_,
         ". If you did not want to script this hook remove it from the "
         "original NN module before scripting. This hook was expected to have "
         "the following signature: ",
         signature, ", output: ", output->annotation(),
         "). The type of the output arg is the returned type from either the "
         "forward method or the previous hook if it exists. Note that hooks "
         "can return anything, but if the hook is on a submodule the outer "
         "module is expecting the same return type as the submodule's "
         "forward.");
  }

  Function& hook_;
  bool before_;
  std::string class_name_;
  TypePtr input_;
};

}  // namespace

void check_hooks(ClassType& cls) {
  Function* forward = cls.find_method("forward");
  if (!cls.has_hooks()) return;
  HOTARU_CHECK(forward, "module '", last_name(cls),
               "' has forward hooks, but no forward");
  for (Function* hook : cls.hooks(HookTime::kBefore))
    HookChecker(cls, *forward, *hook, HookTime::kBefore).check_before();
  TypePtr output = forward->result_type();
  for (Function* hook : cls.hooks(HookTime::kAfter)) {
    HookChecker(cls, *forward, *hook, HookTime::kAfter).check_after(output);
    TypePtr result = hook->result_type();
    if (result->kind != TypeKind::kNone) output = result;
  }
}

bool is_whole_input(TypePtr result, Function& forward) {
  std::vector<TypePtr> inputs = input_types(forward);
  if (result->kind != TypeKind::kTuple || result->items.size() != inputs.size())
    return false;
  bool single_tuple = inputs.size() == 1 && inputs[0]->kind == TypeKind::kTuple;
  return !single_tuple || result->items[0]->kind == TypeKind::kTuple;
}

Value call_with_hooks(const Module& module, std::vector<Value> arguments,
                      KeywordArguments keywords) {
  ClassType& cls = module.type();
  Function& forward = module.method("forward");
  const Value self(module.object());
  arguments.insert(arguments.begin(), self);
  std::vector<Value> bound =
      forward.bind(std::move(arguments), std::move(keywords));
  Value input = Value::tuple({bound.begin() + 1, bound.end()});
  for (Function* hook : cls.hooks(HookTime::kBefore)) {
    Value result = (*hook)({self, input});
    if (result.is_none()) continue;
    bool whole = is_whole_input(hook->result_type(), forward);
    input = whole ? result : Value::tuple({result});
  }
  std::vector<Value> all = input.as_tuple().items;
  all.insert(all.begin(), self);
  Value output = forward(std::move(all));
  for (Function* hook : cls.hooks(HookTime::kAfter)) {
    Value result = (*hook)({self, input, output});
    if (hook->result_type()->kind != TypeKind::kNone) output = result;
  }
  return output;
}

}  // namespace hotaru::script
