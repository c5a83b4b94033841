/* SPDX-License-Identifier: Apache-2.0 */
/* The program `gyre`. Everything is in the library beside it, so that tests reach it. */
#include <signal.h>

#include "cli/cli.h"

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* a write beyond a limit of file sizes fails with a sentence instead */
    return cli_main(argv + (argc > 0), argc > 0 ? (size_t)argc - 1 : 0);
}
