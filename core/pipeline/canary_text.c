/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a kernel file by its words (canary_text.h). It is no parser: what it takes for a name and is none, or the other way round,
 * leads to a unit that does not compile, which is told. Macros that go from one file to the other would give the other another meaning without a
 * word: canary_included.c refuses them. Fields keep their names. Has no state.
 */
#include "core/pipeline/canary_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum token_kind { TOKEN_NOTHING, TOKEN_WORD, TOKEN_SIGN }; /* blanks, comments and literals say nothing */
enum scope { SCOPE_FILE, SCOPE_STRUCT, SCOPE_ENUM, SCOPE_OTHER };
enum { SCOPES_MAX = 64 };
#define NOWHERE ((size_t)-1)

struct token {
    const char *at;
    size_t length;
    enum token_kind kind;
    enum scope scope;
    bool directive;    /* in a line that begins with # */
    unsigned brackets; /* open ( and [ around it, in its scope or its directive */
};

struct gyre_canary_text {
    struct token *tokens;
    size_t count, room;
    const struct token **names; /* declared at file scope */
    size_t name_count;
};

/* ---- tokens ---- */

static bool is_word_letter(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || (unsigned char)letter >= 128;
}

static size_t literal_length(const char *at, const char *end)
{
    const char *begin = at, quote = *at++;
    while (at < end && *at != quote && *at != '\n')
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return (size_t)(at < end ? at + 1 - begin : end - begin);
}

static size_t comment_length(const char *at, const char *end)
{
    const char *begin = at;
    if (at[1] == '/') {
        while (at < end && *at != '\n')
            at++;
    } else {
        for (at += 2; at < end && !(at[-1] == '*' && *at == '/' && at - begin > 2);)
            at++;
        at += at < end;
    }
    return (size_t)(at - begin);
}

static size_t word_length(const char *at, const char *end)
{
    const char *begin = at;
    while (at < end && is_word_letter(*at))
        at++;
    return (size_t)(at - begin);
}

static struct token token_at(const char *at, const char *end)
{
    struct token token = {.at = at, .length = 1, .kind = TOKEN_SIGN};
    if (is_word_letter(*at)) {
        token.kind = TOKEN_WORD;
        token.length = word_length(at, end);
    } else if (*at == '"' || *at == '\'') {
        token.kind = TOKEN_NOTHING;
        token.length = literal_length(at, end);
    } else if (*at == '/' && at + 1 < end && (at[1] == '/' || at[1] == '*')) {
        token.kind = TOKEN_NOTHING;
        token.length = comment_length(at, end);
    } else if (*at == '\\' && at + 1 < end && at[1] == '\n') {
        token.kind = TOKEN_NOTHING;
        token.length = 2;
    } else if (isspace((unsigned char)*at)) {
        token.kind = TOKEN_NOTHING;
    } else if (*at == '-' && at + 1 < end && at[1] == '>') {
        token.length = 2;
    }
    return token;
}

static bool append(struct gyre_canary_text *text, const struct token *token)
{
    if (text->count == text->room) {
        const size_t room = text->room * 2 + 1024;
        struct token *grown = realloc(text->tokens, room * sizeof *grown);
        if (!grown)
            return false;
        text->tokens = grown;
        text->room = room;
    }
    text->tokens[text->count++] = *token;
    return true;
}

static bool is_sign(const struct token *token, char sign)
{
    return token && token->kind == TOKEN_SIGN && token->length == 1 && *token->at == sign;
}

static bool is_word(const struct token *token, const char *word)
{
    return token && token->kind == TOKEN_WORD && token->length == strlen(word) &&
           memcmp(token->at, word, token->length) == 0;
}

static bool begins_with(const struct token *token, const char *front)
{
    return token->kind == TOKEN_WORD && token->length >= strlen(front) &&
           memcmp(token->at, front, strlen(front)) == 0;
}

/* The next token, or the one before, that says something and is as much in a directive as `at`. NULL: there is none. */
static const struct token *neighbour(const struct gyre_canary_text *text, size_t at, int step)
{
    const bool directive = text->tokens[at].directive;
    for (size_t i = at + (size_t)step; i < text->count; i += (size_t)step)
        if (text->tokens[i].kind != TOKEN_NOTHING && text->tokens[i].directive == directive)
            return &text->tokens[i];
    return NULL;
}

static size_t place_of(const struct gyre_canary_text *text, const struct token *token)
{
    return token ? (size_t)(token - text->tokens) : NOWHERE;
}

static bool opens_aggregate(const struct token *token)
{
    return is_word(token, "struct") || is_word(token, "union");
}

/* The scope that the brace at `at` opens. */
static enum scope opened_scope(const struct gyre_canary_text *text, size_t at)
{
    const struct token *before = neighbour(text, at, -1);
    const struct token *further =
        before && before->kind == TOKEN_WORD ? neighbour(text, place_of(text, before), -1) : NULL;
    if (opens_aggregate(before) || opens_aggregate(further))
        return SCOPE_STRUCT;
    return is_word(before, "enum") || is_word(further, "enum") ? SCOPE_ENUM : SCOPE_OTHER;
}

/* Says of each token where it stands. */
static void find_scopes(struct gyre_canary_text *text)
{
    enum scope scopes[SCOPES_MAX] = {SCOPE_FILE};
    unsigned depth = 0, brackets = 0, inside = 0;
    for (size_t i = 0; i < text->count; i++) {
        struct token *token = &text->tokens[i];
        unsigned *open = token->directive ? &inside : &brackets;
        inside = token->directive ? inside : 0;
        if ((is_sign(token, ')') || is_sign(token, ']')) && *open)
            (*open)--;
        if (!token->directive && is_sign(token, '}') && depth)
            depth--;
        token->scope = scopes[depth < SCOPES_MAX ? depth : SCOPES_MAX - 1];
        token->brackets = *open;
        if (is_sign(token, '(') || is_sign(token, '['))
            (*open)++;
        if (!token->directive && is_sign(token, '{') && ++depth < SCOPES_MAX)
            scopes[depth] = opened_scope(text, i);
    }
}

static bool divide(struct gyre_canary_text *text, const char *at, size_t size)
{
    const char *const end = at + size;
    bool fresh = true, directive = false;
    while (at < end) {
        struct token token = token_at(at, end);
        if (*at == '\n')
            fresh = true, directive = false;
        else if (fresh && is_sign(&token, '#'))
            directive = true;
        if (token.kind != TOKEN_NOTHING)
            fresh = false;
        token.directive = directive;
        if (!append(text, &token))
            return false;
        at += token.length;
    }
    find_scopes(text);
    return true;
}

/* ---- names ---- */

static bool is_named(const struct token *one, const struct token *other)
{
    return one->length == other->length && memcmp(one->at, other->at, one->length) == 0;
}

static bool is_declared(const struct gyre_canary_text *text, const struct token *word)
{
    for (size_t i = 0; i < text->name_count; i++)
        if (is_named(text->names[i], word))
            return true;
    return false;
}

/* Whether the first argument of the macro is a name that it declares. */
static bool declares_its_first(const struct token *macro)
{
    static const char *const fronts[] = {"GYRE_MESSAGE", "GYRE_PROTOCOL", "GYRE_BUFFERS",
                                         "GYRE_PORTS",   "GYRE_SPAN",     "GYRE_OPTIONAL"};
    if (memmem(macro->at, macro->length, "KERNEL", 6) || memmem(macro->at, macro->length, "ACTOR", 5))
        return true;
    for (size_t i = 0; i < sizeof fronts / sizeof fronts[0]; i++)
        if (begins_with(macro, fronts[i]))
            return true;
    return false;
}

static bool is_keyword(const struct token *word)
{
    static const char *const keywords[] = {"struct", "union",  "enum",   "typedef", "static", "const",
                                           "inline", "extern", "return", "sizeof",  "else",   "volatile"};
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (is_word(word, keywords[i]))
            return true;
    return begins_with(word, "__") || isdigit((unsigned char)*word->at);
}

/* Whether the word at file scope is what is declared there: a function, a variable, a type, or the tag of one with a body. */
static bool is_declarator(const struct gyre_canary_text *text, size_t at)
{
    const struct token *before = neighbour(text, at, -1), *after = neighbour(text, at, 1);
    if (!before || !after || is_keyword(&text->tokens[at]) || begins_with(&text->tokens[at], "GYRE_"))
        return false;
    if (opens_aggregate(before) || is_word(before, "enum"))
        return is_sign(after, '{');
    if (is_sign(before, '='))
        return false;
    return is_sign(after, '(') || is_sign(after, ';') || is_sign(after, ',') || is_sign(after, '=') ||
           is_sign(after, '[');
}

static bool is_constant(const struct gyre_canary_text *text, size_t at)
{
    const struct token *before = neighbour(text, at, -1);
    return is_sign(before, '{') || is_sign(before, ',');
}

static void note_name(struct gyre_canary_text *text, const struct token *word)
{
    if (word && word->kind == TOKEN_WORD && !is_declared(text, word))
        text->names[text->name_count++] = word;
}

static void note_names_at(struct gyre_canary_text *text, size_t at)
{
    const struct token *token = &text->tokens[at], *after = neighbour(text, at, 1);
    if (token->scope == SCOPE_ENUM && is_constant(text, at))
        note_name(text, token);
    if (token->scope != SCOPE_FILE)
        return;
    if (begins_with(token, "GYRE_") && is_sign(after, '(')) {
        if (declares_its_first(token))
            note_name(text, neighbour(text, place_of(text, after), 1));
    } else if (is_declarator(text, at)) {
        note_name(text, token);
    }
}

static bool find_names(struct gyre_canary_text *text)
{
    text->names = calloc(text->count + 1, sizeof *text->names);
    for (size_t i = 0; text->names && i < text->count; i++)
        if (text->tokens[i].kind == TOKEN_WORD && !text->tokens[i].directive && !text->tokens[i].brackets)
            note_names_at(text, i);
    return text->names != NULL;
}

struct gyre_canary_text *gyre_canary_text_create(const char *text, size_t size)
{
    struct gyre_canary_text *made = calloc(1, sizeof *made);
    if (made && divide(made, text, size) && find_names(made))
        return made;
    gyre_canary_text_destroy(made);
    return NULL;
}

void gyre_canary_text_destroy(struct gyre_canary_text *text)
{
    if (!text)
        return;
    free(text->names);
    free(text->tokens);
    free(text);
}

/* ---- what is asked about it ---- */

/* Copies the arguments of the macro call whose bracket is at `at`. */
static bool copy_arguments(const struct gyre_canary_text *text, size_t at,
                           struct gyre_canary_declaration *out)
{
    char *argument = out->arguments[0];
    out->count = 1;
    memset(out->arguments, 0, sizeof out->arguments);
    for (size_t i = at + 1; i < text->count && !is_sign(&text->tokens[i], ')'); i++) {
        const struct token *token = &text->tokens[i];
        if (token->kind == TOKEN_NOTHING)
            continue;
        if (is_sign(token, ',')) {
            if (out->count == GYRE_CANARY_ARGUMENTS)
                return false;
            argument = out->arguments[out->count++];
        } else if (strlen(argument) + token->length >= GYRE_CANARY_WORD) {
            return false;
        } else {
            memcpy(argument + strlen(argument), token->at, token->length);
        }
    }
    return true;
}

bool gyre_canary_text_find(const struct gyre_canary_text *text, const char *kernel,
                           struct gyre_canary_declaration *out)
{
    for (size_t i = 0; i < text->count; i++) {
        const struct token *token = &text->tokens[i], *after = neighbour(text, i, 1);
        if (token->directive || token->scope != SCOPE_FILE || !begins_with(token, "GYRE_") ||
            !is_sign(after, '(') || !declares_its_first(token) ||
            !is_word(neighbour(text, place_of(text, after), 1), kernel) || token->length >= GYRE_CANARY_WORD)
            continue;
        snprintf(out->macro, sizeof out->macro, "%.*s", (int)token->length, token->at);
        return copy_arguments(text, place_of(text, after), out);
    }
    return false;
}

bool gyre_canary_text_declares(const struct gyre_canary_text *text, const char *name)
{
    return is_declared(text, &(struct token){.at = name, .length = strlen(name), .kind = TOKEN_WORD});
}

void gyre_canary_text_undefine(const struct gyre_canary_text *text, FILE *out)
{
    for (size_t i = 0; i < text->count; i++) {
        const struct token *token = &text->tokens[i];
        if (!token->directive || !is_word(token, "define") || !is_sign(neighbour(text, i, -1), '#'))
            continue;
        const struct token *name = neighbour(text, i, 1);
        if (name)
            fprintf(out, "#undef %.*s\n", (int)name->length, name->at);
    }
}

/* The word behind # in the directive of `at`; NULL: it stands in none. */
static const struct token *directive_of(const struct gyre_canary_text *text, size_t at)
{
    size_t begin = at;
    if (!text->tokens[at].directive)
        return NULL;
    while (begin > 0 && text->tokens[begin - 1].directive)
        begin--;
    return neighbour(text, begin, 1);
}

/* Also #include_next, #import and #embed, which nobody writes in a kernel file. */
static bool takes_a_file(const struct token *directive)
{
    return directive &&
           (begins_with(directive, "include") || is_word(directive, "import") || is_word(directive, "embed"));
}

static bool tests_macros(const struct token *directive)
{
    return directive && (begins_with(directive, "if") || begins_with(directive, "elif"));
}

static size_t last_include(const struct gyre_canary_text *text)
{
    for (size_t i = text->count; i-- > 0;)
        if (takes_a_file(&text->tokens[i]) && directive_of(text, i) == &text->tokens[i])
            return i;
    return NOWHERE;
}

size_t gyre_canary_text_early_size(const struct gyre_canary_text *text)
{
    const size_t last = last_include(text);
    return last == NOWHERE ? 0 : (size_t)(text->tokens[last].at - text->tokens[0].at);
}

/* How a word stands in a directive. */
static unsigned standing_of(const struct gyre_canary_text *text, size_t at, const struct token *directive)
{
    const struct token *before = neighbour(text, at, -1);
    if (tests_macros(directive))
        return GYRE_CANARY_TESTED;
    return before == directive && (is_word(directive, "define") || is_word(directive, "undef"))
               ? GYRE_CANARY_DEFINED
               : 0;
}

bool gyre_canary_text_each_word(const struct gyre_canary_text *text,
                                bool (*see)(void *context, const char *word, size_t length, unsigned how),
                                void *context)
{
    const size_t last = last_include(text);
    const struct token *directive = NULL;
    for (size_t i = 0; i < text->count; i++) {
        const struct token *token = &text->tokens[i];
        if (!token->directive)
            directive = NULL;
        else if (!directive && is_sign(token, '#'))
            directive = neighbour(text, i, 1);
        if (token->kind != TOKEN_WORD || token == directive || takes_a_file(directive) ||
            isdigit((unsigned char)*token->at))
            continue;
        const unsigned early = last != NOWHERE && i < last ? GYRE_CANARY_EARLY : 0;
        if (!see(context, token->at, token->length,
                 early | (directive ? standing_of(text, i, directive) : 0)))
            return false;
    }
    return true;
}

/* The token behind the word `at` that is no blank and no comment. */
static const struct token *operand_of(const struct gyre_canary_text *text, size_t at)
{
    for (size_t i = at + 1; i < text->count && text->tokens[i].directive; i++)
        if (text->tokens[i].kind != TOKEN_NOTHING || *text->tokens[i].at == '"')
            return &text->tokens[i];
    return NULL;
}

bool gyre_canary_text_each_include(const struct gyre_canary_text *text,
                                   bool (*see)(void *context, const char *name, size_t length, char sign),
                                   void *context)
{
    for (size_t i = 0; i < text->count; i++) {
        if (!takes_a_file(&text->tokens[i]) || directive_of(text, i) != &text->tokens[i])
            continue;
        const struct token *name = operand_of(text, i);
        const char sign =
            is_word(&text->tokens[i], "include") && name && (*name->at == '"' || *name->at == '<') ? *name->at
                                                                                                   : '\0';
        const char *at = sign ? name->at + 1 : text->tokens[i].at;
        const size_t length = sign ? strcspn(at, sign == '"' ? "\"\n" : ">\n") : text->tokens[i].length;
        if (!see(context, at, length, sign))
            return false;
    }
    return true;
}

static bool forbid_word(void *context, const char *word, size_t length, unsigned how)
{
    if (how & GYRE_CANARY_DEFINED)
        fprintf(context,
                "#ifdef %.*s\n#error \"'%.*s' is a macro already before the file that defines it\"\n#endif\n",
                (int)length, word, (int)length, word);
    return true;
}

void gyre_canary_text_forbid(const struct gyre_canary_text *text, FILE *out)
{
    gyre_canary_text_each_word(text, forbid_word, out);
}

/* ---- the same with other names ---- */

/* The bracket that is open around `at`; NOWHERE: none is. *arguments: commas in it before `at`. */
static size_t opening_of(const struct gyre_canary_text *text, size_t at, unsigned *arguments)
{
    const struct token *token = &text->tokens[at];
    *arguments = 0;
    for (size_t i = at; token->brackets && i-- > 0;) {
        const struct token *other = &text->tokens[i];
        if (other->directive != token->directive)
            continue;
        if (other->brackets == token->brackets && is_sign(other, ','))
            (*arguments)++;
        if (other->brackets + 1 == token->brackets && (is_sign(other, '(') || is_sign(other, '[')))
            return i;
    }
    return NOWHERE;
}

/* Whether the word, in the body of a #define, is one of its parameters: the FIELD of a list of fields. */
static bool is_parameter(const struct gyre_canary_text *text, size_t at)
{
    size_t begin = at;
    while (begin > 0 && text->tokens[begin - 1].directive)
        begin--;
    for (size_t i = begin; i < at; i++)
        if (text->tokens[i].brackets == 1 && text->tokens[i].kind == TOKEN_WORD &&
            is_named(&text->tokens[i], &text->tokens[at]))
            return true;
    return false;
}

/* Whether the word is a field: in a list of fields, FIELD(u32, count), or as the key of a keyed actor. */
static bool is_listed_field(const struct gyre_canary_text *text, size_t at)
{
    unsigned argument;
    const size_t opening = opening_of(text, at, &argument);
    if (opening == NOWHERE || !is_sign(&text->tokens[opening], '('))
        return false;
    const struct token *caller = neighbour(text, opening, -1);
    if (!caller || caller->kind != TOKEN_WORD)
        return false;
    if (begins_with(caller, "GYRE_KEYED_ACTOR"))
        return argument >= 4;
    return argument >= 1 && caller->directive && is_parameter(text, place_of(text, caller));
}

static bool is_included(const struct gyre_canary_text *text, size_t at)
{
    for (size_t i = at; i-- > 0 && text->tokens[i].directive;)
        if (is_word(&text->tokens[i], "include"))
            return true;
    return false;
}

static bool is_member(const struct gyre_canary_text *text, size_t at)
{
    const struct token *token = &text->tokens[at], *before = neighbour(text, at, -1),
                       *after = neighbour(text, at, 1);
    if (is_sign(before, '.') || (before && before->kind == TOKEN_SIGN && before->length == 2))
        return true;
    return token->scope == SCOPE_STRUCT && !token->directive && !token->brackets &&
           (is_sign(after, ';') || is_sign(after, ',') || is_sign(after, '['));
}

static bool is_to_be_renamed(const struct gyre_canary_text *text, size_t at)
{
    const struct token *token = &text->tokens[at];
    if (token->kind != TOKEN_WORD || !is_declared(text, token) || is_member(text, at) ||
        is_listed_field(text, at))
        return false;
    return !token->directive || !is_included(text, at);
}

void gyre_canary_text_rename(const struct gyre_canary_text *text, FILE *out)
{
    for (size_t i = 0; i < text->count; i++) {
        if (is_to_be_renamed(text, i))
            fputs(GYRE_CANARY_PREFIX, out);
        fwrite(text->tokens[i].at, 1, text->tokens[i].length, out);
    }
}
