# SPDX-License-Identifier: Apache-2.0
# What the install consists of besides the targets, which say so themselves: headers, CMake package, pkg-config, licence, docs and
# examples; and the target that takes it away.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/gyre DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gyre)
configure_package_config_file(cmake/gyreConfig.cmake.in gyreConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR GYRE_PLUGIN_DIR GYRE_DROPIN_DIR)
set(compatibility SameMajorVersion) # as the library's SONAME says
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
endif()
write_basic_package_version_file(gyreConfigVersion.cmake COMPATIBILITY ${compatibility})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gyreConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/gyreConfigVersion.cmake
  cmake/GyreBackend.cmake cmake/GyreTest.cmake DESTINATION ${package_dir})
install(EXPORT gyreTargets NAMESPACE gyre:: DESTINATION ${package_dir})

# Relative to itself, so that it is right wherever the tree is installed or moved, also where a packager gives
# absolute folders.
file(RELATIVE_PATH GYRE_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" GYRE_PC_TO_PREFIX "${GYRE_PC_TO_PREFIX}")
file(RELATIVE_PATH GYRE_PC_LIBDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH GYRE_PC_INCLUDEDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/gyre.pc.in gyre.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gyre.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Section 3 of the manual: what the public headers say of each function.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND)
  set(written ${CMAKE_CURRENT_BINARY_DIR}/manual/man3)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/gyre/*.h)
  add_custom_command(OUTPUT ${written}/gyre_gyre.h.3 VERBATIM DEPENDS ${headers} ${PROJECT_SOURCE_DIR}/scripts/header_manual.py
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${written}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/header_manual.py write ${PROJECT_SOURCE_DIR}/include ${written})
  add_custom_target(gyre_header_manual ALL DEPENDS ${written}/gyre_gyre.h.3)
  install(DIRECTORY ${written} DESTINATION ${CMAKE_INSTALL_MANDIR})
else()
  gyre_summary("manual of functions" "not written: no python3 was found (Debian, Ubuntu: python3)")
endif()

# As in the source tree, so that their links lead somewhere. The demo builds only there.
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.json" PATTERN site EXCLUDE)
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
  PATTERN demo EXCLUDE REGEX "/examples/CMakeLists\\.txt$" EXCLUDE)

add_custom_target(uninstall COMMENT "Removing what the last install put there" VERBATIM
  COMMAND ${CMAKE_COMMAND} -DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt -P ${PROJECT_SOURCE_DIR}/cmake/GyreUninstall.cmake)
