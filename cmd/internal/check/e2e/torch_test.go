package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sdm/protocol/stack"
)

// torchHangs are cases of torchhang.py with four ranks, and how the answer of sdm waits must begin. Lines of sources
// are left out.
var torchHangs = []struct{ name, want string }{
	{"absent", "certain: 0-1,3 wait in all_reduce on the default process group for 2; 2 sleeps for up to N s in asleep (torchhang.py)\n"},
	{"steps", "certain: calls that do not fit on the default process group: all_reduce by 1, barrier by 0,2-3\n"},
	{"groups", "certain: deadlock: 0-2 wait in all_reduce on the default process group for 3, 3 waits in broadcast on the process group of 1,3 for 1\n"},
	{"message", "certain: deadlock: 0-2 wait in barrier on the default process group for 3, 3 waits for 2 (receive tag 7 on the default process group)\n"},
	{"anyone", "certain: deadlock: 0 waits for any of 1-3 (receive tag 0 on the default process group), 1-3 wait in barrier on the default process group for 0\n"},
	{"objects", "certain: 0,2-3 wait in all_gather on the default process group for 1; 1 waits "},
	{"thread", "certain: 1-3 wait in reduce on the default process group for 0; 0 waits "},
	{"later", "[0-2] (3) waits for a condition variable"},
}

// TestTorch plants hangs in jobs of torch over gloo, and compares their stacks with what CPython's own
// faulthandler writes. torch has several hundred megabytes, so most machines skip this; make matrix runs
// it.
func TestTorch(t *testing.T) {
	python := systemPython(t)
	if out, err := exec.Command(python, "-c", "import importlib.util, sys; sys.exit(not importlib.util.find_spec('torch'))").CombinedOutput(); err != nil {
		t.Skipf("there is no torch here (python3-torch): %v %s", err, out)
	}
	s := newScene(t)
	s.env = append(s.env, "OMP_NUM_THREADS=1")
	args := []string{absolute(t, sources+"/torchhang.py"), s.dir}
	for _, h := range torchHangs {
		args = append(args, h.name)
	}
	job := s.start(python, append(args, "goes_on")...)
	ranks := map[string][]string{}
	defer func() {
		for _, pids := range ranks {
			for _, pid := range pids {
				n, _ := strconv.Atoi(pid)
				syscall.Kill(n, syscall.SIGKILL)
			}
		}
		syscall.Kill(job.cmd.Process.Pid, syscall.SIGKILL)
		job.status(patience)
	}()
	s.eventually(patience, func() string {
		for line := range strings.Lines(job.out.text()) {
			if f := strings.Fields(line); len(f) == 5 {
				ranks[f[0]] = f[1:]
			}
		}
		if len(ranks["goes_on"]) == 0 {
			return "it has not begun" + job.said()
		}
		return ""
	})
	for _, h := range torchHangs {
		t.Run(h.name, func(t *testing.T) {
			dir, s := s.dir, newScene(t)
			s.eventually(patience, func() string { // it may not hang yet, and a thread that is late is not certain
				if got := s.waitsOf(ranks[h.name]); !strings.HasPrefix(got, h.want) {
					return "it says " + got + "\nand not " + h.want
				}
				return ""
			})
			for _, pid := range ranks[h.name] {
				s.compareTorch(dir, pid)
			}
		})
	}
	for range 3 {
		if got := s.waitsOf(ranks["goes_on"]); strings.Contains(got, "certain: 0") || strings.Contains(got, "deadlock") || strings.Contains(got, "do not fit") {
			t.Errorf("a job that goes on is accused: %s", got)
		}
	}
}

// waitsOf returns what sdm waits says of processes.
func (s *scene) waitsOf(pids []string) string {
	s.t.Helper()
	p := s.start(unraced("sdm"), "waits", "pids:"+strings.Join(pids, ","))
	p.exits(0)
	return steady(p.out.text(), s.dir)
}

// compareTorch compares the stacks of a process that is blocked with those that its faulthandler writes to dir.
func (s *scene) compareTorch(dir, pid string) {
	s.t.Helper()
	n, _ := strconv.Atoi(pid)
	syscall.Kill(n, syscall.SIGUSR1)
	var want [][]frame
	s.eventually(patience, func() string {
		text, err := os.ReadFile(filepath.Join(dir, pid))
		if err != nil || !strings.Contains(string(text), "<module>") {
			return fmt.Sprintf("its stacks have not been written: %v", err)
		}
		want = dumpsOf(string(text))
		return ""
	})
	p := s.start(unraced("sdm"), "stacks", "--json", "pids:"+pid)
	p.exits(0)
	var tree stack.Tree
	if err := json.Unmarshal([]byte(p.out.text()), &tree); err != nil {
		s.t.Fatal(err, p.said())
	}
	var got [][]frame
	for _, path := range pathsOf(tree.Roots()) {
		var frames []frame
		for _, f := range slices.Backward(path) {
			if isPython(f) {
				frames = append(frames, frame{f.Func[strings.LastIndexByte(f.Func, '.')+1:], f.File, f.Line})
			}
		}
		if len(frames) > 0 {
			got = append(got, frames)
		}
	}
	for _, w := range want {
		i := slices.IndexFunc(got, func(g []frame) bool { return slices.Equal(g, w) })
		if i < 0 {
			s.t.Errorf("faulthandler shows %v\nsdm shows %v", w, got)
			return
		}
		got = slices.Delete(got, i, i+1)
	}
	if len(got) > 0 {
		s.t.Errorf("faulthandler does not show %v", got)
	}
}

// dumpsOf returns the stacks in the output of faulthandler, innermost frames first, without classes.
func dumpsOf(text string) (all [][]frame) {
	for part := range strings.SplitSeq(text, "hread 0x") {
		var frames []frame
		for line := range strings.Lines(part) {
			if m := dumped.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
				n, _ := strconv.Atoi(m[2])
				frames = append(frames, frame{m[3][strings.LastIndexByte(m[3], '.')+1:], m[1], n})
			}
		}
		if len(frames) > 0 {
			all = append(all, frames)
		}
	}
	return all
}
