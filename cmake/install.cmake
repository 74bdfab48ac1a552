# What `cmake --install` puts where. Three components:
#   python  the extension and the library, side by side in the package's folder
#   cli     the command
#   devel   library, headers, find_package(hotaru) and hotaru.pc for C++ users
# A wheel (SKBUILD) takes the first two, with HOTARU_WHEEL_CPP also headers and
# find_package; a plain install the last two, with HOTARU_PYTHON_DIR all three.
include(CMakePackageConfigHelpers)

# Headers that programs include, without those of kernels.
macro(install_headers component)
  set(folder ${HOTARU_INCLUDE})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/hotaru COMPONENT ${component}
    DESTINATION ${folder}
    FILES_MATCHING PATTERN "*.h"
    PATTERN "backend/cpu" EXCLUDE
    PATTERN "backend/cuda" EXCLUDE
    PATTERN "backend/soft_gpu" EXCLUDE
    PATTERN "runtime/threads/backends" EXCLUDE)
  if(TARGET hotaru_torch)  # where they shadow no real libtorch
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/libtorch/include/
      ${PROJECT_BINARY_DIR}/libtorch/generated/
      COMPONENT ${component} DESTINATION ${folder}/hotaru_torch
      FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
    set_target_properties(hotaru_torch PROPERTIES INSTALL_RPATH "$ORIGIN")
  endif()
endmacro()

# install_config(FOLDER COMPONENT): find_package(hotaru) and find_package(Torch),
# each in its folder below this one. HOTARU_PACKAGE leads from the prefix to the
# folder of the package.
macro(install_config folder component)
  set(config ${CMAKE_CURRENT_BINARY_DIR}/config)
  install(EXPORT hotaru-targets NAMESPACE hotaru:: COMPONENT ${component}
    DESTINATION ${folder}/hotaru)
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/hotaruConfig.cmake.in
    ${config}/hotaruConfig.cmake INSTALL_DESTINATION ${folder}/hotaru)
  write_basic_package_version_file(${config}/hotaruConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${config}/hotaruConfig.cmake ${config}/hotaruConfigVersion.cmake
    COMPONENT ${component} DESTINATION ${folder}/hotaru)
  if(TARGET hotaru_torch)
    configure_package_config_file(
      ${PROJECT_SOURCE_DIR}/libtorch/TorchConfig.cmake.in
      ${config}/TorchConfig.cmake INSTALL_DESTINATION ${folder}/Torch)
    # Programs ask for the version of PyTorch whose names they use.
    write_basic_package_version_file(${config}/TorchConfigVersion.cmake
      VERSION 2.13.0 COMPATIBILITY AnyNewerVersion)
    install(FILES ${config}/TorchConfig.cmake ${config}/TorchConfigVersion.cmake
      COMPONENT ${component} DESTINATION ${folder}/Torch)
  endif()
endmacro()

# install_pkg_config(NAME): NAME.pc, whose paths are relative to the file.
macro(install_pkg_config name)
  set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH HOTARU_TO_PREFIX /${folder} /)
  string(REGEX REPLACE "/$" "" HOTARU_TO_PREFIX "${HOTARU_TO_PREFIX}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc
    COMPONENT devel DESTINATION ${folder})
endmacro()

# Shared objects that the library loads from where it lies itself.
set(HOTARU_LOADED ${HOTARU_THREADING_PLUGINS})
if(HOTARU_CUDA)
  list(APPEND HOTARU_LOADED hotaru_cuda)
  set_target_properties(hotaru_cuda PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()
if(HOTARU_SOFT_GPU)
  list(APPEND HOTARU_LOADED hotaru_softgpu)
endif()

if(NOT HOTARU_FROM)
  target_compile_features(hotaru PUBLIC cxx_std_20)
endif()

if(SKBUILD)
  if(NOT HOTARU_FROM)
    install(TARGETS hotaru EXPORT hotaru-targets COMPONENT python
      LIBRARY DESTINATION hotaru NAMELINK_SKIP)
    if(HOTARU_LOADED)
      install(TARGETS ${HOTARU_LOADED} COMPONENT python
        LIBRARY DESTINATION hotaru)
    endif()
  endif()
  if(TARGET _C)
    install(TARGETS _C COMPONENT python LIBRARY DESTINATION hotaru)
    set_target_properties(_C PROPERTIES INSTALL_RPATH "$ORIGIN")
  endif()
  if(TARGET hotaru_torch)
    install(TARGETS hotaru_torch EXPORT hotaru-targets COMPONENT python
      LIBRARY DESTINATION hotaru NAMELINK_SKIP)
    install_headers(python)
    # As PyTorch has it: hotaru.utils.cmake_prefix_path.
    set(HOTARU_PACKAGE /hotaru)
    install_config(hotaru/share/cmake python)
    # Relative to the package's folder.
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/wheel/cpp_paths.txt
      "include=include/hotaru_torch\ninclude=include\nlibrary=.\n")
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/wheel/cpp_paths.txt
      COMPONENT python DESTINATION hotaru)
  endif()
  if(TARGET hotaru-cli)
    set_target_properties(hotaru-cli PROPERTIES INSTALL_RPATH "$ORIGIN/..")
    install(TARGETS hotaru-cli COMPONENT cli RUNTIME DESTINATION hotaru/bin)
    install(PROGRAMS ${CMAKE_CURRENT_LIST_DIR}/wheel_command.sh COMPONENT cli
      DESTINATION ${SKBUILD_SCRIPTS_DIR} RENAME hotaru)
  endif()
  return()
endif()

install(TARGETS hotaru EXPORT hotaru-targets COMPONENT devel
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(HOTARU_LOADED)
  install(TARGETS ${HOTARU_LOADED} COMPONENT devel
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install_headers(devel)
if(TARGET hotaru-cli)
  file(RELATIVE_PATH to_library "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(hotaru-cli PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
  install(TARGETS hotaru-cli COMPONENT cli)
endif()

if(TARGET hotaru_torch)
  install(TARGETS hotaru_torch EXPORT hotaru-targets COMPONENT devel
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install_pkg_config(hotaru_torch)
endif()
install_pkg_config(hotaru)
# The Python package beside the library that a distribution has, relative to the
# prefix.
set(HOTARU_PYTHON_DIR "" CACHE STRING
  "Where a plain install puts the Python package; empty: nowhere")
if(HOTARU_PYTHON_DIR AND TARGET _C)
  set(package ${HOTARU_PYTHON_DIR}/hotaru)
  file(RELATIVE_PATH to_library /${package} /${CMAKE_INSTALL_LIBDIR})
  string(REGEX REPLACE "/$" "" to_library "${to_library}")
  file(RELATIVE_PATH to_include /${package} /${CMAKE_INSTALL_INCLUDEDIR})
  set_target_properties(_C PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
  install(TARGETS _C COMPONENT python LIBRARY DESTINATION ${package})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/hotaru COMPONENT python
    DESTINATION ${HOTARU_PYTHON_DIR}
    PATTERN "__pycache__" EXCLUDE PATTERN "_C*.so" EXCLUDE
    PATTERN "__init__.pyi" EXCLUDE)
  install(FILES ${PROJECT_BINARY_DIR}/python/__init__.pyi
    COMPONENT python DESTINATION ${package})
  if(TARGET hotaru_torch)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/package/cpp_paths.txt
      "include=${to_include}/hotaru_torch\ninclude=${to_include}\n"
      "library=${to_library}\n")
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/cpp_paths.txt
      COMPONENT python DESTINATION ${package})
  endif()
endif()
set(HOTARU_PACKAGE "")
install_config(${CMAKE_INSTALL_LIBDIR}/cmake devel)
