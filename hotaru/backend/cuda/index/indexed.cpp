// Reading and writing at indices: gather, scatter, whole slices, x[indices].
#include "hotaru/backend/common/index/bounds.h"
#include "hotaru/backend/common/index/gather.h"
#include "hotaru/backend/common/index/index.h"
#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/cuda/index/ordered.h"
#include "hotaru/backend/cuda/kernel_errors.h"
#include "hotaru/backend/cuda/params/create.h"
#include "hotaru/backend/cuda/params/types.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda {
namespace {

using Space = Geometry<3>;

// --- texts of errors, the CPU's ----------------------------------------------

/// They report the index and the size.
void raise_element(const FailureText& text, int64_t, const int64_t* numbers) {
  index_out_of_bounds(numbers[0], text.dim, numbers[1]);
}

void raise_slice(const FailureText& text, int64_t, const int64_t* numbers) {
  slice_out_of_bounds(text.op, numbers[0], text.dim, numbers[1]);
}

/// The code is the number of the index.
void raise_position(const FailureText&, int64_t code, const int64_t* numbers) {
  index_out_of_bounds<IndexError>(numbers[0], code, numbers[1]);
}

void raise_flat(const FailureText&, int64_t, const int64_t* numbers) {
  fail<IndexError>("out of range: tried to access index ", numbers[0],
                   " on a tensor of ", numbers[1], " elements.");
}

// --- launching ---------------------------------------------------------------

int64_t bytes_along(const Tensor& t, size_t dim) {
  return t.sizes()[dim] == 1 ? 0
                             : t.strides()[dim] * int64_t(itemsize(t.dtype()));
}

/// Along the indexed dimension, which a kernel multiplies by indices.
void set_line(IndexedParams& p, const Tensor& whole, size_t dim) {
  p.size = whole.dim() ? whole.sizes()[dim] : 1;
  p.step = whole.dim() ? bytes_along(whole, dim) : 0;
}

/// Takes two elements for one of twice the size, where that can be: runs that
/// one index says where to find.
bool widen(Space& space, const IndexedParams& p, size_t item) {
  const auto wide = int64_t(2 * item);
  const auto fits = [&](int64_t n) { return n % wide == 0; };
  if (item >= 16 || space.dims == 0 || space.sizes[0] % 2 != 0 ||
      space.strides[0] != Space::Strides{int64_t(item), int64_t(item), 0} ||
      !fits(p.step))
    return false;
  for (size_t k = 0; k < 2; ++k) {
    if (!fits(int64_t(reinterpret_cast<uintptr_t>(space.address[k]))))
      return false;
    for (int d = 1; d < space.dims; ++d)
      if (!fits(space.strides[size_t(d)][k])) return false;
  }
  space.sizes[0] /= 2;
  space.strides[0] = {wide, wide, 0};
  return true;
}

void launch_parts(const Space& space, IndexedParams p,
                  const Function& function) {
  space.for_parts([&](const Space& part) {
    p.part = part.address[0];
    p.whole = part.address[1];
    p.index = part.address[2];
    p.numel = uint32_t(part.numel());
    p.at = part.index();
    launch(function, {blocks_for(p.numel, kStridedItems)}, kBlock, p);
  });
}

constinit const Functions gathering("Gather"), scattering("Scatter");

void move(Space space, const IndexedParams& p, size_t item,
          const Functions& direction) {
  while (widen(space, p, item)) item *= 2;
  launch_parts(space, p, direction.of_size(item));
}

/// How elements are written.
struct Writing {
  WriteMode mode;
  /// Set if equal indices count in the order of positions, row by row.
  bool ordered;

  Writing(const Tensor& whole, WriteMode mode)
      : mode(mode), ordered(keeps_order(whole.dtype(), mode)) {}
};

/// Tells whether all positions bring the same value.
bool is_one_value(const Space& space) {
  return std::all_of(space.strides.begin(), space.strides.begin() + space.dims,
                     [](const Space::Strides& step) { return step[0] == 0; });
}

void write_with(const Space& space, const IndexedParams& p, DType dtype,
                Writing writing) {
  const WriteMode mode = writing.mode;
  if (is_complex(dtype) && mode > WriteMode::kMultiply)
    fail<NotImplementedError>("\"scatter_cuda\" not implemented for '",
                              scalar_type_name(dtype), "'");
  if (writing.ordered && !(mode == WriteMode::kAssign && is_one_value(space)))
    return write_indexed_ordered(space, p, dtype, mode);
  static constinit const Functions functions[] = {
      Functions("ScatterAdd"), Functions("ScatterMultiply"),
      Functions("ScatterMax"), Functions("ScatterMin")};
  if (mode == WriteMode::kAssign)
    return move(space, p, itemsize(dtype), scattering);
  launch_parts(space, p, functions[size_t(mode) - 1].of(dtype));
}

/// Dimensions are sorted, unless they are to stay row by row.
Space space_of(const Tensor& part, const Tensor& whole, const Tensor& index,
               IntSpan shape, const Space::Steps& steps, bool sorted) {
  return Space::over({static_cast<char*>(device_address(part)),
                      static_cast<char*>(device_address(whole)),
                      static_cast<char*>(device_address(index))},
                     shape, steps, sorted);
}

// --- kernels -----------------------------------------------------------------

/// The index's shape is the space: part and whole may be larger.
Space element_space(const Tensor& part, const Tensor& whole,
                    const Tensor& index, size_t dim, bool sorted = true) {
  Space::Steps steps{};
  const auto item = int64_t(itemsize(part.dtype()));
  for (size_t d = 0; d < size_t(index.dim()); ++d)
    steps[d] = {part.strides()[d] * item,
                d == dim ? 0 : whole.strides()[d] * item,
                bytes_along(index, d)};
  return space_of(part, whole, index, index.sizes(), steps, sorted);
}

IndexedParams element_params(const KernelCall& call, const Tensor& whole,
                             const Tensor& index, int64_t dim) {
  IndexedParams p;
  p.wide = index.dtype() == DType::kInt64;
  set_line(p, whole, size_t(dim));
  p.errors = watch_errors(call, {&raise_element, dim});
  return p;
}

/// Operands: result, input, index.
void gather(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1),
               &index = call.tensor(2);
  if (index.numel() == 0) return;
  const int64_t dim = call.attributes<ScatterAttributes>().dim;
  move(element_space(out, in, index, size_t(dim)),
       element_params(call, in, index, dim), itemsize(in.dtype()), gathering);
}

/// Operands: target, index, source.
void scatter(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &index = call.tensor(1),
               &source = call.tensor(2);
  if (index.numel() == 0) return;
  const auto& a = call.attributes<ScatterAttributes>();
  const Writing writing(out, a.mode);
  write_with(element_space(source, out, index, size_t(a.dim), !writing.ordered),
             element_params(call, out, index, a.dim), out.dtype(), writing);
}

/// The part has as many slices along the dimension as there are indices.
Space slice_space(const Tensor& part, const Tensor& whole, const Tensor& index,
                  size_t dim, bool sorted = true) {
  Space::Steps steps{};
  for (size_t d = 0; d < size_t(part.dim()); ++d) {
    const bool here = d == dim;
    steps[d] = {bytes_along(part, d), here ? 0 : bytes_along(whole, d),
                here && index.dim() ? bytes_along(index, 0) : 0};
  }
  return space_of(part, whole, index, part.sizes(), steps, sorted);
}

IndexedParams slice_params(const KernelCall& call, const Tensor& whole,
                           const Tensor& index) {
  const auto& a = call.attributes<SliceAttributes>();
  IndexedParams p;
  p.wide = index.dtype() == DType::kInt64;
  p.wrap = a.wrap;
  set_line(p, whole, size_t(a.dim));
  p.errors = watch_errors(call, {&raise_slice, a.dim, a.op});
  return p;
}

/// Operands: result, input, index.
void index_select(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1),
               &index = call.tensor(2);
  if (out.numel() == 0) return;
  const auto dim = size_t(call.attributes<SliceAttributes>().dim);
  move(slice_space(out, in, index, dim), slice_params(call, in, index),
       itemsize(in.dtype()), gathering);
}

/// Operands: target, index, source.
void index_write(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &index = call.tensor(1),
               &source = call.tensor(2);
  if (source.numel() == 0) return;
  const auto& a = call.attributes<SliceAttributes>();
  const Writing writing(out, a.mode);
  write_with(slice_space(source, out, index, size_t(a.dim), !writing.ordered),
             slice_params(call, out, index), out.dtype(), writing);
}

/// Several indices become one, of offsets in bytes.
void join_indices(const KernelCall& call, const Tensor& whole, size_t before,
                  const ErrorSink& errors, int64_t* out) {
  constexpr int kMost = OffsetsParams::kMost;
  const size_t count = call.operands().size() - 2;
  HOTARU_CHECK(count <= kMost, "indexing with more than ", kMost,
               " tensors at once is not implemented for CUDA");
  OffsetsParams p;
  p.count = int32_t(count);
  p.errors = errors;
  std::array<char*, kMost> address{};
  Geometry<kMost>::Steps steps{};
  const IntSpan shape = call.tensor(2).sizes();
  for (size_t k = 0; k < count; ++k) {
    const Tensor& index = call.tensor(2 + k);
    address[k] = static_cast<char*>(device_address(index));
    for (size_t d = 0; d < shape.size(); ++d)
      steps[d][k] = bytes_along(index, d);
    p.sizes[k] = whole.sizes()[before + k];
    p.steps[k] = bytes_along(whole, before + k);
  }
  const auto space = Geometry<kMost>::over(address, shape, steps, false);
  static const Function function("IndexOffsets");
  space.for_stretches([&](const auto& part, int64_t before) {
    p.out = out + before;
    p.numel = uint32_t(part.numel());
    for (size_t k = 0; k < count; ++k) p.indices[k] = part.address[k];
    p.at = part.index();
    launch(function, {blocks_for(p.numel, kStridedItems)}, kBlock, p);
  });
}

/// f(space, params): the part is the result or what is written, row by row
/// the dimensions before the indices, theirs, and those behind.
template <class F>
void at_positions(const KernelCall& call, const Tensor& whole,
                  const Tensor& part, bool sorted, const F& f) {
  const auto& a = call.attributes<IndexAttributes>();
  const size_t indexed = call.operands().size() - 2;
  const Tensor& first = call.tensor(2);
  const auto before = size_t(a.before), common = size_t(first.dim());
  if (part.numel() == 0) return;
  device_address(first);
  IndexedParams p;
  const ErrorSink errors =
      watch_errors(call, {a.flat ? &raise_flat : &raise_position});
  std::unique_ptr<Workspace> offsets;
  void* index = first.address();
  if (indexed == 1) {
    p.wrap = true;
    p.errors = errors;
    set_line(p, whole, before);
  } else {
    offsets = std::make_unique<Workspace>(size_t(first.numel()) * 8);
    index = offsets->data();
    join_indices(call, whole, before, errors, static_cast<int64_t*>(index));
    p.size = std::numeric_limits<int64_t>::max();
    p.step = 1;
  }
  const Dims row_major = contiguous_strides(first.sizes());
  Space::Steps steps{};
  for (size_t d = 0; d < size_t(part.dim()); ++d) {
    steps[d][0] = bytes_along(part, d);
    if (d < before) {
      steps[d][1] = bytes_along(whole, d);
    } else if (d >= before + common) {
      steps[d][1] = bytes_along(whole, d - common + indexed);
    } else {
      const size_t i = d - before;
      steps[d][2] = offsets ? row_major[i] * 8 : bytes_along(first, i);
    }
  }
  f(Space::over(
        {static_cast<char*>(device_address(part)),
         static_cast<char*>(device_address(whole)), static_cast<char*>(index)},
        part.sizes(), steps, sorted),
    p);
}

/// Operands: result, input, index...
void index(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  at_positions(call, in, out, true,
               [&](const Space& space, const IndexedParams& p) {
                 move(space, p, itemsize(in.dtype()), gathering);
               });
}

/// Operands: target, values, index...
void index_put(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &values = call.tensor(1);
  const bool adds = call.attributes<IndexAttributes>().accumulate;
  const Writing writing(out, adds ? WriteMode::kAdd : WriteMode::kAssign);
  at_positions(call, out, values, !writing.ordered,
               [&](const Space& space, const IndexedParams& p) {
                 write_with(space, p, out.dtype(), writing);
               });
}

constexpr KernelTypes<FloatingAndComplexTypes> kStridedTypes{0, "as_strided"};

/// Operands: a view, whose elements may overlap, and what is added to it.
void scatter_strided(const KernelCall& call) {
  const Tensor &out = call.tensor(0), &in = call.tensor(1);
  check_types<kStridedTypes>(call);
  if (out.numel() == 0) return;
  device_address(out);
  device_address(in);
  const auto space = Geometry<2>::of({&out, &in}, out.sizes());
  if (keeps_order(out.dtype(), WriteMode::kAdd))
    return add_strided_ordered(space, out.dtype());
  static constinit const Functions functions("AddStrided");
  const Function& function = functions.of(out.dtype());
  space.for_parts([&](const Geometry<2>& part) {
    const auto n = uint32_t(part.numel());
    launch(
        function, {blocks_for(n, kStridedItems)}, kBlock,
        StridedCopyParams{{part.address[0], part.address[1], n}, part.index()});
  });
}

HOTARU_KERNEL(kCUDA, "gather", gather);
HOTARU_KERNEL(kCUDA, "scatter", scatter);
HOTARU_KERNEL(kCUDA, "index_select", index_select);
HOTARU_KERNEL(kCUDA, "index_write", index_write);
HOTARU_KERNEL(kCUDA, "index", index);
HOTARU_KERNEL(kCUDA, "index_put", index_put);
HOTARU_KERNEL(kCUDA, "scatter_strided", scatter_strided);

}  // namespace
}  // namespace hotaru::cuda
