// What single threads of a rank do.

package wait

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// MaxFrames is the number of functions that Doing.Frames has at most, and again beyond a signal handler.
const MaxFrames = 6

// HandlerFrame begins the entry of Frames for the signal that has called a handler; the name of the signal
// follows, or "a signal".
const HandlerFrame = "<signal handler>"

// MaxThreads is the number of Doing.Others.
const MaxThreads = 8

// FirstProcess is the least Number of a Thread that is not a thread of the rank, but the first one of a process that
// the rank has started: FirstProcess and the ID of the process. IDs of threads are lower (pid_max is 1<<22 at most).
const FirstProcess = 1 << 24

// Thread is what a thread of a rank does.
type Thread struct {
	Number int    // in its process: 1 is the first thread, the others follow in the order of their IDs; see FirstProcess
	Name   string // that the program has given it; "": none
	State  State
	Frames string // as Doing.Frames
	// Does is what it waits for, with a verb in the singular, "waits in open of /tmp/x"; "": State and
	// Frames tell. Detail is a clause about that: "it is on nfs".
	Does, Detail string
	For          int  // number of the thread for which it waits; 0: for none, or it is not known
	Lock         bool // what it waits for is held: by the thread For, or as Detail says
}

// First returns the first thread of the ranks.
func (d Doing) First() Thread {
	return Thread{Number: 1, State: d.State, Frames: d.Frames, Does: d.Does, Detail: d.Detail, For: d.For, Lock: d.Lock}
}

// Process returns the ID of the process that the rank has started and whose first thread it is; 0: it is a thread of
// the rank.
func (t *Thread) Process() int { return max(t.Number-FirstProcess, 0) }

// setFirst sets the fields of which First is made.
func (d *Doing) setFirst(t Thread) {
	d.State, d.Frames, d.Does, d.Detail, d.For, d.Lock = t.State, t.Frames, t.Does, t.Detail, t.For, t.Lock
}

func (t *Thread) compare(u *Thread) int {
	return cmp.Or(cmp.Compare(t.State, u.State), strings.Compare(t.Frames, u.Frames), strings.Compare(t.Does, u.Does),
		strings.Compare(t.Detail, u.Detail), cmp.Compare(t.For, u.For), compareBools(t.Lock, u.Lock),
		cmp.Compare(t.Number, u.Number), strings.Compare(t.Name, u.Name))
}

// String formats what the thread does.
func (t Thread) String() string {
	text := fmt.Sprintf("%s in %q", t.State, t.Frames)
	if t.Does != "" || t.For != 0 {
		text += fmt.Sprintf(" %q %q for %d", t.Does, t.Detail, t.For)
	}
	return text
}

type threadJSON struct {
	Number int      `json:"thread,omitempty"` // from 1<<24 on, a process that the rank has started: 1<<24 and its ID
	Name   string   `json:"name,omitempty"`
	State  State    `json:"state"`
	Frames []string `json:"frames,omitempty"`
	Does   string   `json:"does,omitempty"`
	Detail string   `json:"detail,omitempty"`
	For    int      `json:"for,omitempty"`
	Lock   bool     `json:"lock,omitempty"`
}

// jsonOf is the inverse of threadOf.
func jsonOf(t Thread) threadJSON {
	return threadJSON{t.Number, t.Name, t.State, Doing{Frames: t.Frames}.Names(), t.Does, t.Detail, t.For, t.Lock}
}

func threadOf(t threadJSON) Thread {
	return Thread{t.Number, t.Name, t.State, strings.Join(t.Frames, "\n"), t.Does, t.Detail, t.For, t.Lock}
}

func appendThread(b []byte, t *Thread) []byte {
	b = appendText(binary.AppendUvarint(b, uint64(t.Number)), t.Name)
	b = appendText(binary.AppendUvarint(b, uint64(t.State)), t.Frames)
	b = appendText(appendText(b, t.Does), t.Detail)
	return binary.AppendUvarint(b, uint64(t.For)<<1|bit(t.Lock))
}

func (r *reader) thread() (t Thread) {
	t.Number, t.Name = r.Number("thread", math.MaxInt32), r.text()
	t.State, t.Frames, t.Does, t.Detail = State(r.Number("state", int(states)-1)), r.text(), r.text(), r.text()
	bits := r.Number("thread", math.MaxInt32)
	t.For, t.Lock = bits>>1, bits&1 == 1
	return t
}

// maxDoings bounds the rows of doings with details such as names of files and numbers of processes, which may
// be others in each rank. A graph that would have more has none of them, in no row: State, Frames and Calls
// remain. Since no part of such a graph has more rows, graphs still merge to the same in any order.
const maxDoings = 512

// coarsen removes the details of doings.
func coarsen(rows []Doing) []Doing {
	out := make([]Doing, len(rows))
	for i, d := range rows {
		out[i] = Doing{State: d.State, Frames: d.Frames, Calls: d.Calls, Ranks: d.Ranks}
	}
	return join(nil, sorted(out, (*Doing).compare), (*Doing).compare, (*Doing).add)
}

// bound removes the details of the doings if they are too many.
func (g *Graph) bound() {
	if detailed := func(d Doing) bool { return d.Does != "" || len(d.Others) > 0 }; !g.coarse &&
		len(g.doings) > maxDoings {
		g.coarse = slices.ContainsFunc(g.doings, detailed)
	}
	if g.coarse {
		g.doings = coarsen(g.doings)
	}
}
