/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object that is no plugin: it exports something else. */
int stranger_answer(void);

__attribute__((visibility("default"))) int stranger_answer(void)
{
    return 42;
}
