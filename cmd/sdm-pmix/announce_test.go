// What other tools of a server are told about us.

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sdm/launch/pmix"
)

// listener starts testdata/listener.c. The function returns what it has heard next.
func listener(t *testing.T, dir string, server pmix.Found) func() string {
	t.Helper()
	cmd := exec.Command(filepath.Join(dir, "listener"), server.URI.Reveal())
	in, out := startPiped(t, cmd)
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	lines := make(chan string, 64)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	heard := func() string {
		t.Helper()
		select {
		case line := <-lines:
			return line
		case <-inTime(t).Done():
			t.Fatal("nothing was heard")
			return ""
		}
	}
	if got := heard(); got != "ready" {
		t.Fatalf("the listener says %q", got)
	}
	return heard
}

// TestAnnouncements has a tool that is not ours, and a second session, hear that a debugger comes to a
// job and leaves it. The MPI library of the ranks, which has not asked for these events, is not harmed.
func TestAnnouncements(t *testing.T) {
	inRoots(t, func(t *testing.T, dir string) {
		const end = "/tmp/end"
		d, _ := direct(t, dir, pmix.DirectSpec{Apps: ranks(2, filepath.Join(dir, "mpiwait"), end), Directives: spread})
		if _, err := d.Acquire(inTime(t), func(string) {}); err != nil {
			t.Fatal(err)
		}
		heard := listener(t, dir, d.Server())
		came := fmt.Sprintf("-3001 %[1]s sdm: a debugger is attached to job %[1]s", d.JobID())
		left := fmt.Sprintf("-3002 %[1]s sdm: the debugger has left job %[1]s", d.JobID())

		notices := make(chan string, 64)
		first := pmix.NewAttach(pmix.AttachSpec{Namespace: d.JobID(), ServerSpec: pmix.ServerSpec{
			Program: filepath.Join(dir, "sdm-pmix"), Env: os.Environ(), Notice: func(n pmix.Notice) { notices <- n.String() },
		}})
		if _, err := first.Acquire(inTime(t), func(string) {}); err != nil {
			t.Fatal(err)
		}
		second := pmix.NewAttach(pmix.AttachSpec{Namespace: d.JobID(), ServerSpec: pmix.ServerSpec{Program: filepath.Join(dir, "sdm-pmix"), Env: os.Environ()}})
		if _, err := second.Acquire(inTime(t), func(string) {}); err != nil {
			t.Fatal(err)
		}
		if err := second.Release(); err != nil {
			t.Fatal(err)
		}
		if got := heard(); got != came {
			t.Errorf("heard %q, want %q", got, came)
		}
		if err := second.End(inTime(t)); err != nil {
			t.Error(err)
		}
		if got := heard(); got != left {
			t.Errorf("heard %q, want %q", got, left)
		}
		var told []string
		for len(told) < 2 {
			select {
			case n := <-notices:
				told = append(told, n)
			case <-inTime(t).Done():
				t.Fatalf("the first session was told %q", told)
			}
		}
		want := fmt.Sprintf("job %[1]s: another debugger is attached|job %[1]s: the other debugger has left", d.JobID())
		if got := strings.Join(told, "|"); got != want {
			t.Errorf("the first session was told %q, want %q", got, want)
		}
		if err := first.End(inTime(t)); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(end, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if code := ended(t, d); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}
