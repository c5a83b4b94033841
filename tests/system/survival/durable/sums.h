/* SPDX-License-Identifier: Apache-2.0 */
/* An actor that adds up, in lives of its program (lives.h): its file is written anew before each, in the journals' folder. */
#ifndef GYRE_TESTS_SUMS_H
#define GYRE_TESTS_SUMS_H

#include <gyre/message.h>

#include "lives.h"

#define ADD(FIELD) FIELD(u64, add)
GYRE_MESSAGE(add_request, ADD)
#define SUM(FIELD) FIELD(u64, sum)
GYRE_MESSAGE(sum_reply, SUM)

/** The beginning of its file: what it takes; and what it replies. */
#define SUM_FRONT                                                                                            \
    "#include <gyre/kernel.h>\n"                                                                             \
    "#define ADD(FIELD) FIELD(u64, add)\nGYRE_MESSAGE(add_request, ADD)\n"
#define SUM_REPLY_FRONT SUM_FRONT "#define SUM(FIELD) FIELD(u64, sum)\nGYRE_MESSAGE(sum_reply, SUM)\n"

/** What the next life runs, and how. */
struct sums {
    const char *backend;    /* NULL: cpu */
    const char *on_change;  /* NULL: as it is without the setting */
    bool isolated, changed; /* its backend is; the log says that the handler is another one, and goes on */
    uint64_t first;         /* how many requests were received before */
    uint64_t add, sum, count;
    enum { CLOSES, TERMINATES, IS_KILLED } end;
};
extern struct sums next;

/** A folder for journals, and nothing said of the next life. */
void begin_sums(void);
void write_sum(const char *text);
gyre_status launch_sum(gyre_runtime **runtime, gyre_kernel **kernel);
void add_and_expect(gyre_queue *queue, uint64_t add, uint64_t sum);

#endif
