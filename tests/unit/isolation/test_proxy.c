/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between two workers: what belongs to one that died never reaches the one after it, and who waits for the next one holds nothing
 * that brings it back.
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "core/base/error.h"
#include "core/isolation/proxy.h"
#include "core/isolation/proxy_calls.h"
#include "core/isolation/worker_return.h"
#include "unit/unit.h"
#include "../../patience.h"

#define TIMEOUT_NS UINT64_C(10000000000)

static bool revive(void *context)
{
    return gyre_proxy_revive(*(gyre_device **)context) == GYRE_OK;
}

static void put_unknown(struct gyre_parcel *parcel, void *argument)
{
    (void)argument;
    gyre_parcel_put_u64(parcel, UINT64_MAX);
}

/* A worker that gets the call says that there is no such object; INTERNAL. */
static gyre_status ask(gyre_device *device, uint64_t incarnation)
{
    const struct proxy_call call = {
        .operation = GYRE_PARCEL_RELEASE, .put = put_unknown, .incarnation = incarnation};
    return proxy_call(device, &call, NULL);
}

static void await_incarnation(gyre_device *device, uint64_t incarnation)
{
    for (uint64_t i = 0; i < patiently(2000) && proxy_incarnation(device) != incarnation; i++)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    ck_assert_uint_eq(proxy_incarnation(device), incarnation);
}

static gyre_device *open_device(void)
{
    char build[64];
    gyre_device *device = NULL;
    const struct gyre_proxy_desc desc = {
        .backend = "cpu", .library = CPU_PLUGIN, .call_timeout_ns = patiently(TIMEOUT_NS)};
    ck_assert_msg(gyre_proxy_open(&desc, build, sizeof build, &device) == GYRE_OK, "%s", gyre_error_text());
    return device;
}

START_TEST(a_call_for_a_dead_worker_reaches_no_other)
{
    gyre_device *device = open_device();
    gyre_proxy_guard(device, revive, &device);
    ck_assert_int_eq(ask(device, 1), GYRE_INTERNAL);
    ck_assert_int_eq(ask(device, 2), GYRE_LOST);
    for (uint64_t next = 2; next < 5; next++) {
        gyre_proxy_kill(device, "a test");
        await_incarnation(device, next);
        ck_assert_int_eq(ask(device, 0), GYRE_INTERNAL); /* whichever is up: this one has idle connections */
        for (uint64_t earlier = 1; earlier < next; earlier++)
            ck_assert_int_eq(ask(device, earlier), GYRE_LOST);
        ck_assert_int_eq(ask(device, next), GYRE_INTERNAL);
    }
    gyre_proxy_ops.device_close(device);
}
END_TEST

/* ---- a transfer that waits for the next worker ---- */

enum { SIZE = 64 };

/* A program reads a buffer, and recovery, which is the keeper's thread, fills it again from a checkpoint. */
struct meeting {
    gyre_device *device;
    gyre_memory *memory;
    pthread_t program;
    uint8_t checkpoint[SIZE], read[SIZE];
    bool begun, waits; /* the program's transfer has found a dead worker, and waits for the next one */
    gyre_status status;
};

static gyre_status fill(const struct meeting *meeting)
{
    const gyre_transfer_desc desc = {.size = sizeof desc,
                                     .kind = GYRE_TRANSFER_UPLOAD,
                                     .memory = meeting->memory,
                                     .byte_count = SIZE,
                                     .source = meeting->checkpoint};
    return gyre_proxy_ops.transfer(meeting->device, &desc);
}

static void *read_as_program(void *argument)
{
    struct meeting *meeting = argument;
    const gyre_transfer_desc desc = {.size = sizeof desc,
                                     .kind = GYRE_TRANSFER_DOWNLOAD,
                                     .memory = meeting->memory,
                                     .byte_count = SIZE,
                                     .target = meeting->read};
    meeting->status = gyre_proxy_ops.transfer(meeting->device, &desc);
    return NULL;
}

static bool is_waited_for(gyre_device *device)
{
    pthread_mutex_lock(&device->lock);
    const bool waited_for = device->state == PROXY_DOWN && device->calls == 0;
    pthread_mutex_unlock(&device->lock);
    return waited_for;
}

/* The second worker dies as well, before recovery has filled the buffer: the program finds that out. */
static void meet(struct meeting *meeting)
{
    siginfo_t end;
    gyre_proxy_kill(meeting->device, "a test");
    meeting->begun = waitid(P_PID, (id_t)meeting->device->keeper.pid, &end, WEXITED | WNOWAIT) == 0 &&
                     pthread_create(&meeting->program, NULL, read_as_program, meeting) == 0;
    for (uint64_t i = 0; meeting->begun && i < patiently(2000) && !meeting->waits; i++) {
        nanosleep(&(struct timespec){0, 5000000}, NULL);
        meeting->waits = is_waited_for(meeting->device);
    }
}

static bool revive_and_fill(void *context)
{
    struct meeting *meeting = context;
    gyre_status status = GYRE_LOST;
    for (int tries = 0; status == GYRE_LOST && tries < 4; tries++) {
        status = gyre_proxy_revive(meeting->device);
        if (status == GYRE_OK && tries == 0)
            meet(meeting);
        if (status == GYRE_OK)
            status = fill(meeting);
    }
    return status == GYRE_OK;
}

START_TEST(a_transfer_that_waits_for_a_worker_does_not_keep_it_away)
{
    struct meeting meeting = {.device = open_device()};
    memset(meeting.checkpoint, 7, SIZE);
    ck_assert_int_eq(gyre_proxy_ops.memory_alloc(meeting.device, SIZE, &meeting.memory), GYRE_OK);
    ck_assert_int_eq(fill(&meeting), GYRE_OK);
    gyre_proxy_guard(meeting.device, revive_and_fill, &meeting);
    gyre_proxy_kill(meeting.device, "a test");
    await_incarnation(meeting.device, 3);
    ck_assert(meeting.begun && meeting.waits);
    pthread_join(meeting.program, NULL);
    ck_assert_int_eq(meeting.status, GYRE_OK);
    ck_assert_mem_eq(meeting.read, meeting.checkpoint, SIZE);
    gyre_proxy_ops.memory_release(meeting.memory);
    gyre_proxy_ops.device_close(meeting.device);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proxy");
    TCase *tcase = tcase_create("proxy");
    tcase_set_timeout(tcase, 50);
    tcase_add_test(tcase, a_call_for_a_dead_worker_reaches_no_other);
    tcase_add_test(tcase, a_transfer_that_waits_for_a_worker_does_not_keep_it_away);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
