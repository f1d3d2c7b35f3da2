// The status line of a long start or command.

package console

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// progress is a status line on a terminal. It shows the progress of a start that takes longer than
// a second, and of a command while ranks read symbols.
type progress struct {
	out     io.Writer // nil: no line
	due     <-chan time.Time
	timer   *time.Timer
	shown   bool
	loading rank.Set // ranks that read symbols for a command
}

const (
	progressAfter = time.Second
	progressEvery = 250 * time.Millisecond
)

// after sets the time of the next update.
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

// observe processes events about the reading of symbols, and ends of ranks.
func (p *progress) observe(g protocol.Group) {
	var l protocol.Loading
	switch {
	case g.Kind.IsEnd():
		p.loading = p.loading.Minus(g.Ranks)
	case g.Kind != protocol.KindLoading || json.Unmarshal(g.Body, &l) != nil:
	case l.Done:
		p.loading = p.loading.Minus(g.Ranks)
	default:
		p.loading = p.loading.Union(g.Ranks)
		p.resume()
	}
}

// resume starts the updates if ranks read symbols.
func (p *progress) resume() {
	if p.due == nil && !p.loading.IsEmpty() {
		p.after(progressEvery)
	}
}

// show updates the line. Before a rank runs for the first time, its gdb reads symbols.
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
	fmt.Fprintf(p.out, "\r\x1b[K%s: %d of %s", what, here.Len(), text.Plural(all.Len(), "rank"))
	p.shown = true
	p.after(progressEvery)
}

// clear removes the line before other text is written.
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
