#include "hotaru/exchange/load_program.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/onnx/load_onnx.h"
#include "hotaru/exchange/pt2/load_pt2.h"
#include "hotaru/io/mapped_file.h"
#include "hotaru/io/zip_reader.h"
#include "hotaru/script/archive/archive.h"

namespace hotaru::exchange {

namespace {

Format format_of_zip(const Ref<io::MappedFile>& file) {
  const io::ZipReader zip(file, io::ZipReader::Root::kOptional);
  if (zip.find("constants.pkl")) return Format::kTorchScript;
  if (zip.find("data.pkl")) return Format::kTorchFile;
  const auto& records = zip.records();
  bool exported = std::any_of(
      records.begin(), records.end(), [](const io::ZipRecord& record) {
        return record.name.starts_with("models/") ||
               record.name == "serialized_exported_program.json";
      });
  return exported ? Format::kExported : Format::kUnknown;
}

}  // namespace

Format format_of(const Ref<io::MappedFile>& file) {
  const std::string_view bytes(reinterpret_cast<const char*>(file->data()),
                               file->size());
  if (bytes.starts_with("PK\3\4")) return format_of_zip(file);
  if (bytes.starts_with("GGUF")) return Format::kGguf;
  // The length of a header, which is JSON.
  constexpr size_t kLength = 8;
  if (bytes.size() > kLength && bytes[kLength] == '{' && bytes[7] == 0)
    return Format::kSafetensors;
  // Pickles of torch.save before 1.6.
  if (bytes.starts_with("\x80\x02")) return Format::kTorchFile;
  // Every writer of ONNX begins with the number of its version.
  return bytes.starts_with("\x08") ? Format::kOnnx : Format::kUnknown;
}

const char* format_text(Format format) {
  switch (format) {
    case Format::kTorchScript:
      return "a TorchScript archive";
    case Format::kExported:
      return "a program of torch.export";
    case Format::kOnnx:
      return "an ONNX model";
    case Format::kTorchFile:
      return "a file of torch.save";
    case Format::kSafetensors:
      return "a safetensors file";
    case Format::kGguf:
      return "a GGUF file";
    default:
      return "unknown";
  }
}

namespace {

script::Module load_as(Format format, const Ref<io::MappedFile>& file) {
  switch (format) {
    case Format::kTorchScript:
      return script::load(file);
    case Format::kExported:
      return load_exported_program(file).module;
    case Format::kOnnx:
      return load_onnx(file);
    case Format::kUnknown:
      fail(file->name(),
           ": this is no model: neither a TorchScript archive, nor a program "
           "of torch.export, nor an ONNX model");
    default:
      fail(file->name(), ": this is ", format_text(format),
           ", which has tensors and no program; load it with torch.load");
  }
}

}  // namespace

script::Module load_program(const std::string& path) {
  const Ref<io::MappedFile> file = io::MappedFile::open(path);
  return load_as(format_of(file), file);
}

script::Module load_program(std::vector<std::byte> bytes,
                            const std::string& name) {
  const Ref<io::MappedFile> file =
      io::MappedFile::from_bytes(std::move(bytes), name);
  return load_as(format_of(file), file);
}

}  // namespace hotaru::exchange
