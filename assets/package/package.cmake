# The Debian package: ./package.sh deb, or cpack -G DEB in a Release build. What is in it is what assets/CMakeLists.txt and
# app/CMakeLists.txt install, laid out as Debian wants it by debian_files.cmake.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME headwise)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR Headwise)
set(CPACK_PACKAGE_CONTACT "Headwise <headwise@example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION education)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Opened when the window is: nothing is linked with them.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libegl1, libgl1")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libgl1-mesa-dri)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "fonts-droid-fallback, fonts-noto-cjk")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "multi-head attention, number by number")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "\
Headwise shows the operator at the heart of transformers at work. Type a
sentence and step through input projection, split into heads, each head's
scaled dot-product attention, concatenation and output projection. Every
number is computed, every cell shows where it comes from, every setting takes
effect at once, and every picture can be saved as a file.

There are lessons for learners, slides for teachers, and a command line that
writes every intermediate tensor, finds what is wrong in another
implementation, and trains small models. Attention layers of BERT, GPT-2,
Llama, ViT, Whisper and others are read from their files.")

# For debian_files.cmake.
set(CPACK_HEADWISE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
include(CPack)
