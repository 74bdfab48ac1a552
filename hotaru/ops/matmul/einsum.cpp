// Contractions: each pair of operands is brought to one batched product of
// matrices, from left to right.
#include <array>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/autocast.h"
#include "hotaru/ops/matmul/matmul.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru {
namespace {

// Both operands have the same number of dimensions, each of which is 1 or the
// common size. Dimensions in `summed` vanish to size 1.
Tensor contract(Tensor a, Tensor b, const std::vector<bool>& summed) {
  const size_t n = summed.size();
  Dims batch, left, right, inner, unit;
  for (size_t d = 0; d < n; ++d) {
    const bool wide_a = a.sizes()[d] != 1, wide_b = b.sizes()[d] != 1;
    const int64_t dim = int64_t(d);
    if (summed[d] && wide_a != wide_b) {
      // Only one side has it: sum it before the product.
      Tensor& side = wide_a ? a : b;
      side = sum(side, Dims{dim}, true);
      unit.push_back(dim);
    } else if (summed[d]) {
      inner.push_back(dim);
    } else {
      (wide_a && wide_b ? batch
       : wide_a         ? left
       : wide_b         ? right
                        : unit)
          .push_back(dim);
    }
  }
  const auto extent = [](const Tensor& t, const Dims& dims) {
    int64_t size = 1;
    for (int64_t d : dims) size *= t.size(d);
    return size;
  };
  const auto arrange = [&](const Tensor& t, std::array<const Dims*, 4> groups) {
    Dims order;
    for (const Dims* group : groups)
      for (int64_t d : *group) order.push_back(d);
    return permute(t, order);
  };
  const int64_t nb = extent(a, batch), nl = extent(a, left);
  const int64_t nr = extent(b, right), nk = extent(a, inner);
  // Nothing left to sum: a product of elements, whose dtypes promote.
  const bool apart = autocast::active();
  if (nk == 1 && (apart || a.dtype() != b.dtype())) return mul(a, b);
  if (apart) {
    a = autocast::lowered(a);
    b = autocast::lowered(b);
  }
  Dims rest(right);
  for (int64_t d : unit) rest.push_back(d);
  Dims lead(left);
  for (int64_t d : unit) lead.push_back(d);
  // The dimensions that a side lacks have size 1 and may stand anywhere.
  for (int64_t d : right) lead.push_back(d);
  Dims tail(rest);
  for (int64_t d : left) tail.push_back(d);
  const Dims none{};
  const Tensor x =
      reshape(arrange(a, {&batch, &lead, &inner, &none}), Dims{nb, nl, nk});
  const Tensor y =
      reshape(arrange(b, {&batch, &inner, &tail, &none}), Dims{nb, nk, nr});
  Tensor out = bmm(x, y);
  // Back to one dimension each, in the original order.
  Dims size, order(n, 0);
  const auto append = [&](const Dims& dims, const Tensor* t) {
    for (int64_t d : dims) {
      order[size_t(d)] = int64_t(size.size());
      size.push_back(t ? t->size(d) : 1);
    }
  };
  append(batch, &a);
  append(left, &a);
  append(right, &b);
  append(inner, nullptr);
  append(unit, nullptr);
  return permute(reshape(out, size), order);
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The subscripts of one operand or of the result: letters, with '.' where an
// ellipsis stands.
std::string subscripts(const std::string& equation, size_t begin, size_t end) {
  std::string out;
  for (size_t i = begin; i < end; ++i) {
    const char c = equation[i];
    if (c == ' ') continue;
    if (c == '.') {
      HOTARU_CHECK(equation.compare(i, 3, "...") == 0 && i + 3 <= end,
                   "einsum(): found '.' that is not part of any ellipsis");
      HOTARU_CHECK(out.find('.') == std::string::npos,
                   "einsum(): found '.' for which an ellipsis was already "
                   "found");
      out += '.';
      i += 2;
      continue;
    }
    HOTARU_CHECK(is_letter(c), "einsum(): invalid subscript given at index ", i,
                 " in the equation string, subscripts must be in [a-zA-Z]");
    out += c;
  }
  return out;
}

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

// Without "->" the result has the ellipsis and the letters that occur once,
// in alphabetical order (capitals first), as in numpy.
Equation parse(const std::string& text) {
  Equation out;
  const size_t arrow = text.find("->");
  const size_t end = arrow == std::string::npos ? text.size() : arrow;
  for (size_t begin = 0; begin <= end;) {
    const size_t comma = std::min(text.find(',', begin), end);
    out.inputs.push_back(subscripts(text, begin, comma));
    begin = comma + 1;
  }
  std::array<int, 128> count{};
  for (const std::string& input : out.inputs)
    for (char c : input) ++count[size_t(c)];
  if (arrow != std::string::npos) {
    out.output = subscripts(text, arrow + 2, text.size());
    for (size_t i = 0; i < out.output.size(); ++i) {
      const char c = out.output[i];
      if (c == '.') continue;
      HOTARU_CHECK(count[size_t(c)] > 0, "einsum(): output subscript ", c,
                   " does not appear in the equation for any input operand");
      HOTARU_CHECK(out.output.find(c, i + 1) == std::string::npos,
                   "einsum(): output subscript ", c,
                   " appears more than once in the output");
    }
    return out;
  }
  if (count['.'] > 0) out.output = ".";
  for (char c = 'A'; c <= 'z'; ++c)
    if (is_letter(c) && count[size_t(c)] == 1) out.output += c;
  return out;
}

// Where each label stands in the common order: the result's dimensions first,
// then those to sum.
struct Labels {
  int64_t ellipsis = 0;  // dimensions an ellipsis stands for
  int64_t ellipsis_at = 0;
  std::array<int64_t, 128> at;
  int64_t output = 0;
  int64_t total = 0;
};

Labels number_labels(const Equation& equation, const Tensors& operands) {
  Labels out;
  out.at.fill(-1);
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string& labels = equation.inputs[i];
    const bool dots = labels.find('.') != std::string::npos;
    const int64_t named = int64_t(labels.size()) - dots;
    const int64_t dim = operands[i].dim();
    HOTARU_CHECK(dots ? named <= dim : named == dim,
                 "einsum(): the number of subscripts in the equation (", named,
                 dots ? ") is more than" : ") does not match",
                 " the number of dimensions (", dim, ") for operand ", i,
                 dots ? "" : " and no ellipsis was given");
    out.ellipsis = std::max(out.ellipsis, dots ? dim - named : 0);
  }
  bool kept = false;
  for (char c : equation.output) {
    if (c == '.') {
      out.ellipsis_at = out.total;
      out.total += out.ellipsis;
      kept = true;
    } else {
      out.at[size_t(c)] = out.total++;
    }
  }
  out.output = out.total;
  if (!kept) {
    out.ellipsis_at = out.total;
    out.total += out.ellipsis;
  }
  for (const std::string& labels : equation.inputs)
    for (char c : labels)
      if (c != '.' && out.at[size_t(c)] < 0) out.at[size_t(c)] = out.total++;
  return out;
}

// The operand with one dimension a label of the whole equation, in order.
Tensor align(Tensor t, std::string labels, const Labels& all, size_t index) {
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == '.') continue;
    // A repeated label takes the diagonal, which becomes the last dimension.
    for (size_t j; (j = labels.find(labels[i], i + 1)) != std::string::npos;) {
      const auto dim = [&](size_t k) {
        const size_t dots = labels.find('.');
        const int64_t wide = t.dim() - int64_t(labels.size());
        return int64_t(k) + (dots < k ? wide : 0);
      };
      const int64_t a = dim(i), b = dim(j);
      HOTARU_CHECK(t.size(a) == t.size(b), "einsum(): subscript ", labels[i],
                   " is repeated for operand ", index,
                   " but the sizes don't match, ", t.size(b),
                   " != ", t.size(a));
      t = movedim(diagonal(t, 0, a, b), Dims{-1}, Dims{a});
      labels.erase(j, 1);
    }
  }
  Dims position(size_t(all.total), -1);
  const size_t dots = labels.find('.');
  const bool has_dots = dots != std::string::npos;
  const int64_t wide = t.dim() - int64_t(labels.size()) + has_dots;
  int64_t dim = 0;
  for (char c : labels) {
    if (c == '.') {
      const int64_t first = all.ellipsis_at + all.ellipsis - wide;
      for (int64_t k = 0; k < wide; ++k) position[size_t(first + k)] = dim++;
    } else {
      position[size_t(all.at[size_t(c)])] = dim++;
    }
  }
  for (int64_t& p : position)
    if (p < 0) {
      t = unsqueeze(t, -1);
      p = dim++;
    }
  return permute(t, position);
}

}  // namespace

Tensor einsum(const std::string& text, const Tensors& operands) {
  HOTARU_CHECK(!operands.empty(),
               "einsum(): must provide at least one operand");
  const Equation equation = parse(text);
  HOTARU_CHECK(equation.inputs.size() <= operands.size(),
               "einsum(): fewer operands were provided than specified in the "
               "equation");
  HOTARU_CHECK(equation.inputs.size() >= operands.size(),
               "einsum(): more operands were provided than specified in the "
               "equation");
  const Labels labels = number_labels(equation, operands);
  const size_t total = size_t(labels.total);
  Tensors aligned;
  Dims common(total, 1);
  std::vector<size_t> last_use(total, 0);
  for (size_t i = 0; i < operands.size(); ++i) {
    aligned.push_back(align(operands[i], equation.inputs[i], labels, i));
    for (size_t d = 0; d < total; ++d) {
      const int64_t size = aligned[i].sizes()[d];
      if (size == 1) continue;
      if (common[d] != 1 && common[d] != size) {
        char label = '.';
        for (char c = 'A'; c <= 'z'; ++c)
          if (labels.at[size_t(c)] == int64_t(d)) label = c;
        fail("einsum(): subscript ", label, " has size ", size, " for operand ",
             i, " which does not broadcast with previously seen size ",
             common[d]);
      }
      common[d] = size;
      last_use[d] = i;
    }
  }
  Tensor out = aligned[0];
  const auto sum_at = [&](size_t i, size_t d) {
    return int64_t(d) >= labels.output && last_use[d] == i;
  };
  for (size_t i = 1; i < aligned.size(); ++i) {
    std::vector<bool> summed(total);
    for (size_t d = 0; d < total; ++d)
      summed[d] = sum_at(i, d) || (i == 1 && sum_at(0, d));
    out = contract(out, aligned[i], summed);
  }
  Dims rest;
  for (int64_t d = labels.output; d < labels.total; ++d) rest.push_back(d);
  if (rest.empty()) return out;
  if (aligned.size() == 1) return sum(out, rest, false);
  Dims size(out.sizes().first(size_t(labels.output)));
  return reshape(out, size);
}

Tensor tensordot(const Tensor& self, const Tensor& other, IntSpan dims_self,
                 IntSpan dims_other) {
  HOTARU_CHECK(dims_self.size() == dims_other.size(),
               "both dimension lists should have same length");
  Tensor a = self, b = other;
  const auto order = [](const Tensor& t, IntSpan dims, bool last, Dims* size) {
    const Dims wrapped = dims.empty() ? Dims{} : wrap_dims(dims, t.dim());
    Dims free;
    for (int64_t d = 0; d < t.dim(); ++d)
      if (std::find(wrapped.begin(), wrapped.end(), d) == wrapped.end()) {
        free.push_back(d);
        size->push_back(t.size(d));
      }
    Dims out(last ? free : wrapped);
    for (int64_t d : last ? wrapped : free) out.push_back(d);
    return out;
  };
  int64_t inner = 1;
  for (size_t i = 0; i < dims_self.size(); ++i) {
    const int64_t d = wrap_dim(dims_self[i], self.dim());
    const int64_t e = wrap_dim(dims_other[i], other.dim());
    if (a.size(d) != 1 && b.size(e) == 1)
      a = sum(a, Dims{d}, true, self.dtype());
    if (b.size(e) != 1 && a.size(d) == 1)
      b = sum(b, Dims{e}, true, other.dtype());
    HOTARU_CHECK(a.size(d) == b.size(e),
                 "contracted dimensions need to match, but first has size ",
                 a.size(d), " in dim ", dims_self[i], " and second has size ",
                 b.size(e), " in dim ", dims_other[i]);
    inner *= a.size(d);
  }
  Dims size;
  const Dims order_a = order(a, dims_self, true, &size);
  const size_t split = size.size();
  const Dims order_b = order(b, dims_other, false, &size);
  const int64_t rows = numel_of(IntSpan(size).first(split));
  const int64_t columns = numel_of(IntSpan(size).subspan(split));
  const Tensor x = reshape(permute(a, order_a), Dims{rows, inner});
  const Tensor y = reshape(permute(b, order_b), Dims{inner, columns});
  // PyTorch adds up products instead where the result is a number.
  if (autocast::active() && rows * columns != 1)
    return reshape(mm(autocast::lowered(x), autocast::lowered(y)), size);
  return reshape(mm(x, y), size);
}

namespace {

Tensor einsum_with_path(const std::string& equation, const Tensors& tensors,
                        const Optional<IntSpan>&) {
  return einsum(equation, tensors);
}

Tensor trace(const Tensor& self) {
  HOTARU_CHECK(self.dim() == 2,
               "trace: expected a matrix, but got tensor "
               "with dim ",
               self.dim());
  HOTARU_CHECK_AS(NotImplementedError, self.dtype() != DType::kBool,
                  "\"trace\" not implemented for 'Bool'");
  return sum(diagonal(self));
}

}  // namespace

HOTARU_OP(
    "einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
    einsum_with_path);
HOTARU_OP(
    "tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) "
    "-> Tensor",
    tensordot);
HOTARU_OP("trace(Tensor self) -> Tensor", trace);

}  // namespace hotaru
