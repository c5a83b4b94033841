# SPDX-License-Identifier: Apache-2.0
# The target `ported`: what ./dev ports builds and runs on another processor or with another C library. That is the library, the CPU
# backend, the command, the unit tests and the conformance tests; the rest measures, or tests what a port has in common with
# this system. Included at the end of the configure run, when all targets are there.

function(gyre_port_targets_of folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "EXECUTABLE|LIBRARY")
      add_dependencies(ported ${target})
    endif()
  endforeach()
  foreach(inner ${folders})
    gyre_port_targets_of(${inner})
  endforeach()
endfunction()

add_custom_target(ported)
set(folders core backends/cpu cli)
if(GYRE_TESTS)
  list(APPEND folders tests/plugins tests/conformance)
endif()
foreach(folder ${folders})
  gyre_port_targets_of(${PROJECT_SOURCE_DIR}/${folder})
endforeach()
if(GYRE_TESTS)
  file(GLOB units ${PROJECT_SOURCE_DIR}/tests/unit/*/CMakeLists.txt)
  foreach(unit ${units})
    get_filename_component(folder ${unit} DIRECTORY)
    gyre_port_targets_of(${folder})
  endforeach()
endif()
