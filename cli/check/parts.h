/* SPDX-License-Identifier: Apache-2.0 */
/* Judges uses of the parts of messages: texts, spans and optional values. */
#ifndef GYRE_CHECK_PARTS_H
#define GYRE_CHECK_PARTS_H

#include "cli/check/checker.h"

/** True for the type of a part, such as utf8, a span_T or an optional_T. */
bool check_is_part(CXType type);
/** Refuses a part of a request that is assigned to a part of the reply. */
void check_assignment(struct checker *checker, CXCursor operation);
/** Refuses gyre_items and its kin with a type of another size than the part's items have. Their macros are a cast of a call. */
void check_items(struct checker *checker, CXCursor cast, CXCursor operand);

#endif
