package master

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/tree"
	"sdm/tree/overlay"
	"sdm/tree/overlay/overlaytest"
)

// forest is a whole tree in one process: real loops over memory links, and servers whose ranks
// answer by the name of the command.
type forest struct {
	t      *testing.T
	group  sync.WaitGroup
	stop   context.CancelFunc
	ctx    context.Context
	refuse map[tree.NodeID]string // vertices that cannot be reached, with the error

	mu    sync.Mutex
	loops map[tree.NodeID]*overlay.Loop
	links map[tree.NodeID]overlay.Link // of each vertex to its parent
	quits int
	held  map[tree.NodeID]tree.Deliver // of "continue": answered by release
}

func newForest(t *testing.T) *forest {
	f := &forest{
		t: t, refuse: map[tree.NodeID]string{}, loops: map[tree.NodeID]*overlay.Loop{},
		links: map[tree.NodeID]overlay.Link{}, held: map[tree.NodeID]tree.Deliver{},
	}
	f.ctx, f.stop = context.WithCancel(context.Background())
	t.Cleanup(func() { f.stop(); f.group.Wait() })
	return f
}

// dial starts a vertex and returns the link to it.
func (f *forest) dial(_ context.Context, child tree.NodeID, r protocol.Route) (overlay.Link, error) {
	if cause, bad := f.refuse[child]; bad {
		return nil, errors.New(cause)
	}
	up, down := overlaytest.Pipe()
	var loop *overlay.Loop
	loop = overlay.NewLoop(overlay.LoopConfig{
		Node: tree.New(child), Parent: down, Dial: f.dial,
		Deliver: func(d tree.Deliver) { f.deliver(child, loop, d) },
		Init:    func(tree.DeliverInit) { loop.Post(tree.LocalReady{}) },
		Quit:    func() { f.mu.Lock(); f.quits++; f.mu.Unlock() },
	})
	f.mu.Lock()
	f.loops[child], f.links[child] = loop, down
	f.mu.Unlock()
	f.group.Go(func() { _ = loop.Run(f.ctx) }) // ends when its links do
	return up, nil
}

func (f *forest) deliver(v tree.NodeID, loop *overlay.Loop, d tree.Deliver) {
	var c protocol.Command
	if err := json.Unmarshal(d.Body, &c); err != nil {
		f.t.Errorf("vertex %d: %v", v, err)
	}
	switch c.Name {
	case "print":
		for r := range d.Ranks.All() {
			g := result(r, map[string]string{"expr": c.Args.Expr})
			g.Columns = []column.Column{column.New("value", r, fmt.Sprint(10*r), c.Args.Limit)}
			loop.Post(tree.LocalReply{ID: d.ID, Groups: []protocol.Group{g}})
		}
	case "continue":
		f.mu.Lock()
		f.held[v] = d
		f.mu.Unlock()
	default:
		loop.Post(tree.LocalReply{ID: d.ID, Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: d.Ranks, Body: []byte("{}")}}})
	}
}

func result(r rank.ID, body any) protocol.Group {
	return protocol.Group{Kind: protocol.KindResult, Ranks: rank.Of(r), Body: canonical.JSON(body)}
}

// release answers the held request of vertex v.
func (f *forest) release(v tree.NodeID) {
	f.mu.Lock()
	d, loop := f.held[v], f.loops[v]
	f.mu.Unlock()
	loop.Post(tree.LocalReply{ID: d.ID, Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: d.Ranks, Body: []byte("{}")}}})
}

// sevenServers have two ranks each.
func sevenServers() protocol.RouteTable {
	t := protocol.RouteTable{Shape: "binomial", Size: 7}
	for i := range 7 {
		t.Routes = append(t.Routes, protocol.Route{
			Server: protocol.ServerID(i), Host: fmt.Sprintf("node%02d", i), Ranks: rank.Range(rank.ID(2*i), rank.ID(2*i+1)),
		})
	}
	return t
}

func grow(t *testing.T, f *forest) *Master {
	t.Helper()
	m, err := New(Config{Dial: f.dial})
	if err != nil {
		t.Fatal(err)
	}
	report, err := m.Init(context.Background(), sevenServers(), 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if report.Ranks.String() != "0-13" {
		t.Errorf("report: %+v", report)
	}
	return m
}

func TestTree(t *testing.T) {
	f := newForest(t)
	m := grow(t, f)
	got := call(t, m, session.Call{Command: "print", Args: protocol.Args{Expr: "n", Limit: 2}})
	if !strings.HasPrefix(got, `{"event":"reply","id":2,"command":"print","ranks":"0-13","n":14,"result":{"expr":"n"},"columns":{"value":{"distinct":14`) ||
		!strings.HasSuffix(got, `{"event":"done","id":2,"command":"print","asked":14,"answered":14,"ms":0}`+"\n") {
		t.Errorf("print:\n%s", got)
	}
	closeNow(t, m)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.quits != 7 {
		t.Errorf("%d servers were told to quit", f.quits)
	}
}

func TestTreeThatCannotBeBuilt(t *testing.T) {
	f := newForest(t)
	f.refuse[4], f.refuse[7] = "connection refused", "wrong secret"
	m, err := New(Config{Dial: f.dial})
	if err != nil {
		t.Fatal(err)
	}
	defer closeNow(t, m)
	report, err := m.Init(context.Background(), sevenServers(), 20*time.Second)
	var absent *session.NotReady
	if !errors.As(err, &absent) || len(report.Absent) == 0 {
		t.Fatalf("report %+v, error %v", report, err)
	}
	for _, want := range []string{"4 of 7 servers", "connection refused", "node03"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error without %q: %v", want, err)
		}
	}
}

// await receives events until one matches.
func await(t *testing.T, m *Master, want func(session.Event) bool) session.Event {
	t.Helper()
	for e := range m.Events() {
		if want(e) {
			return e
		}
	}
	t.Fatal("the events have ended")
	return session.Event{}
}

func TestTreeLosesAServer(t *testing.T) {
	f := newForest(t)
	m := grow(t, f)
	defer closeNow(t, m)
	id, err := m.Do(context.Background(), session.Call{Command: "continue", Wait: -1})
	if err != nil {
		t.Fatal(err)
	}
	call(t, m, session.Call{Command: "print", Args: protocol.Args{Expr: "n"}}) // all have continue
	f.mu.Lock()
	link := f.links[3] // a leaf: ranks 4-5
	f.mu.Unlock()
	link.Close()
	await(t, m, func(e session.Event) bool {
		return e.Group.Kind == protocol.KindLost && e.ID == 0 && e.Group.Ranks.String() == "4-5"
	})
	for _, v := range []tree.NodeID{1, 2, 4, 5, 6, 7} {
		f.release(v)
	}
	done := await(t, m, func(e session.Event) bool { return e.Done != nil && e.ID == id }).Done
	if done.Asked != 14 || done.Answered != 12 || done.Lost.String() != "4-5" || !done.Missing.IsEmpty() {
		t.Errorf("done: %+v", done)
	}
	got := call(t, m, session.Call{Command: "ranks", Ranks: "@lost"})
	if !strings.Contains(got, `"ranks":"4-5","n":2,"result":{"state":"lost","cause":"server 2 on node02: closed by the other side","host":"node02"`) {
		t.Errorf("ranks: %s", got)
	}
}

func TestTreeWithASilentServer(t *testing.T) {
	f := newForest(t)
	m := grow(t, f)
	defer closeNow(t, m)
	id, err := m.Do(context.Background(), session.Call{Command: "continue", Ranks: "4,9", Wait: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	missing := await(t, m, func(e session.Event) bool { return e.ID == id })
	if want := `"ranks":"4,9","n":2,"waited":"50ms","hosts":["node02","node04"]}`; !strings.Contains(string(missing.AppendJSON(nil)), want) {
		t.Errorf("missing: %s", missing.AppendJSON(nil))
	}
	done := await(t, m, func(e session.Event) bool { return e.ID == id }).Done
	if done == nil || done.Answered != 0 || done.Missing.String() != "4,9" {
		t.Errorf("done: %+v", done)
	}
	f.release(3)
	late := await(t, m, func(e session.Event) bool { return e.ID == id })
	if !late.Late || late.Group.Kind != protocol.KindResult || late.Group.Ranks.String() != "4" {
		t.Errorf("late: %s", late.AppendJSON(nil))
	}
}
