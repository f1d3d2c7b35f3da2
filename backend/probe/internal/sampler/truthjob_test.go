package sampler

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/launch/launchtest"
)

// truth is a job that waits in one call of MPI after another and says what it waits for
// (testdata/mpitruth).
type truth struct {
	pids  [4]int
	goes  *os.File
	said  *os.File
	lines *bufio.Reader
	cases map[int]*[4]claim // by number
}

// claim is what a rank says of a case.
type claim struct {
	text string // "": nothing yet
	left bool
}

// patience bounds the wait for what a job says.
const patience = 30 * time.Second

// mpiEnvironment returns the variables that MPI needs in tests.
func mpiEnvironment(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../../../testdata/mpi.env")
	if err != nil {
		t.Fatal(err)
	}
	env := os.Environ()
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			env = append(env, line)
		}
	}
	return env
}

// compileTruth compiles the program with the compilers of a family. It returns its path.
func compileTruth(t *testing.T, family string, fortran bool, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	sources := func(pattern string) (all []string) {
		names, err := filepath.Glob(filepath.Join("testdata/mpitruth", pattern))
		if err != nil || len(names) == 0 {
			t.Fatal("no ", pattern, " ", err)
		}
		for _, name := range names {
			path, _ := filepath.Abs(name)
			all = append(all, path)
		}
		return all
	}
	compile := func(compiler string, args ...string) {
		cmd := exec.Command(compiler+"."+family, append(args, flags...)...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	c := []string{"-w", "-c"}
	linker := "mpicc"
	if fortran {
		c = append(c, "-DFORTRAN")
		linker = "mpif90"
		compile("mpif90", append([]string{"-c"}, sources("*.F90")...)...)
	}
	compile("mpicc", append(c, sources("*.c")...)...)
	compile("mpicxx", append([]string{"-w", "-fno-exceptions", "-fno-rtti", "-c"}, sources("*.cpp")...)...)
	objects, _ := filepath.Glob(filepath.Join(dir, "*.o"))
	program := filepath.Join(dir, "mpitruth")
	compile(linker, append([]string{"-Wl,--as-needed", "-o", program}, objects...)...) // other releases lack some libraries
	return program
}

// startTruth starts a job of 4 ranks: a command and its arguments, of which DIRECTORY stands for the
// directory of the job. In a root it sees the folder of the program.
func startTruth(t *testing.T, root *launchtest.Root, program string, argv ...string) *truth {
	t.Helper()
	dir := t.TempDir()
	j := &truth{cases: map[int]*[4]claim{}, goes: fifo(t, filepath.Join(dir, "go")), said: fifo(t, filepath.Join(dir, "said"))}
	j.lines = bufio.NewReader(j.said)
	argv = slices.Clone(argv)
	argv[slices.Index(argv, "DIRECTORY")] = dir
	if root != nil {
		argv = root.Argv(t, []string{filepath.Dir(program), dir}, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(mpiEnvironment(t), "LD_LIBRARY_PATH="+filepath.Dir(program)) // where a test may have put a library
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = patience
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		for _, pid := range j.pids { // a rank that is not in its call ends by no message
			if pid > 0 && t.Failed() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s", said.String())
		}
	})
	for r := range j.pids {
		for j.of(0)[r].text == "" {
			j.hear(t, true)
		}
		if _, err := fmt.Sscanf(j.of(0)[r].text, "pid %d", &j.pids[r]); err != nil {
			t.Fatal(err)
		}
		if root != nil {
			j.pids[r] = outside(t, j.pids[r], program, dir)
		}
	}
	return j
}

func fifo(t *testing.T, path string) *os.File {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// outside returns the number that a process has here which has another one in its root: of a program
// with an argument.
func outside(t *testing.T, inner int, program, arg string) int {
	t.Helper()
	names, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, name := range names {
		text, _ := os.ReadFile(name) // others end meanwhile
		_, ids, _ := strings.Cut(string(text), "NSpid:")
		ids, _, _ = strings.Cut(ids, "\n")
		all := strings.Fields(ids)
		if len(all) < 2 || all[len(all)-1] != strconv.Itoa(inner) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		if bytes.Contains(line, []byte("\x00"+arg+"\x00")) && bytes.Contains(line, []byte(program+"\x00")) {
			pid, _ := strconv.Atoi(all[0])
			return pid
		}
	}
	t.Fatalf("no process %d in a root", inner)
	return 0
}

func (j *truth) of(number int) *[4]claim {
	c := j.cases[number]
	if c == nil {
		c = &[4]claim{}
		j.cases[number] = c
	}
	return c
}

// hear reads what the ranks say: one line, for which it waits, or all that is there.
func (j *truth) hear(t *testing.T, wait bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Millisecond) // nothing is read behind a deadline
	if wait {
		deadline = time.Now().Add(patience)
	}
	if err := j.said.SetReadDeadline(deadline); err != nil {
		t.Fatal(err)
	}
	for {
		line, err := j.lines.ReadString('\n')
		if errors.Is(err, os.ErrDeadlineExceeded) && !wait && line == "" {
			return
		}
		if err != nil {
			last := len(j.cases) - 1
			t.Fatalf("the job does not go on: %v %q, cases %d: %+v, then %+v", err, line, last, j.of(last-1), j.of(last))
		}
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		r, _ := strconv.Atoi(fields[0])
		number, err := strconv.Atoi(fields[1])
		if err != nil || len(fields) != 3 || r < 0 || r > 3 {
			t.Fatalf("%q", line)
		}
		c := &j.of(number)[r]
		if fields[2] == "left" {
			c.left = true
		} else {
			c.text = fields[2]
		}
		if wait {
			return
		}
	}
}

// allow lets the last rank take part in a case.
func (j *truth) allow(t *testing.T) {
	t.Helper()
	if _, err := j.goes.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
}
