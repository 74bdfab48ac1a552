# hotaru_embedded(NAME SOURCE FILES...): an object library of one source into
# which the assembler puts these files (.incbin). The compiler's cache follows
# #include alone and would give the object of other files, so it is left out;
# and so are units, which a change of a file would not compile again.
function(hotaru_embedded name source)
  add_library(${name} OBJECT ${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE -Wall -Wextra)
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER ""
    POSITION_INDEPENDENT_CODE ON VISIBILITY_INLINES_HIDDEN ON)
  set_property(SOURCE ${source} APPEND PROPERTY OBJECT_DEPENDS "${ARGN}")
endfunction()
