/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled kernel as one file: the backend's image, a note (text lines that say what it is), and a footer
 * with sizes and a checksum. Loaders of images ignore what follows them, so the file itself can be loaded.
 *
 * The cache keeps its entries in this form, and `gyre compile -o` writes it. Files appear whole or not at
 * all. Nothing here trusts a file: whatever it holds, the answer is an artifact or a sentence. Threads: any.
 */
#ifndef GYRE_CORE_CACHE_ARTIFACT_H
#define GYRE_CORE_CACHE_ARTIFACT_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/status.h"

/** An artifact, read into memory of its own. */
struct gyre_artifact {
    const unsigned char *map; /* image, note, footer */
    size_t map_size, image_size, note_size;
};

/**
 * Maps and checks a file. NOT_FOUND or FAILED when it cannot be read, INVALID when it is no artifact,
 * FAILED when it is one and is damaged. Close with gyre_artifact_close, also after a failure.
 */
gyre_status gyre_artifact_open(const char *path, struct gyre_artifact *artifact);
/** Maps a file that a backend's compiler wrote, as an artifact without a note. Close as above. */
gyre_status gyre_artifact_open_image(const char *path, struct gyre_artifact *artifact);
void gyre_artifact_close(struct gyre_artifact *artifact);

/** The same checks for bytes in memory; `path` is for messages. *artifact points into `bytes`. */
gyre_status gyre_artifact_parse(const char *path, const void *bytes, size_t size,
                                struct gyre_artifact *artifact);

/** Whether the bytes end as an artifact does. */
bool gyre_artifact_is_marked(const unsigned char *bytes, size_t size);

/**
 * The value of the note's first line "KEY VALUE", cut to `size` bytes. False and "" when there is none.
 */
bool gyre_artifact_note(const struct gyre_artifact *artifact, const char *key, char *value, size_t size);

/**
 * Iterates over all lines "KEY VALUE": start with *at = 0. The value is not NUL-terminated. False at the end.
 */
bool gyre_artifact_note_next(const struct gyre_artifact *artifact, const char *key, size_t *at,
                             const char **value, size_t *length);

/**
 * Writes `path` from an image and a note (whole lines), through a temporary file beside it. FAILED with the
 * system's reason; EXHAUSTED when the disk is full or memory is short.
 */
gyre_status gyre_artifact_write(const char *path, const void *image, size_t image_size, const char *note);

#endif
