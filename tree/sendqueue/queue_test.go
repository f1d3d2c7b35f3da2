package sendqueue_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree/sendqueue"
)

func reply(id int, ranks ...rank.ID) wire.Message {
	return wire.Message{Kind: wire.Reply, ID: protocol.RequestID(id), Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: rank.Of(ranks...)}}}
}

func say(k protocol.Kind, ranks ...rank.ID) wire.Message {
	return wire.Message{Kind: wire.Events, Groups: []protocol.Group{{Kind: k, Ranks: rank.Of(ranks...)}}}
}

func marked(m wire.Message, last uint64, servers ...rank.ID) wire.Message {
	m.Marks = []wire.Mark{{Servers: rank.Of(servers...), Last: last}}
	return m
}

func empty(l *sendqueue.Queue) (out []wire.Message) {
	for {
		if _, ok := l.First(); !ok {
			return out
		}
		m, _ := l.Take()
		out = append(out, m)
	}
}

func TestLane(t *testing.T) {
	const stdout, stopped = protocol.KindStdout, protocol.KindStopped
	again := marked(say(stdout, 9), 3, 9)
	again.Flags = wire.Again
	lost := say(protocol.KindLost, 5)
	lost.Ranks = rank.Of(5)
	for name, c := range map[string]struct {
		add  []wire.Message
		want string // numbers of those added
	}{
		"nothing": {nil, ""},
		"a reply overtakes output of other ranks":             {[]wire.Message{say(stdout, 0, 1), say(stdout, 0), reply(1, 2)}, "2 0 1"},
		"a reply does not overtake output of its rank":        {[]wire.Message{say(stdout, 0, 1), say(stdout, 0), reply(1, 1)}, "0 2 1"},
		"a stop overtakes output of other ranks only":         {[]wire.Message{say(stdout, 0), say(stdout, 1), say(stopped, 0)}, "0 2 1"},
		"output overtakes nothing":                            {[]wire.Message{say(stdout, 0), say(stopped, 1), say(stdout, 2)}, "1 0 2"},
		"a reply overtakes stops of other ranks":              {[]wire.Message{say(stopped, 0), reply(1, 2)}, "1 0"},
		"a stop overtakes a reply that must wait":             {[]wire.Message{say(stdout, 0), reply(1, 0), say(stopped, 1)}, "2 0 1"},
		"replies to one request keep their order":             {[]wire.Message{say(stdout, 0), reply(1, 0), reply(1, 1)}, "0 1 2"},
		"a reply to another request overtakes":                {[]wire.Message{say(stdout, 0), reply(1, 0), reply(2, 1)}, "2 0 1"},
		"replies of one rank keep their order":                {[]wire.Message{say(stdout, 0), reply(1, 0), reply(2, 0)}, "0 1 2"},
		"numbered packets of one server keep their order":     {[]wire.Message{marked(say(stdout, 0), 1, 7), marked(say(stopped, 1), 2, 7)}, "0 1"},
		"a numbered packet overtakes another server's":        {[]wire.Message{marked(say(stdout, 0), 1, 7), marked(say(stopped, 1), 2, 8)}, "1 0"},
		"a loss does not overtake packets of the lost server": {[]wire.Message{marked(say(stdout, 0), 1, 5), lost}, "0 1"},
		"a loss overtakes packets of other servers":           {[]wire.Message{marked(say(stdout, 0), 1, 4), lost}, "1 0"},
		"nothing overtakes a packet that is sent again":       {[]wire.Message{say(stdout, 0), again, reply(1, 1), say(stopped, 2)}, "0 1 3 2"},
		"a pong overtakes everything":                         {[]wire.Message{say(stdout, 0), again, reply(1, 1), {Kind: wire.Pong}}, "3 0 1 2"},
		"a pong does not overtake a pong":                     {[]wire.Message{{Kind: wire.Pong}, say(stdout, 0), {Kind: wire.Pong}}, "0 2 1"},
	} {
		t.Run(name, func(t *testing.T) {
			var l sendqueue.Queue
			for i, m := range c.add {
				m.Wait = 0
				m.Epoch = uint64(i)
				l.Add(m, 10)
			}
			outputs := 0
			for i := range c.add {
				if sendqueue.ClassOf(&c.add[i]) == sendqueue.Output {
					outputs++
				}
			}
			if l.Size() != 10*len(c.add) || l.Urgent() != 10*(len(c.add)-outputs) {
				t.Errorf("size %d, %d without output, of %d packets, %d of output", l.Size(), l.Urgent(), len(c.add), outputs)
			}
			var got []string
			for _, m := range empty(&l) {
				got = append(got, fmt.Sprint(m.Epoch))
			}
			if strings.Join(got, " ") != c.want || l.Size() != 0 {
				t.Errorf("order %v, want %s; size %d is left", got, c.want, l.Size())
			}
		})
	}
}

// For any sequence of Add and Take: no packet is lost; the order for each rank,
// server and request is kept; and a reply waits only behind packets that it must
// not overtake, and behind those that these must not overtake.
func TestLaneKeepsOrder(t *testing.T) {
	kinds := []protocol.Kind{protocol.KindStdout, protocol.KindStdout, protocol.KindStopped, protocol.KindRunning}
	rapid.Check(t, func(t *rapid.T) {
		var l sendqueue.Queue
		var said, heard []wire.Message
		few := rapid.SliceOfNDistinct(rapid.Map(rapid.IntRange(0, 5), func(i int) rank.ID { return rank.ID(i) }), 0, 3, rapid.ID[rank.ID])
		for i := range rapid.IntRange(0, 40).Draw(t, "packets") {
			m := say(rapid.SampledFrom(kinds).Draw(t, "kind"), few.Draw(t, "ranks")...)
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				m = reply(rapid.IntRange(1, 3).Draw(t, "request"), few.Draw(t, "ranks")...)
			case 1:
				m = marked(m, 0, few.Draw(t, "servers")...)
			case 2:
				if rapid.IntRange(0, 5).Draw(t, "again") == 0 {
					m.Flags = wire.Again
				}
			}
			m.Epoch = uint64(i)
			said = append(said, m)
			l.Add(m, 1)
			for rapid.IntRange(0, 3).Draw(t, "take") == 0 {
				if _, ok := l.First(); !ok {
					break
				}
				m, _ := l.Take()
				heard = append(heard, m)
			}
		}
		if l.Size() != len(said)-len(heard) {
			t.Fatalf("size %d, %d wait", l.Size(), len(said)-len(heard))
		}
		heard = append(heard, empty(&l)...)
		if len(heard) != len(said) {
			t.Fatalf("%d packets, %d came out", len(said), len(heard))
		}
		for i := range heard {
			for j := range i { // j was taken before i
				if a, b := &heard[j], &heard[i]; a.Epoch > b.Epoch && related(a, b) {
					t.Fatalf("%v came out before %v", a, b)
				}
			}
		}
	})
}

// related reports whether the order of two packets matters.
func related(a, b *wire.Message) bool {
	if (a.Flags|b.Flags)&wire.Again != 0 {
		return true
	}
	if a.Kind == wire.Reply && b.Kind == wire.Reply && a.ID == b.ID {
		return true
	}
	for _, g := range a.Groups {
		for _, h := range b.Groups {
			if g.Ranks.Intersects(h.Ranks) {
				return true
			}
		}
	}
	for _, m := range a.Marks {
		for _, n := range b.Marks {
			if m.Servers.Intersects(n.Servers) {
				return true
			}
		}
	}
	return a.Kind == wire.Events && b.Kind == wire.Events && b.Groups[0].Kind.IsOutput() && a.Groups[0].Kind.IsOutput()
}
