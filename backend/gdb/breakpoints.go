// Our numbers of breakpoints, and gdb's.

package gdb

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sdm/backend/mi"
	"sdm/protocol"
)

// breakpoints maps our numbers, equal on all ranks, to those of one gdb, which
// also counts breakpoints that we never hear of. gdb never uses a number again,
// so the map forgets nothing: a stop at a deleted breakpoint still finds it.
type breakpoints struct {
	list []*point
}

type point struct {
	number   int // ours; 0 is the one of the start
	gdb      string
	location string   // as the person gave it
	again    string   // see protocol.BreakpointInfo
	exprs    []string // of a log: evaluated at each hit, and the thread goes on
	lines    []string // commands, carried out at each hit
	barrier  bool
	once     bool   // gdb disables it when it is reached, also after a plain enable
	left     int    // hits after which gdb disables it; 0: it does not
	event    string // of a catchpoint
	gone     bool   // deleted in gdb; a stop that it has brought about may still come
	before   int    // hits that another gdb has counted
	counted  tally
	missed   bool // gdb lists it no more, see newHits
	// watched is where a watchpoint was set in a shared gdb: the thread, and the frame counted from the outermost, which
	// is 1; 0 is not known.
	watched selection
	// places are the addresses where it is, in the order of its places, as gdb told last; of what has a location.
	places []string
}

// claim keeps the number of a new breakpoint of ours.
func (b *breakpoints) claim(number int, location string, bkpt mi.Tuple) *point {
	p := &point{number: number, gdb: bkpt.Str("number"), location: location, places: placesOf(bkpt)}
	b.list = append(b.list, p)
	return p
}

// placesOf gives the addresses of a breakpoint, as mine gives it: one, or those of its places.
func placesOf(bkpt mi.Tuple) []string {
	var places []string
	for _, l := range bkpt.Path("locations").Fields {
		places = append(places, l.Value.Fields.Str("addr"))
	}
	if addr := bkpt.Str("addr"); places == nil && strings.HasPrefix(addr, "0x") && addr != "0xffffffffffffffff" {
		places = []string{addr}
	}
	return places
}

// placeOf counts the place of the breakpoint where a thread has stopped, from 1; 0 where there is only one, and where
// that is not known.
func (b *breakpoints) placeOf(stop mi.Tuple) int {
	p := b.at(stop)
	if p == nil || p.number == 0 || len(p.places) < 2 {
		return 0
	}
	return 1 + slices.Index(p.places, stop.Path("frame", "addr").Str)
}

// ours gives our number, or for a breakpoint that a person set through gdb
// itself gdb's number, negative. gdb says "2.1" for a location of 2.
func (b *breakpoints) ours(gdb string) int {
	whole, _, _ := strings.Cut(gdb, ".")
	for _, p := range b.list {
		if p.gdb == whole {
			return p.number
		}
	}
	n, _ := strconv.Atoi(whole)
	return -n
}

// claimed tells whether a breakpoint of gdb is one of this rank.
func (b *breakpoints) claimed(gdb string) bool {
	return slices.ContainsFunc(b.list, func(p *point) bool { return p.gdb == gdb })
}

// deleted notes that gdb has a breakpoint no more.
func (b *breakpoints) deleted(gdb string) {
	for _, p := range b.list {
		p.gone = p.gone || p.gdb == gdb
	}
}

// hitsBefore is how often another gdb has seen a breakpoint of this one hit.
func (b *breakpoints) hitsBefore(gdb string) int {
	for _, p := range b.list {
		if p.gdb == gdb {
			return p.before
		}
	}
	return 0
}

// hits is how often all gdbs of the rank have seen a breakpoint hit.
func (b *breakpoints) hits(bkpt mi.Tuple) string {
	before := b.hitsBefore(bkpt.Str("number"))
	if before == 0 {
		return bkpt.Str("times")
	}
	n, _ := bkpt.Int("times")
	return strconv.Itoa(before + n)
}

// renumbered gives a stop of another gdb with this one's number of the breakpoint, or without a reason where that is
// no more.
func (b *breakpoints) renumbered(stop mi.Tuple, number int) mi.Tuple {
	old := stoppedBy(stop)
	if old == "" {
		return stop
	}
	p := b.find([]int{number})
	if p == nil || stop.Str("bkptno") == "" {
		return withoutReason(stop)
	}
	now := slices.Clone(stop)
	for i, f := range now {
		if f.Name == "bkptno" {
			now[i].Value.Str = p.gdb
		}
	}
	return now
}

// gdbs gives gdb's numbers of ours, or the fault of one that is none.
func (b *breakpoints) gdbs(numbers []int) (gdb []string, unknown *protocol.Fault) {
	for _, n := range numbers {
		name := ""
		for _, p := range b.list {
			if p.number == n && n != 0 && !p.gone {
				name = p.gdb
			}
		}
		if name == "" && n < 0 {
			name = strconv.Itoa(-n)
		}
		if name == "" {
			return nil, noBreakpoint(n)
		}
		gdb = append(gdb, name)
	}
	return gdb, nil
}

// find gives the point of our number when one is named, nil when there is none any more.
func (b *breakpoints) find(numbers []int) *point {
	for _, p := range b.list {
		if len(numbers) == 1 && p.number == numbers[0] && p.number != 0 && !p.gone {
			return p
		}
	}
	return nil
}

// at gives the point that a stop is about, or nil.
func (b *breakpoints) at(stop mi.Tuple) *point {
	whole, _, _ := strings.Cut(stoppedBy(stop), ".")
	for _, p := range b.list {
		if whole != "" && p.gdb == whole {
			return p
		}
	}
	return nil
}

// stoppedBy is gdb's number of the breakpoint, watchpoint or catchpoint that
// stopped a thread, "" for none.
func stoppedBy(stop mi.Tuple) string {
	if n := stop.Str("bkptno"); n != "" {
		return n
	}
	if n := stop.Str("wpnum"); n != "" { // out of scope
		return n
	}
	for _, name := range []string{"wpt", "hw-awpt", "hw-rwpt"} {
		if wpt, ok := stop.Get(name); ok {
			return wpt.Fields.Str("number")
		}
	}
	return ""
}

// free is a number that is not ours yet.
func (b *breakpoints) free() int {
	n := 1
	for _, p := range b.list {
		n = max(n, p.number+1)
	}
	return n
}

// locationOf gives what the person said.
func (b *breakpoints) locationOf(gdb string) string {
	for _, p := range b.list {
		if p.gdb == gdb {
			return p.location
		}
	}
	return ""
}

// info translates a tuple bkpt (GDB manual, GDB/MI Breakpoint Information).
func (b *breakpoints) info(t mi.Tuple) protocol.BreakpointInfo {
	i := protocol.BreakpointInfo{
		Number:    b.ours(t.Str("number")),
		Type:      t.Str("type"),
		Temporary: t.Str("disp") == "del",
		Enabled:   t.Str("enabled") == "y",
		Pending:   t.Str("addr") == "<PENDING>",
		Location:  b.locationOf(t.Str("number")),
		Func:      t.Str("func"),
		File:      t.Str("file"),
		Condition: t.Str("cond"),
	}
	i.Ignore, _ = t.Int("ignore")
	if t.Str("disp") == "dis" && i.Enabled {
		i.Left, _ = t.Int("enable") // which gdb tells from two on
		i.Left = max(i.Left, 1)
	}
	if p := b.at(mi.Tuple{{Name: "bkptno", Value: mi.Value{Str: t.Str("number")}}}); p != nil {
		i.Exprs, i.Commands, i.Again = p.exprs, p.lines, p.again
		switch {
		case p.exprs != nil:
			i.Type = "log"
		case p.barrier:
			i.Type = "barrier"
		}
	}
	i.Line, _ = t.Int("line")
	for _, name := range []string{"original-location", "what", "exp", "catch-type"} {
		if i.Location == "" {
			i.Location = t.Str(name)
		}
	}
	for n, l := range t.Path("locations").Fields {
		// Without lines, as in most libraries, gdb knows a symbol: at="<qsort+4>".
		i.Places = append(i.Places, cmp.Or(place(frameOf(l.Value.Fields).Frame), l.Value.Fields.Str("at")))
		if l.Value.Fields.Str("enabled") != "y" {
			i.Disabled = append(i.Disabled, n+1)
		}
	}
	return i
}

// hitsColumn is the name of the column that counts hits.
func hitsColumn(number int) string { return fmt.Sprintf("hits.%d", number) }
