/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of sensors.gyre.c. */
#ifndef SENSORS_H
#define SENSORS_H

#include <gyre/message.h>

#define RAW(FIELD) FIELD(u64, sensor) FIELD(u32, counts)
GYRE_MESSAGE(raw, RAW)

#define READING(FIELD) FIELD(u64, sensor) FIELD(i32, celsius)
GYRE_MESSAGE(reading, READING)

#define EXTREMES(FIELD) FIELD(u64, readings) FIELD(i32, lowest) FIELD(i32, highest)
GYRE_MESSAGE(extremes, EXTREMES)

#endif
