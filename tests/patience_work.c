/* SPDX-License-Identifier: Apache-2.0 */
/* A fixed piece of work: scripts/patience.sh compiles it and takes the time. Changed, it asks for another USUAL_MS there. */
#define WORK(n)                                                                                              \
    int work##n(int *a, const int *b, int k);                                                                \
    int work##n(int *a, const int *b, int k)                                                                 \
    {                                                                                                        \
        int sum = n;                                                                                         \
        for (int i = 0; i < k; i++) {                                                                        \
            for (int j = 0; j < i; j++)                                                                      \
                a[i] += b[j] * (sum ^ a[j]);                                                                 \
            sum += a[i] > b[i] ? a[i] / (b[i] | 1) : b[i] % (a[i] | 1);                                      \
        }                                                                                                    \
        return sum;                                                                                          \
    }
#define WORK_8(n) WORK(n##0) WORK(n##1) WORK(n##2) WORK(n##3) WORK(n##4) WORK(n##5) WORK(n##6) WORK(n##7)

WORK_8(1)
WORK_8(2)
WORK_8(3)
WORK_8(4)
WORK_8(5)
