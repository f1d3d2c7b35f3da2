package proc

import (
	"os/exec"
	"testing"
	"time"
)

// TestKept reads the files of a process that sleeps, ends, and is waited for.
func TestKept(t *testing.T) {
	cat := exec.Command("cat")
	in, err := cat.StdinPipe()
	if err == nil {
		err = cat.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	pid := cat.Process.Pid
	k := Keep(pid)
	limit := time.Now().Add(10 * time.Second)
	for k.Letter() != 'S' {
		if time.Now().After(limit) {
			t.Fatalf("cat is in state %q, not S", k.Letter())
		}
	}
	for range 2 {
		if got, want := k.Sizes(), readLine("/proc/%d/statm", pid); got != want || want == "" {
			t.Errorf("sizes %q, not %q", got, want)
		}
		k.Close()
		k.Close()
	}
	k.Letter()
	in.Close()
	if err := cat.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, opened := range []bool{true, false} {
		if letter, sizes := k.Letter(), k.Sizes(); letter != 0 || sizes != "" {
			t.Errorf("after its end, opened before: %t: state %q, sizes %q", opened, letter, sizes)
		}
		k.Close()
	}
}
