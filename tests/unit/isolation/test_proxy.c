/* SPDX-License-Identifier: Apache-2.0 */
/* The fence between workers: what belongs to one that died never reaches the one after it. */
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

START_TEST(a_call_for_a_dead_worker_reaches_no_other)
{
    char build[64];
    gyre_device *device = NULL;
    const struct gyre_proxy_desc desc = {
        .backend = "cpu", .library = CPU_PLUGIN, .call_timeout_ns = patiently(TIMEOUT_NS)};
    ck_assert_msg(gyre_proxy_open(&desc, build, sizeof build, &device) == GYRE_OK, "%s", gyre_error_text());
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

int main(void)
{
    Suite *suite = suite_create("proxy");
    TCase *tcase = tcase_create("proxy");
    tcase_set_timeout(tcase, 50);
    tcase_add_test(tcase, a_call_for_a_dead_worker_reaches_no_other);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
