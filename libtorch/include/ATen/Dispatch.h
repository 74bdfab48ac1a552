// One body compiled for several dtypes:
//
//   AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scale", [&] {
//     scalar_t* p = x.data_ptr<scalar_t>(); ...
//   });
//
// Another dtype throws PyTorch's text.
#pragma once

#include "ATen/core/Tensor.h"
#include "c10/util/Exception.h"

namespace at::detail {
inline ScalarType dispatch_type(ScalarType type) {
  return type;
}
inline ScalarType dispatch_type(caffe2::TypeMeta type) {
  return type.toScalarType();
}
}  // namespace at::detail

#define AT_PRIVATE_CASE_TYPE_USING_HINT(type, hint, ...) \
  case type: { \
    using hint [[maybe_unused]] = ::c10::impl::ScalarTypeToCPPTypeT<type>; \
    return __VA_ARGS__(); \
  }

#define AT_DISPATCH_SWITCH(TYPE, NAME, ...) \
  [&] { \
    const auto& the_type = TYPE; \
    constexpr const char* at_dispatch_name = NAME; \
    const ::c10::ScalarType _st = ::at::detail::dispatch_type(the_type); \
    switch (_st) { \
      __VA_ARGS__ \
      default: \
        TORCH_CHECK_NOT_IMPLEMENTED(false, '"', at_dispatch_name, \
                                    "\" not implemented for '", \
                                    ::c10::toString(_st), "'"); \
    } \
  }()

#define AT_DISPATCH_CASE(type, ...) \
  AT_PRIVATE_CASE_TYPE_USING_HINT(type, scalar_t, __VA_ARGS__)

#define AT_DISPATCH_CASE_FLOATING_TYPES(...) \
  AT_DISPATCH_CASE(::c10::ScalarType::Double, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::Float, __VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...) \
  AT_DISPATCH_CASE(::c10::ScalarType::ComplexDouble, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::ComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...) \
  AT_DISPATCH_CASE(::c10::ScalarType::Byte, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::Char, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::Int, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::Long, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...) \
  AT_DISPATCH_CASE(::c10::ScalarType::BFloat16, __VA_ARGS__) \
  AT_DISPATCH_CASE(::c10::ScalarType::Half, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)

// Each list of types alone and with up to four types more.
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND(t1, ...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(t1, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES_AND(::c10::ScalarType::Half, __VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(__VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(t1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_FLOATING_TYPES_AND(t1, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(t1, t2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_FLOATING_TYPES_AND(t1, __VA_ARGS__) \
                         AT_DISPATCH_CASE(t2, __VA_ARGS__))
#define AT_DISPATCH_COMPLEX_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND(t1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) \
                         AT_DISPATCH_CASE(t1, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(t1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) \
                         AT_DISPATCH_CASE(t1, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(t1, t2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) \
                         AT_DISPATCH_CASE(t1, __VA_ARGS__) \
                             AT_DISPATCH_CASE(t2, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(t1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) \
                         AT_DISPATCH_CASE(t1, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(t1, t2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE( \
                         t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(t1, t2, t3, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE( \
                         t1, __VA_ARGS__) AT_DISPATCH_CASE(t2, __VA_ARGS__) \
                         AT_DISPATCH_CASE(t3, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(t1, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) \
                         AT_DISPATCH_CASE(t1, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(t1, t2, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) \
                         AT_DISPATCH_CASE(t1, __VA_ARGS__) \
                             AT_DISPATCH_CASE(t2, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(t1, t2, t3, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) \
                         AT_DISPATCH_CASE(t1, __VA_ARGS__) \
                             AT_DISPATCH_CASE(t2, __VA_ARGS__) \
                                 AT_DISPATCH_CASE(t3, __VA_ARGS__))
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, \
                     AT_PRIVATE_CASE_TYPE_USING_HINT(::c10::ScalarType::Int, \
                                                     index_t, __VA_ARGS__) \
                         AT_PRIVATE_CASE_TYPE_USING_HINT( \
                             ::c10::ScalarType::Long, index_t, __VA_ARGS__))
