/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of shared memory, on a kernel that gives up an allocation at a signal, as older ones do. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "core/base/error.h"
#include "core/ring/region.h"
#include "unit/unit.h"

int __real_fallocate(int file, int mode, off_t offset, off_t size);
int __wrap_fallocate(int file, int mode, off_t offset, off_t size);

int __wrap_fallocate(int file, int mode, off_t offset, off_t size)
{
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (sigismember(&blocked, SIGALRM) == 1)
        return __real_fallocate(file, mode, offset, size);
    errno = EINTR; /* the program's timer */
    return -1;
}

START_TEST(a_timer_of_the_program_keeps_no_region_from_being_made)
{
    struct gyre_region region;
    sigset_t blocked;
    ck_assert_msg(gyre_region_create("a ring", 100000, &region) == GYRE_OK, "%s", gyre_error_text());
    memset(region.address, 1, region.size);
    gyre_region_destroy(&region);
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
    ck_assert_int_eq(sigismember(&blocked, SIGALRM), 0); /* the program hears its signals again */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("region");
    TCase *tcase = tcase_create("signals");
    tcase_add_test(tcase, a_timer_of_the_program_keeps_no_region_from_being_made);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
