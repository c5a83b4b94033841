/* SPDX-License-Identifier: Apache-2.0 */
/* A worker process may be killed at any step of cpu_flow_begin: what its flow says then is never of two requests. */
#include "backends/cpu/links/cpu_flow.h"
#include "backends/cpu/cpu_resident.h"
#include "backends/device/device_admission.h"
#include "unit/unit.h"

enum { CAPACITY = 4, LATEST = 6, PLACE = LATEST % CAPACITY };

static struct {
    gyre_flow_head head;
    gyre_flow flows[CAPACITY];
} entered;

/* What the rest of the backend is to a flow that begins: nothing but this. */
const gyre_flow_head *device_flow_head(const gyre_link_entry *entry)
{
    (void)entry;
    return &entered.head;
}

#define ABSENT(name_)                                                                                        \
    void absent_##name_(void) __asm__(#name_);                                                               \
    void absent_##name_(void)                                                                                \
    {                                                                                                        \
        ck_abort_msg("%s was called", #name_);                                                               \
    }
ABSENT(cpu_handle)
ABSENT(cpu_ports_answer)
ABSENT(cpu_ports_begin_round)
ABSENT(cpu_ports_count)
ABSENT(cpu_ports_count_asks)
ABSENT(cpu_ports_publish)
ABSENT(cpu_ports_take_back)
ABSENT(cpu_trace_begin)
ABSENT(cpu_trace_end)
ABSENT(cpu_turns_note)
ABSENT(device_admission_give)

/* The time is asked for at the step between the index and its time. */
static uint64_t looked_at;

static gyre_u64 look_at_flow(void)
{
    const gyre_flow *flow = &entered.flows[PLACE];
    ck_assert(flow->index == LATEST - CAPACITY || flow->started_ns == 0);
    return ++looked_at;
}

static void begin(gyre_u64 stamps_offset)
{
    static const gyre_cpu_services services = {.time_ns = look_at_flow};
    static struct cpu_worker worker;
    const gyre_link_entry entry = {.flows = (gyre_u64)(uintptr_t)entered.flows,
                                   .slots = {.capacity = CAPACITY, .stamps_offset = stamps_offset}};
    worker.context.services = &services;
    entered.flows[PLACE] = (gyre_flow){.index = LATEST - CAPACITY, .started_ns = 77};
    looked_at = 0;
    ck_assert(cpu_flow_begin(&worker, &entry, &entered.flows[PLACE], LATEST));
}

START_TEST(an_index_never_stands_beside_the_time_of_an_earlier_request)
{
    begin(64);
    ck_assert_uint_eq(looked_at, 1);
    ck_assert_uint_eq(entered.flows[PLACE].index, LATEST);
    ck_assert_uint_eq(entered.flows[PLACE].started_ns, 1);
}
END_TEST

START_TEST(without_stamps_nobody_asks_for_the_time)
{
    begin(0);
    ck_assert_uint_eq(looked_at, 0);
    ck_assert_uint_eq(entered.flows[PLACE].index, LATEST);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu_flow");
    TCase *tests = tcase_create("begin");
    tcase_add_test(tests, an_index_never_stands_beside_the_time_of_an_earlier_request);
    tcase_add_test(tests, without_stamps_nobody_asks_for_the_time);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
