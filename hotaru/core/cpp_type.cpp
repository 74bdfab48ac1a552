#include "hotaru/core/cpp_type.h"

namespace hotaru {

const char* cpp_type_name(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return "unsigned char";
    case DType::kInt8:
      return "signed char";
    case DType::kInt16:
      return "short int";
    case DType::kInt32:
      return "int";
    case DType::kInt64:
      return "long int";
    case DType::kFloat16:
      return "c10::Half";
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kComplex64:
      return "c10::complex<float>";
    case DType::kComplex128:
      return "c10::complex<double>";
    case DType::kBool:
      return "bool";
    case DType::kBFloat16:
      return "c10::BFloat16";
  }
  return "unknown";
}

}  // namespace hotaru
