/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers with ports that are compiled with checks (GYRE_CHECKED_INDICES, backend.cpu.checked): they write into what they
 * emitted, and nowhere else in the ring.
 */
#include "port_ring.h"
#include "split.gyre.c"

#include "unit/unit.h"

/* Emits two words and writes a byte at an index of the text of one of them, also where there is none. */
GYRE_KERNEL_TO(scrawl, line_error, gyre_none, split_ports)
{
    GYRE_GLOBAL word *first = gyre_emit(gyre, words);
    GYRE_GLOBAL word *second = gyre_emit(gyre, words);
    GYRE_GLOBAL u8 *text = request->line ? second->text : first->text;
    text[(i32)request->at] = 1;
    return GYRE_NO_REPLY;
}

/* not in the program's own data, which handlers of this program may touch */
static struct port_ring *rings;
static gyre_cpu_fault fault;
static char faulty[64];

static void take_fault(gyre_context *context, const gyre_cpu_fault *told)
{
    context->failed = 1;
    context->fail_code = told->code;
    fault = *told;
    snprintf(faulty, sizeof faulty, "%s", told->name ? told->name : "");
}

static const gyre_cpu_services services = {.index_out_of_range = take_fault};

static int call(const gyre_cpu_kernel *kernel, const void *request, gyre_cpu_port ports[2])
{
    gyre_context context = {.ports = ports, .services = &services};
    ports[0] = port_ring_open(&rings[0], RING_SLOTS - 1, 8);
    ports[1] = port_ring_open(&rings[1], 0, 1);
    return kernel->handle(request, NULL, NULL, NULL, NULL, &context);
}

START_TEST(a_handler_may_write_all_that_it_emitted)
{
    const line request = {.number = 1, .length = 19, .text = "a b c d e f g h i j"};
    gyre_cpu_port ports[2];
    ck_assert_int_eq(call(&gyre_kernel_split, &request, ports), GYRE_NO_REPLY);
    ck_assert(ports[0].emitted == 8 && ports[1].emitted == 1);
    expect_payloads_alone(&rings[0], RING_SLOTS - 1, 8, sizeof(word));
    for (u32 which = 0; which < 2; which++) {
        const line_error last = {.line = which, .at = 23};
        ck_assert_int_eq(call(&gyre_kernel_scrawl, &last, ports), GYRE_NO_REPLY);
        ck_assert_uint_eq(((word *)port_ring_at(&rings[0], RING_SLOTS - 1 + which))->text[23], 1);
    }
}
END_TEST

/* An index of the text, the byte of the message that it means, and how the message is called. */
static const struct stray {
    line_error request;
    i64 index;
    const char *name;
} strays[] = {
    {{0, 24}, 32, "words's bytes"},
    {{1, 24}, 32, "words's bytes"},
    {{1, 247}, 255, "words's bytes"}, /* the last byte before the next payload */
};

START_TEST(a_write_behind_an_emitted_message_is_refused_with_the_port)
{
    const struct stray *stray = &strays[_i];
    gyre_cpu_port ports[2];
    ck_assert_int_eq(call(&gyre_kernel_scrawl, &stray->request, ports), GYRE_FAILED);
    ck_assert_int_eq(fault.code, GYRE_FAILURE_INDEX);
    ck_assert_str_eq(faulty, stray->name);
    ck_assert_int_eq(fault.index, stray->index);
    ck_assert_uint_eq(fault.count, sizeof(word));
    expect_payloads_alone(&rings[0], RING_SLOTS - 1, 2, sizeof(word));
}
END_TEST

START_TEST(a_write_into_a_place_that_was_not_emitted_is_refused)
{
    const line_error behind = {1, RING_STRIDE}, before = {0, (u32) - (i32)(RING_STRIDE)};
    gyre_cpu_port ports[2];
    ck_assert_int_eq(call(&gyre_kernel_scrawl, &behind, ports), GYRE_FAILED);
    ck_assert_int_eq(fault.code, GYRE_FAILURE_INDEX);
    expect_payloads_alone(&rings[0], RING_SLOTS - 1, 0, 0);
    ck_assert_int_eq(call(&gyre_kernel_scrawl, &before, ports), GYRE_FAILED);
    expect_payloads_alone(&rings[0], RING_SLOTS - 1, 0, 0);
}
END_TEST

int main(void)
{
    rings = aligned_alloc(64, 2 * sizeof *rings);
    if (!rings)
        return EXIT_FAILURE;
    Suite *suite = suite_create("ports_checked");
    TCase *tcase = tcase_create("ports_checked");
    tcase_add_test(tcase, a_handler_may_write_all_that_it_emitted);
    tcase_add_loop_test(tcase, a_write_behind_an_emitted_message_is_refused_with_the_port, 0,
                        (int)(sizeof strays / sizeof strays[0]));
    tcase_add_test(tcase, a_write_into_a_place_that_was_not_emitted_is_refused);
    suite_add_tcase(suite, tcase);
    const int code = unit_run(suite);
    free(rings);
    return code;
}
