package launch

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

func TestBeneath(t *testing.T) {
	// Rank 3 is the shell 20 below the starter 10.
	rank := func(parent int) process { return rankOf(parent, 3, 4, "j", "") }
	for _, c := range []struct {
		name     string
		more     processes
		programs string // "PID NAME" pairs; mpi after a name: the library is mapped
		want     int    // 0: the shell stays the rank
	}{
		{"one program", processes{21: rank(20)}, "21 app mpi", 21},
		{"one without MPI", processes{21: rank(20)}, "21 sleep", 0},
		{"no program yet", nil, "", 0},
		{"a program and its pipe", processes{21: rank(20), 22: rank(20)}, "21 app mpi 22 tee", 21},
		{"two candidates", processes{21: rank(20), 22: rank(20)}, "21 app 22 other", 0},
		{"two with MPI", processes{21: rank(20), 22: rank(20)}, "21 app mpi 22 other mpi", 0},
		{"a shell in the shell", processes{21: rank(20), 22: rank(21)}, "21 bash 22 app mpi", 22},
		{"a child of the program", processes{21: rank(20), 22: rank(21)}, "21 app mpi 22 helper mpi", 21},
		{"a shell that the program has started", processes{21: rank(20), 22: rank(21), 23: rank(22)}, "21 app mpi 22 sh 23 helper mpi", 21},
		{"a rank of another job", processes{21: rankOf(20, 3, 4, "k", ""), 22: rankOf(20, 2, 4, "j", "")}, "21 app mpi 22 app mpi", 0},
		{"a process of another user", processes{21: rank(20)}, "", 0},
		{"beside the shell", processes{21: rank(10)}, "21 app mpi", 0},
		{"below a program without MPI", processes{21: rank(20), 22: rank(21)}, "21 driver 22 app mpi", 22},
		{"timeout", processes{21: rank(20)}, "20 timeout 21 app mpi", 21},
		{"timeout and a program without MPI", processes{21: rank(20)}, "20 timeout 21 app", 21},
		{"nested wrappers", processes{21: rank(20), 22: rank(21), 23: rank(22)}, "20 timeout 21 bwrap 22 bwrap 23 app", 23},
		{"a child of the program in timeout", processes{21: rank(20), 22: rank(21)}, "20 timeout 21 app 22 helper", 21},
		{"a script in timeout", processes{21: rank(20), 22: rank(21)}, "20 timeout 21 bash 22 app", 22},
		{"two in a script in timeout", processes{21: rank(20), 22: rank(21), 23: rank(21)}, "20 timeout 21 bash 22 app 23 tee", 0},
		{"a program that is no wrapper", processes{21: rank(20)}, "20 python 21 worker", 0},
		{"a wrapper alone", nil, "20 timeout", 0},
		{"a cycle of process numbers used again", processes{20: rank(21), 21: rank(20)}, "20 timeout 21 timeout", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			ps := processes{1: other(0), 10: other(1), 20: rank(10)}
			for pid, p := range c.more {
				ps[pid] = p
			}
			names, mpi := map[string]string{"20": "/bin/sh"}, map[string]bool{}
			words, last := strings.Fields(c.programs), ""
			for i := 0; i < len(words); i++ {
				if words[i] == "mpi" {
					mpi[last] = true
					continue
				}
				last = words[i]
				i++
				names[last] = "/usr/bin/" + words[i]
			}
			l := fileQueries{func(pid int) string { return names[strconv.Itoa(pid)] }, func(pid int) bool { return mpi[strconv.Itoa(pid)] }}
			if got, found := ps.beneath(20, l); got != c.want || found != (c.want > 0) {
				t.Errorf("%d, %v; want %d", got, found, c.want)
			}
		})
	}
	unrelated := processes{20: other(1), 21: other(20)}
	if got, found := unrelated.beneath(20, fileQueries{func(int) string { return "/bin/sh" }, func(int) bool { return true }}); found {
		t.Errorf("a shell that is no rank: %d", got)
	}
}

// TestMapsMPI reads the maps of this process, which has no MPI, and the maps of a process that has
// ended.
func TestMapsMPI(t *testing.T) {
	if mapsMPI(os.Getpid()) || mapsMPI(1<<30) || programOf(1<<30) != "" {
		t.Error("MPI where there is none")
	}
	if got := (RankFrom{}).Beneath([]int{os.Getpid(), 1 << 30}); len(got) != 0 {
		t.Errorf("a process that is no wrapper, and one that is none: %v", got)
	}
	if hasChildren(1 << 30) {
		t.Error("a process that has ended has children")
	}
	if self, err := os.Executable(); err != nil || programOf(os.Getpid()) != self {
		t.Errorf("we are %q, %v, not %q", self, err, programOf(os.Getpid()))
	}
}

// TestBeneathTimeout looks below a real timeout.
func TestBeneathTimeout(t *testing.T) {
	cmd := exec.Command("timeout", "100", "sh", "-c", "echo $$; read x")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	got := (RankFrom{}).Beneath([]int{cmd.Process.Pid})
	if want := strings.TrimSpace(line); strconv.Itoa(got[cmd.Process.Pid]) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
