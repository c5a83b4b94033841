/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline's wiring when memory runs out: the n-th allocation fails, for every n. The linker sends the allocations of the code
 * under test here (--wrap); whatever is not given back is found by the address sanitizer.
 */
#include "core/base/error.h"
#include "core/links/wiring_config.h"
#include "unit/config/sandbox.h"
#include "unit/unit.h"

#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

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

/* Returns how many allocations failed before none did. */
static long create_with_failures(const struct gyre_config *config, const gyre_pipeline_desc *desc,
                                 size_t links)
{
    struct gyre_wiring_config *wiring = NULL;
    gyre_status status = GYRE_EXHAUSTED;
    long n = 0;
    for (; status == GYRE_EXHAUSTED; n++) {
        until_failure = n;
        counting = true;
        status = gyre_wiring_config_create(config, NULL, desc, &wiring);
        counting = false;
        ck_assert(status == GYRE_OK || (!wiring && strstr(gyre_error_text(), "memory")));
    }
    ck_assert_msg(status == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(wiring->desc.link_count, links);
    gyre_wiring_config_destroy(wiring);
    return n - 1;
}

START_TEST(every_failing_allocation_is_reported)
{
    sandbox_write("etc/gyre.ini", "[pipeline.p]\nentry = a, c\nanswer = b\n[link.one]\nfrom = a.x\nto = b\n"
                                  "[link.two]\nfrom = b.x\nto = nowhere\n[link.other]\nfrom = d.x\nto = b\n"
                                  "[topic.t]\nfrom = c.x, c.y\nto = a, b\ntaps = e\n");
    const struct gyre_config *config = sandbox_config();
    gyre_pipeline_desc desc = {.size = sizeof desc, .name = "p"};
    ck_assert_int_gt(create_with_failures(config, &desc, 8), 10);
    const char *entries[] = {"e"};
    const gyre_link_desc links[] = {{.size = sizeof links[0], .name = "l", .from = "e.x", .to = "f"}};
    desc.entries = desc.answers = entries;
    desc.entry_count = desc.answer_count = desc.link_count = 1;
    desc.links = links;
    ck_assert_int_gt(create_with_failures(config, &desc, 1), 5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wiring_memory");
    TCase *tcase = tcase_create("memory");
    tcase_add_checked_fixture(tcase, sandbox_make, sandbox_remove);
    tcase_add_test(tcase, every_failing_allocation_is_reported);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
