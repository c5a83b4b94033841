/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of docs/messages.md's example of headers. */
#ifndef GYRE_TESTS_JOBS_H
#define GYRE_TESTS_JOBS_H

#include <gyre/message.h>

#define JOB(FIELD) FIELD(u64, number)
GYRE_MESSAGE(job, JOB)
#define JOB_DONE(FIELD) FIELD(u64, square) FIELD(u64, for_whom)
GYRE_MESSAGE(job_done, JOB_DONE)

#endif
