/* SPDX-License-Identifier: Apache-2.0 */
/* Values of words that messages may still find (cpu_stale.h). A word has a place by its address, and may lose it to another word. */
#include "backends/cpu/check/cpu_stale.h"

#include <stdlib.h>
#include <string.h>

#include "gyre/dialect/cpu_watch.h"

enum { WORDS_MAX = 4096, VALUES_MAX = 4, READERS_MAX = 8 };

/* A value that is there no more. */
struct value {
    uint64_t bytes, writer; /* writer: the message that put another one in its place */
};

/* A message that touched the word, and how many values it must not find any more. */
struct reader {
    uint64_t message, passed;
};

struct word {
    const void *at; /* NULL: none */
    uint64_t size;
    uint64_t count; /* of values that were replaced; the last ones are there, by number */
    struct value values[VALUES_MAX];
    struct reader readers[READERS_MAX];
    uint32_t next_reader;
    uint64_t forgotten; /* the latest message that lost its place among the readers */
};

struct cpu_stale {
    uint64_t state; /* of the numbers */
    uint64_t found;
    struct word words[WORDS_MAX];
};

struct cpu_stale *cpu_stale_create(uint64_t seed)
{
    struct cpu_stale *const stale = calloc(1, sizeof *stale);
    if (stale)
        stale->state = seed;
    return stale;
}

void cpu_stale_free(struct cpu_stale *stale)
{
    free(stale);
}

static uint64_t draw(struct cpu_stale *stale)
{
    uint64_t number = stale->state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

static struct word *place_of(struct cpu_stale *stale, const void *at)
{
    const uint64_t hash = (uint64_t)(uintptr_t)at / 4 * UINT64_C(0x9e3779b97f4a7c15);
    return &stale->words[hash >> 32 & (WORDS_MAX - 1)];
}

/* The message among the word's readers; NULL: it is not there. */
static struct reader *find_reader(struct word *word, uint64_t message)
{
    for (uint32_t i = 0; i < READERS_MAX; i++)
        if (word->readers[i].message == message)
            return &word->readers[i];
    return NULL;
}

/* The message found or wrote the value that so many were replaced before. */
static void pass(struct word *word, uint64_t message, uint64_t passed)
{
    struct reader *reader = find_reader(word, message);
    if (!reader) {
        reader = &word->readers[word->next_reader++ % READERS_MAX];
        if (reader->message > word->forgotten)
            word->forgotten = reader->message;
        reader->message = message;
    }
    reader->passed = passed;
}

static void write_word(struct word *word, const struct cpu_stale_message *message,
                       const struct cpu_touch *touch)
{
    if (word->at != touch->at || word->size != touch->size) {
        if (!(touch->how & GYRE_TOUCH_ATOMIC))
            return;
        *word = (struct word){.at = touch->at, .size = touch->size};
    }
    struct value *const value = &word->values[word->count++ % VALUES_MAX];
    value->bytes = 0;
    value->writer = message->number;
    memcpy(&value->bytes, touch->at, touch->size);
    pass(word, message->number, word->count);
}

static bool is_before(const struct cpu_stale_message *message, uint64_t writer)
{
    return writer == message->number || writer < message->since ||
           (message->follows && message->follows(message->who, writer));
}

/* The number of the oldest value that the message may find; that of the latest one is word->count. */
static uint64_t oldest(struct word *word, const struct cpu_stale_message *message)
{
    const struct reader *const reader = find_reader(word, message->number);
    if (!reader && message->number <= word->forgotten)
        return word->count;
    const uint64_t kept = word->count > VALUES_MAX ? word->count - VALUES_MAX : 0;
    const uint64_t least = reader && reader->passed > kept ? reader->passed : kept;
    uint64_t number = word->count;
    while (number > least && !is_before(message, word->values[(number - 1) % VALUES_MAX].writer))
        number--;
    return number;
}

static const void *load_word(struct cpu_stale *stale, struct word *word,
                             const struct cpu_stale_message *message)
{
    const uint64_t first = oldest(word, message), others = word->count - first;
    uint64_t number = word->count;
    if (others > 0 && draw(stale) % 2 == 0)
        number = first + draw(stale) % others;
    pass(word, message->number, number);
    if (number == word->count)
        return NULL;
    stale->found = word->values[number % VALUES_MAX].bytes;
    return &stale->found; /* little-endian: the first bytes are those of a smaller word */
}

const void *cpu_stale_touch(struct cpu_stale *stale, const struct cpu_stale_message *message,
                            const struct cpu_touch *touch)
{
    struct word *const word = place_of(stale, touch->at);
    if (touch->size > sizeof stale->found)
        return NULL;
    if (touch->how & GYRE_TOUCH_WRITES)
        write_word(word, message, touch);
    else if (touch->how & GYRE_TOUCH_ATOMIC && word->at == touch->at && word->size == touch->size)
        return load_word(stale, word, message);
    return NULL;
}
