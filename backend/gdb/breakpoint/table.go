// The numbers of breakpoints, sdm's and gdb's.

package breakpoint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
)

// Table maps sdm's numbers of breakpoints, equal on all ranks, to the numbers of one gdb, which
// also numbers breakpoints that sdm does not know. gdb never reuses a number, so entries are kept:
// a stop at a deleted breakpoint still finds its own. The zero Table is empty.
type Table struct {
	List []*Point
}

// Claim records the number of a new breakpoint.
func (b *Table) Claim(number int, location string, bkpt mi.Tuple) *Point {
	p := &Point{Number: number, GDB: bkpt.Str("number"), Location: location, places: placesOf(bkpt)}
	b.List = append(b.List, p)
	return p
}

// placesOf returns the addresses of a breakpoint as returned by mine: its own, or the addresses of
// its locations.
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

// PlaceOf returns the location of the breakpoint at which a thread has stopped, from 1;
// 0 if there is only one, or if it is unknown.
func (b *Table) PlaceOf(stop mi.Tuple) int {
	p := b.At(stop)
	if p == nil || p.Number == 0 || len(p.places) < 2 {
		return 0
	}
	return 1 + slices.Index(p.places, stop.Path("frame", "addr").Str)
}

// NumberOf returns sdm's number, or the negative of gdb's number for a breakpoint that the
// user set through gdb itself. gdb names location 1 of breakpoint 2 "2.1".
func (b *Table) NumberOf(gdb string) int {
	whole, _, _ := strings.Cut(gdb, ".")
	for _, p := range b.List {
		if p.GDB == whole {
			return p.Number
		}
	}
	n, _ := strconv.Atoi(whole)
	return -n
}

// Claimed reports whether a breakpoint of gdb belongs to this rank.
func (b *Table) Claimed(gdb string) bool {
	return slices.ContainsFunc(b.List, func(p *Point) bool { return p.GDB == gdb })
}

// Deleted records that gdb has deleted a breakpoint.
func (b *Table) Deleted(gdb string) {
	for _, p := range b.List {
		p.Gone = p.Gone || p.GDB == gdb
	}
}

// HitsBefore returns how many hits an earlier gdb has counted.
func (b *Table) HitsBefore(gdb string) int {
	for _, p := range b.List {
		if p.GDB == gdb {
			return p.Before
		}
	}
	return 0
}

// hits returns how many hits all gdbs of the rank have counted.
func (b *Table) hits(bkpt mi.Tuple) string {
	before := b.HitsBefore(bkpt.Str("number"))
	if before == 0 {
		return bkpt.Str("times")
	}
	n, _ := bkpt.Int("times")
	return strconv.Itoa(before + n)
}

// Renumbered translates a stop of an earlier gdb: with this gdb's number of the
// breakpoint, or without a reason if it does not exist any more.
func (b *Table) Renumbered(stop mi.Tuple, number int) mi.Tuple {
	old := values.StoppedBy(stop)
	if old == "" {
		return stop
	}
	p := b.Find([]int{number})
	if p == nil || stop.Str("bkptno") == "" {
		return values.WithoutReason(stop)
	}
	now := slices.Clone(stop)
	for i, f := range now {
		if f.Name == "bkptno" {
			now[i].Value.Str = p.GDB
		}
	}
	return now
}

// gdbs returns gdb's numbers for sdm's, or a fault for one that does not exist.
func (b *Table) gdbs(numbers []int) (gdb []string, unknown *protocol.Fault) {
	for _, n := range numbers {
		name := ""
		for _, p := range b.List {
			if p.Number == n && n != 0 && !p.Gone {
				name = p.GDB
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

// Find returns the point if exactly one number is given and it exists, otherwise nil.
func (b *Table) Find(numbers []int) *Point {
	for _, p := range b.List {
		if len(numbers) == 1 && p.Number == numbers[0] && p.Number != 0 && !p.Gone {
			return p
		}
	}
	return nil
}

// At returns the point of a stop, or nil.
func (b *Table) At(stop mi.Tuple) *Point {
	whole, _, _ := strings.Cut(values.StoppedBy(stop), ".")
	for _, p := range b.List {
		if whole != "" && p.GDB == whole {
			return p
		}
	}
	return nil
}

// IsSoftware reports whether a reason comes from a watchpoint without a debug register.
func (b *Table) IsSoftware(reason mi.Tuple) bool {
	p := b.At(reason)
	return p != nil && p.software
}

// free returns a number that is not used yet.
func (b *Table) free() int {
	n := 1
	for _, p := range b.List {
		n = max(n, p.Number+1)
	}
	return n
}

// locationOf returns the location as the user gave it.
func (b *Table) locationOf(gdb string) string {
	for _, p := range b.List {
		if p.GDB == gdb {
			return p.Location
		}
	}
	return ""
}

// info translates a tuple bkpt (GDB manual, GDB/MI Breakpoint Information).
func (b *Table) info(t mi.Tuple) protocol.BreakpointInfo {
	i := protocol.BreakpointInfo{
		Number:    b.NumberOf(t.Str("number")),
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
	if p := b.At(mi.Tuple{{Name: "bkptno", Value: mi.Value{Str: t.Str("number")}}}); p != nil {
		i.Exprs, i.Commands, i.Again = p.exprs, p.Lines, p.again
		switch {
		case p.exprs != nil:
			i.Type = "log"
		case p.asserted != "":
			i.Type, i.Exprs, i.Stop, i.Condition = "assertion", []string{p.asserted}, !p.passes, ""
		case p.Barrier:
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
		i.Places = append(i.Places, cmp.Or(values.PlaceOf(values.FrameOf(l.Value.Fields).Frame), l.Value.Fields.Str("at")))
		if l.Value.Fields.Str("enabled") != "y" {
			i.Disabled = append(i.Disabled, n+1)
		}
	}
	return i
}

// hitsColumn returns the name of the column that counts hits.
func hitsColumn(number int) string { return fmt.Sprintf("hits.%d", number) }

// Existing returns gdb's numbers of the breakpoints that have not been deleted.
func (b *Table) Existing() (numbers []string) {
	for _, p := range b.List {
		if !p.Gone {
			numbers = append(numbers, p.GDB)
		}
	}
	return numbers
}

func noBreakpoint(number int) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("No breakpoint number %d.", number)}
}
