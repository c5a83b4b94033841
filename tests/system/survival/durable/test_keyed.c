/* SPDX-License-Identifier: Apache-2.0 */
/* Keyed actors with a journal are refused, because a request was seen to count twice after a death. One case a run, `test_keyed CASE`. */
#include "lives.h"

#include <string.h>

#include "tellers.h"

static void meet_a_journal(void)
{
    static const char *const with[] = {"kernel.tellers.keys=2000", NULL};
    const gyre_launch_desc desc = {.size = sizeof desc, .source = TELLERS_KERNEL, .blocks = 1};
    gyre_kernel *kernel = NULL;
    gyre_runtime *runtime = open_durable(false, with);
    require(gyre_launch(runtime, &desc, &kernel) == GYRE_UNIMPLEMENTED);
    require(strstr(gyre_error_text(), "keyed actor, whose table no checkpoint and no journal keeps") != NULL);
    gyre_close(runtime);
}

static void tables_are_kept_by_no_journal_yet(void)
{
    live(meet_a_journal, 0);
}

static const named_case cases[] = {
    {"tables_are_kept_by_no_journal_yet", tables_are_kept_by_no_journal_yet},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, begin_lives, cases);
}
