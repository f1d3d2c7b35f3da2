package probe

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record is a Sink that keeps what it is told, as text.
type record struct {
	mu  sync.Mutex
	got []string
}

func (r *record) Reply(id protocol.RequestID, groups ...protocol.Group) {
	r.add(fmt.Sprint("reply ", id), groups)
}

func (r *record) Event(groups ...protocol.Group) { r.add("event", groups) }

func (r *record) add(what string, groups []protocol.Group) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range groups {
		var f protocol.Fault
		text := fmt.Sprint(what, " ", g.Kind, " ", g.Ranks)
		var x protocol.Exit
		if g.Kind.IsEnd() && json.Unmarshal(g.Body, &x) == nil && x.Unknown {
			text += " somehow"
		}
		if g.Kind == protocol.KindFault && json.Unmarshal(g.Body, &f) == nil {
			text += " " + f.Message
		}
		r.got = append(r.got, text)
	}
}

// start starts a process that waits.
func start(t *testing.T) *exec.Cmd {
	t.Helper()
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c
}

func TestBackend(t *testing.T) {
	p := start(t)
	gone := start(t)
	_ = gone.Process.Kill()
	_ = gone.Wait()
	r := &record{}
	b := New(r, slog.New(slog.DiscardHandler), "")
	both := rank.Range(0, 1)
	b.Attach(1, []backend.Target{{Rank: 0, PID: p.Process.Pid}, {Rank: 1, PID: gone.Process.Pid}, {Rank: 2, PID: 1, Held: true}}, "", 0)
	b.Do(backend.Request{ID: 2, Ranks: both, Command: &protocol.Command{Name: "stacks"}})
	b.Do(backend.Request{ID: 3, Ranks: both, Command: &protocol.Command{Name: "print"}})
	b.Do(backend.Request{ID: 4, Ranks: rank.Range(2, 2), Command: &protocol.Command{Name: "stacks"}})
	b.Ended(1, protocol.Exit{Code: 3})
	b.Do(backend.Request{ID: 5, Ranks: rank.Range(0, 0), Command: &protocol.Command{Name: "detach"}})
	b.Do(backend.Request{ID: 6, Ranks: rank.Range(0, 0), Command: &protocol.Command{Name: "stacks"}})
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Do(backend.Request{ID: 7, Ranks: both, Command: &protocol.Command{Name: "stacks"}})
	ended := backend.Exited.Refuse(protocol.NeedStopped).Message
	want := []string{
		"reply 1 reply 0", "event stopped 0", "reply 1 reply 1", "event stopped 1", "event exited 1 somehow",
		"reply 1 error 2 the probe reads processes that run already",
		"reply 2 error 1 " + ended, "reply 2 reply 0",
		"reply 3 error 1 " + ended, "reply 3 error 0 the probe answers stacks only",
		"reply 4 error 2 " + backend.Lost.Refuse(protocol.NeedStopped).Message,
		"event detached 0", "reply 5 reply 0",
		"reply 6 error 0 " + backend.Detached.Refuse(protocol.NeedStopped).Message,
	}
	if !slices.Equal(r.got, want) {
		t.Errorf("got %q\nwant %q", r.got, want)
	}
}

// The end of a rank is reported when it happens, without a request.
func TestEndOfARank(t *testing.T) {
	p := start(t)
	r := &record{}
	b := New(r, slog.New(slog.DiscardHandler), "")
	defer b.Close(t.Context())
	b.Attach(1, []backend.Target{{Rank: 5, PID: p.Process.Pid}}, "", 0)
	_ = p.Process.Kill()
	for limit := time.Now().Add(10 * time.Second); ; {
		r.mu.Lock()
		got := slices.Clone(r.got)
		r.mu.Unlock()
		if slices.Contains(got, "event exited 5 somehow") {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("got %q", got)
		}
	}
}
