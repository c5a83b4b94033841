/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDERS_H
#define ORDERS_H

#include <gyre/message.h>

#define ORDER(FIELD) FIELD(u32, item) FIELD(u32, count)
GYRE_MESSAGE(order, ORDER)

#define PRICED(FIELD) FIELD(u32, item) FIELD(u32, count) FIELD(u64, cents)
GYRE_MESSAGE(priced, PRICED)

#define RECEIPT(FIELD) FIELD(u64, number) FIELD(u64, cents)
GYRE_MESSAGE(receipt, RECEIPT)

#endif
