/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks the dialect: a function that calls itself, which is the end of PoCL's compiler. */
#include <gyre/kernel.h>

GYRE_HELPER u64 fibonacci(u64 n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

GYRE_KERNEL(recursive, u64, u64)
{
    *reply = fibonacci(*request);
    return GYRE_REPLY;
}
