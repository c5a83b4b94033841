# SPDX-License-Identifier: Apache-2.0
# gyre_add_backend(NAME SOURCE...): the plugin gyre-NAME.so, as target gyre-NAME.
#
# Used by the backends of this tree and, through find_package(gyre), by backends built elsewhere. The plugin
# shows nothing but what is marked GYRE_BACKEND_EXPORT, and every symbol it needs must be found at link time.
function(gyre_add_backend name)
  add_library(gyre-${name} MODULE ${ARGN})
  target_link_libraries(gyre-${name} PRIVATE gyre::headers)
  set_target_properties(gyre-${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
  if(NOT GYRE_SANITIZE) # clang leaves the sanitizer's own symbols to the program
    target_link_options(gyre-${name} PRIVATE -Wl,-z,defs)
  endif()
endfunction()
