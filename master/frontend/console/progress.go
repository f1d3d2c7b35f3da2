package console

import (
	"fmt"
	"io"
	"time"

	"sdm/master/session"
	"sdm/protocol/rank"
)

// progress is the line on a terminal that tells how a start gets on. It shows
// only when that takes longer than a second. The zero value shows nothing.
type progress struct {
	out   io.Writer
	due   <-chan time.Time
	timer *time.Timer
	shown bool
}

const (
	progressAfter = time.Second
	progressEvery = 250 * time.Millisecond
)

func newProgress(out io.Writer) progress {
	if out == nil {
		return progress{}
	}
	t := time.NewTimer(progressAfter)
	return progress{out: out, timer: t, due: t.C}
}

// show tells how many ranks have got where they are going. What takes long before
// a rank runs for the first time is that its gdb reads symbols.
func (p *progress) show(x *call, all rank.Set, states *session.States) {
	if x == nil {
		p.stop()
		return
	}
	what, here := "starting", x.stopped.Intersect(all)
	if loading := states.In(session.Starting).Intersect(all); !loading.IsEmpty() {
		what, here = "loading symbols", all.Minus(loading).Minus(states.In(session.Unstarted))
	}
	fmt.Fprintf(p.out, "\r\x1b[K%s: %d of %s", what, here.Len(), plural(all.Len(), "rank"))
	p.shown = true
	p.timer.Reset(progressEvery)
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
