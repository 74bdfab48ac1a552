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
  const std::string x = l.tensor(0, l.out().dtype());
  if (l.rank() > 0) return norm_over(l, x, order, dims_of(l), keeps(l));
  const std::string size = l.op("Abs", {x});
  return order == 0 ? l.op("Sign", {size}) : size;
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

// Each over all that lie before it: one sum that runs on would be zero where a
// later element is far greater.
void logcumsumexp(Lowering& l) {
  if (l.opset() < 14) l.refuse("needs opset 14");
  const DType of = l.out().dtype();
  const int64_t rank = l.rank();
  const int64_t dim = l.wrap(l.integer("dim"), rank);
  Ints order = iota(rank);
  std::swap(order[size_t(dim)], order.back());
  const std::string x = l.transpose(l.tensor(0, of), order);
  const std::string size = l.sizes_of(x, rank - 1, rank);
  const double least = -std::numeric_limits<double>::infinity();
  const std::string behind =
      l.op("Trilu",
           {filled(l, like(l, least, of),
                   l.op("Concat", {size, size}, {attr("axis", 0)})),
            l.number(Scalar(int64_t{1}), DType::kInt64)},
           {attr("upper", 1)});
  const std::string all = l.op("Add", {l.unsqueeze(x, {rank - 1}), behind});
  l.result(l.transpose(l.reduce("ReduceLogSumExp", all, {-1}, false), order));
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
  const std::string size = norm_over(l, x, p, dims, true);
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
    {"logcumsumexp", of_lines<logcumsumexp>},
    {"count_nonzero", count_nonzero},
    {"renorm", normalize_along},
};

}  // namespace

Rows reduce_rows() {
  return kReduceRows;
}

}  // namespace hotaru::exchange::onnx_out
