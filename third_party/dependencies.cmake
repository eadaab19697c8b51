# Every dependency is a Debian 12 package, found here and nowhere else. A missing one ends the configuration with the
# name of the package that brings it; README.md beside this file lists versions and licences.

function(headwise_missing what package)
  message(FATAL_ERROR "headwise: ${what} was not found. Install it with: apt-get install ${package} "
                      "(./run.sh and ./test.sh install everything that is missing)")
endfunction()

include(${CMAKE_CURRENT_LIST_DIR}/core_dependencies.cmake)
add_library(headwise::fmt ALIAS fmt::fmt)

find_file(HEADWISE_FONT_SANS DejaVuSans.ttf PATHS /usr/share/fonts/truetype/dejavu)
find_file(HEADWISE_FONT_SANS_BOLD DejaVuSans-Bold.ttf PATHS /usr/share/fonts/truetype/dejavu)
find_file(HEADWISE_FONT_MONO DejaVuSansMono.ttf PATHS /usr/share/fonts/truetype/dejavu)
if(NOT HEADWISE_FONT_SANS OR NOT HEADWISE_FONT_SANS_BOLD OR NOT HEADWISE_FONT_MONO)
  headwise_missing("the DejaVu fonts" fonts-dejavu-core)
endif()

if(NOT HEADWISE_BUILD_PROGRAM)
  return()
endif()

headwise_find(CLI11 libcli11-dev)
headwise_find(glfw3 libglfw3-dev 3.3)
headwise_find(OpenGL libegl-dev COMPONENTS EGL)

headwise_find_library(headwise::epoxy epoxy/gl.h epoxy libepoxy-dev)
headwise_find_library(headwise::md4c md4c.h md4c libmd4c-dev)
headwise_find_library(headwise::md4c-html md4c-html.h md4c-html libmd4c-html0-dev LINK headwise::md4c)
headwise_find_library(headwise::stb stb/stb_truetype.h stb libstb-dev)
# The packaged pkg-config file names freetype before the static libimgui.a, which leaves FT_* undefined: the
# order has to be imgui, then everything that it calls.
headwise_find_library(headwise::imgui imgui.h imgui libimgui-dev SUFFIXES imgui
                      LINK headwise::stb glfw Freetype::Freetype ${CMAKE_DL_LIBS} m)

if(HEADWISE_BUILD_TESTS)
  headwise_find(doctest doctest-dev)
endif()
