package launch

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		match, argv string
		want        bool
	}{
		{"python train.py", "/usr/bin/python3.11 -u /home/me/train.py --lr 1", true},
		{"python train.py --lr", "python3 train.py --steps 9 --lr 1", true},
		{"python3.11 train.py", "/opt/bin/python3.11 train.py", true},
		{"python3.12 train.py", "/opt/bin/python3.11 train.py", false},
		{"python", "python-3.11", true},
		{"python train.py", "python train.pyc", false},
		{"python --lr train.py", "python train.py --lr 1", false},
		{"python train.py", "mpirun -n 4 python train.py", false},
		{"python train.py", "bash -c python#train.py", false},
		{"python train.py", "sdm stacks --match python#train.py", false},
		{"/opt/a/work", "/opt/a/work", true},
		{"/opt/a/work", "/opt/b/work", false},
		{"work", "./work 1 2", true},
		{"wor? *.dat", "work -x in.dat", true},
		{"w[a-z]rk", "work", true},
		{"work", "", false},
		{"work x", "work", false},
	} {
		m, err := ParseMatch(c.match)
		if err != nil {
			t.Fatal(err)
		}
		argv := strings.Fields(c.argv)
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], "#", " ")
		}
		if got := m.matches(argv); got != c.want {
			t.Errorf("%q and %q: %v", c.match, argv, got)
		}
	}
	for _, bad := range []string{"", " ", "work [a", strings.Repeat("x", 5000)} {
		if _, err := ParseMatch(bad); err == nil {
			t.Errorf("%.20q is taken", bad)
		}
	}
}

// Neither this process nor what it was started by is found.
func TestMatchingProcesses(t *testing.T) {
	const odd = "29.123456"
	sleep := exec.Command("sleep", odd)
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	defer sleep.Wait()
	defer sleep.Process.Kill()
	m, err := ParseMatch("sleep " + odd)
	if err != nil {
		t.Fatal(err)
	}
	table, err := m.Processes("here")
	if err != nil || len(table) != 1 || table[0].PID != sleep.Process.Pid || table[0].Rank != 0 || table[0].Host != "here" {
		t.Errorf("%v, %v", table, err)
	}
	everything, err := ParseMatch("*")
	if err != nil {
		t.Fatal(err)
	}
	table, err = everything.Processes("here")
	for _, p := range table {
		if p.PID == os.Getpid() || p.PID == os.Getppid() || p.PID == 1 {
			t.Errorf("%v is found", p)
		}
	}
	if err != nil || len(table) == 0 {
		t.Errorf("nothing is found: %v", err)
	}
	nothing, err := ParseMatch("sleep " + odd + "789")
	if err != nil {
		t.Fatal(err)
	}
	if table, err := nothing.Processes("here"); err == nil {
		t.Errorf("found %v", table)
	}
}
