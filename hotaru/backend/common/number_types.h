// The types that linear algebra and convolutions have code for, as lists:
// explicit instantiations cannot be written by a template.
#pragma once

#include <complex>
#include <cstdint>

#include "hotaru/core/half.h"

/// each(T) for every type of numbers.
#define HOTARU_FOR_NUMBER_TYPES(each) \
  each(uint8_t) each(int8_t) each(int16_t) each(int32_t) each(int64_t) \
      each(::hotaru::Half) each(::hotaru::BFloat16) each(float) each(double) \
          each(std::complex<float>) each(std::complex<double>)

/// each(T) for the types of visit_ways() (ways.h), one for each kind of table.
#define HOTARU_FOR_WAY_TYPES(each) \
  each(int64_t) each(::hotaru::Half) each(::hotaru::BFloat16) each(float) \
      each(double) each(std::complex<float>)

/// each(T) for the numbers of at least 32 bits a part: those that matrices are
/// factored in.
#define HOTARU_FOR_WIDE_TYPES(each) \
  each(float) each(double) each(std::complex<float>) each(std::complex<double>)
