// JSON form of a graph, and its text for transcripts.

package wait

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// graphJSON is the form for front ends.
type graphJSON struct {
	Comms  []commJSON  `json:"comms,omitempty"`
	Calls  []callJSON  `json:"calls,omitempty"`
	Edges  []edgeJSON  `json:"edges,omitempty"`
	Doing  []doingJSON `json:"doing"`
	Moved  *rank.Set   `json:"moved,omitempty"`
	Cut    *rank.Set   `json:"cut,omitempty"`
	Doubt  *rank.Set   `json:"doubt,omitempty"`
	Unheld *rank.Set   `json:"unheld,omitempty"`
	// Coarse: Does and the like are left out, since they are others in too many ranks.
	Coarse bool `json:"coarse,omitempty"`

	Unexpected []edgeJSON  `json:"unexpected,omitempty"`
	Numbers    [][]runJSON `json:"numbers,omitempty"`
}

type commJSON struct {
	Key     string    `json:"key"`
	Name    string    `json:"name,omitempty"`
	Members rank.Set  `json:"members"`
	Remote  *rank.Set `json:"remote,omitempty"`
}

type callJSON struct {
	Function string   `json:"function"`
	Comm     string   `json:"comm,omitempty"`
	Root     *int     `json:"root,omitempty"`
	Bytes    *int     `json:"bytes,omitempty"`
	Op       string   `json:"op,omitempty"`
	Ranks    rank.Set `json:"ranks"`
}

type edgeJSON struct {
	Function string      `json:"function,omitempty"`
	Comm     string      `json:"comm,omitempty"`
	Send     bool        `json:"send,omitempty"`
	Need     Need        `json:"need,omitempty"`
	Tag      int         `json:"tag"`
	Object   string      `json:"object,omitempty"`
	Lanes    [][]runJSON `json:"lanes"`
}

// runJSON has the fields of a Run: first, count, peer and step.
type runJSON [4]int

type doingJSON struct {
	threadJSON
	Calls  int          `json:"calls,omitempty"`
	Left   int          `json:"left,omitempty"`
	Others []threadJSON `json:"others,omitempty"`
	Ranks  rank.Set     `json:"ranks"`
}

var needNames = [needs]string{"all", "one", "perhaps", "target"}

// MarshalText returns the name of the need.
func (n Need) MarshalText() ([]byte, error) { return []byte(needNames[min(n, needs-1)]), nil }

// UnmarshalText is the inverse of MarshalText.
func (n *Need) UnmarshalText(b []byte) error {
	i := slices.Index(needNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("wait graph: unknown need %q", b)
	}
	*n = Need(i)
	return nil
}

// MarshalText returns the name of the state.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *State) UnmarshalText(b []byte) error {
	i := slices.Index(stateNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("wait graph: unknown state %q", b)
	}
	*s = State(i)
	return nil
}

// optional returns nil for No.
func optional(n int) *int {
	if n == No {
		return nil
	}
	return &n
}

// given is the inverse of optional.
func given(n *int) int {
	if n == nil {
		return No
	}
	return *n
}

// optionalSet returns nil for the empty set.
func optionalSet(s rank.Set) *rank.Set {
	if s.IsEmpty() {
		return nil
	}
	return &s
}

// givenSet is the inverse of optionalSet.
func givenSet(s *rank.Set) rank.Set {
	if s == nil {
		return rank.Set{}
	}
	return *s
}

// MarshalJSON returns the JSON object for front ends.
func (g *Graph) MarshalJSON() ([]byte, error) {
	out := graphJSON{Doing: []doingJSON{}, Moved: optionalSet(g.Moved()), Cut: optionalSet(g.Cut()),
		Doubt:  optionalSet(g.Doubt()),
		Unheld: optionalSet(g.Unheld()), Coarse: g != nil && g.coarse}
	for _, c := range g.Comms() {
		out.Comms = append(out.Comms, commJSON{c.Key, c.Name, c.Members, optionalSet(c.Remote)})
	}
	for _, c := range g.Calls() {
		out.Calls = append(out.Calls, callJSON{c.Function, c.Comm, optional(c.Root), optional(c.Bytes), c.Op, c.Ranks})
	}
	out.Edges, out.Unexpected, out.Numbers = edgesJSON(g.Edges()), edgesJSON(g.Unexpected()), lanesJSON(g.Numbers())
	for _, d := range g.Doings() {
		x := doingJSON{jsonOf(d.First()), d.Calls, d.Left, nil, d.Ranks}
		x.Number = 0
		for _, t := range d.Others {
			x.Others = append(x.Others, jsonOf(t))
		}
		out.Doing = append(out.Doing, x)
	}
	return canonical.JSON(out), nil
}

func edgesJSON(edges []Edge) (out []edgeJSON) {
	for _, e := range edges {
		out = append(out, edgeJSON{e.Function, e.Comm, e.Send, e.Need, e.Tag, e.Object, lanesJSON(e.Pairs)})
	}
	return out
}

func lanesJSON(p Pairs) (out [][]runJSON) {
	for _, lane := range p.lanes {
		var runs []runJSON
		for _, r := range lane {
			runs = append(runs, runJSON{int(r.First), r.Count, r.Peer, r.Step})
		}
		out = append(out, runs)
	}
	return out
}

// edgesOfJSON is the inverse of edgesJSON.
func edgesOfJSON(in []edgeJSON) (out []Edge, err error) {
	for _, e := range in {
		x := Edge{Function: e.Function, Comm: e.Comm, Send: e.Send, Need: e.Need, Tag: e.Tag, Object: e.Object}
		if x.Pairs, err = pairsOfJSON(e.Lanes); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// pairsOfJSON is the inverse of lanesJSON.
func pairsOfJSON(lanes [][]runJSON) (p Pairs, err error) {
	for _, runs := range lanes {
		var lane []Run
		for _, r := range runs {
			if r[0] < 0 || r[0] > int(rank.MaxID) {
				return p, errors.New("wait graph: a run is not valid")
			}
			lane = append(lane, Run{rank.ID(r[0]), r[1], r[2], r[3]})
			if !lane[len(lane)-1].isValid() {
				return p, errors.New("wait graph: a run is not valid")
			}
		}
		p.lanes = append(p.lanes, lane)
	}
	return p, nil
}

// UnmarshalJSON parses the result of MarshalJSON.
func (g *Graph) UnmarshalJSON(b []byte) error {
	var in graphJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("wait graph: %w", err)
	}
	out := Graph{moved: givenSet(in.Moved), cut: givenSet(in.Cut), doubt: givenSet(in.Doubt), unheld: givenSet(in.Unheld),
		coarse: in.Coarse}
	for _, c := range in.Comms {
		out.comms = append(out.comms, Comm{c.Key, c.Name, c.Members, givenSet(c.Remote)})
	}
	for _, c := range in.Calls {
		out.calls = append(out.calls, Call{c.Function, c.Comm, given(c.Root), given(c.Bytes), c.Op, c.Ranks})
	}
	var err error
	if out.edges, err = edgesOfJSON(in.Edges); err != nil {
		return err
	}
	if out.unexpected, err = edgesOfJSON(in.Unexpected); err != nil {
		return err
	}
	if out.numbers, err = pairsOfJSON(in.Numbers); err != nil {
		return err
	}
	for _, d := range in.Doing {
		x := Doing{Calls: d.Calls, Left: d.Left, Ranks: d.Ranks}
		x.setFirst(threadOf(d.threadJSON))
		for _, t := range d.Others {
			x.Others = append(x.Others, threadOf(t))
		}
		out.doings = append(out.doings, x)
	}
	if err := out.check(); err != nil {
		return fmt.Errorf("wait graph: %w", err)
	}
	*g = out
	return nil
}

// String formats the graph as one line for transcripts.
func (g *Graph) String() string {
	var parts []string
	for _, c := range g.Comms() {
		parts = append(parts, "comm "+strconv.Quote(c.Key)+" "+c.Name+" of ["+c.Members.String()+"]")
	}
	for _, c := range g.Calls() {
		parts = append(parts, fmt.Sprintf("%s(%q, %d, %d, %q) [%s]", c.Function, c.Comm, c.Root, c.Bytes, c.Op, c.Ranks))
	}
	for _, e := range g.Edges() {
		kind := "receive"
		if e.Send {
			kind = "send"
		}
		object := ""
		if e.Object != "" {
			object = " of " + strconv.Quote(e.Object)
		}
		parts = append(parts, fmt.Sprintf("%s %s %s(%q, %s)%s %s", needNames[e.Need], kind, e.Function, e.Comm, PeerText(e.Tag), object, e.Pairs))
	}
	for _, e := range g.Unexpected() {
		parts = append(parts, fmt.Sprintf("unexpected (%q, %s) %s", e.Comm, PeerText(e.Tag), e.Pairs))
	}
	if !g.Numbers().IsEmpty() {
		parts = append(parts, "numbers "+g.Numbers().String())
	}
	for _, d := range g.Doings() {
		text := d.First().String()
		for _, t := range d.Others {
			text += fmt.Sprintf(", thread %d %s", t.Number, t)
		}
		parts = append(parts, text+" ["+d.Ranks.String()+"]")
	}
	for name, s := range map[string]rank.Set{"moved": g.Moved(), "cut": g.Cut(), "doubt": g.Doubt(), "unheld": g.Unheld()} {
		if !s.IsEmpty() {
			parts = append(parts, name+" ["+s.String()+"]")
		}
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, "; ") + "}"
}
