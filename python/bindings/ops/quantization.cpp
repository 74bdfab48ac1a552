// C++ side of quantisation in Python.
#include "bindings/ops/quantization.h"

#include "hotaru/backend/common/matmul/dynamic_quantize.h"

namespace hotaru::python {

namespace nb = nanobind;

void init_quantization(nb::module_& m) {
  m.def("_choose_qparams", [](double low, double high, int64_t qmin,
                              int64_t qmax, bool reduce_range, bool symmetric) {
    const QuantizationParameters found =
        choose_qparams(low, high, qmin, qmax, reduce_range, symmetric);
    return nb::make_tuple(found.scale, found.zero_point);
  });
}

}  // namespace hotaru::python
