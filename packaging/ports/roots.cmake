# SPDX-License-Identifier: Apache-2.0
# Of this system nothing is found that is for another one: no header, no library, no package.
set(CMAKE_FIND_ROOT_PATH ${GYRE_PORT_PREFIX})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${GYRE_PORT_PREFIX}/lib/pkgconfig)
set(ENV{PKG_CONFIG_PATH} "")
