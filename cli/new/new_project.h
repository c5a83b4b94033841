/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the files of a new project from the templates in cli/new/, which the build puts into the command. No state. */
#ifndef GYRE_CLI_NEW_NEW_PROJECT_H
#define GYRE_CLI_NEW_NEW_PROJECT_H

#include <stdbool.h>
#include <stddef.h>

/** One form of projects. */
typedef struct project_form {
    const char *name;
    const char *about;   /* a sentence for the project's README */
    const char *operand; /* how `gyre call` gets the handlers; @name@ stands for the project's name */
    const char *request; /* a request as JSON, for the README */
} project_form;

/** The form of that name, or NULL. */
const project_form *project_form_find(const char *name);

/** The name of form `index`; NULL behind the last one. */
const char *project_form_name(size_t index);

/** The language of a project's program and of its test. */
typedef struct project_language {
    const char *name;      /* what --language takes */
    const char *suffix;    /* of its files */
    const char *languages; /* for CMake; NULL: it is not built */
} project_language;

/** The language of that name, or NULL. */
const project_language *project_language_find(const char *name);

/** The name of language `index`; NULL behind the last one. */
const char *project_language_name(size_t index);

/** A project that is to be written. */
typedef struct new_project {
    const project_form *form;
    const project_language *language;
    const char *folder; /* must not exist yet */
    const char *name;   /* of the kernel or pipeline: a name of C in small letters */
} new_project;

/**
 * Writes every file of the project into its folder, which it makes. False with errno when a file or the folder could not be made;
 * everything that was written is removed again then. *failed: its path, or NULL without memory; the caller frees it.
 */
bool project_write(const new_project *project, char **failed);

/** The path of file `index`, below the project's folder; NULL behind the last one, or without memory. The caller frees it. */
char *project_file(const new_project *project, size_t index);

#endif
