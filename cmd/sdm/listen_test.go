package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// started starts a process, which is killed at the end of the test.
func started(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// TestListen runs a session whose master connects to the console, as in a batch job, with three
// servers that register with the master.
func TestListen(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SDM_BACKEND", "sim")
	t.Setenv("SDM_NO_RC", "true")
	var out bytes.Buffer
	console := exec.Command("sdm", "listen", "0", "--fold", "30s", "-b", "-e", "break work.c:7", "-e", "continue", "-e", "print x", "--", "prog")
	console.Stdout = &out
	said, err := console.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	started(t, console)
	lines := bufio.NewReader(said)
	masterLine := after(t, lines, "start it with: ")

	args := append(strings.Fields(masterLine), "--rendezvous", "127.0.0.1:0", "--servers", "3")
	master := exec.Command(args[0], args[1:]...)
	told, err := master.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	started(t, master)
	rendezvous := after(t, bufio.NewReader(told), "servers register at ")
	for i, number := range []string{"0", "1", "2"} {
		started(t, exec.Command("sdm-server", "--rendezvous", rendezvous, "--server", number, "--size", "3"))
		if i < 2 { // the user is told at once
			after(t, lines, fmt.Sprintf("%d of 3 ranks have a server", i+1))
		}
	}
	rest, _ := io.ReadAll(lines)
	if err := console.Wait(); err != nil {
		t.Errorf("sdm listen: %v\n%s", err, rest)
	}
	const want = `[0-2] main () at work.c:20
20	    rank = my_rank();
[0-2] Breakpoint 1 at work.c:7
[0-2] Breakpoint 1, helper (x=<0..2>) at work.c:7
7	    int twice = 2 * x;
[0] x = 0
[1] x = 1
[2] x = 2
`
	if out.String() != want {
		t.Errorf("sdm listen wrote\n%s\nwant\n%s\nstandard error: %s", &out, want, rest)
	}
}

// after returns what follows words on the first line that contains them.
func after(t *testing.T, r *bufio.Reader, words string) string {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if _, text, ok := strings.Cut(line, words); ok {
			return strings.TrimSpace(text)
		}
		if err != nil {
			t.Fatalf("%q was not said: %v", words, err)
		}
	}
}
