// Pictures of programs of torch.export.
#pragma once

#include "hotaru/exchange/picture/sketch.h"
#include "hotaru/exchange/pt2/pt2_file.h"

namespace hotaru::exchange {

/// The file's graph, by the modules that it was exported from.
Sketch sketch_of(const pt2::File& file);

}  // namespace hotaru::exchange
