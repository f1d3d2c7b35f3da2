// The numbers of breakpoints, sdm's and gdb's.

package debugger

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
)

// breakpoints maps sdm's numbers, equal on all ranks, to those of one gdb, which also
// numbers breakpoints that sdm does not know. gdb never reuses a number, so entries are
// kept: a stop at a deleted breakpoint still finds its own.
type breakpoints struct {
	list []*point
}

type point struct {
	number   int // sdm's; 0: internal (first stop, MPI_Abort)
	gdb      string
	location string   // as the user gave it
	again    string   // see protocol.BreakpointInfo
	exprs    []string // of a log: evaluated at each hit, then the thread resumes
	lines    []string // commands, executed at each hit
	barrier  bool
	once     bool   // gdb disables it at a hit, also after a plain enable
	left     int    // hits after which gdb disables it; 0: it does not
	event    string // of a catchpoint
	software bool   // of a watchpoint: gdb steps and compares, see protocol.Stop
	gone     bool   // deleted in gdb; a stop at it may still come
	before   int    // hits that an earlier gdb has counted
	counted  tally
	unlisted bool // gdb does not list it any more, see newHits
	// watched is the frame of a watchpoint in a shared gdb: the thread, and the level
	// counted from the outermost, which is 1; 0: unknown.
	watched request.Selection
	// places are the addresses of its locations, in order, as gdb reported last.
	places []string
}

// claim records the number of a new breakpoint.
func (b *breakpoints) claim(number int, location string, bkpt mi.Tuple) *point {
	p := &point{number: number, gdb: bkpt.Str("number"), location: location, places: placesOf(bkpt)}
	b.list = append(b.list, p)
	return p
}

// placesOf returns the addresses of a breakpoint as returned by mine: its own, or those
// of its locations.
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

// placeOf returns the location of the breakpoint at which a thread has stopped, from 1;
// 0 if there is only one, or if it is unknown.
func (b *breakpoints) placeOf(stop mi.Tuple) int {
	p := b.at(stop)
	if p == nil || p.number == 0 || len(p.places) < 2 {
		return 0
	}
	return 1 + slices.Index(p.places, stop.Path("frame", "addr").Str)
}

// numberOf returns sdm's number, or the negative of gdb's number for a breakpoint that the
// user set through gdb itself. gdb names location 1 of breakpoint 2 "2.1".
func (b *breakpoints) numberOf(gdb string) int {
	whole, _, _ := strings.Cut(gdb, ".")
	for _, p := range b.list {
		if p.gdb == whole {
			return p.number
		}
	}
	n, _ := strconv.Atoi(whole)
	return -n
}

// claimed reports whether a breakpoint of gdb belongs to this rank.
func (b *breakpoints) claimed(gdb string) bool {
	return slices.ContainsFunc(b.list, func(p *point) bool { return p.gdb == gdb })
}

// deleted records that gdb has deleted a breakpoint.
func (b *breakpoints) deleted(gdb string) {
	for _, p := range b.list {
		p.gone = p.gone || p.gdb == gdb
	}
}

// hitsBefore returns how many hits an earlier gdb has counted.
func (b *breakpoints) hitsBefore(gdb string) int {
	for _, p := range b.list {
		if p.gdb == gdb {
			return p.before
		}
	}
	return 0
}

// hits returns how many hits all gdbs of the rank have counted.
func (b *breakpoints) hits(bkpt mi.Tuple) string {
	before := b.hitsBefore(bkpt.Str("number"))
	if before == 0 {
		return bkpt.Str("times")
	}
	n, _ := bkpt.Int("times")
	return strconv.Itoa(before + n)
}

// renumbered translates a stop of an earlier gdb: with this gdb's number of the
// breakpoint, or without a reason if it does not exist any more.
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

// gdbs returns gdb's numbers for sdm's, or a fault for one that does not exist.
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

// find returns the point if exactly one number is given and it exists, otherwise nil.
func (b *breakpoints) find(numbers []int) *point {
	for _, p := range b.list {
		if len(numbers) == 1 && p.number == numbers[0] && p.number != 0 && !p.gone {
			return p
		}
	}
	return nil
}

// at returns the point of a stop, or nil.
func (b *breakpoints) at(stop mi.Tuple) *point {
	whole, _, _ := strings.Cut(stoppedBy(stop), ".")
	for _, p := range b.list {
		if whole != "" && p.gdb == whole {
			return p
		}
	}
	return nil
}

// isSoftware reports whether a reason is that of a watchpoint without a debug register.
func (b *breakpoints) isSoftware(reason mi.Tuple) bool {
	p := b.at(reason)
	return p != nil && p.software
}

// free returns a number that is not used yet.
func (b *breakpoints) free() int {
	n := 1
	for _, p := range b.list {
		n = max(n, p.number+1)
	}
	return n
}

// locationOf returns the location as the user gave it.
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
		Number:    b.numberOf(t.Str("number")),
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
		i.Left, _ = t.Int("enable") // gdb reports it from 2 on
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
		// Without lines, as in most libraries, gdb gives a symbol: at="<qsort+4>".
		i.Places = append(i.Places, cmp.Or(place(values.FrameOf(l.Value.Fields).Frame), l.Value.Fields.Str("at")))
		if l.Value.Fields.Str("enabled") != "y" {
			i.Disabled = append(i.Disabled, n+1)
		}
	}
	return i
}

// hitsColumn returns the name of the column that counts hits.
func hitsColumn(number int) string { return fmt.Sprintf("hits.%d", number) }
