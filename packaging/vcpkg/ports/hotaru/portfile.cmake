# An overlay port of the checkout that it lies in:
#   vcpkg install hotaru --overlay-ports=packaging/vcpkg/ports
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

# Kernels choose the instruction set when a process starts, so the library is a
# shared one only.
vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)
vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
  FEATURES libtorch HOTARU_LIBTORCH)
vcpkg_find_acquire_program(PKGCONFIG)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${FEATURE_OPTIONS}
    -DHOTARU_PYTHON=OFF
    -DHOTARU_CLI=OFF
    -DHOTARU_CUDA=OFF
    -DHOTARU_SOFT_GPU=OFF
    -DHOTARU_SIMD=all
    "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}")
vcpkg_cmake_install()
if("libtorch" IN_LIST FEATURES)  # both lie below one folder, which goes last
  vcpkg_cmake_config_fixup(PACKAGE_NAME hotaru CONFIG_PATH lib/cmake/hotaru
    DO_NOT_DELETE_PARENT_CONFIG_PATH)
  vcpkg_cmake_config_fixup(PACKAGE_NAME Torch CONFIG_PATH lib/cmake/Torch)
else()
  vcpkg_cmake_config_fixup(PACKAGE_NAME hotaru CONFIG_PATH lib/cmake/hotaru)
endif()
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage"
  DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
