# SPDX-License-Identifier: Apache-2.0
# Builds for this machine's processor with the C library musl, by the wrapper musl-gcc of Debian's musl-tools: cmake --toolchain
# FILE. GYRE_PORT_PREFIX: where scripts/ports.sh put the libraries that Gyre needs, and the headers of Linux.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_HOST_SYSTEM_PROCESSOR})
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_CXX_COMPILER NOTFOUND) # a port is C alone: the compiler that is found is this system's
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GYRE_PORT_PREFIX)
set(CMAKE_CROSSCOMPILING_EMULATOR env) # what is built runs here
# Linux's own headers are not where musl-gcc looks, and the macro CMSG_NXTHDR of musl converts signs.
set(CMAKE_C_FLAGS_INIT "-isystem ${GYRE_PORT_PREFIX}/include -Wno-sign-conversion")
include(${CMAKE_CURRENT_LIST_DIR}/roots.cmake)
