# SPDX-License-Identifier: Apache-2.0
# A GPU made of software (tests/emulator): a file beside the plugins, for `emulate = true` of [backend.cuda], and the objects that tests
# make their driver's library of. Needs what the CUDA backend needs; not with sanitizers, which would watch a machine that runs programs.
if(NOT TARGET gyre-cuda OR GYRE_SANITIZE)
  return()
endif()
set(emulator ${PROJECT_SOURCE_DIR}/tests/emulator)
file(GLOB emulator_machine_sources CONFIGURE_DEPENDS ${emulator}/*.c)
list(FILTER emulator_machine_sources EXCLUDE REGEX "/(driver|test|nccl)_[a-z_]*\\.c$")
file(GLOB emulator_driver_sources CONFIGURE_DEPENDS ${emulator}/driver_*.c)
add_library(emulator_machine OBJECT ${emulator_machine_sources})
target_link_libraries(emulator_machine PUBLIC gyre_flags Threads::Threads m)
# quick, and with roundings of their own, as the instructions say
target_compile_options(emulator_machine PRIVATE -O3 -ffp-contract=off)
target_include_directories(emulator_machine PUBLIC ${emulator})
add_library(emulator_calls OBJECT ${emulator_driver_sources})
target_include_directories(emulator_calls SYSTEM PRIVATE ${GYRE_CUDA_INCLUDE_DIR} ${GYRE_NVRTC_INCLUDE_DIR})
target_include_directories(emulator_calls PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(emulator_calls PUBLIC emulator_machine)
set_target_properties(emulator_machine emulator_calls PROPERTIES POSITION_INDEPENDENT_CODE ON)
set_target_properties(emulator_calls PROPERTIES C_VISIBILITY_PRESET default)

add_library(gyre-cuda-emulator MODULE $<TARGET_OBJECTS:emulator_machine> $<TARGET_OBJECTS:emulator_calls>)
target_link_libraries(gyre-cuda-emulator PRIVATE Threads::Threads m)
target_link_options(gyre-cuda-emulator PRIVATE -Wl,-z,defs -Wl,-Bsymbolic)
# no name of a plugin: those begin with gyre-
set_target_properties(gyre-cuda-emulator PROPERTIES PREFIX "" OUTPUT_NAME cuda-emulator LINKER_LANGUAGE C
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${GYRE_HOME_NAME}/plugins)
install(TARGETS gyre-cuda-emulator LIBRARY DESTINATION ${GYRE_PLUGIN_DIR})
