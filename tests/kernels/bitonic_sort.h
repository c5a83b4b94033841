/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_BITONIC_SORT_H
#define GYRE_KERNELS_BITONIC_SORT_H

#include <gyre/message.h>

#define SORT_COUNT          64
#define SORT_MESSAGE(FIELD) FIELD(i32, keys[SORT_COUNT])
GYRE_MESSAGE(sort_message, SORT_MESSAGE)

#endif
