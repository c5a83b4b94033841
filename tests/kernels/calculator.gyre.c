/* SPDX-License-Identifier: Apache-2.0 */
/* switch with fall-through, 64-bit arithmetic, failures with codes of its own. */
#include <gyre/kernel.h>

#include "calculator.h"

enum operation { ADD, SUBTRACT, MULTIPLY, DIVIDE, REST, POWER, NEGATE_AND_ADD };
enum failure { UNKNOWN_OPERATION = 1, DIVISION_BY_ZERO = 2 };

GYRE_KERNEL(calculator, calculator_request, calculator_reply)
{
    i64 a = request->a, result = 0;
    u32 steps = 1;
    switch (request->operation) {
    case NEGATE_AND_ADD:
        a = -a;
        steps++;
        /* fall through */
    case ADD:
        result = a + request->b;
        break;
    case SUBTRACT:
        result = a - request->b;
        break;
    case MULTIPLY:
        result = a * request->b;
        break;
    case DIVIDE:
    case REST:
        if (request->b == 0)
            return gyre_fail(gyre, DIVISION_BY_ZERO, "division by zero");
        result = request->operation == DIVIDE ? a / request->b : a % request->b;
        break;
    case POWER: {
        u64 power = 1;
        for (i64 i = 0; i < request->b; i++, steps++)
            power *= (u64)a;
        result = (i64)power;
        break;
    }
    default:
        return gyre_fail(gyre, UNKNOWN_OPERATION, "unknown operation");
    }
    reply->result = result;
    reply->steps = steps;
    return GYRE_REPLY;
}
