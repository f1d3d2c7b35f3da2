package sampler

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/proc"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

func TestIdleChildren(t *testing.T) {
	const lib = "/usr/lib/python3.11/"
	for _, c := range []struct {
		name   string
		frames string // outermost first: function, file
		idle   bool
	}{
		{"a worker in its work", "main /x/pool.py|BaseProcess._bootstrap " + lib + "multiprocessing/process.py|worker " + lib + "multiprocessing/pool.py|work /x/pool.py", false},
		{"a worker without work, after a fork", "main /x/pool.py|BaseProcess._bootstrap " + lib + "multiprocessing/process.py|worker " + lib + "multiprocessing/pool.py|SimpleQueue.get " + lib + "multiprocessing/queues.py", true},
		{"a worker that was spawned", "<module> <string>|spawn_main " + lib + "multiprocessing/spawn.py|BaseProcess._bootstrap " + lib + "multiprocessing/process.py|worker " + lib + "multiprocessing/pool.py", true},
		{"a helper of multiprocessing", "<module> <string>|main " + lib + "multiprocessing/resource_tracker.py", true},
		{"python -c", "<module> <string>", false},
		{"a program without Python", "main /x/a.c", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var frames []stack.Frame
			for f := range strings.SplitSeq(c.frames, "|") {
				name, file, _ := strings.Cut(f, " ")
				frames = append(frames, stack.Frame{Func: name, File: file})
			}
			if got := isIdle(frames); got != c.idle {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestDescendants(t *testing.T) {
	tree := map[int][]int{1: {2, 3}, 2: {4, os.Getpid()}, 4: {2, 5}, 3: {6}, os.Getpid(): {7}, 9: make([]int, 3*maxCounted)}
	for i := range tree[9] {
		tree[9][i] = 10 + i
	}
	of := func(pid int) []int {
		return descendants(pid, func(p int) []int { return tree[p] }, map[int]bool{3: true})
	}
	if got := of(1); !slices.Equal(got, []int{2, 4, 5}) {
		t.Errorf("got %v", got)
	}
	if got := len(of(9)); got != maxCounted {
		t.Errorf("%d of too many", got)
	}
}

func TestFamilyStacks(t *testing.T) {
	f := &Family{
		pids: []int{12, 13, 14}, names: []string{"sh", "app", ""}, parent: []int{0, 1, 1}, left: map[int]int{1: 3},
		found: []Sample{{Threads: [][]stack.Frame{{{Func: "main", File: "a.c", Line: 3}}}}, {Err: ErrEnded}, {Threads: [][]stack.Frame{{{Func: "f"}}, {{Func: "g"}}}}},
	}
	text := func(i int, by string) string {
		f.by = by
		var lines []string
		for _, frames := range f.Stacks(i) {
			var line []string
			for _, x := range frames {
				line = append(line, x.String())
			}
			lines = append(lines, strings.Join(line, " > "))
			if !frames[0].IsProcess() {
				t.Errorf("not a process: %v", frames[0])
			}
		}
		return strings.Join(lines, "; ")
	}
	for _, c := range []struct {
		rank int
		by   string
		want string
	}{
		{0, "line", "process 12 (sh) > main a.c:3"},
		{0, "function", "process (sh) > main"},
		{1, "line", "process 13 (app) > (not read: the process has ended); process 14 (?) > f; process 14 (?) > g; process limit: 3 more not read"},
	} {
		if got := text(c.rank, c.by); got != c.want {
			t.Errorf("%d by %s: %s", c.rank, c.by, got)
		}
	}
	if (stack.Frame{Func: "process_data"}).IsProcess() {
		t.Error("a function is taken for a process")
	}
}

// What is known of a child is kept until it is in no family any more, and no file of it stays open.
func TestFamilyIsKept(t *testing.T) {
	shell := target{Cmd: exec.Command("sh", "-c", "sleep 60 & printf r; wait")}
	shell.start(t)
	children := proc.Children(shell.Process.Pid)
	if len(children) != 1 {
		t.Fatalf("children: %v", children)
	}
	child := children[0]
	t.Cleanup(func() { _ = syscall.Kill(child, syscall.SIGKILL) })
	c, pids, line := New(""), []int{shell.Process.Pid}, Options{By: "line"}
	c.Take(pids, line)
	if c.Family(pids, []int{0}, nil, line); c.processes[child] == nil {
		t.Error("nothing is kept of the child")
	}
	fds, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range fds {
		if file, _ := os.Readlink(fd); strings.HasPrefix(file, "/proc/"+strconv.Itoa(child)+"/") {
			t.Errorf("%s is open", file)
		}
	}
	release := holdThread(t, child, "gdb")
	defer release()
	for n, awaited := 0, true; awaited; n++ { // a debugger that stays is awaited once; a slow machine has 20 attempts
		begin := time.Now()
		kin := c.Family(pids, []int{0}, nil, line)
		if w := kin.found[0].Waits; w == nil || !w.Unheld {
			t.Fatalf("held by a debugger: %+v", kin.found[0])
		}
		if awaited = n == 0 || time.Since(begin) >= hold.Defaults.Others; n == 20 {
			t.Fatal("each sample has waited for the debugger")
		}
	}
	release()
	if c.Family(nil, nil, nil, line); c.processes[child] != nil || c.processes[shell.Process.Pid] == nil {
		t.Error("not the child alone was forgotten")
	}
}

// What is said of a rank that may wait for a process of its family, and whether anything of it can be certain.
func TestDescribe(t *testing.T) {
	does := func(state wait.State, does string) Sample {
		return Sample{Threads: [][]stack.Frame{{{Func: "f"}}}, Waits: &Waits{Rank: wait.Rank{Doing: wait.Doing{State: state, Does: does}}, Marks: Marks{stamp: 5}}}
	}
	computes, sleeps := does(wait.Running, ""), does(wait.Sleeping, "waits for a signal")
	traced, held := does(wait.Traced, "is stopped by a debugger"), does(wait.Unread, "")
	traced.Waits.Unheld, held.Waits.Unheld = true, true
	for _, c := range []struct {
		name   string
		found  []Sample
		left   int
		number int  // of the process that is described; 0: none is
		unheld bool // nothing is certain
	}{
		{"none", nil, 0, 0, false},
		{"one computes", []Sample{sleeps, computes, sleeps}, 0, 2, false},
		{"all wait", []Sample{sleeps, sleeps}, 0, 1, false},
		{"one has ended", []Sample{{Err: ErrEnded}, {Err: fs.ErrNotExist}, sleeps}, 0, 3, false},
		{"one may not be read", []Sample{{Err: fs.ErrPermission}, sleeps}, 0, 2, true},
		{"a debugger holds one", []Sample{traced}, 0, 1, true},
		{"another sampler holds one", []Sample{held}, 0, 0, true},
		{"too many", []Sample{sleeps}, 1, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &Family{found: c.found, left: map[int]int{0: c.left}}
			for k := range c.found {
				f.pids, f.names, f.parent = append(f.pids, k+1), append(f.names, "x"), append(f.parent, 0)
			}
			rank := does(wait.Sleeping, "")
			f.Describe([]Sample{rank})
			number := max(rank.Waits.Doing.For-wait.FirstProcess, 0)
			if number != c.number || rank.Waits.Unheld != c.unheld || c.unheld && rank.Waits.children != 0 {
				t.Errorf("process %d, %+v", number, rank.Waits)
			}
			inCall := does(wait.Sleeping, "")
			inCall.Waits.inCall = true
			if f.Describe([]Sample{inCall}); inCall.Waits.Doing.For != 0 || inCall.Waits.Unheld {
				t.Errorf("a rank in MPI: %+v", inCall.Waits)
			}
		})
	}
}
