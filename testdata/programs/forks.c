// forks.c - forks a child, which ends with status 3, or starts the program that the
// arguments name in its place; waits for it, and tells its status.
//
// With the first argument "exec" there is no child: the program that the others name is
// started in its own place. With "vfork" the child is one of vfork.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int seen;

void inchild(int n)
{
    seen = n;
}

void inparent(int n)
{
    seen = n;
}

int main(int argc, char **argv)
{
    int status = 0;
    if (argc > 2 && strcmp(argv[1], "exec") == 0) {
        execv(argv[2], argv + 2);
        return 4;
    }
    if (argc > 2 && strcmp(argv[1], "vfork") == 0) {
        if (vfork() == 0) {
            execv(argv[2], argv + 2);
            _exit(4);
        }
    } else if (fork() == 0) {
        inchild(1);
        if (argc > 1)
            execv(argv[1], argv + 1);
        exit(3);
    }
    wait(&status);
    inparent(WEXITSTATUS(status));
    printf("child %d\n", WEXITSTATUS(status));
    return 0;
}
