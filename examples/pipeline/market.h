/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MARKET_H
#define MARKET_H

#include <gyre/message.h>

#define TRADE(FIELD) FIELD(u32, item) FIELD(u32, count) FIELD(u64, cents)
GYRE_MESSAGE(trade, TRADE)

#define PRICE(FIELD) FIELD(u32, item) FIELD(u32, count) FIELD(u64, cents)
GYRE_MESSAGE(price, PRICE)

#define BOOKED(FIELD) FIELD(u64, number) FIELD(u64, cents)
GYRE_MESSAGE(booked, BOOKED)

#endif
