package e2e

import (
	"encoding/json"
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

	"sdm/launch/launchtest"
	"sdm/protocol/stack"
)

// pythons are further interpreters for TestPythonStacks.
var pythons = flag.String("pythons", "", "interpreters of Python to test, too, separated by commas")

// TestPythonStacks compares the stacks that the probe shows of frames.py with those that the program
// has recorded, and with what CPython's own faulthandler says. The process has stopped itself, so that
// all see the same instant. The interpreters are this machine's, the roots', which are read from
// outside, and the ones within gdbs.
func TestPythonStacks(t *testing.T) {
	cases := map[string]func(s *scene){
		"python3": func(s *scene) { s.start(systemPython(s.t), framesProgram(s.t), s.record()) },
		"gdb":     func(s *scene) { s.embedded("gdb") },
	}
	for _, name := range []string{"bullseye", "trixie", "forky"} {
		cases["gdb of "+name] = func(s *scene) { s.embedded(launchtest.FindRoot(s.t, name).GDB()) }
	}
	cases["root trixie, perf"] = func(s *scene) { // a trampoline in generated code for each function
		s.pythonInRoot(launchtest.FindRoot(s.t, "trixie"), []string{"-X", "perf"}, framesProgram(s.t), s.record())
	}
	cases["root forky, JIT"] = func(s *scene) {
		s.env = append(s.env, "PYTHON_JIT=1")
		s.pythonInRoot(launchtest.FindRoot(s.t, "forky"), nil, framesProgram(s.t), s.record())
	}
	for _, p := range strings.FieldsFunc(*pythons, func(r rune) bool { return r == ',' }) {
		cases[p] = func(s *scene) { s.start(p, framesProgram(s.t), s.record()) }
	}
	for name, begin := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			begin(s)
			s.comparePython()
		})
	}
}

// framesProgram returns the path of the program.
func framesProgram(t *testing.T) string { return absolute(t, sources+"/frames.py") }

// systemPython returns the interpreter of the system, not of an environment that a user has made.
func systemPython(t *testing.T) string {
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("this machine has no Python: ", err)
	}
	return "/usr/bin/python3"
}

// pythonOfMPI is systemPython, which must have mpi4py.
func pythonOfMPI(t *testing.T) string {
	t.Helper()
	python := systemPython(t)
	if out, err := exec.Command(python, "-c", "import mpi4py.MPI").CombinedOutput(); err != nil {
		t.Fatalf("%s has no mpi4py (python3-mpi4py): %s", python, out)
	}
	return python
}

func (s *scene) record() string { return filepath.Join(s.dir, "record") }

// embedded runs the program within gdb, a program that embeds Python.
func (s *scene) embedded(gdb string) {
	path := framesProgram(s.t)
	if out, err := exec.Command(gdb, "-nx", "-batch", "-ex", "python import ctypes, asyncio").CombinedOutput(); err != nil || len(out) > 0 {
		s.t.Skipf("%s has no whole Python: %v %s", gdb, err, out)
	}
	s.start(gdb, "-nx", "-batch", "-ex", fmt.Sprintf("python RECORD = %q; exec(compile(open(%q).read(), %q, 'exec'))", s.record(), path, path))
}

// pythonInRoot runs a program of Python in a root.
func (s *scene) pythonInRoot(r *launchtest.Root, options []string, program string, args ...string) {
	s.t.Helper()
	argv := r.Argv(s.t, nil, "python3", "-c", "import ctypes")
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		s.t.Skipf("the root has no Python; fetch it anew: %v %s", err, out)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		s.t.Fatal(err)
	}
	s.inRoot(r, "python3", slices.Concat(options, []string{s.file(filepath.Base(program), string(text), 0o644)}, args)...)
}

// recorded is what the program writes: the frames of each thread, outermost first.
type recorded struct {
	Version string
	Stacks  map[string][]frame
}

// frame is a Python function, its file and a line.
type frame struct {
	Function, File string
	Line           int
}

func (f *frame) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&f.Function, &f.File, &f.Line})
}

// comparePython waits until the program has stopped, and compares.
func (s *scene) comparePython() {
	s.t.Helper()
	pid := 0
	s.eventually(time.Minute, func() string {
		for _, p := range s.found() {
			if p.state == "T" {
				pid = p.pid
				return ""
			}
		}
		return fmt.Sprint("no process has stopped itself: ", s.processes[0].said())
	})
	if pid == 0 {
		return
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	var want recorded
	text, err := os.ReadFile(s.record() + ".json")
	if err = errors.Join(err, json.Unmarshal(text, &want)); err != nil {
		s.t.Fatal(err)
	}
	front := s.start("sdm", "stacks", "--gdb", "/nowhere/gdb", "--json", "pids:"+strconv.Itoa(pid))
	front.exits(0)
	if !strings.Contains(front.err.text(), "[0] (1) the lock of Python is held in stop frames.py:") {
		s.t.Errorf("who holds the lock?%s", front.said())
	}
	var tree stack.Tree
	if err := json.Unmarshal([]byte(front.out.text()), &tree); err != nil {
		s.t.Fatal(err, front.said())
	}
	got := pathsOf(tree.Roots())
	s.t.Logf("Python %s, %d threads", want.Version, len(got))
	compareWithDump(s.t, want.Stacks, s.record()+".dump")
	compareWithRecord(s.t, got, want.Stacks)
}

// pathsOf returns the stacks of the threads of a tree, outermost frames first.
func pathsOf(nodes []*stack.Node) (all [][]stack.Frame) {
	for _, n := range nodes {
		below := pathsOf(n.Children())
		for range n.Here() {
			below = append(below, nil)
		}
		for _, p := range below {
			all = append(all, append([]stack.Frame{n.Frame}, p...))
		}
	}
	return all
}

// isPython reports whether a frame is one of Python, by its file.
func isPython(f stack.Frame) bool {
	return strings.HasSuffix(f.File, ".py") || strings.HasPrefix(f.File, "<")
}

// compareWithRecord checks that each recorded stack belongs to a thread, and no other thread has Python
// frames.
func compareWithRecord(t *testing.T, got [][]stack.Frame, want map[string][]frame) {
	t.Helper()
	for _, path := range got {
		var parts [2][]frame // before and after what a deep stack has lost; equal frames in sequence are one there
		part := 0
		for _, f := range path {
			switch {
			case isPython(f):
				for range timesOf(f) {
					parts[part] = append(parts[part], frame{f.Func, f.File, f.Line})
				}
			case f.Func == "...":
				part = 1
			case strings.HasPrefix(f.Func, "_PyEval_") || strings.HasPrefix(f.Func, "_PyObject_") || strings.HasPrefix(f.Func, "(cut"):
				t.Errorf("a frame of the interpreter: %v", path)
			}
		}
		found := ""
		for name, stack := range want {
			if part == 0 && slices.Equal(parts[0], stack) ||
				part == 1 && len(stack) > 4000 && len(parts[0]) > 200 && len(parts[1]) > 200 && hasPrefix(stack, parts[0]) && hasSuffix(stack, parts[1]) {
				found = name
			}
		}
		if found == "" && len(parts[0]) > 0 {
			t.Errorf("not recorded: %v\nwhole: %v", parts, path)
		}
		if found == "in_c" && !between(path, "in_c", "qsort", "in_c.<locals>.compare") {
			t.Errorf("the sorting of C is not between the functions of Python: %v", path)
		}
		delete(want, found)
	}
	for name, stack := range want {
		t.Errorf("thread %s is missing: %v", name, stack)
	}
}

// timesOf returns how many frames a frame stands for.
func timesOf(f stack.Frame) int {
	text, _ := strings.CutPrefix(f.Call, "×")
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return 1
}

func hasPrefix(all, part []frame) bool {
	return len(part) <= len(all) && slices.Equal(all[:len(part)], part)
}

func hasSuffix(all, part []frame) bool {
	return len(part) <= len(all) && slices.Equal(all[len(all)-len(part):], part)
}

// between reports whether functions follow one another; only the beginnings of C's names are compared,
// and qualified names may be missing (before 3.11).
func between(path []stack.Frame, names ...string) bool {
	for _, f := range path {
		name := names[0]
		if i := strings.LastIndexByte(name, '.'); f.Func == name || !isPython(f) && strings.HasPrefix(f.Func, name) || i > 0 && f.Func == name[i+1:] {
			if names = names[1:]; len(names) == 0 {
				return true
			}
		}
	}
	return false
}

// dumped is a frame in the output of faulthandler.
var dumped = regexp.MustCompile(`^  File "(.*)", line (\d+) in (.*)$`)

// compareWithDump checks that what the program has recorded is what faulthandler has written, which
// shows the 100 innermost frames, of the first interpreter, without classes. 3.14 includes frames of
// evaluators in the count; with -X perf each function has an evaluator.
func compareWithDump(t *testing.T, want map[string][]frame, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	threads := 0
	for part := range strings.SplitSeq(string(text), "hread 0x") {
		var stack []frame // innermost first
		for line := range strings.Lines(part) {
			if m := dumped.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil && m[1] != "__init__" { // a frame of the interpreter's own
				n, _ := strconv.Atoi(m[2])
				stack = append(stack, frame{m[3], m[1], n})
			}
		}
		if len(stack) == 0 {
			continue
		}
		threads++
		if !slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(name string) bool { return isDump(name, want[name], stack) }) {
			t.Errorf("faulthandler shows what was not recorded: %v", stack)
		}
	}
	if threads != len(want) {
		t.Errorf("faulthandler shows %d threads, and %d have recorded", threads, len(want))
	}
}

// isDump reports whether faulthandler shows a recorded stack so. It ends at the interpreter's own frame
// in 3.14, at a call of a class.
func isDump(name string, recorded, shown []frame) bool {
	if name == "interpreter" { // the functions of the other interpreter are not shown
		recorded = recorded[:len(recorded)-2]
	}
	if len(shown) > len(recorded) || len(shown) < len(recorded) && len(shown) < 50 && name != "constructor" {
		return false
	}
	for i, f := range shown {
		r := recorded[len(recorded)-1-i]
		bare := r.Function[strings.LastIndexByte(r.Function, '.')+1:]
		if f.File != r.File || f.Line != r.Line || f.Function != bare && f.Function != r.Function {
			return false
		}
	}
	return true
}

// hungScript runs a job of mpi4py, and sdm stacks when all ranks wait. Its arguments are the line of
// mpirun.
const hungScript = `
"$@" -n 4 /usr/bin/python3 $PROGRAM >job.out 2>&1 &
job=$!
until [ "$(grep -c ' waits$' job.out)" = 4 ]; do
	kill -0 $job || { cat job.out; exit 99; }
	sleep 0.1
done
sdm stacks $job
sdm stacks --by function --folded $job
kill -9 $job
`

// TestMPI4Py shows where ranks of mpi4py wait for one another.
func TestMPI4Py(t *testing.T) {
	begin := map[string]func(*scene) *process{
		"this machine": func(s *scene) *process {
			pythonOfMPI(s.t)
			return s.start("bash", "-c", hungScript, "hung", openMPI.command)
		},
	}
	for _, name := range []string{"trixie", "forky"} {
		begin[name] = func(s *scene) *process {
			r := launchtest.FindRoot(s.t, name)
			argv := r.Argv(s.t, nil, "python3", "-c", "import mpi4py.MPI")
			if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
				s.t.Skipf("the root has no mpi4py; fetch it anew: %v %s", err, out)
			}
			return s.inRoot(r, "bash", "-c", hungScript, "hung", openMPI.command)
		}
	}
	for name, start := range begin {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			text, err := os.ReadFile(filepath.Join(filepath.Dir(framesProgram(t)), "hung.py"))
			if err != nil {
				t.Fatal(err)
			}
			s.env = append(s.env, "PROGRAM="+s.file("hung.py", string(text), 0o644))
			p := start(s)
			p.exits(0)
			p.says("[0-3] (4) <module> hung.py:25", "└─ Solver.run hung.py:17", "[0-1,3] (3) Solver.exchange hung.py:22", "[2] (1) Solver.exchange hung.py:21", "<module>;Solver.run;Solver.exchange;")
			p.hides("PyEval", "(cut")
		})
	}
}
