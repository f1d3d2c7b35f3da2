// What takes long, as progress of DAP.

package dap

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	godap "github.com/google/go-dap"

	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Names of progress.
const (
	symbolProgress = "symbols" // of reading symbols
	startProgress  = "start"   // of a launch or attach, until its ranks stand
)

// startProgressed is what the client was told of a start. The zero value: nothing, or that it is over.
type startProgressed struct {
	begun   bool
	percent int
	message string
}

// startBegins tells that a launch or attach is in progress.
func (a *adapter) startBegins() {
	if !a.client.SupportsProgressReporting {
		return
	}
	a.progress.begun = true
	a.event("progressStart", godap.ProgressStartEventBody{ProgressId: startProgress, RequestId: a.opening.seq,
		Title: strings.TrimSpace("sdm " + string(a.start.Way) + " " + clip(strings.Join(a.start.Line, " "))), Cancellable: true})
}

// told passes on what the process of the session says before there are ranks, as why it waits.
func (a *adapter) told(line string) {
	if a.opening != nil {
		a.startGoesOn(text.Clean(line), 0)
	}
}

// startGoesOn tells how far a start is, if that is news.
func (a *adapter) startGoesOn(message string, percent int) {
	p := &a.progress
	if !p.begun || message == p.message || percent > 0 && percent == p.percent {
		return
	}
	p.message, p.percent = message, percent
	a.event("progressUpdate", godap.ProgressUpdateEventBody{ProgressId: startProgress, Message: message, Percentage: percent})
}

// someStand tells how many ranks have had their first stop.
func (a *adapter) someStand() {
	if n, all := a.awaited.Len(), a.all.Len(); a.opening != nil && n > 0 && n < all {
		a.startGoesOn(fmt.Sprintf("%d of %d ranks stand", all-n, all), (all-n)*100/all)
	}
}

// openingOver ends a launch or attach: it has failed with an error, or ranks stand (nil).
func (a *adapter) openingOver(err error) {
	r := a.opening
	a.opening = nil
	if a.progress.begun {
		a.event("progressEnd", godap.ProgressEndEventBody{ProgressId: startProgress})
	}
	a.progress = startProgressed{}
	if err != nil {
		r.fail(err)
		return
	}
	r.answer(nil)
}

// errCancelled is why a request that was cancelled has no answer.
var errCancelled = errors.New("cancelled")

// cancelStart ends a launch or attach: what it has started is ended.
func (a *adapter) cancelStart() {
	if a.target == nil {
		a.giveUp() // started comes with an error
		return
	}
	a.openingOver(errCancelled)
	if a.target.Joined {
		a.part(leaves)
		return
	}
	a.quit()
	a.part(quits)
}

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
