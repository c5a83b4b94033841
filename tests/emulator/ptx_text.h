/* SPDX-License-Identifier: Apache-2.0 */
/* PTX as a row of tokens, and the place of the first mistake. Private to this folder. */
#ifndef GYRE_TESTS_EMULATOR_PTX_TEXT_H
#define GYRE_TESTS_EMULATOR_PTX_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_kind {
    PTX_END,
    PTX_WORD, /* names, opcodes with their dots, directives, registers */
    PTX_NUMBER,
    PTX_MARK, /* one character */
    PTX_STRING
};

struct ptx_token {
    enum ptx_kind kind;
    const char *text;
    uint32_t length, line;
    uint64_t value; /* of a number: the bits */
};

struct ptx_reader {
    const char *at;
    uint32_t line;
    uint32_t begun;       /* line of the item that is read: what mistakes tell */
    struct ptx_token now; /* not taken yet */
    char *error;
    size_t error_size;
    bool failed;
};

void ptx_begin(struct ptx_reader *reader, const char *text, char *error, size_t error_size);
void ptx_next(struct ptx_reader *reader);
/** The first mistake counts: afterwards there are no more tokens. Returns false. */
__attribute__((format(printf, 2, 3))) bool ptx_fail(struct ptx_reader *reader, const char *format, ...);

bool ptx_token_is(const struct ptx_token *token, const char *text);
bool ptx_is(const struct ptx_reader *reader, const char *text);
/** Takes the token when it is this one. */
bool ptx_take(struct ptx_reader *reader, const char *text);
/** ... and fails when it is not. */
bool ptx_expect(struct ptx_reader *reader, const char *text);
/** A number with its sign, or a mistake. */
uint64_t ptx_number(struct ptx_reader *reader);
/** A copy of a word, or NULL and a mistake. */
char *ptx_name(struct ptx_reader *reader);
/** Past the next ';', or to the end of this line. */
void ptx_skip_statement(struct ptx_reader *reader);
void ptx_skip_line(struct ptx_reader *reader);

#endif
