/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAINING_H
#define TRAINING_H
#include <gyre/message.h>

enum { TRAINING_WEIGHTS = 2 };

/* One observation: y for x. */
#define SAMPLE(FIELD) FIELD(f64, x) FIELD(f64, y)
GYRE_MESSAGE(sample, SAMPLE)

#define LOSS(FIELD) FIELD(f64, error)
GYRE_MESSAGE(loss, LOSS)

#endif
