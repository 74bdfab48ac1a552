#include "hotaru/exchange/picture/program_picture.h"

#include "hotaru/exchange/load_program.h"
#include "hotaru/exchange/picture/onnx_sketch.h"
#include "hotaru/exchange/picture/pt2_sketch.h"
#include "hotaru/exchange/picture/script_sketch.h"
#include "hotaru/exchange/pt2/pt2_file.h"
#include "hotaru/io/onnx/onnx_file.h"

namespace hotaru::exchange {
namespace {

Sketch sketch_of_file(const std::string& path) {
  const Ref<io::MappedFile> file = io::MappedFile::open(path);
  switch (format_of(file)) {
    case Format::kOnnx:
      return sketch_of(io::onnx::OnnxFile(file));
    case Format::kExported:
      return sketch_of(pt2::read_file(file));
    default:  // what is no program is refused there
      return sketch_of(load_program(path), "forward");
  }
}

}  // namespace

std::string program_picture(const std::string& path) {
  graph::Sheet sheet = sheet_of(sketch_of_file(path));
  sheet.title = path.substr(path.rfind('/') + 1);
  return graph::draw_sheets({sheet});
}

}  // namespace hotaru::exchange
