# SPDX-License-Identifier: Apache-2.0
# The table at the end of a configure run: what is built and what was left out, with the reason.

# gyre_summary(PART TEXT): one row, e.g. gyre_summary(hwloc "not found: workers are pinned by number").
function(gyre_summary part text)
  string(LENGTH "${part}" length)
  while(length LESS 14)
    string(APPEND part " ")
    math(EXPR length "${length} + 1")
  endwhile()
  set_property(GLOBAL APPEND PROPERTY GYRE_SUMMARY_ROWS "  ${part} ${text}")
endfunction()

function(gyre_summary_print)
  get_property(rows GLOBAL PROPERTY GYRE_SUMMARY_ROWS)
  list(JOIN rows "\n" rows)
  message(STATUS "Gyre ${PROJECT_VERSION}\n${rows}")
endfunction()
