# Kernels for CUDA. With HOTARU_NVCC each backend/cuda/device/<family>/<file>.cu
# becomes a compressed fatbin; hotaru_cuda_images(target) puts them all into a
# library, as symbols hotaru_fatbin_<file> and as the table of
# hotaru/backend/cuda/images.h. Without it that table is empty and nothing else
# changes.
set(HOTARU_NVCC "" CACHE FILEPATH "CUDA's compiler; empty to leave out kernels")
set(HOTARU_CUDA_ARCHS "90;80-virtual" CACHE STRING
  "Architectures of kernels: 90 for sm_90, 80-virtual for PTX of compute_80")

set(HOTARU_KERNEL_FATBINS "")
set(HOTARU_KERNEL_ASSEMBLY "")
set(HOTARU_KERNEL_SYMBOLS "")
set(HOTARU_KERNEL_ROWS "")
if(HOTARU_NVCC)
  find_program(HOTARU_OBJCOPY objcopy REQUIRED)
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/hotaru/backend/cuda/device/*.cu)
  set(folder ${PROJECT_BINARY_DIR}/kernels)
  file(MAKE_DIRECTORY ${folder})
  set(names "")
  foreach(source ${kernels})
    get_filename_component(name ${source} NAME_WE)
    if(name IN_LIST names)
      message(FATAL_ERROR "${source}: another file of kernels has its name")
    endif()
    list(APPEND names ${name})
    set(fatbin ${folder}/${name}.fatbin)
    # Compiled at run time as parts of one kernel they have to give the same bits.
    set(rounds "")
    if(source MATCHES "/device/(activation|create|norm|pointwise|reduce)/")
      set(rounds --fmad=false)
    endif()
    add_custom_command(OUTPUT ${fatbin} BYPRODUCTS ${folder}/${name}.ptxas
      COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/compile_kernels.sh
        ${source} ${fatbin} "${HOTARU_CUDA_ARCHS}"
        ${CMAKE_CXX_COMPILER_LAUNCHER} ${HOTARU_NVCC}
        -ccbin ${CMAKE_CXX_COMPILER} -I ${PROJECT_SOURCE_DIR}
        -I ${PROJECT_SOURCE_DIR}/hotaru/backend/cuda/std ${rounds}
      DEPENDS ${source} ${PROJECT_SOURCE_DIR}/cmake/compile_kernels.sh
      DEPFILE ${folder}/${name}.d
      COMMENT "Compiling kernels ${name}.cu" VERBATIM)
    list(APPEND HOTARU_KERNEL_FATBINS ${fatbin})
    string(APPEND HOTARU_KERNEL_ASSEMBLY
      "    HOTARU_IMAGE(${name}, \"${fatbin}\")\n")
    string(APPEND HOTARU_KERNEL_SYMBOLS
      "extern \"C\" const char hotaru_fatbin_${name}[];\n"
      "extern \"C\" const char hotaru_fatbin_${name}_end[];\n")
    string(APPEND HOTARU_KERNEL_ROWS
      "    {\"${name}\", hotaru_fatbin_${name},\n"
      "     size_t(hotaru_fatbin_${name}_end - hotaru_fatbin_${name})},\n")
  endforeach()
  add_custom_target(hotaru_cuda_kernels ALL DEPENDS ${HOTARU_KERNEL_FATBINS})
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/images.cpp.in
  ${PROJECT_BINARY_DIR}/kernels/images.cpp @ONLY)

function(hotaru_cuda_images target)
  hotaru_embedded(${target}_images ${PROJECT_BINARY_DIR}/kernels/images.cpp
    ${HOTARU_KERNEL_FATBINS})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_images>)
  if(TARGET hotaru_cuda_kernels)
    add_dependencies(${target}_images hotaru_cuda_kernels)
  endif()
endfunction()
