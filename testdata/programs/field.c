// field.c - a long array that is the same on all ranks but for two elements on
// one of them, one of two dimensions, and one whose length differs.
#include <stdlib.h>
#include "rank.h"

double field[100000];
float plane[40][500];
int *list;
struct pair { char kind; double value; } pairs[300];

int main(void)
{
    int rank = my_rank(), length = rank == 1 ? 300 : 250;
    for (int i = 0; i < 100000; i++)
        field[i] = i * 0.5;
    for (int i = 0; i < 300; i++)
        pairs[i].value = i;
    list = calloc(300, sizeof *list);
    if (rank == 2) {
        field[500] = -1;
        field[70001] = field[70002] = 3;
        plane[3][17] = 1;
    }
    return length > 1000; // the data stands
}
