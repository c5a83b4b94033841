/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of a keyed actor's keys (docs/keyed.md), for applications. Programs that attached to another one's kernel have
 * gyre_key_state_copy_get (attach.h). Threads, errors and stability as in gyre.h.
 */
#ifndef GYRE_KEYED_H
#define GYRE_KEYED_H

#include "gyre/gyre.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Copies the state of one key of a keyed actor, as gyre_kernel_state_read does. `key` points to the bytes of the key as a
 * request has them. NOT_FOUND when no message of this key came, or the key left; INVALID unless both sizes are those of the
 * kernel, or when the kernel has no keys.
 */
GYRE_API gyre_status gyre_kernel_key_read(gyre_kernel *kernel, const void *key, size_t key_size, void *state,
                                          size_t size);

/**
 * The same of a key that is a text: a whole number, an id128 like 00112233-4455-6677-8899-aabbccddeeff, or, for a key that is an
 * array of bytes, the text itself. INVALID also for a text that is no such key.
 */
GYRE_API gyre_status gyre_kernel_key_read_text(gyre_kernel *kernel, const char *key, void *state,
                                               size_t size);

#ifdef __cplusplus
}
#endif
#endif
