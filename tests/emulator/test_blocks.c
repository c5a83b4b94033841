/* SPDX-License-Identifier: Apache-2.0 */
/* What threads of a block, and blocks, do together. */
#include "test_run.h"

#include <string.h>

#define BEGIN_                                                                                               \
    ".extern .shared .align 16 .b8 dynamic[];\n"                                                             \
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .b64 %d<9>;\n"          \
    ".shared .align 8 .b8 own[1024];\n"                                                                      \
    "ld.param.u64 %d0, [p];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d1, %r0, 4;\nadd.s64 %d1, %d0, %d1;\n"

/* Each thread reads what its neighbour of another warp wrote, in dynamic shared memory behind the static. */
START_TEST(a_barrier_is_met_by_all_threads)
{
    static const char ptx[] = BEGIN_
        "mov.u64 %d2, dynamic;\nmul.wide.u32 %d3, %r0, 4;\nadd.s64 %d3, %d2, %d3;\nst.shared.u32 [%d3], %r0;\n"
        "setp.lt.u32 %p1, %r0, 3;\n@%p1 bra odd;\nbarrier.sync 0;\nbra both;\nodd:\nbarrier.sync 0;\nboth:\n"
        "add.s32 %r1, %r0, 33;\nrem.u32 %r1, %r1, 100;\nmul.wide.u32 %d3, %r1, 4;\nadd.s64 %d3, %d2, %d3;\n"
        "cvta.shared.u64 %d4, %d3;\nld.u32 %r2, [%d4];\nst.global.u32 [%d1], %r2;\n"
        "setp.eq.u32 %p2, %r0, 70;\nbar.red.popc.u32 %r3, 1, !%p2;\nbar.red.or.pred %p3, 1, %p2;\n"
        "@!%p3 trap;\nst.global.u32 [%d1+400], %r3;\nret;\n}\n";
    uint32_t words[200] = {0};
    const struct run run = {
        .ptx = ptx, .threads = 100, .dynamic_shared = 400, .memory = words, .size = sizeof words};
    const struct machine_fault fault = run_whole(&run);
    ck_assert_msg(fault.kind == MACHINE_NO_FAULT, "%s", fault.where);
    for (uint32_t thread = 0; thread < 100; thread++) {
        ck_assert_uint_eq(words[thread], (thread + 33) % 100);
        ck_assert_uint_eq(words[100 + thread], 99);
    }
}
END_TEST

/* Two warps of three meet at a barrier of their own; the third only arrives. */
START_TEST(barriers_count_threads)
{
    static const char ptx[] =
        BEGIN_ "shr.u32 %r1, %r0, 5;\nsetp.eq.u32 %p1, %r1, 2;\n@%p1 bra third;\n"
               "bar.sync 3, 96;\nld.shared.u32 %r2, [own];\nst.global.u32 [%d1], %r2;\nret;\n"
               "third:\nst.shared.u32 [own], 5;\nbar.arrive 3, 96;\nret;\n}\n";
    uint32_t words[96] = {0};
    const struct run run = {.ptx = ptx, .threads = 96, .memory = words, .size = sizeof words};
    ck_assert_int_eq(run_whole(&run).kind, MACHINE_NO_FAULT);
    for (uint32_t thread = 0; thread < 96; thread++)
        ck_assert_uint_eq(words[thread], thread < 64 ? 5 : 0);
}
END_TEST

/* bar.sync and barrier.red want whole warps at one place: half of a warp at another one waits for ever. */
#define PARTED_(barrier)                                                                                     \
    BEGIN_ "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra there;\n" barrier "ret;\n"                                   \
           "there:\n" barrier "add.s32 %r1, %r1, 1;\nret;\n}\n"
START_TEST(parted_lanes_at_an_aligned_barrier_are_a_deadlock)
{
    static const char *const ptx[] = {PARTED_("bar.sync 0;\n"),
                                      PARTED_("barrier.red.popc.u32 %r3, 0, %p1;\n")};
    uint32_t words[32] = {0};
    for (size_t i = 0; i < sizeof ptx / sizeof ptx[0]; i++) {
        const struct run run = {.ptx = ptx[i], .threads = 64, .memory = words, .size = sizeof words};
        ck_assert_int_eq(run_whole(&run).kind, MACHINE_DEADLOCK);
    }
}
END_TEST

START_TEST(threads_that_ended_are_waited_for_by_nobody)
{
    static const char ptx[] = BEGIN_ "setp.lt.u32 %p1, %r0, 40;\n@%p1 exit;\nbarrier.sync 0;\n"
                                     "st.global.u32 [%d1], 1;\nret;\n}\n";
    uint32_t words[64] = {0};
    const struct run run = {.ptx = ptx, .threads = 64, .memory = words, .size = sizeof words};
    ck_assert_int_eq(run_whole(&run).kind, MACHINE_NO_FAULT);
    for (uint32_t thread = 0; thread < 64; thread++)
        ck_assert_uint_eq(words[thread], thread >= 40);
}
END_TEST

START_TEST(atomics_of_all_blocks_add_up)
{
    static const char ptx[] = BEGIN_ "mov.u32 %r1, 0;\nagain:\natom.global.add.u32 %r2, [%d0], 1;\n"
                                     "atom.global.max.u32 %r3, [%d0+4], %r2;\nadd.s32 %r1, %r1, 1;\n"
                                     "cas:\nld.relaxed.gpu.global.u64 %d2, [%d0+8];\nadd.s64 %d3, %d2, 3;\n"
                                     "atom.relaxed.gpu.global.cas.b64 %d4, [%d0+8], %d2, %d3;\n"
                                     "setp.ne.s64 %p2, %d4, %d2;\n@%p2 bra cas;\n"
                                     "setp.lt.u32 %p1, %r1, 10;\n@%p1 bra again;\nret;\n}\n";
    struct {
        uint32_t sum, most;
        uint64_t threes;
    } words = {0};
    const struct run run = {.ptx = ptx, .blocks = 4, .threads = 64, .memory = &words, .size = sizeof words};
    ck_assert_int_eq(run_whole(&run).kind, MACHINE_NO_FAULT);
    ck_assert_uint_eq(words.sum, 2560);
    ck_assert_uint_eq(words.most, 2559);
    ck_assert_uint_eq(words.threes, 3 * 2560);
}
END_TEST

/* A copy is there when its mbarrier says so: the thread that waits finds all of it. */
START_TEST(a_bulk_copy_is_there_when_its_mbarrier_says_so)
{
    static const char ptx[] = BEGIN_
        "mov.u64 %d2, own;\ncvt.u32.u64 %r1, %d2;\nadd.s32 %r2, %r1, 16;\nsetp.ne.u32 %p1, %r0, 0;\n"
        "@%p1 bra ready;\nmbarrier.init.shared::cta.b64 [%r1], 1;\nfence.proxy.async.shared::cta;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2],[%d0],256,[%r1];\n"
        "ready:\nbar.sync 0;\n"
        "wait:\n{ .reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done,[%r1],0; selp.u32 %r3,1,0,done; }\n"
        "setp.eq.u32 %p2, %r3, 0;\n@%p2 bra wait;\n"
        "mad.lo.s32 %r4, %r0, 4, %r2;\nld.shared.u32 %r5, [%r4];\nst.global.u32 [%d1+256], %r5;\nret;\n}\n";
    uint32_t words[128] __attribute__((aligned(16)));
    for (uint32_t w = 0; w < 128; w++)
        words[w] = w < 64 ? w * w + 1 : 0;
    const struct run run = {.ptx = ptx, .threads = 64, .memory = words, .size = sizeof words};
    const struct machine_fault fault = run_whole(&run);
    ck_assert_msg(fault.kind == MACHINE_NO_FAULT, "%s", fault.where);
    ck_assert_mem_eq(words + 64, words, 256);
}
END_TEST

/* Numbers of all kinds in front of the address of dynamic memory, and behind it. */
START_TEST(constants_stay_what_they_are)
{
    static const char ptx[] =
        BEGIN_ "mov.u32 %r1, -2;\nmov.u64 %d2, dynamic;\ncvt.u32.u64 %r3, %d2;\n"
               "mov.u64 %d3, own;\ncvt.u32.u64 %r4, %d3;\nsub.s32 %r3, %r3, %r4;\n"
               "mov.u32 %r2, -2;\nst.global.u32 [%d0], %r1;\nst.global.u32 [%d0+4], %r2;\n"
               "st.global.u32 [%d0+8], %r3;\nret;\n}\n";
    uint32_t words[3] = {0};
    const struct run run = {.ptx = ptx, .dynamic_shared = 64, .memory = words, .size = sizeof words};
    ck_assert_int_eq(run_whole(&run).kind, MACHINE_NO_FAULT);
    ck_assert_uint_eq(words[0], UINT32_MAX - 1);
    ck_assert_uint_eq(words[1], UINT32_MAX - 1);
    ck_assert_uint_eq(words[2], 1024);
}
END_TEST

START_TEST(first_values_of_variables_are_there)
{
    static const char ptx[] =
        ".global .align 4 .u32 three[3] = {7, 8, 9};\n.const .align 8 .u64 there = generic(three)+4;\n" BEGIN_
        "ld.const.u64 %d2, [there];\nld.global.u32 %r1, [%d2];\nst.global.u32 [%d1], %r1;\n"
        "mov.u64 %d3, three;\nst.global.u32 [%d3], 1;\nld.global.u32 %r2, [three+8];\n"
        "st.global.u32 [%d1+128], %r2;\nret;\n}\n";
    uint32_t words[64] = {0};
    const struct run run = {.ptx = ptx, .memory = words, .size = sizeof words};
    const struct machine_fault fault = run_whole(&run);
    ck_assert_msg(fault.kind == MACHINE_NO_FAULT, "%s", fault.where);
    ck_assert_uint_eq(words[31], 8);
    ck_assert_uint_eq(words[63], 9);
}
END_TEST

TCase *block_cases(void)
{
    TCase *cases = tcase_create("blocks");
    tcase_add_test(cases, a_barrier_is_met_by_all_threads);
    tcase_add_test(cases, barriers_count_threads);
    tcase_add_test(cases, parted_lanes_at_an_aligned_barrier_are_a_deadlock);
    tcase_add_test(cases, threads_that_ended_are_waited_for_by_nobody);
    tcase_add_test(cases, atomics_of_all_blocks_add_up);
    tcase_add_test(cases, a_bulk_copy_is_there_when_its_mbarrier_says_so);
    tcase_add_test(cases, constants_stay_what_they_are);
    tcase_add_test(cases, first_values_of_variables_are_there);
    return cases;
}
