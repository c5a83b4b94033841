/* SPDX-License-Identifier: Apache-2.0 */
/* Adds one to every field that it knows. */
#include <gyre/kernel.h>

#include "grown.h"

GYRE_KERNEL(old_handler, reading_old, reading_old)
{
    reply->a = request->a + 1;
    reply->b = request->b + 1;
    return GYRE_REPLY;
}

GYRE_KERNEL(new_handler, reading_new, reading_new)
{
    reply->a = request->a + 1;
    reply->b = request->b + 1;
    reply->c = request->c + 1;
    return GYRE_REPLY;
}

GYRE_KERNEL(letter_handler, letter_new, reading_old)
{
    reply->a = request->a;
    reply->b = request->b;
    return GYRE_REPLY;
}
