package sampler

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// libraryCalls is a program whose instructions are stepped over: calls through stubs of the linker, which are
// bound at the first call, callbacks, variables of any length, aligned stacks, jump tables.
const libraryCalls = `
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
volatile int go;
static volatile int sink;
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) static int variable(int n) { char *p = alloca(n); memset(p, n, n); return p[n / 2]; }
__attribute__((noinline)) static int aligned(int n) { _Alignas(64) volatile char p[128]; p[n] = n; memset((char *)p, n, 64); return p[n]; }
__attribute__((noinline)) static int deep(int n) { int r = n ? deep(n - 1) : variable(100); sink = r; return r + 1; }
__attribute__((noinline)) static int table(int n)
{
	switch (n) {
	case 0: return variable(n + 20);
	case 1: return aligned(n);
	case 2: return deep(n);
	case 3: return atoi("12");
	case 4: return abs(n) + getpid();
	case 5: return deep(n) + variable(30);
	}
	return n;
}
__attribute__((noinline)) static int last(int n) { return deep(n); }
int main(void)
{
	int list[] = {5, 3, 9, 1, 7, 2, 8};
	char text[200];
	write(1, "r", 1);
	while (!go)
		;
	for (int i = 0; i < 7; i++)
		sink = table(i);
	sink = last(3);
	qsort(list, 7, sizeof *list, order);
	snprintf(text, sizeof text, "%d %s %g %lx", list[0], "text", 3.25, 77L);
	free(malloc(1000));
	return 0;
}
`

// linearAlgebra is a program that calls kernels of OpenBLAS, which are written in assembler and have no tables.
const linearAlgebra = `
#include <cblas.h>
#include <unistd.h>
volatile int go;
static double a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
static float e[SIZE * SIZE], f[SIZE * SIZE], g[SIZE * SIZE];
int main(void)
{
	for (int i = 0; i < SIZE * SIZE; i++)
		a[i] = e[i] = i % 7 + (i % (SIZE + 1) == 0) * 9, b[i] = f[i] = i % 5;
	write(1, "r", 1);
	while (!go)
		;
	cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, SIZE, SIZE - 2, SIZE - 4, 1.5, a, SIZE, b, SIZE, 0.5, c, SIZE);
	cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, SIZE, SIZE - 2, SIZE - 4, 1.5, e, SIZE, f, SIZE, 0.5, g, SIZE);
	cblas_zgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, SIZE - 2, SIZE - 4, 11, a, a, 18, b, 18, b, c, 18);
	cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, SIZE - 1, SIZE - 3, 1, a, SIZE, b, SIZE);
	cblas_strmm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasUnit, SIZE - 1, SIZE - 3, 1, e, SIZE, f, SIZE);
	cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, SIZE, SIZE - 5, 1, a, SIZE, 1, c, SIZE);
	cblas_dgemv(CblasColMajor, CblasNoTrans, SIZE, SIZE, 1, a, SIZE, b, 1, 1, c, 1);
	cblas_sgemv(CblasColMajor, CblasTrans, SIZE, SIZE, 1, e, SIZE, f, 1, 1, g, 1);
	cblas_dsymv(CblasColMajor, CblasUpper, SIZE, 1, a, SIZE, b, 1, 1, c, 1);
	cblas_dger(CblasColMajor, SIZE, SIZE, 1, a, 1, b, 1, c, SIZE);
	cblas_daxpy(SIZE * SIZE, 2, a, 1, b, 1);
	cblas_dscal(SIZE * SIZE, 2, a, 1);
	cblas_dcopy(SIZE * SIZE, a, 1, b, 1);
	cblas_dswap(SIZE * SIZE, a, 1, b, 1);
	cblas_drot(SIZE, a, 1, b, 1, 0.5, 0.5);
	c[0] = cblas_ddot(SIZE * SIZE, a, 1, b, 1) + cblas_dnrm2(SIZE * SIZE, a, 1) + cblas_dasum(SIZE, a, 1) + cblas_idamax(SIZE, a, 1) + cblas_sdot(SIZE, e, 1, f, 1) + cblas_isamax(SIZE, e, 1);
	return 0;
}
`

// stepped is a program that is stepped over.
type stepped struct {
	name, text  string
	compiler    string
	flags       []string
	without     []string // sections that are removed
	environment []string
	every       int // how many instants are one that is compared
	// least is the share of instants, of 1,000, whose stacks must be whole. All others must be cut, or say that
	// frames may be missing.
	least int
}

// TestEachInstruction executes programs instruction by instruction and compares stacks with the return
// addresses that their calls have pushed.
func TestEachInstruction(t *testing.T) {
	tables := []string{".eh_frame", ".eh_frame_hdr"}
	all := []stepped{
		{name: "tables", text: libraryCalls, flags: []string{"-O2"}, every: 3, least: 1000},
		{name: "no optimization", text: libraryCalls, flags: []string{"-O0"}, every: 5, least: 1000},
		{name: "no tables", text: libraryCalls, flags: []string{"-O2", "-fno-asynchronous-unwind-tables"}, every: 3, least: 1000},
		{name: "no tables, static", text: libraryCalls, flags: []string{"-O3", "-static"}, without: tables, every: 3, least: 1000},
		{name: "no tables, frame pointers", text: libraryCalls, flags: []string{"-O2", "-static-pie", "-fno-omit-frame-pointer"}, without: tables, every: 25, least: 1000},
		// Of musl 1.2.5 all are whole. In 1.2.3 a function without a symbol, which qsort_r calls through a pointer, is
		// not marked by ENDBR64.
		{name: "musl", text: libraryCalls, compiler: "musl-gcc", flags: []string{"-O2"}, every: 3, least: 980},
		kernels("Haswell", "13"),
	}
	if *thorough {
		for _, core := range []string{"Zen", "SkylakeX", "Sandybridge", "Barcelona", "Nehalem", "Prescott"} {
			all = append(all, kernels(core, "37"))
		}
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := stepOver(t, c.build(t), c.every, c.environment...)
			t.Logf("%d instructions; %d of %d stacks whole; innermost without tables %d of %d; cut %d, marked %d, wrong %d", n.steps, n.right, n.compared(), n.withoutRight, n.without, n.cut, n.marked, n.wrong)
			if n.wrong > 0 || n.right*1000 < c.least*n.compared() || n.compared() < 100 {
				t.Errorf("of 1,000 stacks %d must be whole, and none wrong:\n%s", c.least, strings.Join(n.examples, "\n"))
			}
		})
	}
}

// kernels returns the program of linear algebra for a processor. Some of its functions in C align their stack, and
// before the last two instructions of those gcc's tables are wrong.
func kernels(core, size string) stepped {
	return stepped{
		name: "OpenBLAS for " + core, text: linearAlgebra, flags: []string{"-O2", "-DSIZE=" + size, "-lopenblas"}, every: 7, least: 999,
		environment: []string{"OPENBLAS_CORETYPE=" + core, "OPENBLAS_NUM_THREADS=1"},
	}
}

// build compiles the program, or skips the test and says what is missing.
func (c *stepped) build(t *testing.T) string {
	t.Helper()
	compiler := "gcc"
	if c.compiler != "" {
		compiler = c.compiler
	}
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skip(err)
	}
	if slices.Contains(c.flags, "-lopenblas") {
		if err := exec.Command("sh", "-c", "echo '#include <cblas.h>' | gcc -E -").Run(); err != nil {
			t.Skip("there is no OpenBLAS to compile with")
		}
	}
	path := build(t, []string{compiler}, "c", c.text, c.flags...)
	for _, section := range c.without {
		if out, err := exec.Command("objcopy", "--remove-section", section, path).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if *thorough {
		c.every = 1
	}
	return path
}
