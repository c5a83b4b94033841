/* SPDX-License-Identifier: Apache-2.0 */
/* A line through observations: each one adds to the gradient of the squared error. */
#include <gyre/kernel.h>
#include "training.h"

#define TRAINING_BUFFERS(IN, INOUT) IN(f64, weights) INOUT(f64, gradients)
GYRE_BUFFERS(training_buffers, TRAINING_BUFFERS)

GYRE_KERNEL_WITH(observe, sample, loss, gyre_none, training_buffers)
{
    reply->error = buffers->weights[0] + buffers->weights[1] * request->x - request->y;
    buffers->gradients[0] += reply->error;
    buffers->gradients[1] += reply->error * request->x;
    return GYRE_REPLY;
}
