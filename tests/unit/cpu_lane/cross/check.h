/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of Check as test_cpu_lane.c uses, for processors that this machine only has an emulator for: Check
 * is not installed for them. One process, no timeouts; the first failed assertion ends the program.
 */
#ifndef GYRE_TESTS_CROSS_CHECK_H
#define GYRE_TESTS_CROSS_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CK_ENV, TESTS_MAX = 32 };

typedef struct TCase {
    struct {
        void (*run)(int turn);
        int from, to;
    } tests[TESTS_MAX];
    int count;
} TCase;
typedef TCase Suite;
typedef struct SRunner {
    Suite *suite;
    int ran;
} SRunner;

#define START_TEST(name)                                                                                     \
    static void name(int _i)                                                                                 \
    {                                                                                                        \
        (void)_i;
#define END_TEST }

static inline void cross_assert(int holds, const char *text, const char *file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
    exit(EXIT_FAILURE);
}
#define ck_assert(condition)           cross_assert((condition) != 0, #condition, __FILE__, __LINE__)
#define ck_assert_int_eq(a, b)         ck_assert((intmax_t)(a) == (intmax_t)(b))
#define ck_assert_int_lt(a, b)         ck_assert((intmax_t)(a) < (intmax_t)(b))
#define ck_assert_uint_eq(a, b)        ck_assert((uintmax_t)(a) == (uintmax_t)(b))
#define ck_assert_uint_le(a, b)        ck_assert((uintmax_t)(a) <= (uintmax_t)(b))
#define ck_assert_str_eq(a, b)         ck_assert(strcmp((a), (b)) == 0)
#define ck_assert_ptr_null(pointer)    ck_assert((pointer) == NULL)
#define ck_assert_ptr_nonnull(pointer) ck_assert((pointer) != NULL)

static inline Suite *suite_create(const char *name)
{
    static Suite suite;
    (void)name;
    return &suite;
}

static inline TCase *tcase_create(const char *name)
{
    return suite_create(name);
}

static inline void suite_add_tcase(Suite *suite, TCase *tcase)
{
    ck_assert(suite == tcase);
}

static inline void tcase_add_loop_test(TCase *tcase, void (*run)(int), int from, int to)
{
    ck_assert(tcase->count < TESTS_MAX);
    tcase->tests[tcase->count].run = run;
    tcase->tests[tcase->count].from = from;
    tcase->tests[tcase->count++].to = to;
}

static inline void tcase_add_test(TCase *tcase, void (*run)(int))
{
    tcase_add_loop_test(tcase, run, 0, 1);
}

static inline SRunner *srunner_create(Suite *suite)
{
    static SRunner runner;
    runner.suite = suite;
    return &runner;
}

static inline void srunner_run_all(SRunner *runner, int how)
{
    (void)how;
    for (int i = 0; i < runner->suite->count; i++)
        for (int turn = runner->suite->tests[i].from; turn < runner->suite->tests[i].to; turn++) {
            runner->suite->tests[i].run(turn);
            runner->ran++;
        }
}

static inline int srunner_ntests_run(const SRunner *runner)
{
    return runner->ran;
}

static inline int srunner_ntests_failed(const SRunner *runner)
{
    (void)runner;
    return 0;
}

static inline void srunner_free(SRunner *runner)
{
    printf("%d tests ran\n", runner->ran);
}

#endif
