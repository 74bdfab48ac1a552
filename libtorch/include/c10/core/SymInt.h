// Sizes that a trace would keep open: numbers, here.
#pragma once

#include "c10/util/ArrayRef.h"

namespace c10 {
using SymInt = int64_t;
}
namespace at {
using c10::SymInt;
}
