/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a unit includes, as the backends read them whose compilers get or list them. No state, any thread. */
#ifndef GYRE_DEVICE_TEXT_H
#define GYRE_DEVICE_TEXT_H

/**
 * A regular file's text, ending with NUL; NULL with errno set. For free. Does not wait for a pipe. A file that tells no
 * size, as those of /proc, is read to its end: EFBIG when that is beyond 4 MiB.
 */
char *device_text_read(const char *path);

#endif
