package console

import (
	"strconv"

	"sdm/master/frontend/console/text"
	"sdm/protocol"
)

// listLines is how many lines list shows before set listsize, as in GDB.
const listLines = 10

// page sets the arguments of a list that continues after the last one (+1), or before it (-1).
// Without a last one, list shows where the ranks are.
func (c *console) page(a *protocol.Args, page int) {
	if c.listSize != listLines {
		a.Count = c.listSize
	}
	n := len(c.listed.Lines)
	if page == 0 || n == 0 {
		return
	}
	first, last := c.listed.Lines[0].N, c.listed.Lines[n-1].N
	if page > 0 {
		first, last = last+1, last+c.listSize
	} else {
		first, last = max(1, first-c.listSize), max(1, first-1)
	}
	a.First, a.Last, a.Location, a.To = first, last, "", ""
	if c.located { // the ranks may be in another file
		a.First, a.Last = 0, 0
		a.Location, a.To = c.listed.File+":"+strconv.Itoa(first), strconv.Itoa(last)
	}
}

// inListed adds the listed file to a bare line number, as GDB does, until ranks stop elsewhere or
// another frame is selected.
func (c *console) inListed(a *protocol.Args) {
	if _, err := strconv.Atoi(a.Location); err == nil && c.located {
		a.Location = c.listed.File + ":" + a.Location
	}
}

// listedBy returns the lines that most ranks have listed: the next list continues there.
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
