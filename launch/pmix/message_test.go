package pmix

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

var requests = []Request{
	{ID: 1, Call: CallConnect, Info: []Info{String(ServerURI, "ns.0;tcp4://127.0.0.1:1")}},
	{ID: 2, Call: CallQuery, Key: QueryTable, Info: []Info{String(Nspace, "job@1")}},
	{ID: 3, Call: CallSpawn, Info: []Info{True(StopInInit), OfProc(DebugTarget, All("job@1")), Number(DaemonsPerNode, Uint16, 1)},
		Apps: []App{{Argv: []string{"/bin/app", "a b", ""}, Env: []string{"A=1"}, Dir: "/", Procs: 3, Info: []Info{OfEnvar(SetEnvar, Envar{"A", "x", ":"})}}}},
	{ID: 4, Call: CallNotify, Event: DebuggerRelease, Targets: []Proc{{"job@1", 2}}},
	{ID: 5, Call: CallPush, Targets: []Proc{{"job@2", 0}}, Data: []byte{0, 255}, End: true},
	{ID: 6, Call: CallFinalize},
}

var messages = []Message{
	{Hello: 1, Library: "OpenPMIx 4.2.2"},
	{ID: 2, Text: "SUCCESS", Info: []Info{{Key: QueryTable, Value: Value{Type: Table, Table: []ProcInfo{{Proc{"job@1", 0}, "n0", "/app", 4711, 0, StateConnected}}}}}},
	{ID: 3, Status: FailedToMap, Text: "JOB FAILED TO MAP"},
	{Event: JobEnd, Source: &Proc{"server", 0}, Info: []Info{OfProc(AffectedProc, All("job@1")), Number(ExitCode, Int, 139)}},
}

func TestRequests(t *testing.T) {
	for _, r := range requests {
		line, err := AppendLine(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseRequest(line)
		if err != nil || !reflect.DeepEqual(back, r) {
			t.Errorf("%s\nis read as %+v, %v", line, back, err)
		}
	}
}

func TestMessages(t *testing.T) {
	for _, m := range messages {
		line, err := AppendLine(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseMessage(line)
		if err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%s\nis read as %+v, %v", line, back, err)
		}
	}
}

func TestRefusedLines(t *testing.T) {
	long := strings.Repeat("a", maxKey+1)
	for name, c := range map[string]struct {
		line, want string
		message    bool
	}{
		"no number":       {`{"call":"query"}`, "without a number", false},
		"unknown call":    {`{"id":1,"call":"abort"}`, `unknown call "abort"`, false},
		"unknown field":   {`{"id":1,"call":"query","x":1}`, "unknown field", false},
		"two objects":     {`{"id":1,"call":"finalize"}{}`, "more than one object", false},
		"no program":      {`{"id":1,"call":"spawn"}`, "without a program", false},
		"empty program":   {`{"id":1,"call":"spawn","apps":[{"argv":[],"procs":1}]}`, "without a name", false},
		"negative ranks":  {`{"id":1,"call":"spawn","apps":[{"argv":["a"],"procs":-1}]}`, "-1 processes of a", false},
		"no target":       {`{"id":1,"call":"control"}`, "without a target", false},
		"get of nothing":  {`{"id":1,"call":"get","key":"k"}`, "without a process", false},
		"long key":        {`{"id":1,"call":"log","info":[{"key":"` + long + `","type":"bool"}]}`, "1 to 511 bytes", false},
		"unknown type":    {`{"id":1,"call":"log","info":[{"key":"k","type":"float"}]}`, `unknown type "float"`, false},
		"proc without":    {`{"id":1,"call":"log","info":[{"key":"k","type":"proc"}]}`, "without a value", false},
		"separator":       {`{"id":1,"call":"log","info":[{"key":"k","type":"envar","envar":{"name":"A","value":"","separator":"::"}}]}`, "not one byte", false},
		"nothing":         {`{}`, "neither", true},
		"reply and event": {`{"id":1,"event":-58}`, "neither", true},
		"not JSON":        {`hello`, "invalid character", true},
	} {
		var err error
		if c.message {
			_, err = ParseMessage([]byte(c.line))
		} else {
			_, err = ParseRequest([]byte(c.line))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestLargePush(t *testing.T) {
	r := Request{ID: 1, Call: CallPush, Targets: []Proc{{"a", 0}}, Data: make([]byte, MaxPush+1)}
	if err := r.check(); err == nil {
		t.Error("a push that kills PRRTE 3.0.8 is permitted")
	}
}

func TestDeepArrays(t *testing.T) {
	v := Value{Type: Infos}
	for range maxDepth + 2 {
		v = Value{Type: Infos, Infos: []Info{{Key: "k", Value: v}}}
	}
	if err := v.check(0); err == nil {
		t.Error("arrays of any depth are permitted")
	}
}

func TestLines(t *testing.T) {
	l := NewLines(strings.NewReader("a\n\nb"))
	for _, want := range []string{"a", "b"} {
		if line, err := l.Next(); err != nil || string(line) != want {
			t.Errorf("%q, %v", line, err)
		}
	}
	if _, err := l.Next(); err != io.EOF {
		t.Error(err)
	}
	broken := errors.New("broken")
	if _, err := NewLines(io.MultiReader(bytes.NewReader([]byte("a")), errReader{broken})).Next(); err != nil && !errors.Is(err, broken) {
		t.Error(err)
	}
}

type errReader struct{ error }

func (e errReader) Read([]byte) (int, error) { return 0, e.error }

// FuzzMessage checks that what is read is written so that it is read as the same.
func FuzzMessage(f *testing.F) {
	for _, m := range messages {
		line, _ := AppendLine(nil, m)
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := ParseMessage(line)
		if err != nil {
			return
		}
		again(t, m, func(b []byte) (any, error) { m, err := ParseMessage(b); return m, err })
	})
}

// FuzzRequest is FuzzMessage for requests.
func FuzzRequest(f *testing.F) {
	for _, r := range requests {
		line, _ := AppendLine(nil, r)
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := ParseRequest(line)
		if err != nil {
			return
		}
		again(t, r, func(b []byte) (any, error) { r, err := ParseRequest(b); return r, err })
	})
}

func again(t *testing.T, value any, parse func([]byte) (any, error)) {
	t.Helper()
	first, err := AppendLine(nil, value)
	if err != nil {
		t.Fatal(err)
	}
	back, err := parse(first)
	if err != nil {
		t.Fatalf("%s: %v", first, err)
	}
	if second, err := AppendLine(nil, back); err != nil || !bytes.Equal(first, second) {
		t.Errorf("%s\n%s\n%v", first, second, err)
	}
}
