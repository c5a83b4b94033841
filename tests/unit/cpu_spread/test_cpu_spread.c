/* SPDX-License-Identifier: Apache-2.0 */
/* pin = spread: what shares a part of the machine comes as late as possible in the order. */
#include "backends/cpu/cpu_spread.h"
#include "core/loader/host.h"
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>

enum { ROOM = 1024 };

static char logged[256];

static void keep_log(void *context, int level, const char *text)
{
    (void)context;
    (void)level;
    snprintf(logged, sizeof logged, "%s", text);
}

static gyre_status open_nothing(const char *path, void **out)
{
    (void)path;
    *out = NULL;
    return GYRE_UNAVAILABLE;
}

/* Every processor that the process may use, once. */
static void check_complete(const uint16_t *order, size_t count)
{
    cpu_set_t allowed;
    ck_assert_int_eq(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    ck_assert_uint_eq(count, (size_t)CPU_COUNT(&allowed));
    for (size_t i = 0; i < count; i++) {
        ck_assert(CPU_ISSET(order[i], &allowed));
        CPU_CLR(order[i], &allowed);
    }
}

START_TEST(without_hwloc_processors_come_by_number)
{
    uint16_t order[ROOM];
    struct gyre_host_services services;
    gyre_host_init(&services, keep_log, NULL);
    services.table.library_open = open_nothing;
    logged[0] = '\0';
    size_t count = cpu_spread(&services.table, order, ROOM);
    check_complete(order, count);
    for (size_t i = 1; i < count; i++)
        ck_assert(order[i - 1] < order[i]);
    ck_assert_ptr_nonnull(strstr(logged, "go by processor number"));
}
END_TEST

START_TEST(this_machine_has_an_order)
{
    uint16_t order[ROOM];
    struct gyre_host_services services;
    gyre_host_init(&services, keep_log, NULL);
    check_complete(order, cpu_spread(&services.table, order, ROOM));
}
END_TEST

#ifdef GYRE_HAVE_HWLOC
#include <hwloc.h>

/* The order on a machine that hwloc makes up, as text; processors from `end` on are not allowed. */
static const char *order_on(const char *machine, int end)
{
    static char text[512];
    uint16_t order[ROOM];
    hwloc_topology_t topology;
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    for (int i = 0; i < end; i++)
        CPU_SET((size_t)i, &allowed);
    ck_assert_int_eq(hwloc_topology_init(&topology), 0);
    ck_assert_int_eq(hwloc_topology_set_synthetic(topology, machine), 0);
    ck_assert_int_eq(hwloc_topology_load(topology), 0);
    size_t count = cpu_spread_below(hwloc_get_root_obj(topology), &allowed, order, ROOM);
    hwloc_topology_destroy(topology);
    text[0] = '\0';
    for (size_t i = 0, used = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i ? " " : "", order[i]);
    return text;
}

START_TEST(packages_then_caches_then_cores_then_their_threads)
{
    ck_assert_str_eq(order_on("core:4 pu:1", 4), "0 1 2 3");
    ck_assert_str_eq(order_on("core:2 pu:2", 4), "0 2 1 3");
    ck_assert_str_eq(order_on("package:2 core:2 pu:2", 8), "0 4 2 6 1 5 3 7");
    ck_assert_str_eq(order_on("package:1 l3:2 core:2 pu:2", 8), "0 4 2 6 1 5 3 7");
}
END_TEST

START_TEST(processors_that_are_not_allowed_are_left_out)
{
    ck_assert_str_eq(order_on("package:2 core:2 pu:2", 6), "0 4 2 5 1 3");
    ck_assert_str_eq(order_on("package:2 core:2 pu:2", 1), "0");
    ck_assert_str_eq(order_on("package:2 core:2 pu:2", 0), "");
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("cpu_spread");
    TCase *tcase = tcase_create("order");
    tcase_add_test(tcase, without_hwloc_processors_come_by_number);
    tcase_add_test(tcase, this_machine_has_an_order);
#ifdef GYRE_HAVE_HWLOC
    tcase_add_test(tcase, packages_then_caches_then_cores_then_their_threads);
    tcase_add_test(tcase, processors_that_are_not_allowed_are_left_out);
#endif
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
