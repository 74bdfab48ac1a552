# What `cmake --install` puts where. Three components:
#   python  the extension and the library, side by side in the package's folder
#   cli     the command
#   devel   library, headers and find_package(hotaru) for C++ users
# A wheel (SKBUILD) takes the first two, a plain install the last two.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Headers that programs include, without those of kernels.
macro(install_headers folder component)
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
    install(TARGETS hotaru ${HOTARU_LOADED} COMPONENT python
      LIBRARY DESTINATION hotaru NAMELINK_SKIP)
  endif()
  if(TARGET _C)
    install(TARGETS _C COMPONENT python LIBRARY DESTINATION hotaru)
    set_target_properties(_C PROPERTIES INSTALL_RPATH "$ORIGIN")
  endif()
  if(TARGET hotaru_torch)
    install(TARGETS hotaru_torch COMPONENT python
      LIBRARY DESTINATION hotaru NAMELINK_SKIP)
    install_headers(hotaru/include python)
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
install_headers(${CMAKE_INSTALL_INCLUDEDIR} devel)
if(TARGET hotaru-cli)
  file(RELATIVE_PATH to_library "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(hotaru-cli PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
  install(TARGETS hotaru-cli COMPONENT cli)
endif()

if(TARGET hotaru_torch)
  install(TARGETS hotaru_torch EXPORT hotaru-targets COMPONENT devel
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set(torch_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Torch)
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/libtorch/TorchConfig.cmake.in TorchConfig.cmake
    INSTALL_DESTINATION ${torch_config_dir})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TorchConfig.cmake
    COMPONENT devel DESTINATION ${torch_config_dir})
endif()

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hotaru)
install(EXPORT hotaru-targets NAMESPACE hotaru:: COMPONENT devel
  DESTINATION ${config_dir})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/hotaruConfig.cmake.in hotaruConfig.cmake
  INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(hotaruConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/hotaruConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/hotaruConfigVersion.cmake
  COMPONENT devel DESTINATION ${config_dir})
