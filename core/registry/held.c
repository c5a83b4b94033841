/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the verdicts of backends that this process uses (held.h). One lock, around the list. The list only grows, by
 * one verdict for each backend that is used.
 */
#include "core/registry/held.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct held {
    struct held *next;
    struct gyre_verdict verdict;
    size_t size;
    char key[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct held *first;

/* Makes the key of a verdict: the library's path, then the key and value of each parameter. NULL without memory. */
static char *make_key(const char *library, const gyre_parameter *parameters, size_t count, size_t *size)
{
    *size = strlen(library) + 1;
    for (size_t i = 0; i < count; i++)
        *size += strlen(parameters[i].key) + strlen(parameters[i].value) + 2;
    char *key = malloc(*size), *at = key;
    if (!key)
        return NULL;
    at = stpcpy(at, library) + 1;
    for (size_t i = 0; i < count; i++) {
        at = stpcpy(at, parameters[i].key) + 1;
        at = stpcpy(at, parameters[i].value) + 1;
    }
    return key;
}

static const struct held *find(const char *key, size_t size)
{
    for (const struct held *held = first; held; held = held->next)
        if (held->size == size && memcmp(held->key, key, size) == 0)
            return held;
    return NULL;
}

void gyre_held_add(const char *library, const gyre_parameter *parameters, size_t count,
                   const struct gyre_verdict *verdict)
{
    size_t size;
    char *key = make_key(library, parameters, count, &size);
    struct held *held = key ? malloc(sizeof *held + size) : NULL;
    pthread_mutex_lock(&lock);
    if (held && !find(key, size)) {
        held->next = first;
        held->verdict = *verdict;
        held->size = size;
        memcpy(held->key, key, size);
        first = held;
        held = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(held);
    free(key);
}

bool gyre_held_find(const char *library, const gyre_parameter *parameters, size_t count,
                    struct gyre_verdict *verdict)
{
    size_t size;
    char *key = make_key(library, parameters, count, &size);
    if (!key)
        return false;
    pthread_mutex_lock(&lock);
    const struct held *held = find(key, size);
    if (held)
        *verdict = held->verdict;
    pthread_mutex_unlock(&lock);
    free(key);
    return held != NULL;
}
