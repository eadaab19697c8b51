# What headwise::core needs: found by the build (dependencies.cmake), and by headwiseConfig.cmake beside an installed copy of this file.
# Both say what becomes of a missing one: headwise_missing(WHAT PACKAGE).

macro(headwise_find package debian)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    headwise_missing(${package} ${debian})
  endif()
endmacro()

# A library that ships neither a CMake package nor a usable pkg-config file: header + library → imported target.
function(headwise_find_library target header library debian)
  if(TARGET ${target})
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SUFFIXES;LINK" ${ARGN})
  string(MAKE_C_IDENTIFIER ${target} id)
  find_path(${id}_INCLUDE_DIR ${header} PATH_SUFFIXES ${ARG_SUFFIXES})
  find_library(${id}_LIBRARY ${library})
  mark_as_advanced(${id}_INCLUDE_DIR ${id}_LIBRARY)
  if(NOT ${id}_INCLUDE_DIR OR NOT ${id}_LIBRARY)
    headwise_missing("${library} (${header})" ${debian})
    return()
  endif()
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${${id}_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${${id}_INCLUDE_DIR}
                        INTERFACE_LINK_LIBRARIES "${ARG_LINK}")
endfunction()

headwise_find(Eigen3 libeigen3-dev 3.4 NO_MODULE)
headwise_find(fmt libfmt-dev)
headwise_find(nlohmann_json nlohmann-json3-dev 3.11)
headwise_find(ZLIB zlib1g-dev)
headwise_find(PNG libpng-dev)
headwise_find(Freetype libfreetype-dev)
headwise_find(Fontconfig libfontconfig-dev)
headwise_find(Threads libc6-dev)
headwise_find_library(headwise::cairo cairo/cairo-pdf.h cairo libcairo2-dev)
headwise_find_library(headwise::utf8proc utf8proc.h utf8proc libutf8proc-dev)
headwise_find_library(headwise::stemmer libstemmer.h stemmer libstemmer-dev)
