package ptp

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// pointers is a session in which p is a pointer, to another address on each rank. The target has
// members of many types with names.
type pointers struct {
	session.Session
	front *front

	mu       sync.Mutex
	last     protocol.RequestID
	resolved int // names of types that were looked up
}

const members = maxResolved - 4

func (s *pointers) Do(_ context.Context, c session.Call) (protocol.RequestID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	id := s.last
	ranks, err := rank.Parse(c.Ranks, rank.Env{All: rank.Range(0, 3)})
	if err != nil {
		return 0, err
	}
	g := protocol.Group{Kind: protocol.KindResult, Ranks: ranks}
	text := ""
	switch expr := c.Args.Expr; c.Command + " " + expr {
	case "print p":
		for r := range ranks.All() {
			g.Columns = append(g.Columns, column.New("value", r, fmt.Sprint(4096+r), -1))
		}
		g.Columns = []column.Column{merged(g.Columns)}
	case "print sizeof(p)":
		g.Columns = []column.Column{column.Of("value", ranks, "8", -1)}
	case "print sizeof(*(p))":
		g.Columns = []column.Column{column.Of("value", ranks, fmt.Sprint(4*members), -1)}
	case "whatis p", "ptype p":
		text = "type = struct big *"
	case "whatis *(p)":
		text = "type = struct big"
	case "ptype *(p)":
		text = "/* offset      |    size */  type = struct big {\n"
		for i := range members {
			text += fmt.Sprintf("/*      %d      |       4 */    t%d m%d;\n", 4*i, i, i)
		}
		text += "}"
	default:
		if c.Command == "ptype" && strings.HasPrefix(expr, "t") {
			s.resolved++
			text = "type = int"
		}
	}
	g.Body = canonical.JSON(textBody{text})
	go func() {
		s.front.answer(session.Event{ID: id, Group: g})
		s.front.answer(session.Event{ID: id, Done: &session.Done{}})
	}()
	return id, nil
}

func merged(columns []column.Column) column.Column {
	all := columns[0]
	for _, c := range columns[1:] {
		all = all.Merge(c)
	}
	return all
}

// The bound of names that are looked up is for the whole value, also if each rank has another
// target.
func TestNamesOfAValueAreBounded(t *testing.T) {
	f := newFront(slog.New(slog.DiscardHandler))
	s := &pointers{front: f}
	f.sess = s
	j := &action{front: f, ranks: rank.Range(0, 3), what: "EVALUATE EXPRESSION"}
	v := &valuer{action: j, whole: true}
	if found := v.values(t.Context(), "p", j.ranks, true); len(found) != 4 {
		t.Errorf("%d values, want one of each rank", len(found))
	}
	if s.resolved < members || s.resolved > maxResolved {
		t.Errorf("%d names were looked up, want %d to %d", s.resolved, members, maxResolved)
	}
}
