// What is left when a rank, a server or a tool is killed.

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/launch/pmix"
)

// TestSignal ends a held rank by a signal. The two servers tell the exit code in different ways.
func TestSignal(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		d, table, _ := acquired(t, dir, 2)
		if err := syscall.Kill(table[0].PID, syscall.SIGSEGV); err != nil {
			t.Fatal(err)
		}
		if code := ended(t, d); code != 128+int(syscall.SIGSEGV) {
			t.Errorf("exit code %d", code)
		}
	})
}

// TestEndKills ends a job whose ranks are held. Another tool finds the server as before.
func TestEndKills(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		d, table, _ := acquired(t, dir, 2)
		if err := d.End(inTime(t)); err != nil {
			t.Error(err)
		}
		for _, p := range table {
			if err := syscall.Kill(p.PID, 0); err == nil && !isZombie(p.PID) {
				t.Errorf("rank %d is left", p.Rank)
			}
		}
		d, _, _ = acquired(t, dir, 2)
		if err := d.Release(); err != nil {
			t.Error(err)
		}
		if code := ended(t, d); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(stat, []byte(") Z ")) || bytes.Contains(stat, []byte(") X "))
}

// awaitDeath waits until a process has ended, whether or not its parent has waited for it.
func awaitDeath(t *testing.T, pid int) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for late := inTime(t).Done(); syscall.Kill(pid, 0) == nil && !isZombie(pid); {
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("process %d has not ended", pid)
		}
	}
}

// TestServerKilled kills the server while ranks are held.
func TestServerKilled(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		d, _, _ := acquired(t, dir, 2)
		if err := syscall.Kill(d.Server().PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Ended(inTime(t)); err == nil || !strings.Contains(err.Error(), "connection to the PMIx server is lost") {
			t.Error(err)
		}
		if err := d.Release(); err == nil {
			t.Error("a release without a server has no error")
		}
		d.End(inTime(t))
		awaitDeath(t, d.Server().PID) // it closes its connections before it has ended
		d, _ = direct(t, dir, pmix.DirectSpec{Apps: ranks(1, "true")})
		var none *pmix.NoServer
		if _, err := d.Acquire(inTime(t), func(string) {}); !errors.As(err, &none) || len(none.Passed) == 0 {
			t.Errorf("the files of a killed server: %v", err)
		}
	})
}

// TestProgramKilled kills sdm-pmix while ranks are held. A second tool finds the server alive.
func TestProgramKilled(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		d, _, _ := acquired(t, dir, 2)
		if out, err := exec.Command("sh", "-c", `for p in /proc/[0-9]*; do [ "$(cat $p/comm)" != sdm-pmix ] || kill -9 ${p#/proc/}; done`).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, err := range []error{second(d.Ended(inTime(t))), d.Release()} {
			if err == nil || !strings.Contains(err.Error(), "signal 9 (killed)") {
				t.Error(err)
			}
		}
		d.End(inTime(t))
		d, _, _ = acquired(t, dir, 2)
		d.Release()
		if code := ended(t, d); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

func second(_ []pmix.Ending, err error) error { return err }

// toolVar makes TestTool a tool that is to be killed; its value is "alone" or "daemons".
const toolVar = "SDM_PMIX_TOOL"

// TestTool is the tool of TestToolKilled. It prints "held" when it holds its ranks.
func TestTool(t *testing.T) {
	mode, dir := os.Getenv(toolVar), os.Getenv(insideVar)
	if mode == "" {
		t.Skip("TestToolKilled runs it")
	}
	d, output := direct(t, dir, pmix.DirectSpec{Apps: ranks(2, filepath.Join(dir, "mpihello")), Directives: spread})
	table, err := d.Acquire(inTime(t), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if mode == "daemons" {
		if err := d.StartDaemons(inTime(t), []string{"/bin/sleep", "2"}, nil, []string{table[0].Host}); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(output(), "hello") {
		t.Error("the ranks have passed MPI_Init")
	}
	fmt.Println("held")
	d.Ended(context.Background())
}

// TestToolKilled kills a tool that holds ranks. Without daemons the ranks end; with daemons, which
// decide about them, they are released.
func TestToolKilled(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		for _, mode := range []string{"alone", "daemons"} {
			tool := exec.Command(os.Args[0], "-test.run", "^TestTool$")
			tool.Env = append(os.Environ(), toolVar+"="+mode)
			out, err := tool.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := tool.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil || line != "held\n" {
				t.Fatalf("%q, %v", line, err)
			}
			if n := len(running(t, "mpihello")); n != 2 {
				t.Errorf("%s: %d ranks run", mode, n)
			}
			tool.Process.Kill()
			tool.Wait() // its error is the signal
			awaitNone(t, "mpihello", "sdm-pmix")
		}
	})
}

// running returns the processes with a name, without zombies.
func running(t *testing.T, name string) (pids []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		stat, err := os.ReadFile(path)
		if err == nil && bytes.Contains(stat, []byte("("+name+")")) && !bytes.Contains(stat, []byte(") Z ")) {
			pids = append(pids, path)
		}
	}
	return pids
}

// awaitNone waits until no process has one of the names.
func awaitNone(t *testing.T, names ...string) {
	t.Helper()
	ctx := inTime(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, name := range names {
		for len(running(t, name)) > 0 {
			select {
			case <-tick.C:
			case <-ctx.Done():
				t.Fatalf("%s is left: %v", name, running(t, name))
			}
		}
	}
}
