package launch

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestTaskOf(t *testing.T) {
	type task struct {
		parent, number int
		program        string
		ids            []int
	}
	// Inside of the job's namespace 4711 is 12, and 4712 is 13; outside 12 is another process.
	tasks := map[int]task{
		12:   {1, Unknown, "/usr/sbin/cron", []int{12}},
		4711: {1, 3, "/home/me/app", []int{4711, 12}}, 4712: {1, 4, "/home/me/app", []int{4712, 13}},
		4713: {4712, 4, "/home/me/app", []int{4713, 14}}, // a child of 4712
		5000: {1, 5, "/bin/sh", []int{5000}},             // a script that runs app
		6000: {1, Unknown, "/home/me/app", []int{6000}},  // has cleared its environment
		7000: {1, 7, "/home/me/app", []int{7000}}, 7001: {1, 7, "/home/me/app", []int{7001}},
		8000: {1, Unknown, "", []int{8000}}, // of another user
	}
	q := taskQueries{
		number: func(pid int) int {
			if one, ok := tasks[pid]; ok {
				return one.number
			}
			return Unknown
		},
		program: func(pid int) string { return tasks[pid].program },
		ids:     func(pid int) []int { return tasks[pid].ids },
		parents: func() map[int]int {
			all := map[int]int{}
			for pid, one := range tasks {
				all[pid] = one.parent
			}
			return all
		},
	}
	for _, c := range []struct {
		pid, number int
		want        string
	}{
		{4711, 3, "4711"}, {12, 3, "4711"}, {13, 4, "4712"}, {999, 4, "4712"}, {4711, 4, "4712"},
		{5000, 5, "5000"}, {6000, 6, "6000"}, {8000, 8, "8000"},
		{12, 7, "process 12 is not rank 7 of the step, and several others may be it"},
		{12, 9, "process 12 is not rank 9 of the step: it runs cron, not app"},
		{999, 9, "there is no process 999"},
	} {
		pid, err := taskOf(c.pid, c.number, "./app", q)
		got := fmt.Sprint(pid)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%d, rank %d: %s, want %s", c.pid, c.number, got, c.want)
		}
	}
}

// TestTaskInNamespace finds a real process in a real pid namespace by its id there.
func TestTaskInNamespace(t *testing.T) {
	if out, err := exec.Command("unshare", "-pf", "true").CombinedOutput(); err != nil {
		t.Skipf("no pid namespaces here: %v: %s", err, out)
	}
	// The shell in the namespace is process 1, its child the task: 2, or what follows the last number (root may set it).
	number := 2
	if os.Getuid() == 0 {
		number = 31000 + os.Getpid()%1000 // most systems have fewer processes in a namespace
	}
	last := fmt.Sprintf("echo %d 2>/dev/null >/proc/sys/kernel/ns_last_pid; ", number-1)
	cmd := exec.Command("unshare", "-pf", "--kill-child", "sh", "-c", last+"exec 3<&0; SLURM_PROCID=31337 sh -c 'echo up; exec cat <&3' & wait")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	own, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	defer cmd.Wait()
	defer in.Close()
	if line, err := bufio.NewReader(own).ReadString('\n'); line != "up\n" {
		t.Fatal(line, err)
	}
	for tries := 0; ; tries++ { // until the shell has executed cat
		pid, err := TaskOf(number, 31337, "cat")
		if err == nil && pid != number { // a kernel thread of the host
			if ids := namespacePids(pid); len(ids) < 2 || !slices.Contains(ids, number) || procID(pid) != 31337 {
				t.Errorf("%d is %v, rank %d", pid, ids, procID(pid))
			}
			if inside := InsideAs(number); inside != pid && number > 2 {
				t.Errorf("%d is process %d here, not %d", number, pid, inside)
			}
			return
		}
		if tries == 100000 {
			t.Fatal(pid, err)
		}
	}
}

func FuzzReadNSpid(f *testing.F) {
	f.Add("Name:\tcat\nNSpid:\t4711\t12\n")
	f.Fuzz(func(t *testing.T, status string) {
		if ids := readNSpid([]byte(status), 7); len(ids) == 0 {
			t.Errorf("%q: %v", status, ids)
		}
	})
}
