/* SPDX-License-Identifier: Apache-2.0 */
/* The wrappers over a backend's table: a backend that works, and what faulty ones are turned into. */
#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/queue/queue.h"
#include "core/stages/make.h"
#include "unit/unit.h"
#include "../../patience.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define PLUGIN(name) GYRE_TEST_PLUGINS name ".so"

static atomic_int violations;
static char last_line[512];

static void listen(void *context, int level, const char *text)
{
    (void)context;
    if (level == GYRE_LOG_ERROR && strncmp(text, "contract:", 9) == 0) {
        atomic_fetch_add(&violations, 1);
        snprintf(last_line, sizeof last_line, "%s", text);
    }
}

static gyre_status open_with(const char *library, const gyre_parameter *parameters, size_t count,
                             uint32_t ordinal, struct gyre_dispatch **out)
{
    const struct gyre_candidate candidate = {.name = "tried",
                                             .library = library,
                                             .origin = "test",
                                             .parameters = parameters,
                                             .parameter_count = count};
    return gyre_dispatch_open(&candidate, ordinal, listen, NULL, out);
}

static struct gyre_dispatch *open_plugin(const char *library, const char *key, const char *value)
{
    const gyre_parameter parameter = {key, value, "test"};
    struct gyre_dispatch *dispatch;
    gyre_status status = open_with(library, &parameter, 1, 0, &dispatch);
    ck_assert_msg(status == GYRE_OK, "%s", gyre_error_text());
    return dispatch;
}

#define ck_assert_told(words_)                                                                               \
    ck_assert_msg(strstr(gyre_error_text(), words_) != NULL, "'%s' is not in: %s", words_, gyre_error_text())

/* ---- a kernel on the fake backend, from load to release ---- */

struct kernel {
    struct gyre_dispatch *dispatch;
    gyre_module *module;
    gyre_queue *queue;
    gyre_queue_memory *queue_memory;
    gyre_resident *resident;
    struct gyre_region region;
    gyre_control_region *control;
};

static gyre_status load_module(struct gyre_dispatch *dispatch, gyre_module **out)
{
    static const char artifact[] = "fake artifact\n";
    const gyre_module_desc desc = {.size = sizeof desc,
                                   .artifact_path = "memory",
                                   .artifact = artifact,
                                   .artifact_size = sizeof artifact - 1};
    return gyre_dispatch_module_load(dispatch, &desc, out);
}

static void make_queue(struct kernel *kernel)
{
    const struct gyre_queue_options options = {.name = "q",
                                               .capacity = 16,
                                               .request_size = 48,
                                               .reply_size = 48,
                                               .policy = GYRE_FULL_BLOCK,
                                               .idle = GYRE_WAIT_ADAPTIVE,
                                               .spin_turns = 100,
                                               .many_threads = true,
                                               .device_wakes = true,
                                               .control = kernel->control};
    ck_assert_int_eq(gyre_queue_create(&options, &kernel->queue), GYRE_OK);
}

static gyre_status attach_queue(struct kernel *kernel)
{
    const struct gyre_region *region = &gyre_ring_of(kernel->queue)->region;
    const gyre_queue_memory_desc desc = {.size = sizeof desc,
                                         .address = region->address,
                                         .region_size = region->size,
                                         .descriptor = region->descriptor};
    uint64_t address;
    gyre_status status = gyre_dispatch_queue_alloc(kernel->dispatch, &desc, &kernel->queue_memory, &address);
    kernel->control->queues[0] = (gyre_control_queue){.address = address, .first = 0, .serial = 1};
    kernel->control->command.queue_count = 1;
    return status;
}

static void order(struct kernel *kernel, uint64_t verb)
{
    gyre_control_region *control = kernel->control;
    __atomic_store_n(&control->command.command, ((control->command.command >> 8) + 1) << 8 | verb,
                     __ATOMIC_RELEASE);
    gyre_bell_ring(&control->doorbell.bell, INT32_MAX);
}

static gyre_status launch(struct kernel *kernel)
{
    const gyre_resident_desc desc = {.size = sizeof desc,
                                     .control = kernel->control,
                                     .control_size = GYRE_CONTROL_SIZE(1),
                                     .control_descriptor = kernel->region.descriptor,
                                     .kernel_name = "echo",
                                     .lanes = 1,
                                     .blocks = 1};
    order(kernel, GYRE_VERB_RUN);
    return gyre_dispatch_launch(kernel->dispatch, kernel->module, &desc, &kernel->resident);
}

/* Starts what can be started; what could not is NULL. */
static gyre_status start(struct gyre_dispatch *dispatch, struct kernel *kernel)
{
    *kernel = (struct kernel){.dispatch = dispatch, .region = GYRE_REGION_NONE};
    ck_assert_int_eq(gyre_region_create("control", GYRE_CONTROL_SIZE(1), &kernel->region), GYRE_OK);
    kernel->control = kernel->region.address;
    make_queue(kernel);
    gyre_status status = load_module(dispatch, &kernel->module);
    if (status == GYRE_OK)
        status = attach_queue(kernel);
    return status == GYRE_OK ? launch(kernel) : status;
}

static gyre_status stop(struct kernel *kernel)
{
    gyre_status status = GYRE_OK;
    if (kernel->resident) {
        order(kernel, GYRE_VERB_STOP);
        gyre_dispatch_notify(kernel->dispatch, kernel->resident);
        status = gyre_dispatch_wait(kernel->dispatch, kernel->resident, gyre_in_ms(patiently(5000)));
    }
    gyre_dispatch_release(kernel->dispatch, kernel->resident);
    gyre_dispatch_queue_release(kernel->dispatch, kernel->queue_memory);
    gyre_dispatch_module_release(kernel->dispatch, kernel->module);
    gyre_queue_destroy(kernel->queue);
    gyre_region_destroy(&kernel->region);
    return status;
}

static void exchange(struct kernel *kernel, uint64_t number)
{
    uint64_t request[6] = {number, number + 1, 0, 0, 0, ~number}, reply[6] = {0};
    gyre_status status = gyre_call(kernel->queue, request, sizeof request, reply, sizeof reply, NULL,
                                   gyre_in_ms(patiently(5000)));
    ck_assert_msg(status == GYRE_OK, "%s", gyre_error_text());
    ck_assert_int_eq(memcmp(request, reply, sizeof request), 0);
}

START_TEST(fake_backend_answers_messages)
{
    struct gyre_dispatch *dispatch = open_plugin(PLUGIN("fake"), "k", "v");
    struct kernel kernel;
    ck_assert_int_eq(start(dispatch, &kernel), GYRE_OK);
    for (uint64_t i = 0; i < 200; i++)
        exchange(&kernel, i);
    ck_assert_int_eq(stop(&kernel), GYRE_OK);
    gyre_dispatch_close(dispatch);
}
END_TEST

START_TEST(two_devices_of_one_backend_are_open_at_once)
{
    struct gyre_dispatch *first, *second;
    struct kernel a, b;
    ck_assert_int_eq(open_with(PLUGIN("fake"), NULL, 0, 0, &first), GYRE_OK);
    ck_assert_int_eq(open_with(PLUGIN("fake"), NULL, 0, 1, &second), GYRE_OK);
    ck_assert_str_eq(gyre_dispatch_device_info(first)->name, "fake 0");
    ck_assert_str_eq(gyre_dispatch_device_info(second)->name, "fake 1");
    ck_assert_int_eq(start(first, &a), GYRE_OK);
    ck_assert_int_eq(start(second, &b), GYRE_OK);
    exchange(&a, 1);
    exchange(&b, 2);
    ck_assert_int_eq(stop(&a), GYRE_OK);
    exchange(&b, 3);
    ck_assert_int_eq(stop(&b), GYRE_OK);
    gyre_dispatch_close(second);
    gyre_dispatch_close(first);
}
END_TEST

START_TEST(open_bad_ordinal_reports_detail)
{
    struct gyre_dispatch *dispatch;
    ck_assert_int_eq(open_with(PLUGIN("fake"), NULL, 0, 7, &dispatch), GYRE_INVALID);
    ck_assert_ptr_null(dispatch);
    ck_assert_str_eq(gyre_error_text(), "backend 'tried': device_open: "
                                        "the fake backend has devices 0 and 1; found device 7");
}
END_TEST

START_TEST(open_of_a_misfit_names_backend_and_reason)
{
    struct gyre_dispatch *dispatch;
    ck_assert_int_eq(open_with(PLUGIN("wrong-major"), NULL, 0, 0, &dispatch), GYRE_INCOMPATIBLE);
    ck_assert_told("backend 'tried': plugin '");
    ck_assert_told("speaks backend ABI 9.0");
}
END_TEST

START_TEST(device_closes_with_its_last_reference)
{
    struct gyre_dispatch *dispatch = open_plugin(PLUGIN("fake"), "k", "v");
    ck_assert_ptr_eq(gyre_dispatch_retain(dispatch), dispatch);
    gyre_dispatch_close(dispatch);
    ck_assert_str_eq(gyre_dispatch_backend(dispatch), "tried"); /* still there; ASan watches */
    ck_assert_str_eq(gyre_dispatch_build(dispatch), "test 1");
    gyre_dispatch_close(dispatch);
    gyre_dispatch_close(NULL);
}
END_TEST

START_TEST(absent_optional_operations_have_defaults)
{
    struct gyre_dispatch *dispatch = open_plugin(PLUGIN("fake"), "k", "v");
    ck_assert_int_eq(gyre_dispatch_notify(dispatch, NULL), GYRE_OK);
    ck_assert_uint_eq(gyre_dispatch_device_info(dispatch)->lanes_default, 1);
    gyre_dispatch_close(dispatch);
}
END_TEST

START_TEST(releases_accept_null)
{
    struct gyre_dispatch *dispatch = open_plugin(PLUGIN("sloppy"), "sin", "");
    gyre_dispatch_module_release(dispatch, NULL);
    gyre_dispatch_queue_release(dispatch, NULL);
    gyre_dispatch_memory_release(dispatch, NULL);
    gyre_dispatch_release(dispatch, NULL);
    gyre_dispatch_close(dispatch);
}
END_TEST

START_TEST(memory_goes_up_and_comes_down)
{
    struct gyre_dispatch *dispatch = open_plugin(PLUGIN("fake"), "k", "v");
    gyre_memory *memory;
    char up[5] = "abcd", down[8] = "";
    ck_assert_int_eq(gyre_dispatch_memory_alloc(dispatch, 8, &memory), GYRE_OK);
    gyre_transfer_desc fill = {
        .size = sizeof fill, .kind = GYRE_TRANSFER_FILL, .memory = memory, .byte_count = 8, .fill = 'z'};
    gyre_transfer_desc upload = {.size = sizeof upload,
                                 .kind = GYRE_TRANSFER_UPLOAD,
                                 .memory = memory,
                                 .offset = 2,
                                 .byte_count = 4,
                                 .source = up};
    gyre_transfer_desc download = {.size = sizeof download,
                                   .kind = GYRE_TRANSFER_DOWNLOAD,
                                   .memory = memory,
                                   .byte_count = 8,
                                   .target = down};
    ck_assert_int_eq(gyre_dispatch_transfer(dispatch, &fill), GYRE_OK);
    ck_assert_int_eq(gyre_dispatch_transfer(dispatch, &upload), GYRE_OK);
    ck_assert_int_eq(gyre_dispatch_transfer(dispatch, &download), GYRE_OK);
    ck_assert_int_eq(memcmp(down, "zzabcdzz", 8), 0);
    gyre_dispatch_memory_release(dispatch, memory);
    ck_assert_int_eq(gyre_dispatch_memory_alloc(dispatch, UINT64_MAX, &memory), GYRE_EXHAUSTED);
    ck_assert_told("backend 'tried': memory_alloc: no memory for 18446744073709551615 bytes");
    gyre_dispatch_close(dispatch);
}
END_TEST

/* ---- plugins that break the rules ---- */

START_TEST(failure_without_a_sentence_gets_one)
{
    struct gyre_dispatch *dispatch = open_plugin(PLUGIN("sloppy"), "sin", "silent");
    gyre_memory *memory;
    ck_assert_int_eq(gyre_dispatch_memory_alloc(dispatch, 1, &memory), GYRE_EXHAUSTED);
    ck_assert_str_eq(gyre_error_text(), "backend 'tried': memory_alloc failed and did not say why");
    gyre_dispatch_close(dispatch);
}
END_TEST

START_TEST(release_does_not_replace_the_callers_error)
{
    struct gyre_dispatch *dispatch = open_plugin(PLUGIN("sloppy"), "sin", "");
    gyre_memory *memory;
    ck_assert_int_eq(gyre_dispatch_memory_alloc(dispatch, 1, &memory), GYRE_OK);
    gyre_error_set(GYRE_FAILED, "why there is something to clean up");
    gyre_dispatch_memory_release(dispatch, memory);
    ck_assert_str_eq(gyre_error_text(), "why there is something to clean up");
    ck_assert_int_eq(gyre_error_status(), GYRE_FAILED);
    gyre_error_set(GYRE_FAILED, "set afterwards");
    ck_assert_str_eq(gyre_error_text(), "set afterwards");
    gyre_dispatch_close(dispatch);
}
END_TEST

START_TEST(result_of_a_failure_is_null)
{
    struct gyre_dispatch *dispatch = open_plugin(PLUGIN("sloppy"), "sin", "dangling");
    gyre_memory *memory;
    ck_assert_int_eq(gyre_dispatch_memory_alloc(dispatch, 1, &memory), GYRE_EXHAUSTED);
    ck_assert_ptr_null(memory);
    ck_assert_str_eq(gyre_error_text(), "backend 'tried': memory_alloc: out of sloppy memory");
    gyre_dispatch_close(dispatch);
}
END_TEST

START_TEST(success_without_a_result_is_a_defect_of_the_plugin)
{
    struct gyre_dispatch *dispatch = open_plugin(PLUGIN("sloppy"), "sin", "empty");
    gyre_memory *memory;
    ck_assert_int_eq(gyre_dispatch_memory_alloc(dispatch, 1, &memory), GYRE_INTERNAL);
    ck_assert_told("memory_alloc succeeded without a result: the plugin is faulty");
    gyre_dispatch_close(dispatch);
}
END_TEST

START_TEST(status_that_is_none_is_a_defect_of_the_plugin)
{
    struct gyre_dispatch *dispatch = open_plugin(PLUGIN("sloppy"), "sin", "strange");
    gyre_memory *memory;
    ck_assert_int_eq(gyre_dispatch_memory_alloc(dispatch, 1, &memory), GYRE_INTERNAL);
    ck_assert_told("memory_alloc returned -5, which is no status");
    gyre_dispatch_close(dispatch);
}
END_TEST

START_TEST(device_without_limits_is_refused)
{
    const gyre_parameter parameter = {"sin", "boundless", "test"};
    struct gyre_dispatch *dispatch;
    ck_assert_int_eq(open_with(PLUGIN("sloppy"), &parameter, 1, 0, &dispatch), GYRE_INTERNAL);
    ck_assert_ptr_null(dispatch);
    ck_assert_told("device_info tells 0 lanes");
}
END_TEST

static uint32_t default_lanes(gyre_form form, uint64_t request, uint64_t reply, uint64_t scratch)
{
    const gyre_type asks = {.name = "asks", .size = request}, replies = {.name = "replies", .size = reply};
    const gyre_kernel_record record = {
        .form = form, .request = &asks, .reply = &replies, .scratch_size = scratch};
    return gyre_lanes_default(&record, 128, 512);
}

START_TEST(blocks_have_a_lane_for_each_word_by_default)
{
    ck_assert_uint_eq(default_lanes(GYRE_FORM_BLOCK, 0, 0, 0), 128);
    ck_assert_uint_eq(default_lanes(GYRE_FORM_BLOCK, 1024, 8, 0), 128);
    ck_assert_uint_eq(default_lanes(GYRE_FORM_BLOCK, 8, 1032, 0), 160);
    ck_assert_uint_eq(default_lanes(GYRE_FORM_BLOCK, 8, 8, 2048), 256);
    ck_assert_uint_eq(default_lanes(GYRE_FORM_BLOCK, 4096, 8, 0), 512);
    ck_assert_uint_eq(default_lanes(GYRE_FORM_BLOCK, 65536, 65536, 0), 512);
    ck_assert_uint_eq(default_lanes(GYRE_FORM_LANE, 1024, 1024, 0), 512);
    const gyre_type type = {.name = "type", .size = 16};
    const gyre_kernel_record record = {.form = GYRE_FORM_BLOCK, .request = &type, .reply = &type};
    ck_assert_uint_eq(gyre_lanes_default(&record, 0, 64), 64); /* a device without such a rule */
    ck_assert_uint_eq(gyre_lanes_default(&record, 128, 64), 64);
}
END_TEST

START_TEST(queues_hold_what_the_device_has_under_way_by_default)
{
    ck_assert_uint_eq(gyre_slots_default(0, 64), 1024); /* a device without such a rule */
    ck_assert_uint_eq(gyre_slots_default(512 * 1024, 64), 8192);
    ck_assert_uint_eq(gyre_slots_default(512 * 1024, 192), 2048);
    ck_assert_uint_eq(gyre_slots_default(512 * 1024, 512), 1024);
    ck_assert_uint_eq(gyre_slots_default(512 * 1024, 65600), 1024);
}
END_TEST

START_TEST(large_messages_of_lanes_have_more_blocks_while_there_is_room)
{
    enum { LARGE = 1, UNITS = 32, MORE = 4, SHARE = 4 }; /* the fake device 1; the share is core/dispatch's */
    const gyre_type line = {.name = "line", .size = GYRE_SLOT_SMALL_PAYLOAD};
    const gyre_type larger = {.name = "larger", .size = GYRE_SLOT_SMALL_PAYLOAD + 1};
    const gyre_kernel_record small = {.form = GYRE_FORM_LANE, .request = &line, .reply = &line};
    const gyre_kernel_record asks = {.form = GYRE_FORM_LANE, .request = &larger, .reply = &line};
    const gyre_kernel_record replies = {.form = GYRE_FORM_LANE, .request = &line, .reply = &larger};
    const gyre_kernel_record block = {.form = GYRE_FORM_BLOCK, .request = &larger, .reply = &larger};
    const gyre_kernel_record actor = {.form = GYRE_FORM_ACTOR, .request = &larger, .reply = &larger};
    struct gyre_dispatch *dispatch;
    ck_assert_int_eq(open_with(PLUGIN("fake"), NULL, 0, LARGE, &dispatch), GYRE_OK);
    ck_assert_uint_eq(gyre_dispatch_blocks_default(dispatch, &small, 0), 1);
    ck_assert_uint_eq(gyre_dispatch_blocks_default(dispatch, &asks, 0), MORE);
    ck_assert_uint_eq(gyre_dispatch_blocks_default(dispatch, &replies, 0), MORE);
    ck_assert_uint_eq(gyre_dispatch_blocks_default(dispatch, &block, 0), 1);
    ck_assert_uint_eq(gyre_dispatch_blocks_default(dispatch, &actor, 0), 1);
    ck_assert_uint_eq(gyre_dispatch_blocks_default(dispatch, &asks, UNITS / SHARE - MORE), MORE);
    ck_assert_uint_eq(gyre_dispatch_blocks_default(dispatch, &asks, UNITS / SHARE - MORE + 1), 1);
    ck_assert_uint_eq(gyre_dispatch_blocks_default(dispatch, &asks, UINT32_MAX), 1);
    gyre_dispatch_close(dispatch);
}
END_TEST

START_TEST(texts_of_a_device_end_within_their_place)
{
    struct gyre_dispatch *dispatch = open_plugin(PLUGIN("sloppy"), "sin", "");
    ck_assert_uint_eq(strlen(gyre_dispatch_device_info(dispatch)->name), 127);
    gyre_dispatch_close(dispatch);
}
END_TEST

START_TEST(kernel_record_with_holes_is_refused)
{
    struct gyre_dispatch *dispatch = open_plugin(PLUGIN("sloppy"), "sin", "");
    gyre_module *module;
    gyre_kernel_record record;
    ck_assert_int_eq(load_module(dispatch, &module), GYRE_OK);
    ck_assert_int_eq(gyre_dispatch_module_kernel(dispatch, module, 0, &record), GYRE_INTERNAL);
    ck_assert_told("module_kernel tells no request type for kernel 0");
    gyre_dispatch_module_release(dispatch, module);
    gyre_dispatch_close(dispatch);
}
END_TEST

/* ---- with wrapping plugins ---- */

/* Everything the wrappers can do, by several threads on one device, under the checking plugin. */
static void *use_device(void *argument)
{
    struct gyre_dispatch *dispatch = argument;
    for (uint64_t i = 0; i < 20; i++) {
        struct kernel kernel;
        gyre_memory *memory;
        ck_assert_int_eq(start(dispatch, &kernel), GYRE_OK);
        ck_assert_int_eq(gyre_dispatch_memory_alloc(dispatch, 64, &memory), GYRE_OK);
        exchange(&kernel, i);
        gyre_dispatch_memory_release(dispatch, memory);
        ck_assert_int_eq(stop(&kernel), GYRE_OK);
    }
    return NULL;
}

START_TEST(operations_of_one_device_are_serialised)
{
    struct gyre_dispatch *dispatch = open_plugin(PLUGIN("checking"), "checks", PLUGIN("fake"));
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        unit_start(&threads[i], use_device, dispatch);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    gyre_dispatch_close(dispatch);
    ck_assert_msg(atomic_load(&violations) == 0, "%s", last_line);
}
END_TEST

START_TEST(checking_plugin_sees_a_forgotten_release)
{
    struct gyre_dispatch *dispatch = open_plugin(PLUGIN("checking"), "checks", PLUGIN("sloppy"));
    gyre_module *module;
    ck_assert_int_eq(load_module(dispatch, &module), GYRE_OK);
    gyre_dispatch_module_release(dispatch, module);
    gyre_dispatch_module_release(dispatch, module); /* the wrappers cannot know; the plugin can */
    ck_assert_int_eq(atomic_load(&violations), 2);
    ck_assert_str_eq(last_line, "contract: module_release released a module twice");
    ck_assert_int_eq(load_module(dispatch, &module), GYRE_OK);
    gyre_dispatch_close(dispatch);
    ck_assert_str_eq(last_line, "contract: device_close with 1 objects not released: module");
}
END_TEST

START_TEST(checking_plugin_sees_a_dangling_result)
{
    const gyre_parameter parameters[] = {{"checks", PLUGIN("sloppy"), "test"}, {"sin", "dangling", "test"}};
    struct gyre_dispatch *dispatch;
    gyre_memory *memory;
    ck_assert_int_eq(open_with(PLUGIN("checking"), parameters, 2, 0, &dispatch), GYRE_OK);
    ck_assert_int_eq(gyre_dispatch_memory_alloc(dispatch, 1, &memory), GYRE_EXHAUSTED);
    ck_assert_str_eq(last_line, "contract: memory_alloc failed and left *out set");
    gyre_dispatch_close(dispatch);
}
END_TEST

/* One kernel's whole life, with the n-th call failing. True when nothing failed. */
static bool survive(unsigned fail_call)
{
    char number[16];
    snprintf(number, sizeof number, "%u", fail_call);
    const gyre_parameter parameters[] = {{"wraps", PLUGIN("fake"), "test"}, {"fail_call", number, "test"}};
    struct gyre_dispatch *dispatch;
    struct kernel kernel;
    gyre_status status = open_with(PLUGIN("fail-nth"), parameters, 2, 0, &dispatch);
    if (status == GYRE_OK) {
        status = start(dispatch, &kernel);
        if (status == GYRE_OK)
            exchange(&kernel, fail_call);
        if (status != GYRE_OK)
            ck_assert_told("fails on purpose");
        gyre_status stopped = stop(&kernel);
        if (status == GYRE_OK)
            status = stopped;
    }
    if (status != GYRE_OK)
        ck_assert_told("backend 'tried': ");
    gyre_dispatch_close(dispatch);
    return status == GYRE_OK;
}

START_TEST(nth_failing_call_leaves_nothing_behind)
{
    unsigned failures = 0, successes = 0;
    for (unsigned n = 1; n < 50; n++) {
        if (survive(n))
            successes++;
        else
            failures++;
    }
    /* open, info, module_load, queue_alloc, launch, wait; notify's failure is not the caller's */
    ck_assert_uint_eq(failures, 6);
    ck_assert_uint_eq(successes, 43);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dispatch");
    TCase *tcase = tcase_create("dispatch");
    tcase_set_timeout(tcase, 40);
    tcase_add_test(tcase, fake_backend_answers_messages);
    tcase_add_test(tcase, two_devices_of_one_backend_are_open_at_once);
    tcase_add_test(tcase, open_bad_ordinal_reports_detail);
    tcase_add_test(tcase, open_of_a_misfit_names_backend_and_reason);
    tcase_add_test(tcase, device_closes_with_its_last_reference);
    tcase_add_test(tcase, absent_optional_operations_have_defaults);
    tcase_add_test(tcase, releases_accept_null);
    tcase_add_test(tcase, memory_goes_up_and_comes_down);
    tcase_add_test(tcase, failure_without_a_sentence_gets_one);
    tcase_add_test(tcase, release_does_not_replace_the_callers_error);
    tcase_add_test(tcase, result_of_a_failure_is_null);
    tcase_add_test(tcase, success_without_a_result_is_a_defect_of_the_plugin);
    tcase_add_test(tcase, status_that_is_none_is_a_defect_of_the_plugin);
    tcase_add_test(tcase, device_without_limits_is_refused);
    tcase_add_test(tcase, large_messages_of_lanes_have_more_blocks_while_there_is_room);
    tcase_add_test(tcase, blocks_have_a_lane_for_each_word_by_default);
    tcase_add_test(tcase, queues_hold_what_the_device_has_under_way_by_default);
    tcase_add_test(tcase, texts_of_a_device_end_within_their_place);
    tcase_add_test(tcase, kernel_record_with_holes_is_refused);
    tcase_add_test(tcase, operations_of_one_device_are_serialised);
    tcase_add_test(tcase, checking_plugin_sees_a_forgotten_release);
    tcase_add_test(tcase, checking_plugin_sees_a_dangling_result);
    tcase_add_test(tcase, nth_failing_call_leaves_nothing_behind);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
