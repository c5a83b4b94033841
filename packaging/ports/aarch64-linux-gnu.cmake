# SPDX-License-Identifier: Apache-2.0
# Builds for arm64 with Debian's cross compiler: cmake --toolchain FILE. Programs run by qemu's emulator of a user's process, where
# it is there. GYRE_PORT_PREFIX: where scripts/ports.sh put the libraries that Gyre needs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER NOTFOUND) # a port is C alone: the compiler that is found is this system's
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GYRE_PORT_PREFIX)
find_program(GYRE_PORT_QEMU qemu-aarch64-static)
if(GYRE_PORT_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${GYRE_PORT_QEMU} -L /usr/aarch64-linux-gnu)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/roots.cmake)
