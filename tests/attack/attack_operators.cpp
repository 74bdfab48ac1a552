// Calls operators of the registry with random arguments: strange shapes,
// strides and dtypes, integers up to the ends of their range, floats up to
// infinity and NaN, and runs the gradients. Each call is refused with an
// exception or done. Sanitizers, crashes and hangs end the process; the last
// line of output says which call it was.
//
//   attack_operators [FIRST COUNT [OPERATOR]]
//
// Calls number FIRST to FIRST + COUNT; a number says all of a call, so that
// `attack_operators NUMBER 1` repeats it.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "hotaru/autograd/leaf.h"
#include "hotaru/core/host.h"
#include "hotaru/engine/engine.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru {
namespace {

constexpr unsigned kSecondsPerCall = 60;
constexpr int64_t kMaxElements = 1 << 22;

/// Draws arguments. Tensors of a call often share their shape, so that calls
/// come further than to the comparison of shapes.
class Arguments {
 public:
  explicit Arguments(uint64_t seed) : needs_grad(seed % 5 < 2), random_(seed) {
    for (int64_t d = below(4); d > 0; --d) shape_.push_back(below(5));
    dtype_ = dtype();
  }

  uint64_t number() { return random_(); }
  int64_t below(int64_t n) { return int64_t(number() % uint64_t(n)); }
  bool chance(int64_t percent) { return below(100) < percent; }

  Value value(const Argument& argument) {
    const ArgType& type = argument.type;
    if (argument.default_value && chance(50)) return *argument.default_value;
    if (type.optional && chance(40)) return {};
    if (!type.list) return item(type);
    const bool exact = type.list_size > 0 && chance(80);
    std::vector<Value> items;
    for (int64_t n = exact ? type.list_size : below(5); n > 0; --n)
      items.push_back(type.optional_elements && chance(30) ? Value()
                                                           : item(type));
    return Value::list(std::move(items));
  }

  const bool needs_grad;

 private:
  template <class T, size_t n>
  T one_of(const T (&items)[n]) {
    return items[below(int64_t(n))];
  }

  Value item(const ArgType& type) {
    switch (type.kind) {
      case ArgKind::kTensor:
        return Value(tensor());
      case ArgKind::kInt:
        return Value(integer());
      case ArgKind::kFloat:
        return Value(real());
      case ArgKind::kBool:
        return Value(chance(50));
      case ArgKind::kScalar:
        return scalar();
      case ArgKind::kString:
        return Value(text());
      case ArgKind::kComplex:
        return Value(std::complex<double>(real(), real()));
      case ArgKind::kDType:
        return Value(dtype());
      case ArgKind::kMemoryFormat:
        return Value(below(4));
      case ArgKind::kDevice:
        return Value(Device{});
      default:
        return {};
    }
  }

  int64_t integer() {
    using Limits = std::numeric_limits<int64_t>;
    static constexpr int64_t kFar[] = {
        Limits::min(), Limits::min() + 1, Limits::max(), Limits::max() - 1,
        1ll << 62,     -(1ll << 62),      1ll << 61,     1ll << 53,
        1ll << 40,     -(1ll << 31),      100,           -100};
    return chance(15) ? one_of(kFar) : below(9) - 3;
  }

  double real() {
    using Limits = std::numeric_limits<double>;
    static constexpr double kFar[] = {0.0,
                                      -0.0,
                                      1e300,
                                      -1e300,
                                      1e-310,
                                      Limits::infinity(),
                                      0x1p63,
                                      -0x1p63,
                                      Limits::quiet_NaN(),
                                      -Limits::infinity()};
    return chance(30) ? one_of(kFar) : double(below(17) - 8) / 4;
  }

  Value scalar() {
    if (chance(10)) return Value(chance(50));
    if (chance(10)) return Value(std::complex<double>(real(), real()));
    // A range of 2^31 numbers would fill what memory sanitizers leave.
    if (chance(50)) return Value(std::max<int64_t>(integer(), -1000));
    return Value(real());
  }

  const char* text() {
    static constexpr const char* kTexts[] = {
        "none",     "mean",     "sum",   "constant", "reflect", "replicate",
        "",         "circular", "ij",    "xy",       "floor",   "trunc",
        "amax",     "amin",     "prod",  "fro",      "nuc",     "linear",
        "midpoint", "tanh",     "same",  "valid",    "lower",   "higher",
        "nearest",  "reduced",  "a,b->b"};
    return one_of(kTexts);
  }

  DType dtype() {
    static constexpr DType kDTypes[] = {
        DType::kBool,      DType::kUInt8,     DType::kInt8,
        DType::kInt16,     DType::kInt32,     DType::kInt64,
        DType::kFloat16,   DType::kBFloat16,  DType::kFloat32,
        DType::kFloat64,   DType::kComplex64, DType::kFloat32,
        DType::kFloat32,   DType::kInt64,     DType::kFloat64,
        DType::kComplex128};
    return one_of(kDTypes);
  }

  Tensor tensor() {
    Dims sizes(shape_);
    if (chance(30)) {
      sizes = Dims();
      for (int64_t d = below(5); d > 0; --d) sizes.push_back(below(5));
    }
    const DType dtype = chance(70)   ? dtype_
                        : chance(50) ? DType::kInt64
                                     : this->dtype();
    Tensor made = strided(sizes, dtype);
    fill(made);
    if (needs_grad && (is_floating_point(dtype) || is_complex(dtype)))
      autograd::set_requires_grad(made, true);
    return made;
  }

  /// Row-major, in another order, with gaps or with an offset.
  Tensor strided(IntSpan sizes, DType dtype) {
    if (chance(50) || sizes.empty()) return empty(sizes, {dtype, Device{}});
    Dims wider(sizes);
    const size_t d = size_t(below(int64_t(sizes.size())));
    wider[d] = 2 * sizes[d] + 1;
    const Tensor whole = empty(wider, {dtype, Device{}});
    zero_(whole);
    if (chance(50))
      return slice(whole, int64_t(d), int64_t{1}, 1 + 2 * sizes[d], 2);
    Dims turned(sizes);
    std::reverse(turned.begin(), turned.end());
    Dims order(sizes.size(), 0);
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = int64_t(order.size() - 1 - i);
    return permute(empty(turned, {dtype, Device{}}), order);
  }

  void fill(const Tensor& made) {
    std::vector<double> values(size_t(made.numel()));
    const bool small = chance(70);
    for (double& v : values)
      v = small        ? double(below(5) - 1)
          : chance(50) ? double(integer())
                       : real();
    const Tensor plain = empty(made.sizes(), {DType::kFloat64, Device{}});
    std::copy(values.begin(), values.end(), host_data<double>(plain, "fill"));
    copy_(made, plain);
  }

  std::mt19937_64 random_;
  Dims shape_;
  DType dtype_;
};

const std::vector<const Operator*>& operators(const std::string& name) {
  static std::vector<const Operator*> all;
  if (!all.empty()) return all;
  for (const std::string_view each : Registry::instance().names())
    if (name.empty() || each == name)
      for (const Operator* op : Registry::instance().find(each))
        all.push_back(op);
  return all;
}

/// The gradients of a result, and every element of both.
void look(const Value& result, bool gradients) {
  if (result.is_list()) {
    for (const Value& item : std::vector<Value>(result.as_list().items))
      look(item, gradients);
    return;
  }
  if (!result.is_tensor()) return;
  const Tensor t = result.as_tensor();
  // Expanded tensors may have more elements than anybody walks.
  if (t.numel() > kMaxElements) return;
  item(count_nonzero(detach(t)));
  if (gradients && autograd::requires_grad(t) && t.numel() > 0)
    autograd::backward({t}, {ones_like(detach(t))});
}

void call(const Operator& op, Arguments& arguments) {
  const Schema& schema = op.schema();
  std::vector<Value> values;
  for (const Argument& argument : schema.arguments)
    values.push_back(arguments.value(argument));
  std::vector<Value> results(schema.results.size());
  op.call(values.data(), results.data());
  for (const Value& result : results) look(result, arguments.needs_grad);
}

[[noreturn]] void hangs(int) {
  constexpr char kText[] = "hangs\n";
  [[maybe_unused]] const auto written = ::write(2, kText, sizeof(kText) - 1);
  _exit(3);
}

int attack(uint64_t first, uint64_t count, const std::string& name) {
  set_num_threads(1);
  std::signal(SIGALRM, hangs);
  const auto& all = operators(name);
  if (all.empty()) {
    std::fprintf(stderr, "no operator %s\n", name.c_str());
    return 2;
  }
  size_t done = 0;
  for (uint64_t i = first; i < first + count; ++i) {
    Arguments arguments(i);
    const Operator& op = *all[arguments.number() % all.size()];
    std::printf("%llu %s\n", static_cast<unsigned long long>(i),
                std::string(op.text()).c_str());
    std::fflush(stdout);
    alarm(kSecondsPerCall);
    try {
      call(op, arguments);
      ++done;
    } catch (const std::exception& error) {
      if (count == 1) std::printf("%s\n", error.what());
    }
  }
  std::printf("%zu of %llu calls were not refused\n", done,
              static_cast<unsigned long long>(count));
  return 0;
}

}  // namespace
}  // namespace hotaru

int main(int argc, char** argv) {
  const uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10000;
  return hotaru::attack(first, count, argc > 3 ? argv[3] : "");
}
