#include "info/ways.h"

#include <iostream>
#include <memory>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/graph/graph.h"
#include "hotaru/graph/passes/passes.h"
#include "hotaru/graph/ways.h"
#include "hotaru/script/program/function.h"
#include "hotaru/script/program/unit.h"
#include "inputs.h"
#include "json.h"

namespace hotaru::cli {
namespace {

using script::CompilationUnit;
using script::Source;

/// Tells whether a word is a tensor's shape, as parse_shape() takes it: a
/// number alone is an argument.
bool is_shape(const std::string& word) {
  const std::string sizes = word.substr(0, word.find(':'));
  return !sizes.empty() && (sizes != word || sizes.find(',') != sizes.npos) &&
         sizes.find_first_not_of("0123456789,") == sizes.npos;
}

/// The call as a function of a script, and the tensors that it is called with.
struct Spelled {
  std::string text;
  std::vector<Value> tensors;
};

Spelled spell(const WaysOptions& options) {
  std::string parameters, arguments;
  Spelled out;
  for (size_t i = 1; i < options.words.size(); ++i) {
    const std::string& word = options.words[i];
    arguments += (i == 1 ? "" : ", ");
    if (is_shape(word)) {
      const std::string name = "x" + std::to_string(i);
      parameters += (parameters.empty() ? "" : ", ") + name + ": Tensor";
      arguments += name;
      out.tensors.emplace_back(parse_shape(word));
    } else {
      arguments += word;
    }
  }
  out.text = "def call(" + parameters + "):\n    return torch." +
             options.words[0] + "(" + arguments + ")\n";
  return out;
}

Ref<graph::Graph> captured(const WaysOptions& options) {
  Spelled spelled = spell(options);
  graph::Options rules;
  if (!options.graphed)
    for (const graph::Pass& pass : graph::passes())
      rules.without.emplace_back(pass.name);
  auto made = make_ref<graph::Graph>(std::move(rules));
  const auto unit = CompilationUnit::create();
  const autograd::NoGrad no_grad;
  const Stream stream = Stream::queued();
  Value result;
  try {
    unit->define(std::make_unique<Source>("--ways", spelled.text), "");
    made->capture_begin(stream);
    const StreamGuard guard(stream);
    result = (*unit->find_function("call"))(std::move(spelled.tensors));
  } catch (const std::exception& e) {
    made->abandon();
    fail<ValueError>("--ways: that is no call that could be captured:\n",
                     e.what());
  }
  made->capture_end();
  return made;
}

void print(const graph::CallWays& call) {
  std::cout << call.call << '\n';
  if (call.ways.empty()) std::cout << "  has one algorithm\n";
  for (const WayAnswer& way : call.ways)
    if (way.runs)
      std::cout << "  runs   " << way.name << ": " << way.what << '\n';
    else if (!way.why_not.empty())
      std::cout << "  not    " << way.name << ": needs " << way.why_not << '\n';
    else
      std::cout << "  behind " << way.name << ": " << way.what << '\n';
}

Json json_of(const graph::CallWays& call) {
  Json ways = Json::array();
  for (const WayAnswer& way : call.ways)
    ways.push_back({{"name", way.name},
                    {"what", way.what},
                    {"runs", way.runs},
                    {"why_not", way.why_not}});
  return {{"kernel", call.call}, {"ways", ways}};
}

}  // namespace

void show_ways(const WaysOptions& options, bool as_json) {
  const Ref<graph::Graph> made = captured(options);
  Json all = Json::array();
  for (const graph::CallWays& call : graph::ways_of(made->program()))
    as_json ? all.push_back(json_of(call)) : print(call);
  if (as_json) std::cout << all.dump(1) << '\n';
}

}  // namespace hotaru::cli
