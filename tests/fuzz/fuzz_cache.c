/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the readers of compiled kernel files: the whole file, and, because a checksum keeps most inputs from
 * getting further, the note behind it on its own.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/cache/artifact.h"
#include "core/cache/dependencies.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void read_file(const uint8_t *data, size_t size)
{
    struct gyre_artifact artifact;
    gyre_error_clear();
    gyre_status status = gyre_artifact_parse("fuzz", data, size, &artifact);
    check((status == GYRE_OK) == (gyre_error_cause()[0] == '\0'));
    check(status != GYRE_OK || artifact.image_size + artifact.note_size < size);
    check(status != GYRE_OK || gyre_artifact_is_marked(data, size));
}

static void read_note(const uint8_t *data, size_t size)
{
    const struct gyre_artifact artifact = {.map = data, .map_size = size, .note_size = size};
    const char *value;
    size_t at = 0, length;
    char text[16];
    while (gyre_artifact_note_next(&artifact, "file", &at, &value, &length))
        check((const uint8_t *)value + length <= data + size);
    if (gyre_artifact_note(&artifact, "source", text, sizeof text))
        check(strlen(text) < sizeof text);
    gyre_dependencies_unchanged(&artifact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_file(data, size);
    read_note(data, size);
    return 0;
}
