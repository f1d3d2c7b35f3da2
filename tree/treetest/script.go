// Scripts for a whole network.

package treetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/tree"
)

// Script is a network that executes the lines of a script, each at its time:
//
//	@0s init 10s                         the wait
//	@10ms command #2 0-5 1s mod 2; silent 3
//	@20ms says 4: stdout 4 "hello\n"; stopped 4 main     back end of server 4
//	@30ms kill 4 | cut 4 CAUSE | freeze 4 20s | refuse 4 CAUSE | delay 5ms | quit
//
// The words of a command define the answers of the simulated back ends: "mod N"
// answers with the rank modulo N, "value" with a column, "fault SET" with a fault,
// "slow D SET" after a time, "silent SET" never. Without any of them all ranks
// answer the same.
type Script struct {
	net     *Net
	master  *Master
	shown   int // number of lines of the log that Exec has returned
	refused map[tree.NodeID]string
	delay   time.Duration
}

// NewScript returns a network for a table.
func NewScript(t protocol.RouteTable) *Script {
	s := &Script{master: NewMaster(), refused: make(map[tree.NodeID]string), delay: time.Millisecond}
	s.net = NewNet(Config{
		Table: t, Backend: Play, Master: s.master.Receive,
		Delay: func(from, to tree.NodeID) time.Duration { return s.delay },
		Dial:  func(c tree.NodeID) (time.Duration, string) { return 2 * s.delay, s.refused[c] },
	})
	return s
}

// Exec schedules the lines, runs the network until the given time, and returns what
// the master has received since the last call.
func (s *Script) Exec(until time.Duration, script string) string {
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		at, rest, _ := strings.Cut(strings.TrimPrefix(line, "@"), " ")
		d, err := time.ParseDuration(at)
		if err != nil {
			return err.Error() + "\n"
		}
		do, err := s.parse(rest)
		if err != nil {
			return err.Error() + "\n"
		}
		s.net.After(d-s.net.Now(), do)
	}
	s.net.Run(until - s.net.Now())
	text := ""
	for _, line := range s.master.Log[s.shown:] {
		text += line + "\n"
	}
	s.shown = len(s.master.Log)
	for _, e := range s.master.Errors {
		text += "BROKEN: " + e + "\n"
	}
	return text
}

func (s *Script) parse(line string) (func(), error) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "init":
		wait, err := time.ParseDuration(rest)
		return func() { s.master.Build(s.net, 1, wait) }, err
	case "command":
		return s.parseCommand(rest)
	case "says":
		return s.parseSays(rest)
	case "kill", "cut", "refuse", "freeze":
		return s.parseEnd(verb, rest)
	case "delay":
		d, err := time.ParseDuration(rest)
		return func() { s.delay = d }, err
	case "quit":
		return s.net.Quit, nil
	}
	return nil, fmt.Errorf("%q is not known", verb)
}

func (s *Script) parseCommand(rest string) (func(), error) {
	words := strings.SplitN(rest, " ", 4)
	if len(words) < 3 {
		return nil, fmt.Errorf("command wants #ID RANKS WAIT [WORDS]")
	}
	id, err := strconv.Atoi(strings.TrimPrefix(words[0], "#"))
	if err != nil {
		return nil, err
	}
	ranks, err := ParseRanks(words[1])
	if err != nil {
		return nil, err
	}
	wait, err := time.ParseDuration(words[2])
	body := strings.Join(words[3:], "")
	return func() { s.master.Ask(s.net, protocol.RequestID(id), ranks, wait, body) }, err
}

func (s *Script) parseSays(rest string) (func(), error) {
	number, rest, _ := strings.Cut(rest, ":")
	id, err := strconv.Atoi(number)
	if err != nil {
		return nil, err
	}
	groups, err := ParseGroups(rest)
	return func() { s.net.Server(protocol.ServerID(id)).Events(groups...) }, err
}

func (s *Script) parseEnd(verb, rest string) (func(), error) {
	number, cause, _ := strings.Cut(rest, " ")
	id, err := strconv.Atoi(number)
	server := protocol.ServerID(id)
	switch verb {
	case "kill":
		return func() { s.net.Kill(server) }, err
	case "freeze":
		d, err := time.ParseDuration(cause)
		return func() { s.net.Freeze(server, d) }, err
	case "cut":
		return func() { s.net.Cut(server, cause) }, err
	}
	return func() { s.refused[tree.NodeID(id+1)] = cause }, err
}

// Play is a Backend that answers as the words of a command define (see Script).
// Each rank answers separately.
func Play(s *Server, d tree.Deliver) {
	for r := range d.Ranks.All() {
		g := protocol.Group{Kind: protocol.KindResult, Ranks: rank.Of(r), Body: []byte("{}")}
		after, silent := time.Duration(0), false
		for part := range strings.SplitSeq(string(d.Body), ";") {
			words := strings.Fields(part)
			if len(words) == 0 {
				continue
			}
			set, _ := ParseRanks(words[len(words)-1])
			switch words[0] {
			case "mod":
				n, _ := strconv.Atoi(words[1])
				g.Body = fmt.Appendf(nil, `{"mod":%d}`, int(r)%n)
			case "value":
				g.Columns = []column.Column{column.New("value", r, strconv.Itoa(int(r)), 0)}
			case "fault":
				if set.Contains(r) {
					g.Kind, g.Body = protocol.KindFault, []byte(`{"kind":"gdb","message":"no"}`)
				}
			case "slow":
				if set.Contains(r) {
					after, _ = time.ParseDuration(words[1])
				}
			case "silent":
				silent = silent || set.Contains(r)
			}
		}
		if !silent {
			s.After(after, func() { s.Reply(d.ID, g) })
		}
	}
}
