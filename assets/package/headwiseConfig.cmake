# find_package(headwise): the target headwise::core. What it needs is looked for here, and what is missing is named with the Debian
# package that has it.
set_property(GLOBAL PROPERTY headwise_missing "")
function(headwise_missing what package)
  set_property(GLOBAL APPEND_STRING PROPERTY headwise_missing "${what} was not found. Install it with: apt-get install ${package}. ")
endfunction()
include(${CMAKE_CURRENT_LIST_DIR}/core_dependencies.cmake)

get_property(headwise_NOT_FOUND_MESSAGE GLOBAL PROPERTY headwise_missing)
if(headwise_NOT_FOUND_MESSAGE)
  set(headwise_FOUND FALSE)
  return()
endif()
include(${CMAKE_CURRENT_LIST_DIR}/headwiseTargets.cmake)
