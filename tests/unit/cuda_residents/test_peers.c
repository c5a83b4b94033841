/* SPDX-License-Identifier: Apache-2.0 */
/* A second GPU, whose memory the first one may touch only when it was let in. */
#include "core/base/error.h"
#include "backends/cuda/memory/cuda_combine.h"
#include "backends/cuda/memory/cuda_let_in.h"
#include "world.h"

#include <string.h>

enum { NUMBER_TOO_HIGH = 64 };

struct pair {
    struct world world;
    struct cuda_driver driver;
    gyre_device one, other;
};

/* Calls that are refused before they reach the driver. */
static void make_pair(struct pair *pair)
{
    make_world(&pair->world, 0);
    pair->one = pair->other = pair->world.device;
    pair->one.driver = pair->other.driver = &pair->driver;
    pair->other.handle = pair->one.handle + 1;
}

START_TEST(without_the_drivers_consent_no_gpu_is_let_in)
{
    static struct pair pair;
    make_pair(&pair);
    ck_assert(!cuda_can_let_in(&pair.one, &pair.other) && !cuda_is_let_in(&pair.one, &pair.other));
    ck_assert_int_eq(cuda_let_in(&pair.one, &pair.other, UINT64_MAX), GYRE_UNIMPLEMENTED);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "cuMemPoolSetAccess"));
    ck_assert(cuda_is_let_in(&pair.one, &pair.one));
}
END_TEST

START_TEST(a_gpu_with_a_high_number_is_not_taken_for_one_that_was_let_in)
{
    static struct pair pair;
    make_pair(&pair);
    pair.other.handle = NUMBER_TOO_HIGH;
    pair.one.peers_asked = UINT64_MAX;
    ck_assert(!cuda_is_let_in(&pair.one, &pair.other));
    ck_assert_int_eq(cuda_let_in(&pair.one, &pair.other, UINT64_MAX), GYRE_UNIMPLEMENTED);
}
END_TEST

START_TEST(gpus_that_were_not_made_ready_refuse_to_combine)
{
    static struct pair pair;
    make_pair(&pair);
    const gyre_combine_part parts[] = {{.device = &pair.one, .gets = 1}, {.device = &pair.other, .gets = 1}};
    const gyre_combine_desc desc = {.size = sizeof desc,
                                    .rule = GYRE_COMBINE_SUM,
                                    .element = GYRE_COMBINE_U32,
                                    .parts = parts,
                                    .part_count = 2,
                                    .byte_count = 4096};
    ck_assert_int_eq(cuda_combine(&desc), GYRE_FAILED);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "not made ready"));
}
END_TEST

TCase *peer_cases(void)
{
    TCase *cases = tcase_create("peers");
    tcase_add_test(cases, without_the_drivers_consent_no_gpu_is_let_in);
    tcase_add_test(cases, a_gpu_with_a_high_number_is_not_taken_for_one_that_was_let_in);
    tcase_add_test(cases, gpus_that_were_not_made_ready_refuse_to_combine);
    return cases;
}
