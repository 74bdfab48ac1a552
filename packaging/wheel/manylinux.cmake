# For libraries that run on systems older than this one: what GCC compiles here,
# linked against the folder HOTARU_LINK_ROOT that link_root.py made. With
# HOTARU_MACHINE=aarch64 for that machine, by Debian's compiler for it.
set(HOTARU_MACHINE x86_64 CACHE STRING "Machine that the library is for")
set(HOTARU_LINK_ROOT "" CACHE PATH "Folder made by link_root.py")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HOTARU_MACHINE HOTARU_LINK_ROOT)

cmake_host_system_information(RESULT host QUERY OS_PLATFORM)
if(NOT HOTARU_MACHINE STREQUAL host)
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR ${HOTARU_MACHINE})
  set(CMAKE_CXX_COMPILER ${HOTARU_MACHINE}-linux-gnu-g++)
  # Headers without machine code are this machine's (Highway's, RapidJSON's), by
  # way of a folder in which this machine's C library is not their neighbour.
  set(HOTARU_RAPIDJSON ${HOTARU_LINK_ROOT}/include CACHE PATH "")
  set(ZLIB_INCLUDE_DIR ${HOTARU_LINK_ROOT}/include CACHE PATH "")
  set(CMAKE_PROJECT_INCLUDE ${CMAKE_CURRENT_LIST_DIR}/without_usr_include.cmake)
endif()
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)

# Static, so that one copy of a known version is in it.
set(ZLIB_LIBRARY ${HOTARU_LINK_ROOT}/libz.a CACHE FILEPATH "")
# Back ends that would need libraries beside the wheel.
set(CMAKE_DISABLE_FIND_PACKAGE_OpenMP ON)
set(CMAKE_DISABLE_FIND_PACKAGE_TBB ON)

set(link "-B${HOTARU_LINK_ROOT} -L${HOTARU_LINK_ROOT} -Wl,--exclude-libs,ALL,-s")
set(CMAKE_SHARED_LINKER_FLAGS_INIT ${link})
set(CMAKE_MODULE_LINKER_FLAGS_INIT ${link})
# The command's libraries find what they need when it starts, not here.
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "${link} -Wl,--unresolved-symbols=ignore-in-shared-libs")
