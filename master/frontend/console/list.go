package console

import (
	"strconv"

	"sdm/master/frontend/console/text"
	"sdm/protocol"
)

// listLines is how many lines list shows at a time before set listsize, as GDB.
const listLines = 10

// page fills in the arguments of a list that goes on where the last one ended
// (+1), or before it began (-1). Without a last one, the ranks list around
// where they stand.
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
	if c.located { // perhaps not in the file where the ranks stand
		a.First, a.Last = 0, 0
		a.Location, a.To = c.listed.File+":"+strconv.Itoa(first), strconv.Itoa(last)
	}
}

// inListed gives a bare line the file that was listed, as GDB does, until the ranks stop elsewhere or another frame is
// selected.
func (c *console) inListed(a *protocol.Args) {
	if _, err := strconv.Atoi(a.Location); err == nil && c.located {
		a.Location = c.listed.File + ":" + a.Location
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
