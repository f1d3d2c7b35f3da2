// The cost of one hop: a request from parent to child and its answer, compared with
// a bare forwarder in the same run that reads a packet and sends it back.

package overlay

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree"
)

// benchTransports are the transports that a session uses.
var benchTransports = []transport{transports[0], transports[1], transports[5]}

// BenchmarkHop measures the latency of one request and its answer at a time.
func BenchmarkHop(b *testing.B) {
	for _, tr := range benchTransports {
		b.Run(tr.name+"/bare", func(b *testing.B) { benchBare(b, tr) })
		b.Run(tr.name+"/links", func(b *testing.B) { benchLinks(b, tr) })
		b.Run(tr.name+"/loops", func(b *testing.B) { benchLoops(b, tr, 1) })
	}
}

// BenchmarkBurst measures the cost of a request when 64 are outstanding.
func BenchmarkBurst(b *testing.B) {
	for _, tr := range benchTransports {
		b.Run(tr.name+"/loops", func(b *testing.B) { benchLoops(b, tr, 64) })
	}
}

// bareEnds returns both ends as byte streams.
func bareEnds(b *testing.B, tr transport) (x, y io.ReadWriteCloser) {
	raw, link := tr.bytes(b)
	s := link.(*stream)
	if s.tls != nil {
		return raw, tlsBytes{tlsEnd{s}}
	}
	return raw, s.rw.(io.ReadWriteCloser)
}

func readBare(r *bufio.Reader, buf []byte) ([]byte, error) {
	if _, err := io.ReadFull(r, buf[:lengthSize]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(buf)) + lengthSize
	_, err := io.ReadFull(r, buf[lengthSize:n])
	return buf[:n], err
}

func benchBare(b *testing.B, tr transport) {
	x, y := bareEnds(b, tr)
	go func() {
		in, buf := bufio.NewReader(y), make([]byte, 4096)
		for {
			p, err := readBare(in, buf)
			if err != nil {
				return
			}
			y.Write(p)
		}
	}()
	m := benchRequest(1)
	p := wire.Append(nil, &m)
	in, buf := bufio.NewReader(x), make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		x.Write(p)
		if _, err := readBare(in, buf); err != nil {
			b.Fatal(err)
		}
	}
}

// benchLinks is the same with encoded and decoded packets.
func benchLinks(b *testing.B, tr transport) {
	x, y := tr.pair(b)
	go func() {
		for {
			m, err := y.Receive()
			if err != nil {
				return
			}
			y.Send(benchReply(m.ID))
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		if err := x.Send(benchRequest(1)); err != nil {
			b.Fatal(err)
		}
		if _, err := x.Receive(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchRequest(id int) wire.Message {
	return wire.Message{Kind: wire.Command, ID: protocol.RequestID(id), Ranks: rank.Range(0, 63), Wait: time.Second,
		Body: []byte(`{"command":"print","args":{"expr":"x"}}`)}
}

func benchReply(id protocol.RequestID) wire.Message {
	return wire.Message{Kind: wire.Reply, ID: id, Flags: wire.Final, Groups: []protocol.Group{
		{Kind: protocol.KindResult, Ranks: rank.Range(0, 63), Body: []byte(`{"expr":"x"}`)}}}
}

// relay is a minimal Machine: at the root it forwards requests to child 1 and
// answers to the master, elsewhere it answers.
type relay struct {
	root bool
	out  [1]tree.Output
}

func (r *relay) Step(now time.Duration, in tree.Input) []tree.Output {
	switch in := in.(type) {
	case tree.FromParent:
		switch {
		case in.Msg.Kind == wire.Quit:
			r.out[0] = tree.DeliverQuit{}
		case r.root:
			r.out[0] = tree.ToChild{Child: 1, Msg: in.Msg}
		default:
			r.out[0] = tree.ToParent{Msg: benchReply(in.Msg.ID)}
		}
	case tree.FromChild:
		r.out[0] = tree.ToParent{Msg: in.Msg}
	case tree.LocalReady: // sent by the benchmark to make it connect
		r.out[0] = tree.Connect{Child: 1}
	default:
		return nil
	}
	return r.out[:]
}

// benchLoops measures the whole path: Post at the root, both loops, Up.
func benchLoops(b *testing.B, tr transport, burst int) {
	x, y := tr.pair(b)
	answers := make(chan protocol.RequestID, burst)
	connected := make(chan bool)
	top := NewLoop(LoopConfig{
		Node: &relay{root: true},
		Up:   func(m wire.Message) { answers <- m.ID },
		Dial: func(context.Context, tree.NodeID, protocol.Route) (Link, error) {
			close(connected)
			return x, nil
		},
	})
	low := NewLoop(LoopConfig{Node: &relay{}, Parent: y})
	ctx, cancel := context.WithCancel(context.Background())
	ends := []<-chan error{async(func() error { return top.Run(ctx) }), async(func() error { return low.Run(ctx) })}
	top.Post(tree.LocalReady{})
	<-connected
	for top.Post(tree.FromParent{Msg: benchRequest(1)}); ; { // until the child is attached
		select {
		case <-answers:
		case <-time.After(time.Millisecond):
			top.Post(tree.FromParent{Msg: benchRequest(1)})
			continue
		}
		break
	}
	b.ReportAllocs()
	b.ResetTimer()
	for sent := 0; sent < b.N; {
		n := min(burst, b.N-sent)
		for range n {
			top.Post(tree.FromParent{Msg: benchRequest(2)})
		}
		for n > 0 {
			if id := <-answers; id == 2 {
				n--
				sent++
			}
		}
	}
	b.StopTimer()
	cancel()
	for _, end := range ends {
		if err := <-end; err != context.Canceled {
			b.Fatal(fmt.Errorf("Run: %w", err))
		}
	}
}
