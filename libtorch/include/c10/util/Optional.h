// PyTorch's former names of std::optional.
#pragma once

#include <optional>

namespace c10 {

using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;

}  // namespace c10

namespace at {
using std::make_optional;
using std::nullopt;
using std::optional;
}  // namespace at
