// Sums, means, extremes, norms.
#include <cmath>
#include <limits>

#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

Ints dims_of(const Lowering& l) {
  if (!l.given("dim")) return iota(l.rank());
  return all_dims(l, l.integers("dim"), l.rank());
}

bool keeps(const Lowering& l) {
  return l.has("keepdim") && l.flag("keepdim");
}

// Without dimensions there is nothing to reduce.
std::string reduce(const Lowering& l, const char* op, const std::string& x,
                   int64_t since = 18) {
  if (l.rank() == 0) return x;
  return l.reduce(op, x, dims_of(l), keeps(l), since);
}

template <Text kOp, int kSince>
void plain(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(reduce(l, kOp.data, l.tensor(0, of), kSince));
}

// Integers and bool have no maximum in every version.
template <Text kOp>
void extreme(Lowering& l) {
  const DType of = l.out().dtype();
  const DType in = of == DType::kBool ? DType::kInt32 : of;
  l.result(l.cast(reduce(l, kOp.data, l.tensor(0, in)), in, of));
}

template <Text kReduce, Text kArg>
void extreme_at(Lowering& l) {
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  const std::string x = l.tensor(0);
  if (l.rank() == 0) {
    return l.results(
        {l.op("Identity", {x}), l.number(Scalar(int64_t{0}), DType::kInt64)});
  }
  l.results({l.reduce(kReduce.data, x, {dim}, keeps(l)),
             l.op(kArg.data, {x},
                  {attr("axis", dim), attr("keepdims", int64_t{keeps(l)})})});
}

template <Text kArg>
void arg(Lowering& l) {
  std::string x = l.tensor(0);
  if (l.given("dim") && l.rank() > 0) {
    return l.result(l.op(kArg.data, {x},
                         {attr("axis", l.wrap(l.integer("dim"), l.rank())),
                          attr("keepdims", int64_t{keeps(l)})}));
  }
  x = l.op(kArg.data, {l.reshape(x, {-1})},
           {attr("axis", 0), attr("keepdims", 0)});
  if (keeps(l)) x = l.reshape(x, Ints(size_t(l.rank()), 1));
  l.result(x);
}

template <bool kAll>
void truth(Lowering& l) {
  const std::string x =
      l.cast(l.tensor(0, DType::kBool), DType::kBool, DType::kInt32);
  const std::string y = reduce(l, kAll ? "ReduceMin" : "ReduceMax", x);
  l.result(l.cast(y, DType::kInt32, l.out().dtype()));
}

void logsumexp(Lowering& l) {
  const DType of = l.out().dtype();
  l.result(reduce(l, "ReduceLogSumExp", l.tensor(0, of)));
}

std::string norm_of(const Lowering& l, double order) {
  const DType of = l.out().dtype();
  const std::string x = l.tensor(0, of);
  if (order == 2) return reduce(l, "ReduceL2", x);
  if (order == 1) return reduce(l, "ReduceL1", x);
  const std::string size = l.op("Abs", {x});
  if (std::isinf(order))
    return reduce(l, order > 0 ? "ReduceMax" : "ReduceMin", size);
  if (order == 0) {
    const std::string some = l.op("Sign", {size});
    return reduce(l, "ReduceSum", some, 13);
  }
  const std::string sum =
      reduce(l, "ReduceSum", l.op("Pow", {size, like(l, order, of)}), 13);
  return l.op("Pow", {sum, like(l, 1 / order, of)});
}

void norm(Lowering& l) {
  const char* name = l.has("p") ? "p" : "ord";
  l.result(norm_of(l, l.given(name) ? l.scalar(name).to_double() : 2));
}

// Two-pass, as the operator itself: squares of what differs from the mean.
Names moments(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string x = l.tensor(0, of);
  const Ints dims = dims_of(l);
  double correction = 1;
  if (l.has("unbiased")) correction = l.flag("unbiased") ? 1 : 0;
  if (l.given("correction")) correction = l.scalar("correction").to_double();
  const std::string mean = l.reduce("ReduceMean", x, dims, true);
  const std::string gap = l.op("Sub", {x, mean});
  const std::string square = l.op("Mul", {gap, gap});
  std::string variance;
  if (correction == 0) {
    variance = l.reduce("ReduceMean", square, dims, keeps(l));
  } else {
    std::string count;
    int64_t known = 1;
    bool fixed = true;
    for (int64_t dim : dims) {
      const std::optional<int64_t> size = l.example(0).size(dim);
      fixed = fixed && size;
      known *= size.value_or(1);
    }
    if (fixed) {
      count = like(l, std::max(0.0, double(known) - correction), of);
    } else {
      const std::string sizes =
          l.op("Gather", {l.shape_of(x), l.ints(dims)}, {attr("axis", 0)});
      count = l.op("Sub", {l.cast(l.reduce("ReduceProd", sizes, {0}, false),
                                  DType::kInt64, of),
                           like(l, correction, of)});
    }
    variance =
        l.op("Div", {l.reduce("ReduceSum", square, dims, keeps(l), 13), count});
  }
  return {variance, keeps(l) ? mean : l.squeeze(mean, dims)};
}

void var(Lowering& l) {
  l.result(moments(l)[0]);
}
void std_of(Lowering& l) {
  l.result(l.op("Sqrt", {moments(l)[0]}));
}
void var_mean(Lowering& l) {
  l.results(moments(l));
}
void std_mean(Lowering& l) {
  const Names both = moments(l);
  l.results({l.op("Sqrt", {both[0]}), both[1]});
}

void cumsum(Lowering& l) {
  const DType of = l.out().dtype();
  const std::string x = l.tensor(0, of);
  if (l.rank() == 0) return l.result(l.op("Identity", {x}));
  l.result(
      l.op("CumSum", {x, l.number(Scalar(l.integer("dim")), DType::kInt64)}));
}

void logcumsumexp(Lowering& l) {
  const DType of = l.out().dtype();
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  const std::string x = l.tensor(0, of);
  const std::string top = l.reduce("ReduceMax", x, {dim}, true);
  const std::string sum =
      l.op("CumSum", {l.op("Exp", {l.op("Sub", {x, top})}),
                      l.number(Scalar(dim), DType::kInt64)});
  l.result(l.op("Add", {l.op("Log", {sum}), top}));
}

void count_nonzero(Lowering& l) {
  const std::string some =
      l.cast(l.tensor(0, DType::kBool), DType::kBool, DType::kInt64);
  l.result(reduce(l, "ReduceSum", some, 13));
}

void aminmax(Lowering& l) {
  const std::string x = l.tensor(0);
  l.results({reduce(l, "ReduceMin", x), reduce(l, "ReduceMax", x)});
}

void normalize_along(Lowering& l) {
  const DType of = l.out().dtype();
  const double p = l.scalar("p").to_double();
  const int64_t dim = l.wrap(l.integer("dim"), l.rank());
  const double limit = l.scalar("maxnorm").to_double();
  Ints dims = iota(l.rank());
  std::erase(dims, dim);
  const std::string x = l.tensor(0, of);
  const std::string sum =
      l.reduce("ReduceSum", l.op("Pow", {l.op("Abs", {x}), like(l, p, of)}),
               dims, true, 13);
  const std::string size = l.op("Pow", {sum, like(l, 1 / p, of)});
  const std::string scale =
      l.op("Div", {like(l, limit, of), l.op("Add", {size, like(l, 1e-7, of)})});
  const std::string large = l.op("Greater", {size, like(l, limit, of)});
  l.result(l.op("Mul", {x, l.op("Where", {large, scale, like(l, 1, of)})}));
}

constexpr Row kReduceRows[] = {
    {"sum", plain<"ReduceSum", 13>},
    {"mean", plain<"ReduceMean", 18>},
    {"prod", plain<"ReduceProd", 18>},
    {"amax", extreme<"ReduceMax">},
    {"amin", extreme<"ReduceMin">},
    {"max.dim", extreme_at<"ReduceMax", "ArgMax">},
    {"min.dim", extreme_at<"ReduceMin", "ArgMin">},
    {"max", extreme<"ReduceMax">},
    {"min", extreme<"ReduceMin">},
    {"aminmax", aminmax},
    {"argmax", arg<"ArgMax">},
    {"argmin", arg<"ArgMin">},
    {"all", truth<true>},
    {"any", truth<false>},
    {"logsumexp", logsumexp},
    {"special_logsumexp", logsumexp},
    {"norm", norm},
    {"linalg_vector_norm", norm},
    {"frobenius_norm", norm},
    {"linalg_norm", norm},
    {"var", var},
    {"std", std_of},
    {"var_mean", var_mean},
    {"std_mean", std_mean},
    {"cumsum", cumsum},
    {"logcumsumexp", logcumsumexp},
    {"count_nonzero", count_nonzero},
    {"renorm", normalize_along},
};

}  // namespace

Rows reduce_rows() {
  return kReduceRows;
}

}  // namespace hotaru::exchange::onnx_out
