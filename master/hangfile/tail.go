// The end of a job's output.

package hangfile

import (
	"slices"

	"sdm/master/session"
	"sdm/protocol"
)

// Bounds of what a Tail keeps of each stream.
const (
	TailBytes  = 64 << 10
	tailEvents = 1024
)

// Tail keeps the end of the output of a job: of each stream at most 64 KiB in 1,024 events, besides the last event. The zero
// value is empty. It is for one goroutine.
type Tail struct {
	streams [2]tailStream // standard output, standard error
	count   int           // events so far
}

type tailStream struct {
	events  []placed
	bytes   int   // of events
	dropped int64 // bytes
}

// placed is an event and its place in the output.
type placed struct {
	number int
	event  session.Event
}

// Add adds an event. Events that are not output are ignored. The event must not be changed afterwards.
func (t *Tail) Add(e session.Event) {
	at := 0
	switch e.Group.Kind {
	case protocol.KindStdout:
	case protocol.KindStderr:
		at = 1
	default:
		return
	}
	t.count++
	s := &t.streams[at]
	s.events = append(s.events, placed{t.count, e})
	s.bytes += len(e.Group.Body)
	n := 0
	for n < len(s.events)-1 && (s.bytes > TailBytes || len(s.events)-n > tailEvents) {
		size := len(s.events[n].event.Group.Body)
		s.bytes -= size
		s.dropped += int64(size)
		s.events[n] = placed{}
		n++
	}
	s.events = s.events[n:]
}

// Output returns what is kept.
func (t *Tail) Output() Output {
	all := slices.Concat(t.streams[0].events, t.streams[1].events)
	slices.SortFunc(all, func(a, b placed) int { return a.number - b.number })
	out := Output{DroppedStdout: t.streams[0].dropped, DroppedStderr: t.streams[1].dropped}
	for _, x := range all {
		out.Events = append(out.Events, x.event)
	}
	return out
}
