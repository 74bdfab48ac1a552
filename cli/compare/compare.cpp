#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>

#include "capture.h"
#include "commands.h"
#include "compare/deviation.h"
#include "compare/layer_picture.h"
#include "compare/layers.h"
#include "hotaru/core/error.h"
#include "hotaru/core/shape.h"
#include "hotaru/exchange/load_program.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/runtime/threads/parallel.h"
#include "json.h"
#include "text.h"

namespace hotaru::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct CompareOptions : ModelOptions {
  std::string precision = "bfloat16,int8";
  std::string picture;
  double seconds = 1;
  size_t layers = 10;
  int64_t group = 32;
};

constexpr size_t kFewestTurns = 5;

/// Last line of an error that says something, where it has several.
std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

/// A model in one precision, captured where that is possible. Works on a copy,
/// and its results are those of the copy's call number kWarmUpCalls + 1, so
/// that models with a state can be compared.
class Runner {
 public:
  Runner(const script::Module& module, const ModelOptions& options,
         Precision precision)
      : precision_(precision) {
    const PrecisionScope scope(precision);
    model_.emplace(module.copy(), options);
    try {
      graph_ = capture(*model_, result_);
    } catch (const Error& e) {
      why_ = last_line(e.what());
      model_.emplace(module.copy(), options);
      for (int i = 0; i < kWarmUpCalls; ++i) model_->call();
    }
    run();
    for (const Tensor& tensor : tensors_of(result_))
      first_.push_back(clone(tensor));
  }

  void run() {
    if (graph_) return graph_->replay();
    const PrecisionScope scope(precision_);
    result_ = model_->call();
  }

  /// Why it is no graph; empty for one.
  const std::string& why() const { return why_; }
  const std::vector<Tensor>& results() const { return first_; }

 private:
  Precision precision_;
  std::optional<Model> model_;
  Ref<graph::Graph> graph_;
  Value result_;
  std::vector<Tensor> first_;
  std::string why_;
};

/// Costs and gains of a precision.
struct Comparison {
  Precision precision = Precision::kFloat32;
  std::vector<Deviation> outputs;
  std::vector<std::string> shapes;
  double seconds = 0, float32_seconds = 0;
  double speed = 0;  // median of the turns' ratios
  std::string why;   // no graph
  std::vector<Layer> layers;
  std::string no_layers;
  size_t unseen = 0;  // products that layers do not show
  std::optional<script::ProductCounts> counts;
};

double median(std::vector<double> samples) {
  const auto middle = samples.begin() + std::ptrdiff_t(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

double timed(Runner& runner) {
  const auto start = Clock::now();
  runner.run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// In turns, who goes first changes.
void measure(Runner& base, Runner& low, double seconds, Comparison* to) {
  std::vector<double> before, after, ratios;
  const auto start = Clock::now();
  while (ratios.size() < kFewestTurns ||
         Clock::now() - start < std::chrono::duration<double>(seconds)) {
    const bool swapped = ratios.size() % 2;
    const double first = timed(swapped ? low : base);
    const double second = timed(swapped ? base : low);
    before.push_back(swapped ? second : first);
    after.push_back(swapped ? first : second);
    ratios.push_back(before.back() / after.back());
  }
  to->float32_seconds = median(before);
  to->seconds = median(after);
  to->speed = median(ratios);
}

Comparison compare(const script::Module& module, Runner& base,
                   const CompareOptions& options, Precision precision) {
  Comparison out;
  out.precision = precision;
  script::Module low = module;
  const auto form = integer_weights(precision, options.group);
  if (form) {
    out.counts.emplace();
    low = script::quantize_linear(module, preserved(options.method),
                                  &*out.counts, *form);
  }
  Runner runner(low, options, precision);
  out.why = runner.why();
  const std::vector<Tensor>&wanted = base.results(), &made = runner.results();
  HOTARU_CHECK(wanted.size() == made.size(), options.path,
               ": the results have other numbers of tensors in ",
               precision_name(precision));
  for (size_t i = 0; i < made.size(); ++i) {
    out.outputs.push_back(deviation(made[i], wanted[i]));
    out.shapes.push_back(concat(shape_text(wanted[i].sizes())));
  }
  measure(base, runner, options.seconds, &out);
  try {
    out.layers = layer_errors(module, options, {precision, form}, &out.unseen);
  } catch (const Error& e) {
    out.no_layers = e.what();
  }
  return out;
}

/// Worst first; those that stay in float32 are left out.
std::vector<const Layer*> worst(const Comparison& of, size_t most) {
  std::vector<const Layer*> out;
  for (const Layer& layer : of.layers)
    if (!layer.kept && layer.error.largest != 0) out.push_back(&layer);
  const auto key = [](const Layer* l) {
    const double error = l->error.relative();
    return error == error ? error : INFINITY;
  };
  std::stable_sort(out.begin(), out.end(), [&](const Layer* a, const Layer* b) {
    return key(a) > key(b);
  });
  if (out.size() > most) out.resize(most);
  return out;
}

void print(const Comparison& one, size_t most) {
  std::printf("\n%s: %.3f ms a call, float32 %.3f ms, %.2f times as fast%s\n",
              precision_name(one.precision), one.seconds * 1e3,
              one.float32_seconds * 1e3, one.speed,
              one.why.empty() ? "" : " (not as a graph)");
  if (one.counts)
    std::printf("%s\n", count_text(*one.counts, one.precision).c_str());
  std::printf("  %-8s %10s %10s %12s %10s %10s  %s\n", "output", "largest",
              "mean", "of largest:", "largest", "mean", "shape");
  for (size_t i = 0; i < one.outputs.size(); ++i) {
    const Deviation& d = one.outputs[i];
    std::printf("  %-8zu %10.3g %10.3g %12.3g %10.3g %10.3g  %s\n", i,
                d.largest, d.mean, d.magnitude, d.relative(), d.relative_mean(),
                one.shapes[i].c_str());
  }
  if (!one.no_layers.empty())
    std::printf("layers are not told apart: %s\n", one.no_layers.c_str());
  if (one.unseen > 0)
    std::printf(
        "%zu products and convolutions stand in functions of several returns, "
        "or have several results: not looked at one by one\n",
        one.unseen);
  const std::vector<const Layer*> shown_layers = worst(one, most);
  const size_t all = worst(one, one.layers.size()).size();
  if (one.layers.empty()) return;
  std::printf(
      "%zu of %zu products and convolutions differ from float32 on float32's "
      "inputs%s\n",
      all, one.layers.size(), all ? "; the largest differences:" : "");
  for (const Layer* layer : shown_layers)
    std::printf("  %10.3g %10.3g  %-8s %-18s %s\n", layer->error.relative(),
                layer->error.relative_mean(), layer->op.c_str(),
                layer->result.c_str(), shown(layer->name).c_str());
}

Json json_of(const Deviation& d) {
  return {{"largest", d.largest},
          {"mean", d.mean},
          {"magnitude", d.magnitude},
          {"relative", d.relative()},
          {"relative_mean", d.relative_mean()},
          {"differing", d.differing},
          {"elements", d.elements}};
}

Json json_of(const Comparison& one) {
  Json out = {{"precision", precision_name(one.precision)},
              {"seconds", one.seconds},
              {"float32_seconds", one.float32_seconds},
              {"speed", one.speed},
              {"graph", one.why.empty()},
              {"outputs", Json::array()},
              {"layers", Json::array()}};
  if (one.counts)
    out["linear"] = {{precision_name(one.precision), one.counts->rewritten},
                     {"embeddings", one.counts->embeddings},
                     {"recurrent", one.counts->recurrent},
                     {"kept", one.counts->kept}};
  for (size_t i = 0; i < one.outputs.size(); ++i) {
    out["outputs"].push_back(json_of(one.outputs[i]));
    out["outputs"].back()["shape"] = one.shapes[i];
  }
  for (const Layer& layer : one.layers) {
    Json row = {{"name", layer.name},
                {"operator", layer.op},
                {"result", layer.result},
                {"calls", layer.calls},
                {"float32", layer.kept}};
    row["error"] = json_of(layer.error);
    out["layers"].push_back(row);
  }
  out["not_looked_at"] = one.unseen;
  if (!one.no_layers.empty()) out["no_layers"] = one.no_layers;
  return out;
}

void run_compare(const CompareOptions& options) {
  const std::vector<Precision> precisions = parse_precisions(options.precision);
  const script::Module module = exchange::load_program(options.path);
  module.eval();
  Runner base(module, options, Precision::kFloat32);
  std::vector<Comparison> all;
  for (const Precision precision : precisions)
    all.push_back(compare(module, base, options, precision));
  if (!options.picture.empty()) {
    std::vector<LayerPicture> parts;
    for (const Comparison& one : all)
      parts.push_back({precision_name(one.precision), &one.layers});
    write_file(options.picture, draw_layers(parts));
  }
  if (options.json) {
    Json report = {{"model", options.path},
                   {"threads", get_num_threads()},
                   {"graph", base.why().empty()},
                   {"precisions", Json::array()}};
    for (const Comparison& one : all)
      report["precisions"].push_back(json_of(one));
    std::cout << report.dump(-1, ' ', false, Json::error_handler_t::replace)
              << '\n';
    return;
  }
  std::printf("%s, %d thread(s)\n", shown(options.path).c_str(),
              get_num_threads());
  if (!base.why().empty())
    std::printf("not as a graph: %s\n", shown(base.why()).c_str());
  for (const Comparison& one : all) print(one, options.layers);
}

}  // namespace

void add_compare(Program& program) {
  const Verb verb = program.verb(
      "compare",
      "Runs a model in float32 and in lower precision: how far results are "
      "apart, which layers cost most, how long each takes");
  auto options = std::make_shared<CompareOptions>();
  verb.option("model", options->path,
              "A TorchScript archive, a .pt2 file or an ONNX model")
      .required();
  verb.option("--precision", options->precision,
              "bfloat16 (products may round their factors), int8 (linear "
              "maps by constant weights in integers), int4 (their weights "
              "alone, in groups), or several")
      .shows_default();
  verb.option("--group", options->group, "Columns of int4 that share a scale")
      .one_of({"32", "64", "128"})
      .shows_default();
  options->inputs.add_options(verb);
  verb.option("--method", options->method, "What to call").shows_default();
  verb.option("--threads", options->threads, "Threads to use").positive();
  verb.option("--seconds", options->seconds, "How long to measure each")
      .not_negative()
      .shows_default();
  verb.option("--layers", options->layers, "How many layers to show")
      .shows_default();
  verb.option("--picture", options->picture, "Draw the layers' errors")
      .type_name("FILE.svg");
  verb.flag("--json", options->json, "Print JSON");
  verb.action([options] { run_compare(*options); });
}

}  // namespace hotaru::cli
