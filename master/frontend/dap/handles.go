// Numbers by which the client refers to frames and values.

package dap

import (
	"errors"
	"fmt"
	"maps"

	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// frame is a frame of the ranks of a group.
type frame struct {
	ranks rank.Set
	level int
}

// value is what a variables request may ask for.
type value struct {
	frame  frame
	scope  scope
	expr   string         // of a value that may be asked for again
	path   []string       // from there to a member that has no expression
	spread *column.Column // the values of several ranks
	// members: what the value consists of, after its values by rank if they differ; from is the first one.
	members bool
	from    int
	exprs   map[string]string // of members that were shown, by name
	kept    []int             // places in Target.Kept
}

// scope is a set of variables.
type scope int

const (
	noScope scope = iota
	locals
	arguments
	registers
)

// maxHandles bounds the numbers that are kept. A client that asks for more at one stop loses the older ones.
const maxHandles = 100_000

// handles are the frames and values of which the client has numbers. A number is never given again, so that one that
// is gone is told from others. Those of ranks that have gone on are forgotten.
type handles struct {
	last   int
	frames map[int]frame
	values map[int]value
}

func (h *handles) frame(f frame) int {
	if len(h.frames) >= maxHandles || h.frames == nil {
		h.frames = map[int]frame{}
	}
	h.last++
	h.frames[h.last] = f
	return h.last
}

func (h *handles) value(v value) int {
	if len(h.values) >= maxHandles || h.values == nil {
		h.values = map[int]value{}
	}
	h.last++
	h.values[h.last] = v
	return h.last
}

// remember keeps the expressions of members that were shown.
func (h *handles) remember(id int, exprs map[string]string) {
	v, ok := h.values[id]
	if !ok {
		return
	}
	if v.exprs == nil {
		v.exprs = map[string]string{}
	}
	maps.Copy(v.exprs, exprs)
	h.values[id] = v
}

// forget forgets what is about ranks that have gone on.
func (h *handles) forget(ranks rank.Set) {
	for id, f := range h.frames {
		if f.ranks.Intersects(ranks) {
			delete(h.frames, id)
		}
	}
	for id, v := range h.values {
		if v.frame.ranks.Intersects(ranks) {
			delete(h.values, id)
		}
	}
}

// findFrame returns the frame of a number.
func (h *handles) findFrame(id int) (frame, error) {
	if f, ok := h.frames[id]; ok {
		return f, nil
	}
	return frame{}, h.missing("frame", id)
}

// findValue returns the value of a number.
func (h *handles) findValue(id int) (value, error) {
	if v, ok := h.values[id]; ok {
		return v, nil
	}
	return value{}, h.missing("value", id)
}

func (h *handles) missing(what string, id int) error {
	if id > 0 && id <= h.last {
		return fmt.Errorf("%s %d is gone: its ranks have gone on", what, id)
	}
	if id == 0 {
		return errors.New("no " + what + " was named")
	}
	return fmt.Errorf("there is no %s %d", what, id)
}
