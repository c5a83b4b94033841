/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the parser's errors about ports into findings. */
#ifndef GYRE_CHECK_PORTS_H
#define GYRE_CHECK_PORTS_H

#include "cli/check/checker.h"

/** Turns an error of the parser about ports, or about gyre_emit, into a refusal. False when the error is about something
 * else. */
bool check_refuse_port(struct checker *checker, CXDiagnostic diagnostic, const struct place *place,
                       const char *text);
/** True for a location in text that GYRE_PORTS made. */
bool check_is_of_ports(const struct checker *checker, CXSourceLocation location);
/** True for the handler of a kernel with ports. */
bool check_has_ports(CXCursor handler);

#endif
