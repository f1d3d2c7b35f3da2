// Prints the id of a process that it traces, and ends when that process has just created a child, by vfork
// or by fork, which is held at its first instruction. The code has a breakpoint by then, which both meet if
// nobody removes it. The process writes "done" into a file when all has gone well.

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int work(int n)
{
    return n + 1;
}

static int traced(int by_vfork, char *file)
{
    close(STDOUT_FILENO); // their ends tell that the tracer has ended
    close(STDERR_FILENO);
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    pid_t child = by_vfork ? vfork() : fork();
    if (child == 0)
        _exit(work(6));
    int status = 0;
    waitpid(child, &status, 0);
    int out = open(file, O_WRONLY | O_CREAT, 0600);
    if (out >= 0 && status == 7 << 8 && work(1) == 2)
        write(out, "done", 4);
    return 0;
}

int main(int argc, char **argv)
{
    pid_t pid = fork();
    int status;
    if (pid == 0)
        return traced(strcmp(argv[1], "vfork") == 0, argv[2]);
    waitpid(pid, &status, 0);
    long word = ptrace(PTRACE_PEEKTEXT, pid, work, 0);
    ptrace(PTRACE_POKETEXT, pid, work, word & ~0xffL | 0xcc);
    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK);
    ptrace(PTRACE_CONT, pid, 0, 0);
    waitpid(pid, &status, 0);
    if (status >> 16 == 0)
        return 1;
    printf("%d\n", (int)pid);
    return 0;
}
