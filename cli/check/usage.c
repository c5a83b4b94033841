/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words the parser's errors about Gyre's functions and macros, requests and texts for the author of a first handler, who mixes
 * up arguments and does not know what a macro makes of them. No state.
 */
#include "cli/check/usage.h"

#include <string.h>

#include "cli/check/lost_macros.h"
#include "cli/check/places.h"

static const struct usage {
    const char *name, *usage; /* of a function, or of a macro */
} usages[] = {
    {"gyre_fail", "`gyre_fail(gyre, 7, \"why\")`: the context, a code from 0 up, a text"},
    {"gyre_log", "`gyre_log(gyre, \"what\", value)`: the context, a text, a number"},
    {"gyre_assert", "`gyre_assert(gyre, condition)`: the context, then what is to hold"},
    {"gyre_open",
     "`gyre_open(gyre, f32, &request->values, &count)`: the context, a type, a gyre_handle's address, a u64's "
     "address"},
    {"gyre_new", "`gyre_new(gyre, u8, reply, count)`: the context, a type, the reply, how many"},
    {"gyre_new_text", "`gyre_new_text(gyre, reply, \"text\")`: the context, the reply, a text"},
    {"gyre_new_string", "`gyre_new_string(gyre, reply, string)`: the context, the reply, a gyre_string"},
    {"gyre_new_in", "`gyre_new_in(gyre, f32, reply, &request->room, first, count)`"},
    {"gyre_copy",
     "`gyre_copy(gyre, u8, reply, request, request->text)`: the context, a type, the reply, the message, its "
     "part"},
    {"gyre_items", "`gyre_items(u8, request, request->text)`: a type, the message, its part"},
    {"gyre_get",
     "`gyre_get(gyre, u8, request, request->text, i)`: the context, a type, the message, its part, an index"},
    {"gyre_set",
     "`gyre_set(gyre, u8, reply, reply->text, i, value)`: the context, a type, the reply, its part, an index, a "
     "value"},
    {"gyre_cut",
     "`gyre_cut(gyre, u8, reply, reply->text, count)`: the context, a type, the reply, its part, how many"},
    {"gyre_writable", "`gyre_writable(u8, reply, reply->text)`: a type, the reply, its part"},
    {"gyre_append",
     "`gyre_append(gyre, reply, reply->text, string)`: the context, the reply, its part, a gyre_string"},
    {"gyre_append_text", "`gyre_append_text(gyre, reply, reply->text, \"text\")`"},
    {"gyre_append_u64", "`gyre_append_u64(gyre, reply, reply->text, number)`"},
    {"gyre_append_i64", "`gyre_append_i64(gyre, reply, reply->text, number)`"},
    {"gyre_append_f64",
     "`gyre_append_f64(gyre, reply, reply->text, number, decimals)`: decimals may be GYRE_SHORTEST"},
    {"gyre_string_of", "`gyre_string_of(request, request->text)`: the message, its part"},
    {"gyre_time_ns", "`gyre_time_ns(gyre)`"},
    {"gyre_lane", "`gyre_lane(gyre)`"},
    {"GYRE_KERNEL", "`GYRE_KERNEL(name, request, reply)`: a name and two messages"},
    {"GYRE_KERNEL_WITH",
     "`GYRE_KERNEL_WITH(name, request, reply, state, buffers)`, gyre_none for what it does not have"},
    {"GYRE_BLOCK_KERNEL",
     "`GYRE_BLOCK_KERNEL(name, request, reply, scratch)`, gyre_none for what it does not have"},
    {"GYRE_BLOCK_KERNEL_WITH",
     "`GYRE_BLOCK_KERNEL_WITH(name, request, reply, scratch, state, buffers)`, gyre_none for what "
     "it does not have"},
    {"GYRE_GRID_KERNEL",
     "`GYRE_GRID_KERNEL(name, request, reply, scratch)`, gyre_none for what it does not have"},
    {"GYRE_GRID_KERNEL_WITH",
     "`GYRE_GRID_KERNEL_WITH(name, request, reply, scratch, state, buffers)`, gyre_none for what "
     "it does not have"},
    {"gyre_grid_barrier", "`gyre_grid_barrier(gyre)`"},
    {"GYRE_GRID_KERNEL_TO",
     "`GYRE_GRID_KERNEL_TO(name, request, reply, ports, scratch)`, gyre_none for what it does not have"},
    {"GYRE_GRID_KERNEL_TO_WITH",
     "`GYRE_GRID_KERNEL_TO_WITH(name, request, reply, ports, scratch, state, buffers)`, gyre_none for what it does not "
     "have"},
    {"GYRE_ACTOR", "`GYRE_ACTOR(name, request, reply, state)`, gyre_none for what it does not have"},
    {"GYRE_ACTOR_WITH",
     "`GYRE_ACTOR_WITH(name, request, reply, state, buffers)`, gyre_none for what it does not have"},
    {"GYRE_KEYED_ACTOR",
     "`GYRE_KEYED_ACTOR(name, request, reply, state, key)`: a name, three messages, and a field of the request"},
    {"GYRE_KEYED_ACTOR_LIVES",
     "`GYRE_KEYED_ACTOR_LIVES(name, request, reply, state, key)`, with GYRE_BORN(name) and GYRE_PASSIVE(name)"},
    {"GYRE_BORN", "`GYRE_BORN(kernel)`: the name of a GYRE_KEYED_ACTOR_LIVES"},
    {"GYRE_PASSIVE", "`GYRE_PASSIVE(kernel)`: the name of a GYRE_KEYED_ACTOR_LIVES"},
    {"GYRE_KEYED_ACTOR_REMINDED",
     "`GYRE_KEYED_ACTOR_REMINDED(name, request, reply, state, key)`, with GYRE_REMINDED(name)"},
    {"GYRE_KEYED_ACTOR_LIVES_REMINDED",
     "`GYRE_KEYED_ACTOR_LIVES_REMINDED(name, request, reply, state, key)`, with GYRE_BORN(name), GYRE_PASSIVE(name) and "
     "GYRE_REMINDED(name)"},
    {"GYRE_REMINDED", "`GYRE_REMINDED(kernel)`: the name of a GYRE_KEYED_ACTOR_REMINDED"},
    {"gyre_forget", "`gyre_forget(gyre)`"},
    {"gyre_remind", "`gyre_remind(gyre, ns)`: the context, in how many nanoseconds"},
    {"gyre_unremind", "`gyre_unremind(gyre)`"},
    {"gyre_emit", "`gyre_emit(gyre, words)`: the context, the name of a port"},
    {"gyre_hop", "`gyre_hop(gyre)`"},
    {"gyre_flow_id", "`gyre_flow_id(gyre)`"},
    {"GYRE_KERNEL_TO",
     "`GYRE_KERNEL_TO(name, request, reply, ports)`: a name, two messages and the name of GYRE_PORTS"},
    {"GYRE_KERNEL_TO_WITH",
     "`GYRE_KERNEL_TO_WITH(name, request, reply, ports, state, buffers)`, gyre_none for what it does not have"},
    {"GYRE_BLOCK_KERNEL_TO",
     "`GYRE_BLOCK_KERNEL_TO(name, request, reply, ports, scratch)`, gyre_none for what it does not have"},
    {"GYRE_BLOCK_KERNEL_TO_WITH",
     "`GYRE_BLOCK_KERNEL_TO_WITH(name, request, reply, ports, scratch, state, buffers)`, gyre_none for what it does not "
     "have"},
    {"GYRE_ACTOR_TO",
     "`GYRE_ACTOR_TO(name, request, reply, ports, state)`, gyre_none for what it does not have"},
    {"GYRE_ACTOR_TO_WITH",
     "`GYRE_ACTOR_TO_WITH(name, request, reply, ports, state, buffers)`, gyre_none for what it does not have"},
    {"GYRE_KEYED_ACTOR_TO",
     "`GYRE_KEYED_ACTOR_TO(name, request, reply, ports, state, key)`, gyre_none for what it does not have: `key` is a field "
     "of the request"},
    {"GYRE_KEYED_ACTOR_LIVES_TO",
     "`GYRE_KEYED_ACTOR_LIVES_TO(name, request, reply, ports, state, key)`, with GYRE_BORN(name) and GYRE_PASSIVE(name)"},
    {"GYRE_KEYED_ACTOR_REMINDED_TO",
     "`GYRE_KEYED_ACTOR_REMINDED_TO(name, request, reply, ports, state, key)`, with GYRE_REMINDED(name)"},
    {"GYRE_KEYED_ACTOR_LIVES_REMINDED_TO",
     "`GYRE_KEYED_ACTOR_LIVES_REMINDED_TO(name, request, reply, ports, state, key)`, with GYRE_BORN(name), "
     "GYRE_PASSIVE(name) and GYRE_REMINDED(name)"},
    {"GYRE_PORTS",
     "`GYRE_PORTS(name, LIST)`, and before it `#define LIST(PORT) PORT(word, words, 8)`: a message, the port's name, and "
     "how many messages one call may emit to it"},
    {"GYRE_PORT",
     "`PORT(word, words, 8)`: a message, the port's name, and how many messages one call may emit to it"},
    {"GYRE_PORTS_WITH_ASKS",
     "`GYRE_PORTS_WITH_ASKS(name, LIST)`, and before it `#define LIST(PORT, ASK) ASK(order, offer, shop, 1)`: a message, its "
     "answer, the port's name, and how many messages one call may ask"},
    {"GYRE_ASK",
     "`ASK(order, offer, shop, 1)`: a message, its answer, the port's name, and how many messages one call may ask"},
    {"gyre_ask",
     "`gyre_ask(gyre, shop, 1)`: the context, the name of a port, and a number that comes back with the answer"},
    {"gyre_token", "`gyre_token(gyre)`"},
    {"gyre_round", "`gyre_round(gyre)`"},
    {"GYRE_KERNEL_OF_TO",
     "`GYRE_KERNEL_OF_TO(name, LIST, ports)`: a name, the list of a GYRE_PROTOCOL and the name of GYRE_PORTS"},
    {"GYRE_BLOCK_KERNEL_OF_TO",
     "`GYRE_BLOCK_KERNEL_OF_TO(name, LIST, ports, scratch)`, gyre_none for what it does not have"},
    {"GYRE_ACTOR_OF_TO", "`GYRE_ACTOR_OF_TO(name, LIST, ports, state)`, gyre_none for what it does not have"},
    {"GYRE_HANDLER_TO", "`GYRE_HANDLER_TO(kernel, request, reply)`"},
    {"GYRE_HANDLER", "`GYRE_HANDLER(kernel, request, reply)`"},
    {"GYRE_MESSAGE",
     "`GYRE_MESSAGE(name, LIST)`, and before it `#define LIST(FIELD) FIELD(u32, a) FIELD(f32, b[4])`"},
    {"GYRE_MESSAGE_TAIL",
     "`GYRE_MESSAGE_TAIL(name, LIST, 400)`: a name, a list of fields, the largest tail in bytes"},
    {"GYRE_SPAN", "`GYRE_SPAN(name, type)`"},
    {"GYRE_OPTIONAL", "`GYRE_OPTIONAL(name, type)`"},
    {"GYRE_PROTOCOL",
     "`GYRE_PROTOCOL(name, LIST)`, and before it `#define LIST(TAKES) TAKES(request, reply)`"},
    {"GYRE_BUFFERS",
     "`GYRE_BUFFERS(name, LIST)`, and before it `#define LIST(IN, INOUT) IN(f32, a) INOUT(u32, b)`"},
};

static const char *usage_of(const char *name)
{
    size_t length = strlen(name);
    if (strncmp(name, "gyre_item_at", 12) == 0)
        return usage_of("gyre_get");
    if (length > 4 && strcmp(name + length - 4, "_at_") == 0)
        length -= 4; /* the function behind gyre_items */
    else if (length > 1 && name[length - 1] == '_')
        length--;
    for (size_t i = 0; i < sizeof usages / sizeof usages[0]; i++)
        if (strlen(usages[i].name) == length && strncmp(usages[i].name, name, length) == 0)
            return usages[i].usage;
    return NULL;
}

static void token_at(const struct checker *checker, CXSourceLocation location, char *text, size_t size)
{
    CXToken *token = clang_getToken(checker->unit, location);
    text[0] = '\0';
    if (!token)
        return;
    check_take_string(clang_getTokenSpelling(checker->unit, *token), text, size);
    clang_disposeTokens(checker->unit, token, 1);
}

/* The name in Gyre's headers that a note is about: the function whose parameter it is, the function itself, or a macro. */
static bool noted_name(const struct checker *checker, CXDiagnostic note, char *name, size_t size)
{
    char text[128];
    const CXSourceLocation location = clang_getDiagnosticLocation(note);
    CXCursor there = clang_getCursor(checker->unit, location);
    check_take_string(clang_getDiagnosticSpelling(note), text, sizeof text);
    if (strncmp(text, "macro '", 7) == 0) {
        token_at(checker, location, name, size);
        return true;
    }
    if (clang_getCursorKind(there) == CXCursor_ParmDecl)
        there = clang_getCursorSemanticParent(there);
    check_take_string(clang_getCursorSpelling(there), name, size);
    return clang_getCursorKind(there) == CXCursor_FunctionDecl &&
           check_owner_of_use(checker, clang_getCursorLocation(there)) == OWNER_GYRE;
}

bool check_arguments(struct checker *checker, CXDiagnostic diagnostic, const struct place *place)
{
    char name[128] = "";
    CXDiagnosticSet notes = clang_getChildDiagnostics(diagnostic);
    const char *usage = NULL;
    for (unsigned i = 0; !usage && i < clang_getNumDiagnosticsInSet(notes); i++) {
        CXDiagnostic note = clang_getDiagnosticInSet(notes, i);
        if (noted_name(checker, note, name, sizeof name))
            usage = usage_of(name);
        clang_disposeDiagnostic(note);
    }
    clang_disposeDiagnosticSet(notes);
    if (usage)
        report_refuse(&checker->report, "check", place, "these are not the arguments that it takes: write %s",
                      usage);
    return usage != NULL;
}

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* A part of a message, such as an optional_u32, stands where a number is meant. */
#define PART "struct gyre_part'"
#define PART_MEANING                                                                                           \
    "a part of a message is no number: whether an optional one is there, tells gyre_has(request->limit), and " \
    "its value, or an item of a span, is `gyre_get(gyre, u32, request, request->limit, 0)`"

/* Sentences of the parser, and what they mean in a handler. */
static const struct meaning {
    const char *begins, *has, *has_too, *meaning;
} meanings[] = {
    {"cannot assign to", "'request'", "",
     "the request can only be read: take a copy of what is to change, as in `u32 n = request->n;`"},
    {"cannot assign to", "'state'", "",
     "a state that is `const` can only be read: a query (GYRE_QUERY) changes nothing; what changes the state is a "
     "GYRE_HANDLER"},
    {"cannot assign to", "'buffers'", "",
     "these buffers can only be read: those declared with IN, and all in a query (GYRE_QUERY), which changes nothing; "
     "what changes one of INOUT is a GYRE_HANDLER"},
    {"cannot assign to", "'before'", "",
     "`before` is what was kept, and can only be read: a migration writes to `state`, as in `state->n = before->n;`"},
    {"read-only variable is not assignable", "", "",
     "what is `const` can only be read: the request, `before` of a migration, and in a query (GYRE_QUERY) the state and the "
     "buffers"},
    {"void function 'gyre_migrate_to_", "should not return a value", "",
     "a migration returns nothing: leave the value out, or the whole `return`"},
    {"assigning to", "utf8", "char[",
     "a text of a reply is made by `reply->text = gyre_new_text(gyre, reply, \"text\");`"},
    {"invalid operands to binary expression", "utf8", "",
     "texts are compared by gyre_string_equal, gyre_string_compare and gyre_string_is, as in "
     "`gyre_string_is(gyre_string_of(request, request->text), \"yes\")`"},
    {"passing", "struct gyre_part'", "'gyre_string'",
     "a text of a message becomes a gyre_string by gyre_string_of, as in "
     "`gyre_string_is(gyre_string_of(request, request->text), \"yes\")`"},
    {"subscripted value is not an array", "", "",
     "what has no array has no `[i]`: an item of a message's part, as of a span_u32 or a utf8, is `gyre_get(gyre, u32, "
     "request, request->values, i)`"},
    {"statement requires expression of scalar type", PART, "", PART_MEANING},
    {"invalid argument type", PART, "to unary expression", PART_MEANING},
    {"used type", PART, "", PART_MEANING},
    {"invalid operands to binary expression", PART, "", PART_MEANING},
    {"initializing", PART, "with an expression of incompatible type", PART_MEANING},
    {"assigning to", PART, "from incompatible type", PART_MEANING},
    {"incompatible pointer to integer conversion returning", "gyre_result", "",
     "a handler returns GYRE_REPLY, GYRE_NO_REPLY or `gyre_fail(gyre, code, \"why\")`; the reply is what it wrote to `reply`"},
    {"pasting formed 'gyre_", "", "",
     "names of kernels and messages are words, without quotation marks: `GYRE_KERNEL(add, add_request, add_reply)`"},
    {"use of undeclared identifier 'GYRE_FAIL", "", "",
     "there is no such word: a handler returns GYRE_REPLY, GYRE_NO_REPLY or `gyre_fail(gyre, code, \"why\")`"},
    {"use of undeclared identifier 'GYRE_ERROR", "", "",
     "there is no such word: a handler returns GYRE_REPLY, GYRE_NO_REPLY or `gyre_fail(gyre, code, \"why\")`"},
    {"use of undeclared identifier 'GYRE_OK", "", "",
     "there is no such word: a handler returns GYRE_REPLY, GYRE_NO_REPLY or `gyre_fail(gyre, code, \"why\")`"},
    {"use of undeclared identifier 'GYRE_SUCCESS", "", "",
     "there is no such word: a handler returns GYRE_REPLY, GYRE_NO_REPLY or `gyre_fail(gyre, code, \"why\")`"},
    {"use of undeclared identifier 'GYRE_REP", "", "",
     "there is no such word: a handler returns GYRE_REPLY, GYRE_NO_REPLY or `gyre_fail(gyre, code, \"why\")`"},
    {"expected member name or ';' after declaration specifiers", "", "",
     "a list of fields is FIELD after FIELD, with nothing between them: `#define LIST(FIELD) FIELD(u32, a) FIELD(f32, b[4])`"},
    {"type name requires a specifier or qualifier", "", "",
     "a list of fields is FIELD after FIELD, with nothing between them: `#define LIST(FIELD) FIELD(u32, a) FIELD(f32, b[4])`"},
};

bool check_usage(struct checker *checker, CXDiagnostic diagnostic, const struct place *place,
                 const char *text)
{
    char name[128];
    if ((strstr(text, "arguments to function call") || strstr(text, "function-like macro invocation")) &&
        check_arguments(checker, diagnostic, place))
        return true;
    if (strcmp(text, "expected function body after function declarator") == 0) {
        token_at(checker, clang_getDiagnosticLocation(diagnostic), name, sizeof name);
        return check_is_lost_macro(checker, place, name); /* without its header it looks like a function */
    }
    if (strcmp(text, "expected expression") == 0) {
        token_at(checker, clang_getDiagnosticLocation(diagnostic), name, sizeof name);
        if (strcmp(name, "{") == 0)
            report_refuse(
                &checker->report, "check", place,
                "values in braces are for a variable where it is declared: write the fields one by one, as "
                "in `reply->n = 1;`");
        return strcmp(name, "{") == 0;
    }
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        const struct meaning *meaning = &meanings[i];
        if (!begins_with(text, meaning->begins) || !strstr(text, meaning->has) ||
            !strstr(text, meaning->has_too))
            continue;
        const bool of_list = strstr(meaning->meaning, "LIST(") != NULL;
        if (of_list && checker->macro_is_broken)
            return true; /* a consequence of an earlier error */
        report_refuse(&checker->report, "check", place, "%s", meaning->meaning);
        checker->macro_is_broken |= of_list; /* later errors may be consequences of this one */
        return true;
    }
    return false;
}
