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

void gyre_unit_quote(FILE *out, const char *path)
{
    fputc('"', out);
    for (; *path; path++) {
        if (*path == '"' || *path == '\\')
            fputc('\\', out);
        fputc(*path, out);
    }
    fputc('"', out);
}

static bool has_word(const struct gyre_source *source, const char *word)
{
    return memmem(source->text, source->size, word, strlen(word)) != NULL;
}

/* Says what of the dialect the file has that GPUs compile another way: a kernel without it holds no trace of it. */
static void write_words(const struct gyre_source *source, FILE *out)
{
    const bool again = has_word(source, "GYRE_MORE"), flows = has_word(source, "GYRE_FLOW");
    if (again || flows || has_word(source, "GYRE_PORTS"))
        fputs("#define GYRE_STAGE 1\n", out);
    if (again)
        fputs("#define GYRE_AGAIN 1\n", out);
    if (flows)
        fputs("#define GYRE_FLOWS 1\n", out);
    if (has_word(source, "GYRE_PORTS_WITH_ASKS"))
        fputs("#define GYRE_ASKS 1\n", out);
    if (has_word(source, "GYRE_KEYED_ACTOR"))
        fputs("#define GYRE_KEYED 1\n", out);
    if (has_word(source, "GYRE_GRID_KERNEL"))
        fputs("#define GYRE_GRID 1\n", out);
}

char *gyre_unit_text(const struct gyre_source *source)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    write_words(source, out);
    fputs("#line 1 ", out);
    gyre_unit_quote(out, source->path);
    fputc('\n', out);
    fwrite(source->text, 1, source->size, out);
    fputs("\n#ifndef GYRE_KERNEL_H\n#line 1 ", out);
    gyre_unit_quote(out, source->path);
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
