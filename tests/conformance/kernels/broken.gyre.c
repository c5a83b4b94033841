/* SPDX-License-Identifier: Apache-2.0 */
/* Does not compile: line 7 uses what nobody declared. */
#include <gyre/kernel.h>

GYRE_KERNEL(broken, u32, u32)
{
    *reply = undeclared_thing + *request;
    return GYRE_REPLY;
}
