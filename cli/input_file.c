/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

FILE *input_file_open(const char *what, const char *path, uint64_t *size)
{
    struct stat info;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
    if (!file || fstat(descriptor, &info) != 0) {
        cli_error(CLI_FAILED, "%s file '%s': %s", what, path, strerror(errno));
    } else if (!S_ISREG(info.st_mode)) {
        cli_error(CLI_FAILED, "%s file '%s': expected a regular file, found something else", what, path);
    } else {
        *size = (uint64_t)info.st_size;
        return file;
    }
    if (file)
        fclose(file);
    return NULL;
}
