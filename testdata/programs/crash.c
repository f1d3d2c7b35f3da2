// crash.c - rank 3 follows a null pointer in helper and dies of SIGSEGV; the
// others end well.
#include <stdio.h>
#include "rank.h"

int helper(int *where)
{
    return *where + 1; // rank 3 ends here
}

int compute(int n)
{
    int value = n;
    int *where = &value;
    if (n == 3)
        where = NULL;
    return helper(where);
}

int main(void)
{
    int rank = my_rank();
    printf("rank %d: %d\n", rank, compute(rank));
    return 0;
}
