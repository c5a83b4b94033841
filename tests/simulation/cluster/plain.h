/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's own memory, which belongs to no process of the simulation; the calls of the core go to calls.c. */
#ifndef GYRE_TESTS_CLUSTER_PLAIN_H
#define GYRE_TESTS_CLUSTER_PLAIN_H

#include <stddef.h>

struct kept_block;

/** As calloc and realloc; end the program without memory. */
void *plain_calloc(size_t count, size_t size);
void *plain_resize(void *memory, size_t size);
void plain_free(void *memory);
/** Frees the first block of a process's list. */
void plain_free_first(struct kept_block **list);

#endif
