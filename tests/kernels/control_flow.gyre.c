/* SPDX-License-Identifier: Apache-2.0 */
/* Every loop and jump of C. */
#include <gyre/kernel.h>

#include "control_flow.h"

/* while, with a conditional expression */
GYRE_HELPER u32 collatz(u32 n)
{
    u32 turns = 0;
    while (n > 1 && turns < 1000) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        turns++;
    }
    return turns;
}

GYRE_HELPER u32 gcd(u32 a, u32 b)
{
    while (b) {
        const u32 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* for in for, with continue and break */
GYRE_HELPER u32 count_primes(u32 limit)
{
    u32 found = 0;
    for (u32 n = 2; n < limit; n++) {
        if (n > 2 && n % 2 == 0)
            continue;
        u32 divisor = 3;
        for (; divisor * divisor <= n; divisor += 2)
            if (n % divisor == 0)
                break;
        if (divisor * divisor > n)
            found++;
    }
    return found;
}

/* goto leaves two loops at once */
GYRE_HELPER u32 first_pair(u32 product)
{
    u32 a, b = 0;
    for (a = 2; a < 50; a++)
        for (b = a; b < 50; b++)
            if (a * b == product)
                goto found;
    return 0;
found:
    return a * 100 + b;
}

/* do, which runs at least once */
GYRE_HELPER u32 count_digits(u32 n)
{
    u32 digits = 0;
    do {
        digits++;
        n /= 10;
    } while (n > 0);
    return digits;
}

GYRE_KERNEL(control_flow, flow_request, flow_reply)
{
    u32 low = 0, high = 65536;
    reply->collatz = collatz(request->n);
    reply->gcd = gcd(request->n, request->limit);
    reply->primes = count_primes(request->limit);
    reply->pairs = first_pair(request->limit);
    reply->digits = count_digits(request->n);
    for (;;) {
        const u32 middle = (low + high) / 2;
        if (middle == low)
            break;
        if ((u64)middle * middle <= request->n)
            low = middle;
        else
            high = middle;
    }
    reply->root = low;
    return GYRE_REPLY;
}
