# SPDX-License-Identifier: Apache-2.0
# Cases whose kernels are spread over several backends or devices: the same pipelines as on one, and the same results byte for byte.
# conformance/WAY/FILE/CASE.
set(mixed_cases a_job_goes_through_five_kernels a_flow_ends_as_its_handlers_say
  headers_travel_with_their_flow a_reply_in_the_middle_waits_for_the_rest words_of_a_burst_end_their_flow_together
  a_handler_that_fails_has_emitted_nothing two_replies_fail_a_flow a_full_link_holds_its_sender_up
  large_messages_arrive_whole texts_travel_along_links random_graphs_end_each_flow_as_foreseen
  a_pipeline_closes_with_work_under_way a_stage_ends_after_its_pipeline a_close_that_timed_out_is_made_again
  messages_of_flows_have_seals pauses_keep_the_order_of_messages graphs_with_topics_end_each_flow_as_foreseen
  a_slow_subscriber_is_waited_for a_tap_holds_nobody_up each_job_of_a_pool_is_done_once work_of_a_paused_member_is_stolen
  kernels_share_trees_by_tight_rings a_round_begins_when_the_last_one_was_handled)
set(mixed_cases_opencl_first a_job_goes_through_five_kernels random_graphs_end_each_flow_as_foreseen a_full_link_holds_its_sender_up
  graphs_with_topics_end_each_flow_as_foreseen)
set(mixed_cases_devices a_job_goes_through_five_kernels random_graphs_end_each_flow_as_foreseen)
# a part whose device moves its messages by itself: what its stations do
set(mixed_cases_cuda a_job_goes_through_five_kernels the_tightest_chain_keeps_order a_flow_ends_as_its_handlers_say
  words_of_a_burst_end_their_flow_together two_replies_fail_a_flow a_handler_that_fails_has_emitted_nothing
  a_kernel_that_may_not_answer_fails_its_flow large_messages_arrive_whole texts_travel_along_links a_full_link_holds_its_sender_up
  a_reply_in_the_middle_waits_for_the_rest random_graphs_end_each_flow_as_foreseen)
# kernels of two devices that use each other's memory, which are one pipeline
set(mixed_cases_far the_tightest_chain_keeps_order a_flow_ends_as_its_handlers_say words_of_a_burst_end_their_flow_together
  two_replies_fail_a_flow large_messages_arrive_whole texts_travel_along_links a_full_link_holds_its_sender_up
  a_reply_in_the_middle_waits_for_the_rest random_graphs_end_each_flow_as_foreseen graphs_with_topics_end_each_flow_as_foreseen
  a_subscription_gets_every_message no_more_are_under_way_than_the_window two_cycles_share_a_kernel each_flow_has_its_own_memory)
set(mixed_quick_cuda a_job_goes_through_five_kernels words_of_a_burst_end_their_flow_together two_replies_fail_a_flow)

set(mixed_quick a_job_goes_through_five_kernels a_flow_ends_as_its_handlers_say words_of_a_burst_end_their_flow_together
  a_full_link_holds_its_sender_up large_messages_arrive_whole a_slow_subscriber_is_waited_for) # others in ./dev check

# gyre_mixed(WAY BACKENDS CASE...)
function(gyre_mixed way backends)
  foreach(case ${ARGN})
    if(NOT case IN_LIST cases)
      message(FATAL_ERROR "tests/conformance/mixed.cmake names ${case}, which is no case")
    endif()
    set(test conformance/${way}/${subject_${case}}/${case})
    add_test(NAME ${test} COMMAND gyre_conformance cpu ${case})
    # where processors are busy, each epoch waits for PoCL's threads
    set_tests_properties(${test} PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77
      ENVIRONMENT "${environment};${environment_opencl};GYRE_TEST_BACKENDS=${backends};GYRE_TEST_PATIENCE=6")
    if(NOT case IN_LIST mixed_quick)
      set_property(TEST ${test} APPEND PROPERTY LABELS long)
    endif()
  endforeach()
endfunction()

if(TARGET gyre-opencl)
  gyre_mixed(mixed_cpu_opencl cpu,opencl ${mixed_cases})
  gyre_mixed(mixed_opencl_cpu opencl,cpu ${mixed_cases_opencl_first})
  gyre_mixed(mixed_devices opencl:0,opencl:1 ${mixed_cases_devices})
  foreach(case ${mixed_cases_devices}) # PoCL makes as many as it is told
    set_property(TEST conformance/mixed_devices/${subject_${case}}/${case} APPEND PROPERTY ENVIRONMENT "POCL_DEVICES=pthread pthread")
  endforeach()
endif()

# kernels in the program beside some in a worker process, which are a part: also when that process is killed again and again
set(mixed_cases_isolated a_flow_ends_as_its_handlers_say words_of_a_burst_end_their_flow_together two_replies_fail_a_flow
  a_full_link_holds_its_sender_up texts_travel_along_links)
gyre_mixed(mixed_cpu_isolated cpu,isolated ${mixed_cases_isolated} random_graphs_end_each_flow_as_foreseen)
foreach(case ${mixed_cases_isolated} random_graphs_end_each_flow_as_foreseen)
  set_property(TEST conformance/mixed_cpu_isolated/${subject_${case}}/${case} APPEND PROPERTY ENVIRONMENT ${environment_isolated})
endforeach()
set(row conformance/mixed_cpu_isolated/links/random_graphs_end_each_flow_as_foreseen)
set_tests_properties(${row} PROPERTIES LABELS "") # as conformance/isolated/links/random_graphs_outlive_their_workers
set_property(TEST ${row} APPEND PROPERTY ENVIRONMENT GYRE_TEST_SEEDS=4 GYRE_TEST_FLOWS=600 GYRE_TEST_KILLS=40
  GYRE_BACKEND__ISOLATED__RESTART_LIMIT=1000 GYRE_KERNEL__DEFAULT__POISON_LIMIT=1000)

if(TARGET emulator_driver)
  # gyre_mixed_emulated(WAY CASE...): what rows need on devices made of software
  function(gyre_mixed_emulated way)
    foreach(case ${ARGN})
      set(test conformance/${way}/${subject_${case}}/${case})
      gyre_emulated(${test})
      set_tests_properties(${test} PROPERTIES TIMEOUT 600)
      # where processors are busy, blocks made of software take their time to obey
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT ${emulated_links}
        GYRE_KERNEL__DEFAULT__STOP_TIMEOUT_MS=60000)
      if(case MATCHES "^(random|graphs)_") # any kernel but the entry may be on any of them; in a tight part messages go one at a time
        set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT GYRE_TEST_FLOWS=40 GYRE_TEST_DRAW=1)
      endif()
      if(NOT case STREQUAL a_job_goes_through_five_kernels) # which compiles for all of them
        set_tests_properties(${test} PROPERTIES DEPENDS conformance/mixed_cpu_cuda/${subject_a_job_goes_through_five_kernels}/a_job_goes_through_five_kernels)
      endif()
      if(NOT case IN_LIST mixed_quick_cuda OR NOT way STREQUAL mixed_cpu_cuda) # in ./dev check all
        set_property(TEST ${test} APPEND PROPERTY LABELS more)
      endif()
    endforeach()
  endfunction()
  gyre_mixed(mixed_cpu_cuda cpu,cuda ${mixed_cases_cuda})
  gyre_mixed_emulated(mixed_cpu_cuda ${mixed_cases_cuda})
  gyre_mixed(mixed_far cuda:0,cuda:1 ${mixed_cases_far})
  gyre_mixed_emulated(mixed_far ${mixed_cases_far})
endif()
