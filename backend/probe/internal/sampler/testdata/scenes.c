/* A program whose threads stand in all kinds of places. It writes r when they do. */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifndef NO_CONTEXT
#include <ucontext.h>
#endif

static sem_t ready;
static volatile int sink, over;

__attribute__((noinline)) static void wait_here(void)
{
	sem_post(&ready);
	while (!over)
		poll(0, 0, 100000);
}

__attribute__((noinline, noreturn)) static void wait_for_ever(void)
{
	wait_here();
	for (;;)
		pause();
}

/* Its call is its last instruction. */
static void *no_return(void *a)
{
	if (a == 0)
		wait_for_ever();
	return a;
}

static void handler(int s)
{
	wait_here();
	sink = s;
}

static void *by_signal(void *a)
{
	signal(SIGUSR1, handler);
	pthread_kill(pthread_self(), SIGUSR1);
	return a;
}

static void alternate(void (*act)(int))
{
	stack_t s = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	struct sigaction on = {.sa_handler = act, .sa_flags = SA_ONSTACK | SA_NODEFER};
	sigaltstack(&s, 0);
	sigaction(SIGSEGV, &on, 0);
}

static void *on_alternate_stack(void *a)
{
	alternate(handler);
	*(volatile int *)(sink + 8L) = 1;
	return a;
}

static void *through_null(void *a)
{
	void (*volatile f)(void) = 0;
	alternate(handler);
	f();
	return a;
}

__attribute__((noinline)) static int recurse(int n)
{
	if (n == 0)
		wait_here();
	else
		sink = recurse(n - 1);
	return sink + n;
}

static void *deep(void *a)
{
	sink = recurse(300);
	return a;
}

__attribute__((noinline)) static int room(int n)
{
	_Alignas(64) volatile char fixed[128];
	char *p = alloca(n);
	memset(p, n, n);
	fixed[n & 63] = p[n / 2];
	wait_here();
	return fixed[3] + p[1];
}

static void *variable(void *a)
{
	sink = room(200 + (a != 0));
	return a;
}

static int order(const void *a, const void *b)
{
	wait_here();
	return a < b;
}

static void *callback(void *a)
{
	int list[4] = {3, 1, 2, 0};
	qsort(list, 4, sizeof *list, order);
	return a;
}

static void *once(void *a)
{
	static pthread_once_t o = PTHREAD_ONCE_INIT;
	pthread_once(&o, wait_here);
	return a;
}

/* Several instants of these are compared. */
static void *in_vdso(void *a)
{
	struct timespec t;
	for (sem_post(&ready);;)
		clock_gettime(CLOCK_MONOTONIC, &t);
	return a;
}

static void *in_stubs(void *a)
{
	for (sem_post(&ready);;)
		sink = abs(getppid() ? (int)strlen("text") : 0) + strcmp("a", getenv("PATH") ? "b" : "c");
	return a;
}

#ifndef NO_CONTEXT
static void in_context(void) { wait_here(); }

static void *context(void *a)
{
	ucontext_t here, there;
	getcontext(&there);
	there.uc_stack.ss_sp = malloc(1 << 16);
	there.uc_stack.ss_size = 1 << 16;
	there.uc_link = &here;
	makecontext(&there, in_context, 0);
	swapcontext(&here, &there);
	return a;
}
#endif

static void *loaded(void *a)
{
	void *l = dlopen(getenv("PLUGIN"), RTLD_NOW);
	void (*f)(void (*)(void)) = (void (*)(void (*)(void)))(l ? dlsym(l, "plugin") : 0);
	unlink(getenv("PLUGIN"));
	if (f)
		f(wait_here);
	else
		sem_post(&ready);
	return a;
}

int main(void)
{
	void *(*all[])(void *) = {
		by_signal, on_alternate_stack, through_null, deep, variable, callback, once,
#ifndef NO_CONTEXT
		context,
#endif
		no_return, in_vdso, in_stubs, loaded,
	};
	int n = sizeof all / sizeof *all - !*getenv("PLUGIN");
	sem_init(&ready, 0, 0);
	for (int i = 0; i < n; i++) {
		pthread_t t;
		pthread_create(&t, 0, all[i], 0);
		while (sem_wait(&ready) != 0)
			;
	}
	sink = write(1, "r", 1);
	while (!over)
		poll(0, 0, 100000);
	return 0;
}
