# Sources compiled several at a time: half the time of a build, because headers
# are read and templates made once for all of them. Each source compiles alone
# too, which builds without units (the default: CI's, wheels') see to.
option(HOTARU_UNITS "Compile the sources of a folder some at a time" OFF)
# A change of one source compiles these many at most.
set(HOTARU_UNIT_SIZE 8)

# hotaru_must_exist(SOURCES...): ends the configuration where a source that is
# named for a property of its own is not there: it moved, and its line did not.
function(hotaru_must_exist)
  foreach(source ${ARGN})
    if(NOT EXISTS ${source})
      message(FATAL_ERROR "${source} is given flags of its own in "
        "${CMAKE_CURRENT_LIST_FILE} and is not there: change the path there, too")
    endif()
  endforeach()
endfunction()

# hotaru_alone(SOURCES...): sources below this folder that are in no unit, because
# their own names are those of a neighbour.
function(hotaru_alone)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  hotaru_must_exist(${ARGN})
  set_property(SOURCE ${ARGN} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# hotaru_units(TARGET): the target's sources in units, each of one folder;
# folders with less than four sources share those of the folder above. Sources
# with flags of their own stay alone.
function(hotaru_units target)
  if(NOT HOTARU_UNITS)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^/.*\\.cpp$")
  set(folders "")
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    list(APPEND in_${folder} ${source})
    list(APPEND folders ${folder})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  set(rooms "")
  foreach(folder ${folders})
    set(room ${folder})
    list(LENGTH in_${folder} count)
    if(count LESS 4)
      get_filename_component(room ${folder} DIRECTORY)
    endif()
    list(APPEND of_${room} ${in_${folder}})
    list(APPEND rooms ${room})
  endforeach()
  list(REMOVE_DUPLICATES rooms)
  foreach(room ${rooms})
    list(LENGTH of_${room} count)
    math(EXPR units "(${count} + ${HOTARU_UNIT_SIZE} - 1) / ${HOTARU_UNIT_SIZE}")
    math(EXPR size "(${count} + ${units} - 1) / ${units}")
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${room})
    string(REPLACE "/" "_" name ${name})
    set(number 0)
    foreach(source ${of_${room}})
      math(EXPR unit "${number} / ${size}")
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${name}_${unit})
      math(EXPR number "${number} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
