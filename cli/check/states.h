/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the type of a kernel's state. */
#ifndef GYRE_CHECK_STATES_H
#define GYRE_CHECK_STATES_H

#include "cli/check/checker.h"

/** Refuses a handler whose state has a tail or parts: a part names items of one message, and the state outlives all messages. */
void check_state(struct checker *checker, CXCursor handler);

#endif
