/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What some C libraries lack. The GNU C library has each of these; with another one, such as musl, Gyre does the same by other
 * means. No other file of the core asks which C library it is built with. No state, any thread.
 */
#ifndef GYRE_CORE_BASE_LIBC_H
#define GYRE_CORE_BASE_LIBC_H

#include <spawn.h>
#include <sys/syscall.h>

/* musl's list of system calls ends before this one. Every processor that Gyre runs on has this number. */
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/** Has free give blocks of at least `size` bytes back to the system, where the C library can be told so. */
void gyre_libc_give_back(int size);

/**
 * Has a child that posix_spawn starts close its descriptors from `from` on. Returns 0 or an error number. Without the GNU C
 * library: the descriptors that are open now, so the child inherits one that another thread opens meanwhile without
 * close-on-exec.
 */
int gyre_libc_close_from(posix_spawn_file_actions_t *actions, int from);

/**
 * The path of the shared object with this address, as the loader knows it; "": the program itself; NULL: none has it. The
 * loader owns the text.
 */
const char *gyre_libc_object_of(const void *address);

/** The name of a signal without "SIG", as in "SEGV"; NULL: it has none. */
const char *gyre_libc_signal_name(int signal);

#endif
