/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core's error stack, linked in its place: the same text, where the stack of a thread is the one that a fiber has. The text declares a
 * variable of its thread, `stack`, which becomes a pointer.
 */

#include "fibers.h"
#include "plain.h"

#define stack (*used_stack)
#include "core/base/error.c"
#undef stack

void errors_use(void *made)
{
    used_stack = made;
}

void *errors_make(void)
{
    return plain_calloc(1, sizeof(struct error_stack));
}

void errors_reset(void *made)
{
    struct error_stack *its = made;
    its->status = GYRE_OK;
    its->depth = its->holds = 0;
}
