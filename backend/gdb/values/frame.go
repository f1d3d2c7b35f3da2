// Frames and values as gdb gives them, as bodies and columns.

package values

import (
	"slices"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/inferior"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// Frame is one level of a stack with what may differ between ranks.
type Frame struct {
	protocol.Frame
	Values  []string // of Args, in order
	Addr    string
	library string // the library of its code, as gdb names it; "": the program, or gdb has lines for it
}

// FrameIn returns the frame in a stop record, a thread, or a result; false if there is none.
func FrameIn(t mi.Tuple) (Frame, bool) {
	v, ok := t.Get("frame")
	if !ok || v.Kind != mi.TupleValue {
		return Frame{}, false
	}
	return FrameOf(v.Fields), true
}

// FrameOf translates a tuple frame (GDB manual, GDB/MI Frame Information).
func FrameOf(t mi.Tuple) Frame {
	f := Frame{Addr: t.Str("addr"), library: t.Str("from")}
	f.Level, _ = t.Int("level")
	f.Func = t.Str("func")
	f.File, f.Full = t.Str("file"), t.Str("fullname")
	f.Line, _ = t.Int("line")
	if f.File == "" {
		f.From = inferior.AsSeen(t.Str("from"))
	}
	f.Args, f.Values = gdbtext.NamesAndValues(t.Path("args").Fields)
	return f
}

// Columns are the columns of one group, under construction.
type Columns struct {
	rank  rank.ID
	limit int
	list  []column.Column
}

// ColumnsOf returns empty columns of a rank, whose values are kept up to a limit; see column.New.
func ColumnsOf(r rank.ID, limit int) *Columns { return &Columns{rank: r, limit: limit} }

// ColumnsWith returns columns to which others are added.
func ColumnsWith(r rank.ID, list []column.Column) *Columns { return &Columns{rank: r, list: list} }

// Append adds complete columns.
func (c *Columns) Append(more ...column.Column) { c.list = append(c.list, more...) }

// Add adds a column with a copy of value, so that the line of gdb of which it is a part can be freed.
func (c *Columns) Add(name, value string) {
	c.list = append(c.list, column.New(name, c.rank, strings.Clone(value), c.limit))
}

// Frame adds the arguments of a frame and, if it has no line, its address.
func (c *Columns) Frame(prefix string, f Frame) {
	for i, name := range f.Args {
		c.Add(prefix+"args."+name, f.Values[i])
	}
	if f.Line == 0 && f.Addr != "" {
		c.Add(prefix+"addr", f.Addr)
	}
}

// Sorted returns the columns by name.
func (c *Columns) Sorted() []column.Column {
	slices.SortFunc(c.list, func(a, b column.Column) int { return strings.Compare(a.Name, b.Name) })
	return c.list
}
