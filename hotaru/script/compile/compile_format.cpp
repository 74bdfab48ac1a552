// f-strings and str.format. Programs know the template of PyTorch's
// aten::format: each "{}" takes the next value, all else is literal text.
#include <charconv>

#include "hotaru/script/compile/compiler.h"
#include "hotaru/script/types/python_errors.h"

namespace hotaru::script {

// A template in Python's language, whose fields name no attributes and have
// no format: "{}", "{0}", and "{{" for a brace.
Var* FunctionCompiler::python_format(std::string_view text,
                                     const std::vector<Var*>& values,
                                     const SourceRange& range) {
  std::string result, literal;
  std::vector<Var*> inputs = {nullptr};
  auto take = [&](Var* var) {
    result += "{}";
    inputs.push_back(var);
  };
  auto end_literal = [&] {
    // Text that looks like a field is a value itself.
    if (literal.find("{}") == std::string::npos) {
      result += literal;
    } else {
      take(constant(literal, range));
    }
    literal.clear();
  };
  size_t next = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    bool doubled = i + 1 < text.size() && text[i + 1] == c;
    if (c != '{' && c != '}') {
      literal.push_back(c);
    } else if (doubled) {
      literal.push_back(c);
      ++i;
    } else {
      if (c == '}') fail_at(range, "Single '}' encountered in format string");
      size_t close = text.find('}', i);
      if (close == std::string_view::npos)
        fail_at(range, "expected '}' before end of string");
      std::string_view field = text.substr(i + 1, close - i - 1);
      size_t index = next++;
      if (!field.empty()) {
        const char* end = field.data() + field.size();
        auto [stop, error] = std::from_chars(field.data(), end, index);
        if (error != std::errc() || stop != end)
          fail_at(range, "format field '{", field, "}' is not supported");
      }
      if (index >= values.size()) fail_at(range, kFewArguments, text);
      end_literal();
      take(values[index]);
      i = close;
    }
  }
  end_literal();
  inputs[0] = constant(result, range);
  return emit_value(NodeKind::kFormat, range, inputs, TypeTable::string());
}

Var* FunctionCompiler::format(const Expr& expr) {
  std::vector<Var*> values;
  for (const Expr* item : expr.items) values.push_back(value(*item));
  return python_format(expr.text, values, expr.range);
}

Var* FunctionCompiler::format_call(Var* text, const std::vector<CallArg>& args,
                                   const SourceRange& range) {
  std::vector<Var*> values;
  for (const CallArg& arg : args) {
    if (!arg.keyword.empty())
      fail_at(arg.range, "format takes no keyword arguments");
    values.push_back(arg.var);
  }
  const Node* node = text->producer;
  if (node && node->kind == NodeKind::kConstant)
    return python_format(node->value.as_string(), values, range);
  values.insert(values.begin(), text);
  return emit_value(NodeKind::kFormat, range, values, TypeTable::string());
}

}  // namespace hotaru::script
