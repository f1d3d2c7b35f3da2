package master

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/wire"
	"sdm/tree"
)

// fakeRoot is a root of the tree with answers from a test.
type fakeRoot struct {
	up func(wire.Message)
	// answer, if not nil, is called for each packet that goes down.
	answer func(f *fakeRoot, m wire.Message)
	err    error // of Run

	mu   sync.Mutex
	down []wire.Message
	over chan struct{}
	work chan wire.Message // to Run, which calls answer as the loop would call Up
}

func (f *fakeRoot) Post(in ...tree.Input) {
	for _, i := range in {
		m := i.(tree.FromParent).Msg
		f.mu.Lock()
		f.down = append(f.down, m)
		f.mu.Unlock()
		f.work <- m
	}
}

func (f *fakeRoot) Run(ctx context.Context) error {
	for {
		select {
		case m := <-f.work:
			if f.answer != nil {
				f.answer(f, m)
			}
		case <-f.over:
			return f.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reply sends groups for a request.
func (f *fakeRoot) reply(id protocol.RequestID, flags wire.Flags, groups ...protocol.Group) {
	f.up(wire.Message{Kind: wire.Reply, ID: id, Flags: flags, Groups: groups})
}

// obedient answers each command with an empty result, and ends at once on quit.
func obedient(f *fakeRoot, m wire.Message) {
	switch m.Kind {
	case wire.Init, wire.Command:
		f.reply(m.ID, wire.Final, protocol.Group{Kind: protocol.KindResult, Ranks: m.Ranks, Body: []byte("{}")})
	case wire.Quit:
		close(f.over)
	}
}

// mute answers Init and quit, but no command.
func mute(f *fakeRoot, m wire.Message) {
	if m.Kind != wire.Command {
		obedient(f, m)
	}
}

func (f *fakeRoot) sent(k wire.Kind) []wire.Message {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []wire.Message
	for _, m := range f.down {
		if m.Kind == k {
			found = append(found, m)
		}
	}
	return found
}

func newFake(t *testing.T, answer func(*fakeRoot, wire.Message)) (*Master, *fakeRoot) {
	t.Helper()
	return newFakeOf(t, Config{}, answer)
}

func newFakeOf(t *testing.T, cfg Config, answer func(*fakeRoot, wire.Message)) (*Master, *fakeRoot) {
	t.Helper()
	f := &fakeRoot{answer: answer, over: make(chan struct{}), work: make(chan wire.Message, 1000)}
	cfg.newRoot = func(up func(wire.Message)) root { f.up = up; return f }
	m, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m, f
}

// standing returns a master with a complete tree of ranks 0-7.
func standing(t *testing.T, answer func(*fakeRoot, wire.Message)) (*Master, *fakeRoot) {
	t.Helper()
	m, f := newFake(t, answer)
	if _, err := m.Init(context.Background(), twoHosts(), time.Minute); err != nil {
		t.Fatal(err)
	}
	return m, f
}

// closeNow closes a master whose root answers quit.
func closeNow(t *testing.T, m *Master) {
	t.Helper()
	if err := m.Close(context.Background()); err != nil {
		t.Errorf("close: %v", err)
	}
}

// call makes a call and returns its answers as lines, up to done.
func call(t *testing.T, m *Master, c session.Call) string {
	t.Helper()
	id, err := m.Do(context.Background(), c)
	if err != nil {
		return "refused: " + err.Error()
	}
	var b strings.Builder
	for e := range m.Events() {
		if e.Done != nil {
			e.Done.Took = 0
		}
		fmt.Fprintf(&b, "%s\n", e.AppendJSON(nil))
		if e.Done != nil && e.ID == id {
			return b.String()
		}
	}
	t.Fatal("the events ended before done")
	return ""
}
