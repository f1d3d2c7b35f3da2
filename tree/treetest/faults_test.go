// Random faults: servers are killed, frozen and cut off while a job runs, and all
// guarantees hold.

package treetest_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree"
	"sdm/tree/treetest"
)

// go test ./tree/treetest -run Fault -seed N repeats one schedule.
var (
	oneSeed   = flag.Uint64("seed", 0, "repeat the fault schedule of this seed only")
	schedules = flag.Int("schedules", 40, "fault schedules to try")
)

// fault is a fault of one server.
type fault struct {
	at     time.Duration
	server protocol.ServerID
	kind   string
	frozen time.Duration
}

func (f fault) String() string {
	return fmt.Sprintf("%v %s %d %v", f.at, f.kind, f.server, f.frozen)
}

// trial is a job, the tree above it, and their events and faults.
type trial struct {
	seed     uint64
	table    protocol.RouteTable
	maxDelay time.Duration
	faults   []fault
	asks     map[protocol.RequestID]ask
	faulty   map[protocol.ServerID]bool
	killed   map[protocol.ServerID]bool

	net       *treetest.Net
	master    *treetest.Master
	events    map[rank.ID][]treetest.Event
	before    map[protocol.RequestID]map[rank.ID]int // number of events of a rank before its answer
	delivered map[protocol.RequestID]rank.Set
	broken    []string
}

const (
	trialTime = time.Minute // all faults, commands and deeds happen within it
	probe     = protocol.RequestID(1000)
)

// newTrial derives everything from the seed.
func newTrial(seed uint64, servers int) *trial {
	t := &trial{
		seed: seed, asks: make(map[protocol.RequestID]ask), faulty: make(map[protocol.ServerID]bool), killed: make(map[protocol.ServerID]bool),
		master: treetest.NewMaster(), events: make(map[rank.ID][]treetest.Event),
		before: make(map[protocol.RequestID]map[rank.ID]int), delivered: make(map[protocol.RequestID]rank.Set),
	}
	if servers == 0 {
		servers = 1 + t.dice(1, 24)
	}
	shape := []string{"binomial", "binomial", "2", "3", "8", "flat", "1"}[t.dice(2, 7)]
	if servers > 40 && shape == "1" {
		shape = "binomial"
	}
	t.table = treetest.Table(shape, servers, t.dice(3, 4), t.dice(4, 2) == 0)
	t.table.Heartbeat, t.table.Silence = 5000, 15000
	t.maxDelay = time.Duration(1+t.dice(5, 5000)) * time.Microsecond
	for i := range 1 + t.dice(6, 6) {
		t.draw(i)
	}
	return t
}

func (t *trial) dice(what, below int, more ...int) int {
	return int(mix(t.seed, append([]int{what, below}, more...)...) % uint64(below))
}

// draw adds a fault. For some servers the parent or the child gets one as well, at
// nearly the same time.
func (t *trial) draw(i int) {
	f := fault{
		at:     time.Duration(t.dice(10, int(trialTime), i)),
		server: protocol.ServerID(t.dice(11, t.table.Size, i)),
		kind:   []string{"kill", "kill", "cut", "freeze"}[t.dice(12, 4, i)],
		frozen: time.Duration(t.dice(13, int(40*time.Second), i)),
	}
	if t.dice(14, 10, i) == 0 { // while the tree is being built
		f.at = time.Duration(t.dice(15, int(40*time.Millisecond), i))
	}
	t.faults = append(t.faults, f)
	if t.dice(16, 3, i) == 0 {
		f.at += time.Duration(t.dice(17, int(20*time.Millisecond), i))
		f.server = protocol.ServerID((int(f.server) + 1 + t.dice(18, 2, i)) % t.table.Size)
		f.kind = []string{"kill", "cut", "freeze"}[t.dice(19, 3, i)]
		t.faults = append(t.faults, f)
	}
}

// run executes the trial.
func (t *trial) run() {
	packets := 0
	t.net = treetest.NewNet(treetest.Config{
		Table: t.table, Master: t.master.Receive, Encode: t.seed%4 == 0, Backend: t.backend,
		Delay: func(from, to tree.NodeID) time.Duration {
			packets++
			return 1 + time.Duration(t.dice(20, int(t.maxDelay), int(from), int(to), packets))
		},
	})
	t.master.Build(t.net, 1, 30*time.Second)
	var times []time.Duration
	for i := range 24 {
		times = append(times, t.moment(21, i))
	}
	slices.Sort(times) // request numbers must rise
	for i, at := range times {
		t.ask(i, at)
	}
	for i := range 160 {
		t.net.After(t.moment(30, i), func() { t.deed(i) })
	}
	for _, f := range t.faults {
		t.net.After(f.at, func() { t.strike(f) })
	}
	t.net.Run(4 * time.Minute)
	t.asks[probe] = ask{ranks: t.ranks(), wait: 10 * time.Second, at: t.net.Now()}
	t.before[probe] = make(map[rank.ID]int)
	t.master.Ask(t.net, probe, t.ranks(), 10*time.Second, "probe")
	t.net.Run(time.Minute)
}

// moment draws a time. In three of four cases it is close to a fault, or to the
// detection of a frozen server, 15 to 20 s later at a heartbeat: errors are most
// likely in the milliseconds around these.
func (t *trial) moment(what, i int) time.Duration {
	at := time.Duration(t.dice(what, int(trialTime), i, 1))
	if t.dice(what, 4, i, 2) > 0 {
		f := t.faults[t.dice(what, len(t.faults), i, 3)]
		if at = f.at; f.kind == "freeze" {
			const beat = 5 * time.Second
			at = at/beat*beat + 4*beat
		}
		at += time.Duration(t.dice(what, int(80*time.Millisecond), i, 4)) - 20*time.Millisecond
	}
	return max(at, 200*time.Millisecond)
}

func (t *trial) ranks() (all rank.Set) {
	for _, r := range t.table.Routes {
		all = all.Union(r.Ranks)
	}
	return all
}

// ask schedules a command; some have no limit to their wait.
func (t *trial) ask(i int, at time.Duration) {
	id := protocol.RequestID(i + 2)
	t.net.After(at, func() {
		a := ask{at: t.net.Now()}
		if a.wait = time.Duration(1 + t.dice(22, int(8*time.Second), i)); t.dice(23, 4, i) == 0 {
			a.wait = 0
		}
		for r := range t.ranks().All() {
			if t.dice(24, 4, i, int(r)) > 0 {
				a.ranks = a.ranks.Union(rank.Of(r))
			}
		}
		t.asks[id], t.before[id] = a, make(map[rank.ID]int)
		t.master.Ask(t.net, id, a.ranks, a.wait, "x")
	})
}

// body returns the answer of a rank.
func (t *trial) body(id protocol.RequestID, r rank.ID) string {
	return fmt.Sprintf(`{"n":%d}`, t.dice(25, 3, int(id), int(r)))
}

func (t *trial) backend(s *treetest.Server, d tree.Deliver) {
	if twice := t.delivered[d.ID].Intersect(d.Ranks); !twice.IsEmpty() {
		t.fail("request %d is carried out twice by %v", d.ID, twice)
	}
	t.delivered[d.ID] = t.delivered[d.ID].Union(d.Ranks)
	for r := range d.Ranks.All() {
		g := protocol.Group{Kind: protocol.KindResult, Ranks: rank.Of(r), Body: []byte(t.body(d.ID, r))}
		s.After(time.Duration(t.dice(26, 3, int(d.ID), int(r)))*time.Duration(t.dice(27, int(time.Second), int(d.ID), int(r))), func() {
			t.before[d.ID][r] = len(t.events[r])
			s.Reply(d.ID, g)
		})
	}
}

// deed sends events of ranks of a server.
func (t *trial) deed(i int) {
	id := protocol.ServerID(t.dice(31, t.table.Size, i))
	if !t.net.Alive(id) || !t.net.Ready(id) {
		return
	}
	kinds := []protocol.Kind{protocol.KindStdout, protocol.KindStdout, protocol.KindRunning, protocol.KindStopped}
	var groups []protocol.Group
	many := 1 + t.dice(32, 4, i)
	if t.dice(35, 12, i) == 0 { // more than the limit of the list, which is then sent at once
		many = 700
	}
	for k := range many {
		g := protocol.Group{Kind: kinds[t.dice(33, len(kinds), i, k)], Ranks: t.table.Routes[id].Ranks, Body: fmt.Appendf(nil, "%d", t.dice(34, many+2, i, k))}
		for r := range g.Ranks.All() {
			t.events[r] = append(t.events[r], treetest.Event{Kind: g.Kind, Body: string(g.Body)})
		}
		groups = append(groups, g)
	}
	t.net.Server(id).Events(groups...)
}

func (t *trial) strike(f fault) {
	t.faulty[f.server] = true
	switch f.kind {
	case "kill":
		t.killed[f.server] = true
		t.net.Kill(f.server)
	case "cut":
		t.net.Cut(f.server, "connection reset by peer")
	case "freeze":
		t.net.Freeze(f.server, f.frozen)
	}
}

func (t *trial) fail(format string, args ...any) {
	t.broken = append(t.broken, fmt.Sprintf(format, args...))
}

// check verifies the guarantees.
func (t *trial) check() {
	t.broken = append(t.broken, t.master.Errors...)
	for id, a := range t.asks {
		t.checkAnswers(id, a)
	}
	if !t.built() {
		return // the session ends if a server was never connected; see TestGuaranteesHold
	}
	for _, route := range t.table.Routes {
		for r := range route.Ranks.All() {
			lost := t.master.Lost(r)
			switch {
			case lost && !t.faulty[route.Server]:
				t.fail("rank %d is lost, and nothing happened to server %d", r, route.Server)
			case !lost && t.killed[route.Server]:
				t.fail("server %d was killed, and rank %d is not lost", route.Server, r)
			}
			t.checkSaid(r, lost)
		}
	}
}

// built reports whether all servers were connected, if only for a moment.
func (t *trial) built() bool {
	for _, g := range t.master.Outcome(1).Groups() {
		if g.Kind == protocol.KindMissing {
			return false
		}
	}
	return true
}

func (t *trial) checkAnswers(id protocol.RequestID, a ask) {
	o := t.master.Outcome(id)
	switch {
	case !o.Ended || a.wait > 0 && o.First > o.Since+a.wait:
		t.fail("request %d was answered: %v, at %v; asked at %v with wait %v", id, o.Ended, o.First, o.Since, a.wait)
	case !o.Final:
		t.fail("request %d has no end: missing %v", id, o.Missing)
	}
	if id == probe && !o.Missing.IsEmpty() {
		t.fail("after all, %v do not answer", o.Missing)
	}
	for r, n := range t.before[id] {
		if heard, ok := o.Received[r]; ok && !t.master.Lost(r) && heard < n {
			t.fail("rank %d answered request %d when it had said %d things, of which %d had been heard", r, id, n, heard)
		}
	}
	for _, g := range o.Groups() {
		for r := range g.Ranks.All() {
			if g.Kind == protocol.KindResult && string(g.Body) != t.body(id, r) {
				t.fail("rank %d is said to have answered %s to request %d, not %s", r, g.Body, id, t.body(id, r))
			}
			if g.Kind == protocol.KindFault {
				t.fail("rank %d: %s", r, g.Body)
			}
		}
	}
}

// checkSaid compares the events of a rank with those received: all, once and in
// order; for a lost rank, a prefix of them.
func (t *trial) checkSaid(r rank.ID, lost bool) {
	said, heard := t.events[r], t.master.Events(r)
	if len(heard) > len(said) || len(heard) < len(said) && !lost {
		t.fail("rank %d said %d things, %d were heard: %v, %v", r, len(said), len(heard), said, heard)
		return
	}
	for i := range heard {
		if heard[i].Kind != said[i].Kind || heard[i].Body != said[i].Body {
			t.fail("rank %d said %v, heard was %v", r, said[:i+1], heard[:i+1])
			return
		}
	}
}

func runTrial(tt *testing.T, seed uint64, servers int) {
	t := newTrial(seed, servers)
	t.run()
	if t.check(); len(t.broken) > 0 {
		tt.Fatalf("seed %d: %d servers, shape %s, faults %v:\n%s\n(repeat it: go test ./tree/treetest -run %s -seed %d)",
			seed, t.table.Size, t.table.Shape, t.faults, strings.Join(t.broken[:min(len(t.broken), 8)], "\n"), tt.Name(), seed)
	}
}

func runTrials(t *testing.T, count int, servers int) {
	if *oneSeed > 0 {
		runTrial(t, *oneSeed, servers)
		return
	}
	for seed := range uint64(count) {
		runTrial(t, seed+1, servers)
	}
}

// Small trees of all shapes.
func TestFaultsOnSmallTrees(t *testing.T) {
	t.Parallel()
	runTrials(t, 3**schedules, 0)
}

// Fault schedules on 64 servers; make faults tries a thousand.
func TestFaultsOn64Servers(t *testing.T) {
	t.Parallel()
	runTrials(t, *schedules, 64)
}
