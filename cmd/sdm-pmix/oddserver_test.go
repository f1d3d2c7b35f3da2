// Tests with testdata/server.c, for what no real server can be brought to do.

package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"sdm/launch/pmix"
)

// oddServer starts testdata/server.c. The function returns what it has written next.
func oddServer(t *testing.T, dir, moment string) (pmix.Found, func() string) {
	t.Helper()
	place := t.TempDir()
	cmd := exec.Command(filepath.Join(dir, "odd-server"), place, moment)
	in, out := startPiped(t, cmd)
	lines := bufio.NewReader(out)
	said := func() string {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Error(err)
		}
		return line
	}
	t.Cleanup(func() {
		in.Close()
		io.Copy(io.Discard, out)
		cmd.Wait() // it has exited with 7 at its moment
	})
	if got := said(); got != "ready\n" {
		t.Fatalf("the server says %q", got)
	}
	found, err := pmix.Locate(pmix.Target{PID: cmd.Process.Pid}, []string{place})
	if err != nil {
		t.Fatal(err)
	}
	return found, said
}

// startPiped starts a program whose standard input and output are pipes.
func startPiped(t *testing.T, cmd *exec.Cmd) (in io.Closer, out io.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out
}

// tool starts sdm-pmix. Its events go to a channel.
func tool(t *testing.T, dir string) (*pmix.Helper, <-chan pmix.Message) {
	t.Helper()
	events := make(chan pmix.Message, 64)
	h, err := pmix.StartHelper(context.Background(), pmix.HelperSpec{
		Path: filepath.Join(dir, "sdm-pmix"), Env: os.Environ(), Stderr: os.Stderr, OnEvent: func(m pmix.Message) { events <- m },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.End(inTime(t)) })
	return h, events
}

// TestOddAnswers has a server that refuses a required directive, honours an allocation, and answers
// in part.
func TestOddAnswers(t *testing.T) {
	dir := built(t)
	server, said := oddServer(t, dir, "")
	h, _ := tool(t, dir)
	ctx := inTime(t)
	call := func(r pmix.Request) (pmix.Message, error) { return h.Call(ctx, r) }
	if _, err := call(pmix.Request{Call: pmix.CallConnect, Info: []pmix.Info{pmix.String(pmix.ServerURI, server.URI.Reveal())}}); err != nil {
		t.Fatal(err)
	}
	apps := ranks(1, "true")
	unknown := pmix.True("sdm.unknown")
	if _, err := call(pmix.Request{Call: pmix.CallSpawn, Apps: apps, Info: []pmix.Info{unknown}}); err != nil {
		t.Errorf("an unknown directive that is not required: %v", err)
	}
	unknown.Required = true
	var f *pmix.Failure
	if _, err := call(pmix.Request{Call: pmix.CallSpawn, Apps: apps, Info: []pmix.Info{unknown}}); !errors.As(err, &f) || f.Code != pmix.ErrNotSupported {
		t.Errorf("an unknown directive that is required: %v", err)
	}
	job, _ := pmix.Directives{AllocNodes: 3, AllocTime: 90*time.Second - 1}.Infos()
	for i := range job {
		job[i].Required = true
	}
	m, err := call(pmix.Request{Call: pmix.CallSpawn, Apps: apps, Info: job})
	if err != nil || m.Proc == nil || m.Proc.Nspace != "odd-host-1@2" {
		t.Errorf("an allocation: %+v, %v", m, err)
	}
	if got := said() + said(); got != "nodes 3\nseconds 90\n" {
		t.Errorf("the server was asked for %q", got)
	}
	m, err = call(pmix.Request{Call: pmix.CallQuery, Key: "sdm.partial"})
	if v, found := pmix.Find(m.Info, "sdm.partial"); err != nil || m.Status != pmix.PartialSuccess || found && v.Text != "half" {
		t.Errorf("an answer in part, of which libpmix 4.2.2 passes on the status only: %+v, %v", m, err)
	}
	if _, err := call(pmix.Request{Call: pmix.CallQuery, Key: "sdm.none"}); !errors.As(err, &f) || f.Code != pmix.ErrNotFound {
		t.Errorf("no answer: %v", err)
	}
}

// TestLocalTable attaches by a server that knows the processes of its host only.
func TestLocalTable(t *testing.T) {
	dir := built(t)
	server, _ := oddServer(t, dir, "")
	place := filepath.Dir(server.File)
	a := pmix.NewAttach(pmix.AttachSpec{Namespace: "odd-host-1@1", ServerSpec: pmix.ServerSpec{
		Program: filepath.Join(dir, "sdm-pmix"), Env: append(os.Environ(), "PMIX_SERVER_TMPDIR="+place),
	}})
	table, err := a.Acquire(inTime(t), func(string) {})
	if err != nil || len(table) != 1 || table[0].PID != server.PID || table[0].Host != "n0" || table[0].Program != "/a" {
		t.Errorf("%+v, %v", table, err)
	}
	if err := a.End(inTime(t)); err != nil {
		t.Error(err)
	}
}

// TestServerDies has a server that exits in the middle of a call: that call and all later ones fail,
// none hangs, and sdm-pmix is told.
func TestServerDies(t *testing.T) {
	dir := built(t)
	for _, moment := range []string{"connect", "query", "spawn", "control", "notify"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			server, _ := oddServer(t, dir, moment)
			h, events := tool(t, dir)
			calls := []pmix.Request{
				{Call: pmix.CallConnect, Info: []pmix.Info{pmix.String(pmix.ServerURI, server.URI.Reveal())}},
				{Call: pmix.CallQuery, Key: "sdm.partial"},
				{Call: pmix.CallSpawn, Apps: ranks(1, "true")},
				{Call: pmix.CallControl, Targets: []pmix.Proc{pmix.All("odd-host-1@1")}, Info: []pmix.Info{pmix.True(pmix.ControlKill)}},
				{Call: pmix.CallNotify, Event: pmix.DebuggerRelease, Targets: []pmix.Proc{pmix.All("odd-host-1@1")}},
			}
			died := false
			for _, r := range calls {
				_, err := h.Call(inTime(t), r)
				died = died || string(r.Call) == moment
				if died && moment == "notify" {
					break // it may be sent before the server has gone
				}
				if (err != nil) != died {
					t.Errorf("%s: %v", r.Call, err)
				}
				if died && r.Call == pmix.CallConnect {
					return // there was no connection that could be lost
				}
			}
			for {
				select {
				case m := <-events:
					if m.Event == pmix.LostConnection {
						return
					}
				case <-inTime(t).Done():
					t.Fatal("the loss of the server was not told")
				}
			}
		})
	}
}
