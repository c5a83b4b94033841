/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of core/types share; nobody else includes it. */
#ifndef GYRE_CORE_TYPES_INTERNAL_H
#define GYRE_CORE_TYPES_INTERNAL_H

#include "core/types/types.h"

/** Memory that is freed as a whole. */
typedef struct gyre_arena gyre_arena;

gyre_arena *gyre_arena_create(void);
void gyre_arena_destroy(gyre_arena *arena);
/** Zeroed, aligned for any type; NULL without memory. */
void *gyre_arena_alloc(gyre_arena *arena, size_t size);
/** A NUL-terminated copy of the first `length` bytes; NULL without memory. */
char *gyre_arena_text(gyre_arena *arena, const char *text, size_t length);

/** A piece of text that is read from the front. */
typedef struct gyre_span {
    const char *at, *end;
} gyre_span;

void gyre_span_skip_spaces(gyre_span *span);
/** Takes the identifier at the front, after spaces; an empty span when there is none. */
gyre_span gyre_span_word(gyre_span *span);
/** True when `span` is exactly `text`. */
bool gyre_span_is(gyre_span span, const char *text);

/**
 * Evaluates a whole span as an integer expression of literals (decimal, octal, hexadecimal, with u and l
 * suffixes), + - * / % << >> and parentheses. NULL when it worked, else what is wrong with it, as the end of
 * a sentence.
 */
const char *gyre_expression_evaluate(gyre_span text, int64_t *value);

/** Layouts under construction in one arena. */
typedef struct gyre_layout_builder {
    gyre_arena *arena;
    uint64_t size_max;
    struct gyre_layout_node *nodes; /* those made so far: a type used twice has one layout */
} gyre_layout_builder;

/** The field being read, for sentences. */
typedef struct gyre_field_place {
    const char *type_name;
    uint32_t number; /* from 1 */
    gyre_span text;
} gyre_field_place;

gyre_status gyre_field_error(const gyre_field_place *place, const char *what);

/* parts.c */

/* the fields, and their types, that GYRE_MESSAGE_TAIL adds before and behind the user's */
#define GYRE_TAIL_USED  "gyre_used"
#define GYRE_TAIL_BYTES "gyre_tail"

/** "f32 span[]", the last of a part's fields: a field of the text, not of the struct. */
bool gyre_text_is_element(gyre_span text, gyre_shape *shape);
gyre_status gyre_element_build(gyre_layout_builder *builder, const gyre_field_place *place,
                               const gyre_type *type, unsigned depth, gyre_layout *layout);
/** Of the fields as they stand in the struct: takes out the two that GYRE_MESSAGE_TAIL added. */
gyre_status gyre_tail_take(gyre_layout *layout);

/** "order choice[]", "order gyre_wire[1259]": what a message may be, or carries; no field of the struct either. */
bool gyre_text_is_choice(gyre_span text, gyre_shape *shape);
gyre_status gyre_choice_build(gyre_layout_builder *builder, const gyre_field_place *place,
                              const gyre_type *type, unsigned depth, gyre_layout *layout);
/** Size and tail, once all choices are there. */
gyre_status gyre_choices_end(gyre_layout_builder *builder, const gyre_type *source, gyre_layout *layout);

gyre_status gyre_layout_build(gyre_layout_builder *builder, const gyre_type *type, unsigned depth,
                              gyre_layout **out);
/** Writes text and hash of a layout that has all else. */
gyre_status gyre_layout_describe(gyre_arena *arena, gyre_layout *layout);
/** The deep copy that the layout hands out; nested types are those of the nested layouts. */
gyre_status gyre_layout_copy_type(gyre_arena *arena, const gyre_type *source, gyre_layout *layout);
gyre_status gyre_types_out_of_memory(void);

#endif
