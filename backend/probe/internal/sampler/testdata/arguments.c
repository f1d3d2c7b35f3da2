/* Calls functions with known arguments in ways that make them hard to find, and waits in the last one.
 * Usage: arguments VARIANT. Argument N (from 0) of the function target_VARIANT is 1000 * VARIANT + N. */
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define KEEP __asm__ volatile("" ::: "memory")

typedef long (*function)(long, long, long, long, long, long, long, long);

static volatile int stay = 1;
static volatile long base;
static long sink;
static struct { long peer, tag, others[6]; } fields;

static NOINLINE void wait_here(long a, long b)
{
	sink += a ^ b;
	while (stay)
		pause();
}

/* All arguments are needed again behind the wait. */
NOINLINE long target_1(long a, long b, long c, long d, long e, long f, long g, long h)
{
	wait_here(b, g);
	return a + b * c - d + e * f + g * h;
}

/* None is: only the caller knows. */
NOINLINE long target_2(long a, long b, long c, long d, long e, long f, long g, long h)
{
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
	wait_here(7, 8);
	return 0;
}

/* Those on the stack belong to the function called, which writes there. */
NOINLINE long target_3(long a, long b, long c, long d, long e, long f, long g, long h)
{
	g = a + 1;
	h = b + 1;
	KEEP;
	wait_here((long)&g, (long)&h);
	return a + b + c + d + e + f + g + h;
}

/* The wait is in a function that this one jumps to. */
NOINLINE long target_4(long a, long b, long c, long d, long e, long f, long g, long h)
{
	(void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
	wait_here(b, a);
	return 0;
}

/* A loop changes what the registers of the arguments hold. */
NOINLINE long target_5(long a, long b, long c, long d, long e, long f, long g, long h)
{
	for (long i = 0; i < 100 + (base & 1); i++) {
		a += c ^ i;
		b = d - a;
	}
	wait_here(a, b);
	return a + b + c + d + e + f + g + h;
}

/* The address of an argument is given away, and what is there changes. */
static NOINLINE void change(long *at) { *at += 5; }
NOINLINE long target_6(long a, long b, long c, long d, long e, long f, long g, long h)
{
	change(&a);
	change(&h);
	wait_here(a, h);
	return a + b + c + d + e + f + g + h;
}

/* Only some ways lead to the wait with the arguments as they were. */
NOINLINE long target_7(long a, long b, long c, long d, long e, long f, long g, long h)
{
	if (base & 1)
		b = c = d;
	else if (base & 2)
		e = 3;
	wait_here(b, e);
	return a + b + c + d + e + f + g + h;
}

/* Halves, small ones. */
NOINLINE long target_8(long a, long b, long c, long d, long e, long f, long g, long h)
{
	int half = (int)b;
	char small = (char)c;
	wait_here(half, small);
	return a + half + small + d + e + f + g + h;
}

static const function all[] = { target_1, target_2, target_3, target_4, target_5, target_6, target_7, target_8 };

/* The caller has them in a structure that changes, in variables, in registers. */
static NOINLINE long caller(function f, long b, long c)
{
	long *others = fields.others;
	return f(fields.peer, b, c, others[0], others[1], others[2], base + 6, others[4]) + b;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	base = 1000 * n;
	fields.peer = base;
	for (int i = 0; i < 6; i++)
		fields.others[i] = base + 3 + i;
	long result = caller(all[n - 1], base + 1, base + 2);
	return (int)(result + sink);
}
