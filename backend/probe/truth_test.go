package probe

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/backend/probe/argument"
	"sdm/backend/probe/hold"
	"sdm/backend/probe/mpi"
	"sdm/backend/probe/snapshot"
	"sdm/protocol/stack"
)

// truth is a job that waits in one call of MPI after another and writes down what it waits for
// (testdata/mpitruth.c).
type truth struct {
	dir  string
	pids [4]int
	goes *os.File
}

// mpiEnvironment returns the variables that MPI needs in tests.
func mpiEnvironment(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../testdata/mpi.env")
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

func startTruth(t *testing.T, compiler, starter string, flags ...string) *truth {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "mpitruth")
	if text, err := exec.Command(compiler, append(flags, "-o", program, "testdata/mpitruth.c")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	fifo := filepath.Join(dir, "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	goes, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(starter, "-n", "4", program, dir)
	cmd.Env = mpiEnvironment(t)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		goes.Close()
		if t.Failed() {
			t.Logf("%s", said.String())
		}
	})
	j := &truth{dir: dir, goes: goes}
	for r := range j.pids {
		j.await(t, func() bool {
			lines := j.lines(r)
			if len(lines) == 0 {
				return false
			}
			_, err := fmt.Sscanf(lines[0], "pid %d", &j.pids[r])
			return err == nil
		})
	}
	return j
}

// lines returns what a rank has written, whole lines only.
func (j *truth) lines(r int) []string {
	text, _ := os.ReadFile(filepath.Join(j.dir, strconv.Itoa(r)))
	lines := strings.Split(string(text), "\n")
	return lines[:len(lines)-1]
}

// await returns when ready reports true.
func (j *truth) await(t *testing.T, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ready(); {
		if time.Now().After(end) {
			t.Fatal("the job does not go on")
		}
		runtime.Gosched()
	}
}

// waiting returns what a rank has written last; ok is false if it is between two cases.
func (j *truth) waiting(r, number int) (text string, left, ok bool) {
	lines := j.lines(r)
	for i := len(lines) - 1; i >= 0; i-- {
		n, rest, _ := strings.Cut(lines[i], " ")
		if n == strconv.Itoa(number) {
			return rest, slices.Contains(lines[i:], "left"), true
		}
	}
	return "", false, false
}

// counts are the arguments that were compared.
type counts struct{ right, unknown, wrong, cases, left int }

// snapshots returns processes as they were while all of them were held together.
func snapshots(t *testing.T, c *cache, pids []int) (all []*snapshot.Process) {
	t.Helper()
	var known []*process
	for _, pid := range pids {
		p, err := c.look(pid)
		if err != nil {
			t.Fatal(err)
		}
		known = append(known, p)
	}
	held := hold.Together(pids, hold.Defaults, hold.Steps{StackEnd: func(i int, sp uint64) uint64 { return known[i].stackEnd(sp) }})
	for i := range held {
		all = append(all, known[i].snapshot(&held[i]))
	}
	return all
}

// compare plays the whole job.
func (j *truth) compare(t *testing.T) (n counts) {
	c := newCache()
	sites := &argument.Cache{}
	for number := 0; ; number++ {
		var texts [3]string
		var left [3]bool
		j.await(t, func() bool {
			for r := range texts {
				var ok bool
				if texts[r], left[r], ok = j.waiting(r, number); !ok {
					return false
				}
			}
			return true
		})
		last := strings.HasPrefix(texts[0], "Finalize")
		var calls [3]*mpi.Call
		var libraries [3]*mpi.Library
		j.await(t, func() bool { // until all are where they say
			for i, s := range snapshots(t, c, j.pids[:3]) {
				_, left[i], _ = j.waiting(i, number)
				if left[i] {
					continue
				}
				libraries[i] = mpi.Open(s, s.Threads[0].Pointer)
				if libraries[i] == nil {
					return false
				}
				calls[i] = mpi.Find(libraries[i], sites, s, &s.Threads[0])
				if calls[i] == nil || !strings.HasPrefix(texts[i]+" ", calls[i].Function+" ") {
					return false
				}
			}
			return true
		})
		if number == 0 {
			j.stacks(t, c)
		}
		for r := range texts {
			if left[r] {
				n.left++
				continue
			}
			n.cases++
			n.check(t, r, texts[r], libraries[r], calls[r])
		}
		if _, err := j.goes.Write([]byte{0}); err != nil {
			t.Fatal(err)
		}
		if last {
			return n
		}
	}
}

// stacks checks that stacks tell what the first call waits for.
func (j *truth) stacks(t *testing.T, c *cache) {
	t.Helper()
	for r, s := range c.take(j.pids[:3], view{by: "function"}) {
		found := slices.ContainsFunc(s.threads, func(frames []stack.Frame) bool {
			return slices.ContainsFunc(frames, func(f stack.Frame) bool { return strings.HasSuffix(f.Func, "MPI_Recv") && f.Call == "from 3 tag 11" })
		})
		if !found {
			t.Errorf("rank %d: %v", r, s.threads)
		}
	}
}

// check compares the arguments of a call with what the rank has written.
func (n *counts) check(t *testing.T, r int, text string, l *mpi.Library, c *mpi.Call) {
	fields := strings.Fields(text)
	for _, f := range fields[1:] {
		name, want, _ := strings.Cut(f, "=")
		if name == "requests" {
			n.requests(t, r, text, want, c.Requests)
			continue
		}
		a := c.Arg(name)
		switch got := shown(l, c, a); {
		case a == nil:
			t.Errorf("rank %d, %s: no argument %s", r, text, name)
		case !a.Known:
			n.unknown++
			t.Logf("rank %d, %s: %s unknown: %s", r, text, name, a.Why)
		case got != want:
			n.wrong++
			t.Errorf("rank %d, %s: %s is %s (grade %d)", r, text, name, got, a.Grade)
		default:
			n.right++
		}
	}
}

// shown returns an argument as the program writes it.
func shown(l *mpi.Library, c *mpi.Call, a *mpi.Argument) string {
	if a == nil || !a.Known {
		return ""
	}
	switch a.Kind {
	case mpi.Comm:
		return commName(c.Comm)
	case mpi.Datatype:
		return l.Type(uint64(a.Value)).Name
	case mpi.Op:
		return l.Operation(uint64(a.Value))
	}
	return wild(int(a.Value))
}

func wild(v int) string {
	if v == mpi.AnySource || v == mpi.AnyTag {
		return "any"
	}
	return strconv.Itoa(v)
}

// commName returns the name of a communicator if its members are right.
func commName(c *mpi.Communicator) string {
	switch {
	case c == nil || c.Err != nil:
		return "?"
	case c.Name == "MPI_COMM_WORLD" && slices.Equal(c.World, []int{0, 1, 2, 3}):
		return "world"
	case c.Name == "copy" && slices.Equal(c.World, []int{0, 1, 2, 3}), c.Name == "reversed" && slices.Equal(c.World, []int{3, 2, 1, 0}):
		return c.Name
	}
	return fmt.Sprintf("%s%v", c.Name, c.World)
}

// requests compares requests: kind:peer:tag:communicator, separated by commas.
func (n *counts) requests(t *testing.T, r int, text, want string, got []mpi.Request) {
	all := strings.Split(want, ",")
	if len(got) != len(all) {
		n.unknown += len(all)
		t.Logf("rank %d, %s: %d requests", r, text, len(got))
		return
	}
	for i, q := range got {
		if q.Why != "" {
			n.unknown++
			t.Logf("rank %d, %s: request %d unknown: %s", r, text, i, q.Why)
			continue
		}
		if s := fmt.Sprintf("%s:%s:%s:%s", q.Kind, wild(q.Peer), wild(q.Tag), commName(q.Comm)); s != all[i] {
			n.wrong++
			t.Errorf("rank %d, %s: request %d is %s", r, text, i, s)
			continue
		}
		n.right++
	}
}

// What TestTruth demands. Unknown are requests of sends of MPICH, and some arguments of a function that
// jumps to MPI_Allreduce at its end. Some ranks leave a Reduce or Gather before they are seen.
const (
	mostUnknown = 15
	leastRight  = 390
)

// TestTruth compares the arguments of blocked calls with what programs say that they wait for.
func TestTruth(t *testing.T) {
	for _, family := range []struct{ name, compiler, starter string }{{"Open MPI", "mpicc.openmpi", "mpirun.openmpi"}, {"MPICH", "mpicc.mpich", "mpiexec.mpich"}} {
		for _, flags := range []string{"-O0", "-O2", "-O3", "-O2 -g -march=x86-64-v3"} {
			t.Run(family.name+" "+flags, func(t *testing.T) {
				n := startTruth(t, family.compiler, family.starter, strings.Fields(flags)...).compare(t)
				t.Logf("%+v", n)
				if n.wrong > 0 || n.unknown > mostUnknown || n.right < leastRight {
					t.Errorf("%d arguments right, %d unknown, %d wrong", n.right, n.unknown, n.wrong)
				}
			})
		}
	}
}
