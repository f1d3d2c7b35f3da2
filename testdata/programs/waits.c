// waits.c - waits, or seems to, in the way that its argument names, without MPI:
//
//     ./waits cycle /tmp/dir
//
// Files are made in the directory. It begins when it has written its process ID. `./waits` lists the cases.
//
// build: gcc -g -O1 -pthread -o $OUT/waits waits.c
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t ready;
static atomic_int flag;
static volatile double sink;

static void forever(void) { for (;;) pause(); }

static void work(int n)
{
    for (int i = 0; i < n; i++)
        sink += i * 0.5;
}

static pthread_t start(void *(*run)(void *))
{
    pthread_t t;
    pthread_barrier_init(&ready, 0, 2);
    pthread_create(&t, 0, run, 0);
    pthread_barrier_wait(&ready);
    return t;
}

static void *second(void *unused)
{
    pthread_mutex_lock(&b);
    pthread_barrier_wait(&ready);
    pthread_mutex_lock(&a);
    return unused;
}

static void *writer(void *unused)
{
    pthread_setname_np(pthread_self(), "table");
    pthread_rwlock_wrlock(&table);
    pthread_barrier_wait(&ready);
    forever();
    return unused;
}

static void *dies(void *unused)
{
    pthread_mutex_lock(&a);
    pthread_barrier_wait(&ready);
    return unused;
}

static void *spinner(void *unused)
{
    pthread_barrier_wait(&ready);
    for (;;)
        work(1000);
    return unused;
}

static void on_signal(int unused) { (void)unused; pthread_mutex_lock(&a); }

static void cycle(void) { pthread_mutex_lock(&a); start(second); pthread_mutex_lock(&b); }
static void reader(void) { start(writer); pthread_rwlock_rdlock(&table); }
static void orphan(void) { pthread_join(start(dies), 0); pthread_mutex_lock(&a); }
static void join(void) { pthread_join(start(spinner), 0); }
static void condition(void) { pthread_mutex_lock(&a); pthread_cond_wait(&changed, &a); }

static void reenter(void)
{
    signal(SIGUSR1, on_signal);
    pthread_mutex_lock(&a);
    raise(SIGUSR1);
}

static void shared(void) // the child holds a mutex that both have
{
    pthread_mutexattr_t kind;
    pthread_mutex_t *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(m, &kind);
    if (fork() == 0) {
        pthread_mutex_lock(m);
        forever();
    }
    usleep(100000);
    pthread_mutex_lock(m);
}

static void fifo(void)
{
    mkfifo("fifo", 0600);
    if (open("fifo", O_WRONLY) < 0)
        perror("fifo");
}

static void ownpipe(void) // it has forgotten to close the other end
{
    int p[2];
    char c;
    if (pipe(p) == 0 && read(p[0], &c, 1) < 0)
        perror("read");
}

static void child(void)
{
    int pid = fork();
    if (pid == 0)
        forever();
    waitpid(pid, 0, 0);
}

static void holds(void) { flock(open("lock", O_RDWR | O_CREAT, 0600), LOCK_EX); mkdir("held", 0700); forever(); }

static void flocks(void)
{
    while (access("held", F_OK) != 0)
        usleep(1000);
    flock(open("lock", O_RDWR | O_CREAT, 0600), LOCK_EX);
}

static void receives(void)
{
    struct sockaddr_in addr = {.sin_family = AF_INET};
    socklen_t n = sizeof addr;
    int s = socket(AF_INET, SOCK_STREAM, 0), t = socket(AF_INET, SOCK_STREAM, 0);
    char c;
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(s, (void *)&addr, n) < 0 || listen(s, 1) < 0 || getsockname(s, (void *)&addr, &n) < 0 || connect(t, (void *)&addr, n) < 0)
        perror("connect");
    if (recv(t, &c, 1, 0) < 0)
        perror("recv");
}

static void input(void)
{
    char c;
    if (read(0, &c, 1) < 0)
        perror("read");
}

static void polls(void) { struct pollfd f = {0, POLLIN, 0}; poll(&f, 1, -1); }
static void sleeps(void) { sleep(1000); }
static void stopped(void) { raise(SIGSTOP); }

// Cases that go on.

static void *sets(void *unused)
{
    pthread_barrier_wait(&ready);
    for (;;) {
        work(1000000);
        flag++;
    }
    return unused;
}

static void waitsbusy(void)
{
    start(sets);
    for (int seen = 0;; seen++)
        while (flag <= seen)
            ;
}

static void *contends(void *unused)
{
    pthread_barrier_wait(&ready);
    for (int n = 0;; n++) {
        pthread_mutex_lock(&a);
        work(n % 1000);
        pthread_mutex_unlock(&a);
    }
    return unused;
}

static void contention(void)
{
    start(contends);
    for (int n = 0;; n++) {
        pthread_mutex_lock(&a);
        work(n % 1000);
        pthread_mutex_unlock(&a);
    }
}

static void checkpoint(void)
{
    static char block[1 << 16];
    int fd = open(".", O_RDWR | O_TMPFILE, 0600);
    for (int n = 0;; n++)
        if (pwrite(fd, block, sizeof block, n % 16 * sizeof block) < 0 || fdatasync(fd) < 0)
            perror("pwrite");
}

static const struct { const char *name; void (*run)(void); } cases[] = {
    {"cycle", cycle}, {"reader", reader}, {"orphan", orphan}, {"join", join}, {"condition", condition}, {"reenter", reenter},
    {"shared", shared}, {"fifo", fifo}, {"ownpipe", ownpipe}, {"child", child}, {"holds", holds}, {"flocks", flocks},
    {"receives", receives}, {"input", input}, {"polls", polls}, {"sleeps", sleeps}, {"stopped", stopped},
    {"waitsbusy", waitsbusy}, {"contention", contention}, {"checkpoint", checkpoint},
};

int main(int argc, char **argv)
{
    int n = sizeof cases / sizeof cases[0];

    if (argc < 3) {
        for (int i = 0; i < n; i++)
            puts(cases[i].name);
        return 2;
    }
    alarm(180);
    if (chdir(argv[2]) < 0)
        return 1;
    printf("pid %d\n", (int)getpid());
    fflush(stdout);
    for (int i = 0; i < n; i++)
        if (strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    return 0;
}
