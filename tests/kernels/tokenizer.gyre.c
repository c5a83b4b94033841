/* SPDX-License-Identifier: Apache-2.0 */
/* A state machine over bytes. */
#include <gyre/kernel.h>

#include "tokenizer.h"

enum token_kind { NO_TOKEN, WORD, NUMBER, STRING, SIGN };
enum machine_state { BETWEEN, IN_WORD, IN_NUMBER, IN_STRING, AFTER_BACKSLASH, BROKEN };

GYRE_HELPER int is_letter(u8 c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

GYRE_HELPER int is_digit(u8 c)
{
    return c >= '0' && c <= '9';
}

/* Where a character leads from between two tokens. */
GYRE_HELPER int start_state(u8 c)
{
    return is_letter(c) ? IN_WORD : is_digit(c) ? IN_NUMBER : c == '"' ? IN_STRING : BETWEEN;
}

GYRE_HELPER int next_state(int state, u8 c)
{
    switch (state) {
    case IN_WORD:
        return is_letter(c) || is_digit(c) ? IN_WORD : start_state(c);
    case IN_NUMBER:
        return is_digit(c) ? IN_NUMBER : is_letter(c) ? BROKEN : start_state(c);
    case IN_STRING:
        return c == '\\' ? AFTER_BACKSLASH : c == '"' ? BETWEEN : IN_STRING;
    case AFTER_BACKSLASH:
        return IN_STRING;
    default:
        return start_state(c);
    }
}

GYRE_HELPER u8 kind_of(int state)
{
    return state == IN_WORD ? WORD : state == IN_NUMBER ? NUMBER : state == IN_STRING ? STRING : SIGN;
}

GYRE_KERNEL(tokenizer, tokenizer_request, tokenizer_reply)
{
    int state = BETWEEN;
    u32 count = 0;
    i64 total = 0, number = 0;
    if (request->length > 120)
        return gyre_fail(gyre, 1, "longer than its array");
    for (u32 i = 0; i < 24; i++) {
        reply->tokens[i].kind = NO_TOKEN;
        reply->tokens[i].start = 0;
        reply->tokens[i].length = 0;
    }
    reply->bad_at = 0;
    for (u32 i = 0; i < request->length; i++) {
        const u8 c = request->text[i];
        const int before = state;
        state = next_state(before, c);
        if (state == BROKEN) {
            reply->bad_at = i;
            break;
        }
        const int in_string = before == IN_STRING || before == AFTER_BACKSLASH;
        const int begins = !in_string && state != before && state != BETWEEN;
        const int is_sign = !in_string && state == BETWEEN && c > ' ';
        if (before == IN_NUMBER && state != IN_NUMBER)
            total += number;
        if ((begins || is_sign) && count < 24) {
            reply->tokens[count].kind = is_sign ? (u8)SIGN : kind_of(state);
            reply->tokens[count].start = (u8)i;
            reply->tokens[count].length = 1;
            count++;
            number = 0;
        } else if (count > 0 && (state != BETWEEN || in_string)) {
            reply->tokens[count - 1].length++;
        }
        if (state == IN_NUMBER)
            number = number * 10 + (c - '0');
    }
    reply->total = state == IN_NUMBER ? total + number : total;
    reply->count = count;
    return GYRE_REPLY;
}
