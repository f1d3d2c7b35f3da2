// The language in which scripts write packets and groups.
//
//	group:   KIND RANKS [BODY] [NAME=VALUE…]     stopped 0-3 {"at":"main"} x=1
//	packet:  words like  #3 [0-3] wait=10s late  then a colon and the groups,
//	         separated by semicolons
//
// A body is one word, or quoted as in Go. A column has the given value for each
// rank; a VALUE * is the number of the rank.

package treetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

var kinds = map[string]protocol.Kind{
	"result": protocol.KindResult, "fault": protocol.KindFault, "missing": protocol.KindMissing, "lost": protocol.KindLost,
	"started": protocol.KindStarted, "running": protocol.KindRunning, "stopped": protocol.KindStopped,
	"exited": protocol.KindExited, "detached": protocol.KindDetached,
	"stdout": protocol.KindStdout, "stderr": protocol.KindStderr, "note": protocol.KindNote, "logged": protocol.KindLogged,
	"loading": protocol.KindLoading,
}

var flags = map[string]wire.Flags{"late": wire.Late, "final": wire.Final, "partial": wire.Partial, "again": wire.Again, "from-root": wire.FromRoot,
	"master-lost": wire.MasterLost}

// ParseGroups parses groups separated by semicolons.
func ParseGroups(text string) ([]protocol.Group, error) {
	var groups []protocol.Group
	for part := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		g, err := ParseGroup(part)
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// ParseGroup parses one group.
func ParseGroup(text string) (protocol.Group, error) {
	words, err := split(text)
	if err != nil || len(words) < 2 {
		return protocol.Group{}, fmt.Errorf("group %q is not KIND RANKS [BODY] [NAME=VALUE]", text)
	}
	var g protocol.Group
	kind, ok := kinds[words[0]]
	if !ok {
		return g, fmt.Errorf("kind %q is not known", words[0])
	}
	g.Kind = kind
	if g.Ranks, err = ParseRanks(words[1]); err != nil {
		return g, err
	}
	for _, w := range words[2:] {
		if name, value, ok := strings.Cut(w, "="); ok && w[0] != '{' {
			g.Columns = append(g.Columns, constant(name, value, g.Ranks))
		} else {
			g.Body = []byte(w)
		}
	}
	return g, nil
}

// ParseRanks parses a set in the form that its String returns; "-" is the empty
// set.
func ParseRanks(text string) (rank.Set, error) {
	var s rank.Set
	if text == "-" {
		return s, nil
	}
	return s, s.UnmarshalText([]byte(text))
}

// constant returns a column with the same value for each rank, or, for "*", with
// the number of each rank.
func constant(name, value string, ranks rank.Set) column.Column {
	var sum column.Column
	for r := range ranks.All() {
		v := value
		if v == "*" {
			v = strconv.Itoa(int(r))
		}
		c := column.New(name, r, v, 0)
		if sum.Name != "" {
			c = sum.Merge(c)
		}
		sum = c
	}
	return sum
}

// parseMessage parses the words of a packet and, after a colon, its groups.
func parseMessage(kind wire.Kind, text string) (m wire.Message, err error) {
	m.Kind = kind
	head, groups, _ := strings.Cut(text, ": ")
	if kind == wire.Command || kind == wire.Init || kind == wire.GivenUp { // bodies may contain colons
		head, groups = text, ""
	}
	if m.Groups, err = ParseGroups(groups); err != nil {
		return m, err
	}
	words, err := split(head)
	if err != nil {
		return m, err
	}
	for _, w := range words {
		if err := parseWord(&m, w); err != nil {
			return m, err
		}
	}
	return m, nil
}

// parseMark parses SERVERS:LAST.
func parseMark(m *wire.Message, w string) error {
	servers, number, _ := strings.Cut(w, ":")
	set, err := ParseRanks(servers)
	if err != nil {
		return err
	}
	last, err := strconv.ParseUint(number, 10, 64)
	m.Marks = append(m.Marks, wire.Mark{Servers: set, Last: last})
	return err
}

func parseWord(m *wire.Message, w string) error {
	switch {
	case flags[w] != 0:
		m.Flags |= flags[w]
	case strings.HasPrefix(w, "#"):
		id, err := strconv.ParseUint(w[1:], 10, 64)
		m.ID = protocol.RequestID(id)
		return err
	case strings.HasPrefix(w, "["):
		set, err := ParseRanks(strings.Trim(w, "[]"))
		m.Ranks = set
		return err
	case strings.HasPrefix(w, "epoch="):
		epoch, err := strconv.ParseUint(w[len("epoch="):], 10, 64)
		m.Epoch = epoch
		return err
	case strings.HasPrefix(w, "running="):
		set, err := ParseRanks(w[len("running="):])
		m.Running = set
		return err
	case strings.HasPrefix(w, "mark="):
		return parseMark(m, w[len("mark="):])
	case strings.HasPrefix(w, "wait="):
		d, err := time.ParseDuration(w[len("wait="):])
		m.Wait = d
		return err
	default:
		m.Body = []byte(w)
	}
	return nil
}

// split splits a line into words; a word that begins with a quote is quoted as in
// Go.
func split(line string) ([]string, error) {
	var words []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			q, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("quoted text %s does not end", line)
			}
			word, err := strconv.Unquote(q)
			if err != nil {
				return nil, err
			}
			words, line = append(words, word), line[len(q):]
			continue
		}
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		words, line = append(words, line[:end]), line[end:]
	}
	return words, nil
}
