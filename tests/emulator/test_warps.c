/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that part and meet, and what they do together. */
#include "test_run.h"

#include <string.h>

#define BEGIN_                                                                                               \
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .b64 %d<9>;\n"          \
    "ld.param.u64 %d0, [p];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d1, %r0, 4;\nadd.s64 %d1, %d0, %d1;\n"

static struct machine_fault run_words(const char *ptx, uint32_t *words, size_t count, uint32_t threads)
{
    const struct run run = {.ptx = ptx, .threads = threads, .memory = words, .size = count * sizeof *words};
    return run_whole(&run);
}

/* Each lane goes around as often as its number says, half of them another way. */
START_TEST(lanes_go_around_as_often_as_each_says)
{
    static const char ptx[] = BEGIN_ "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\n"
                                     "again:\nsetp.ge.u32 %p1, %r1, %r0;\n@%p1 bra done;\n"
                                     "and.b32 %r3, %r1, 1;\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra even;\n"
                                     "mad.lo.s32 %r2, %r2, 3, %r1;\nbra next;\n"
                                     "even:\nadd.s32 %r2, %r2, 7;\n"
                                     "next:\nadd.s32 %r1, %r1, 1;\nbra again;\n"
                                     "done:\nactivemask.b32 %r4;\nst.global.u32 [%d1], %r2;\n"
                                     "st.global.u32 [%d1+128], %r4;\nret;\n}\n";
    uint32_t words[64] = {0};
    ck_assert_int_eq(run_words(ptx, words, 64, 32).kind, MACHINE_NO_FAULT);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t expected = 0;
        for (uint32_t i = 0; i < lane; i++)
            expected = i & 1 ? expected * 3 + i : expected + 7;
        ck_assert_uint_eq(words[lane], expected);
        ck_assert_uint_eq(words[32 + lane], UINT32_MAX); /* they have met again */
    }
}
END_TEST

/* Lane 0 waits, in front of where the others are, for what lane 5 does behind it. */
START_TEST(a_lane_that_spins_starves_none)
{
    static const char ptx[] =
        BEGIN_ "setp.ne.u32 %p1, %r0, 0;\n@%p1 bra others;\n"
               "spin:\nld.volatile.global.u32 %r1, [%d0+20];\nsetp.eq.u32 %p2, %r1, 0;\n"
               "@%p2 bra spin;\nst.global.u32 [%d0], %r1;\nret;\n"
               "others:\nst.volatile.global.u32 [%d1], 77;\nret;\n}\n";
    uint32_t words[32] = {0};
    ck_assert_int_eq(run_words(ptx, words, 32, 32).kind, MACHINE_NO_FAULT);
    ck_assert_uint_eq(words[0], 77);
}
END_TEST

START_TEST(votes_and_shuffles_are_those_of_the_lanes)
{
    static const char ptx[] = BEGIN_
        "and.b32 %r1, %r0, 3;\nsetp.eq.u32 %p1, %r1, 1;\n"
        "vote.sync.ballot.b32 %r2, %p1, -1;\nst.global.u32 [%d1], %r2;\n"
        "vote.sync.any.pred %p2, !%p1, -1;\nselp.u32 %r3, 1, 0, %p2;\n"
        "vote.sync.all.pred %p3, %p1, -1;\nselp.u32 %r4, 2, 0, %p3;\nor.b32 %r3, %r3, %r4;\n"
        "st.global.u32 [%d1+128], %r3;\n"
        "mul.lo.s32 %r5, %r0, 10;\nshfl.sync.down.b32 %r6|%p4, %r5, 5, 31, -1;\n"
        "st.global.u32 [%d1+256], %r6;\n"
        "shfl.sync.bfly.b32 %r7, %r5, 4, 31, -1;\nst.global.u32 [%d1+384], %r7;\n"
        "shfl.sync.idx.b32 %r8, %r5, 3, 6175, -1;\nst.global.u32 [%d1+512], %r8;\n" /* segments of 8 */
        "shr.u32 %r9, %r0, 3;\nmatch.any.sync.b32 %r10, %r9, -1;\nst.global.u32 [%d1+640], %r10;\nret;\n}\n";
    uint32_t words[6 * 32] = {0};
    ck_assert_int_eq(run_words(ptx, words, 6 * 32, 32).kind, MACHINE_NO_FAULT);
    for (uint32_t lane = 0; lane < 32; lane++) {
        ck_assert_uint_eq(words[lane], 0x22222222);
        ck_assert_uint_eq(words[32 + lane], 1);
        ck_assert_uint_eq(words[64 + lane], lane + 5 < 32 ? (lane + 5) * 10 : lane * 10);
        ck_assert_uint_eq(words[96 + lane], (lane ^ 4) * 10);
        ck_assert_uint_eq(words[128 + lane], (lane / 8 * 8 + 3) * 10);
        ck_assert_uint_eq(words[160 + lane], 0xffu << lane / 8 * 8);
    }
}
END_TEST

/* The lower lanes come to the vote by another way, and later. */
START_TEST(a_vote_waits_for_its_members)
{
    static const char ptx[] =
        BEGIN_ "setp.ge.u32 %p1, %r0, 16;\n@%p1 bra vote;\nmov.u32 %r1, 0;\n"
               "slow:\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 5000;\n@%p2 bra slow;\n"
               "vote:\nvote.sync.ballot.b32 %r2, 1, -1;\nst.global.u32 [%d1], %r2;\nret;\n}\n";
    uint32_t words[32] = {0};
    ck_assert_int_eq(run_words(ptx, words, 32, 32).kind, MACHINE_NO_FAULT);
    for (uint32_t lane = 0; lane < 32; lane++)
        ck_assert_uint_eq(words[lane], UINT32_MAX);
}
END_TEST

/* Groups of one instruction: each votes among itself. Lanes that have ended are waited for by nobody. */
START_TEST(groups_vote_by_themselves)
{
    static const char ptx[] =
        BEGIN_ "setp.lt.u32 %p1, %r0, 4;\n@%p1 ret;\n"
               "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p2, %r1, 0;\n"
               "selp.b32 %r2, 0x55555555, 0xaaaaaaaa, %p2;\n"
               "vote.sync.ballot.b32 %r3, 1, %r2;\nst.global.u32 [%d1], %r3;\nret;\n}\n";
    uint32_t words[32] = {0};
    ck_assert_int_eq(run_words(ptx, words, 32, 32).kind, MACHINE_NO_FAULT);
    for (uint32_t lane = 0; lane < 32; lane++)
        ck_assert_uint_eq(words[lane], lane < 4 ? 0 : (lane & 1 ? 0xaaaaaaa0 : 0x55555550));
}
END_TEST

START_TEST(a_vote_whose_members_never_come_is_a_deadlock)
{
    static const char ptx[] = BEGIN_ "setp.ge.u32 %p1, %r0, 16;\n@%p1 bra other;\n"
                                     "vote.sync.ballot.b32 %r2, 1, -1;\nst.global.u32 [%d1], %r2;\nret;\n"
                                     "other:\nvote.sync.any.pred %p2, 1, -1;\nret;\n}\n";
    uint32_t words[32] = {0};
    const struct machine_fault fault = run_words(ptx, words, 32, 32);
    ck_assert_int_eq(fault.kind, MACHINE_DEADLOCK);
    ck_assert_msg(strstr(fault.where, "k, block 0, thread ") == fault.where, "%s", fault.where);
    ck_assert_msg(strstr(fault.where, "PTX line 1") != NULL, "%s", fault.where);
}
END_TEST

/* A function that lanes call from two places, with memory of its own. */
START_TEST(calls_go_back_to_where_each_lane_came_from)
{
    static const char ptx[] =
        ".func (.param .b32 out) twice(.param .b32 in)\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<2>;\n.reg .pred %p;\n"
        ".local .align 8 .b8 depot[16];\nld.param.u32 %r1, [in];\nmov.b64 %d1, depot;\n"
        "st.local.u32 [%d1+4], %r1;\nsetp.eq.u32 %p, %r1, 40;\n@%p bra skip;\nld.local.u32 %r2, [depot+4];\n"
        "add.s32 %r1, %r1, %r2;\nskip:\nst.param.b32 [out], %r1;\nret;\n}\n" BEGIN_
        "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra even;\n"
        "{\n.param .b32 a;\n.param .b32 b;\nadd.s32 %r2, %r0, 100;\nst.param.b32 [a], %r2;\n"
        "call (b), twice, (a);\nld.param.b32 %r3, [b];\n}\nadd.s32 %r3, %r3, 1;\nbra done;\n"
        "even:\n{\n.param .b32 a;\n.param .b32 b;\nshl.b32 %r2, %r0, 2;\nst.param.b32 [a], %r2;\n"
        "call (b), twice, (a);\nld.param.b32 %r3, [b];\n}\n"
        "done:\nst.global.u32 [%d1], %r3;\nret;\n}\n";
    uint32_t words[32] = {0};
    const struct machine_fault fault = run_words(ptx, words, 32, 32);
    ck_assert_msg(fault.kind == MACHINE_NO_FAULT, "%s", fault.where);
    for (uint32_t lane = 0; lane < 32; lane++) {
        const uint32_t in = lane & 1 ? lane + 100 : lane * 4;
        ck_assert_uint_eq(words[lane], (in == 40 ? in : 2 * in) + (lane & 1));
    }
}
END_TEST

TCase *warp_cases(void)
{
    TCase *cases = tcase_create("warps");
    tcase_add_test(cases, lanes_go_around_as_often_as_each_says);
    tcase_add_test(cases, a_lane_that_spins_starves_none);
    tcase_add_test(cases, votes_and_shuffles_are_those_of_the_lanes);
    tcase_add_test(cases, a_vote_waits_for_its_members);
    tcase_add_test(cases, groups_vote_by_themselves);
    tcase_add_test(cases, a_vote_whose_members_never_come_is_a_deadlock);
    tcase_add_test(cases, calls_go_back_to_where_each_lane_came_from);
    return cases;
}
