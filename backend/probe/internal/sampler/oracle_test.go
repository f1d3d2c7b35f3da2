package sampler

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/backend/probe/internal/unwind"
)

// thorough makes tests compare more.
var thorough = flag.Bool("thorough", false, "compare stacks after each instruction, with the kernels of more processors, more kinds of programs, and all calls of MPI at all optimisations")

// traces are the program counters of the threads of processes, innermost frame first.
type traces map[int][]uint64

// euFrame is a line of eu-stack.
var euFrame = regexp.MustCompile(`^(?:TID (\d+):|#\d+ +0x([0-9a-f]+))`)

// byEUStack returns what eu-stack of elfutils shows of a process.
func byEUStack(t *testing.T, pid int) traces {
	t.Helper()
	c := exec.Command("eu-stack", "-n", "0", "-p", strconv.Itoa(pid))
	c.Env = append(os.Environ(), "DEBUGINFOD_URLS=", "LC_ALL=C")
	out, _ := c.Output() // its status tells of stacks that it could not follow
	all, tid := traces{}, 0
	for line := range strings.Lines(string(out)) {
		m := euFrame.FindStringSubmatch(line)
		switch {
		case m == nil:
		case m[1] != "":
			tid, _ = strconv.Atoi(m[1])
		default:
			pc, _ := strconv.ParseUint(m[2], 16, 64)
			all[tid] = append(all[tid], pc)
		}
	}
	return all
}

// walkInGDB is a program of gdb: it writes the number of each thread and the addresses of its frames. Those of
// inlined functions and of calls that the compiler has made jumps are left out: they have no frame of their own.
const walkInGDB = `
import gdb, sys
gdb.execute("set debug-file-directory")
gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
for pid in sys.argv_pids:
    try:
        gdb.execute("attach %d" % pid, to_string=True)
        for t in gdb.selected_inferior().threads():
            t.switch()
            pcs, f = [], gdb.newest_frame()
            while f is not None:
                if f.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                    pcs.append("%x" % f.pc())
                try:
                    f = f.older()
                except gdb.error:
                    f = None
            print("TRACE", t.ptid[1], *pcs)
        gdb.execute("detach", to_string=True)
    except gdb.error as e:
        print("FAILED", pid, e)
`

// walkedByGDB returns what one gdb shows of processes.
func walkedByGDB(t *testing.T, pids []int) traces {
	t.Helper()
	script := filepath.Join(t.TempDir(), "walk.py")
	list := strings.ReplaceAll(fmt.Sprint(pids), " ", ", ")
	if err := os.WriteFile(script, []byte(strings.ReplaceAll(walkInGDB, "sys.argv_pids", list)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-x", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	all := traces{}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) > 1 && f[0] == "FAILED" {
			t.Log(s.Text())
		}
		if len(f) < 2 || f[0] != "TRACE" {
			continue
		}
		tid, _ := strconv.Atoi(f[1])
		for _, x := range f[2:] {
			pc, _ := strconv.ParseUint(x, 16, 64)
			all[tid] = append(all[tid], pc)
		}
	}
	return all
}

// freeze stops a process by SIGSTOP and returns when all its threads have stopped.
func (p target) freeze(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(10 * time.Second); time.Now().Before(limit); {
		if p.areAll("T") {
			return
		}
	}
	t.Fatal("it does not stop")
}

// areAll reports whether all threads of a process are in a state.
func (p target) areAll(state string) bool {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.Process.Pid))
	for _, path := range all {
		text, err := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(text), ") ")
		if err != nil || !strings.HasPrefix(rest, state) {
			return false
		}
	}
	return len(all) > 0
}

// comparisons are the threads that were compared.
type comparisons struct {
	threads, both, one, longer int
	wrong                      []string
}

// compareStacks compares our stacks of stopped processes with what eu-stack and gdb show. Ours must be as one
// of them shows it, or longer than both.
func compareStacks(t *testing.T, all map[string]target) (v comparisons) {
	t.Helper()
	titles := slices.Sorted(maps.Keys(all))
	var pids []int
	for _, title := range titles {
		pids = append(pids, all[title].Process.Pid)
	}
	c := New("")
	shots := snapshots(t, c, pids)
	gdb := walkedByGDB(t, pids)
	for i, title := range titles {
		eu := byEUStack(t, pids[i])
		p := c.processes[pids[i]]
		for k := range shots[i].Threads {
			x := &shots[i].Threads[k]
			var ours []uint64
			for _, f := range x.Stack.Frames {
				ours = append(ours, f.PC)
			}
			v.add(title+": "+names(p, x.Stack), ours, p.toCode(eu[x.TID]), p.toCode(gdb[x.TID]), x.Stack.Cut)
		}
	}
	return v
}

// toCode removes outermost frames that are in no code: both show them beyond the end of a stack.
func (p *process) toCode(pcs []uint64) []uint64 {
	for len(pcs) > 0 && !p.Executable(pcs[len(pcs)-1]) {
		pcs = pcs[:len(pcs)-1]
	}
	return pcs
}

func (v *comparisons) add(title string, ours, eu, gdb []uint64, cut string) {
	v.threads++
	longer := func(other []uint64) bool {
		return len(ours) > len(other) && slices.Equal(ours[:len(other)], other)
	}
	switch likeEU, likeGDB := slices.Equal(ours, eu), slices.Equal(ours, gdb); {
	case likeEU && likeGDB:
		v.both++
	case likeEU || likeGDB:
		v.one++
	case longer(eu) && longer(gdb):
		v.longer++
	default:
		v.wrong = append(v.wrong, fmt.Sprintf("%s: ours %#x (%s), eu-stack %#x, gdb %#x", title, ours, cut, eu, gdb))
	}
}

// kind is a program whose stacks are compared.
type kind struct {
	compiler string
	source   string // in testdata
	flags    string
	thorough bool // only with -thorough
	blind    bool // there are no tables, so that eu-stack and gdb do not know either
}

var kinds = []kind{
	{"gcc", "scenes.c", "-O0 -g", false, false},
	{"gcc", "scenes.c", "-O2", true, false},
	{"gcc", "scenes.c", "-O3 -g -fomit-frame-pointer -no-pie", false, false},
	{"gcc", "scenes.c", "-O2 -s", true, false},
	{"gcc", "scenes.c", "-O2 -static", true, false},
	{"gcc", "scenes.c", "-O3 -static -s", false, false},
	{"gcc", "scenes.c", "-O2 -static-pie", true, false},
	{"gcc", "scenes.c", "-Og -fno-plt -fstack-protector-strong", true, false},
	{"gcc", "scenes.c", "-O2 -Wl,--no-eh-frame-hdr", true, false},
	{"gcc", "scenes.c", "-O2 -g -gz -fno-asynchronous-unwind-tables", false, false},
	{"gcc", "scenes.c", "-O1 -fno-asynchronous-unwind-tables", true, true},
	{"musl-gcc", "scenes.c", "-O2 -DNO_CONTEXT", false, true},
	{"musl-gcc", "scenes.c", "-O2 -DNO_CONTEXT -static", true, true},
	{"g++", "scenes.cpp", "-O0 -g", true, false},
	{"g++", "scenes.cpp", "-O2", false, false},
	{"g++", "scenes.cpp", "-O3 -static -g", true, false},
	{"gfortran", "scenes.f90", "-O0 -g", true, false},
	{"gfortran", "scenes.f90", "-O2", false, false},
	{"go", "scenes.go.txt", "", false, false},
	{"go", "scenes.go.txt", "-ldflags=-s", true, true},
}

// start compiles and starts the program, which ends with the test all.
func (k *kind) start(t, all *testing.T) target {
	t.Helper()
	if _, err := exec.LookPath(k.compiler); err != nil {
		t.Skip(err)
	}
	path := filepath.Join(all.TempDir(), "program")
	source := filepath.Join("testdata", k.source)
	line := append(strings.Fields(k.flags), "-pthread", "-w", "-o", path, source)
	switch k.compiler {
	case "gfortran":
		line = append(line, "-J", t.TempDir()) // for the files of its modules
	case "go":
		source = filepath.Join(t.TempDir(), "main.go")
		text, err := os.ReadFile(filepath.Join("testdata", k.source))
		if err := errors.Join(err, os.WriteFile(source, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		line = append(append([]string{"build"}, strings.Fields(k.flags)...), "-o", path, source)
	}
	if out, err := exec.Command(k.compiler, line...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return runIn(all, path, "PLUGIN="+pluginOf(t, path, k))
}

// pluginOf compiles a library that the program loads and deletes. Static programs load none.
func pluginOf(t *testing.T, program string, k *kind) string {
	t.Helper()
	path := program + ".so"
	if k.compiler != "gcc" && k.compiler != "musl-gcc" || strings.Contains(k.flags, "-static") {
		return ""
	}
	c := exec.Command(k.compiler, "-O2", "-shared", "-fPIC", "-o", path, "-x", "c", "-")
	c.Stdin = strings.NewReader("int sink; void plugin(void (*f)(void)) { f(); sink++; }")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// scenes are the functions of scenes.c in which its threads stand, outermost first.
var scenes = []string{
	"main", "by_signal handler wait_here", "on_alternate_stack handler wait_here", "through_null handler wait_here", "deep recurse wait_here",
	"variable room wait_here", "loaded plugin wait_here", "callback order wait_here", "once wait_here", "no_return wait_for_ever wait_here", "in_vdso", "in_stubs",
}

// checkScenes checks that threads stand where they are.
func (p target) checkScenes(t *testing.T, k kind) {
	t.Helper()
	var all []string
	for _, thread := range functions(New("").Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0]) {
		var own []string
		for f := range strings.FieldsSeq(thread) {
			if (len(own) == 0 || own[len(own)-1] != f) && slices.ContainsFunc(scenes, func(s string) bool { return slices.Contains(strings.Fields(s), f) }) {
				own = append(own, f)
			}
		}
		all = append(all, strings.Join(own, " "))
	}
	for _, want := range scenes {
		if want == "loaded plugin wait_here" && strings.Contains(k.flags, "-static") {
			continue
		}
		if !slices.Contains(all, want) {
			t.Errorf("no thread stands in %s, but\n%s", want, strings.Join(functions(New("").Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0]), "\n"))
		}
	}
}

// TestStacksOfAllKinds freezes programs of all kinds and compares their stacks with those that eu-stack and
// gdb show.
func TestStacksOfAllKinds(t *testing.T) {
	all := map[string]target{}
	for _, k := range kinds {
		if k.thorough && !*thorough {
			continue
		}
		t.Run(k.compiler+" "+k.flags, func(sub *testing.T) {
			p := k.start(sub, t)
			p.freeze(sub)
			if k.source == "scenes.c" && !strings.Contains(k.flags, "-s") {
				p.checkScenes(sub, k)
			}
			if !k.blind {
				all[k.compiler+" "+k.flags] = p
			}
		})
	}
	if _, err := exec.LookPath("eu-stack"); err != nil {
		t.Skip(err)
	}
	v := compareStacks(t, all)
	t.Logf("%d threads: as both %d, as one %d, longer %d", v.threads, v.both, v.one, v.longer)
	if len(v.wrong) > 0 {
		t.Error(strings.Join(v.wrong, "\n"))
	}
}

// names returns the functions of a stack, innermost first.
func names(p *process, s unwind.Stack) string {
	var all []string
	for _, f := range s.Frames {
		places, _ := p.at(f.Lookup())
		all = append(all, places[len(places)-1].Function)
	}
	return strings.Join(all, " ")
}

// build compiles a program.
func build(t *testing.T, compiler []string, language, text string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	line := append(append(slices.Clone(compiler), "-o", path, "-x", language, "-", "-x", "none"), flags...)
	cc := exec.Command(line[0], line[1:]...)
	cc.Stdin = strings.NewReader(text)
	if text, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return path
}
