/* SPDX-License-Identifier: Apache-2.0 */
/* Judges one kernel file by the rules of the kernel dialect (checker.h). */
#ifndef GYRE_JUDGE_H
#define GYRE_JUDGE_H

#include "cli/check/checker.h"

/**
 * Parses and judges one file. `text` replaces the file's content on disk; NULL: the content on disk. Writes its
 * findings into checker->report. `checker` begins as all zero, except options that the caller sets.
 */
void checker_run(struct checker *checker, const char *path, const char *text, size_t text_size,
                 const char *headers);

#endif
