// marks.c - an MPI program whose ranks write a mark into a file every 10 ms, 1000 times:
//
//     mpirun -n 2 ./marks /tmp/marks
//
// The file tells how far they have come when something stops or kills them.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

static int mark(const char *file)
{
    int fd = open(file, O_CREAT | O_APPEND | O_WRONLY, 0600);
    int written = write(fd, "x", 1);

    close(fd);
    return written;
}

int main(int argc, char **argv)
{
    int all = 0;

    MPI_Init(&argc, &argv);
    for (int i = 0; argc > 1 && i < 1000; i++) {
        all += mark(argv[1]);
        usleep(10000); // leaves the processor to the others
    }
    MPI_Finalize();
    return all == 1000 ? 0 : 1;
}
