package sampler

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sdm/backend/probe/internal/expression"
	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/variable"
)

// valued is a program in one language, with expressions that have a value in it and others that have none.
type valued struct {
	compiler, language string
	files              []string // file name, then text
	link               []string
	values             [][2]string // as it is written, and as gdb wants it; "": the same
	refused            [][2]string // an expression, and a part of what is said
}

var valuedC = valued{
	compiler: "gcc", language: "c",
	files: []string{"one.c", `
#include <unistd.h>
struct opaque;
typedef struct grid { int iter[4]; double h; struct grid *next; unsigned a:3, b:7; int c:20; long long w:40;
	union { int x; float y; }; struct { struct { short deep; } s; }; struct opaque *o; } grid_t;
extern struct opaque *hidden(void);
long step = 41;
static int counter = 5;
static int twice = 1;
static const int constant = 3;
grid_t g = {{1, 2, 3, 4}, 2.5, 0, 5, 100, -7, 123456789012LL, {77}, {{-9}}, 0};
grid_t *p = &g, **pp = &p;
grid_t arr[2];
int a[5] = {10, 11, 12, 13, 14}, m[2][3] = {{1, 2, 3}, {4, 5, 6}}, (*pa)[3] = m, idx = 2;
const volatile char name[8] = "solver";
double *nul;
int *wild = (int *)8;
void *blank = &step;
enum color { RED, GREEN = 5 } color = GREEN;
unsigned char u8 = 200;
signed char s8 = -3;
_Atomic int at = 9;
_Thread_local int perthread = 3;
float real = 1.5f;
int main(int argc, char **argv);
int (*function)(int, char **) = main;
__attribute__((noinline, noclone)) static int loop(int local)
{
	static int inner = 77;
	__asm__ volatile("" : "+m"(inner), "+m"(counter), "+m"(twice), "+r"(local));
	return inner + local + constant + perthread;
}
int main(int argc, char **argv)
{
	g.next = &arr[1];
	g.o = hidden();
	arr[1].h = 6.25;
	arr[1].iter[0] = -5;
	int n = loop(argc);
	(void)!write(1, "r", 1);
	for (;;) n += pause();
	return n;
}
`, "two.c", `
struct opaque { int n; long q[2]; };
static struct opaque it = {31, {7, 8}};
static int twice = 2;
struct opaque *hidden(void) { __asm__ volatile("" : "+m"(twice)); return &it; }
`},
	values: [][2]string{
		{"step"}, {"counter"}, {"g.iter[2]"}, {"p->iter[idx]"}, {"p.iter[1]"}, {"p->next->h"}, {"*p"}, {"**pp"}, {"(*pp)->x"}, {"(**pp).y"},
		{"p->a"}, {"g.b"}, {"p->c"}, {"p->w"}, {"g.s.deep"}, {"a[3]"}, {"a"}, {"m[1][2]"}, {"m[1]"}, {"*m[1]"}, {"**m"}, {"arr[1].iter[0]"},
		{"pa[1][2]"}, {"*a"}, {"p->o->n"}, {"p->o->q[1]"}, {"color"}, {"at"}, {"name"}, {"real"}, {"u8"}, {"s8"}, {"blank"}, {"function"},
		{"inner", "loop::inner"}, {"loop::inner"}, {"'two.c'::twice"}, {"'one.c'::twice"}, {"a[idx+1]", "a[3]"}, {"a[u8-198]", "a[2]"},
		{"a[-s8]", "a[3]"}, {"m[idx-1][2*1]", "m[1][2]"}, {"::step", "step"}, {"a[color-2]", "a[3]"}, {"a[p->a-2]", "a[3]"},
	},
	refused: [][2]string{
		{"twice", "several variables are called twice: say which ('one.c'::twice, 'two.c'::twice)"}, {"perthread", "variable of each thread"},
		{"nosuch", "there is no global or static variable nosuch"}, {"nul[0]", "nul is a null pointer"}, {"*wild", "*wild cannot be read: there is no memory"},
		{"*step", "step is no pointer"}, {"step.x", "step has no components"}, {"g.zzz", "g has no component zzz"}, {"a[7]", "index 7 of a is not within 0 and 4"}, {"p[5000000000]", "index 5000000000 of p is too large"},
		{"a[-1]", "index -1 of a"}, {"a.x", "a is an array"}, {"n", "n is a local variable of main"}, {"main", "there is no"}, {"a[real]", "real is no integer"},
		{"*blank", "the size of *blank is not known"}, {"blank->x", "type of blank is not known"}, {"step[1]", "step is no array and no pointer"}, {"arr[0].next->h", "arr[0].next is a null pointer"},
		{"m[1,2]", "brackets of its own"}, {"*function", "the size of *function is not known"}, {"real+1", "real is no integer"}, {"three::step", "there is no"}, {"'three.c'::step", "there is no"},
	},
}

var valuedCPP = valued{
	compiler: "g++", language: "c++",
	files: []string{"one.cpp", `
#include <unistd.h>
#include <memory>
#include <vector>
namespace sim {
int step = 3;
namespace { int hidden = 4; }
inline namespace v2 { int versioned = 5; }
struct Domain { static int cycle; int n = 8; Domain *next = nullptr; };
int Domain::cycle = 17;
template <class T> struct Box { static int count; T v; };
template <class T> int Box<T>::count = 23;
template struct Box<int>;
template struct Box<std::vector<int> >;
struct State *open();
State *state;
}
struct Base { int b = 31; virtual ~Base() {} };
struct Other { int o = 32; };
struct Derived : Base, Other { int d = 33; std::vector<int> v{1, 2, 3}; };
struct Virtual : virtual Base, virtual Other { int q = 34; };
Derived derived;
Derived &ref = derived;
Base *base = &derived;
Derived *pd = &derived;
Virtual virt, *pv = &virt;
std::unique_ptr<sim::Domain> owner(new sim::Domain);
struct Holder { Derived &r; const int &n; } holder = {derived, sim::step};
__attribute__((noinline, noclone)) static void loop() { static int inside = 41; asm volatile("" : "+m"(inside), "+m"(sim::hidden)); }
int main()
{
	loop();
	sim::Box<int>::count++;
	asm volatile("" : "+m"(sim::Box<int>::count));
	sim::state = sim::open();
	if (write(1, "r", 1) < 0) return 1;
	for (;;) pause();
}
`, "two.cpp", `
namespace early { struct State { long pad[9]; int n; } kept; }
namespace sim { struct State { int n = 51; }; State *open() { static State it; asm volatile("" : "+m"(early::kept)); return &it; } }
`},
	values: [][2]string{
		{"state->n", "sim::state->n"}, {"sim::step"}, {"::sim::step", "sim::step"}, {"step", "sim::step"}, {"sim::hidden", "'sim::(anonymous namespace)::hidden'"},
		{"sim::(anonymous namespace)::hidden", "'sim::(anonymous namespace)::hidden'"}, {"hidden", "'sim::(anonymous namespace)::hidden'"}, {"sim::versioned", "'sim::v2::versioned'"},
		{"sim::Domain::cycle"}, {"Domain::cycle", "sim::Domain::cycle"}, {"cycle", "sim::Domain::cycle"}, {"sim::Box<int>::count"},
		{"sim::Box<std::vector<int, std::allocator<int>>>::count", "sim::Box<std::vector<int, std::allocator<int> > >::count"},
		{"derived.d"}, {"derived.b"}, {"derived.o"}, {"ref.d"}, {"ref"}, {"pd->o"}, {"base->b"}, {"virt.b"}, {"pv->o"}, {"pv->q"}, {"virt.q"}, {"pd->v._M_impl._M_start[1]"},
		{"holder.r.o"}, {"holder.n"}, {"inside", "'loop()'::inside"}, {"loop::inside", "'loop()'::inside"},
	},
	refused: [][2]string{
		{"count", "several variables are called count: say which (sim::Box<"}, {"owner->n", "owner has no component n"}, {"derived.v[1]", "derived.v is no array and no pointer"},
		{"sim::nosuch", "there is no"}, {"::cycle", "there is no"}, {"base->d", "base has no component d"}, {"owner._M_t._M_t._M_head_impl->n", "has several components _M_head_impl"},
	},
}

var valuedFortran = valued{
	compiler: "gfortran", language: "fortran",
	files: []string{"one.f90", `
module sim
  implicit none
  type inner
    integer :: it(4) = [1, 2, 3, 4]
  end type
  type state
    integer :: step = 12
    real(8) :: t = 0.5d0
    type(inner) :: g
    real(8), allocatable :: u(:,:)
    type(inner), pointer :: link => null()
    integer, pointer :: n => null()
  end type
  integer :: step = 7
  type(state), target :: s
  type(state), pointer :: ps => null()
  class(state), pointer :: cs => null()
  integer, allocatable, target :: al(:,:)
  integer, allocatable :: sc, empty(:)
  integer, pointer :: slice(:) => null(), nothing(:) => null()
  real(4) :: fixed(-1:2, 3)
  type(state), allocatable :: many(:)
  character(len=12) :: word = 'hello'
  integer, parameter :: constant = 4
contains
  subroutine work(local)
    integer, intent(inout) :: local
    integer, save :: kept = 55
    kept = kept + local
    local = kept
  end subroutine
end module
module other
  integer :: twin = 1
end module
module another
  integer :: twin = 2
end module
program foo
  use sim
  use other, only: a => twin
  use another, only: b => twin
  implicit none
  integer :: i, j, own
  integer, save, volatile :: saved
  integer :: common1, common2
  common /blk/ common1, common2
  interface
    subroutine ready() bind(c)
    end subroutine
  end interface
  saved = 4 + a + b
  common1 = 61
  common2 = 62
  own = 1
  allocate(ps, cs, sc, al(0:3,2:5), many(3), empty(5:2))
  allocate(s%u(2,3), ps%link, ps%n)
  do i = 1, 2
    do j = 1, 3
      s%u(i,j) = 10*i + j
    end do
  end do
  do i = 0, 3
    do j = 2, 5
      al(i,j) = 100*i + j
    end do
  end do
  do i = -1, 2
    do j = 1, 3
      fixed(i,j) = i + 10*j
    end do
  end do
  slice => al(1,2:5:2)
  sc = 9
  ps%n = 8
  cs%step = 13
  many(2)%g%it(3) = 99
  call work(own)
  call ready()
  print *, own, saved, s%u, al, fixed, slice, common1, common2, empty
end program
`, "two.c", `
#include <unistd.h>
void ready(void) { (void)!write(1, "r", 1); for (;;) pause(); }
`},
	link: []string{"-lgfortran"},
	values: [][2]string{
		{"sim::step"}, {"step", "sim::step"}, {"SIM::Step", "sim::step"}, {"sim::s%step"}, {"s%step", "sim::s%step"}, {"s%g%it(3)", "sim::s%g%it(3)"}, {"s%u(2,3)", "sim::s%u(2,3)"},
		{"ps%step", "sim::ps%step"}, {"ps%link%it(2)", "sim::ps%link%it(2)"}, {"ps%n", "sim::ps%n"}, {"*ps%n", "sim::ps%n"}, {"cs%step", "sim::cs%_data%step"}, {"cs%t", "sim::cs%_data%t"}, {"cs", "sim::cs%_data"},
		{"al(1,4)", "sim::al(1,4)"}, {"al(0,2)", "sim::al(0,2)"}, {"al(sc-8,5)", "sim::al(1,5)"}, {"sc", "sim::sc"}, {"fixed(-1,2)", "sim::fixed(-1,2)"}, {"fixed(2,3)", "sim::fixed(2,3)"},
		{"fixed", "sim::fixed"}, {"slice(2)", "sim::slice(2)"}, {"many(2)%g%it(3)", "sim::many(2)%g%it(3)"}, {"word", "sim::word"}, {"saved", "foo::saved"}, {"foo::saved"},
		{"other::twin"}, {"another::twin"}, {"sim::work::kept"}, {"kept", "sim::work::kept"}, {"s%t", "sim::s%t"}, {"common2", "foo::common2"}, {"al", "sim::al"},
	},
	refused: [][2]string{
		{"twin", "several variables are called twin: say which (other::twin, another::twin)"}, {"own", "own is a local variable of foo"}, {"nothing(1)", "nothing is not allocated or associated"},
		{"empty(7)", "index 7 of empty is not within"}, {"al(4,2)", "index 4 of al is not within 0 and 3"}, {"al(1)", "al has 2 dimensions, not 1"}, {"s%link%it(1)", "s%link is not allocated or associated"}, {"s%nosuch", "s has no component nosuch"},
		{"slice", "do not follow one another"}, {"sim::nosuch", "there is no"}, {"many(1)%u(1,1)", "many(1)%u is not allocated"}, {"word(2)", "word is no array"},
	},
}

// compile compiles files to objects, and links them.
func (v *valued) compile(t *testing.T, flags ...string) (program string) {
	t.Helper()
	dir := t.TempDir()
	program = filepath.Join(dir, "program")
	line := append(slices.Clone(flags), "-o", program)
	for i := 0; i < len(v.files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, v.files[i]), []byte(v.files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
		line = append(line, v.files[i])
	}
	cc := exec.Command(v.compiler, append(line, v.link...)...)
	cc.Dir = dir
	if text, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return program
}

// askGDB evaluates expressions of a file, and says where they are and what is there.
const askGDB = `
import gdb, json, sys
fields = {"p->a": 3, "g.b": 7, "p->c": 20, "p->w": 40} # with their bits
gdb.execute("set language " + language)
inferior = gdb.selected_inferior()
for e in expressions:
    try:
        v = gdb.parse_and_eval(e)
        if v.type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            v = v.referenced_value()
        while language == "fortran" and v.type.code == gdb.TYPE_CODE_PTR:
            v = v.dereference()
        at = v.address
        if e in fields:
            answer = {"bits": int(v) & ((1 << fields[e]) - 1)}
        else:
            n = v.dynamic_type.sizeof if language == "fortran" else v.type.sizeof
            answer = {"addr": int(at), "bytes": bytes(inferior.read_memory(int(at), n)).hex()}
    except Exception as x:
        answer = {"error": str(x)}
    sys.stdout.write("answer " + json.dumps(answer) + "\n")
`

// fromGDB is what gdb says of an expression.
type fromGDB struct {
	Addr  uint64
	Bytes string
	Bits  *uint64
	Error string
}

// gdbValues asks gdb for expressions in a process.
func gdbValues(t *testing.T, pid int, language string, exprs []string) (all []fromGDB) {
	t.Helper()
	list, err := json.Marshal(exprs)
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "ask.py")
	if err := os.WriteFile(script, []byte(fmt.Sprintf("language = %q\nexpressions = %s\n%s", language, list, askGDB)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("gdb", "-nx", "-batch", "-p", fmt.Sprint(pid), "-x", script).Output()
	if err != nil {
		t.Fatalf("gdb: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		if text, is := strings.CutPrefix(line, "answer "); is {
			var a fromGDB
			if err := json.Unmarshal([]byte(text), &a); err != nil {
				t.Fatal(err)
			}
			all = append(all, a)
		}
	}
	if len(all) != len(exprs) {
		t.Fatalf("gdb answers %d of %d:\n%s", len(all), len(exprs), out)
	}
	return all
}

// valueIn evaluates an expression in a process.
func valueIn(t *testing.T, c *Sampler, pid int, text string) (variable.Value, error) {
	t.Helper()
	e, err := expression.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.look(pid)
	if err != nil {
		t.Fatal(err)
	}
	return variable.Evaluate(e, p.variables(), hold.Memory(p.pid))
}

// TestValues compares the places and values of expressions with those that gdb finds.
func TestValues(t *testing.T) {
	for _, v := range []*valued{&valuedC, &valuedCPP, &valuedFortran} {
		all := []string{"-g -O0", "-g -O2"}
		if *thorough || v.language == "c" {
			all = append(all, "-O2 -gdwarf-4 -gz -fno-pie -no-pie")
		}
		if *thorough && v.language == "c++" { // of the other programs it removes nearly all variables
			all = append(all, "-O1 -g3 -flto")
		}
		for _, flags := range all {
			t.Run(v.language+" "+flags, func(t *testing.T) {
				t.Parallel()
				v.check(t, strings.Fields(flags))
			})
		}
	}
}

func (v *valued) check(t *testing.T, flags []string) {
	target := run(t, v.compile(t, flags...))
	pid, c := target.Process.Pid, New("")
	var exprs []string
	for _, x := range v.values {
		exprs = append(exprs, x[len(x)-1])
		if x[1] == "" {
			exprs[len(exprs)-1] = x[0]
		}
	}
	type answer struct {
		variable.Value
		err error
	}
	var ours []answer
	for _, x := range v.values {
		got, err := valueIn(t, c, pid, x[0])
		ours = append(ours, answer{got, err})
	}
	for i, want := range gdbValues(t, pid, v.language, exprs) {
		got := ours[i]
		switch {
		case got.err != nil && want.Error != "" && slices.Contains(flags, "-flto"): // the compiler has removed it
		case got.err == nil && strings.Contains(want.Error, "NoneType") && strings.HasSuffix(v.values[i][0], "hidden") && slices.Contains(flags, "-flto"):
			// Of gcc 14 there are two descriptions of it, and gdb 16 takes the one without a place: the variable itself tells.
			if hex.EncodeToString(got.Bytes) != "04000000" {
				t.Errorf("%s: %x, want 4", v.values[i][0], got.Bytes)
			}
		case got.err != nil || want.Error != "":
			t.Errorf("%s: %v, gdb: %+v", v.values[i][0], got.err, want)
		case want.Bits != nil:
			if len(got.Bytes) != 8 || binary.LittleEndian.Uint64(got.Bytes) != *want.Bits {
				t.Errorf("%s: %x, gdb: %d", v.values[i][0], got.Bytes, *want.Bits)
			}
		case got.Addr != want.Addr || hex.EncodeToString(got.Bytes) != want.Bytes:
			t.Errorf("%s: at %#x %x, gdb: at %#x %s", v.values[i][0], got.Addr, got.Bytes, want.Addr, want.Bytes)
		}
	}
	if slices.Contains(flags, "-flto") {
		return
	}
	for _, x := range v.refused {
		if got, err := valueIn(t, c, pid, x[0]); err == nil || !strings.Contains(err.Error(), x[1]) {
			t.Errorf("%s: %+v, %v, want %s", x[0], got, err, x[1])
		}
	}
}

// TestValuesOfLibraries has a variable of a library, of which the program has a copy that both use, a variable that
// only the library has, one of a library that is loaded late, and a program without debug information.
func TestValuesOfLibraries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	library := valued{compiler: "gcc", files: []string{"lib.c", `
int shared_step = 1;
struct state { int n, m; } both = {3, 41};
static struct { int n; } own = {21};
void count(void) { shared_step += 4; __asm__ volatile("" : "+m"(own)); }
`}, link: []string{"-shared", "-fPIC", "-Wl,-soname,libwork.so"}}
	if err := os.Rename(library.compile(t, "-g", "-O1"), filepath.Join(dir, "libwork.so")); err != nil {
		t.Fatal(err)
	}
	program := valued{compiler: "gcc", files: []string{"main.c", `
#include <unistd.h>
extern int shared_step;
extern struct state both;
void *volatile use = &both;
void count(void);
int bare = 5;
static struct { int n; } described;
int main(void) { count(); __asm__ volatile("" : "+m"(described)); if (write(1, "r", 1) < 0) return shared_step; for (;;) pause(); }
`}, link: []string{"-L" + dir, "-lwork", "-Wl,-rpath," + dir}}
	for _, flags := range []string{"-fno-pie -no-pie", "-fpie -pie", "-fno-pie -no-pie -g"} {
		pid, c := run(t, program.compile(t, strings.Fields(flags)...)).Process.Pid, New("")
		for _, x := range [][2]string{{"shared_step", "05000000"}, {"own.n", "15000000"}, {"both.m", "29000000"}, {"bare", "05000000"}} {
			if got, err := valueIn(t, c, pid, x[0]); err != nil || hex.EncodeToString(got.Bytes) != x[1] {
				t.Errorf("%s: %s is %x, %v", flags, x[0], got.Bytes, err)
			}
		}
		if strings.Contains(flags, "-g") {
			continue
		}
		for _, x := range [][2]string{{"described.n", "compile the program with -g"}, {"nosuch", "compile the program with -g"}} {
			if got, err := valueIn(t, c, pid, x[0]); err == nil || !strings.Contains(err.Error(), x[1]) {
				t.Errorf("%s: %s is %x, %v", flags, x[0], got.Bytes, err)
			}
		}
	}
}
