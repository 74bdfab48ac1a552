#include "hotaru/backend/cuda/pointwise/pointwise.h"

#include "hotaru/backend/cuda/geometry.h"

namespace hotaru::cuda {
namespace {

constexpr int kOperands = 1 + PointwiseParams::kMaxInputs;

/// An input of one element is read once a thread, wherever it stands.
void find_sources(const KernelCall& call, PointwiseParams& params,
                  std::array<const Tensor*, kOperands>& elements) {
  const Tensor& out = call.tensor(0);
  const DType dtype = call.tensor(1).dtype();
  elements[0] = &out;
  for (size_t i = 1; i < call.operands().size(); ++i) {
    const Tensor& t = call.tensor(i);
    Source& source = params.source[i - 1];
    if (source == Source::kValue) continue;
    params.in[i - 1] = device_address(t);
    if (t.dtype() != dtype && t.dtype() == DType::kFloat32)
      source = Source::kOneFloat;
    else if (t.numel() == 1 && out.numel() > 1)
      source = Source::kOne;
    else
      elements[i] = &t;
  }
}

}  // namespace

void launch_pointwise(const KernelCall& call, const PointwiseFunctions& f,
                      PointwiseParams& params) {
  const Tensor& out = call.tensor(0);
  if (out.numel() == 0) return;
  const int inputs = int(call.operands().size()) - 1;
  std::array<const Tensor*, kOperands> elements{};
  find_sources(call, params, elements);
  device_address(out);
  const size_t item = itemsize(call.tensor(1).dtype());
  const auto all = Geometry<kOperands>::of(elements, out.sizes());
  all.for_parts([&](const Geometry<kOperands>& part) {
    params.out = part.address[0];
    params.numel = uint32_t(part.numel());
    bool well = f.has_dense;
    for (size_t k = 0; k < kOperands; ++k) {
      if (!elements[k]) continue;
      if (k > 0) params.in[k - 1] = part.address[k];
      const size_t own = itemsize(elements[k]->dtype());
      well =
          well && part.dense(k, own) && lies_well(part.address[k], own, item);
    }
    if (well)
      return launch(f.dense,
                    {blocks_for(params.numel, dense_items(item, inputs))},
                    kBlock, params);
    StridedPointwiseParams strided{params, part.index()};
    if (f.has_rows && to_rows(strided, inputs, itemsize(out.dtype()), item))
      return launch(f.rows,
                    {blocks_for(strided.pointwise.numel, row_items(inputs))},
                    kBlock, strided);
    launch(f.strided, {blocks_for(params.numel, kStridedItems)}, kBlock,
           strided);
  });
}

}  // namespace hotaru::cuda
