package launch

import (
	"os"
	"strings"
	"testing"
)

func TestRefuseOurselves(t *testing.T) {
	for _, pid := range []int{1, os.Getpid()} {
		if RefuseOurselves(pid) == nil {
			t.Errorf("process %d may be debugged", pid)
		}
	}
	if err := RefuseOurselves(os.Getppid()); err != nil && !strings.Contains(err.Error(), "process 1 ") {
		t.Errorf("our parent, which is no program of ours: %v", err)
	}
}

// 1 ─ 10 sh ─ 20 sdm ─ 30 sdm-server (self) ─ 40 gdb ─ 50 sh
//
//	                                        └ 41 app
//	└ 11 sdm (of another session) ─ 21 sdm-server ─ 31 gdb
func TestIsOurs(t *testing.T) {
	parents := map[int]int{10: 1, 20: 10, 30: 20, 40: 30, 50: 40, 41: 30, 11: 1, 21: 11, 31: 21}
	programs := map[int]string{
		10: "/bin/sh", 20: "/usr/bin/sdm", 30: "/usr/bin/sdm-server", 40: "/usr/bin/gdb", 50: "/bin/sh", 41: "/home/me/app",
		11: "/usr/bin/sdm", 21: "/usr/bin/sdm-server (deleted)", 31: "/usr/bin/gdb",
	}
	ours := map[int]bool{20: true, 30: true, 40: true}
	parentIn := func(parents map[int]int) func(int) (int, bool) {
		return func(pid int) (int, bool) {
			parent, known := parents[pid]
			return parent, known
		}
	}
	for pid := range parents {
		if got := isOurs(pid, 30, parentIn(parents), func(pid int) string { return programs[pid] }); got != ours[pid] {
			t.Errorf("process %d (%s): %t", pid, programs[pid], got)
		}
	}
	if isOurs(99, 30, parentIn(map[int]int{30: 20, 20: 30}), func(int) string { return "sdm" }) {
		t.Error("a process without known ancestors is ours")
	}
}
