# What HEADWISE_GPU_ONLY needs: headers of Eigen, fmt, EGL and doctest, and libepoxy, from the system or from HEADWISE_DEPENDENCIES,
# a folder with the files of their Debian packages (tests/gpu/pack_dependencies.sh). No package's CMake files are read: such a folder
# has no others' paths in it.

find_package(Threads REQUIRED)

# headwise_headers(TARGET HEADER DEBIAN [SUFFIXES FOLDER...]): an interface library with the folder of the header.
function(headwise_headers target header debian)
  cmake_parse_arguments(ARG "" "" "SUFFIXES" ${ARGN})
  string(MAKE_C_IDENTIFIER ${target} id)
  find_path(${id}_INCLUDE_DIR ${header} HINTS ${HEADWISE_DEPENDENCIES}/usr/include PATH_SUFFIXES ${ARG_SUFFIXES})
  mark_as_advanced(${id}_INCLUDE_DIR)
  if(NOT ${id}_INCLUDE_DIR)
    message(FATAL_ERROR "headwise: ${header} was not found. Install it with: apt-get install ${debian}, or name a folder that "
                        "tests/gpu/pack_dependencies.sh has made: -DHEADWISE_DEPENDENCIES=FOLDER")
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${${id}_INCLUDE_DIR})
endfunction()

headwise_headers(Eigen3::Eigen Eigen/Core libeigen3-dev SUFFIXES eigen3)
headwise_headers(headwise::fmt fmt/format.h libfmt-dev)
set_property(TARGET headwise::fmt PROPERTY INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY)
headwise_headers(headwise::egl_headers EGL/egl.h libegl-dev)
headwise_headers(doctest::doctest doctest/doctest.h doctest-dev)
headwise_headers(headwise::epoxy_headers epoxy/gl.h libepoxy-dev)

find_library(HEADWISE_EPOXY_LIBRARY NAMES epoxy libepoxy.so.0 HINTS ${HEADWISE_DEPENDENCIES}/usr/lib/x86_64-linux-gnu ${HEADWISE_DEPENDENCIES}/usr/lib)
mark_as_advanced(HEADWISE_EPOXY_LIBRARY)
if(NOT HEADWISE_EPOXY_LIBRARY)
  message(FATAL_ERROR "headwise: libepoxy was not found. Install it with: apt-get install libepoxy-dev, or name a folder that "
                      "tests/gpu/pack_dependencies.sh has made: -DHEADWISE_DEPENDENCIES=FOLDER")
endif()
add_library(headwise::epoxy UNKNOWN IMPORTED GLOBAL)
set_target_properties(headwise::epoxy PROPERTIES IMPORTED_LOCATION ${HEADWISE_EPOXY_LIBRARY}
                      INTERFACE_LINK_LIBRARIES "headwise::epoxy_headers;headwise::egl_headers")
