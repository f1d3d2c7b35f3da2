// Conformance of every link, over every transport.

package overlay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"testing"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

func TestLinks(t *testing.T) {
	tests := []struct {
		name string
		test func(*testing.T, transport)
	}{
		{"packets arrive in order", linkKeepsOrder},
		{"a batch arrives as it was sent", linkCarriesBatch},
		{"packets of some MB", linkCarriesLargePackets},
		{"all parts of a packet arrive", linkCarriesAllFields},
		{"both ways at once", linkWorksBothWaysAtOnce},
		{"Close ends Receive on both sides", closeEndsReceive},
		{"Close ends Send on this side", closeEndsSend},
		{"Close ends Send on the other side", closeEndsSendOfPeer},
		{"what was sent before Close arrives", sentBeforeCloseArrives},
		{"Close may be called again", closeTwice},
		{"loss in the middle of a packet", lossInPacket},
		{"garbage", garbage},
		{"an announced length costs no memory", lengthCostsNothing},
		{"one byte at a time", slowTrickle},
		{"puts never wait and keep order", putsNeverWait},
	}
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			for _, test := range tests {
				t.Run(test.name, func(t *testing.T) { test.test(t, tr) })
			}
		})
	}
}

func command(id int, body []byte) wire.Message {
	return wire.Message{Kind: wire.Command, ID: protocol.RequestID(id), Ranks: rank.Of(1), Body: body}
}

// receiveIDs receives n packets and returns an error if an ID is out of order.
func receiveIDs(l Link, n int) error {
	for i := 1; i <= n; i++ {
		m, err := l.Receive()
		if err != nil {
			return err
		}
		if m.ID != protocol.RequestID(i) {
			return fmt.Errorf("packet %d came where %d was expected", m.ID, i)
		}
	}
	return nil
}

func linkKeepsOrder(t *testing.T, tr transport) {
	a, b := tr.pair(t)
	const n = 1000
	received := async(func() error { return receiveIDs(b, n) })
	for i := 1; i <= n; i++ {
		check(t, a.Send(command(i, make([]byte, i%300))))
	}
	check(t, await(t, "all packets", received))
}

func linkCarriesBatch(t *testing.T, tr transport) {
	a, b := tr.pair(t)
	received := async(func() error { return receiveIDs(b, 500) })
	var batch []wire.Message
	for i := 1; i <= 500; i++ {
		batch = append(batch, command(i, make([]byte, 100)))
	}
	check(t, a.Send(batch...))
	check(t, a.Send())
	check(t, await(t, "the batch", received))
}

func linkCarriesLargePackets(t *testing.T, tr transport) {
	a, b := tr.pair(t)
	random := rand.NewChaCha8([32]byte{1})
	bodies := make([][]byte, 4)
	for i := range bodies {
		bodies[i] = make([]byte, (i+1)<<20+i)
		random.Read(bodies[i])
	}
	sent := async(func() error {
		for i, body := range bodies {
			if err := a.Send(command(i+1, body), command(i+1, nil)); err != nil {
				return err
			}
		}
		return nil
	})
	for i, body := range bodies {
		for _, want := range [][]byte{body, nil} {
			m, err := b.Receive()
			check(t, err)
			if !bytes.Equal(m.Body, want) {
				t.Fatalf("packet %d of %d bytes arrived as %d other bytes", i, len(want), len(m.Body))
			}
		}
	}
	check(t, await(t, "Send", sent))
}

func linkCarriesAllFields(t *testing.T, tr transport) {
	a, b := tr.pair(t)
	want := wire.Message{Kind: wire.Reply, ID: 7, Flags: wire.Late | wire.Final, Ranks: rank.Range(3, 9), Wait: 5,
		Body: []byte("body"), Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: rank.Of(4, 6), Body: []byte("{}")}}}
	sent := async(func() error { return a.Send(want) })
	got, err := b.Receive()
	check(t, err)
	check(t, await(t, "Send", sent))
	if w, g := wire.Append(nil, &want), wire.Append(nil, &got); !bytes.Equal(w, g) {
		t.Fatalf("sent %q, received %q", w, g)
	}
}

func linkWorksBothWaysAtOnce(t *testing.T, tr transport) {
	a, b := tr.pair(t)
	const n = 1000
	var ends []<-chan error
	for _, l := range []Link{a, b} {
		ends = append(ends, async(func() error { return receiveIDs(l, n) }), async(func() error {
			for i := 1; i <= n; i++ {
				if err := l.Send(command(i, make([]byte, 1000))); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	for _, end := range ends {
		check(t, await(t, "all packets", end))
	}
}

// receiving starts a Receive that blocks.
func receiving(l Link) <-chan error {
	return async(func() error { _, err := l.Receive(); return err })
}

// huge is larger than what any transport buffers for a neighbour that does not
// read.
var huge = command(1, make([]byte, 14<<20))

// sending starts a Send that cannot finish, and waits until it blocks.
func sending(l Link) <-chan error {
	sent := async(func() error { return l.Send(huge) })
	for l.(sender).queued() == 0 {
		runtime.Gosched()
	}
	return sent
}

func closeEndsReceive(t *testing.T, tr transport) {
	a, b := tr.pair(t)
	here, there := receiving(a), receiving(b)
	check(t, a.Close())
	if err := await(t, "Receive", here); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Receive after our own Close: %v", err)
	}
	if err := await(t, "the peer's Receive", there); !errors.Is(err, io.EOF) {
		t.Errorf("Receive after the peer's Close: %v", err)
	}
}

func closeEndsSend(t *testing.T, tr transport) {
	a, _ := tr.pair(t)
	sent := sending(a)
	check(t, a.Close())
	if err := await(t, "Send", sent); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Send after our own Close: %v", err)
	}
}

func closeEndsSendOfPeer(t *testing.T, tr transport) {
	a, b := tr.pair(t)
	sent := sending(a)
	check(t, b.Close())
	if err := await(t, "Send", sent); err == nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("Send after the peer's Close: %v", err)
	}
	if _, err := a.Receive(); err == nil {
		t.Error("Receive after the peer's Close gave a packet")
	}
}

func sentBeforeCloseArrives(t *testing.T, tr transport) {
	a, b := tr.pair(t)
	received := async(func() error { return receiveIDs(b, 100) })
	for i := 1; i <= 100; i++ {
		check(t, a.Send(command(i, make([]byte, 50))))
	}
	check(t, a.Close())
	check(t, await(t, "what was sent", received))
	if _, err := b.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

func closeTwice(t *testing.T, tr transport) {
	a, _ := tr.pair(t)
	ends := []<-chan error{async(a.Close), async(a.Close), async(a.Close)}
	for _, end := range ends {
		check(t, await(t, "Close", end))
	}
	if err := a.Send(command(1, nil)); err == nil {
		t.Error("Send after Close gave no error")
	}
	if _, err := a.Receive(); err == nil {
		t.Error("Receive after Close gave no error")
	}
}

func lossInPacket(t *testing.T, tr transport) {
	raw, b := tr.bytes(t)
	m := command(1, make([]byte, 1000))
	p := wire.Append(nil, &m)
	written := async(func() error {
		_, err := raw.Write(p[:500])
		return errors.Join(err, raw.Close())
	})
	if _, err := b.Receive(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half a packet: %v", err)
	}
	check(t, await(t, "Write", written))
}

func garbage(t *testing.T, tr transport) {
	for name, p := range map[string][]byte{
		"text":           []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		"longest length": {255, 255, 255, 255},
		"just too long":  binary.BigEndian.AppendUint32(nil, wire.MaxPacket+1),
		"empty packet":   {0, 0, 0, 0},
		"zeros":          make([]byte, 64),
		"other version":  {0, 0, 0, 1, protocol.PacketVersion + 1},
		"noise":          {0, 0, 0, 5, protocol.PacketVersion, 250, 250, 250, 250},
	} {
		raw, b := tr.bytes(t)
		written := async(func() error { _, err := raw.Write(p); return err })
		if _, err := b.Receive(); err == nil {
			t.Errorf("%s gave a packet", name)
		}
		b.Close()
		await(t, "Write", written)
	}
}

func lengthCostsNothing(t *testing.T, tr transport) {
	raw, b := tr.bytes(t)
	p := append(binary.BigEndian.AppendUint32(nil, wire.MaxPacket), make([]byte, 1000)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	written := async(func() error {
		_, err := raw.Write(p)
		return errors.Join(err, raw.Close())
	})
	_, err := b.Receive()
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Error("half a packet was received")
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 2<<20 {
		t.Errorf("a length alone took %d bytes", took)
	}
	check(t, await(t, "Write", written))
}

// A packet that is too long is not sent, and the link stays usable. One transport
// is enough: the code is the same for all, and encoding 65 MiB takes long.
func TestTooLongIsNotSent(t *testing.T) {
	a, b := pipe()
	defer a.Close()
	defer b.Close()
	received := async(func() error { return receiveIDs(b, 1) })
	if err := a.Send(command(8, nil), command(9, make([]byte, wire.MaxPacket))); !errors.Is(err, ErrTooLong) {
		t.Errorf("Send of a packet that is too long: %v", err)
	}
	check(t, a.Send(command(1, nil)))
	check(t, await(t, "the next packet", received))
}

func slowTrickle(t *testing.T, tr transport) {
	raw, b := tr.bytes(t)
	received := async(func() error { return receiveIDs(b, 3) })
	for i := 1; i <= 3; i++ {
		m := command(i, make([]byte, 100))
		for _, c := range wire.Append(nil, &m) {
			_, err := raw.Write([]byte{c})
			check(t, err)
		}
	}
	check(t, await(t, "the packets", received))
}

func putsNeverWait(t *testing.T, tr transport) {
	a, b := tr.pair(t)
	w := a.(sender)
	room := make(chan bool, 1)
	w.onRoom(func() {
		select {
		case room <- true:
		default:
		}
	}, 0)
	const n = 200
	for i := 1; i <= n; i++ { // 12.8 MB that are not read yet
		m := command(i, make([]byte, 64<<10))
		check(t, w.put(&m))
		w.flush()
	}
	if w.queued() == 0 {
		t.Error("nothing is queued although the other side does not read")
	}
	received := async(func() error { return receiveIDs(b, n) })
	check(t, await(t, "all packets", received))
	await(t, "word of room", room)
	w.settle(testTimeout)
	if got := w.queued(); got != 0 {
		t.Errorf("%d bytes are queued at the end", got)
	}
}
