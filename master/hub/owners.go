// Which front end has asked what.

package hub

import (
	"cmp"
	"slices"

	"sdm/protocol"
)

// owners maps the numbers of requests to the front ends that made them. Numbers grow, and one front end usually makes
// several in a row: it keeps one entry for each row. It is pure.
type owners []owned

// owned are the requests from a number on, up to those of the next entry.
type owned struct {
	from protocol.RequestID
	by   *View
}

// maxOwned bounds the entries: answers to requests before them are given to nobody.
const maxOwned = 1 << 16

// add records the newest request.
func (o *owners) add(id protocol.RequestID, by *View) {
	if n := len(*o); n > 0 && (*o)[n-1].by == by {
		return
	}
	if len(*o) == maxOwned {
		*o = slices.Delete(*o, 0, maxOwned/2)
	}
	*o = append(*o, owned{id, by})
}

// of returns the front end that made a request, nil if that is not known.
func (o owners) of(id protocol.RequestID) *View {
	i, exact := slices.BinarySearchFunc(o, id, func(e owned, id protocol.RequestID) int { return cmp.Compare(e.from, id) })
	if !exact {
		i--
	}
	if i < 0 {
		return nil
	}
	return o[i].by
}
