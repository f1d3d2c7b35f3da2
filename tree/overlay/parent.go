// The link to the parent: a parent, none yet, or the owner of the root.

package overlay

import (
	"sdm/protocol/wire"
	"sdm/tree"
)

// toParent sends a packet to the parent, or keeps it for the next parent.
func (l *Loop) toParent(m *wire.Message) {
	if l.parent != nil {
		l.put(l.parent, m)
		return
	}
	l.kept = append(l.kept, clone(m))
	l.keptSize += weight(m)
	l.upper.setUplink(nil, l.keptSize)
}

// startUp makes the owner of the root its parent.
func (l *Loop) startUp() {
	p := newBlockingWriter(func(m wire.Message) error {
		l.cfg.Up(m)
		return nil
	})
	l.submit(entry{do: func() {
		l.group.Go(p.run)
		p.onRoom(l.upper.update, 0)
		l.useParent(&neighbour{out: p})
	}})
}

// adopt replaces the parent.
func (l *Loop) adopt(p Link) {
	if l.parent != nil {
		l.parent.close()
		l.step(tree.ParentLost{})
	}
	l.useParent(l.attach(p, 0))
	if l.cfg.Found != nil {
		l.cfg.Found()
	}
}

// useParent makes n the link to the parent and sends the packets that have waited for a parent.
func (l *Loop) useParent(n *neighbour) {
	l.parent = n
	l.upper.setUplink(n.out.(uplinkState), 0)
	kept := l.kept
	l.kept, l.keptSize = nil, 0
	for i := range kept {
		l.toParent(&kept[i])
	}
}

// orphaned processes the loss of the parent.
func (l *Loop) orphaned(n *neighbour, why string) {
	l.step(tree.ParentLost{})
	switch {
	case l.quitting:
		l.checkOver()
	case l.cfg.Lost == nil:
		l.step(tree.FromParent{Msg: wire.Message{Kind: wire.Quit}})
	case n.silent && l.cfg.Silent != nil:
		l.cfg.Silent(why)
	default:
		l.cfg.Lost(why)
	}
}
