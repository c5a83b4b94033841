# SPDX-License-Identifier: Apache-2.0
# Read by ctest through tests/patience.cmake: what labels a test has besides those that its CMakeLists.txt names.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/labels.txt rows REGEX "^[a-z]")
set(gyre_label_rows 0)
foreach(row IN LISTS rows)
  math(EXPR gyre_label_rows "${gyre_label_rows} + 1")
  string(REGEX REPLACE " .*" "" gyre_label_${gyre_label_rows} "${row}")
  string(REGEX REPLACE "^[^ ]+ +" "" gyre_label_names_${gyre_label_rows} "${row}")
endforeach()

# gyre_labels_of(TEST VARIABLE): its folders below tests/, the folders of its name, the labels whose names fit.
function(gyre_labels_of test variable)
  string(REGEX REPLACE ".*/(tests|docs)(/|$)" "" labels "${CMAKE_CURRENT_LIST_DIR}")
  string(REGEX MATCHALL "[^/]+" labels "${labels}")
  string(REGEX MATCHALL "[^/]+/" folders "${test}")
  string(REPLACE "/" "" folders "${folders}")
  list(APPEND labels ${folders})
  foreach(i RANGE 1 ${gyre_label_rows})
    if(test MATCHES "${gyre_label_names_${i}}")
      list(APPEND labels ${gyre_label_${i}})
    endif()
  endforeach()
  set(${variable} "${labels}" PARENT_SCOPE)
endfunction()
