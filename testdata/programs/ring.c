// ring.c - adds up numbers around a ring of MPI ranks, and gets it wrong.
//
// Every rank owns some of the numbers 1..100 and adds them up (sum). Then a token
// goes around the ring, each rank adds its part and passes it on, and rank 0
// prints the total, which must be 5050. It prints 4950: the number 100 is missing.
//
// The planted bug is in share(): the last rank takes the rest, but its interval
// [first, last) is half open and ends at 100 instead of 101. To find it, on 4
// ranks:
//
//     break sum                           all ranks stop there, and are one line
//     continue
//     print mine->last - mine->first      25 on ranks 0-2, but 24 on rank 3
//     print *mine                         1-26, 26-51, 51-76 and 76-100
//     finish                              325, 950, 1575, and 2100 instead of 2200
//
// And to see who waits for whom:
//
//     break pass                          rank 0 stops there; the rest wait
//     continue
//     interrupt                           stops the rest where they are
//     stacks                              rank 0 in pass, ranks 1-3 in receive
#include <mpi.h>
#include <stdio.h>

enum { TOTAL = 100 };

struct share {
    int first, last; // numbers first .. last-1 belong to this rank
};

static int rank, size;

struct share share(int rank, int size)
{
    int each = TOTAL / size;
    struct share s;
    s.first = 1 + rank * each;
    s.last = s.first + each;
    if (rank == size - 1)
        s.last = TOTAL; // bug: TOTAL + 1
    return s;
}

long sum(const struct share *mine)
{
    long s = 0;
    for (int i = mine->first; i < mine->last; i++)
        s += i;
    return s;
}

long receive(int from)
{
    long token;
    MPI_Recv(&token, 1, MPI_LONG, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return token;
}

void pass(long token, int to)
{
    MPI_Send(&token, 1, MPI_LONG, to, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    struct share mine = share(rank, size);
    long own = sum(&mine);
    int next = (rank + 1) % size;
    int previous = (rank + size - 1) % size;

    if (rank == 0) {
        pass(own, next);
        long total = receive(previous);
        printf("total %ld, expected %d: %s\n", total, TOTAL * (TOTAL + 1) / 2,
               total == TOTAL * (TOTAL + 1) / 2 ? "right" : "wrong");
    } else {
        pass(receive(previous) + own, next);
    }
    MPI_Finalize();
    return 0;
}
