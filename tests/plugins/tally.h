/* SPDX-License-Identifier: Apache-2.0 */
/* The message of tally.gyre.c: included by the kernel and by the test. */
#ifndef TALLY_H
#define TALLY_H

#include <gyre/message.h>

#define TALLY_NUMBER(FIELD) FIELD(u64, value)
GYRE_MESSAGE(tally_number, TALLY_NUMBER)

#endif
