/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reading of configuration files. What is accepted is written in the plainest form and read again:
 * the same sections, keys and values have to come out, and none may be longer than the file's lines. What is
 * refused must say where. Then every value is read as every type.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/config/ini_file.h"
#include "core/config/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static char *write_plainly(const struct gyre_ini_file *file, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    require(out != NULL);
    for (size_t i = 0; i < file->count; i++) {
        const struct gyre_ini_entry *entry = &file->entries[i];
        if (entry->key)
            fprintf(out, "%s=%s\n", entry->key, entry->value);
        else
            fprintf(out, "[%s]\n", entry->section);
    }
    require(fclose(out) == 0);
    return text;
}

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void check_round_trip(const struct gyre_ini_file *file, struct gyre_pool *pool)
{
    struct gyre_ini_file again;
    size_t size;
    char *text = write_plainly(file, &size);
    require(gyre_ini_file_parse("again", text, size, pool, &again) == GYRE_OK);
    require(again.count == file->count);
    for (size_t i = 0; i < file->count; i++) {
        require(same_text(again.entries[i].section, file->entries[i].section));
        require(same_text(again.entries[i].key, file->entries[i].key));
        require(same_text(again.entries[i].value, file->entries[i].value));
        require(again.entries[i].line == (int)i + 1);
    }
    free(text);
}

static void read_as_every_type(const char *text, struct gyre_pool *pool)
{
    const struct gyre_value_place place = {.folder = "/folder", .home = "/home"};
    size_t count;
    const struct gyre_config_row *rows = gyre_config_rows(&count);
    for (size_t i = 0; i < count; i++) {
        struct gyre_value value;
        gyre_status status = gyre_value_read(&rows[i], text, &place, pool, &value);
        require(status == GYRE_CONFIG || (status == GYRE_OK && value.text));
        require(status == GYRE_OK || strstr(gyre_error_text(), "; expected ") != NULL);
        if (status == GYRE_OK && rows[i].type != GYRE_VALUE_CHOICE && rows[i].min < rows[i].max)
            require(value.number >= rows[i].min && value.number <= rows[i].max);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gyre_pool pool = {.newest = NULL};
    struct gyre_ini_file file;
    gyre_status status = gyre_ini_file_parse("fuzz", (const char *)data, size, &pool, &file);
    require(status == GYRE_OK || status == GYRE_CONFIG);
    if (status == GYRE_CONFIG)
        require(strncmp(gyre_error_text(), "fuzz:", 5) == 0);
    else
        check_round_trip(&file, &pool);
    for (size_t i = 0; status == GYRE_OK && i < file.count; i++)
        if (file.entries[i].key)
            read_as_every_type(file.entries[i].value, &pool);
    gyre_pool_finish(&pool);
    return 0;
}
