/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of driver.gyre.c. */
#ifndef GYRE_TESTS_DRIVER_FAILURES_DRIVER_H
#define GYRE_TESTS_DRIVER_FAILURES_DRIVER_H

#include <gyre/message.h>

#define WORD(FIELD) FIELD(u64, value)
GYRE_MESSAGE(word, WORD)

#endif
