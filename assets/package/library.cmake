# headwise::core for other programs (docs/library.md): cmake --install build/release --component development. Left out of every
# other installation, and so of all packages.
include(CMakePackageConfigHelpers)
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/headwise)

set_target_properties(headwise_compute PROPERTIES EXPORT_NAME compute)
set_target_properties(headwise_core PROPERTIES EXPORT_NAME core)
install(TARGETS headwise_compute headwise_core EXPORT headwiseTargets COMPONENT development EXCLUDE_FROM_ALL
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headwise)
install(EXPORT headwiseTargets NAMESPACE headwise:: DESTINATION ${folder} COMPONENT development EXCLUDE_FROM_ALL)

# Without OpenGL: of core/backend only what core/backend/CMakeLists.txt adds to headwise_core.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/core DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headwise COMPONENT development EXCLUDE_FROM_ALL
        FILES_MATCHING PATTERN *.h PATTERN precompiled.h EXCLUDE PATTERN core/gpu EXCLUDE PATTERN core/backend EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/core/backend/model_sizes.h ${PROJECT_SOURCE_DIR}/core/backend/sampled_agreement.h
              ${PROJECT_SOURCE_DIR}/core/backend/weight_tiles.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headwise/core/backend COMPONENT development EXCLUDE_FROM_ALL)

# Until 1.0 a minor version may change what headers declare.
set(version_file ${CMAKE_CURRENT_BINARY_DIR}/headwiseConfigVersion.cmake)
write_basic_package_version_file(${version_file} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/headwiseConfig.cmake ${PROJECT_SOURCE_DIR}/third_party/core_dependencies.cmake ${version_file}
        DESTINATION ${folder} COMPONENT development EXCLUDE_FROM_ALL)
