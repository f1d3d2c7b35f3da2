// mpiexec.c - stands in for mpiexec of PALS (HPE Cray) in tests, with MPIR and a startup barrier.
// It was not compared with the real one. Usage: mpiexec [-n N] [--ppn K] CMD [ARG...]
//
// The folder $PALS_STANDIN has the state that palstat and the others of this folder read:
//   on           path of a program that runs a command on a host: on HOST CMD
//   apps/APID/   jobid, state, hosts (one a line), ranks (HOST PROGRAM PID), local (if the
//                application is not known to the service: one node, without PALS_LOCAL_LAUNCH=0)
//
// The hosts are the lines of $PBS_NODEFILE. Tasks wait at the barrier (stopped right after exec)
// until SIGCONT if a debugger has set MPIR_being_debugged or PALS_STARTUP_BARRIER is 1.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct { char *host_name, *executable_name; int pid; } MPIR_PROCDESC;

volatile int MPIR_being_debugged;
volatile int MPIR_debug_state;
volatile int MPIR_partial_attach_ok = 1;
int MPIR_i_am_starter;
MPIR_PROCDESC *MPIR_proctable;
int MPIR_proctable_size;
char *totalview_jobid;

__attribute__((noinline)) void MPIR_Breakpoint(void) { __asm__ volatile(""); }

static char dir[4096];

static void die(const char *text) { fprintf(stderr, "mpiexec: %s: %s\n", text, strerror(errno)); exit(1); }

static FILE *state(const char *name, const char *mode)
{
    char path[5000];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, mode);
    if (!f && mode[0] == 'w')
        die(path);
    return f;
}

static void set(const char *name, const char *text)
{
    FILE *f = state(name, "w");
    fprintf(f, "%s\n", text);
    fclose(f);
}

static void number(const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    setenv(name, text, 1);
}

// task becomes one task of a node.
static void task(int rank, int local, int node, int size, int locals, int held, char **argv)
{
    number("PALS_RANKID", rank);
    number("PALS_LOCAL_RANKID", local);
    number("PALS_NODEID", node);
    number("PMI_RANK", rank);
    number("PMI_SIZE", size);
    number("PMI_LOCAL_RANK", local);
    number("PMI_LOCAL_SIZE", locals);
    if (rank != 0) { // only rank 0 has standard input
        int null = open("/dev/null", O_RDONLY);
        dup2(null, 0);
    }
    setpgid(0, 0);
    if (held)
        ptrace(PTRACE_TRACEME, 0, NULL, 0);
    execvp(argv[0], argv);
    fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

// service starts the tasks of one node and waits for them: palsd.
// Its arguments: APPDIR NODE FIRST COUNT SIZE HELD CMD...
static int service(char **argv)
{
    int node = atoi(argv[1]), first = atoi(argv[2]), count = atoi(argv[3]), size = atoi(argv[4]), held = atoi(argv[5]);
    char path[5000], done[5000];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(path, sizeof path, "%s/new.%d", argv[0], node);
    snprintf(done, sizeof done, "%s/pids.%d", argv[0], node);
    FILE *f = fopen(path, "w");
    for (int i = 0; i < count; i++) {
        int status, pid = fork();
        if (pid == 0)
            task(first + i, i, node, size, count, held, argv + 6);
        if (held && waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status)) {
            kill(pid, SIGSTOP);
            ptrace(PTRACE_DETACH, pid, NULL, 0);
        }
        fprintf(f, "%d\n", pid);
    }
    fclose(f);
    rename(path, done);
    int worst = 0, status;
    while (wait(&status) > 0) {
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            worst = code > worst ? code : worst;
        }
    }
    return worst;
}

static void tell(int sig) // all tasks
{
    for (int i = 0; i < MPIR_proctable_size; i++)
        kill(MPIR_proctable[i].pid, sig);
}

static volatile sig_atomic_t ending;

static void on_term(int sig)
{
    tell(ending++ ? SIGKILL : SIGTERM);
    if (sig == SIGTERM)
        alarm(1);
}

// place waits for the process ids of a node and puts them into the table.
static void place(int node, char *host, int first, int count, char *program)
{
    char name[32];
    FILE *f;
    snprintf(name, sizeof name, "pids.%d", node);
    while (!(f = state(name, "r")))
        usleep(5000);
    for (int i = 0; i < count; i++) {
        MPIR_PROCDESC *p = &MPIR_proctable[first + i];
        p->host_name = host;
        p->executable_name = program;
        if (fscanf(f, "%d", &p->pid) != 1)
            p->pid = 0;
    }
    fclose(f);
}

int main(int argc, char **argv)
{
    if (argc > 7 && strcmp(argv[1], "--palsd") == 0)
        return service(argv + 2);
    int n = 1, ppn = 0, at = 1, nodes = 0;
    for (; at < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "-n") == 0 && at + 1 < argc)
            n = atoi(argv[at + 1]);
        else if ((strcmp(argv[at], "--ppn") == 0 || strcmp(argv[at], "-ppn") == 0) && at + 1 < argc)
            ppn = atoi(argv[at + 1]);
        else
            return fprintf(stderr, "mpiexec: unrecognized option %s\n", argv[at]), 1;
    }
    char *hosts[256], line[300], apid[64] = "", *home = getenv("PALS_STANDIN"), on[4096] = "";
    FILE *f = fopen(getenv("PBS_NODEFILE") ? getenv("PBS_NODEFILE") : "", "r");
    if (!f || !home || at >= argc)
        return fprintf(stderr, "mpiexec: no PBS_NODEFILE or PALS_STANDIN, or no program\n"), 1;
    while (nodes < 256 && fscanf(f, "%299s", line) == 1)
        hosts[nodes++] = strdup(line);
    fclose(f);
    if (ppn == 0)
        ppn = (n + nodes - 1) / nodes;
    int used = (n + ppn - 1) / ppn;
    if (used > nodes)
        return fprintf(stderr, "mpiexec: %d ranks do not fit on %d nodes with %d each\n", n, nodes, ppn), 1;

    if (!(f = fopen("/proc/sys/kernel/random/uuid", "r")) || fscanf(f, "%63s", apid) != 1)
        die("uuid");
    fclose(f);
    snprintf(line, sizeof line, "%s/on", home);
    if (!(f = fopen(line, "r")) || fscanf(f, "%4095s", on) != 1)
        die(line);
    fclose(f);
    snprintf(dir, sizeof dir, "%s/apps/%s", home, apid);
    if (mkdir(dir, 0700))
        die(dir);
    set("jobid", getenv("PBS_JOBID") ? getenv("PBS_JOBID") : "");
    set("state", "startup");
    const char *local = getenv("PALS_LOCAL_LAUNCH");
    if (used == 1 && !(local && strcmp(local, "0") == 0))
        set("local", "");
    f = state("hosts", "w");
    for (int i = 0; i < used; i++)
        fprintf(f, "%s\n", hosts[i]);
    fclose(f);

    setenv("PALS_APID", apid, 1);
    const char *barrier = getenv("PALS_STARTUP_BARRIER");
    int held = MPIR_being_debugged || (barrier && strcmp(barrier, "1") == 0);
    char self[4096] = "", number_text[5][16], *program = argv[at];
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        die("self");
    for (int i = 0; i < used; i++) {
        int first = i * ppn, count = n - first < ppn ? n - first : ppn;
        int values[5] = { i, first, count, n, held };
        char *words[300] = { on, hosts[i], self, "--palsd", dir };
        for (int k = 0; k < 5; k++) {
            snprintf(number_text[k], sizeof number_text[k], "%d", values[k]);
            words[5 + k] = number_text[k];
        }
        for (int k = at; k < argc && k - at < 280; k++)
            words[10 + k - at] = argv[k];
        if (fork() == 0) {
            execv(on, words);
            die(on);
        }
    }
    MPIR_PROCDESC *table = calloc(n, sizeof *table);
    MPIR_proctable = table;
    for (int i = 0; i < used; i++)
        place(i, hosts[i], i * ppn, n - i * ppn < ppn ? n - i * ppn : ppn, program);
    f = state("ranks.new", "w");
    for (int i = 0; i < n; i++)
        fprintf(f, "%s %s %d\n", table[i].host_name, program, table[i].pid);
    fclose(f);
    char new[5000], ranks[5000];
    snprintf(new, sizeof new, "%s/ranks.new", dir);
    snprintf(ranks, sizeof ranks, "%s/ranks", dir);
    rename(new, ranks);
    MPIR_proctable_size = n;
    totalview_jobid = apid;
    signal(SIGTERM, on_term);
    signal(SIGALRM, on_term);
    if (MPIR_being_debugged) {
        MPIR_debug_state = 1;
        MPIR_Breakpoint();
        tell(SIGCONT);
    }
    if (!(held && !MPIR_being_debugged))
        set("state", "running");

    int worst = 0, status, pid;
    while ((pid = wait(&status)) > 0 || errno == EINTR) {
        if (pid > 0) {
            int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            worst = code > worst ? code : worst;
        }
    }
    set("state", "complete");
    return worst;
}
