/* SPDX-License-Identifier: Apache-2.0 */
/* How a kernel's device waits where nothing says so: the shards of a cluster (core/kernel/control.h). */
#include <sched.h>
#include <string.h>

#include "core/config/config.h"
#include "core/kernel/control.h"
#include "unit/unit.h"

/* With these settings (the last one may be NULL), on one processor. */
static gyre_idle idle_of(const char *name, const char *shards, const char *more)
{
    const char *settings[] = {"cluster.app=many", shards, more, NULL};
    const char *nothing[] = {NULL};
    const struct gyre_config_desc desc = {
        .api = settings, .environment = nothing, .system_folder = "/nowhere"};
    struct gyre_config *config;
    ck_assert_int_eq(gyre_config_load(&desc, &config), GYRE_OK);
    gyre_runtime runtime = {.config = config};
    gyre_kernel kernel = {.runtime = &runtime};
    strcpy(kernel.name, name);
    const gyre_idle idle = gyre_control_idle(&kernel);
    gyre_config_destroy(config);
    return idle;
}

static void take_one_processor(void)
{
    cpu_set_t all, one;
    size_t first = 0;
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
}

START_TEST(one_of_very_many_shards_parks)
{
    take_one_processor();
    ck_assert_int_eq(idle_of("accounts#3", "cluster.shards=65", NULL), GYRE_IDLE_PARK);
    ck_assert_int_eq(idle_of("accounts#3", "cluster.shards=64", NULL), GYRE_IDLE_ADAPTIVE);
    ck_assert_int_eq(idle_of("accounts", "cluster.shards=65", NULL), GYRE_IDLE_ADAPTIVE);
}
END_TEST

START_TEST(a_shard_waits_as_it_is_told_to)
{
    take_one_processor();
    ck_assert_int_eq(idle_of("accounts#3", "cluster.shards=65", "kernel.accounts.idle=adaptive"),
                     GYRE_IDLE_ADAPTIVE);
    ck_assert_int_eq(idle_of("accounts#3", "cluster.shards=65", "kernel.accounts.idle=spin"), GYRE_IDLE_SPIN);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("idle");
    TCase *cases = tcase_create("idle");
    tcase_add_test(cases, one_of_very_many_shards_parks);
    tcase_add_test(cases, a_shard_waits_as_it_is_told_to);
    suite_add_tcase(suite, cases);
    return unit_run(suite);
}
