package gdb_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"sdm/backend"
	"sdm/backend/backendtest"
	"sdm/backend/gdb"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// inLibraries is a program that waits deep in two libraries, in each of two threads.
// One library has no debug information, and its frames can be unwound only after its
// unwind information has been read. A third is loaded later.
var inLibraries = map[string]string{
	"program.c": `#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
extern void through(void (*)(int), int);
extern void inner(int);
extern int inner_data;
extern int twice(int);
int size = 3;
int *points = &inner_data;
void (*calls)(int) = inner;
char text[] = "text";
static void nothing() {}
static void *other(void *arg) { through(inner, 2); return arg; }
static int work(void (*callback)(int), int n)
{
    int sum = n;
    through(callback, 1);
    sum += twice(sum);
    dlopen(LATE, RTLD_NOW);
    return sum;
}
int main(void)
{
    pthread_t t;
    signal(SIGUSR1, (void (*)(int))nothing);
    pthread_create(&t, 0, other, 0);
    puts("ready");
    fflush(stdout);
    return work(inner, size);
}
`,
	"through.c": `#include <alloca.h>
#include <string.h>
static __attribute__((noinline)) void deeper(void (*f)(int), int n)
{
    volatile char room[300];
    char *more = alloca(n * 100);
    memset(more, 1, n * 100);
    memset((char *)room, 0x1a, sizeof room);
    f(n);
    room[0] = more[1];
}
void through(void (*f)(int), int n)
{
    volatile long room[40];
    memset((void *)room, 0x1a, sizeof room);
    deeper(f, n);
    room[1] = n;
}
`,
	"inner.c": `#include <sys/syscall.h>
#include <unistd.h>
int inner_data = 7;
static int many[4] = {1, 2, 3, 4};
int twice(int n)
{
    int m = 2 * n;
    return m + many[0];
}
void inner(int n)
{
    int depth = n;
#ifdef __x86_64__
    long r = SYS_pause;
    __asm__ volatile("syscall" : "+a"(r) : : "rcx", "r11", "memory");
#else
    pause();
#endif
    inner_data += depth;
}
`,
	"late.c": `int late(int n) { return n + 1; }
__attribute__((constructor)) static void begin(void) { late(1); }
`,
}

func buildInLibraries(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range inLibraries {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	library := []string{"-fPIC", "-shared", "-o"}
	for _, args := range [][]string{
		append([]string{"-g", "-O0"}, append(library, at("libinner.so"), at("inner.c"))...),
		append([]string{"-O2", "-fomit-frame-pointer"}, append(library, at("lib[c++] through.so"), at("through.c"))...),
		append([]string{"-g", "-O0"}, append(library, at("liblate.so"), at("late.c"))...),
		{"-g", "-O0", "-pthread", fmt.Sprintf("-DLATE=%q", at("liblate.so")), "-o", at("program"), at("program.c"), at("libinner.so"), at("lib[c++] through.so"), "-ldl", "-Wl,--no-as-needed", "-lm", "-Wl,-rpath," + dir},
	} {
		if b, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %v: %v\n%s", args, err, b)
		}
	}
	return at("program")
}

// waiting starts n processes, and attaches when all threads wait. All have the same
// addresses.
func (r *rig) waiting(program string, n int) (pids []int) {
	r.Helper()
	return r.waitingAs(n, "setarch", "-R", program)
}

// waitingAs starts n processes by a command line.
func (r *rig) waitingAs(n int, line ...string) (pids []int) {
	r.Helper()
	var targets []backend.Target
	for i := range n {
		cmd := exec.Command(line[0], line[1:]...)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			r.Fatal(err)
		}
		r.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			r.Fatalf("%q, %v", line, err)
		}
		pid := cmd.Process.Pid
		r.until(func() bool { return sleeping(pid, 2) }, "a program that waits")
		pids = append(pids, pid)
		targets = append(targets, backend.Target{Rank: rank.ID(i), PID: pid})
	}
	r.own = rank.ID(n)
	r.engine.Attach(r.id(), targets, "", patience)
	return pids
}

// sleeping reports whether a process has so many threads, and all sleep.
func sleeping(pid, threads int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	return len(files) == threads && !slices.ContainsFunc(files, func(f string) bool {
		b, _ := os.ReadFile(f)
		_, state, _ := strings.Cut(string(b), ") ")
		return !strings.HasPrefix(state, "S")
	})
}

// libraryRanks is the number of ranks of that program.
const libraryRanks = 2

// step is a command; "kick" is a signal from elsewhere, and continue is followed by
// one.
type step struct {
	name string
	args protocol.Args
}

// tellStops writes the next stop of n ranks.
func (r *rig) tellStops(b *strings.Builder, n int) {
	r.Helper()
	var stops []protocol.Group
	for id := range n {
		stops = append(stops, r.await(rank.ID(id), protocol.KindStopped))
	}
	tellGroups(b, stops)
}

func tellGroups(b *strings.Builder, groups []protocol.Group) (failed bool) {
	var lines []string
	for _, g := range groups {
		text := fmt.Sprintf("%v [%v] %s", g.Kind, g.Ranks, g.Body)
		for _, c := range g.Columns {
			text += fmt.Sprintf(" %s=%+v", c.Name, c.Values())
		}
		if g.Stack != nil {
			text += "\n" + g.Stack.String()
		}
		lines = append(lines, text)
		failed = failed || g.Kind != protocol.KindResult
	}
	slices.Sort(lines)
	fmt.Fprintln(b, strings.Join(lines, "\n"))
	return failed
}

// TestUnreadLibrariesMakeNoDifference checks that deferred symbols make no difference
// to any answer, whatever command comes first.
func TestUnreadLibrariesMakeNoDifference(t *testing.T) {
	program := buildInLibraries(t)
	line := func(text string) int {
		return 1 + strings.Count(strings.SplitN(inLibraries["program.c"], text, 2)[0], "\n")
	}
	print := func(expr string) step { return step{"print", protocol.Args{Expr: expr}} }
	up := 3
	for name, steps := range map[string][]step{
		"a trace":             {{"backtrace", protocol.Args{}}, {"frame", protocol.Args{Frame: &up}}, {"info locals", protocol.Args{}}},
		"a frame":             {{"up", protocol.Args{Count: 4}}, print("sum"), {"frame", protocol.Args{}}, {"down", protocol.Args{}}},
		"stacks":              {{"stacks", protocol.Args{}}, {"stacks", protocol.Args{By: "address"}}},
		"a full trace":        {{"backtrace", protocol.Args{Full: true}}},
		"another thread":      {{"backtrace", protocol.Args{Thread: 2}}, {"print", protocol.Args{Expr: "n", Thread: 2}}},
		"a chosen thread":     {{"thread", protocol.Args{Thread: 2}}, print("depth"), {"info threads", protocol.Args{}}},
		"threads":             {{"info threads", protocol.Args{}}},
		"all threads":         {{"thread apply", protocol.Args{Threads: "all", Apply: "backtrace"}}},
		"a number":            {print("size"), print("text"), print("$pc")},
		"a pointer":           {print("points")},
		"a function pointer":  {print("calls")},
		"a library's number":  {print("inner_data"), print("nowhere"), print("&twice")},
		"a library's name":    {{"break", protocol.Args{Location: "twice", Breakpoint: 1}}, {"signal", protocol.Args{Signal: "SIGUSR1"}}, {"backtrace", protocol.Args{}}, {"info breakpoints", protocol.Args{}}},
		"steps":               {{"break", protocol.Args{Location: fmt.Sprintf("program.c:%d", line("sum += twice")), Breakpoint: 1}}, {"signal", protocol.Args{Signal: "SIGUSR1"}}, {"step", protocol.Args{}}, {"step", protocol.Args{}}, {"finish", protocol.Args{}}, {"next", protocol.Args{}}},
		"a library that came": {{"break", protocol.Args{Location: "late", Pending: true, Breakpoint: 1}}, {"signal", protocol.Args{Signal: "SIGUSR1"}}, {"backtrace", protocol.Args{}}},
		"a watched library":   {{"watch", protocol.Args{Expr: "inner_data", Breakpoint: 1}}, {"signal", protocol.Args{Signal: "SIGUSR1"}}, {"backtrace", protocol.Args{}}},
		"a stop":              {{"continue", protocol.Args{}}, {"kick", protocol.Args{}}, {"backtrace", protocol.Args{}}, {"finish", protocol.Args{}}, {"next", protocol.Args{}}},
		"a step":              {{"continue", protocol.Args{}}, {"kick", protocol.Args{}}, {"next", protocol.Args{}}, {"next", protocol.Args{}}, {"next", protocol.Args{}}, {"next", protocol.Args{}}},
	} {
		t.Run(name, func(t *testing.T) {
			if steps[0].name == "watch" {
				backendtest.NeedDebugRegisters(t)
			}
			want := ""
			for _, how := range []struct {
				name string
				cfg  gdb.Config
			}{
				{"read at once", gdb.Config{RanksPerGDB: 1, Args: []string{"-iex", "set auto-solib-add on"}}},
				{"alone", gdb.Config{RanksPerGDB: 1}},
				{"shared", gdb.Config{RanksPerGDB: libraryRanks}},
			} {
				t.Run(how.name, func(t *testing.T) {
					got := talkAboutLibraries(t, how.cfg, program, steps)
					if want == "" {
						want = got
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Error(diff)
					}
				})
			}
		})
	}
}

// talkAboutLibraries gives commands to ranks that wait, and returns their answers.
func talkAboutLibraries(t *testing.T, cfg gdb.Config, program string, steps []step) string {
	r := newRig(t, cfg)
	pids := r.waiting(program, libraryRanks)
	var b strings.Builder
	r.tellStops(&b, libraryRanks)
	for _, s := range steps {
		fmt.Fprintln(&b, s.name)
		if s.name == "kick" {
			for _, pid := range pids {
				r.until(func() bool { return sleeping(pid, 2) }, "a program that waits again")
				if err := unix.Tgkill(pid, pid, unix.SIGUSR1); err != nil {
					t.Fatal(err)
				}
			}
			r.tellStops(&b, libraryRanks)
			continue
		}
		failed := tellGroups(&b, r.answers(r.send(libraryRanks, s.name, s.args, patience), libraryRanks))
		info, _ := protocol.LookupCommand(s.name)
		if info.Resumes && !failed && s.name != "continue" {
			r.tellStops(&b, libraryRanks)
		}
	}
	text := b.String()
	for i, pid := range pids {
		text = regexp.MustCompile(fmt.Sprintf(`\b%d\b`, pid)).ReplaceAllString(text, fmt.Sprintf("PID%d", i))
	}
	return regexp.MustCompile(`Thread 0x[0-9a-f]+ \(LWP \w+\)`).ReplaceAllString(text, "Thread")
}

// TestLibrariesAreReadWhenNeeded checks which libraries each command reads.
func TestLibrariesAreReadWhenNeeded(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.waiting(buildInLibraries(t), 1)
	r.stop()
	read := func() string {
		var body struct {
			Libraries []struct {
				Name    string
				Symbols bool
			}
		}
		json.Unmarshal(r.ok("info sharedlibrary", protocol.Args{}).Body, &body)
		var names []string
		for _, l := range body.Libraries {
			// gdb reads that one for its threads
			if name := filepath.Base(l.Name); l.Symbols && strings.HasPrefix(name, "lib") && !strings.HasPrefix(name, "libc.") {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	for _, c := range []struct {
		name string
		args protocol.Args
		want string
	}{
		{"info threads", protocol.Args{}, "libinner.so"}, // where they wait
		{"print", protocol.Args{Expr: "size"}, "libinner.so"},
		{"print", protocol.Args{Expr: "text"}, "libinner.so"},
		{"frame", protocol.Args{}, "libinner.so"},
		{"stacks", protocol.Args{}, "lib[c++] through.so libinner.so"},
		{"backtrace", protocol.Args{Count: 1}, "lib[c++] through.so libinner.so"},
		{"print", protocol.Args{Expr: "nowhere"}, "lib[c++] through.so libinner.so libm.so.6"},
	} {
		r.ask(c.name, c.args)
		if got := read(); got != c.want {
			t.Errorf("after %s %+v: %q, want %q", c.name, c.args, got, c.want)
		}
	}
}

// TestLibrariesOfARankThatRuns checks that a query of the libraries of a running rank
// does not make its gdb, which has just handled another rank, forget them.
func TestLibrariesOfARankThatRuns(t *testing.T) {
	r := newRig(t, gdb.Config{RanksPerGDB: libraryRanks})
	r.waiting(buildInLibraries(t), libraryRanks)
	var unused strings.Builder
	r.tellStops(&unused, libraryRanks)
	r.ok("continue", protocol.Args{})
	r.one(1, "backtrace", protocol.Args{})
	if g := r.ok("info sharedlibrary", protocol.Args{}); !strings.Contains(string(g.Body), "lib[c++] through.so") {
		t.Errorf("got %v", g)
	}
	r.one(1, "backtrace", protocol.Args{})
	// gdb reads them while the rank runs
	r.ok("break", protocol.Args{Location: "twice", Breakpoint: 1})
	r.ok("interrupt", protocol.Args{})
	r.stop()
	if g := r.ok("backtrace", protocol.Args{}); !strings.Contains(string(g.Body), `"func":"through"`) || !strings.Contains(string(g.Body), `"func":"main"`) {
		t.Errorf("got %v", g)
	}
}

// TestRanksOfAGDBHaveTheirOwnAddresses checks that the ranks of a gdb have their own
// addresses, whatever another rank was asked before.
func TestRanksOfAGDBHaveTheirOwnAddresses(t *testing.T) {
	r := newRig(t, gdb.Config{RanksPerGDB: libraryRanks})
	r.waitingAs(libraryRanks, buildInLibraries(t))
	var unused strings.Builder
	r.tellStops(&unused, libraryRanks)
	look := func(id rank.ID, after string) {
		t.Helper()
		for expr, want := range map[string]string{"size": "3", "text": `"text"`} {
			if got := column(r.one(id, "print", protocol.Args{Expr: expr}), "value"); got != want {
				t.Errorf("after %s: %s of rank %d is %s", after, expr, id, got)
			}
		}
	}
	for _, s := range []step{
		{"break", protocol.Args{Location: "main", Breakpoint: 1}},
		{"watch", protocol.Args{Expr: "size", Breakpoint: 2}},
		{"delete", protocol.Args{}},
		{"sharedlibrary", protocol.Args{Expr: "inner"}},
		{"break", protocol.Args{Location: "twice", Breakpoint: 3}},
		{"info sharedlibrary", protocol.Args{}},
	} {
		for id := range rank.ID(libraryRanks) {
			if g := r.one(id, s.name, s.args); g.Kind != protocol.KindResult {
				t.Fatalf("%s: %v", s.name, g)
			}
			look(libraryRanks-1-id, s.name)
			look(id, s.name)
		}
	}
	for id := range rank.ID(libraryRanks) {
		r.one(id, "continue", protocol.Args{})
		r.one(id, "interrupt", protocol.Args{})
		look(libraryRanks-1-id, "interrupt")
		r.await(id, protocol.KindStopped)
		look(id, "interrupt")
	}
}
