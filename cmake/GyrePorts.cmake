# SPDX-License-Identifier: Apache-2.0
# The target `ported`: what ./dev ports builds and runs on another processor or with another C library. That is the library, the CPU
# backend, the command, the conformance tests, and the unit tests: with another C library all of them, for another processor
# those of what that can get wrong, as an emulator is slow. Included at the end of the configure run, when all targets are there.
set(folders core backends/cpu cli)
if(GYRE_TESTS AND CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
  file(GLOB units RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests/unit/*/CMakeLists.txt)
  list(TRANSFORM units REPLACE "/CMakeLists.txt$" "")
  list(APPEND folders tests/conformance tests/plugins ${units})
elseif(GYRE_TESTS)
  list(APPEND folders tests/conformance tests/unit/base tests/unit/observation tests/unit/ring)
endif()

function(gyre_port_targets_of folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(inner DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "EXECUTABLE|LIBRARY")
      add_dependencies(ported ${target})
    endif()
  endforeach()
  foreach(one ${inner})
    gyre_port_targets_of(${one})
  endforeach()
endfunction()

add_custom_target(ported)
foreach(folder ${folders})
  gyre_port_targets_of(${PROJECT_SOURCE_DIR}/${folder})
endforeach()
