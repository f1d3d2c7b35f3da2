package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sdm/launch/local"
	"sdm/master"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
	"sdm/tree/overlay"
)

// testTimeout limits every wait of these tests.
const testTimeout = 60 * time.Second

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

// serverEnv makes this test binary act as sdm-server.
func serverEnv(more ...string) []string {
	return append(append(os.Environ(), roleEnv+"=1", "SDM_BACKEND=signals", "GORACE=atexit_sleep_ms=0"), more...)
}

// debugging is a master with its events, for tests with real servers.
type debugging struct {
	t *testing.T
	*master.Master
	seen []session.Event
}

// dialer connects to servers over TCP.
func dialer(key overlay.Secret, self overlay.Identity) func(context.Context, tree.NodeID, protocol.Route) (overlay.Link, error) {
	return func(ctx context.Context, child tree.NodeID, r protocol.Route) (overlay.Link, error) {
		link, _, err := overlay.Dial(ctx, r.Addrs, r.Ports, key, self, child)
		return link, err
	}
}

// greeter uses the link to the only server.
func greeter(link overlay.Link) func(context.Context, tree.NodeID, protocol.Route) (overlay.Link, error) {
	return func(ctx context.Context, child tree.NodeID, _ protocol.Route) (overlay.Link, error) {
		_, err := overlay.Greet(ctx, link, overlay.Identity{}, child)
		return link, err
	}
}

// newDebugging builds a tree with perServer ranks on each server.
func newDebugging(t *testing.T, dial func(context.Context, tree.NodeID, protocol.Route) (overlay.Link, error), routes []protocol.Route, perServer int) *debugging {
	t.Helper()
	m, err := master.New(master.Config{Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	d := &debugging{t: t, Master: m}
	t.Cleanup(func() { d.close() })
	for i := range routes {
		first := rank.ID(i * perServer)
		routes[i].Ranks = rank.Range(first, first+rank.ID(perServer)-1)
	}
	report, err := m.Init(soon(t), protocol.RouteTable{Shape: "binomial", Size: len(routes), Routes: routes}, testTimeout)
	if err == nil {
		err = report.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// close ends the session and reads its events to the end.
func (d *debugging) close() error {
	failed := make(chan error, 1)
	go func() { failed <- d.Master.Close(soon(d.t)) }()
	for e := range d.Events() {
		d.seen = append(d.seen, e)
	}
	return <-failed
}

// until reads events until ok returns true.
func (d *debugging) until(what string, ok func(session.Event) bool) session.Event {
	d.t.Helper()
	late := time.After(testTimeout)
	for {
		select {
		case e, open := <-d.Events():
			if !open {
				d.t.Fatalf("%s: the session is over; seen:\n%s", what, d)
			}
			d.seen = append(d.seen, e)
			if ok(e) {
				return e
			}
		case <-late:
			d.t.Fatalf("%s: did not happen; seen:\n%s", what, d)
		}
	}
}

// do sends a command to all ranks and waits until it is done.
func (d *debugging) do(command string, args protocol.Args) {
	d.t.Helper()
	id, err := d.Do(soon(d.t), session.Call{Command: command, Args: args})
	if err != nil {
		d.t.Fatal(err)
	}
	e := d.until(command, func(e session.Event) bool { return e.ID == id && e.Done != nil })
	if e.Done.Faults > 0 || e.Done.Answered != e.Done.Asked {
		d.t.Fatalf("%s: %+v; seen:\n%s", command, *e.Done, d)
	}
}

// refused sends a command that all ranks must refuse with a text.
func (d *debugging) refused(command string, args protocol.Args, want string) {
	d.t.Helper()
	id, err := d.Do(soon(d.t), session.Call{Command: command, Args: args})
	if err != nil {
		d.t.Fatal(err)
	}
	e := d.until(command, func(e session.Event) bool { return e.ID == id && e.Done != nil })
	if e.Done.Faults != e.Done.Asked || !strings.Contains(d.String(), want) {
		d.t.Errorf("%s: %+v, want %q; seen:\n%s", command, *e.Done, want, d)
	}
}

// stopped waits until n ranks have stopped.
func (d *debugging) stopped(n int) {
	d.t.Helper()
	of := func(e session.Event) int {
		if e.Group.Kind != protocol.KindStopped {
			return 0
		}
		return e.Group.Ranks.Len()
	}
	for _, e := range d.seen {
		n -= of(e)
	}
	if n > 0 {
		d.until("stop of the ranks", func(e session.Event) bool { n -= of(e); return n == 0 })
	}
}

// ended waits until n ranks have ended since the start of the session.
func (d *debugging) ended(n int) {
	d.t.Helper()
	for _, e := range d.seen {
		n -= ends(e)
	}
	if n > 0 {
		d.until("end of the ranks", func(e session.Event) bool { n -= ends(e); return n == 0 })
	}
}

// ends returns how many ranks have ended according to an event.
func ends(e session.Event) int {
	if !e.Group.Kind.IsEnd() {
		return 0
	}
	return e.Group.Ranks.Len()
}

func (d *debugging) String() string {
	var b strings.Builder
	for _, e := range d.seen {
		fmt.Fprintf(&b, "%s %d %v %v\n", e.Name, e.ID, e.Group, e.Done)
	}
	return b.String()
}

// output returns what ranks have written to standard output.
func (d *debugging) output() string {
	var b strings.Builder
	for _, e := range d.seen {
		if e.Group.Kind == protocol.KindStdout {
			for range e.Group.Ranks.Len() {
				b.Write(e.Group.Body)
			}
		}
	}
	return b.String()
}

// sorted sorts lines.
func sorted(text string) string {
	lines := strings.SplitAfter(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// pids returns the process IDs of the ranks, from column pid of "started".
func (d *debugging) pids() []int {
	var pids []int
	for _, e := range d.seen {
		if e.Group.Kind != protocol.KindStarted {
			continue
		}
		for _, c := range e.Group.Columns {
			if c.Name != "pid" {
				continue
			}
			for _, v := range c.Values() {
				var pid int
				fmt.Sscan(v.Value, &pid)
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// gone fails if one of the processes stays alive. The kernel may take a moment for those that it
// kills.
func gone(t *testing.T, pids ...int) {
	t.Helper()
	if len(pids) == 0 {
		t.Error("no process to look for")
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(testTimeout)
	for _, pid := range pids {
		for alive(pid) {
			select {
			case <-tick.C:
			case <-late:
				t.Fatalf("process %d lives on", pid)
			}
		}
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z")
}

func sleeper() protocol.Args {
	return protocol.Args{Job: &protocol.Job{Program: "sleep", Args: []string{"1000"}}, Limit: -1}
}

// startLocal starts n servers as sdm does, with perServer ranks each, and their master.
func startLocal(t *testing.T, n, perServer int, args ...string) (*local.Servers, *debugging) {
	t.Helper()
	key := overlay.NewSecret()
	servers, err := local.StartServers(local.ServersSpec{N: n, Binary: os.Args[0], Args: args, Env: serverEnv(), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Kill)
	dial := dialer(key, overlay.Identity{})
	if n == 1 {
		link, err := overlay.FromFiles(servers.Link.In, servers.Link.Out, "server 0")
		if err != nil {
			t.Fatal(err)
		}
		dial = greeter(link)
	}
	return servers, newDebugging(t, dial, servers.Routes, perServer)
}
