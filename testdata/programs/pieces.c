// pieces.c - an array of 1200 numbers in blocks of the ranks, and one whose blocks of 5 are dealt out, over three
// steps. With an argument, number 700 is wrong from step 2 on, and the last number of step 3 is NaN.
#include <stdlib.h>
#include "rank.h"

enum { ALL = 1200, NB = 5 };

int rank, ranks, step;
int begin, count;       // the block: numbers begin .. begin+count-1
double *u;              // of the block
short dealt[ALL];       // the first count of them: blocks rank, rank+ranks, ... of NB numbers
int bad = 0;

void done(int wrong)
{
    bad = wrong;
}

int main(int argc, char **argv)
{
    rank = my_rank();
    ranks = getenv("SDM_SIZE") ? atoi(getenv("SDM_SIZE")) : 1;
    count = ALL / ranks;
    begin = rank * count;
    u = calloc(count, sizeof *u);
    for (step = 1; step <= 3; step++) {
        for (int i = 0; i < count; i++) {
            u[i] = (begin + i) * 0.5 + step;
            dealt[i] = (i / NB * ranks + rank) * NB + i % NB;
        }
        int wrong = 0;
        if (argc > 1 && step >= 2 && begin <= 700 && 700 < begin + count)
            u[700 - begin] += wrong = 1;
        if (argc > 1 && step == 3 && rank == ranks - 1)
            u[count - 1] = 0.0 / (rank - rank);
        done(wrong);
    }
    return 0;
}
