/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which mistake a case showed, from what `gyre call --case` said. No state, any thread. */
#ifndef GYRE_CLI_CASES_SHRINK_FINDING_H
#define GYRE_CLI_CASES_SHRINK_FINDING_H

enum { SHRINK_FINDING_SIZE = 160 };
/* The key of an answer that is not the one that the file expects. */
#define SHRINK_ANOTHER_ANSWER "another answer"

/**
 * Writes a key of the first mistake: equal for the same kind of mistake at the same lines, whichever lanes, seeds or numbers
 * showed it. "" when none was told.
 */
void shrink_finding_of(const char *said, char key[SHRINK_FINDING_SIZE]);

#endif
