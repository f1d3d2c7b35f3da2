// Events about breakpoints, for front ends that show those of all.

package hub

import (
	"encoding/json"
	"slices"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// points tells from commands and their answers, and from stops, which breakpoints have changed. It is pure.
type points struct {
	asked   map[protocol.RequestID]protocol.Args // of commands that change breakpoints; the newest maxAsked
	order   []protocol.RequestID                 // those of asked, the oldest first
	counted map[int]bool                         // breakpoints that change when they are reached: enable once
}

// maxAsked bounds the commands whose answers are awaited: those of later ones are told without numbers.
const maxAsked = 1024

// ask records a command that was given.
func (p *points) ask(id protocol.RequestID, c session.Call) {
	info, _ := protocol.LookupCommand(c.Command)
	if info.Object != protocol.Breakpoints || info.Effect == protocol.Shows {
		return
	}
	if p.asked == nil {
		p.asked, p.counted = map[protocol.RequestID]protocol.Args{}, map[int]bool{}
	}
	if len(p.order) == maxAsked {
		delete(p.asked, p.order[0])
		p.order = p.order[1:]
	}
	p.asked[id], p.order = c.Args, append(p.order, id)
	for _, n := range c.Args.Breakpoints {
		p.counted[n] = c.Command == "enable" && c.Args.Then != ""
	}
}

// answered returns the changes that an answer tells.
func (p *points) answered(e session.Event) []protocol.PointsChange {
	args, ok := p.asked[e.ID]
	if !ok || e.Group.Kind != protocol.KindResult {
		return nil
	}
	info, _ := protocol.LookupCommand(e.Command)
	var body struct {
		Breakpoints []protocol.BreakpointInfo `json:"breakpoints"`
		Deleted     []int                     `json:"deleted"`
	}
	_ = json.Unmarshal(e.Group.Body, &body) // other answers have neither
	switch info.Effect {
	case protocol.Makes, protocol.MakesMany:
		var all []protocol.PointsChange
		for _, b := range body.Breakpoints {
			all = append(all, protocol.PointsChange{Change: "added", Numbers: []int{b.Number}, Breakpoint: &b})
		}
		return all
	case protocol.Removes:
		return []protocol.PointsChange{{Change: "removed", Numbers: append(body.Deleted, args.Breakpoints...)}}
	}
	numbers := slices.Clone(args.Breakpoints)
	for _, place := range args.Places {
		numbers = append(numbers, place.Breakpoint)
	}
	return []protocol.PointsChange{{Change: "changed", Numbers: numbers}}
}

// reached returns the change that follows from a stop; some is false if there is none.
func (p *points) reached(g protocol.Group) (c protocol.PointsChange, some bool) {
	var stop protocol.Stop
	if g.Kind != protocol.KindStopped || json.Unmarshal(g.Body, &stop) != nil || stop.Breakpoint == 0 {
		return c, false
	}
	c.Numbers = []int{stop.Breakpoint}
	switch {
	case stop.Temporary || stop.Reason == protocol.WatchpointScope:
		c.Change = "removed"
	case p.counted[stop.Breakpoint]:
		c.Change = "changed"
	default:
		return c, false
	}
	return c, true
}

// tellPoints tells all front ends of changes of breakpoints, and who has made them. The lock must be held.
func (h *Hub) tellPoints(e session.Event) {
	for _, c := range h.points.answered(e) {
		if v := h.owners.of(e.ID); v != nil {
			c.Front, c.Name = v.front.Number, v.front.Name
		}
		c.ID = e.ID
		h.publishPoints(e, c)
	}
}

func (h *Hub) publishPoints(e session.Event, c protocol.PointsChange) {
	h.publish(session.NewEvent(protocol.Group{Kind: protocol.KindPoints, Ranks: e.Group.Ranks, Body: canonical.JSON(c)}))
}
