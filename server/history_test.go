package server

import (
	"strconv"
	"strings"
	"testing"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// keptValues returns a history with one request, number 7, to which rank r answered r/10.
func keptValues(ranks rank.Set, limit int) *history {
	h := &history{}
	for r := range ranks.All() {
		h.add(7, []protocol.Group{{
			Kind: protocol.KindResult, Ranks: rank.Of(r), Body: []byte(`{"expr":"x"}`),
			Columns: []column.Column{column.New("value", r, strconv.Itoa(int(r)/10), limit)},
		}})
	}
	return h
}

// Ranks are divided by the hash of their value only, whatever the limit of the columns.
func TestExpandByHash(t *testing.T) {
	h := keptValues(rank.Range(0, 39), 1)
	got := map[string]rank.Set{}
	for _, g := range h.expand(rank.Range(5, 44), protocol.Args{Of: 7, Hash: column.Hash("2")}) {
		if g.Kind == protocol.KindFault {
			got["fault"] = got["fault"].Union(g.Ranks)
			continue
		}
		got[string(g.Body)] = got[string(g.Body)].Union(g.Ranks)
	}
	for body, want := range map[string]string{`{"same":true}`: "20-29", `{"same":false}`: "5-19,30-39", "fault": "40-44"} {
		if got[body].String() != want {
			t.Errorf("%s: %v, want %s", body, got[body], want)
		}
	}
}

// A back end may give more values than the column may keep: they are kept in the history and not
// sent up.
func TestReplyIsFolded(t *testing.T) {
	var list []column.ValueCount
	for r := range 20 {
		list = append(list, column.ValueCount{Value: strconv.Itoa(r), Ranks: rank.Of(rank.ID(r))})
	}
	whole := protocol.Group{
		Kind: protocol.KindResult, Ranks: rank.Range(0, 19), Body: []byte(`{"expr":"x"}`),
		Columns: []column.Column{column.OfValues("value", list, 4)},
	}
	h := &history{}
	h.add(1, []protocol.Group{whole})
	if g := limited([]protocol.Group{whole})[0]; g.Columns[0].Complete() {
		t.Errorf("%v goes up with all its values", g)
	}
	if !whole.Columns[0].Complete() {
		t.Error("the group of the history was changed")
	}
	out := h.expand(rank.Range(3, 4), protocol.Args{Of: 1, Limit: -1})
	if len(out) != 1 || !strings.HasSuffix(out[0].String(), "value=3[3]|4[4]") {
		t.Errorf("got %v", out)
	}
}

// TestHistoryIsBounded keeps the last answers, within the bounds of their number and of their bytes.
func TestHistoryIsBounded(t *testing.T) {
	answer := func(size int) []protocol.Group {
		return []protocol.Group{{Kind: protocol.KindResult, Ranks: rank.Range(0, 1023), Body: []byte(strings.Repeat("x", size))}}
	}
	for _, c := range []struct{ size, requests, want int }{
		{size: 10, requests: 2 * keptAnswers, want: keptAnswers},
		{size: 3 << 20, requests: 20, want: 5},
		{size: 20 << 20, requests: 3, want: 1},
	} {
		h := &history{}
		for id := range c.requests {
			h.add(protocol.RequestID(id+1), answer(c.size))
		}
		bytes := 0
		for _, a := range h.answers {
			bytes += a.bytes
		}
		last := h.answers[len(h.answers)-1].id
		if len(h.answers) != c.want || h.bytes != bytes || last != protocol.RequestID(c.requests) {
			t.Errorf("%+v: %d answers of %d bytes, not %d, up to %d", c, len(h.answers), h.bytes, bytes, last)
		}
	}
}
