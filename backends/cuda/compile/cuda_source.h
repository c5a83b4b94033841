/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text around the CUDA compiler: the files that it read, and its messages. Private to this folder; no global
 * state.
 */
#ifndef GYRE_CUDA_SOURCE_H
#define GYRE_CUDA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The files that one compile reads, each read once, because a call into the file system may cost tens of
 * microseconds. One thread uses them. cuda_files_create returns NULL without memory; cuda_files_destroy
 * accepts NULL.
 */
struct cuda_files;
struct cuda_files *cuda_files_create(void);
void cuda_files_destroy(struct cuda_files *files);

/**
 * Lists Gyre's own headers among the files read so far: the names by which they are included
 * ("gyre/kernel.h") and their texts. Both stay owned by `files`. Returns how many there are, at most `room`.
 */
size_t cuda_files_headers(const struct cuda_files *files, const char **names, const char **texts,
                          size_t room);

/**
 * Writes the files that `unit` includes, directly or not, to `list_path`, one a line, because NVRTC has no
 * such list. Goes by the #include lines alone, even those that conditions leave out. So it may list more
 * files than the compiler read, never fewer. False with errno set when it fails.
 */
bool cuda_dependencies_write(struct cuda_files *files, const char *unit, const char *unit_path,
                             const char *const *folders, const char *list_path);

/**
 * Computes a digest of the text of all files that `unit` includes, directly or not. False when a file cannot
 * be read or `unit` includes none.
 */
bool cuda_includes_digest(struct cuda_files *files, const char *unit, const char *const *folders,
                          uint64_t *digest);

/** Writes the log's first error as "FILE:LINE: text", cut to `size`; "" when the log has no error. */
void cuda_first_error(const char *log, char *sentence, size_t size);

#endif
