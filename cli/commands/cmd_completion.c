/* SPDX-License-Identifier: Apache-2.0 */
/* gyre completion: prints what makes a shell complete the command, and the words that such a script asks for. */
#include <string.h>

#include "cli/cli.h"
#include "cli/commands/completion_words.h"

static const char HELP[] =
    "usage: gyre completion bash|zsh|fish\n"
    "       gyre completion --words SHELL -- WORD...\n"
    "\n"
    "Prints a script with which that shell completes commands, options, keys of --set, names of the configuration\n"
    "and of kernels that run. For the shell that is open:\n"
    "\n"
    "  bash  source <(gyre completion bash)\n"
    "  zsh   source <(gyre completion zsh)\n"
    "  fish  gyre completion fish | source\n"
    "\n"
    "An installed Gyre has them where these shells look by themselves.\n"
    "\n"
    "Options:\n"
    "  --words SHELL  print the words that may stand in place of the last WORD; the WORDs are those behind\n"
    "                 'gyre'. The scripts ask with it.\n";

static const struct script {
    const char *shell, *text;
} scripts[] = {
    {"bash", "# Completion of gyre for bash.\n"
             "_gyre()\n"
             "{\n"
             "    mapfile -t COMPREPLY < <(\"${COMP_WORDS[0]}\" completion --words bash -- "
             "\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
             "    [[ \"${COMPREPLY[*]}\" != *= ]] || compopt -o nospace\n"
             "}\n"
             "complete -o default -F _gyre gyre\n"},
    {"zsh",
     "#compdef gyre\n"
     "# Completion of gyre for zsh.\n"
     "_gyre()\n"
     "{\n"
     "    local -a found\n"
     "    found=(${(f)\"$(${words[1]} completion --words zsh -- ${(@)words[2,CURRENT]} 2>/dev/null)\"})\n"
     "    (( $#found )) || { _files; return }\n"
     "    compadd -S '' -- ${(M)found:#*=}\n"
     "    compadd -- ${found:#*=}\n"
     "}\n"
     "if [[ ${funcstack[1]} == _gyre ]]; then _gyre \"$@\"; else compdef _gyre gyre; fi\n"},
    {"fish", "# Completion of gyre for fish.\n"
             "function __gyre_words\n"
             "    set -l line (commandline -opc) (commandline -ct)\n"
             "    $line[1] completion --words fish -- $line[2..] 2>/dev/null\n"
             "end\n"
             "complete -c gyre -a '(__gyre_words)'\n"},
};

static const struct script *script_find(const char *shell)
{
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++)
        if (strcmp(scripts[i].shell, shell) == 0)
            return &scripts[i];
    return NULL;
}

static int print_script(const cli_context *cli)
{
    if (cli->operands.count != 1)
        return cli_usage_error(cli, "expected bash, zsh or fish");
    const struct script *script = script_find(cli->operands.items[0]);
    if (!script)
        return cli_usage_error(cli, "expected bash, zsh or fish, found '%s'", cli->operands.items[0]);
    fputs(script->text, stdout);
    return CLI_OK;
}

static int run(cli_context *cli)
{
    const char *words = NULL;
    const cli_option options[] = {{"--words", .text = &words}, {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (!words)
        return print_script(cli);
    if (!script_find(words))
        return cli_usage_error(cli, "--words: expected bash, zsh or fish, found '%s'", words);
    completion_words_print(cli, cli->operands.items, cli->operands.count, strcmp(words, "bash") == 0);
    return CLI_OK;
}

const cli_command cli_command_completion = {"completion", "have a shell complete gyre's commands and options",
                                            HELP, run};
