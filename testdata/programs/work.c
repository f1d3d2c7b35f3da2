// work.c - a small deterministic computation: main -> compute(n = rank) -> helper.
//
// compute calls helper for i = 0 .. n, so rank r hits it r+1 times, and factorial
// recurses n levels. Globals rank, total and name differ from rank to rank in
// known ways: total ends as 2 * (0 + 1 + ... + n) = n * (n + 1).
#include <stdio.h>
#include "rank.h"

struct point { int x, y; };

int rank;
int total;
double ratio = 0.5;
const char *name = "worker";
struct point corner = { 3, 4 };
int table[10] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81 };

int helper(int x)
{
    int twice = 2 * x;
    total += twice;
    return twice;
}

int factorial(int n)
{
    if (n <= 1)
        return 1;
    return n * factorial(n - 1);
}

int compute(int n)
{
    int sum = 0;
    for (int i = 0; i <= n; i++)
        sum += helper(i);
    return sum;
}

int main(void)
{
    rank = my_rank();
    int sum = compute(rank);
    int f = factorial(rank);
    printf("rank %d: sum %d factorial %d\n", rank, sum, f);
    return 0;
}
