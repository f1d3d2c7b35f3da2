/* A program for arm64 without a C library. It writes its registers, its stack and its frames as it has
 * recorded them: pieces of an address, a length and bytes. "go test ./backend/probe/internal/unwind -record" runs it.
 */
typedef unsigned long u64;

u64 registers[33], expected[64], count, top;

static long call(long n, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = d;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}

static void piece(u64 addr, u64 size, const void *bytes)
{
	u64 head[2] = {addr, size};
	call(64, 1, (long)head, sizeof head, 0);
	for (u64 n = 0; n < size; n += 4096)
		call(64, 1, (long)bytes + n, size - n < 4096 ? size - n : 4096, 0);
}

/* Addresses 0 and 1 are the registers and the expected program counters. */
void dump(void)
{
	u64 sp = registers[31];
	piece(0, sizeof registers, registers);
	piece(1, 8 * count, expected);
	piece(expected[1], 16, (void *)expected[1]);
	piece(sp, top - sp, (void *)sp);
	call(94, 0, 0, 0, 0);
}

__asm__(".text\n.global snap\n.type snap, %function\nsnap:\n"
	"adrp x9, registers\nadd x9, x9, :lo12:registers\n"
	"stp x0, x1, [x9]\nstp x2, x3, [x9, #16]\nstp x4, x5, [x9, #32]\nstp x6, x7, [x9, #48]\nstp x8, x9, [x9, #64]\n"
	"stp x10, x11, [x9, #80]\nstp x12, x13, [x9, #96]\nstp x14, x15, [x9, #112]\nstp x16, x17, [x9, #128]\n"
	"stp x18, x19, [x9, #144]\nstp x20, x21, [x9, #160]\nstp x22, x23, [x9, #176]\nstp x24, x25, [x9, #192]\n"
	"stp x26, x27, [x9, #208]\nstp x28, x29, [x9, #224]\nmov x10, sp\nstp x30, x10, [x9, #240]\nstr x30, [x9, #256]\n"
	"b dump\n.size snap, . - snap\n"
	/* a function that has stored nothing */
	".global leaf\n.type leaf, %function\nleaf:\n.cfi_startproc\nmov x1, #8\nldr x0, [x1]\nret\n.cfi_endproc\n.size leaf, . - leaf\n"
	".global _start\n.type _start, %function\n_start:\n.cfi_startproc\n.cfi_undefined x30\nmov x29, #0\nmov x30, #0\n"
	"mov x0, sp\nbl begin\n.cfi_endproc\n.size _start, . - _start\n");

void snap(void);
long leaf(void);

#define RECORD __builtin_extract_return_addr(__builtin_return_address(0))

u64 outer_frames[16], outers;

struct context {
	u64 flags, link, stack[3], mask[16], pad, fault, regs[31], sp, pc;
};

void handler(int s, void *info, struct context *c)
{
	u64 own = (u64)__builtin_return_address(0);
	(void)s, (void)info;
	expected[1] = own;
	expected[2] = c->pc;
	expected[3] = c->regs[30];
	count = 4;
	while (outers > 0)
		expected[count++] = outer_frames[--outers];
	snap();
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static long by_pointer(long (*f)(void), long a)
{
	outer_frames[outers++] = (u64)RECORD;
	long r = f() + a;
	__asm__ volatile("" ::: "memory", "x19", "x20", "d8", "d9");
	return r * 3;
}

__attribute__((noinline)) static long recurse(int n)
{
	outer_frames[outers++] = (u64)RECORD;
	long r = n ? recurse(n - 1) : by_pointer(leaf, n);
	__asm__ volatile("" ::: "memory");
	return r + n;
}

__attribute__((noinline)) static long variable(int n)
{
	volatile char *p = __builtin_alloca(n);
	outer_frames[outers++] = (u64)RECORD;
	for (int i = 0; i < n; i++)
		p[i] = n;
	return recurse(3) + p[n / 2];
}

void begin(u64 sp)
{
	struct {
		void (*f)(int, void *, struct context *);
		u64 flags, restorer, mask;
	} act = {handler, 4, 0, 0}; /* SA_SIGINFO */
	top = sp + 16;
	outer_frames[outers++] = (u64)RECORD;
	call(134, 11, (long)&act, 0, 8);
	call(94, variable(100), 0, 0, 0);
	for (;;)
		;
}
