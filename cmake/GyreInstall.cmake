# SPDX-License-Identifier: Apache-2.0
# What the install consists of besides the targets, which say so themselves: headers, CMake package, pkg-config.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/gyre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gyre)
configure_package_config_file(cmake/gyreConfig.cmake.in gyreConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR GYRE_PLUGIN_DIR GYRE_DROPIN_DIR)
write_basic_package_version_file(gyreConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gyreConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/gyreConfigVersion.cmake
  cmake/GyreBackend.cmake DESTINATION ${package_dir})
install(EXPORT gyreTargets NAMESPACE gyre:: DESTINATION ${package_dir})

# Relative to itself, so that it is right wherever the tree is installed or moved, also where a packager gives
# absolute folders.
file(RELATIVE_PATH GYRE_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" GYRE_PC_TO_PREFIX "${GYRE_PC_TO_PREFIX}")
file(RELATIVE_PATH GYRE_PC_LIBDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH GYRE_PC_INCLUDEDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/gyre.pc.in gyre.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gyre.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
