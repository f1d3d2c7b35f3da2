package e2e

import (
	"flag"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var allHangs = flag.Bool("all-hangs", false, "all planted hangs with each MPI; else each with one of them")

// planted is a case of hang.c with five ranks, and what sdm waits must say of it first. Lines of
// sources are left out.
type planted struct {
	name string
	want string
	// mpich is what is said instead with MPICH: it refuses to say what MPI_COMM_WORLD is in MPI_Finalize.
	mpich string
}

const others = "certain: 0-1,3-4 wait in MPI_Allreduce on MPI_COMM_WORLD for 2; "

// hangs were written down from what the cases of hang.c do.
var hangs = []planted{
	{name: "absent", want: "so far" + strings.TrimPrefix(others, "certain") + "2 computes still in relax (hang.c)"},
	{name: "sleeps", want: others + "2 sleeps for up to N s in sleeps (hang.c)"},
	{name: "stopped", want: others + "2 is stopped by SIGSTOP in stopped (hang.c)"},
	{name: "fifo", want: others + "2 waits in open of /tmp/hang-fifo-N in fifo (hang.c): no process has opened this FIFO for writing"},
	{name: "mutex", want: others + "2 waits for a mutex in update (hang.c) that thread N holds; thread N waits for a signal in holder (hang.c)"},
	{name: "cycle", want: others + "2 is in a deadlock of threads: thread 1 waits for a mutex in cycle (hang.c) that thread N holds, thread N waits for a mutex in second (hang.c) that thread 1 holds"},
	{name: "locked", want: "certain: deadlock: 0-1,3-4 wait in MPI_Allreduce on MPI_COMM_WORLD for 2, 2 waits for 1 (lock of /tmp/hang-lock-N (deleted))"},
	{name: "tool", want: "certain: 0-1,3-4 wait in MPI_Alltoall on MPI_COMM_WORLD for 2; 2 sleeps for up to N s in MPI_Alltoall (hang.c)"},
	{name: "gather", want: "so far: 1 waits for 0 (receive tag 5), 3-4 wait for 0 (receive tag 5); 0 waits in MPI_Gather on MPI_COMM_WORLD for 2; 2 sleeps for up to N s in gather (hang.c)"},
	{name: "creategroup", want: "certain: 1 waits for 3 (receive tag 6), 4 waits for 3 (receive tag 6); 0,3 wait in MPI_Comm_create_group on a communicator of 0,2-3 for 2; 2 sleeps for up to N s in creategroup (hang.c)"},
	{name: "functions", want: "certain: calls that do not fit on MPI_COMM_WORLD: MPI_Allreduce by 0-1,3-4, MPI_Barrier by 2"},
	{name: "finalize", want: "certain: calls that do not fit on MPI_COMM_WORLD: MPI_Allreduce by 0-1,3-4, MPI_Finalize by 2",
		mpich: others + "2 is in MPI_Finalize"},
	{name: "ring", want: "certain: deadlock: 0-3 wait for 1..4 (receive tag 3), 4 waits for 0 (receive tag 3)"},
	{name: "pair", want: "certain: deadlock: 0 waits for 3 (receive tag 8), 3 waits for 0 (receive tag 9); behind them 1-2 wait"},
	{name: "rendezvous", want: "certain: deadlock: 0 waits for 1 (send tag 1), 1 waits for 0 (send tag 1); behind them 2-4 wait"},
	{name: "subcomm", want: "certain: deadlock: 0-2,4 wait in MPI_Barrier on MPI_COMM_WORLD for 3, 3 waits in MPI_Barrier on odd for 1"},
	{name: "waitall", want: "certain: 0,4 wait in MPI_Barrier on MPI_COMM_WORLD for 1-3; 1 waits for 2 (receive tag 4), 3 waits for 2 (receive tag 4); 2 sleeps for up to N s in waitall (hang.c)"},
	{name: "server", want: "certain: deadlock: 0 waits for any of 1-4 (receive tag 5), 1-4 wait in MPI_Barrier on MPI_COMM_WORLD for 0"},
	{name: "tag", want: "certain: deadlock: 0-2,4 wait in MPI_Barrier on MPI_COMM_WORLD for 3, 3 waits for 2 (receive tag 99, 2 has sent tag 7)"},
	{name: "shift", want: "certain: 0,4 wait in MPI_Barrier on MPI_COMM_WORLD for 1-3; 1 waits for 2 (send tag 6), 3 waits for 2 (receive tag 6); 2 sleeps for up to N s in shift (hang.c)"},
	{name: "isend", want: "certain: deadlock: 0,2-4 wait in MPI_Barrier on MPI_COMM_WORLD for 1, 1 waits for 2 (send tag 6)"},
	{name: "othercomm", want: "certain: deadlock: 0-2,4 wait in MPI_Barrier on copy for 3, 3 waits for 2 (receive tag 9 on copy, 2 has sent tag 9 on MPI_COMM_WORLD)"},
	{name: "request", want: "certain: 0-1,3-4 wait in MPI_Wait (collective) on MPI_COMM_WORLD for 2; 2 sleeps for up to N s in request (hang.c)"},
	{name: "lock", want: "so far: 0-1 wait for 2 (its window in MPI_Win_lock), 3-4 wait for 2 (its window in MPI_Win_lock); 2 sleeps for up to N s in lock (hang.c)"},
	{name: "writeall", want: "certain: 0-1,3-4 wait in MPI_File_write_all on a communicator of 0-4 for 2; 2 sleeps for up to N s in writeall (hang.c)"},
	{name: "zero", want: "certain: deadlock: 0,2-4 wait in MPI_Barrier on MPI_COMM_WORLD for 1, 1 waits for 0 (receive tag 0)"},
	{name: "anytag", want: "certain: deadlock: 0-2,4 wait in MPI_Barrier on MPI_COMM_WORLD for 3, 3 waits for 1 (receive any tag, 2 has sent tag 5)"},
	{name: "elsewhere", want: "certain: deadlock: 0-2,4 wait in MPI_Barrier on MPI_COMM_WORLD for 3, 3 waits for 2 (receive tag 9 on pair, 0 has sent tag 9 on MPI_COMM_WORLD)"},
	// Those from here on are run with -all-hangs only.
	{name: "handler", want: others + "2 sleeps for up to N s in on_signal (hang.c), in a handler of SIGUSR1 that has interrupted handler (hang.c)"},
	{name: "toolreduces", want: "certain: calls that do not fit on MPI_COMM_WORLD: MPI_Allreduce by 2, MPI_Barrier by 0-1,3-4"},
	{name: "loops", want: "certain: calls that do not fit on MPI_COMM_WORLD: MPI_Allreduce by 0-1,3-4, MPI_Barrier by 2"},
	{name: "duplicate", want: "certain: deadlock: 0-1,3-4 wait in MPI_Barrier on MPI_COMM_WORLD for 2, 2 waits in MPI_Barrier on copy for 0-1,3-4"},
	{name: "file", want: "certain: 0-1,3-4 wait in MPI_File_open on MPI_COMM_WORLD for 2; 2 sleeps for up to N s in file (hang.c)"},
	{name: "crossed", want: "certain: deadlock: 1 waits in MPI_Barrier on ends for 2, 2 waits in MPI_Barrier on pairs for 3, 3 waits for 1 (send tag 2); behind them 0,4 wait"},
	{name: "zerosend", want: "certain: deadlock: 0 waits for 1 (send tag 0), 1-4 wait in MPI_Barrier on MPI_COMM_WORLD for 0"},
	{name: "zeros", want: "certain: deadlock: 0,2-4 wait in MPI_Barrier on MPI_COMM_WORLD for 1, 1 waits for 0 (receive any tag)"},
	{name: "longring", want: "certain: deadlock: 0-3 wait for 1..4 (send tag 1), 4 waits for 0 (send tag 1)"},
	{name: "probe", want: "certain: deadlock: 0-3 wait in MPI_Barrier on MPI_COMM_WORLD for 4, 4 waits for 0 (receive tag 12)"},
	{name: "mixed", want: "certain: 0-1,3-4 wait in MPI_Waitall (collective) on MPI_COMM_WORLD for 2, 1 waits for 2 (receive tag 4); 2 sleeps for up to N s in mixed (hang.c)"},
	{name: "fence", want: "certain: 0-1,3-4 wait in MPI_Win_fence on halo for 2; 2 sleeps for up to N s in fence (hang.c)"},
}

// fewHangs is how many of them are run without -all-hangs.
const fewHangs = 28

// goesOn are cases that do not hang: no deadlock and no error may be found in them.
var goesOn = []string{"imbalance", "passive", "threads", "splits", "early", "tests", "checkpoint", "groups",
	"pipeline", "pingpong", "roots", "master", "busy", "writer", "polls", "setup", "shell", "pipes"}

// fewGoOn is how many of them are run without -all-hangs.
const fewGoOn = 8

var lineOfSource = regexp.MustCompile(`:\d+\)`)

// numbersOfHangs are parts of what is said of hang.c that differ from run to run: the threads of MPI come first.
var numbersOfHangs = regexp.MustCompile(`(thread |hang-fifo-|hang-lock-)(?:\d{2,}|[2-9])`)

// TestHangs plants hangs in jobs of real MPI.
func TestHangs(t *testing.T) {
	t.Parallel()
	for i, h := range hangs {
		for k, m := range starters {
			want := h.want
			if m.command != openMPI.command && h.mpich != "" {
				want = h.mpich
			}
			if (i%2 != k || i >= fewHangs) && !*allHangs {
				continue
			}
			t.Run(m.name+"/"+h.name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				job := s.hang(m, h.name)
				defer job.kill()
				job.yield()
				s.eventually(patience, func() string { // it may not hang yet
					if got, _, _ := strings.Cut(job.waits(), "\n"); got != want {
						return "it says " + got + "\nand not " + want
					}
					return ""
				})
				if h.name == "sleeps" {
					job.offline(want)
				}
			})
		}
	}
}

// offline checks that a hang file says the same without the job.
func (h *hung) offline(want string) {
	h.s.t.Helper()
	file := filepath.Join(h.s.t.TempDir(), "hang")
	p := h.s.start(unraced("sdm"), "waits", "--hang-file", "-o", file, strconv.Itoa(h.starter.cmd.Process.Pid))
	if got := p.status(patience); got != 0 {
		h.s.t.Fatalf("exit status %d%s", got, p.said())
	}
	live := h.waits()
	h.kill()
	p = h.s.start(unraced("sdm"), "open", file, "-e", "waits")
	got := p.status(patience)
	if text := h.plain(p.out.text()); got != 0 || text != live || !strings.HasPrefix(text, want+"\n") {
		h.s.t.Errorf("exit status %d; the file says\n%s\nthe job said\n%s", got, p.said(), live)
	}
}

// TestWaitsOfDebuggedRanks checks that the prompt tells what ranks wait for that gdb has, whether they are stopped or
// run, with a gdb each and with one for all.
func TestWaitsOfDebuggedRanks(t *testing.T) {
	t.Parallel()
	for k, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			job := s.hang(m, "tag")
			defer job.kill()
			job.yield()
			for i, layout := range []string{"1", "5"} {
				if i != k && !*allHangs {
					continue
				}
				args := []string{"attach", "--batch", "--ranks-per-gdb", layout, "-e", "waits --samples 1"}
				if i == 0 || *allHangs {
					args = append(args, "-e", "continue &", "-e", "waits --samples 1")
				}
				p := s.start(unraced("sdm"), append(args, strconv.Itoa(job.starter.cmd.Process.Pid))...)
				if got := p.status(patience); got != 0 {
					t.Fatalf("exit status %d%s", got, p.said())
				}
				// It is never certain: ranks that are stopped get no messages.
				const sentence = "so far: 0-2,4 wait in MPI_Barrier on MPI_COMM_WORLD for 3, 3 waits for 2 (receive tag 99, 2 has sent tag 7)\n"
				if n := strings.Count(p.out.text(), sentence); n != strings.Count(strings.Join(args, " "), "waits") {
					t.Errorf("with %s ranks for a gdb it says that %d times:%s", layout, n, p.said())
				}
			}
		})
	}
}

// TestOtherNumbers gives the ranks numbers in the opposite order of MPI_COMM_WORLD, and only some of them numbers.
func TestOtherNumbers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	job := s.hang(openMPI, "tag")
	defer job.kill()
	job.yield()
	said := func(pids []string) string {
		first, _, _ := strings.Cut(s.waitsOf(pids), "\n")
		return first
	}
	pids := make([]string, 5)
	for _, f := range regexp.MustCompile(`rank (\d) pid (\d+)`).FindAllStringSubmatch(job.starter.out.text(), -1) {
		r, _ := strconv.Atoi(f[1])
		pids[4-r] = f[2]
	}
	s.eventually(patience, func() string {
		const want = "certain: deadlock: 0,2-4 wait in MPI_Barrier on MPI_COMM_WORLD for 1, 1 waits for 2 (receive tag 99, 2 has sent tag 7)"
		if got := said(pids); got != want {
			return "it says " + got + "\nand not " + want
		}
		return ""
	})
	const want = "no verdict: the numbers here are not those of MPI_COMM_WORLD, and its rank 0 is not here, or has not said its number"
	if got := said(pids[1:3]); got != want {
		t.Errorf("of a part it says %s\nand not %s", got, want)
	}
}

// TestJobsThatGoOn checks that jobs that do not hang are not accused.
func TestJobsThatGoOn(t *testing.T) {
	for i, name := range goesOn {
		for k, m := range starters {
			if (i%2 != k || i >= fewGoOn) && !*allHangs {
				continue
			}
			t.Run(m.name+"/"+name, func(t *testing.T) {
				s := newScene(t)
				job := s.hang(m, name)
				defer job.kill()
				for range 2 {
					if said := job.waits(); strings.Contains(said, "deadlock") || strings.Contains(said, "do not fit") || said == "" {
						t.Errorf("it says\n%s", said)
					}
				}
			})
		}
	}
}

// pythonHangs are cases of hang.py, and how what is said of them must begin. Two of them are run without -all-hangs.
var pythonHangs = []planted{
	{name: "thread", want: "certain: calls that do not fit on MPI_COMM_WORLD: MPI_Allreduce by 0-1,3-4, MPI_Barrier by 2"},
	{name: "objects", want: "certain: deadlock: 0-1,3-4 wait in MPI_Barrier on MPI_COMM_WORLD for 2, 2 waits for 3 (receive tag 7)"},
	{name: "asleep", want: others + "2 sleeps for up to N s in asleep (hang.py)"},
	{name: "functions", want: "certain: calls that do not fit on MPI_COMM_WORLD: MPI_Allreduce by 0-1,3-4, MPI_Barrier by 2"},
	{name: "ring", want: "certain: deadlock: 0-3 wait for 1..4 (receive tag 3), 4 waits for 0 (receive tag 3)"},
	{name: "lock", want: others + "2 waits "},
}

// TestHangsOfPython plants hangs in jobs of mpi4py, with Open MPI.
func TestHangsOfPython(t *testing.T) {
	t.Parallel()
	python := pythonOfMPI(t)
	for i, h := range pythonHangs {
		if i >= 2 && !*allHangs {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			job := s.hung(openMPI, python, absolute(t, sources+"/hang.py"), h.name)
			defer job.kill()
			job.yield()
			s.eventually(patience, func() string {
				if got := job.waits(); !strings.HasPrefix(got, h.want) {
					return "it says " + got + "\nand not " + h.want
				}
				return ""
			})
		})
	}
}

// TestHangsInFortran plants one hang in a job of each binding of Fortran.
func TestHangsInFortran(t *testing.T) {
	t.Parallel()
	for k, m := range starters {
		for i, binding := range []string{"f08", "mpi", "mpif"} {
			if i%2 != k && !*allHangs {
				continue
			}
			t.Run(m.name+"/"+binding, func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				job := s.hung(m, fortran(t, m, binding == "f08"), binding)
				defer job.kill()
				job.yield()
				want := []string{"certain: deadlock: 0-2,4 wait in MPI_Allreduce on MPI_COMM_WORLD for 3, 3 waits for 2 (receive tag 99, 2 has sent tag 7)"}
				if m.command != openMPI.command && binding == "f08" { // some releases pass the communicator in a way that is not found
					want = append(want, "certain: 3 waits for 2 (receive tag 99, 2 has sent tag 7); 2 is in MPI_Allreduce, it is not known for whom")
				}
				s.eventually(patience, func() string {
					text := job.waits()
					if got, _, _ := strings.Cut(text, "\n"); !slices.Contains(want, got) {
						return "it says " + got + "\nand not " + strings.Join(want, ", nor ")
					}
					if by := strings.Count(text, "called by"); by == 0 || by != strings.Count(text, "called by hang_"+binding+" (hangf.F90)") {
						return "the calls are not those of the program: " + text
					}
					return ""
				})
			})
		}
	}
}

// fortran compiles hangf.F90 with the compiler of an MPI.
func fortran(t *testing.T, m starter, modern bool) (program string) {
	t.Helper()
	_, family, _ := strings.Cut(m.compiler, ".")
	program = filepath.Join(t.TempDir(), "hangf")
	args := []string{"-g", "-O1", "-J", filepath.Dir(program), "-o", program, "testdata/hangf.F90"}
	if !modern {
		args = append(args, "-DNO_F08")
	}
	if text, err := exec.Command("mpif90."+family, args...).CombinedOutput(); err != nil {
		if modern && strings.Contains(string(text), "mpi_f08.mod") {
			t.Skip("this MPI has no module mpi_f08 for this compiler")
		}
		t.Fatalf("%v: %s", err, text)
	}
	return program
}

// hung is a job of hang.c, hang.py or hangf.F90.
type hung struct {
	s       *scene
	starter *process
	pids    []int
}

func (s *scene) hang(m starter, name string) *hung {
	s.t.Helper()
	return s.hung(m, m.program("hang"), name)
}

// hung starts five ranks of a program that says their process IDs.
func (s *scene) hung(m starter, args ...string) *hung {
	s.t.Helper()
	h := &hung{s: s, starter: s.mpirun(m, 5, args...)}
	pid := regexp.MustCompile(`pid (\d+)\n`)
	s.eventually(patience, func() string {
		found := pid.FindAllStringSubmatch(h.starter.out.text()+"\n", -1)
		if len(found) < 5 {
			return "it has not begun" + h.starter.said()
		}
		for _, f := range found {
			n, _ := strconv.Atoi(f[1])
			h.pids = append(h.pids, n)
		}
		return ""
	})
	return h
}

// yield leaves the processors to others: ranks that wait for a message spin. A job that goes on must not be starved,
// or it seems to hang.
func (h *hung) yield() {
	h.s.t.Helper()
	for _, pid := range h.pids {
		if err := syscall.Setpriority(syscall.PRIO_PROCESS, pid, 19); err != nil {
			h.s.t.Fatalf("nice of process %d: %v", pid, err)
		}
	}
}

// waits returns what sdm waits says.
func (h *hung) waits() string {
	h.s.t.Helper()
	p := h.s.start(unraced("sdm"), "waits", strconv.Itoa(h.starter.cmd.Process.Pid))
	if got := p.status(patience); got != 0 {
		h.s.t.Fatalf("exit status %d%s", got, p.said())
	}
	return h.plain(p.out.text())
}

// plain returns a text without numbers and paths that differ from run to run.
func (h *hung) plain(text string) string {
	return steady(numbersOfHangs.ReplaceAllString(text, "${1}N"), h.s.dir)
}

// kill ends the job. On a busy machine mpirun of Open MPI 4 has not noticed the end of its ranks in 2 of 25 jobs without
// sdm.
func (h *hung) kill() {
	for _, pid := range h.pids {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	h.pids = nil // others may have their numbers soon
	select {
	case <-h.starter.ended:
	case <-time.After(10 * time.Second):
		h.starter.signal(syscall.SIGKILL)
	}
	h.starter.status(30 * time.Second)
}
