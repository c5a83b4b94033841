/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler is told of a kernel because of the sections of pipelines, links and topics. */
#include "core/plan/build_options.h"
#include "unit/config/sandbox.h"
#include "unit/unit.h"

#include <string.h>

#define STAGE   GYRE_KERNEL_STAGE_OPTION
#define LIMITS  GYRE_KERNEL_LIMITS_OPTION
#define ASKS    GYRE_KERNEL_ASKS_OPTION
#define POOLS   GYRE_KERNEL_POOLS_OPTION
#define ROUNDS  GYRE_KERNEL_ROUNDS_OPTION
#define LEVELS  GYRE_KERNEL_LEVELS_OPTION
#define CHOICES GYRE_KERNEL_CHOICES_OPTION

static bool has(const char *kernel, const char *option)
{
    char options[GYRE_KERNEL_OPTIONS_SIZE];
    gyre_kernel_options(sandbox_config(), kernel, options, sizeof options);
    return strstr(options, option) != NULL;
}

/* Whoever did not ask for it keeps the code that it has. */
START_TEST(kernels_that_stand_soon_are_compiled_for_that)
{
    sandbox_write("etc/gyre.ini",
                  "[kernel.trainer]\nstands_soon = true\n[kernel.other]\nstands_soon = false\n");
    ck_assert(has("trainer", " -DGYRE_STANDS_SOON=1"));
    ck_assert(!has("other", "GYRE_STANDS_SOON") && !has("any", "GYRE_STANDS_SOON"));
}
END_TEST

/* Programs subscribe to topics and outlets: on a GPU who sends to these is compiled for that, and nobody else. */
START_TEST(senders_to_topics_and_outlets_are_compiled_for_programs)
{
    sandbox_write("etc/gyre.ini", "[topic.prices]\nfrom = feeder.ticks, back.ticks\nto = risk, other\n"
                                  "[link.alarms]\nfrom = risk.alarms\nto = host\n"
                                  "[link.told]\nfrom = fee.told\nto = book\n");
    ck_assert(has("feeder", LIMITS) && has("back", LIMITS) && has("risk", LIMITS));
    ck_assert(has("feeder", STAGE) && has("back", STAGE) && has("risk", STAGE));
    ck_assert(has("other", STAGE) && has("book", STAGE) && !has("other", LIMITS) && !has("book", LIMITS));
    ck_assert(!has("fee", LIMITS) && !has("feed", LIMITS) && !has("feed", STAGE) && !has("ticks", STAGE));
}
END_TEST

START_TEST(kernels_of_a_pipeline_with_a_quota_are_compiled_for_that)
{
    sandbox_write("etc/gyre.ini",
                  "[pipeline.p]\nentry = split\nquota = 100\n[link.words]\nfrom = split.words\nto = sort\n");
    ck_assert(has("split", LIMITS) && has("sort", LIMITS) && !has("alone", LIMITS) && !has("alone", STAGE));
}
END_TEST

/* Whoever handles a message of a flow may be the one that ends it: all kernels of such a pipeline count asks, in whichever file they are. */
#define WIRES "[pipeline.p]\nentry = desk\nquota = 100\n[link.offers]\nfrom = desk.shop\nto = shop\n"
START_TEST(kernels_whose_pipeline_asks_are_compiled_for_that)
{
    sandbox_write("desk.gyre.c", "GYRE_PORTS_WITH_ASKS(desk_ports, DESK_PORTS)\n");
    sandbox_write("shop.gyre.c", "GYRE_PORTS(shop_ports, SHOP_PORTS)\n");
    sandbox_write(
        "etc/gyre.ini",
        "[kernel.desk]\nsource = $/desk.gyre.c:desk\n[kernel.shop]\nsource = $/shop.gyre.c\n" WIRES);
    ck_assert(has("desk", ASKS) && has("shop", ASKS) && has("shop", LIMITS) && !has("alone", ASKS));
    sandbox_write("etc/gyre.ini",
                  "[kernel.desk]\nsource = $/gone.gyre.c\n[kernel.shop]\nsource = $/shop.gyre.c\n" WIRES);
    ck_assert(!has("desk", ASKS) && !has("shop", ASKS) && has("shop", LIMITS));
}
END_TEST

/* Who sends to a pool is compiled as for any link. */
START_TEST(members_of_pools_are_compiled_for_that)
{
    sandbox_write("etc/gyre.ini", "[pool.work]\nfrom = deal.jobs, solve.more\nmembers = solve, check\n"
                                  "[link.told]\nfrom = solve.told\nto = book\n");
    ck_assert(has("solve", POOLS) && has("check", POOLS) && has("solve", LIMITS) && has("check", STAGE));
    ck_assert(!has("deal", POOLS) && !has("deal", LIMITS) && !has("book", POOLS) && !has("sol", POOLS));
}
END_TEST

/* Any kernel of a pipeline with rounds may begin one. */
START_TEST(kernels_of_a_pipeline_with_rounds_are_compiled_for_them)
{
    sandbox_write("etc/gyre.ini", "[pipeline.p]\nentry = split\nquota = 100\nrounds = sort\n"
                                  "[link.words]\nfrom = split.words\nto = sort\n");
    ck_assert(has("split", ROUNDS) && has("sort", ROUNDS) && has("sort", LIMITS) && !has("alone", ROUNDS));
    sandbox_write("etc/gyre.ini", "[pipeline.p]\nentry = split\nquota = 100\n"
                                  "[link.words]\nfrom = split.words\nto = sort\n");
    ck_assert(!has("split", ROUNDS) && !has("sort", ROUNDS));
}
END_TEST

/* Who takes is compiled for it, and who sends is not. */
START_TEST(targets_of_levels_and_of_types_are_compiled_for_these)
{
    sandbox_write("etc/gyre.ini",
                  "[link.a]\nfrom = split.words\nto = desk:word\n[link.b]\nfrom = split.lines\nto = book\n"
                  "level = 1\n[link.c]\nfrom = book.told\nto = end\n[topic.t]\nfrom = end.all\n"
                  "to = one, two\ntaps = tap\nlevel = 2\n");
    ck_assert(has("desk", CHOICES) && has("desk", LIMITS) && has("desk", STAGE) && !has("desk", LEVELS));
    ck_assert(has("book", LEVELS) && has("book", LIMITS) && !has("book", CHOICES));
    ck_assert(has("one", LEVELS) && has("two", LEVELS) && !has("tap", LEVELS) && !has("end", LEVELS));
    ck_assert(!has("split", LEVELS) && !has("split", CHOICES) && !has("des", CHOICES) && !has("word", STAGE));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stage_options");
    TCase *tcase = tcase_create("stage_options");
    tcase_add_checked_fixture(tcase, sandbox_make, sandbox_remove);
    tcase_add_test(tcase, kernels_that_stand_soon_are_compiled_for_that);
    tcase_add_test(tcase, senders_to_topics_and_outlets_are_compiled_for_programs);
    tcase_add_test(tcase, kernels_of_a_pipeline_with_a_quota_are_compiled_for_that);
    tcase_add_test(tcase, kernels_whose_pipeline_asks_are_compiled_for_that);
    tcase_add_test(tcase, members_of_pools_are_compiled_for_that);
    tcase_add_test(tcase, kernels_of_a_pipeline_with_rounds_are_compiled_for_them);
    tcase_add_test(tcase, targets_of_levels_and_of_types_are_compiled_for_these);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
