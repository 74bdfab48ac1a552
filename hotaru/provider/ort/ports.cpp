#include "hotaru/core/checks/check.h"
#include "hotaru/io/onnx/onnx_file.h"
#include "hotaru/provider/ort/session.h"

namespace hotaru::provider::ort {

namespace {

using Dim = Port::Dim;

std::optional<std::vector<Dim>> dims_of(const Library& library,
                                        const OrtTensorInfo* info,
                                        const std::string& what) {
  const Api& api = library.api;
  size_t rank = 0;
  library.check(api.GetDimensionsCount(info, &rank), what);
  // Older libraries say 0 where nothing is known.
  if (rank == 0 && (!api.has_shape || !api.has_shape(info)))
    return std::nullopt;
  std::vector<int64_t> sizes(rank);
  std::vector<const char*> names(rank);
  library.check(api.GetDimensions(info, sizes.data(), rank), what);
  library.check(api.GetSymbolicDimensions(info, names.data(), rank), what);
  std::vector<Dim> dims(rank);
  for (size_t d = 0; d < rank; ++d) {
    dims[d].size = sizes[d] >= 0 ? sizes[d] : -1;
    if (sizes[d] < 0 && names[d]) dims[d].name = names[d];
  }
  return dims;
}

Port port_of(const Library& library, const OrtTypeInfo* type, std::string name,
             const std::string& what) {
  const Api& api = library.api;
  const OrtTensorInfo* info = nullptr;
  int kind = 0, element = 0;
  library.check(api.GetOnnxTypeFromTypeInfo(type, &kind), what);
  if (kind == kTypeTensor)
    library.check(api.CastTypeInfoToTensorInfo(type, &info), what);
  HOTARU_CHECK_AS(NotImplementedError, info, what,
                  " is no tensor but a sequence, map or optional value");
  library.check(api.GetTensorElementType(info, &element), what);
  const auto dtype = io::onnx::dtype_of(element);
  HOTARU_CHECK_AS(NotImplementedError, dtype, what, " has elements of type ",
                  io::onnx::data_type_name(element),
                  ", which tensors cannot hold");
  return {std::move(name), *dtype, dims_of(library, info, what)};
}

using Count = OrtStatus* (*)(const OrtSession*, size_t*);
using TypeOf = OrtStatus* (*)(const OrtSession*, size_t, OrtTypeInfo**);
using NameOf = OrtStatus* (*)(const OrtSession*, size_t, OrtAllocator*, char**);

std::vector<Port> ports_of(const SessionHandle& handle, const std::string& name,
                           const char* side, Count count, TypeOf type_of,
                           NameOf name_of) {
  const Library& library = handle.library;
  OrtAllocator* allocator = nullptr;
  library.check(library.api.GetAllocatorWithDefaultOptions(&allocator), name);
  size_t n = 0;
  library.check(count(handle.session, &n), name);
  std::vector<Port> ports;
  for (size_t i = 0; i < n; ++i) {
    char* text = nullptr;
    library.check(name_of(handle.session, i, allocator, &text), name);
    std::string own = text;
    library.check(library.api.AllocatorFree(allocator, text), name);
    Owned<OrtTypeInfo> type(library.api.ReleaseTypeInfo);
    library.check(type_of(handle.session, i, type.out()), name);
    const std::string what = concat(name, ": ", side, " '", own, "'");
    ports.push_back(port_of(library, type.get(), std::move(own), what));
  }
  return ports;
}

}  // namespace

std::vector<Port> input_ports(const SessionHandle& handle,
                              const std::string& name) {
  const Api& api = handle.library.api;
  return ports_of(handle, name, "input", api.SessionGetInputCount,
                  api.SessionGetInputTypeInfo, api.SessionGetInputName);
}

std::vector<Port> output_ports(const SessionHandle& handle,
                               const std::string& name) {
  const Api& api = handle.library.api;
  return ports_of(handle, name, "output", api.SessionGetOutputCount,
                  api.SessionGetOutputTypeInfo, api.SessionGetOutputName);
}

}  // namespace hotaru::provider::ort
