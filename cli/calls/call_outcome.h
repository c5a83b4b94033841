/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how a request ended, as JSON on one line without a newline (call_stream.h lists the forms). Any thread. */
#ifndef GYRE_CLI_CALLS_CALL_OUTCOME_H
#define GYRE_CLI_CALLS_CALL_OUTCOME_H

#include <stdio.h>

#include "core/types/types.h"
#include "gyre/gyre.h"

enum call_outcome { CALL_ANSWER, CALL_NO_REPLY, CALL_FAILURE, CALL_LOSS };

/**
 * Prints the outcome of a completion whose reply has the type `layout`, and returns its kind. A handler may write anything into
 * a reply, so a reply that is no message of the type is a failure, and is not read.
 */
enum call_outcome call_outcome_print(const gyre_layout *layout, const gyre_completion *completion,
                                     const void *reply, FILE *out);

#endif
