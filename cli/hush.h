/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps back what compilers that run in this process write to stderr by themselves, as PoCL's "4 errors generated.": the
 * sentence of the failure says it better, and says of what.
 */
#ifndef GYRE_CLI_HUSH_H
#define GYRE_CLI_HUSH_H

#include <stdbool.h>

struct cli_hush {
    int kept, file; /* -1: nothing is kept back */
};

/** Until cli_hush_end, stderr is a file of the process's own. */
void cli_hush_begin(struct cli_hush *hush);
/** Writes to stderr what came meanwhile, without the lines that only count errors and warnings. */
void cli_hush_end(struct cli_hush *hush);
/** Whether stderr is a terminal, also meanwhile. */
bool cli_is_watched(void);

#endif
