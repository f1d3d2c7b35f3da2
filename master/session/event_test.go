package session

import (
	"encoding/json"
	"testing"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// events are one of each kind, with the line for front ends. Each line is also decoded.
var events = []struct {
	name  string
	event Event
	line  string
}{
	{
		"stopped",
		NewEvent(group(protocol.KindStopped, "0-2,4-7", protocol.Stop{
			Reason: "breakpoint-hit", Breakpoint: 1,
			Frame: &protocol.Frame{Func: "compute", Args: []string{"n"}, File: "work.c", Line: 31},
		})),
		`{"event":"stopped","ranks":"0-2,4-7","n":7,"reason":"breakpoint-hit","breakpoint":1,"frame":{"level":0,"func":"compute","args":["n"],"file":"work.c","line":31}}`,
	},
	{
		"operator's angle brackets stay",
		NewEvent(group(protocol.KindStopped, "0", protocol.Stop{Reason: "entry", Frame: &protocol.Frame{Func: "operator<"}})),
		`{"event":"stopped","ranks":"0","n":1,"reason":"entry","frame":{"level":0,"func":"operator<"}}`,
	},
	{
		"reply",
		answer(12, "print", group(protocol.KindResult, "0-7", map[string]string{"expr": "n"})),
		`{"event":"reply","id":12,"command":"print","ranks":"0-7","n":8,"result":{"expr":"n"}}`,
	},
	{
		"statistics",
		answer(12, "stat", protocol.Group{
			Kind: protocol.KindResult, Ranks: rank.Range(0, 3), Body: []byte(`{"expr":"n"}`),
			Columns: []column.Column{column.Of("value", rank.Range(0, 2), "1", 64).Merge(column.New("value", 3, "2", 64))},
		}),
		`{"event":"reply","id":12,"command":"stat","ranks":"0-3","n":4,"result":{"expr":"n"},"columns":{"value":` +
			`{"distinct":2,"count":4,"min":{"value":1,"rank":0},"max":{"value":2,"rank":3},"mean":1.25,"stddev":0.4330127018922193,"limit":64,` +
			`"values":[{"value":"1","ranks":"0-2"},{"value":"2","ranks":"3"}],"quantiles":{"p1":1,"p5":1,"p25":1,"p50":1,"p75":1,"p95":2,"p99":2},` +
			`"histogram":[{"from":1,"to":2,"count":3},{"from":2,"to":3,"count":1}]}}}`,
	},
	{
		"empty reply",
		answer(2, "continue", group(protocol.KindResult, "0-7", struct{}{})),
		`{"event":"reply","id":2,"command":"continue","ranks":"0-7","n":8,"result":{}}`,
	},
	{
		"late reply",
		Event{Name: "reply", ID: 3, Command: "print", Late: true, Group: group(protocol.KindResult, "5", struct{}{})},
		`{"event":"reply","id":3,"command":"print","ranks":"5","n":1,"late":true,"result":{}}`,
	},
	{
		"error",
		answer(13, "print", group(protocol.KindFault, "3", protocol.Fault{
			Kind: protocol.FaultGDB, Message: `No symbol "foo" in current context.`, Hint: "look at info locals",
		})),
		`{"event":"error","id":13,"command":"print","ranks":"3","n":1,"kind":"gdb","message":"No symbol \"foo\" in current context.","hint":"look at info locals"}`,
	},
	{
		"missing: silent",
		answer(14, "print", group(protocol.KindMissing, "5", MissingOn("no answer in 10s", []string{"node17"}))),
		`{"event":"missing","id":14,"command":"print","ranks":"5","n":1,"waited":"10s","hosts":["node17"]}`,
	},
	{
		"missing: several hosts",
		answer(14, "print", group(protocol.KindMissing, "5,9", MissingOn("no answer in 10s", []string{"node17", "node18"}))),
		`{"event":"missing","id":14,"command":"print","ranks":"5,9","n":2,"waited":"10s","hosts":["node17","node18"]}`,
	},
	{
		"missing: another cause",
		answer(14, "print", group(protocol.KindMissing, "5", protocol.Missing{Cause: "no such rank in the tree"})),
		`{"event":"missing","id":14,"command":"print","ranks":"5","n":1,"cause":"no such rank in the tree"}`,
	},
	{
		"lost",
		NewEvent(group(protocol.KindLost, "8-15", protocol.Missing{Cause: "server 2 on node02: connection reset"})),
		`{"event":"lost","ranks":"8-15","n":8,"cause":"server 2 on node02: connection reset"}`,
	},
	{
		"output",
		NewEvent(protocol.Group{Kind: protocol.KindStdout, Ranks: ranks("0-7"), Body: []byte("hello <you> \"and\" \x00\n")}),
		`{"event":"output","ranks":"0-7","n":8,"stream":"stdout","text":"hello <you> \"and\" \u0000\n"}`,
	},
	{
		"output that is not UTF-8",
		NewEvent(protocol.Group{Kind: protocol.KindStderr, Ranks: ranks("1"), Body: []byte("\xff\xfe\n")}),
		`{"event":"output","ranks":"1","n":1,"stream":"stderr","data":"//4K"}`,
	},
	{
		"started",
		NewEvent(group(protocol.KindStarted, "0", protocol.Started{Program: "./a"})),
		`{"event":"started","ranks":"0","n":1,"program":"./a"}`,
	},
	{
		"running",
		NewEvent(group(protocol.KindRunning, "0", struct{}{})),
		`{"event":"running","ranks":"0","n":1}`,
	},
	{
		"exited",
		NewEvent(group(protocol.KindExited, "0-7", protocol.Exit{})),
		`{"event":"exited","ranks":"0-7","n":8,"code":0}`,
	},
	{
		"signalled",
		NewEvent(group(protocol.KindSignalled, "3", protocol.Exit{Signal: "SIGSEGV"})),
		`{"event":"signalled","ranks":"3","n":1,"signal":"SIGSEGV"}`,
	},
	{
		"note",
		NewEvent(group(protocol.KindNote, "", protocol.Note{Text: "the starter ends the job"})),
		`{"event":"note","ranks":"","n":0,"text":"the starter ends the job"}`,
	},
	{
		"done",
		Event{Name: DoneName, ID: 12, Command: "print", Done: &Done{Asked: 8, Answered: 8, Took: 3100 * time.Microsecond}},
		`{"event":"done","id":12,"command":"print","asked":8,"answered":8,"ms":3.1}`,
	},
	{
		"done with everything",
		Event{Name: DoneName, ID: 12, Command: "print", Done: &Done{
			Asked: 8, Answered: 5, Faults: 1, Missing: ranks("5"), Lost: ranks("6-7"), Took: time.Second,
		}},
		`{"event":"done","id":12,"command":"print","asked":8,"answered":5,"faults":1,"missing":"5","lost":"6-7","ms":1000}`,
	},
	{
		"done with a verdict",
		Event{Name: DoneName, ID: 3, Command: "stacks", Done: &Done{Asked: 2, Answered: 2, Took: time.Second,
			Verdict: []Finding{{Kind: "cause", Certain: true, Ranks: ranks("0-1"), Text: "0 waits for 1"}}}},
		`{"event":"done","id":3,"command":"stacks","asked":2,"answered":2,"verdict":[{"kind":"cause","certain":true,"ranks":"0-1","text":"0 waits for 1"}],"ms":1000}`,
	},
	{
		"a body that is no JSON",
		answer(1, "gdb", protocol.Group{Kind: protocol.KindResult, Ranks: ranks("0"), Body: []byte("{oops")}),
		`{"event":"reply","id":1,"command":"gdb","ranks":"0","n":1,"data":"e29vcHM="}`,
	},
}

func ranks(text string) rank.Set {
	var s rank.Set
	if err := s.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return s
}

func group(k protocol.Kind, set string, body any) protocol.Group {
	return protocol.Group{Kind: k, Ranks: ranks(set), Body: canonical.JSON(body)}
}

func answer(id protocol.RequestID, command string, g protocol.Group) Event {
	return Event{Name: g.Kind.String(), ID: id, Command: command, Group: g}
}

func TestEventJSON(t *testing.T) {
	for _, tt := range events {
		t.Run(tt.name, func(t *testing.T) {
			line := string(tt.event.AppendJSON(nil))
			if line != tt.line {
				t.Errorf("written:\n%s\nwant:\n%s", line, tt.line)
			}
			var back Event
			if err := json.Unmarshal([]byte(tt.line), &back); err != nil {
				t.Fatal(err)
			}
			if back.Name != tt.event.Name || back.Group.Kind != tt.event.Group.Kind || string(back.Group.Body) != string(tt.event.Group.Body) ||
				!back.Group.Ranks.Equal(tt.event.Group.Ranks) || back.Late != tt.event.Late || back.ID != tt.event.ID {
				t.Errorf("read back:\n%+v\nwant:\n%+v", back, tt.event)
			}
			if again := string(back.AppendJSON(nil)); again != tt.line {
				t.Errorf("written again:\n%s\nwant:\n%s", again, tt.line)
			}
		})
	}
}

func TestEventJSONColumnsStackAndWaits(t *testing.T) {
	e := answer(4, "print", group(protocol.KindResult, "0-1", map[string]string{"expr": "n"}))
	c := column.New("value", 0, "7", 0)
	c, d := c.Merge(column.New("value", 1, "8", 0)), column.New("addr", 0, "0x10", 0)
	e.Group.Columns = []column.Column{d, c}
	e.Group.Stack = stack.New(0, []stack.Frame{{Func: "main", File: "a.c", Line: 3}})
	e.Group.Waits = wait.Of(rank.Range(0, 1), wait.Rank{Waits: []wait.Message{{Peer: 7}}})
	line := e.AppendJSON(nil)
	if !json.Valid(line) {
		t.Fatalf("no JSON: %s", line)
	}
	var back Event
	if err := json.Unmarshal(line, &back); err != nil {
		t.Fatal(err)
	}
	if again := back.AppendJSON(nil); string(again) != string(line) {
		t.Errorf("written again:\n%s\nwant:\n%s", again, line)
	}
	if n := len(back.Group.Columns); n != 2 || back.Group.Columns[0].Name != "addr" {
		t.Errorf("columns: %+v", back.Group.Columns)
	}
}

func TestEventJSONOfANewerMaster(t *testing.T) {
	const line = `{"event":"adopted","ranks":"0-3","n":4,"by":"server 2","more":{"z":1,"a":[2]}}`
	var e Event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatal(err)
	}
	if again := string(e.AppendJSON(nil)); again != line {
		t.Errorf("written again: %s", again)
	}
}

func TestEventJSONRefuses(t *testing.T) {
	for name, line := range map[string]string{
		"no object":       `[1]`,
		"no event":        `{"id":1}`,
		"bad set":         `{"event":"reply","ranks":"3-1","result":{}}`,
		"bad id":          `{"event":"reply","id":"x","ranks":"1","result":{}}`,
		"ranks no text":   `{"event":"reply","ranks":3}`,
		"cut off":         `{"event":"reply"`,
		"set of millions": `{"event":"reply","ranks":"0-99999999999"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var e Event
			if err := json.Unmarshal([]byte(line), &e); err == nil {
				t.Errorf("accepted: %+v", e)
			}
		})
	}
}

func FuzzEventJSON(f *testing.F) {
	for _, tt := range events {
		f.Add([]byte(tt.line))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var e Event
		if e.UnmarshalJSON(b) != nil {
			return
		}
		line := e.AppendJSON(nil)
		if !json.Valid(line) {
			t.Fatalf("%q became no JSON: %q", b, line)
		}
		var back Event
		if err := back.UnmarshalJSON(line); err != nil {
			t.Fatalf("%s cannot be read back: %v", line, err)
		}
		if again := back.AppendJSON(nil); string(again) != string(line) {
			t.Fatalf("%s became %s", line, again)
		}
	})
}
