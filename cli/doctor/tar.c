/* SPDX-License-Identifier: Apache-2.0 */
/* Builds archives in memory (tar.h). A file is a block of 512 bytes with numbers as octal text, and its bytes in whole blocks. */
#include "cli/doctor/tar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, NAME_MAX_LETTERS = 99, SUM_AT = 148, SUM_SIZE = 8 };
#define FILE_MAX (UINT64_C(1) << 33) /* the size has eleven octal digits */

/* Places of a file's head. */
enum {
    MODE_AT = 100,
    OWNER_AT = 108,
    GROUP_AT = 116,
    SIZE_AT = 124,
    TIME_AT = 136,
    KIND_AT = 156,
    MAGIC_AT = 257
};

/* Adds zeroed bytes. NULL without memory. */
static unsigned char *grow(cli_tar *tar, size_t size)
{
    unsigned char *grown = realloc(tar->bytes, tar->size + size);
    if (!grown)
        return NULL;
    unsigned char *added = memset(grown + tar->size, 0, size);
    tar->bytes = grown;
    tar->size += size;
    return added;
}

static void put_octal(unsigned char *place, int digits, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%0*llo", digits, (unsigned long long)number);
    memcpy(place, text, (size_t)digits);
}

static void put_sum(unsigned char *head)
{
    unsigned sum = 0;
    memset(head + SUM_AT, ' ', SUM_SIZE);
    for (int i = 0; i < BLOCK; i++)
        sum += head[i];
    put_octal(head + SUM_AT, 6, sum);
    head[SUM_AT + 6] = '\0';
}

bool cli_tar_add(cli_tar *tar, const char *name, const void *bytes, size_t size)
{
    const size_t length = strlen(name);
    if (length > NAME_MAX_LETTERS || size >= FILE_MAX)
        return false;
    unsigned char *head = grow(tar, BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK);
    if (!head)
        return false;
    memcpy(head, name, length);
    put_octal(head + MODE_AT, 7, 0600);
    put_octal(head + OWNER_AT, 7, 0);
    put_octal(head + GROUP_AT, 7, 0);
    put_octal(head + SIZE_AT, 11, size);
    put_octal(head + TIME_AT, 11, tar->seconds);
    head[KIND_AT] = '0';
    memcpy(head + MAGIC_AT,
           "ustar\0"
           "00",
           8);
    put_sum(head);
    if (size)
        memcpy(head + BLOCK, bytes, size);
    return true;
}

bool cli_tar_end(cli_tar *tar)
{
    return grow(tar, (size_t)2 * BLOCK) != NULL;
}

void cli_tar_finish(cli_tar *tar)
{
    free(tar->bytes);
    *tar = (cli_tar){0};
}
