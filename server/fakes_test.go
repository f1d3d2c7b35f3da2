package server

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sdm/backend"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/tree"
)

// testTimeout bounds every wait of these tests.
const testTimeout = 60 * time.Second

// fakeUp is a vertex that records its inputs and can be congested.
type fakeUp struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each input
	log     []string      // "reply 1 ..." and groups as text, without output
	out     map[string][]byte
	pieces  []string
	ranks   map[protocol.RequestID]int // number of ranks that have answered
	kinds   map[protocol.Kind]int      // number of ranks in events of the kind
	jam     chan struct{}              // while it is not nil, AwaitRoom waits until it is closed
	jammed  int                        // number of callers of AwaitRoom that wait
}

func newFakeUp() *fakeUp {
	return &fakeUp{changed: make(chan struct{}), out: map[string][]byte{}, ranks: map[protocol.RequestID]int{}, kinds: map[protocol.Kind]int{}}
}

func (u *fakeUp) Post(in ...tree.Input) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, i := range in {
		switch i := i.(type) {
		case tree.LocalReply:
			for _, g := range i.Groups {
				u.log = append(u.log, fmt.Sprintf("%d: %v", i.ID, g))
				u.ranks[i.ID] += g.Ranks.Len()
			}
		case tree.LocalEvents:
			for _, g := range i.Groups {
				u.event(g)
			}
		}
	}
	close(u.changed)
	u.changed = make(chan struct{})
}

func (u *fakeUp) event(g protocol.Group) {
	u.kinds[g.Kind] += g.Ranks.Len()
	if !g.Kind.IsOutput() {
		u.log = append(u.log, g.String())
		return
	}
	stream := map[protocol.Kind]string{protocol.KindStdout: "out", protocol.KindStderr: "err"}[g.Kind] + " " + g.Ranks.String()
	u.out[stream] = append(u.out[stream], g.Body...)
	u.pieces = append(u.pieces, fmt.Sprintf("%s %.40q", stream, g.Body))
	u.log = append(u.log, fmt.Sprintf("%s %.40q", stream, g.Body))
}

func (u *fakeUp) AwaitRoom(ctx context.Context) error {
	u.mu.Lock()
	jam := u.jam
	if jam != nil {
		u.jammed++
		close(u.changed)
		u.changed = make(chan struct{})
	}
	u.mu.Unlock()
	if jam != nil {
		select {
		case <-jam:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// until waits until ok returns true. ok is called with the vertex locked.
func (u *fakeUp) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	late := time.After(testTimeout)
	for {
		u.mu.Lock()
		good, changed := ok(), u.changed
		u.mu.Unlock()
		if good {
			return
		}
		select {
		case <-changed:
		case <-late:
			u.mu.Lock()
			defer u.mu.Unlock()
			t.Fatalf("%s: did not happen; log:\n%s", what, strings.Join(u.log, "\n"))
		}
	}
}

// untilLine waits for a line of the log that contains text, and returns it.
func (u *fakeUp) untilLine(t *testing.T, text string) string {
	t.Helper()
	var line string
	u.until(t, text, func() bool {
		i := slices.IndexFunc(u.log, func(l string) bool { return strings.Contains(l, text) })
		if i >= 0 {
			line = u.log[i]
		}
		return i >= 0
	})
	return line
}

func (u *fakeUp) output(stream string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return string(u.out[stream])
}

func (u *fakeUp) lines() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.log)
}

// fakeBackend resumes and stops ranks by signals.
type fakeBackend struct {
	sink    backend.Sink
	mu      sync.Mutex
	targets map[rank.ID]backend.Target
	calls   []string
}

func (b *fakeBackend) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, fmt.Sprintf(format, args...))
}

func (b *fakeBackend) Attach(id protocol.RequestID, targets []backend.Target, stopAt string, wait time.Duration) {
	b.note("attach %d %s", len(targets), stopAt)
	for _, t := range targets {
		if stopAt == "nowhere" {
			b.sink.Reply(id, fault(one(t.Rank), protocol.FaultGDB, "launch", "Function \"nowhere\" not defined.", ""))
			continue
		}
		b.targets[t.Rank] = t
		b.sink.Reply(id, done(one(t.Rank)))
		b.sink.Event(event(protocol.KindStopped, t.Rank, protocol.Stop{Reason: "attached"}))
	}
}

func event(kind protocol.Kind, r rank.ID, body any) protocol.Group {
	return protocol.Group{Kind: kind, Ranks: one(r), Body: canonical.JSON(body)}
}

func (b *fakeBackend) Do(q backend.Request) {
	b.note("%s %s", q.Command.Name, q.Ranks)
	for r := range q.Ranks.All() {
		b.do(q, r)
	}
}

func (b *fakeBackend) do(q backend.Request, r rank.ID) {
	pid := b.targets[r].PID
	answer := done(one(r))
	switch q.Command.Name {
	case "continue":
		b.sink.Event(event(protocol.KindRunning, r, struct{}{}))
		b.sink.Reply(q.ID, answer) // sent before the rank can do anything
		syscall.Kill(pid, syscall.SIGCONT)
		return
	case "interrupt":
		syscall.Kill(pid, syscall.SIGSTOP)
		for !strings.Contains(statOf(pid), ") T") {
			runtime.Gosched()
		}
		b.sink.Event(event(protocol.KindStopped, r, protocol.Stop{Reason: "interrupted"}))
	case "detach":
		syscall.Kill(pid, syscall.SIGCONT)
		delete(b.targets, r)
		b.sink.Event(event(protocol.KindDetached, r, struct{}{}))
	case "print":
		answer.Body = []byte(`{"expr":"x"}`)
		answer.Columns = []column.Column{column.New("value", r, strings.Repeat("v", q.Command.Args.Count)+fmt.Sprint(r), q.Command.Args.Limit)}
	}
	b.sink.Reply(q.ID, answer)
}

func (b *fakeBackend) Ended(r rank.ID, exit protocol.Exit) {
	kind := protocol.KindExited
	if exit.Signal != "" {
		kind = protocol.KindSignalled
	}
	b.sink.Event(event(kind, r, exit))
}

func (b *fakeBackend) Close(context.Context) error {
	b.note("close")
	for _, t := range b.targets {
		if t.Held && t.PID > 0 {
			syscall.Kill(t.PID, syscall.SIGKILL)
		}
	}
	return nil
}

// bench is a server between a fakeUp and a fakeBackend.
type bench struct {
	*Server
	up      *fakeUp
	backend *fakeBackend
	id      protocol.RequestID
}

func newBench(t *testing.T, change func(*Config)) *bench {
	t.Helper()
	b := &bench{up: newFakeUp(), backend: &fakeBackend{targets: map[rank.ID]backend.Target{}}}
	cfg := Config{
		Host: "node07", Forker: local.NewForker(),
		NewBackend: func(k backend.Sink) (backend.Backend, error) { b.backend.sink = k; return b.backend, nil },
	}
	if change != nil {
		change(&cfg)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	var err error
	if b.Server, err = newServer(cfg, b.up); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.close(t.Context()) })
	return b
}

// give sends a command to ranks 0..n-1 and returns at once.
func (b *bench) give(n int, name string, args protocol.Args) protocol.RequestID {
	b.id++
	body, err := json.Marshal(protocol.Command{Name: name, Args: args})
	if err != nil {
		panic(err)
	}
	b.deliver(tree.Deliver{ID: b.id, Ranks: rank.Range(0, rank.ID(n-1)), Wait: testTimeout, Body: body})
	return b.id
}

// ask is like give, but waits for the answers of all ranks.
func (b *bench) ask(t *testing.T, n int, name string, args protocol.Args) []string {
	t.Helper()
	id := b.give(n, name, args)
	return b.answers(t, id, n)
}

func (b *bench) answers(t *testing.T, id protocol.RequestID, n int) []string {
	t.Helper()
	var got []string
	b.up.until(t, fmt.Sprintf("%d answers to %d", n, id), func() bool {
		got = nil
		for _, l := range b.up.log {
			if text, ok := strings.CutPrefix(l, fmt.Sprintf("%d: ", id)); ok {
				got = append(got, text)
			}
		}
		return b.up.ranks[id] >= n
	})
	slices.Sort(got)
	return got
}

// shell launches a shell script on ranks 0..n-1 and continues them.
func (b *bench) shell(t *testing.T, n int, script string, stdin rank.Set) {
	t.Helper()
	job := &protocol.Job{Program: "sh", Args: []string{"-c", script}, Stdin: stdin, Size: n}
	b.ask(t, n, "launch", protocol.Args{Job: job})
	b.ask(t, n, "continue", protocol.Args{})
}

// isGone reports whether a process has ended; a zombie has.
func isGone(pid int) bool {
	stat := statOf(pid)
	return stat == "" || strings.Contains(stat, ") Z")
}

// statOf returns the contents of /proc/PID/stat, "" if there is no such process.
func statOf(pid int) string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return string(stat)
}
