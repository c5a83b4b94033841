/* SPDX-License-Identifier: Apache-2.0 */
/* The key pin: what it may say; and with spread, that what shares a part of the machine comes as late as possible. */
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/threads/cpu_spread.h"
#include "core/base/error.h"
#include "core/loader/host.h"
#include "backends/cpu/cpu_settings.h"
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

/* ---- what it may say ---- */

static gyre_status read_pin(const char *value, struct cpu_settings *settings)
{
    const gyre_parameter parameter = {.key = "pin", .value = value, .origin = "here.ini:3"};
    struct gyre_host_services services;
    gyre_host_init(&services, keep_log, NULL);
    return cpu_settings_read(&services.table, &parameter, 1, settings);
}

START_TEST(processors_are_read)
{
    static struct cpu_settings settings;
    ck_assert_int_eq(read_pin("0,0-0,0", &settings), GYRE_OK);
    ck_assert_uint_eq(settings.pin_count, 3);
    ck_assert_int_eq(read_pin("none", &settings), GYRE_OK);
    ck_assert(settings.pin_count == 0 && !settings.spread);
    ck_assert_int_eq(read_pin("spread", &settings), GYRE_OK);
    ck_assert(settings.spread);
}
END_TEST

START_TEST(what_is_no_list_of_processors_is_refused)
{
    static const char *const bad[] = {"0,", ",0", "0,,0", ",", "0-", "-0", " 0", "+0", "1-0", "0x", "0-0-0"};
    static struct cpu_settings settings;
    char sentence[128];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(read_pin(bad[i], &settings) == GYRE_CONFIG, "'%s' is taken", bad[i]);
        snprintf(
            sentence, sizeof sentence,
            "here.ini:3: backend.cpu pin must be none, spread, or processor numbers like 0,2-5, found '%s'",
            bad[i]);
        ck_assert_str_eq(gyre_error_text(), sentence);
    }
    ck_assert_int_eq(read_pin("0-65535", &settings), GYRE_CONFIG);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "names processor 65535, this machine has 0 to "));
}
END_TEST

START_TEST(more_processors_than_are_kept_are_refused)
{
    static struct cpu_settings settings;
    static char value[2 * CPU_PIN_MAX + 2];
    for (size_t i = 0; i < CPU_PIN_MAX; i++)
        memcpy(value + 2 * i, "0,", 2);
    value[2 * CPU_PIN_MAX - 1] = '\0';
    ck_assert_int_eq(read_pin(value, &settings), GYRE_OK);
    ck_assert_uint_eq(settings.pin_count, CPU_PIN_MAX);
    memcpy(value + 2 * CPU_PIN_MAX - 1, ",0", 3);
    ck_assert_int_eq(read_pin(value, &settings), GYRE_CONFIG);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "pin names more than 1024 processors"));
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
    tcase_add_test(tcase, processors_are_read);
    tcase_add_test(tcase, what_is_no_list_of_processors_is_refused);
    tcase_add_test(tcase, more_processors_than_are_kept_are_refused);
    tcase_add_test(tcase, without_hwloc_processors_come_by_number);
    tcase_add_test(tcase, this_machine_has_an_order);
#ifdef GYRE_HAVE_HWLOC
    tcase_add_test(tcase, packages_then_caches_then_cores_then_their_threads);
    tcase_add_test(tcase, processors_that_are_not_allowed_are_left_out);
#endif
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
