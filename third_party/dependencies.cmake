# Every dependency is a Debian 12 package, found here and nowhere else. A missing one ends the configuration with the
# name of the package that brings it; README.md beside this file lists versions and licences.

function(headwise_missing what package)
  message(FATAL_ERROR "headwise: ${what} was not found. Install it with: apt-get install ${package} "
                      "(./run.sh and ./test.sh install everything that is missing)")
endfunction()

macro(headwise_find package debian)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    headwise_missing(${package} ${debian})
  endif()
endmacro()

# A library that ships neither a CMake package nor a usable pkg-config file: header + library → imported target.
function(headwise_find_library target header library debian)
  cmake_parse_arguments(ARG "" "" "SUFFIXES;LINK" ${ARGN})
  string(MAKE_C_IDENTIFIER ${target} id)
  find_path(${id}_INCLUDE_DIR ${header} PATH_SUFFIXES ${ARG_SUFFIXES})
  find_library(${id}_LIBRARY ${library})
  mark_as_advanced(${id}_INCLUDE_DIR ${id}_LIBRARY)
  if(NOT ${id}_INCLUDE_DIR OR NOT ${id}_LIBRARY)
    headwise_missing("${library} (${header})" ${debian})
  endif()
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${${id}_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${${id}_INCLUDE_DIR}
                        INTERFACE_LINK_LIBRARIES "${ARG_LINK}")
endfunction()

headwise_find(Eigen3 libeigen3-dev 3.4 NO_MODULE)
headwise_find(fmt libfmt-dev)
add_library(headwise::fmt ALIAS fmt::fmt)
headwise_find(nlohmann_json nlohmann-json3-dev 3.11)
headwise_find(CLI11 libcli11-dev)
headwise_find(ZLIB zlib1g-dev)
headwise_find(PNG libpng-dev)
headwise_find(Freetype libfreetype-dev)
headwise_find(Fontconfig libfontconfig-dev)
headwise_find(glfw3 libglfw3-dev 3.3)
headwise_find(Threads libc6-dev)
headwise_find(OpenGL libegl-dev COMPONENTS EGL)

headwise_find_library(headwise::cairo cairo/cairo-pdf.h cairo libcairo2-dev)
headwise_find_library(headwise::utf8proc utf8proc.h utf8proc libutf8proc-dev)
headwise_find_library(headwise::stemmer libstemmer.h stemmer libstemmer-dev)
headwise_find_library(headwise::epoxy epoxy/gl.h epoxy libepoxy-dev)
headwise_find_library(headwise::md4c md4c.h md4c libmd4c-dev)
headwise_find_library(headwise::md4c-html md4c-html.h md4c-html libmd4c-html0-dev LINK headwise::md4c)
headwise_find_library(headwise::stb stb/stb_truetype.h stb libstb-dev)
# The packaged pkg-config file names freetype before the static libimgui.a, which leaves FT_* undefined: the
# order has to be imgui, then everything that it calls.
headwise_find_library(headwise::imgui imgui.h imgui libimgui-dev SUFFIXES imgui
                      LINK headwise::stb glfw Freetype::Freetype ${CMAKE_DL_LIBS} m)

find_file(HEADWISE_FONT_SANS DejaVuSans.ttf PATHS /usr/share/fonts/truetype/dejavu)
find_file(HEADWISE_FONT_SANS_BOLD DejaVuSans-Bold.ttf PATHS /usr/share/fonts/truetype/dejavu)
find_file(HEADWISE_FONT_MONO DejaVuSansMono.ttf PATHS /usr/share/fonts/truetype/dejavu)
if(NOT HEADWISE_FONT_SANS OR NOT HEADWISE_FONT_SANS_BOLD OR NOT HEADWISE_FONT_MONO)
  headwise_missing("the DejaVu fonts" fonts-dejavu-core)
endif()

if(HEADWISE_BUILD_TESTS)
  headwise_find(doctest doctest-dev)
endif()
