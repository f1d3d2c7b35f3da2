// Continuation of list.

package console

import (
	"strconv"

	"sdm/master/text"
	"sdm/protocol"
)

// listLines is how many lines list shows before set listsize, as in GDB.
const listLines = 10

// lister remembers what list has shown.
type lister struct {
	listed  text.Listed // last answer of list
	size    int         // lines that list shows
	located bool        // list was given a location; otherwise it shows where the ranks are
}

// restart makes the next list begin where the ranks are.
func (l *lister) restart() { l.listed, l.located = text.Listed{}, false }

// remember records the answer to a list.
func (l *lister) remember(x *call) {
	listed := listedBy(x.groups)
	if len(listed.Lines) == 0 { // there were no further lines
		return
	}
	l.listed = listed
	if x.cmd.Page == 0 {
		l.located = x.cmd.Args.Location != "" || x.cmd.Args.To != ""
	}
}

// page sets the arguments of a list that continues after the last one (+1), or before it (-1).
// Without a last one, list shows where the ranks are.
func (l *lister) page(a *protocol.Args, page int) {
	if l.size != listLines {
		a.Count = l.size
	}
	n := len(l.listed.Lines)
	if page == 0 || n == 0 {
		return
	}
	first, last := l.listed.Lines[0].N, l.listed.Lines[n-1].N
	if page > 0 {
		first, last = last+1, last+l.size
	} else {
		first, last = max(1, first-l.size), max(1, first-1)
	}
	a.First, a.Last, a.Location, a.To = first, last, "", ""
	if l.located { // the ranks may be in another file
		a.First, a.Last = 0, 0
		a.Location, a.To = l.listed.File+":"+strconv.Itoa(first), strconv.Itoa(last)
	}
}

// inListed adds the listed file to a bare line number, as GDB does, until ranks stop elsewhere or
// another frame is selected.
func (l *lister) inListed(a *protocol.Args) {
	if _, err := strconv.Atoi(a.Location); err == nil && l.located {
		a.Location = l.listed.File + ":" + a.Location
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
