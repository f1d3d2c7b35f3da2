// Links of the simulated network: delays, order, and closing.

package treetest

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"time"

	"sdm/protocol/wire"
	"sdm/tree"
	"sdm/tree/sendqueue"
)

// link connects a parent and a child like a TCP connection: what one end has sent
// before it closed still arrives at the other, followed by the end.
type link struct {
	parent, child *vertex
	parentOpen    bool
	childOpen     bool
	busy          [2]time.Duration // arrival of the last packet in each direction
	upPackets     []upPacket       // packets on their way up
	broken        bool             // cut: no packet arrives any more
}

// upPacket is a packet on its way up. Others may overtake it, as in a congested
// sendqueue.Queue.
type upPacket struct {
	scope sendqueue.Scope
	at    time.Duration
}

const (
	down = 0
	up   = 1
)

// later calls do when a packet sent now would arrive: after its delay, and not
// before the previous packet.
func (n *Net) later(l *link, way int, do func()) {
	from, to := l.parent, l.child
	if way == up {
		from, to = to, from
	}
	l.busy[way] = max(n.now+n.cfg.Delay(from.id, to.id), l.busy[way])
	n.After(l.busy[way]-n.now, do)
}

// laterUp is later for a packet on its way up: it waits only for packets that it
// must not overtake.
func (n *Net) laterUp(l *link, m *wire.Message, do func()) {
	c := upPacket{sendqueue.ScopeOf(m), n.now + n.cfg.Delay(l.child.id, l.parent.id)}
	l.upPackets = slices.DeleteFunc(l.upPackets, func(other upPacket) bool { return other.at < n.now })
	for i := range l.upPackets {
		if other := &l.upPackets[i]; !c.scope.Passes(&other.scope) {
			c.at = max(c.at, other.at)
		}
	}
	l.upPackets = append(l.upPackets, c)
	l.busy[up] = max(l.busy[up], c.at)
	n.After(c.at-n.now, do)
}

// up sends a packet to the parent, or to the master.
func (n *Net) up(v *vertex, m wire.Message) {
	if v.id == 0 {
		if n.cfg.Master != nil {
			n.cfg.Master(n.now, m)
		}
		return
	}
	l := v.link
	if l == nil || !l.childOpen {
		return
	}
	n.Packets[v.id]++
	m = n.transcode(m)
	n.laterUp(l, &m, func() {
		if l.parentOpen && !l.broken {
			n.step(l.parent, tree.FromChild{Child: v.id, Msg: m})
		}
	})
}

// down sends a packet to a child.
func (n *Net) down(v *vertex, to tree.NodeID, m wire.Message) {
	l := v.below[to]
	if l == nil {
		return
	}
	n.Packets[v.id]++
	m = n.transcode(m)
	n.later(l, down, func() {
		if l.childOpen && !l.broken {
			n.step(l.child, tree.FromParent{Msg: m})
		}
	})
}

// transcode encodes and decodes a packet if Config.Encode is set.
func (n *Net) transcode(m wire.Message) wire.Message {
	if !n.cfg.Encode {
		return m
	}
	b, err := wire.ReadPacket(bufio.NewReader(bytes.NewReader(wire.Append(nil, &m))), wire.MaxPacket)
	if err != nil {
		panic(fmt.Sprintf("treetest: %v of %v", err, m))
	}
	out, err := wire.Decode(b)
	if err != nil {
		panic(fmt.Sprintf("treetest: %v of %v", err, m))
	}
	return out
}

// dial connects to a child, or fails. A frozen child accepts the connection and
// then sends nothing.
func (n *Net) dial(v *vertex, out tree.Connect) {
	took, cause := 2*n.cfg.Delay(v.id, out.Child), ""
	if n.cfg.Dial != nil {
		took, cause = n.cfg.Dial(out.Child)
	}
	if c := n.vertices[out.Child]; c.frozen && out.Wait > 0 {
		took, cause = out.Wait, "proves the secret and then says nothing"
	}
	if out.Wait > 0 && took > out.Wait {
		took, cause = out.Wait, "not there in "+out.Wait.String()
	}
	n.After(took, func() {
		c := n.vertices[out.Child]
		switch {
		case cause != "":
		case c.dead:
			cause = "connection refused"
		case c.frozen:
			cause = "says nothing"
		case out.Epoch < c.epoch:
			cause = fmt.Sprintf("epoch %d is older than %d", out.Epoch, c.epoch)
		case v.dead:
			return
		}
		if cause != "" {
			n.step(v, tree.ConnectFailed{Child: out.Child, Cause: cause})
			return
		}
		n.join(v, c)
		n.step(v, tree.Connected{Child: out.Child})
	})
}

// join makes v the parent of c and closes the link to the previous one.
func (n *Net) join(v, c *vertex) {
	if c.link != nil {
		n.closeUp(c.link, "closed by the other side")
		n.step(c, tree.ParentLost{})
	}
	l := &link{parent: v, child: c, parentOpen: true, childOpen: true}
	c.link, c.moves = l, c.moves+1
	v.below[c.id] = l
}

// closeUp closes the child's end; the parent is notified after all that was sent.
func (n *Net) closeUp(l *link, cause string) {
	if !l.childOpen {
		return
	}
	l.childOpen = false
	n.later(l, up, func() {
		if l.parentOpen {
			l.parentOpen = false
			delete(l.parent.below, l.child.id)
			n.step(l.parent, tree.ChildLost{Child: l.child.id, Cause: cause})
		}
	})
}

// closeDown closes the parent's end.
func (n *Net) closeDown(l *link) {
	if !l.parentOpen {
		return
	}
	l.parentOpen = false
	delete(l.parent.below, l.child.id)
	n.later(l, down, func() { n.orphan(l) })
}

// orphan notifies a child of the loss of its parent. If it is not adopted, it ends
// after orphanWait.
func (n *Net) orphan(l *link) {
	if !l.childOpen {
		return
	}
	l.childOpen = false
	v := l.child
	if v.link != l {
		return
	}
	v.link = nil
	n.step(v, tree.ParentLost{})
	v.moves++
	number := v.moves
	var leave func()
	leave = func() {
		switch {
		case v.moves != number:
		case v.frozen:
			n.After(time.Second, leave)
		default:
			n.end(v, "closed by the other side")
		}
	}
	n.After(orphanWait, leave)
}

// orphanWait is how long a server waits for a new parent.
const orphanWait = time.Minute

// end ends the process of a vertex.
func (n *Net) end(v *vertex, cause string) {
	if v.dead {
		return
	}
	v.dead = true
	v.queue = nil
	if v.link != nil {
		n.closeUp(v.link, cause)
	}
	for _, id := range n.order(v) {
		n.closeDown(v.below[id])
	}
}
