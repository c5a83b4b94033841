# SPDX-License-Identifier: Apache-2.0
# Read by ctest through tests/patience.cmake: what labels a test has besides those that its CMakeLists.txt names.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/labels.txt rows REGEX "^[a-z]")
set(gyre_subjects "")
foreach(row IN LISTS rows)
  string(REGEX REPLACE " .*" "" label "${row}")
  string(REGEX REPLACE "^[^ ]+ +" "" gyre_names_of_${label} "${row}")
  list(APPEND gyre_subjects ${label})
endforeach()

# gyre_labels_of(TEST VARIABLE): its folders below tests/, the folders of its name, the subjects whose names fit.
function(gyre_labels_of test variable)
  string(REGEX REPLACE ".*/(tests|docs)(/|$)" "" labels "${CMAKE_CURRENT_LIST_DIR}")
  string(REGEX MATCHALL "[^/]+" labels "${labels}")
  string(REGEX MATCHALL "[^/]+/" folders "${test}")
  string(REPLACE "/" "" folders "${folders}")
  list(APPEND labels ${folders})
  foreach(subject IN LISTS gyre_subjects)
    if(test MATCHES "${gyre_names_of_${subject}}")
      list(APPEND labels ${subject})
    endif()
  endforeach()
  set(${variable} "${labels}" PARENT_SCOPE)
endfunction()
