package mpir

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sdm/launch"
)

func TestAttachToARunningStarter(t *testing.T) {
	starter := compile(t, "starter", starterSource)
	for _, argv := range [][]string{{starter}, {starter, "lazy"}, {"/bin/sh", "-c", starter + " lazy; exit $?"}} {
		cmd := exec.Command(argv[0], argv[1:]...)
		var out bytes.Buffer
		cmd.Stdout = &out
		_, in := begun(t, cmd)
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		a := found(ctx, t, cmd.Process.Pid)
		table, err := a.Acquire(ctx, func(string) {})
		if err != nil || len(table) != 2 || table[1].Host != "node1" {
			t.Errorf("%v: %+v, %v", argv, table, err)
		}
		if err := a.End(ctx); err != nil {
			t.Error(err)
		}
		in.Close()
		err = cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 7 {
			t.Errorf("%v: it ended with %v\n%s", argv, err, out.String())
		}
		cancel()
	}
}

// begun starts a command that ends with its input.
func begun(t *testing.T, cmd *exec.Cmd) (*exec.Cmd, io.Closer) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, in
}

// found calls Find until the starter is there.
func found(ctx context.Context, t *testing.T, pid int) *Attach {
	t.Helper()
	for {
		a, err := Find(pid, launch.FamilyOf(pid).Descendants(), noRank)
		if err == nil {
			return a
		}
		if sleep(ctx, time.Millisecond) != nil {
			t.Fatal(err)
		}
	}
}

func TestAttachFindsNoStarter(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, err := Find(cmd.Process.Pid, nil, noRank)
	var none *NoStarter
	if !errors.As(err, &none) {
		t.Errorf("%v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if _, err := Find(cmd.Process.Pid, nil, noRank); err == nil || !strings.Contains(err.Error(), "there is no process") {
		t.Errorf("%v", err)
	}
}

// noRank reports that no process is a rank.
func noRank(int) (is, sure bool) { return false, false }

// TestFindBelowRanks looks for a starter in a shell that is a rank: for sure, or perhaps.
func TestFindBelowRanks(t *testing.T) {
	starter := compile(t, "starter", starterSource)
	cmd, in := begun(t, exec.Command("/bin/sh", "-c", starter+"; exit $?"))
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	a := found(ctx, t, cmd.Process.Pid)
	if _, err := a.Acquire(ctx, func(string) {}); err != nil {
		t.Fatal(err)
	}
	child := a.StarterPID()
	for sure, want := range map[bool]int{false: child, true: 0} {
		a, err := Find(cmd.Process.Pid, []int{child}, func(int) (bool, bool) { return true, sure })
		got := 0
		if err == nil {
			got = a.StarterPID()
		}
		if got != want {
			t.Errorf("a rank for sure: %t: %d is found, not %d: %v", sure, got, want, err)
		}
	}
	in.Close()
	cmd.Wait()
}

// TestFindRank opens a process that has MPIR but no table and has the environment of a rank.
func TestFindRank(t *testing.T) {
	p, err := openStarter(os.Getpid(), true, files{})
	if !errors.Is(err, errNoMPIR) || p != nil {
		t.Errorf("got %v, %v", p, err)
	}
}
