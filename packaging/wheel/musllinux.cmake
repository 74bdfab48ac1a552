# For systems whose C library is musl (Alpine): GCC with musl's headers, and the
# libstdc++ that musl_root.py compiled into HOTARU_LINK_ROOT. It and the unwinder
# are linked in: such systems promise none.
set(HOTARU_MACHINE x86_64 CACHE STRING "Machine that the library is for")
set(HOTARU_LINK_ROOT "" CACHE PATH "Folder made by musl_root.py")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HOTARU_MACHINE HOTARU_LINK_ROOT)

# What is built does not run here, though the machine is the same.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${HOTARU_MACHINE})
set(CMAKE_CXX_COMPILER g++)
set(musl /usr/lib/${HOTARU_MACHINE}-linux-musl)
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=include
  OUTPUT_VARIABLE own OUTPUT_STRIP_TRAILING_WHITESPACE)
# In an order in which each header of libstdc++ finds the one of C that it wraps.
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES
  ${HOTARU_LINK_ROOT}/c++ ${HOTARU_LINK_ROOT}/c++/${HOTARU_MACHINE}-linux-musl
  /usr/include/${HOTARU_MACHINE}-linux-musl ${own})
set(CMAKE_CXX_FLAGS_INIT "-nostdinc -nostdinc++ -D_GLIBCXX_GTHREAD_USE_WEAK=0")
# Headers without machine code (Highway's, RapidJSON's) are this machine's, by way
# of a folder in which its C library is not their neighbour.
set(HOTARU_RAPIDJSON ${HOTARU_LINK_ROOT}/include CACHE PATH "")
set(ZLIB_INCLUDE_DIR ${HOTARU_LINK_ROOT}/include CACHE PATH "")
set(CMAKE_PROJECT_INCLUDE ${CMAKE_CURRENT_LIST_DIR}/without_usr_include.cmake)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(ZLIB_LIBRARY ${HOTARU_LINK_ROOT}/libz.a CACHE FILEPATH "")
set(CMAKE_DISABLE_FIND_PACKAGE_OpenMP ON)
set(CMAKE_DISABLE_FIND_PACKAGE_TBB ON)

# The specs leave out the table by which exceptions find their way.
set(link "-specs=${musl}/musl-gcc.specs -B${HOTARU_LINK_ROOT} -L${HOTARU_LINK_ROOT}")
string(APPEND link " -Wl,--exclude-libs,ALL,-s,--eh-frame-hdr,--hash-style=gnu")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${link} -Wl,--no-undefined")
set(CMAKE_MODULE_LINKER_FLAGS_INIT ${link})
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "${link} -Wl,--unresolved-symbols=ignore-in-shared-libs")
set(CMAKE_CXX_STANDARD_LIBRARIES ${HOTARU_LINK_ROOT}/musl_unwind.o)
