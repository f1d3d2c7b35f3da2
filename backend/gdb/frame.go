// Frames and values as gdb gives them, as bodies and columns.

package gdb

import (
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/inferior"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// frame is one level of a stack with what may differ between ranks.
type frame struct {
	protocol.Frame
	values  []string // of Args, in order
	addr    string
	library string // where it lies, as gdb has it
}

// frameIn gives the frame of a stop record, a thread, or a result.
func frameIn(t mi.Tuple) (frame, bool) {
	v, ok := t.Get("frame")
	if !ok || v.Kind != mi.TupleValue {
		return frame{}, false
	}
	return frameOf(v.Fields), true
}

// frameOf translates a tuple frame (GDB manual, GDB/MI Frame Information).
func frameOf(t mi.Tuple) frame {
	f := frame{addr: t.Str("addr"), library: t.Str("from")}
	f.Level, _ = t.Int("level")
	f.Func = t.Str("func")
	f.File, f.Full = t.Str("file"), t.Str("fullname")
	f.Line, _ = t.Int("line")
	if f.File == "" {
		f.From = inferior.AsSeen(t.Str("from"))
	}
	f.Args, f.values = namesAndValues(t.Path("args").Fields)
	return f
}

// namesAndValues reads a list of {name=…,value=…}. A name that comes again, as
// that of a variable in an inner block does, gets a number.
func namesAndValues(list mi.Tuple) (names, values []string) {
	for _, e := range list {
		name := e.Value.Fields.Str("name")
		unique := name
		for n := 2; slices.Contains(names, unique); n++ {
			unique = name + "#" + strconv.Itoa(n)
		}
		names = append(names, unique)
		values = append(values, listed(e.Value.Fields.Str("value")))
	}
	return names, values
}

// mostListed bounds each value of a list of them, in bytes.
const mostListed = 4 << 10

// listed is a value as it stands among others.
func listed(value string) string {
	value, _ = shortened(value, mostListed)
	return value
}

// columns gathers the columns of one group.
type columns struct {
	rank  rank.ID
	limit int
	list  []column.Column
}

func columnsOf(r rank.ID, limit int) *columns { return &columns{rank: r, limit: limit} }

// add takes a value; it keeps a copy, not the line of gdb that it is a part of,
// where the line is long.
func (c *columns) add(name, value string) {
	c.list = append(c.list, column.New(name, c.rank, strings.Clone(value), c.limit))
}

// frame adds the arguments of a frame and, where it has no line, its address.
func (c *columns) frame(prefix string, f frame) {
	for i, name := range f.Args {
		c.add(prefix+"args."+name, f.values[i])
	}
	if f.Line == 0 && f.addr != "" {
		c.add(prefix+"addr", f.addr)
	}
}

func (c *columns) sorted() []column.Column {
	slices.SortFunc(c.list, func(a, b column.Column) int { return strings.Compare(a.Name, b.Name) })
	return c.list
}
