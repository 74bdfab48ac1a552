#include <chrono>
#include <cmath>
#include <complex>
#include <iostream>

#include "commands.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/core/printing/format.h"
#include "hotaru/io/npy.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/script/run/interpreter.h"
#include "json.h"
#include "model.h"

namespace hotaru::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct RunOptions : ModelOptions {
  std::vector<std::string> outputs;
};

const std::vector<Value>& items_of(const Value& value) {
  return value.is_list() ? value.as_list().items : value.as_tuple().items;
}

/// JSON has no numbers that are not finite: they are texts.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}
/// A complex number is its two parts.
Json number(std::complex<double> value) {
  return Json::array({number(value.real()), number(value.imag())});
}
Json number(int64_t value) {
  return value;
}
Json number(uint64_t value) {
  return value;
}

/// Nested lists of a row-major tensor's numbers, from `*next` on.
template <class T>
Json nested(IntSpan sizes, const T** next) {
  if (sizes.empty()) return number(*(*next)++);
  Json list = Json::array();
  for (int64_t i = 0; i < sizes[0]; ++i)
    list.push_back(nested(sizes.subspan(1), next));
  return list;
}

template <class T>
Json numbers_as(DType dtype, const Tensor& tensor) {
  const Tensor wide = contiguous(to(tensor, dtype));
  const T* next = host_data<T>(wide, "run");
  return nested(wide.sizes(), &next);
}

Json numbers(const Tensor& tensor) {
  if (tensor.is_complex())
    return numbers_as<std::complex<double>>(DType::kComplex128, tensor);
  if (is_floating_point(tensor.dtype()))
    return numbers_as<double>(DType::kFloat64, tensor);
  if (tensor.dtype() == DType::kUInt64)
    return numbers_as<uint64_t>(DType::kUInt64, tensor);
  return numbers_as<int64_t>(DType::kInt64, tensor);
}

/// A dictionary's key as a text.
std::string key_text(const Value& key) {
  return key.is_string() ? key.as_string() : script::value_text(key);
}

Json to_json(const Value& value) {
  if (value.is_tensor()) {
    const Tensor tensor = to(detach(value.as_tensor()), Device{});
    Json json = {{"dtype", dtype_name(tensor.dtype())},
                 {"shape", Json::array()}};
    for (int64_t size : tensor.sizes()) json["shape"].push_back(size);
    json["values"] = numbers(tensor);
    return json;
  }
  if (value.is_none()) return nullptr;
  if (value.is_bool()) return value.as_bool();
  if (value.is_int()) return value.as_int();
  if (value.is_double()) return number(value.as_double());
  if (value.is_complex()) return number(value.as_complex());
  if (value.is_string()) return value.as_string();
  if (value.is_list() || value.is_tuple()) {
    Json list = Json::array();
    for (const Value& item : items_of(value)) list.push_back(to_json(item));
    return list;
  }
  if (value.is_dict()) {
    Json object = Json::object();
    for (const auto& [key, item] : value.as_dict().items)
      object[key_text(key)] = to_json(item);
    return object;
  }
  return script::value_text(value);
}

/// Prints tensors as Python does, the items of lists and tuples a line each,
/// those of dictionaries behind their keys.
void show(const Value& value, std::ostream& out) {
  if (value.is_tensor()) {
    out << format_tensor(value.as_tensor()) << '\n';
  } else if (value.is_list() || value.is_tuple()) {
    for (const Value& item : items_of(value)) show(item, out);
  } else if (value.is_dict()) {
    for (const auto& [key, item] : value.as_dict().items) {
      out << key_text(key) << ": ";
      show(item, out);
    }
  } else {
    out << script::value_text(value) << '\n';
  }
}

/// The tensors of a result, in order, as --output takes them.
void collect_tensors(const Value& value, std::vector<Tensor>* tensors) {
  if (value.is_tensor()) tensors->push_back(to(value.as_tensor(), Device{}));
  if (value.is_dict())
    for (const auto& [key, item] : value.as_dict().items)
      collect_tensors(item, tensors);
  if (!value.is_list() && !value.is_tuple()) return;
  for (const Value& item : items_of(value)) collect_tensors(item, tensors);
}

void write_outputs(const Value& result, const std::vector<std::string>& paths) {
  std::vector<Tensor> tensors;
  collect_tensors(result, &tensors);
  HOTARU_CHECK_AS(ValueError, paths.size() <= tensors.size(),
                  "--output: ", paths.size(), " files for a result of ",
                  tensors.size(), " tensors");
  // All of them, or none.
  for (size_t i = 0; i < paths.size(); ++i) io::npy_code(tensors[i].dtype());
  for (size_t i = 0; i < paths.size(); ++i) io::write_npy(paths[i], tensors[i]);
}

void run(const RunOptions& options) {
  Model model(options);
  const auto start = Clock::now();
  const Value result = model.call();
  model.synchronize();
  const std::chrono::duration<double> taken = Clock::now() - start;
  write_outputs(result, options.outputs);
  if (options.json) {
    std::cout
        << Json{{"result", to_json(result)}, {"seconds", taken.count()}}.dump()
        << '\n';
  } else if (options.outputs.empty()) {
    show(result, std::cout);
  }
}

}  // namespace

void add_run(Program& program) {
  const Verb verb =
      program.verb("run", "Calls a model once and shows the result");
  auto options = std::make_shared<RunOptions>();
  options->add_to(verb);
  verb.option("--output", options->outputs,
              "Write the result's tensors to these files instead")
      .type_name("FILE.npy");
  verb.action([options] { run(*options); });
}

}  // namespace hotaru::cli
