package main

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"testing"
)

// TestSimulatedMaster connects sdm sim to a front end, as authors of front ends do.
func TestSimulatedMaster(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SDM_NO_RC", "true")
	var out bytes.Buffer
	console := exec.Command("sdm", "listen", "127.0.0.1:0", "-b", "-e", "break helper", "-e", "continue", "-e", "print size")
	console.Stdout = &out
	said, err := console.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	started(t, console)
	lines := bufio.NewReader(said)
	address := after(t, lines, "sdm-master --connect ")
	master := exec.Command("sdm", "sim", "-n", "300", "--connect", address)
	var told bytes.Buffer
	master.Stderr = &told
	if err := master.Run(); err != nil {
		t.Errorf("sdm sim: %v\n%s", err, &told)
	}
	rest, _ := io.ReadAll(lines)
	if err := console.Wait(); err != nil {
		t.Errorf("sdm listen: %v\n%s", err, rest)
	}
	const want = `[0-299] main () at work.c:20
20	    rank = my_rank();
[0-299] Breakpoint 1 at work.c:7
[0-299] Breakpoint 1, helper (x=<0..299, about 300 values>) at work.c:7
7	    int twice = 2 * x;
[0-299] size = 300
`
	if out.String() != want {
		t.Errorf("sdm listen wrote\n%s\nwant\n%s\nstandard error: %s", &out, want, rest)
	}
}
