#include "hotaru/exchange/load_program.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "hotaru/core/error.h"
#include "hotaru/exchange/onnx/load_onnx.h"
#include "hotaru/exchange/pt2/load_pt2.h"
#include "hotaru/io/mapped_file.h"
#include "hotaru/io/zip_reader.h"
#include "hotaru/script/archive/archive.h"

namespace hotaru::exchange {

namespace {

Format format_of_zip(const Ref<io::MappedFile>& file) {
  const io::ZipReader zip(file);
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

Format format_of_file(const Ref<io::MappedFile>& file) {
  const std::string_view bytes(reinterpret_cast<const char*>(file->data()),
                               file->size());
  if (bytes.starts_with("PK\3\4")) return format_of_zip(file);
  if (bytes.starts_with("GGUF")) return Format::kGguf;
  // The length of a header, which is JSON.
  constexpr size_t kLength = 8;
  if (bytes.size() > kLength && bytes[kLength] == '{' && bytes[7] == 0) {
    return Format::kSafetensors;
  }
  // Pickles of torch.save before 1.6.
  if (bytes.starts_with("\x80\x02")) return Format::kTorchFile;
  // Every writer of ONNX begins with the number of its version.
  return bytes.starts_with("\x08") ? Format::kOnnx : Format::kUnknown;
}

template <class Source>
script::Module load_as(Format format, Source&& source,
                       const std::string& name) {
  auto pass = [&](auto load) {
    if constexpr (std::is_same_v<std::decay_t<Source>, std::string>) {
      return load(source);
    } else {
      return load(std::forward<Source>(source), name);
    }
  };
  switch (format) {
    case Format::kTorchScript:
      return pass([](auto&&... from) {
        return script::load(std::forward<decltype(from)>(from)...);
      });
    case Format::kExported:
      return pass([](auto&&... from) {
        return load_pt2(std::forward<decltype(from)>(from)...);
      });
    case Format::kOnnx:
      return pass([](auto&&... from) {
        return load_onnx(std::forward<decltype(from)>(from)...);
      });
    case Format::kUnknown:
      fail(name,
           ": this is no model: neither a TorchScript archive, nor a "
           "program of torch.export, nor an ONNX model");
    default:
      fail(name, ": this is ", format_text(format),
           ", which has tensors and no program; load it with torch.load");
  }
}

}  // namespace

Format format_of(const std::string& path) {
  return format_of_file(io::MappedFile::open(path));
}

Format format_of(const std::vector<std::byte>& bytes, const std::string& name) {
  return format_of_file(io::MappedFile::from_bytes(bytes, name));
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

script::Module load_program(const std::string& path) {
  return load_as(format_of(path), path, path);
}

script::Module load_program(std::vector<std::byte> bytes,
                            const std::string& name) {
  const Format format = format_of(bytes, name);
  return load_as(format, std::move(bytes), name);
}

}  // namespace hotaru::exchange
