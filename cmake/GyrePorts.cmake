# SPDX-License-Identifier: Apache-2.0
# The target `ported`: what ./dev ports builds and runs on another processor or with another C library. That is the library, the CPU
# backend, the command, the conformance tests, and unit tests of what a port can get wrong; the rest measures, or tests what a
# port has in common with this system. Included at the end of the configure run, when all targets are there.
set(folders core backends/cpu cli)
if(GYRE_TESTS)
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
