// Histories: random events of a job, played over a tree.

package treetest_test

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/tree"
	"sdm/tree/treetest"
)

// history is the behaviour of a job, independent of the tree above it. The
// behaviour of each rank is computed from the seed.
type history struct {
	servers, per int
	dealt        bool
	seed         uint64
	maxDelay     time.Duration
	maxSlow      time.Duration // longest time of a rank to answer
	commands     []ask
	deeds        []deed
	kills        []kill
	refuse       map[tree.NodeID]bool
}

type ask struct {
	at    time.Duration
	ranks rank.Set
	wait  time.Duration
	// silent is the number of 16 ranks that never answer.
	silent uint64
}

// deed is a list of events of ranks of one server.
type deed struct {
	at     time.Duration
	server protocol.ServerID
	groups []protocol.Group
}

type kill struct {
	at     time.Duration
	server protocol.ServerID
}

// mix is a hash of numbers (splitmix64), used as a deterministic random number.
func mix(seed uint64, more ...int) uint64 {
	for _, m := range more {
		seed += uint64(m)*0x9e3779b97f4a7c15 + 1
		seed = (seed ^ seed>>30) * 0xbf58476d1ce4e5b9
		seed = (seed ^ seed>>27) * 0x94d049bb133111eb
		seed ^= seed >> 31
	}
	return seed
}

// drawJob draws servers, ranks and commands.
func drawJob(t *rapid.T, slow time.Duration) *history {
	h := &history{
		servers:  rapid.IntRange(1, 40).Draw(t, "servers"),
		per:      rapid.IntRange(0, 4).Draw(t, "ranks per server"),
		dealt:    rapid.Bool().Draw(t, "dealt"),
		seed:     rapid.Uint64().Draw(t, "seed"),
		maxDelay: time.Duration(rapid.IntRange(1, 5000).Draw(t, "delay in us")) * time.Microsecond,
		maxSlow:  slow,
	}
	for i := range rapid.IntRange(1, 8).Draw(t, "commands") {
		a := ask{at: time.Second + h.time(2*time.Second, 1, i), silent: mix(h.seed, 2, i) % 3, wait: 10 * time.Second}
		for r := range h.servers*h.per + 2 { // two of them do not exist
			if mix(h.seed, 3, i, r)%4 > 0 {
				a.ranks = a.ranks.Union(rank.Of(rank.ID(r)))
			}
		}
		h.commands = append(h.commands, a)
	}
	for i := range rapid.IntRange(0, 60).Draw(t, "deeds") {
		h.deeds = append(h.deeds, h.deed(i))
	}
	slices.SortStableFunc(h.deeds, func(a, b deed) int { return int(a.at - b.at) })
	return h
}

// time returns a time below most.
func (h *history) time(most time.Duration, what ...int) time.Duration {
	return time.Duration(mix(h.seed, what...) % uint64(most))
}

// deed returns the i-th deed: some ranks of a server run, write or stop.
func (h *history) deed(i int) deed {
	d := deed{at: time.Second + h.time(time.Second, 4, i), server: protocol.ServerID(mix(h.seed, 5, i) % uint64(h.servers))}
	kinds := []protocol.Kind{protocol.KindStdout, protocol.KindStdout, protocol.KindStderr, protocol.KindRunning, protocol.KindStopped, protocol.KindStarted}
	for k := range 1 + mix(h.seed, 6, i)%4 {
		g := protocol.Group{Kind: kinds[mix(h.seed, 7, i, int(k))%uint64(len(kinds))]}
		g.Body = fmt.Appendf(nil, "%d", mix(h.seed, 8, i, int(k))%3)
		for r := range treetest.Table("flat", h.servers, h.per, h.dealt).Routes[d.server].Ranks.All() {
			if mix(h.seed, 9, i, int(k), int(r))%2 == 0 {
				g.Ranks = g.Ranks.Union(rank.Of(r))
			}
		}
		d.groups = append(d.groups, g)
	}
	return d
}

// backend answers for each rank separately: the body has few values, the column
// many; some ranks fail, some never answer.
func (h *history) backend(commands map[protocol.RequestID]ask, said func(r rank.ID) int, before func(id protocol.RequestID, r rank.ID, n int)) treetest.Backend {
	return func(s *treetest.Server, d tree.Deliver) {
		for r := range d.Ranks.All() {
			dice := mix(h.seed, 10, int(d.ID), int(r))
			if dice%16 < commands[d.ID].silent {
				continue
			}
			g := protocol.Group{Kind: protocol.KindResult, Ranks: rank.Of(r), Body: fmt.Appendf(nil, `{"body":%d}`, dice>>8%3)}
			if dice>>16%8 == 0 {
				g.Kind = protocol.KindFault
			}
			if d.ID%3 == 0 && g.Kind == protocol.KindResult { // up to four threads, some at the same place
				for k := range 1 + dice>>32%4 {
					g.Stack = g.Stack.Merge(stack.New(r, []stack.Frame{{Func: "main"}, {Func: "f", Line: int(dice>>(36+2*k)) % 3}}))
				}
			}
			if d.ID%2 == 0 {
				g.Columns = []column.Column{column.New("x", r, fmt.Sprint(dice>>20%30), 0)}
			}
			s.After(h.time(h.maxSlow+1, 11, int(d.ID), int(r)), func() {
				before(d.ID, r, said(r))
				s.Reply(d.ID, g)
			})
		}
	}
}

// play executes a history over a shape.
type play struct {
	*history
	table  protocol.RouteTable
	master *treetest.Master
	net    *treetest.Net
	events map[rank.ID][]treetest.Event // events as sent by the ranks
	before map[protocol.RequestID]map[rank.ID]int
	asked  map[protocol.RequestID]ask
	killed map[protocol.ServerID]bool
}

// building is the request that builds the tree.
const building = protocol.RequestID(1)

func (h *history) play(shape string) *play {
	p := &play{
		history: h, table: treetest.Table(shape, h.servers, h.per, h.dealt), master: treetest.NewMaster(),
		events: make(map[rank.ID][]treetest.Event), before: make(map[protocol.RequestID]map[rank.ID]int),
		asked: make(map[protocol.RequestID]ask), killed: make(map[protocol.ServerID]bool),
	}
	packets := 0
	p.net = treetest.NewNet(treetest.Config{
		Table: p.table, Master: p.master.Receive, Encode: h.seed%2 == 0,
		Delay: func(from, to tree.NodeID) time.Duration {
			packets++
			return 1 + h.time(h.maxDelay, 12, int(from), int(to), packets)
		},
		Dial: func(c tree.NodeID) (time.Duration, string) {
			if h.refuse[c] {
				return time.Millisecond, "refused"
			}
			return h.time(10*time.Millisecond, 13, int(c)), ""
		},
		Backend: h.backend(p.asked, func(r rank.ID) int { return len(p.events[r]) }, p.answered),
	})
	p.master.Build(p.net, building, 30*time.Second)
	for i, a := range h.commands {
		id := protocol.RequestID(i + 2)
		p.asked[id], p.before[id] = a, make(map[rank.ID]int)
		p.net.After(a.at, func() { p.master.Ask(p.net, id, a.ranks, a.wait, "x") })
	}
	for _, d := range h.deeds {
		p.net.After(d.at, func() { p.do(d) })
	}
	for _, k := range h.kills {
		p.net.After(k.at, func() {
			p.killed[k.server] = true
			p.net.Kill(k.server)
		})
	}
	p.net.Run(time.Hour)
	return p
}

func (p *play) answered(id protocol.RequestID, r rank.ID, n int) { p.before[id][r] = n }

func (p *play) do(d deed) {
	if p.killed[d.server] {
		return
	}
	for _, g := range d.groups {
		for r := range g.Ranks.All() {
			p.events[r] = append(p.events[r], treetest.Event{Kind: g.Kind, Body: string(g.Body), At: p.net.Now()})
		}
	}
	p.net.Server(d.server).Events(d.groups...)
}
