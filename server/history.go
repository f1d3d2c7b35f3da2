// Answers that are kept for the command expand.

package server

import (
	"cmp"
	"fmt"
	"slices"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// Bounds of what is kept for expand.
const (
	keptAnswers  = 64       // number of requests; several front ends share them
	keptBytes    = 64 << 10 // bytes of one rank's answer to one request
	keptBytesAll = 16 << 20 // bytes of all; the answers to the last request are kept even if they are more
)

// history keeps the last answers of this server's ranks, with the columns as the back end gave
// them. It is pure.
type history struct {
	most    int      // number of answers to keep; 0 is keptAnswers
	answers []answer // oldest first
	bytes   int      // of all of them
}

// answer is what the ranks answered to one request.
type answer struct {
	id     protocol.RequestID
	groups []protocol.Group
	bytes  int
	tooBig rank.Set // ranks whose answers are too long to be kept
}

// add keeps groups of answers to a request; several calls for one request add up. Empty answers
// ("{}") are not kept.
func (h *history) add(id protocol.RequestID, groups []protocol.Group) {
	for _, g := range groups {
		if g.Kind == protocol.KindResult && len(g.Body) <= len("{}") && len(g.Columns) == 0 && g.Stack == nil &&
			g.Waits == nil {
			continue
		}
		a := h.of(id)
		if a == nil {
			a = h.open(id)
		}
		if g.Size() > keptBytes*g.Ranks.Len() {
			a.tooBig = a.tooBig.Union(g.Ranks)
			continue
		}
		a.groups = append(a.groups, g)
		a.bytes += g.Size()
		h.bytes += g.Size()
	}
	for h.bytes > keptBytesAll && len(h.answers) > 1 {
		h.forgetOldest()
	}
}

func (h *history) forgetOldest() {
	h.bytes -= h.answers[0].bytes
	h.answers = slices.Delete(h.answers, 0, 1)
}

func (h *history) of(id protocol.RequestID) *answer {
	i := slices.IndexFunc(h.answers, func(a answer) bool { return a.id == id })
	if i < 0 {
		return nil
	}
	return &h.answers[i]
}

func (h *history) open(id protocol.RequestID) *answer {
	if len(h.answers) == cmp.Or(h.most, keptAnswers) {
		h.forgetOldest()
	}
	h.answers = append(h.answers, answer{id: id})
	return &h.answers[len(h.answers)-1]
}

// forgotten says that an answer is not kept.
func (h *history) forgotten() string {
	return fmt.Sprintf("the answer is not kept any more, at most the last %d are", cmp.Or(h.most, keptAnswers))
}

// expand returns the answers of some ranks to an earlier request (args.Of), with columns of
// args.Limit values. Every rank is in exactly one group. The back end is not asked again. With
// args.Hash, results are divided into those of ranks whose value has that hash and the others.
func (h *history) expand(ranks rank.Set, args protocol.Args) []protocol.Group {
	var out []protocol.Group
	a := h.of(args.Of)
	if a == nil {
		return []protocol.Group{fault(ranks, protocol.FaultState, "expand", h.forgotten(), "give the command again with --all")}
	}
	rest := ranks
	for _, g := range a.groups {
		hit := g.Ranks.Intersect(rest)
		if hit.IsEmpty() {
			continue
		}
		rest = rest.Minus(hit)
		if args.Hash != 0 && g.Kind == protocol.KindResult {
			out = append(out, divide(g, hit, args)...)
			continue
		}
		out = append(out, restrict(g, hit, args.Limit))
	}
	if big := rest.Intersect(a.tooBig); !big.IsEmpty() {
		rest = rest.Minus(big)
		out = append(out, fault(big, protocol.FaultState, "expand", "the answer was longer than the 64 KiB a rank that are kept", "give the command again with --all"))
	}
	if !rest.IsEmpty() {
		out = append(out, fault(rest, protocol.FaultState, "expand", "the rank had no part in that request", ""))
	}
	return out
}

// divided is the body of a result that divide has split: whether its ranks have the value that was
// asked for.
type divided struct {
	Same bool `json:"same"`
}

// divide splits a group into the ranks whose column "value" has a value with the hash args.Hash,
// and the others.
func divide(g protocol.Group, ranks rank.Set, args protocol.Args) []protocol.Group {
	var same rank.Set
	c, _ := g.Column("value")
	for _, v := range c.Values() {
		if column.Hash(v.Value) == args.Hash {
			same = same.Union(v.Ranks.Intersect(ranks))
		}
	}
	var out []protocol.Group
	for _, part := range []struct {
		ranks rank.Set
		same  bool
	}{{same, true}, {ranks.Minus(same), false}} {
		if !part.ranks.IsEmpty() {
			x := restrict(g, part.ranks, args.Limit)
			x.Body = canonical.JSON(divided{part.same})
			out = append(out, x)
		}
	}
	return out
}

// restrict returns a group cut to some of its ranks.
func restrict(g protocol.Group, ranks rank.Set, limit int) protocol.Group {
	out := protocol.Group{Kind: g.Kind, Ranks: ranks, Body: g.Body, Stack: g.Stack, Waits: g.Waits.Only(ranks)}
	for _, c := range g.Columns {
		out.Columns = append(out.Columns, withLimit(c, ranks, limit))
	}
	return out
}

// withLimit returns a column of some ranks with another limit. A column that the back end has summarised itself
// stays as it is.
func withLimit(c column.Column, ranks rank.Set, limit int) column.Column {
	if !c.Complete() {
		return c
	}
	out := column.Column{Name: c.Name}
	for _, v := range c.Values() {
		out = out.Merge(column.Of(c.Name, v.Ranks.Intersect(ranks), v.Value, limit))
	}
	return out
}
