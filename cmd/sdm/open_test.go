package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"sdm/master/frontend/rpc"
	"sdm/master/hangfile"
	"sdm/master/session"
)

// TestOpenForFrontEnd opens a hang file for a front end that speaks JSON-RPC.
func TestOpenForFrontEnd(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SDM_NO_RC", "true")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	socket := filepath.Join(t.TempDir(), "s")
	door, err := rpc.Listen("unix:"+socket, rpc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	opened := exec.CommandContext(ctx, "sdm", "open", "../../master/hangfile/testdata/ring-1.0", "--connect", "unix:"+socket)
	started(t, opened)
	client, err := door.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	report, err := client.Initialize(ctx, rpc.Setup{})
	if err != nil || report.Ranks.String() != "0-5" {
		t.Fatalf("initialize: %v, %v", report, err)
	}
	if _, err := client.Do(ctx, session.Call{Command: "continue"}); err == nil {
		t.Error("continue is not refused")
	}
	id, err := client.Do(ctx, session.Call{Command: "stacks"})
	if err != nil {
		t.Fatal(err)
	}
	f := hangfile.File{}
	for e := range client.Events() {
		if e.ID == id && e.Done != nil {
			break
		}
		if e.ID == id {
			f.Stacks = append(f.Stacks, e)
		}
	}
	const want = "deadlock: 0-4 wait for 1..5 (receive tag 3), 5 waits for 0 (receive tag 3)"
	if f.Judge(); len(f.Verdict) != 1 || f.Verdict[0].Text != want {
		t.Errorf("verdict %+v", f.Verdict)
	}
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
	if err := opened.Wait(); err != nil {
		t.Errorf("sdm open: %v", err)
	}
}
