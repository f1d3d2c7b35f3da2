package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sdm/master/frontend/rpc"
	"sdm/master/session"
	"sdm/protocol"
)

// addrOnFile returns where the only session of the user listens.
func addrOnFile(t *testing.T, id string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(os.Getenv("XDG_STATE_HOME"), "sdm/sessions", id+".json"))
	var state struct{ Socket, Ranks, Kind string }
	if err == nil {
		err = json.Unmarshal(b, &state)
	}
	if err != nil || state.Kind != "master" {
		t.Fatalf("%s, %v", b, err)
	}
	return "unix:" + state.Socket
}

// TestSeveralFrontEnds has a front end that is dialled, one that joins by the file of the session, and twice the
// example script: all see one session, which ends when one of them says so.
func TestSeveralFrontEnds(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	file := secretFile(t)
	addr, accept := frontEnd(t, file)
	m := start(t, nil, "--connect", addr, "--keep", "10m", "--secret-file", file, "--rendezvous", "127.0.0.1:0", "--servers", "3")
	c := newCrew(t, file)
	c.register(m.rendezvous(), 3, 0, 1, 2)
	first := accept()
	at := addrOnFile(t, "sdm-1")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	report, err := first.Initialize(ctx, rpc.Setup{Front: &protocol.FrontEnd{Name: "ide"}})
	if err != nil || report.Ranks.String() != "0-2" || !first.IsShared() {
		t.Fatalf("%+v, %v", report, err)
	}
	script := func(want string) {
		t.Helper()
		out, err := exec.Command("python3", "../../testdata/frontend/drive.py", "join", "sdm-1", "n").CombinedOutput()
		for _, w := range []string{want, `"result": {"expr": "n"}, "columns": {"value": {"distinct": 3,`, "leave {}"} {
			if err != nil || !strings.Contains(string(out), w) {
				t.Fatalf("%v, no %s in\n%s", err, w, out)
			}
		}
	}
	script(`launch {`)
	script(`"reason": "entry"`)
	second, err := rpc.Join(ctx, at, rpc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Initialize(ctx, rpc.Setup{}); err != nil || second.Welcome().Others[0].Name != "ide" {
		t.Fatalf("%+v, %v", second.Welcome(), err)
	}
	first.Leave(0)
	s, err := second.Summary(ctx)
	for err == nil && len(s.Fronts) > 1 { // it may be asked before the first has left
		s, err = second.Summary(ctx)
	}
	if err != nil || len(s.Fronts) != 1 || s.States[0].State != session.Stopped {
		t.Errorf("%+v, %v", s, err)
	}
	if err := second.Close(ctx); err != nil {
		t.Error(err)
	}
	m.exit(0)
	c.group.Wait()
	if c.ended != 3 {
		t.Errorf("%d servers ended well", c.ended)
	}
	if left, _ := filepath.Glob(os.Getenv("XDG_STATE_HOME") + "/sdm/sessions/*.json"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestNobodyComes has sessions whose time is over: with a tree, and before there is one.
func TestNobodyComes(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	file := secretFile(t)
	m := start(t, nil, "--keep", "1s", "--secret-file", file)
	m.exit(exitNoTree)
	if text := m.stderr.text(); !strings.Contains(text, "no front end has asked for a tree in 1s") {
		t.Errorf("said: %s", text)
	}
	m = start(t, nil, "--keep", "1s", "--secret-file", file, "--rendezvous", "127.0.0.1:0", "--servers", "2", "--connect-wait", "1ms")
	m.exit(exitNoTree)
	if text := m.stderr.text(); !strings.Contains(text, "servers 0-1 of 2 never registered") {
		t.Errorf("said: %s", text)
	}
	m = start(t, nil, "--keep", "1s", "--secret-file", file, "--rendezvous", "127.0.0.1:0", "--servers", "1")
	c := newCrew(t, file)
	c.register(m.rendezvous(), 1, 0)
	m.exit(0)
	c.group.Wait()
	if c.ended != 1 {
		t.Errorf("%d servers ended well", c.ended)
	}
}
