/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a kernel file, read by its words: which names it declares at file scope, how it declares a kernel, and the same text with
 * other names. For a file that has to stand behind another one in one unit (canary_unit.h).
 */
#ifndef GYRE_CORE_PIPELINE_CANARY_TEXT_H
#define GYRE_CORE_PIPELINE_CANARY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** What names get in front that would be declared twice. */
#define GYRE_CANARY_PREFIX "gyre_next_"

enum { GYRE_CANARY_ARGUMENTS = 8, GYRE_CANARY_WORD = 128 };

/** How a kernel is declared: the macro and its arguments, as they stand in the file. */
struct gyre_canary_declaration {
    char macro[GYRE_CANARY_WORD];
    char arguments[GYRE_CANARY_ARGUMENTS][GYRE_CANARY_WORD];
    size_t count;
};

/** A file's text, divided into words and signs. */
struct gyre_canary_text;

/** NULL without memory. The text stays the caller's, and has to live as long. */
struct gyre_canary_text *gyre_canary_text_create(const char *text, size_t size);
/** Accepts NULL. */
void gyre_canary_text_destroy(struct gyre_canary_text *text);

/** Finds the declaration of a kernel. False: it is not declared in this text, or has too many or too long arguments. */
bool gyre_canary_text_find(const struct gyre_canary_text *text, const char *kernel,
                           struct gyre_canary_declaration *out);
/** Whether the text declares `name` at file scope. */
bool gyre_canary_text_declares(const struct gyre_canary_text *text, const char *name);

/** How a word stands in a text: several may hold. */
enum {
    GYRE_CANARY_DEFINED = 1, /**< #define and #undef of it */
    GYRE_CANARY_TESTED = 2,  /**< in a line of #if, #ifdef, #ifndef, #elif */
    GYRE_CANARY_EARLY = 4    /**< before the last #include */
};

/** Calls `see` for each word of the text that a macro could stand for, those of #include lines not. False ends it, and is returned. */
bool gyre_canary_text_each_word(const struct gyre_canary_text *text,
                                bool (*see)(void *context, const char *word, size_t length, unsigned how),
                                void *context);
/**
 * Calls `see` for each #include with the name and the sign before it: '"' or '<', or 0 for a line whose file only the compiler knows. False
 * ends it, and is returned.
 */
bool gyre_canary_text_each_include(const struct gyre_canary_text *text,
                                   bool (*see)(void *context, const char *name, size_t length, char sign),
                                   void *context);
/** Bytes before the last #include; 0: there is none. */
size_t gyre_canary_text_early_size(const struct gyre_canary_text *text);
/** Writes lines that do not compile where a macro exists already that the text defines or takes away. */
void gyre_canary_text_forbid(const struct gyre_canary_text *text, FILE *out);
/** Writes `#undef` for each macro that the text defines. */
void gyre_canary_text_undefine(const struct gyre_canary_text *text, FILE *out);
/** Writes the text with GYRE_CANARY_PREFIX in front of each name that it declares at file scope. Lines stay where they are. */
void gyre_canary_text_rename(const struct gyre_canary_text *text, FILE *out);

#endif
