// What takes long, as progress of DAP.

package dap

import (
	"encoding/json"

	godap "github.com/google/go-dap"

	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// symbolProgress is the name of the progress of reading symbols.
const symbolProgress = "symbols"

// loading tells that gdbs of ranks read symbols, or have read them.
func (a *adapter) loading(g protocol.Group) {
	var l protocol.Loading
	if json.Unmarshal(g.Body, &l) != nil {
		return
	}
	if l.Done {
		a.loaded(g.Ranks)
		return
	}
	if a.reads.IsEmpty() && a.client.SupportsProgressReporting {
		a.event("progressStart", godap.ProgressStartEventBody{
			ProgressId: symbolProgress, Title: "[" + text.Ranks(g.Ranks) + "] reading symbols",
		})
	}
	a.reads = a.reads.Union(g.Ranks)
}

// loaded tells that ranks read no symbols any more: they have read them, or have ended.
func (a *adapter) loaded(ranks rank.Set) {
	before := a.reads
	if a.reads = before.Minus(ranks); a.reads.IsEmpty() && !before.IsEmpty() && a.client.SupportsProgressReporting {
		a.event("progressEnd", godap.ProgressEndEventBody{ProgressId: symbolProgress})
	}
}
