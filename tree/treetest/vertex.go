// Scripts for a single vertex.

package treetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sdm/protocol/canonical"
	"sdm/protocol/wire"
	"sdm/tree"
)

// Vertex is one Node whose inputs are lines of a script:
//
//	@10ms            the time from here on; may precede any of these:
//	parent init #1 wait=10s TABLE | SHAPE SIZE PER    part of the table, as Table returns it
//	parent command #2 [0-3] wait=1s BODY
//	parent quit | ping | heal [3] epoch=2 | resend epoch=2 | ack mark=3:7 | given-up BODY
//	orphaned | alive 2
//	child 2 reply #2 final: GROUP; GROUP
//	child 2 events: GROUP
//	connected 2 | failed 2 CAUSE | lost 2 CAUSE
//	local #2: GROUP | own: GROUP; GROUP | ready [GROUP] | tick
type Vertex struct {
	id   tree.NodeID
	node *tree.Node
	now  time.Duration
}

// NewVertex returns a vertex that waits for its Init.
func NewVertex(id tree.NodeID) *Vertex { return &Vertex{id: id, node: tree.New(id)} }

// Exec executes the lines of a script and returns each with its outputs.
func (v *Vertex) Exec(script string) string {
	var b strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fmt.Fprintf(&b, "%s\n", line)
		in, err := v.parse(line)
		if err != nil {
			fmt.Fprintf(&b, "   error: %v\n", err)
			continue
		}
		if in == nil {
			continue
		}
		for _, out := range v.node.Step(v.now, in) {
			fmt.Fprintf(&b, "   %v\n", out)
		}
	}
	return b.String()
}

// parse parses one line; the input is nil if it only sets the time.
func (v *Vertex) parse(line string) (tree.Input, error) {
	if line[0] == '@' {
		at, rest, _ := strings.Cut(line[1:], " ")
		now, err := time.ParseDuration(at)
		if err != nil {
			return nil, err
		}
		if v.now = now; rest == "" {
			return nil, nil
		}
		line = strings.TrimSpace(rest)
	}
	verb, rest, _ := strings.Cut(line, " ")
	verb, colon := strings.CutSuffix(verb, ":")
	switch verb {
	case "parent":
		return v.parseParent(rest)
	case "child":
		return parseChild(rest)
	case "connected", "failed", "lost":
		return parseLink(verb, rest)
	case "alive":
		id, err := strconv.Atoi(rest)
		return tree.ChildAlive{Child: tree.NodeID(id)}, err
	case "orphaned":
		return tree.ParentLost{}, nil
	case "local":
		m, err := parseMessage(wire.Reply, rest)
		if err != nil || len(m.Groups) == 0 {
			return nil, fmt.Errorf("local wants groups: %v", err)
		}
		return tree.LocalReply{ID: m.ID, Groups: m.Groups}, nil
	case "own":
		groups, err := ParseGroups(rest)
		return tree.LocalEvents{Groups: groups}, err
	case "ready":
		if rest == "" {
			return tree.LocalReady{}, nil
		}
		g, err := ParseGroup(rest)
		return tree.LocalReady{Group: g}, err
	case "tick":
		return tree.Tick{}, nil
	}
	return nil, fmt.Errorf("%q (colon %v) is not known", verb, colon)
}

var downwards = map[string]wire.Kind{
	"heal": wire.Heal, "resend": wire.Resend, "ack": wire.Ack, "given-up": wire.GivenUp,
}

func (v *Vertex) parseParent(rest string) (tree.Input, error) {
	verb, rest, _ := strings.Cut(rest, " ")
	switch verb {
	case "init":
		m, err := v.parseInit(rest)
		return tree.FromParent{Msg: m}, err
	case "command":
		m, err := parseMessage(wire.Command, rest)
		return tree.FromParent{Msg: m}, err
	case "heal", "resend", "ack", "given-up":
		m, err := parseMessage(downwards[verb], rest)
		return tree.FromParent{Msg: m}, err
	case "quit":
		return tree.FromParent{Msg: wire.Message{Kind: wire.Quit, Flags: flags[rest]}}, nil
	case "ping":
		return tree.FromParent{Msg: wire.Message{Kind: wire.Ping}}, nil
	}
	return nil, fmt.Errorf("packet %q is not known", verb)
}

// parseInit parses the words of a packet, then a table in JSON or the three
// arguments of Table.
func (v *Vertex) parseInit(rest string) (wire.Message, error) {
	if i := strings.Index(rest, "{"); i >= 0 {
		m, err := parseMessage(wire.Init, rest[:i])
		m.Body = []byte(rest[i:])
		return m, err
	}
	words := strings.Fields(rest)
	if len(words) < 3 {
		return wire.Message{}, fmt.Errorf("init wants a table, or SHAPE SIZE PER")
	}
	last := len(words) - 3
	m, err := parseMessage(wire.Init, strings.Join(words[:last], " "))
	if err != nil {
		return m, err
	}
	size, err1 := strconv.Atoi(words[last+1])
	per, err2 := strconv.Atoi(words[last+2])
	if err1 != nil || err2 != nil {
		return m, fmt.Errorf("%s and %s are not two numbers", words[last+1], words[last+2])
	}
	part, err := Subtable(Table(words[last], size, per, false), v.id)
	m.Body = canonical.JSON(part)
	return m, err
}

func parseChild(rest string) (tree.Input, error) {
	number, rest, _ := strings.Cut(rest, " ")
	id, err := strconv.Atoi(number)
	if err != nil {
		return nil, err
	}
	verb, rest, _ := strings.Cut(rest, " ")
	verb, colon := strings.CutSuffix(verb, ":")
	if colon {
		rest = ": " + rest
	}
	kind, ok := map[string]wire.Kind{
		"reply": wire.Reply, "events": wire.Events, "ping": wire.Ping, "pong": wire.Pong, "command": wire.Command,
	}[verb]
	if !ok {
		return nil, fmt.Errorf("packet %q is not known", verb)
	}
	m, err := parseMessage(kind, rest)
	return tree.FromChild{Child: tree.NodeID(id), Msg: m}, err
}

func parseLink(verb, rest string) (tree.Input, error) {
	number, cause, _ := strings.Cut(rest, " ")
	id, err := strconv.Atoi(number)
	switch verb {
	case "connected":
		return tree.Connected{Child: tree.NodeID(id)}, err
	case "failed":
		return tree.ConnectFailed{Child: tree.NodeID(id), Cause: cause}, err
	}
	return tree.ChildLost{Child: tree.NodeID(id), Cause: cause}, err
}
