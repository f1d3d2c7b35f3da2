package console

import (
	"strconv"

	"sdm/master/frontend/console/text"
	"sdm/protocol"
)

// listLines is how many lines list shows at a time, as GDB.
const listLines = 10

// page fills in the arguments of a list that goes on where the last one ended
// (+1), or before it began (-1). Without a last one, the ranks list around
// where they stand.
func (c *console) page(a *protocol.Args, page int) {
	n := len(c.listed.Lines)
	if page == 0 || n == 0 {
		return
	}
	first, last := c.listed.Lines[0].N, c.listed.Lines[n-1].N
	if page > 0 {
		a.First, a.Last = last+1, last+listLines
	} else {
		a.First, a.Last = max(1, first-listLines), max(1, first-1)
	}
	a.Location = ""
	if c.located { // gdb shows ten lines around a location
		a.Location = c.listed.File + ":" + strconv.Itoa(a.First+listLines/2)
	}
}

// listedBy gives what most ranks have listed: that is where the next list goes on.
func listedBy(groups []protocol.Group) text.Listed {
	var listed text.Listed
	most := 0
	for _, g := range groups {
		l, ok := text.ListedLines(g)
		if ok && g.Kind == protocol.KindResult && len(l.Lines) > 0 && g.Ranks.Len() > most {
			listed, most = l, g.Ranks.Len()
		}
	}
	return listed
}
