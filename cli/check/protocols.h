/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for protocols and migrations. */
#ifndef GYRE_CHECK_PROTOCOLS_H
#define GYRE_CHECK_PROTOCOLS_H

#include "cli/check/checker.h"

/** Refuses handlers and migrations that nobody would call. */
void check_protocols(struct checker *checker);
/** Refuses a call of the handler of a type, where there is no such handler. False: the call is of another function. */
bool refuse_unhandled(struct checker *checker, const char *function, const struct place *place);
/** Refuses what the parser says of the handler of a type. `other_line`: the line of the earlier definition. False: the parser speaks
 * of something else. */
bool refuse_protocol(struct checker *checker, const struct place *place, const char *text,
                     unsigned other_line);
/** Refuses a part of a request that is assigned to a part of the reply. */
void check_assignment(struct checker *checker, CXCursor operation);

#endif
