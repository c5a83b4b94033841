/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the sentences of case_run.c: "...:3: expected an answer, found {"failed":{"code":-20,"text":"total.gyre.c:17 and 14: race,
 * lanes 0 8"}}". A finding begins with its places, the smaller line being first in the key.
 */
#include "cli/cases/shrink_finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char FAILED[] = "found {\"failed\":{\"code\":-", TEXT[] = "\"text\":\"", DIFFERS[] = "expected ",
                  ORDER[] = ": in order ", SEED[] = ": with seed ";

/* Writes the places of a finding, "total.gyre.c:17 and 14", with the lines in order. */
static void write_places(const char *text, size_t length, char *key, size_t size)
{
    char places[SHRINK_FINDING_SIZE];
    snprintf(places, sizeof places, "%.*s", (int)length, text);
    char *colon = strchr(places, ':'), *both = strstr(places, " and ");
    if (!colon || !both || strchr(both, ':')) {
        snprintf(key, size, "%s", places);
        return;
    }
    const unsigned long one = strtoul(colon + 1, NULL, 10), other = strtoul(both + 5, NULL, 10);
    snprintf(key, size, "%.*s:%lu and %lu", (int)(colon - places), places, one < other ? one : other,
             one < other ? other : one);
}

/* The kind of a finding: its first word without a plural's s, and for races what races. */
static void write_kind(const char *text, char *key, size_t size)
{
    size_t length = strcspn(text, " ,\"");
    const char *second = text + length + strspn(text + length, " ,");
    const size_t second_length = strncmp(text, "race", 4) == 0 ? strcspn(second, " ,\"") : 0;
    length -= length > 1 && text[length - 1] == 's';
    snprintf(key, size, ": %.*s %.*s", (int)length, text, (int)second_length, second);
}

void shrink_finding_of(const char *said, char key[SHRINK_FINDING_SIZE])
{
    const char *failed = said ? strstr(said, FAILED) : NULL;
    const char *text = failed ? strstr(failed, TEXT) : NULL;
    key[0] = '\0';
    if (!text) { /* an answer that is not the expected one, whatever it is */
        if (said && strstr(said, DIFFERS) && strstr(said, " answers as expected"))
            snprintf(key, SHRINK_FINDING_SIZE, "%s",
                     strstr(said, ORDER) || strstr(said, SEED) ? "an answer that depends on the order"
                                                               : SHRINK_ANOTHER_ANSWER);
        return;
    }
    text += sizeof TEXT - 1;
    const size_t whole = strcspn(text, "\"");
    const char *kind = strstr(text, ": ");
    if (!kind || (size_t)(kind - text) >= whole) { /* cut: a long name of a file */
        snprintf(key, SHRINK_FINDING_SIZE, "%.*s", (int)whole, text);
        return;
    }
    write_places(text, (size_t)(kind - text), key, SHRINK_FINDING_SIZE);
    const size_t used = strlen(key);
    write_kind(kind + 2, key + used, SHRINK_FINDING_SIZE - used);
}
