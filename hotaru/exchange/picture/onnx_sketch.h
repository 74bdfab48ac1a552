// Pictures of ONNX models.
#pragma once

#include "hotaru/exchange/picture/sketch.h"
#include "hotaru/io/onnx/onnx_file.h"

namespace hotaru::exchange {

/// Sketches what the file declares; reads no tensor. The model's own functions
/// are drawn where they are called. Throws Error for a model that would take
/// more than 100,000 boxes.
Sketch sketch_of(const io::onnx::OnnxFile& file);

}  // namespace hotaru::exchange
