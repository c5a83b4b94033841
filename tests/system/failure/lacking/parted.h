/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_TESTS_PARTED_H
#define GYRE_TESTS_PARTED_H

#include <gyre/message.h>

#define PARTED(FIELD) FIELD(u32, how)
GYRE_MESSAGE(parted_message, PARTED)

#endif
