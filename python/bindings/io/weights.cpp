#include "bindings/io/weights.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "bindings/gil.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/io/weights/safetensors.h"
#include "hotaru/io/weights/weight_file.h"

namespace hotaru::python {
namespace {

struct PyWeights {
  Ref<io::WeightFile> file;
};

nb::object text(const std::string& s) {
  // GGUF's texts may be pieces of UTF-8; what is none of it is kept, as in
  // Python's names of files.
  PyObject* made =
      PyUnicode_DecodeUTF8(s.data(), Py_ssize_t(s.size()), "surrogateescape");
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

nb::object metadata_object(const Value& value) {
  if (value.is_string()) return text(value.as_string());
  if (value.is_list()) {
    nb::list out;
    for (const Value& item : value.as_list().items)
      out.append(metadata_object(item));
    return out;
  }
  if (value.is_dict()) {
    nb::dict out;
    for (const auto& [key, item] : value.as_dict().items)
      out[metadata_object(key)] = metadata_object(item);
    return out;
  }
  return nb::steal(to_python(value));
}

/// name, type, dtype or None, shape, offset, nbytes, part.
nb::object info_tuple(const io::WeightInfo& info) {
  return nb::make_tuple(text(info.name), info.type,
                        info.dtype ? dtype_object(*info.dtype) : nb::none(),
                        size_object(info.shape), info.offset, info.nbytes,
                        info.part);
}

PyWeights open_path(const std::string& path) {
  const GilRelease release;
  return {io::open_weights(path)};
}

PyWeights open_bytes(const nb::bytes& data, const std::string& name) {
  std::vector<std::byte> copy(data.size());
  const GilRelease release;
  if (!copy.empty()) std::memcpy(copy.data(), data.c_str(), copy.size());
  return {io::open_weights(io::MappedFile::from_bytes(std::move(copy), name))};
}

nb::object read_tensor(const PyWeights& self, const std::string& name) {
  Tensor tensor;
  {
    const GilRelease release;
    tensor = self.file->tensor(name);
  }
  return nb::steal(wrap(std::move(tensor)));
}

nb::object read_blocks(const PyWeights& self, const std::string& name) {
  return nb::steal(wrap(self.file->blocks(name)));
}

io::NamedTensors named_tensors(const nb::dict& tensors) {
  io::NamedTensors out;
  for (auto [name, tensor] : tensors)
    out.emplace_back(nb::cast<std::string>(name),
                     to_value(tensor.ptr()).as_tensor());
  return out;
}

io::TextMap text_map(const nb::dict& texts) {
  io::TextMap out;
  for (auto [key, value] : texts)
    out[nb::cast<std::string>(key)] = nb::cast<std::string>(value);
  return out;
}

void save_path(const nb::dict& tensors, const std::string& path,
               const nb::dict& metadata) {
  const io::NamedTensors named = named_tensors(tensors);
  const io::TextMap texts = text_map(metadata);
  const GilRelease release;
  io::save_safetensors(path, named, texts);
}

nb::bytes save_bytes(const nb::dict& tensors, const nb::dict& metadata) {
  const io::NamedTensors named = named_tensors(tensors);
  const io::TextMap texts = text_map(metadata);
  std::string out;
  {
    const GilRelease release;
    io::save_safetensors([&](std::string_view piece) { out += piece; }, named,
                         texts);
  }
  return nb::bytes(out.data(), out.size());
}

}  // namespace

void init_weights(nb::module_& m) {
  nb::class_<PyWeights>(m, "_WeightFile", "An open file of weights.")
      .def_prop_ro("path",
                   [](const PyWeights& self) { return self.file->path(); })
      .def_prop_ro("format",
                   [](const PyWeights& self) { return self.file->format(); })
      .def("parts", [](const PyWeights& self) { return self.file->parts(); })
      .def("tensors",
           [](const PyWeights& self) {
             nb::list out;
             for (const io::WeightInfo& info : self.file->tensors())
               out.append(info_tuple(info));
             return out;
           })
      .def("names",
           [](const PyWeights& self) {
             nb::list out;
             for (const io::WeightInfo& info : self.file->tensors())
               out.append(text(info.name));
             return out;
           })
      .def("info",
           [](const PyWeights& self, const std::string& name) {
             return info_tuple(self.file->get(name));
           })
      .def("metadata",
           [](const PyWeights& self) {
             return metadata_object(self.file->metadata());
           })
      .def("tensor", &read_tensor)
      .def("blocks", &read_blocks);
  m.def("_open_weights", &open_path);
  m.def("_open_weights_bytes", &open_bytes);
  m.def("_looks_like_weights", [](const nb::bytes& beginning) {
    return io::looks_like_weights(
        std::as_bytes(std::span(beginning.c_str(), beginning.size())));
  });
  m.def("_save_weights", &save_path);
  m.def("_save_weights_bytes", &save_bytes);
}

}  // namespace hotaru::python
