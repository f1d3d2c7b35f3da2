package session

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// scattered returns n ranks, no two of them adjacent.
func scattered(first, n int) rank.Set {
	ids := make([]rank.ID, n)
	for i := range ids {
		ids[i] = rank.ID(first + 2*i)
	}
	return rank.Of(ids...)
}

// parity is the answer of so many ranks to "print rank % 2".
func parity(ranks int) Event {
	c := column.OfValues("value", []column.ValueCount{
		{Value: "0", Ranks: scattered(0, ranks/2)}, {Value: "1", Ranks: scattered(1, ranks/2)},
	}, column.DefaultLimit)
	e := NewEvent(protocol.Group{
		Kind: protocol.KindResult, Ranks: rank.Range(0, rank.ID(ranks-1)), Body: []byte(`{"expr":"rank % 2"}`),
		Columns: []column.Column{c},
	})
	e.ID, e.Command = 3, "print"
	return e
}

func TestBriefEvent(t *testing.T) {
	const ranks = 1 << 17
	line := string(parity(ranks).AppendBrief([]byte("before ")))
	if len(line) > 2<<10 || !json.Valid([]byte(strings.TrimPrefix(line, "before "))) {
		t.Errorf("%d bytes: %.500s", len(line), line)
	}
	for _, want := range []string{
		`before {"event":"reply","id":3,"command":"print","ranks":"0-131071","n":131072,"result":{"expr":"rank % 2"}`,
		`{"value":"0","ranks":"0,2,4,`, `,150,152,...+65459"}`, `{"value":"1","ranks":"1,3,5,`, `...+6545`,
	} {
		if !strings.Contains(line, want) {
			t.Errorf("%s is not in %.1000s", want, line)
		}
	}
	var back Event
	if err := back.UnmarshalJSON([]byte(strings.TrimPrefix(line, "before "))); err == nil {
		t.Errorf("a cut set was taken for a set: %v", back.Group.Columns)
	}
	if _, err := rank.Parse("0,2,4,...+65459", rank.Env{}); err == nil {
		t.Error("a cut set was taken for a set")
	}
}

func TestBriefLeavesAlone(t *testing.T) {
	many := scattered(0, 200_000).String()
	for name, e := range map[string]Event{
		"an event of a small job": parity(1000),
		"what ranks have written": NewEvent(protocol.Group{
			Kind: protocol.KindStdout, Ranks: rank.Of(1), Body: []byte(`"ranks":"` + many + `"` + "\n"),
		}),
		"values": NewEvent(protocol.Group{
			Kind: protocol.KindResult, Ranks: rank.Of(1), Body: canonical.JSON(map[string]string{"text": many, `"ranks`: "x"}),
		}),
	} {
		t.Run(name, func(t *testing.T) {
			if whole, brief := e.AppendJSON(nil), e.AppendBrief(nil); !bytes.Equal(whole, brief) {
				t.Errorf("%d bytes became %d", len(whole), len(brief))
			}
		})
	}
}

// Sets in all kinds of events are truncated: in done, stacks, and within results.
func TestBriefOfAllSets(t *testing.T) {
	many := scattered(0, 20_000)
	stack := stack.Of(many, []stack.Frame{{Func: "f"}, {Func: "main"}})
	for name, e := range map[string]Event{
		"event":  NewEvent(protocol.Group{Kind: protocol.KindRunning, Ranks: many}),
		"result": NewEvent(protocol.Group{Kind: protocol.KindResult, Ranks: rank.Of(1), Body: canonical.JSON(map[string]any{"set": many})}),
		"stack":  NewEvent(protocol.Group{Kind: protocol.KindResult, Ranks: many, Stack: stack}),
		"done":   {Name: "done", Done: &Done{Asked: 40_000, Missing: many, Lost: many, Took: time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			line := e.AppendBrief(nil)
			if len(line) > 2000 || !json.Valid(line) || !bytes.Contains(line, []byte(",...+1")) {
				t.Errorf("%d bytes: %.1000s", len(line), line)
			}
		})
	}
}

// Sets in a report are truncated as in events, also sets of servers.
func TestBriefReport(t *testing.T) {
	hosts := make([]string, 20)
	for i := range hosts {
		hosts[i] = "node" + strconv.Itoa(i)
	}
	r := Report{Servers: 8192, Ranks: scattered(0, 8192), Absent: []Absent{{Servers: scattered(1, 4096), Ranks: scattered(1, 4096), Hosts: hosts, Cause: "no answer"}}}
	line := string(Brief(canonical.JSON(r)))
	if len(line) > 2<<10 || !json.Valid([]byte(line)) || strings.Count(line, ",...+") != 3 || !strings.HasPrefix(line, `{"servers":8192,"ranks":"0,2,4,`) {
		t.Errorf("%d bytes: %.1000s", len(line), line)
	}
	if text := r.Err().Error(); len(text) > 1<<10 || !strings.Contains(text, ",...+") || !strings.HasSuffix(text, ",node14,node15 and 4 more: no answer") {
		t.Errorf("%d bytes: %.1000s", len(text), text)
	}
	r.Ranks, r.Absent[0].Servers, r.Absent[0].Ranks = scattered(0, 100), scattered(1, 100), scattered(1, 100)
	if short := canonical.JSON(r); string(Brief(short)) != string(short) {
		t.Errorf("a short report was cut: %.1000s", Brief(short))
	}
}
