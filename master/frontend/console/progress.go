package console

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// progress is the line on a terminal that tells how a start gets on, when that takes longer
// than a second, and how many ranks have what a command waits for, when
// they say that they read symbols.
type progress struct {
	out     io.Writer // nil: there is none
	due     <-chan time.Time
	timer   *time.Timer
	shown   bool
	loading rank.Set // read symbols that a command needs
}

const (
	progressAfter = time.Second
	progressEvery = 250 * time.Millisecond
)

// after sets the time for the line.
func (p *progress) after(d time.Duration) {
	if p.out == nil {
		return
	}
	if p.timer == nil {
		p.timer = time.NewTimer(d)
	} else {
		p.timer.Reset(d)
	}
	p.due = p.timer.C
}

// happened takes the word of ranks about symbols that take long to read, and their end.
func (p *progress) happened(g protocol.Group) {
	var l protocol.Loading
	switch {
	case g.Kind.IsEnd():
		p.loading = p.loading.Minus(g.Ranks)
	case g.Kind != protocol.KindLoading || json.Unmarshal(g.Body, &l) != nil:
	case l.Done:
		p.loading = p.loading.Minus(g.Ranks)
	default:
		p.loading = p.loading.Union(g.Ranks)
		p.goOn()
	}
}

// goOn shows the line in a while, if there is something to tell.
func (p *progress) goOn() {
	if p.due == nil && !p.loading.IsEmpty() {
		p.after(progressEvery)
	}
}

// show tells how many ranks have got where they are going. What takes long before
// a rank runs for the first time is that its gdb reads symbols.
func (p *progress) show(x *call, all rank.Set, states *session.States) {
	if x == nil {
		p.stop()
		return
	}
	what, here := "starting", x.stopped.Intersect(all)
	loading := states.In(session.Starting)
	if !x.starts {
		all, loading = x.ranks, p.loading
	}
	loading = loading.Intersect(all)
	switch {
	case !loading.IsEmpty():
		what, here = "loading symbols", all.Minus(loading).Minus(states.In(session.Unstarted))
	case !x.starts:
		p.stop()
		return
	}
	fmt.Fprintf(p.out, "\r\x1b[K%s: %d of %s", what, here.Len(), plural(all.Len(), "rank"))
	p.shown = true
	p.after(progressEvery)
}

// clear takes the line away, so that something else can be written.
func (p *progress) clear() {
	if p.shown {
		io.WriteString(p.out, "\r\x1b[K")
		p.shown = false
	}
}

func (p *progress) stop() {
	p.clear()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.due = nil
}
