/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: unpinned ERRNO PROGRAM ARGUMENT...: runs it where every wish to run on certain processors is refused: with
 * EINVAL as in a container that has none of those that it names, with EPERM as by a filter of system calls.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const unsigned error = argc > 2 ? (unsigned)atoi(argv[1]) : 0;
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {.len = sizeof rules / sizeof rules[0], .filter = rules};
    if (argc > 2 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0)
        execv(argv[2], argv + 2);
    perror("unpinned");
    return 1;
}
