# SPDX-License-Identifier: Apache-2.0
# Read by ctest before the lists of tests: their limits follow the machine. GYRE_TEST_PATIENCE, measured here unless it is set,
# multiplies each TIMEOUT; tests find it in their environment (tests/patience.h, and $GYRE_TEST_PATIENCE in scripts).
if(NOT "$ENV{GYRE_TEST_PATIENCE}" MATCHES "^[1-9][0-9]?[0-9]?$")
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../scripts/patience.sh
    OUTPUT_VARIABLE patience OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result)
  if(NOT result EQUAL 0 OR NOT patience MATCHES "^[1-9][0-9]*$")
    message(STATUS "the machine's speed could not be measured: limits are four times the usual")
    set(patience 4)
  endif()
  set(ENV{GYRE_TEST_PATIENCE} ${patience})
endif()
set(ENV{CK_TIMEOUT_MULTIPLIER} $ENV{GYRE_TEST_PATIENCE}) # Check's own limits

# gyre_set_patiently(VARIABLE MS MOST): a setting of the product that only ends what hangs.
function(gyre_set_patiently variable ms most)
  if("$ENV{${variable}}" STREQUAL "")
    math(EXPR ms "${ms} * $ENV{GYRE_TEST_PATIENCE}")
    if(ms GREATER most)
      set(ms ${most})
    endif()
    set(ENV{${variable}} ${ms})
  endif()
endfunction()
gyre_set_patiently(GYRE_COMPILE_TIMEOUT_MS 140000 3600000)
gyre_set_patiently(GYRE_PROBE_TIMEOUT_MS 10000 600000)
gyre_set_patiently(GYRE_KERNEL__DEFAULT__LAUNCH_TIMEOUT_MS 10000 3600000)
# A block that gets no processor for so long has not left its handler. As usual where the patience is 2.
gyre_set_patiently(GYRE_KERNEL__DEFAULT__STOP_TIMEOUT_MS 500 60000)

include(${CMAKE_CURRENT_LIST_DIR}/labels.cmake)

# ctest's command, with TIMEOUT multiplied and LABELS added. Each argument is passed on in brackets, as it came.
function(set_tests_properties test)
  gyre_labels_of("${test}" labels)
  set(code "_set_tests_properties([==[${test}]==] ")
  set(before "")
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 1 ${last})
    set(argument "${ARGV${i}}")
    if(before STREQUAL "TIMEOUT")
      math(EXPR argument "${argument} * $ENV{GYRE_TEST_PATIENCE}")
    elseif(before STREQUAL "LABELS")
      list(APPEND labels ${argument})
      set(argument "${labels}")
    endif()
    set(before "${argument}")
    string(APPEND code "[==[${argument}]==] ")
  endforeach()
  list(REMOVE_DUPLICATES labels)
  cmake_language(EVAL CODE "${code} LABELS [==[${labels}]==])")
endfunction()
