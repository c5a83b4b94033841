/* SPDX-License-Identifier: Apache-2.0 */
/* Judges handlers of a protocol's types, and migrations. */
#ifndef GYRE_CHECK_PROTOCOLS_H
#define GYRE_CHECK_PROTOCOLS_H

#include "cli/check/checker.h"

/** Refuses handlers and migrations that no kernel would call. */
void check_protocols(struct checker *checker);
/** Refuses a call of a type's handler if no handler for that type was declared. False: the call is of another function. */
bool check_refuse_unhandled(struct checker *checker, const char *function, const struct place *place);
/** Turns an error of the parser about the handler of a type into a refusal. `other_line`: the line of the earlier definition.
 * False when the error is about something else. */
bool check_refuse_protocol(struct checker *checker, const struct place *place, const char *text,
                           unsigned other_line);

#endif
