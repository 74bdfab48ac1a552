// How losses are reduced, as numbers.
#pragma once

namespace at::Reduction {
enum Reduction { None, Mean, Sum };
}
