#include "hotaru/graph/graph.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "capture.h"
#include "commands.h"
#include "hotaru/graph/drawing/drawing.h"
#include "hotaru/graph/passes/passes.h"
#include "json.h"
#include "model.h"
#include "text.h"

namespace hotaru::cli {
namespace {

using graph::Description;
using graph::Graph;
using graph::NodeInfo;

struct GraphOptions : ModelOptions {
  std::string picture, memory;
  std::vector<std::string> without;
};

constexpr int kTimedReplays = 50;

/// Median nanoseconds of each node.
std::vector<double> node_times(Graph& graph) {
  std::vector<std::vector<double>> samples(graph.program().nodes().size());
  for (int i = 0; i < kTimedReplays; ++i) {
    const std::vector<NodeTime> times = graph.timed_replay();
    for (size_t n = 0; n < times.size(); ++n)
      samples[n].push_back(double(times[n].duration));
  }
  std::vector<double> medians;
  for (std::vector<double>& node : samples) {
    std::nth_element(node.begin(), node.begin() + kTimedReplays / 2,
                     node.end());
    medians.push_back(node[kTimedReplays / 2]);
  }
  return medians;
}

void print_table(const Description& after, const std::vector<double>& times,
                 double total) {
  for (size_t n = 0; n < times.size(); ++n) {
    const NodeInfo& node = after.nodes[n];
    std::printf("  %5.1f %% %9.2f µs  %-16s %s\n", 100 * times[n] / total,
                times[n] / 1e3, node.name.c_str(), node.result.c_str());
  }
}

/// Prints what runs otherwise than once a replay, one after the other.
void print_extras(const graph::Program& program) {
  if (const DeviceGraph* made = program.device_graph())
    std::printf("a replay: %zu kernels, copies and fills in %zu launch%s\n",
                made->nodes(), made->launches(),
                made->launches() == 1 ? "" : "es");
  if (!program.once().empty())
    std::printf("weights in another form: %zu bytes, made by %zu calls once\n",
                program.kept_bytes(), program.once().size());
  for (const graph::Stretch& stretch : program.stretches()) {
    std::printf("side by side:");
    for (size_t i = 0; i < stretch.begins.size(); ++i) {
      const bool last = i + 1 == stretch.begins.size();
      std::printf(" %zu to %zu%s", stretch.begins[i] + 1,
                  last ? stretch.end : stretch.begins[i + 1],
                  last ? "\n" : ",");
    }
  }
}

void print_json(const GraphOptions& options, const Graph& made,
                const Description& after, const std::vector<double>& times) {
  const graph::MemoryPlan& plan = made.program().plan();
  Json report = {{"model", options.path},
                 {"captured", made.recorded().nodes.size()},
                 {"memory",
                  {{"plan", plan.nbytes},
                   {"together", plan.total},
                   {"least", plan.peak},
                   {"weights", made.program().kept_bytes()}}},
                 {"nodes", Json::array()}};
  if (const DeviceGraph* device = made.program().device_graph())
    report["device"] = {{"nodes", device->nodes()},
                        {"launches", device->launches()}};
  for (size_t n = 0; n < times.size(); ++n)
    report["nodes"].push_back({{"name", after.nodes[n].name},
                               {"result", after.nodes[n].result},
                               {"seconds", times[n] * 1e-9}});
  std::cout << report.dump() << '\n';
}

void run_graph(const GraphOptions& options) {
  check_passes(options.without);
  Model model(options);
  Value result;
  const Ref<Graph> made = capture(model, result, {options.without, false});
  const std::vector<double> times = node_times(*made);
  const Description after = made->description();
  double total = 0;
  for (const double t : times) total += t;
  std::vector<double> shares;
  for (const double t : times) shares.push_back(t / std::max(total, 1.0));
  if (!options.picture.empty())
    write_file(options.picture,
               graph::draw_graphs({{"as captured", &made->recorded(), {}},
                                   {"as it runs", &after, shares}}));
  const graph::MemoryPlan& plan = made->program().plan();
  if (!options.memory.empty())
    write_file(options.memory, graph::draw_memory(plan, after));
  if (options.json) return print_json(options, *made, after, times);
  std::printf("%zu calls captured, %zu run, %.1f µs in all\n",
              made->recorded().nodes.size(), times.size(), total / 1e3);
  print_table(after, times, std::max(total, 1.0));
  std::printf(
      "intermediate values: %zu bytes, %zu without sharing, %zu alive at "
      "most\n",
      plan.nbytes, plan.total, plan.peak);
  print_extras(made->program());
}

}  // namespace

void add_graph(Program& program) {
  const Verb verb = program.verb(
      "graph", "Captures a call as a graph: its nodes, times and memory");
  auto options = std::make_shared<GraphOptions>();
  options->add_to(verb);
  verb.option("--picture", options->picture,
              "Draw it before and after the passes")
      .type_name("FILE.svg");
  verb.option("--memory", options->memory, "Draw where values lie")
      .type_name("FILE.svg");
  std::string names;
  for (const graph::Pass& pass : graph::passes())
    names += (names.empty() ? "" : ", ") + std::string(pass.name);
  verb.option("--without", options->without, "Leave out a pass: " + names)
      .type_name("PASS");
  verb.action([options] { run_graph(*options); });
}

}  // namespace hotaru::cli
