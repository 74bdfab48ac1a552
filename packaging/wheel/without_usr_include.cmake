# Packages of this machine (CLI11, nlohmann_json) name /usr/include, where its C
# library's headers are, too: a compiler for another one may not look there.
list(APPEND CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES /usr/include)
# In place of it: not among the flags, which the library tells (`hotaru info`).
include_directories(SYSTEM ${HOTARU_LINK_ROOT}/include)
