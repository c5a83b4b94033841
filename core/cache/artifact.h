/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes artifacts (artifact.c). An artifact is a compiled kernel as one file: the backend's image (the
 * compiled code), a note (text lines that say what the image is), and a footer with sizes and a checksum. A loader of
 * images ignores bytes behind the image, so the artifact itself can be loaded.
 *
 * The cache keeps its entries as artifacts, and `gyre compile -o` writes one. Files appear whole or not at all. No
 * function trusts a file: whatever the file holds, the result is an artifact or an error's sentence. Threads: any.
 */
#ifndef GYRE_CORE_CACHE_ARTIFACT_H
#define GYRE_CORE_CACHE_ARTIFACT_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/status.h"

/** An artifact, read into memory that belongs to it. */
struct gyre_artifact {
    const unsigned char *map; /* image, note, footer */
    size_t map_size, image_size, note_size;
};

/**
 * Reads and checks a file. NOT_FOUND, UNAVAILABLE or EXHAUSTED when the file cannot be read, which says nothing about
 * what is in it; INVALID when it is no artifact, FAILED when it is a damaged artifact. The caller calls gyre_artifact_close, also after a failure.
 */
gyre_status gyre_artifact_open(const char *path, struct gyre_artifact *artifact);
/**
 * Reads a file that a backend's compiler wrote, as an artifact without a note. The caller calls gyre_artifact_close.
 */
gyre_status gyre_artifact_open_image(const char *path, struct gyre_artifact *artifact);
void gyre_artifact_close(struct gyre_artifact *artifact);

/**
 * Makes the checks of gyre_artifact_open for bytes in memory. `path`: for error messages. *artifact points into
 * `bytes`.
 */
gyre_status gyre_artifact_parse(const char *path, const void *bytes, size_t size,
                                struct gyre_artifact *artifact);

/** Whether the bytes end with the mark of an artifact's footer. */
bool gyre_artifact_is_marked(const unsigned char *bytes, size_t size);

/**
 * Copies the VALUE of the note's first line "KEY VALUE" for this key, cut to `size` bytes. False, and "", without
 * such a line.
 */
bool gyre_artifact_note(const struct gyre_artifact *artifact, const char *key, char *value, size_t size);

/**
 * Iterates over the note's lines "KEY VALUE" for this key. The caller starts with *at = 0. The value is not
 * NUL-terminated. False at the end.
 */
bool gyre_artifact_note_next(const struct gyre_artifact *artifact, const char *key, size_t *at,
                             const char **value, size_t *length);

/**
 * Writes the artifact `path` from an image and a note (whole lines), through a temporary file beside it. FAILED with
 * the system's reason. EXHAUSTED when the disk is full or memory is short.
 */
gyre_status gyre_artifact_write(const char *path, const void *image, size_t image_size, const char *note);

#endif
