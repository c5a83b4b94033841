/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel may touch, and when it sees what others stored. */
#include "test_run.h"

#include <string.h>

#define BEGIN_                                                                                               \
    ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .b64 %d<9>;\n"          \
    ".shared .align 8 .b8 own[64];\n.local .align 8 .b8 depot[32];\n"                                        \
    "ld.param.u64 %d0, [p];\nmov.u32 %r0, %tid.x;\n"

static void faults(const char *instructions, enum machine_fault_kind kind, const char *where)
{
    char ptx[2048];
    uint64_t words[16] = {0};
    snprintf(ptx, sizeof ptx, "%s%s\nret;\n}\n", BEGIN_ "setp.ne.u32 %p1, %r0, 7;\n@%p1 ret;\n",
             instructions);
    const struct run run = {.ptx = ptx, .memory = words, .size = sizeof words};
    const struct machine_fault fault = run_whole(&run);
    ck_assert_msg(fault.kind == kind, "%s: %d, %s", instructions, (int)fault.kind, fault.where);
    ck_assert_msg(strstr(fault.where, where) != NULL, "'%s' in '%s'", where, fault.where);
}

START_TEST(what_may_not_be_touched_is_told)
{
    faults("ld.global.u64 %d1, [%d0+120];", MACHINE_NO_FAULT, "");
    faults("ld.global.u64 %d1, [%d0+128];", MACHINE_ILLEGAL_ADDRESS, "block 0, thread 7, PTX line 15");
    faults("st.global.u8 [%d0+-1], 1;", MACHINE_ILLEGAL_ADDRESS, "thread 7");
    faults("ld.global.v2.u64 {%d1, %d2}, [%d0+120];", MACHINE_MISALIGNED, "thread 7");
    faults("ld.global.u32 %r1, [%d0+2];", MACHINE_MISALIGNED, "thread 7");
    faults("atom.global.add.u32 %r1, [%d0+128], 1;", MACHINE_ILLEGAL_ADDRESS, "thread 7");
    faults("mov.u64 %d1, 0;\nld.u32 %r1, [%d1];", MACHINE_ILLEGAL_ADDRESS, "PTX line 16");
    faults("ld.shared.u32 %r1, [own+64];", MACHINE_NO_FAULT, ""); /* the block's, though nobody's */
    faults("mov.u64 %d1, 300000;\nld.shared.u32 %r1, [%d1];", MACHINE_ILLEGAL_ADDRESS, "thread 7");
    faults("st.local.u64 [depot+24], %d0;", MACHINE_NO_FAULT, "");
    faults("st.local.u64 [depot+32], %d0;", MACHINE_ILLEGAL_ADDRESS, "thread 7");
    faults("mov.u64 %d1, depot;\ncvta.local.u64 %d1, %d1;\nst.u64 [%d1+32], %d0;", MACHINE_ILLEGAL_ADDRESS,
           "thread 7"); /* another thread's */
    faults("trap;", MACHINE_TRAP, "PTX line 15");
}
END_TEST

/* ---- what others store ---- */

struct post {
    uint64_t data[16] __attribute__((aligned(128)));
    uint64_t asked __attribute__((aligned(128))), seen, told;
};

/* Reads data, says so, waits until it is told, and reads again: with `first` behind the wait. */
static uint64_t second_look(const char *first)
{
    char ptx[2048];
    struct post post = {.data = {1}};
    struct machine_module *module;
    snprintf(ptx, sizeof ptx, "%s%s%s",
             BEGIN_
             "setp.ne.u32 %p1, %r0, 0;\n@%p1 ret;\nld.global.u64 %d1, [%d0];\n"
             "st.relaxed.sys.global.u64 [%d0+128], 1;\n"
             "wait:\nld.relaxed.sys.global.u64 %d2, [%d0+144];\nsetp.eq.s64 %p2, %d2, 0;\n@%p2 bra wait;\n",
             first, "\nld.global.u64 %d1, [%d0];\nst.global.u64 [%d0+136], %d1;\nret;\n}\n");
    const struct run run = {.ptx = ptx, .memory = &post, .size = sizeof post};
    struct machine_grid *grid = run_start(&run, &module);
    while (__atomic_load_n(&post.asked, __ATOMIC_ACQUIRE) == 0)
        ;
    __atomic_store_n(&post.data[0], 2, __ATOMIC_RELAXED);
    __atomic_store_n(&post.told, 1, __ATOMIC_RELEASE);
    ck_assert_int_eq(run_end(&run, grid, module).kind, MACHINE_NO_FAULT);
    return post.seen;
}

START_TEST(a_weak_load_goes_stale_until_something_acquires)
{
    ck_assert_uint_eq(second_look(""), 1);
    ck_assert_uint_eq(second_look("ld.acquire.gpu.global.u64 %d2, [%d0+144];"), 2);
    ck_assert_uint_eq(second_look("fence.acq_rel.sys;"), 2);
    ck_assert_uint_eq(second_look("membar.gl;"), 2);
    ck_assert_uint_eq(second_look("fence.acq_rel.cta;"), 1);
    ck_assert_uint_eq(second_look("fence.release.sys;"), 1);
    ck_assert_uint_eq(second_look("atom.acquire.gpu.global.add.u64 %d3, [%d0+120], 1;"), 2);
    ck_assert_uint_eq(second_look("atom.relaxed.gpu.global.add.u64 %d3, [%d0+64], 1;"), 1);
    ck_assert_uint_eq(second_look("atom.relaxed.gpu.global.add.u64 %d3, [%d0], 1;"), 3);
    ck_assert_uint_eq(second_look("st.global.u64 [%d0], 5;"), 5);
    ck_assert_uint_eq(second_look("ld.volatile.global.u64 %d3, [%d0];"), 1); /* goes past it */
}
END_TEST

/* A line that lanes store together is there in the order of the bus: its first word last. */
START_TEST(a_line_is_stored_from_its_end)
{
    static const char ptx[] = BEGIN_ "mul.wide.u32 %d1, %r0, 8;\nadd.s64 %d1, %d0, %d1;\nmov.u64 %d3, 0;\n"
                                     "again:\nadd.s64 %d3, %d3, 1;\nsetp.lt.u32 %p1, %r0, 8;\n"
                                     "@%p1 st.relaxed.sys.global.u64 [%d1], %d3;\n"
                                     "setp.lt.u64 %p2, %d3, 20000;\n@%p2 bra again;\nret;\n}\n";
    uint64_t line[8] __attribute__((aligned(64))) = {0}, first = 0;
    struct machine_module *module;
    const struct run run = {.ptx = ptx, .memory = line, .size = sizeof line};
    struct machine_grid *grid = run_start(&run, &module);
    while (first < 20000) {
        first = __atomic_load_n(&line[0], __ATOMIC_ACQUIRE);
        for (int word = 1; word < 8; word++)
            ck_assert_uint_ge(__atomic_load_n(&line[word], __ATOMIC_RELAXED), first);
    }
    ck_assert_int_eq(run_end(&run, grid, module).kind, MACHINE_NO_FAULT);
}
END_TEST

typedef uint64_t pair __attribute__((vector_size(16)));

/* Two words that are stored by one instruction are seen together. */
START_TEST(sixteen_bytes_are_stored_as_one)
{
    static const char ptx[] = BEGIN_ "mov.u64 %d1, 0;\n"
                                     "again:\nadd.s64 %d1, %d1, 1;\n"
                                     "st.relaxed.sys.global.v2.u64 [%d0], {%d1, %d1};\n"
                                     "setp.lt.u64 %p2, %d1, 150000;\n@%p2 bra again;\nret;\n}\n";
    pair there = {0, 0};
    struct machine_module *module;
    const struct run run = {.ptx = ptx, .memory = &there, .size = sizeof there};
    struct machine_grid *grid = run_start(&run, &module);
    pair seen = {0, 0};
    while (seen[0] < 150000) {
        seen = *(volatile pair *)&there;
        ck_assert_uint_eq(seen[0], seen[1]);
    }
    ck_assert_int_eq(run_end(&run, grid, module).kind, MACHINE_NO_FAULT);
}
END_TEST

START_TEST(sixteen_bytes_are_loaded_as_one)
{
    static const char ptx[] = BEGIN_ "mov.u64 %d3, 0;\nmov.u64 %d4, 0;\n"
                                     "again:\nld.relaxed.sys.global.v2.u64 {%d1, %d2}, [%d0];\n"
                                     "setp.ne.s64 %p1, %d1, %d2;\n@%p1 add.s64 %d3, %d3, 1;\n"
                                     "add.s64 %d4, %d4, 1;\nsetp.lt.u64 %p2, %d4, 200000;\n@%p2 bra again;\n"
                                     "st.relaxed.sys.global.v2.u64 [%d0+16], {%d3, %d4};\nret;\n}\n";
    pair words[2] = {{0, 0}, {0, 0}}, told = {0, 0};
    struct machine_module *module;
    const struct run run = {.ptx = ptx, .memory = words, .size = sizeof words};
    struct machine_grid *grid = run_start(&run, &module);
    for (uint64_t number = 1; !told[1]; number++) {
        *(volatile pair *)&words[0] = (pair){number, number};
        told = *(volatile pair *)&words[1];
    }
    ck_assert_int_eq(run_end(&run, grid, module).kind, MACHINE_NO_FAULT);
    ck_assert_uint_eq(told[0], 0);
}
END_TEST

/* A letter and, in another line, the word that tells of it: how often the word is seen before the letter. */
static uint32_t seen_too_early(const char *between)
{
    char ptx[2048];
    uint64_t words[64] __attribute__((aligned(128))) = {0};
    uint32_t early = 0;
    struct machine_module *module;
    snprintf(ptx, sizeof ptx, "%s%s%s",
             BEGIN_ "setp.ne.u32 %p1, %r0, 0;\n@%p1 ret;\nmov.u64 %d1, 0;\n"
                    "again:\nadd.s64 %d1, %d1, 1;\nst.relaxed.sys.global.u64 [%d0], %d1;\n",
             between,
             "\nst.relaxed.sys.global.u64 [%d0+256], %d1;\n"
             "wait:\nld.relaxed.sys.global.u64 %d2, [%d0+384];\nsetp.ne.s64 %p2, %d2, %d1;\n@%p2 bra wait;\n"
             "setp.lt.u64 %p3, %d1, 200;\n@%p3 bra again;\nret;\n}\n");
    const struct run run = {.ptx = ptx, .memory = words, .size = sizeof words};
    struct machine_grid *grid = run_start(&run, &module);
    for (uint64_t number = 1; number <= 200; number++) {
        while (__atomic_load_n(&words[32], __ATOMIC_ACQUIRE) != number)
            ;
        early += __atomic_load_n(&words[0], __ATOMIC_RELAXED) != number;
        __atomic_store_n(&words[48], number, __ATOMIC_RELEASE);
    }
    ck_assert_int_eq(run_end(&run, grid, module).kind, MACHINE_NO_FAULT);
    return early;
}

/* The test has to look in a moment that passes: on a busy machine it may miss all of one try. */
static bool ever_seen_too_early(const char *between)
{
    for (int tries = 0; tries < 200; tries++)
        if (seen_too_early(between) > 0)
            return true;
    return false;
}

START_TEST(a_fence_that_is_missing_is_found_when_stores_are_held)
{
    ck_assert_uint_eq(seen_too_early(""), 0);
    setenv("EMULATOR_HOLD", "1", 1);
    ck_assert(ever_seen_too_early(""));
    ck_assert(ever_seen_too_early("fence.acq_rel.cta;"));
    ck_assert_uint_eq(seen_too_early("fence.acq_rel.sys;"), 0);
    ck_assert_uint_eq(seen_too_early("fence.release.sys;"), 0);
    unsetenv("EMULATOR_HOLD");
}
END_TEST

/* A kernel that waits for the host is no deadlock, and is ended when it is destroyed. */
START_TEST(a_kernel_that_waits_for_ever_can_be_ended)
{
    static const char ptx[] = BEGIN_ "wait:\nld.volatile.global.u64 %d1, [%d0];\nnanosleep.u32 1000;\n"
                                     "setp.eq.s64 %p1, %d1, 0;\n@%p1 bra wait;\nret;\n}\n";
    uint64_t word = 0;
    struct machine_fault fault;
    struct machine_module *module;
    const struct run run = {.ptx = ptx, .memory = &word, .size = sizeof word};
    struct machine_grid *grid = run_start(&run, &module);
    ck_assert(!machine_grid_wait(grid, 1, &fault));
    ck_assert(!machine_grid_ended(grid, &fault));
    machine_grid_destroy(grid);
    machine_memory_remove(&word);
    machine_module_unload(module);
}
END_TEST

TCase *memory_cases(void)
{
    TCase *cases = tcase_create("memory");
    tcase_set_timeout(cases, 40);
    tcase_add_test(cases, what_may_not_be_touched_is_told);
    tcase_add_test(cases, a_weak_load_goes_stale_until_something_acquires);
    tcase_add_test(cases, a_line_is_stored_from_its_end);
    tcase_add_test(cases, sixteen_bytes_are_stored_as_one);
    tcase_add_test(cases, sixteen_bytes_are_loaded_as_one);
    tcase_add_test(cases, a_fence_that_is_missing_is_found_when_stores_are_held);
    tcase_add_test(cases, a_kernel_that_waits_for_ever_can_be_ended);
    return cases;
}
