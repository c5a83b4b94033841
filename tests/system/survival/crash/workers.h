/* SPDX-License-Identifier: Apache-2.0 */
/* What the crash tests share: requirements, worker processes as /proc shows them, an isolated CPU backend. */
#ifndef GYRE_TESTS_CRASH_WORKERS_H
#define GYRE_TESTS_CRASH_WORKERS_H

#include "../../../patience.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <gyre/gyre.h>

#include "crash.h"

void require_(bool holds, const char *what, const char *file, int line);
#define require(condition) require_((condition), #condition, __FILE__, __LINE__)
#define must(call)         require_((call) == GYRE_OK, #call, __FILE__, __LINE__)

/** A test, one a run: `PROGRAM NAME`. */
typedef struct named_case {
    const char *name;
    void (*run)(void);
} named_case;
/** Runs the case that the arguments name, after `prepare`; what main returns: 2 when they name none. */
int run_named(int argc, char **argv, void (*prepare)(void), const named_case *cases, size_t count);
#define RUN_NAMED(argc, argv, prepare, cases)                                                                \
    run_named((argc), (argv), (prepare), (cases), sizeof(cases) / sizeof((cases)[0]))

/** The worker process that is a child of `parent`; 0 when there is none. */
pid_t worker_of(pid_t parent);
/** The same for one that stands by. */
pid_t standby_of(pid_t parent);
/** SIGKILL to the worker of this program. Returns whether there was one, which there is not while one is replaced. */
bool kill_worker(void);
/** SIGSTOP, and returns when none of its threads runs any more. */
void halt_worker(pid_t worker);
/** SIGSTOP, and SIGCONT after so many ms, if it is there still; of several, the last one alone. */
void stop_worker(pid_t worker, unsigned length_ms);
/** Ends what stop_worker began. */
void go_on_stopped(void);
/** Whether the process is there and no zombie. */
bool is_alive(pid_t pid);
/** Descriptors that this process has open. */
size_t open_descriptors(void);

/** Makes the folder where faults leave word that they happened, for this program and its workers. */
void make_fault_folder(void);
/** Handlers that wait (CRASH_WAIT) come back, from now on. */
void let_handlers_go_on(void);
/** "KEY=MS" for a limit that ends what hangs: so many ms of a usual machine. It lives until it is asked for a fourth time. */
const char *patient_setting(const char *key, uint64_t ms);
/**
 * A runtime whose backend is isolated, with further settings (NULL-terminated; NULL: none). CRASH_BACKEND: another one than the CPU's;
 * ends the program with 77 where that cannot start.
 */
gyre_runtime *open_isolated(const char *const *settings);
/** Launches a kernel of crash.gyre.c with defaults; must succeed. */
gyre_kernel *launch_fragile(gyre_runtime *runtime, const char *kernel, uint32_t blocks);
/** The same, of one block, under a name of its own. */
gyre_kernel *launch_as(gyre_runtime *runtime, const char *name, const char *kernel);
/** What `fragile` replies. */
uint64_t mixed(uint64_t number);
/** A generous deadline for what must happen. */
uint64_t soon(void);
/** Lines of the log that hold this text. */
size_t log_lines_with(const char *text);

#endif
