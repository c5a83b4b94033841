# SPDX-License-Identifier: Apache-2.0
# The table at the end of a configure run: what is built and what was left out, with the reason. What was lacking is written
# down too, for who comes back when it may be there (scripts/build.sh).

# gyre_summary(PART TEXT): one row, e.g. gyre_summary(hwloc "not found: workers are pinned by number").
function(gyre_summary part text)
  string(LENGTH "${part}" length)
  while(length LESS 14)
    string(APPEND part " ")
    math(EXPR length "${length} + 1")
  endwhile()
  # no list: a text may have semicolons
  set_property(GLOBAL APPEND_STRING PROPERTY GYRE_SUMMARY_ROWS "\n  ${part} ${text}")
endfunction()

# gyre_lacks(PART KIND ARGUMENT): what a part that is left out wants: header FILE, module NAME of pkg-config, file PATTERN.
function(gyre_lacks part kind argument)
  set_property(GLOBAL APPEND_STRING PROPERTY GYRE_LACKING "${part} ${kind} ${argument}\n")
endfunction()

# gyre_left_out(BACKEND REASON): why it is not built, in one sentence of at most 180 bytes with what to do, for the summary,
# for ./dev, and for the library, which finds it in the backend's drop-in (plugins.d/).
function(gyre_left_out backend reason)
  gyre_summary("backend ${backend}" "not built: ${reason}")
  set_property(GLOBAL PROPERTY GYRE_NOT_BUILT_${backend} "${reason}")
  set_property(GLOBAL APPEND_STRING PROPERTY GYRE_LEFT_OUT "backend ${backend} is not built: ${reason}\n")
endfunction()

function(gyre_summary_print)
  get_property(rows GLOBAL PROPERTY GYRE_SUMMARY_ROWS)
  message(STATUS "Gyre ${PROJECT_VERSION}${rows}")
  get_property(lacking GLOBAL PROPERTY GYRE_LACKING)
  get_property(left_out GLOBAL PROPERTY GYRE_LEFT_OUT)
  file(WRITE ${CMAKE_BINARY_DIR}/lacking "${lacking}")
  file(WRITE ${CMAKE_BINARY_DIR}/left-out "${left_out}")
endfunction()
