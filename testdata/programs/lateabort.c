// lateabort.c - a program that loads MPICH when it runs, as Python does, and whose rank 1 calls
// MPI_Abort with code 6. Argument: the library, as "libmpich.so.12". The starter must be MPICH's.
//
// build: gcc -g -O0 -o $OUT/lateabort lateabort.c -ldl
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { world = 0x44000000 }; // MPI_COMM_WORLD of MPICH

int main(int argc, char **argv)
{
    void *mpi = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    int (*init)(int *, char ***) = mpi ? dlsym(mpi, "MPI_Init") : NULL;
    int (*give_up)(int, int) = mpi ? dlsym(mpi, "MPI_Abort") : NULL;
    const char *rank = getenv("PMI_RANK");
    if (!init || !give_up || !rank) {
        fprintf(stderr, "no MPI\n");
        return 1;
    }
    init(NULL, NULL);
    if (atoi(rank) == 1)
        give_up(world, 6); // the job ends here
    pause();
    return 0;
}
