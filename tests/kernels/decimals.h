/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_KERNELS_DECIMALS_H
#define GYRE_KERNELS_DECIMALS_H

#include <gyre/message.h>

#define DECIMALS(FIELD) FIELD(u64, bits) FIELD(u32, decimals)
GYRE_MESSAGE(decimals, DECIMALS)
#define DECIMALS_TOLD(FIELD) FIELD(utf8, line)
GYRE_MESSAGE_TAIL(decimals_told, DECIMALS_TOLD, 400)

#endif
