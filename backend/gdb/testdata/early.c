/* early.c - makes one file before main, and waits for another. */
#include <fcntl.h>
#include <unistd.h>

__attribute__((constructor)) static void before(int argc, char **argv)
{
    if (argc < 3)
        return;
    close(open(argv[1], O_CREAT, 0600));
    while (access(argv[2], F_OK) != 0)
        usleep(1000);
}

int main(void)
{
    return 0;
}
