/* SPDX-License-Identifier: Apache-2.0 */
/* Text work around the compiler: the files that it read, and its messages. Private to this folder; no state. */
#ifndef GYRE_CUDA_SOURCE_H
#define GYRE_CUDA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The files that one compile reads, each read once: a call into the file system may cost tens of microseconds. For one
 * thread. NULL without memory; NULL may be destroyed.
 */
struct cuda_files;
struct cuda_files *cuda_files_create(void);
void cuda_files_destroy(struct cuda_files *files);

/**
 * Gyre's own headers among the files read so far, by the names that are included ("gyre/kernel.h"), with their
 * texts; both are borrowed. Returns how many, `room` at most.
 */
size_t cuda_files_headers(const struct cuda_files *files, const char **names, const char **texts,
                          size_t room);

/**
 * Writes the files that `unit` includes, directly or not, to `list_path`, one a line, because NVRTC does not tell.
 * Goes by the #include lines alone, also by lines that conditions leave out: so it may list more files than were
 * read, never fewer. False with errno set when it cannot.
 */
bool cuda_dependencies_write(struct cuda_files *files, const char *unit, const char *unit_path,
                             const char *const *folders, const char *list_path);

/**
 * A digest of the text of all files that `unit` includes, found as above. False when one cannot be read or
 * none is found.
 */
bool cuda_includes_digest(struct cuda_files *files, const char *unit, const char *const *folders,
                          uint64_t *digest);

/** The log's first error as "FILE:LINE: text", cut; "" when there is none. */
void cuda_first_error(const char *log, char *sentence, size_t size);

#endif
