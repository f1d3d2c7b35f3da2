// What is beyond the bounds of a file is cut: a file with less is better than none.

package hangfile

import (
	"slices"
	"strings"
	"unicode/utf8"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// fitted returns a copy within the bounds of Read.
func (f *File) fitted() *File {
	x := *f
	x.Format, x.Version = FormatName, FormatVersion
	x.Job.Command = first(x.Job.Command, MaxList)
	x.Verdict = first(x.Verdict, MaxList)
	x.Calls = first(x.Calls, MaxList)
	x.States = first(x.States, maxStates)
	x.Versions = first(x.Versions, MaxList)
	x.Stacks, x.Hosts = slices.Clone(fewer(x.Stacks)), fewer(x.Hosts)
	if pairsOf(x.Stacks) > maxPairs {
		x.Stacks = withoutEdges(x.Stacks)
	}
	if inCallsOf(x.Stacks) > maxInCalls {
		for i := range x.Stacks {
			x.Stacks[i].Group.Waits = nil
		}
	}
	x.Values = first(x.Values, MaxValues)
	for i := range x.Values {
		x.Values[i].Answers = fewer(x.Values[i].Answers)
	}
	x.Output.Events = slices.Clone(x.Output.Events[max(len(x.Output.Events)-MaxList, 0):])
	x.texts(cut)
	return &x
}

// first returns a copy of at most so many elements.
func first[T any](list []T, most int) []T { return slices.Clone(list[:min(len(list), most)]) }

// cut makes texts valid and not longer than a number of bytes.
func cut(_ string, most int, texts ...*string) {
	for _, s := range texts {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
		if len(*s) > most {
			end := most
			for !utf8.RuneStart((*s)[end]) {
				end--
			}
			*s = (*s)[:end]
		}
	}
}

// fewer returns at most MaxList answers; the last one then names the ranks of the others.
func fewer(events []session.Event) []session.Event {
	if len(events) <= MaxList {
		return events
	}
	var rest rank.Set
	for _, e := range events[MaxList-1:] {
		rest = rest.Union(e.Group.Ranks)
	}
	f := protocol.Fault{Kind: protocol.FaultState, Message: "too many different answers: these are not in the file"}
	last := session.NewEvent(protocol.Group{Kind: protocol.KindFault, Ranks: rest, Body: canonical.JSON(f)})
	return append(slices.Clone(events[:MaxList-1]), last)
}

// smallerSteps is the number of steps of smaller.
const smallerSteps = 2

// smaller returns a copy without what may be long: first the edges of wait graphs, then values and output.
func (f *File) smaller(step int) *File {
	x := *f
	switch step {
	case 0:
		x.Stacks = withoutEdges(x.Stacks)
	case 1:
		x.Values, x.Output = nil, Output{}
	}
	return &x
}

// withoutEdges returns answers whose wait graphs have no edges.
func withoutEdges(events []session.Event) []session.Event {
	events = slices.Clone(events)
	for i := range events {
		events[i].Group.Waits = events[i].Group.Waits.Without()
	}
	return events
}
