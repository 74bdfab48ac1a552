#include "hotaru/ops/attention/attention_kinds.h"

#include <vector>

#include "bindings/graph/around_calls.h"
#include "bindings/ops/attention_kinds.h"

namespace hotaru::python {

void init_attention_kinds(nb::module_& m) {
  m.def("_set_attention_kinds", [](nb::sequence kinds) {
    std::vector<int> numbers;
    for (nb::handle kind : kinds) numbers.push_back(nb::cast<int>(kind));
    set_attention_kinds(numbers);
    count_setting_change();
  });
}

}  // namespace hotaru::python
