/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage generate: makes the translation unit (unit.h). The user's text goes into the unit unchanged, behind a #line
 * that names the user's file. So the compiler gets the text that was read and hashed, and messages and debuggers name
 * the user's lines.
 */
#include "core/pipeline/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes a path as a C string literal. */
static void write_quoted(FILE *out, const char *path)
{
    fputc('"', out);
    for (; *path; path++) {
        if (*path == '"' || *path == '\\')
            fputc('\\', out);
        fputc(*path, out);
    }
    fputc('"', out);
}

/* Whether the file declares kernels with ports, so that its kernels can be stages of a pipeline. */
static bool has_ports(const struct gyre_source *source)
{
    return memmem(source->text, source->size, "GYRE_PORTS", strlen("GYRE_PORTS")) != NULL;
}

/* Whether the file declares keyed actors, which GPUs compile another way. */
static bool has_keys(const struct gyre_source *source)
{
    return memmem(source->text, source->size, "GYRE_KEYED_ACTOR", strlen("GYRE_KEYED_ACTOR")) != NULL;
}

char *gyre_unit_text(const struct gyre_source *source)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    if (has_ports(source))
        fputs("#define GYRE_STAGE 1\n", out);
    if (has_keys(source))
        fputs("#define GYRE_KEYED 1\n", out);
    fputs("#line 1 ", out);
    write_quoted(out, source->path);
    fputc('\n', out);
    fwrite(source->text, 1, source->size, out);
    fputs("\n#ifndef GYRE_KERNEL_H\n#line 1 ", out);
    write_quoted(out, source->path);
    fputs("\n#error \"no kernel in it: a kernel file includes <gyre/kernel.h>\"\n"
          "#else\n#line 1 \"<gyre>\"\nGYRE_EXPORT_KERNELS_\n#endif\n",
          out);
    bool fine = !ferror(out);
    if (fclose(out) != 0 || !fine) {
        free(text);
        return NULL;
    }
    return text;
}
