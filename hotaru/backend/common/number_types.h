// The types that products and convolutions have code for, as lists of macros:
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
