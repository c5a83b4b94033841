/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_SIMULATION_HANDLER_H
#define GYRE_SIMULATION_HANDLER_H

#include <gyre/message.h>

/* Longer than what lies in one line with a slot's header. */
#define NUMBERS(FIELD) FIELD(u64, number) FIELD(u64, again[9])
GYRE_MESSAGE(numbers, NUMBERS)

#endif
