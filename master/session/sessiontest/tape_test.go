package sessiontest

import (
	"context"
	"strings"
	"testing"

	"sdm/master/session"
)

const tapeText = `
# what a front end sees of two calls
{"event":"note","ranks":"","n":0,"text":"hello"}
> print n
{"event":"reply","ranks":"0-3","n":4,"result":{"expr":"n"}}
> prnit
! unknown command "prnit"
> continue
{"event":"running","ranks":"0-3","n":4}
{"event":"reply","ranks":"0-3","n":4,"result":{}}
{"event":"done","asked":4,"answered":4,"ms":1}
{"event":"exited","ranks":"0-3","n":4,"code":0}
`

func TestTape(t *testing.T) {
	tape, err := ReadTape(tapeText)
	if err != nil {
		t.Fatal(err)
	}
	var errors []string
	for _, command := range []string{"print", "prnit", "continue", "more"} {
		if _, err := tape.Do(context.Background(), session.Call{Command: command}); err != nil {
			errors = append(errors, err.Error())
		}
	}
	closed := make(chan error, 1)
	go func() { closed <- tape.Close(context.Background()) }()
	var lines []string
	for e := range tape.Events() {
		lines = append(lines, string(e.AppendJSON(nil)))
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	want := strings.Join([]string{
		`{"event":"note","ranks":"","n":0,"text":"hello"}`,
		`{"event":"reply","id":1,"command":"print","ranks":"0-3","n":4,"result":{"expr":"n"}}`,
		`{"event":"done","id":1,"command":"print","asked":4,"answered":4,"ms":0}`,
		`{"event":"running","ranks":"0-3","n":4}`,
		`{"event":"reply","id":3,"command":"continue","ranks":"0-3","n":4,"result":{}}`,
		`{"event":"done","id":3,"command":"continue","asked":4,"answered":4,"ms":1}`,
		`{"event":"exited","ranks":"0-3","n":4,"code":0}`,
	}, "\n")
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("events:\n%s\nwant:\n%s", got, want)
	}
	if got := strings.Join(errors, "; "); got != `unknown command "prnit"; the tape has ended` {
		t.Errorf("errors: %s", got)
	}
	if calls := tape.Calls(); len(calls) != 4 || calls[2].Command != "continue" {
		t.Errorf("calls: %+v", calls)
	}
}

func TestReadTapeNamesTheLine(t *testing.T) {
	_, err := ReadTape("> print\n\nnonsense\n")
	if err == nil || !strings.HasPrefix(err.Error(), "line 3: ") {
		t.Errorf("error %v", err)
	}
}
