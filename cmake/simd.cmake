# Instruction sets that the CPU's kernels are compiled for (HOTARU_SIMD): "all",
# of which a process chooses when it starts, or one, with which a library ends
# at once on machines without it. Either gives the same bits on one machine.
set(HOTARU_SIMD all CACHE STRING
  "Instruction sets of the CPU's kernels: all; native (this machine's best); avx512, avx2 or baseline")
set_property(CACHE HOTARU_SIMD PROPERTY STRINGS all native avx512 avx2 baseline)

# On aarch64 there is one, NEON. Highway asks for it together with instructions of
# cryptography, which no kernel uses; GCC wants the flag for whole sources, or
# constructors that it makes itself fit no kernel.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  add_compile_options(-march=armv8-a+crypto)
endif()

# hotaru_native_simd(OUT): the best of this machine, as Linux names what the
# processor has. The list is the one of hotaru/backend/cpu/simd/simd_target.cpp.
function(hotaru_native_simd out)
  set(features "")
  if(EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo features REGEX "^flags" LIMIT_COUNT 1)
  endif()
  string(REGEX REPLACE "[ \t]+" ";" features "${features}")
  set(best baseline)
  set(needed avx2 fma bmi2)
  foreach(simd avx2 avx512)
    if(simd STREQUAL avx512)
      list(APPEND needed avx512f avx512cd avx512dq avx512bw avx512vl)
    endif()
    set(lacking ${needed})
    list(REMOVE_ITEM lacking ${features} "")
    if(NOT lacking)
      set(best ${simd})
    endif()
  endforeach()
  set(${out} ${best} PARENT_SCOPE)
endfunction()

# hotaru_one_simd(SOURCES...): compiles these for HOTARU_SIMD's target.
function(hotaru_one_simd)
  set(simd ${HOTARU_SIMD})
  # Processors other than x86 have one target.
  if(simd STREQUAL all OR HOTARU_SANITIZE OR
      NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    return()
  endif()
  if(simd STREQUAL native)
    if(CMAKE_CROSSCOMPILING)
      message(FATAL_ERROR "HOTARU_SIMD=native asks what this machine has, and "
        "the library is for another: say all, avx512, avx2 or baseline")
    endif()
    hotaru_native_simd(simd)
  endif()
  if(simd STREQUAL avx512)
    set(target HWY_AVX3)
  elseif(simd STREQUAL avx2)
    set(target HWY_AVX2)
  elseif(simd STREQUAL baseline)
    set(target HWY_STATIC_TARGET)
  else()
    message(FATAL_ERROR "HOTARU_SIMD=${simd}: known are all, native, avx512, "
      "avx2 and baseline")
  endif()
  message(STATUS "kernels for ${simd} alone")
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS
    HOTARU_SIMD_ONLY=${target})
endfunction()
