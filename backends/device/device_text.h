/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the files that a unit includes, for the backends that hand them to a compiler or list them. No state;
 * any thread.
 */
#ifndef GYRE_DEVICE_TEXT_H
#define GYRE_DEVICE_TEXT_H

/**
 * Returns a regular file's text, ending with NUL; the caller frees it. NULL with errno set. Does not wait for
 * a pipe. A file that tells no size, as in /proc, is read to its end: EFBIG when that is beyond 4 MiB.
 */
char *device_text_read(const char *path);

#endif
