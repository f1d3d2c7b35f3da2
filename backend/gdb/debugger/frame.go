// Frames and values as gdb gives them, as bodies and columns.

package debugger

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
	f.Args, f.values = gdbtext.NamesAndValues(t.Path("args").Fields)
	return f
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
