/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Composes the unit of a canary (canary_unit.h): the text of the file that works, unchanged; the text of the new file, whose names get a
 * prefix; and a kernel of the old one's types that calls one of the two handlers for each message. Has no state.
 */
#include "core/pipeline/canary_unit.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/pipeline/canary_included.h"
#include "core/pipeline/canary_text.h"
#include "core/pipeline/pipeline.h"
#include "core/pipeline/unit.h"

struct composition {
    const struct gyre_canary_unit *unit;
    struct gyre_source *source; /* the new file */
    struct gyre_canary_text *old_text, *new_text;
    struct gyre_canary_declaration was, is;
};

/* ---- what both include ---- */

static gyre_status check_included(const struct composition *composition)
{
    const struct gyre_canary_unit *unit = composition->unit;
    const struct gyre_source *source = composition->source;
    return gyre_canary_check_included(&(struct gyre_canary_pair){.old_path = unit->path,
                                                                 .old_folder = unit->folder,
                                                                 .old_text = unit->text,
                                                                 .old_words = composition->old_text,
                                                                 .new_path = source->path,
                                                                 .new_folder = source->folder,
                                                                 .new_text = source->text,
                                                                 .new_words = composition->new_text});
}

/* ---- which kernels may have one ---- */

static bool is_none(const char *type)
{
    return strcmp(type, "gyre_none") == 0;
}

static bool is_keyed(const struct gyre_canary_declaration *declaration)
{
    return strcmp(declaration->macro, "GYRE_KEYED_ACTOR") == 0;
}

static bool is_block(const struct gyre_canary_declaration *declaration)
{
    return strncmp(declaration->macro, "GYRE_BLOCK_KERNEL", 17) == 0;
}

/* A kernel's argument; `gyre_none` where its form does not have it. */
static const char *argument(const struct gyre_canary_declaration *declaration, size_t index)
{
    return index < declaration->count ? declaration->arguments[index] : "gyre_none";
}

static const char *scratch_of(const struct gyre_canary_declaration *declaration)
{
    return is_block(declaration) ? argument(declaration, 3) : "gyre_none";
}

static const char *state_of(const struct gyre_canary_declaration *declaration)
{
    return argument(declaration, is_block(declaration) ? 4 : 3);
}

static const char *buffers_of(const struct gyre_canary_declaration *declaration)
{
    return is_keyed(declaration) ? "gyre_none" : argument(declaration, is_block(declaration) ? 5 : 4);
}

static gyre_status find_declarations(struct composition *composition)
{
    const struct gyre_canary_unit *unit = composition->unit;
    const bool was = gyre_canary_text_find(composition->old_text, unit->kernel, &composition->was);
    if (was && gyre_canary_text_find(composition->new_text, unit->next, &composition->is))
        return GYRE_OK;
    return gyre_error_set(
        GYRE_UNIMPLEMENTED,
        "kernel '%s' is not declared in the text of '%s' itself, as a canary needs it: swap without a canary",
        was ? unit->next : unit->kernel, was ? composition->source->path : unit->path);
}

static gyre_status check_forms(const struct composition *composition)
{
    static const char *const known[] = {"GYRE_KERNEL", "GYRE_KERNEL_WITH", "GYRE_BLOCK_KERNEL",
                                        "GYRE_BLOCK_KERNEL_WITH", "GYRE_KEYED_ACTOR"};
    const struct gyre_canary_declaration *was = &composition->was, *is = &composition->is;
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        is_known |= strcmp(was->macro, known[i]) == 0;
    if (!is_known && strcmp(was->macro, is->macro) == 0)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' is declared with %s, whose kernels have no canary: expected GYRE_KERNEL, GYRE_BLOCK_KERNEL (also _WITH "
            "buffers) or GYRE_KEYED_ACTOR; swap without one",
            composition->unit->kernel, was->macro);
    if (!is_known || strcmp(was->macro, is->macro) != 0)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' is declared with %s, and in the new file with %s: kernels declared alike with GYRE_KERNEL, "
            "GYRE_BLOCK_KERNEL (also _WITH buffers) or GYRE_KEYED_ACTOR have canaries; swap without one",
            composition->unit->kernel, was->macro, is->macro);
    if (!is_keyed(was) && (!is_none(state_of(was)) || !is_none(state_of(is))))
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' keeps one state for all messages, and two handlers would write it: swap without a canary (`--rollback` "
            "brings the old handler back), or make it a keyed actor",
            composition->unit->kernel);
    return GYRE_OK;
}

/* ---- the kernel that calls both ---- */

/* What the new file calls `name`. */
static void write_next(const struct composition *composition, FILE *out, const char *name)
{
    fprintf(out, "%s%s", gyre_canary_text_declares(composition->new_text, name) ? GYRE_CANARY_PREFIX : "",
            name);
}

/* A call of the new handler, whose types have the layouts of the old one's and other names. */
static void write_call_of_next(const struct composition *composition, FILE *out, const char *scratch)
{
    const struct gyre_canary_declaration *is = &composition->is;
    fprintf(out, "gyre_handler_%s%s((const GYRE_GLOBAL ", GYRE_CANARY_PREFIX, is->arguments[0]);
    write_next(composition, out, is->arguments[1]);
    fputs(" *)request, (GYRE_GLOBAL ", out);
    write_next(composition, out, is->arguments[2]);
    fputs(" *)reply, (GYRE_GLOBAL ", out);
    write_next(composition, out, state_of(is));
    fprintf(out, " *)%s, %s, ", is_keyed(is) ? "state" : "0", scratch);
    if (is_none(buffers_of(is))) {
        fputs("0", out);
    } else {
        fputs("(const ", out);
        write_next(composition, out, buffers_of(is));
        fputs(" *)buffers", out);
    }
    fputs(", gyre)", out);
}

static void write_call_of_old(const struct composition *composition, FILE *out, const char *scratch)
{
    const struct gyre_canary_declaration *was = &composition->was;
    fprintf(out, "gyre_handler_%s(request, reply, %s, %s, %s, gyre)", was->arguments[0],
            is_keyed(was) ? "state" : "0", scratch, is_none(buffers_of(was)) ? "0" : "buffers");
}

static void write_calls(const struct composition *composition, FILE *out, const char *was, const char *is)
{
    fputs("    const gyre_result gyre_its_result = gyre_its_next ? ", out);
    write_call_of_next(composition, out, is);
    fputs("\n        : ", out);
    write_call_of_old(composition, out, was);
    fputs(";\n", out);
}

static void write_counts(FILE *out)
{
    fputs("#define GYRE_CANARY_COUNTS(FIELD) FIELD(u64, seen) FIELD(u64, failed) FIELD(u64, next_handled) "
          "FIELD(u64, next_failed) FIELD(u64, handled_ns) FIELD(u64, next_handled_ns)\n"
          "GYRE_MESSAGE(gyre_canary_counts, GYRE_CANARY_COUNTS)\n"
          "#if defined(GYRE_TIMED) && GYRE_TIMED\n#define GYRE_CANARY_NOW gyre_time_ns(gyre)\n#else\n"
          "#define GYRE_CANARY_NOW 0\n#endif\n",
          out);
}

/* Messages in turn: of each `of` that follow each other, `share` go to the new handler, spread evenly. */
static void write_choice(const struct gyre_canary_unit *unit, FILE *out)
{
    fprintf(out,
            "GYRE_HELPER gyre_u32 gyre_canary_choice(GYRE_GLOBAL gyre_canary_counts *state)\n{\n"
            "    const gyre_u64 gyre_its_turn = gyre_atomic_add(&state->seen, (gyre_u64)1);\n"
            "    const gyre_u32 gyre_its_next = gyre_its_turn %% %u * %u %% %u < %u;\n"
            "    if (gyre_its_next)\n        gyre_atomic_add(&state->next_handled, (gyre_u64)1);\n"
            "    return gyre_its_next;\n}\n",
            unit->of, unit->share, unit->of, unit->share);
}

static void write_count_of_failed(FILE *out)
{
    fputs("        gyre_atomic_add(gyre_its_next ? &state->next_failed : &state->failed, (gyre_u64)1);\n",
          out);
}

static void write_count_of_time(FILE *out, const char *condition)
{
    fprintf(out,
            "#if defined(GYRE_TIMED) && GYRE_TIMED\n%s"
            "    gyre_atomic_add(gyre_its_next ? &state->next_handled_ns : &state->handled_ns, "
            "(gyre_u64)(GYRE_CANARY_NOW - gyre_its_begin));\n#endif\n",
            condition);
}

static void write_lane(const struct composition *composition, FILE *out)
{
    const struct gyre_canary_declaration *was = &composition->was;
    fprintf(out, "GYRE_KERNEL_WITH(%s, %s, %s, gyre_canary_counts, %s)\n{\n", GYRE_CANARY_KERNEL,
            was->arguments[1], was->arguments[2], buffers_of(was));
    fputs("    const gyre_u64 gyre_its_begin GYRE_UNUSED_ = GYRE_CANARY_NOW;\n"
          "    const gyre_u32 gyre_its_next = gyre_canary_choice(state);\n",
          out);
    write_calls(composition, out, "0", "0");
    fputs("    if (gyre->failed)\n", out);
    write_count_of_failed(out);
    write_count_of_time(out, "");
    fputs("    return gyre_its_result;\n}\n", out);
}

/* All lanes have to take the same way; of a message that failed in several lanes, one counts. */
static void write_block(const struct composition *composition, FILE *out)
{
    const struct gyre_canary_declaration *was = &composition->was;
    fprintf(out, "typedef struct gyre_canary_scratch {\n    union {\n        %s old;\n        ",
            scratch_of(was));
    write_next(composition, out, scratch_of(&composition->is));
    fputs(" next;\n    } of;\n    gyre_u32 failed;\n} gyre_canary_scratch;\n", out);
    fprintf(out, "GYRE_BLOCK_KERNEL_WITH(%s, %s, %s, gyre_canary_scratch, gyre_canary_counts, %s)\n{\n",
            GYRE_CANARY_KERNEL, was->arguments[1], was->arguments[2], buffers_of(was));
    fputs("    const gyre_u64 gyre_its_begin GYRE_UNUSED_ = GYRE_CANARY_NOW;\n"
          "    gyre_u32 gyre_its_next = 0;\n"
          "    if (gyre_lane(gyre) == 0) {\n        scratch->failed = 0;\n"
          "        gyre_its_next = gyre_canary_choice(state);\n    }\n"
          "    gyre_its_next = gyre_block_broadcast_u32(gyre, gyre_its_next, 0);\n",
          out);
    write_calls(composition, out, "&scratch->of.old", "&scratch->of.next");
    fputs("    if (gyre->failed && gyre_atomic_exchange(&scratch->failed, (gyre_u32)1) == 0)\n", out);
    write_count_of_failed(out);
    write_count_of_time(out, "    if (gyre_lane(gyre) == 0)\n");
    fputs("    return gyre_its_result;\n}\n", out);
}

/* A key's messages all go to one handler. The dialect calls gyre_canary_count_ when a message's handler has returned. */
static void write_keyed(const struct composition *composition, FILE *out)
{
    const struct gyre_canary_declaration *was = &composition->was;
    fprintf(
        out,
        "#ifndef GYRE_CANARY_COUNTS_KEYS\n#error \"keyed actors have no canary on this backend\"\n#endif\n"
        "GYRE_HELPER gyre_u32 gyre_canary_choice(const GYRE_GLOBAL gyre_u8 *key, gyre_u32 size)\n{\n"
        "    gyre_u64 hash = 0xcbf29ce484222325ull;\n"
        "    for (gyre_u32 i = 0; i < size; i++)\n        hash = (hash ^ key[i]) * 0x100000001b3ull;\n"
        "    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ull;\n"
        "    return (gyre_u32)(hash >> 33) %% %u < %u;\n}\n"
        "GYRE_HELPER void gyre_canary_count_(GYRE_KEYED_AT_ gyre_keyed_part *part, const GYRE_GLOBAL gyre_u8 *key, "
        "gyre_u32 size, gyre_u32 failed)\n{\n"
        "    const gyre_u32 which = gyre_canary_choice(key, size);\n"
        "    part->canary_handled[which]++;\n    part->canary_failed[which] += failed;\n}\n",
        composition->unit->of, composition->unit->share);
    fprintf(out, "GYRE_KEYED_ACTOR(%s, %s, %s, %s, %s)\n{\n", GYRE_CANARY_KERNEL, was->arguments[1],
            was->arguments[2], was->arguments[3], was->arguments[4]);
    fprintf(
        out,
        "    const gyre_u32 gyre_its_next = gyre_canary_choice((const GYRE_GLOBAL gyre_u8 *)&request->%s, "
        "sizeof request->%s);\n",
        was->arguments[4], was->arguments[4]);
    write_calls(composition, out, "0", "0");
    fputs("    return gyre_its_result;\n}\n", out);
}

static void write_unit(const struct composition *composition, FILE *out)
{
    const struct gyre_source *source = composition->source;
    if (is_keyed(&composition->was)) /* the dialect calls gyre_canary_count_ */
        fputs("#define GYRE_CANARY 1\n", out);
    gyre_canary_text_forbid(composition->old_text, out);
    fputs("#line 1 ", out);
    gyre_unit_quote(out, composition->unit->path);
    fprintf(out, "\n%s\n", composition->unit->text);
    gyre_canary_text_undefine(composition->old_text, out);
    fputs("#line 1 ", out);
    gyre_unit_quote(out, source->path);
    fputc('\n', out);
    gyre_canary_text_rename(composition->new_text, out);
    fputc('\n', out);
    gyre_canary_text_undefine(composition->new_text, out);
    fputs("#line 1 \"<gyre canary>\"\n", out);
    if (is_keyed(&composition->was)) {
        write_keyed(composition, out);
        return;
    }
    write_counts(out);
    write_choice(composition->unit, out);
    if (is_block(&composition->was))
        write_block(composition, out);
    else
        write_lane(composition, out);
}

static gyre_status replace_text(const struct composition *composition)
{
    struct gyre_source *source = composition->source;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out)
        write_unit(composition, out);
    if (!out || fclose(out) != 0) {
        free(text);
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a unit of two handlers");
    }
    free(source->text);
    source->text = text;
    source->size = size;
    snprintf(source->kernel, sizeof source->kernel, "%s", GYRE_CANARY_KERNEL);
    return GYRE_OK;
}

gyre_status gyre_canary_compose(const struct gyre_canary_unit *unit, struct gyre_source *source)
{
    struct composition composition = {.unit = unit, .source = source};
    gyre_status status = GYRE_OK;
    if (source->is_artifact)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "'%s' is compiled already, and a canary compiles two handlers together: name its source",
            source->path);
    composition.old_text = gyre_canary_text_create(unit->text, strlen(unit->text));
    composition.new_text = gyre_canary_text_create(source->text, source->size);
    if (!composition.old_text || !composition.new_text)
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory for a unit of two handlers");
    if (status == GYRE_OK)
        status = find_declarations(&composition);
    if (status == GYRE_OK)
        status = check_forms(&composition);
    if (status == GYRE_OK)
        status = check_included(&composition);
    if (status == GYRE_OK)
        status = replace_text(&composition);
    gyre_canary_text_destroy(composition.old_text);
    gyre_canary_text_destroy(composition.new_text);
    return status;
}
