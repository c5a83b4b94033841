/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that replies what it was asked. */
#include <gyre/kernel.h>

#include "bench_messages.h"

GYRE_KERNEL(echo_48, words_48, words_48)
{
    *reply = *request;
    return GYRE_REPLY;
}
