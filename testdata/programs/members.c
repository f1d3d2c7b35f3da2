// members.c - structures, arrays and pointers whose members are listed; rank 1 has other values.
//
// build: gcc -g -O0 -o $OUT/members members.c
// build: gcc -g -O2 -o $OUT/members-O2 members.c
#include <stdio.h>
#include "rank.h"

struct point {
    double x, y;
};
union either {
    int i;
    float f;
};
struct node {
    int id;
    char name[8];
    struct point at, *to;
    union either value;
    struct {
        int inner;
    };
    int grid[3][4];
    struct node *next;
    void (*done)(int);
    unsigned flag : 3;
};

struct node head, tail;
double field[5000];

__attribute__((noinline)) static int stop(struct node *n, const double *f)
{
    return printf("%d %g\n", n->id, f[7]); /* stops here */
}

int main(void)
{
    int r = my_rank();
    head = (struct node){.id = 4 + (r == 1), .name = "head", .at = {1.5, -2}, .value.i = 7, .next = &tail, .flag = 5};
    head.to = &head.at;
    head.inner = 11;
    for (int i = 0; i < 12; i++)
        head.grid[i / 4][i % 4] = i;
    for (int i = 0; i < 5000; i++)
        field[i] = i + r;
    return stop(&head, field) < 0;
}
