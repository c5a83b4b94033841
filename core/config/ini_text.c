/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads configuration files and checks their bytes before the parser sees them (ini_text.h). Bytes that a C string cannot
 * hold or an editor does not show are refused here, with their place. Never waits for a file such as a FIFO or a device.
 */
#include "core/config/ini_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "gyre/lack.h"

static bool is_null_device(const struct stat *info)
{
    return S_ISCHR(info->st_mode) && info->st_rdev == makedev(1, 3);
}

static gyre_status judge_kind(const char *path, const struct stat *info)
{
    if (S_ISDIR(info->st_mode))
        return gyre_error_set(GYRE_CONFIG, "%s: is a directory; expected a configuration file", path);
    if (!S_ISREG(info->st_mode) && !is_null_device(info))
        return gyre_error_set(GYRE_CONFIG, "%s: is neither a regular file nor the null device", path);
    return GYRE_OK;
}

static gyre_status cannot_read(const char *path)
{
    if (errno == ENOENT || errno == ENOTDIR)
        return gyre_error_set(GYRE_NOT_FOUND, "%s: there is no such file", path);
    return gyre_error_set(gyre_lack_status(errno, GYRE_CONFIG), "%s: cannot be read: %s%s", path,
                          strerror(errno), gyre_lack_remedy(errno));
}

static gyre_status read_open_file(const char *path, int descriptor, char **out, size_t *size)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0)
        return cannot_read(path);
    gyre_status status = judge_kind(path, &info);
    if (status != GYRE_OK)
        return status;
    size_t room = gyre_file_room((size_t)info.st_size, GYRE_INI_SIZE_MAX);
    char *bytes = malloc(room + 1);
    if (!bytes)
        return gyre_error_set(GYRE_EXHAUSTED, "%s: no memory to read it", path);
    ssize_t used = gyre_file_read(descriptor, bytes, room); /* a file that grows meanwhile is cut */
    if (used < 0)
        status = cannot_read(path);
    else if (used > GYRE_INI_SIZE_MAX)
        status = gyre_error_set(GYRE_CONFIG,
                                "%s: is longer than %d bytes, which are the limit of a configuration file",
                                path, GYRE_INI_SIZE_MAX);
    if (status != GYRE_OK) {
        free(bytes);
        return status;
    }
    bytes[used] = '\0';
    *out = bytes;
    *size = (size_t)used;
    return GYRE_OK;
}

gyre_status gyre_ini_text_read(const char *path, char **out, size_t *size)
{
    *out = NULL;
    *size = 0;
    /* O_NONBLOCK: the open of a FIFO without a writer returns at once; then the FIFO is refused, being no regular file. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return cannot_read(path);
    gyre_status status = read_open_file(path, descriptor, out, size);
    close(descriptor);
    return status;
}

size_t gyre_ini_text_mark(const char *bytes, size_t size)
{
    return size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

static bool is_control(unsigned char c)
{
    return (c < 0x20 && c != '\t') || c == 0x7F;
}

/* Why the character at `at` is not allowed; NULL when it is allowed. */
static const char *letter_complaint(const unsigned char *at, size_t left)
{
    if (*at == '\n' || (*at == '\r' && left > 1 && at[1] == '\n'))
        return NULL;
    if (*at == '\0')
        return "is a NUL byte: is this a text file?";
    if (*at == '\r')
        return "is a carriage return without a line feed; end lines with LF or CRLF";
    if (is_control(*at))
        return "is a control character; remove it";
    return gyre_text_character(at, left) ? NULL : "is not UTF-8; save the file as UTF-8";
}

gyre_status gyre_ini_text_check(const char *path, const char *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes, *end = at + size, *line_start = at;
    int line = 1;
    while (at < end) {
        size_t left = (size_t)(end - at);
        const char *what = letter_complaint(at, left);
        if (what)
            return gyre_error_set(GYRE_CONFIG, "%s:%d: byte 0x%02X in column %lld %s", path, line, *at,
                                  (long long)(at - line_start + 1), what);
        if (*at == '\n') {
            line++;
            line_start = at + 1;
        }
        at += gyre_text_character(at, left);
    }
    return GYRE_OK;
}

int gyre_ini_text_is_clean(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t left = strlen(text);
    while (left > 0) {
        size_t length = gyre_text_character(at, left);
        if (length == 0 || is_control(*at))
            return 0;
        at += length;
        left -= length;
    }
    return 1;
}
