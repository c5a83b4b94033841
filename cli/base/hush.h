/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps back the lines that compilers in this process write to stderr by themselves, for example PoCL's "4 errors generated.".
 * The error sentence of the command says more: it also names the file.
 */
#ifndef GYRE_CLI_BASE_HUSH_H
#define GYRE_CLI_BASE_HUSH_H

#include <stdbool.h>

struct cli_hush {
    int kept, file; /* the real stderr, and the file in its place; -1: nothing is kept back */
};

/** From now until cli_hush_end, stderr leads into a file of this process. */
void cli_hush_begin(struct cli_hush *hush);
/** Writes the lines that came meanwhile to stderr, without lines that only count errors and warnings. */
void cli_hush_end(struct cli_hush *hush);
/** True when the real stderr is a terminal, also while it is replaced. */
bool cli_is_watched(void);

#endif
