# The library and the command of another build folder (HOTARU_FROM) in place of
# compiled ones: wheels of several Pythons differ in the extension alone. Targets
# and headers of a plain install come from the folder that compiled them.
if(NOT SKBUILD)
  message(FATAL_ERROR "HOTARU_FROM makes wheels alone (SKBUILD, as pip and "
    "`./dev wheel` set it): install from the build folder that it names, "
    "${HOTARU_FROM}, or build without it")
endif()
set(library ${HOTARU_FROM}/hotaru/libhotaru.so.${PROJECT_VERSION_MAJOR})
if(NOT EXISTS ${library})
  message(FATAL_ERROR "HOTARU_FROM is no build folder of this version: "
    "there is no ${library}")
endif()
find_package(Threads REQUIRED)
add_library(hotaru SHARED IMPORTED GLOBAL)
set_target_properties(hotaru PROPERTIES
  IMPORTED_LOCATION ${library}
  IMPORTED_SONAME libhotaru.so.${PROJECT_VERSION_MAJOR})
target_include_directories(hotaru INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_features(hotaru INTERFACE cxx_std_20)
target_link_libraries(hotaru INTERFACE Threads::Threads)
add_library(hotaru::hotaru ALIAS hotaru)
foreach(part HOTARU_CUDA HOTARU_SOFT_GPU HOTARU_LIBTORCH HOTARU_TESTS HOTARU_BENCH)
  if(${part})
    message(FATAL_ERROR "${part} needs the library's sources compiled, and "
      "HOTARU_FROM names a folder where they are: say -D${part}=OFF")
  endif()
endforeach()
