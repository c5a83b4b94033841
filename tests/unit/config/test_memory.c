/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading when memory runs out: the n-th allocation fails, for every n. The linker sends the allocations of
 * the code under test here (--wrap); whatever is not given back is found by the address sanitizer.
 */
#include "core/base/error.h"
#include "sandbox.h"
#include "unit/unit.h"

#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
gyre_status __real_gyre_config_load(const struct gyre_config_desc *desc, struct gyre_config **out);
gyre_status __wrap_gyre_config_load(const struct gyre_config_desc *desc, struct gyre_config **out);

static bool counting;
static long until_failure;

static bool fails(void)
{
    return counting && until_failure-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

/* Check allocates too: only what happens in here may fail. */
gyre_status __wrap_gyre_config_load(const struct gyre_config_desc *desc, struct gyre_config **out)
{
    counting = true;
    gyre_status status = __real_gyre_config_load(desc, out);
    counting = false;
    return status;
}

START_TEST(every_failing_allocation_is_reported)
{
    const struct gyre_config *config = NULL;
    const char *line[] = {"kernel.k.lanes=3", NULL};
    sandbox_write("etc/gyre.ini", "[gyre]\nnosuch = 1\nplugin_dir = a:b\n[queue.q]\ncapacity = 8\n");
    sandbox_write("lib/plugins.d/x.ini", "[backend.x]\nlibrary = gyre-x.so\nspeed = 3\n");
    sandbox_setenv("GYRE_QUEUE__Q__POLICY=reject");
    gyre_status status = GYRE_EXHAUSTED;
    long n = 0;
    for (; status == GYRE_EXHAUSTED; n++) {
        until_failure = n;
        status = sandbox_load(NULL, line, NULL, &config);
        ck_assert(status == GYRE_OK || strstr(gyre_error_text(), "memory"));
    }
    ck_assert_msg(status == GYRE_OK, "%s", gyre_error_text());
    ck_assert_int_gt(n, 100);
    ck_assert_int_eq(gyre_config_int(config, GYRE_SECTION_QUEUE, "q", "capacity"), 8);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config_memory");
    TCase *tcase = tcase_create("memory");
    tcase_add_checked_fixture(tcase, sandbox_make, sandbox_remove);
    tcase_add_test(tcase, every_failing_allocation_is_reported);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
