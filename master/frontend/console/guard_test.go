package console

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"sdm/master/session"
	"sdm/protocol/rank"
)

// A panic while an answer is processed or written costs only that answer: a line tells so, the log
// has the stack, and the call is complete.
func TestPanicCostsOneAnswer(t *testing.T) {
	var out, complaints, log bytes.Buffer
	c := newConsole(t.Context(), Config{
		Format: Text, All: rank.Range(0, 3), Out: &out, Err: &complaints, Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if s := c.text("stat", func() string { panic("negative Repeat count") }); !strings.HasPrefix(s, "sdm: stat: a defect of sdm in console/guard_test.go:") || strings.Count(s, "\n") != 1 {
		t.Errorf("%q", s)
	}
	x := &call{id: 7, quiet: true, then: func(*call) { panic("then") }}
	c.calls[7] = x
	c.await = await{call: x}
	c.takeGuarded(session.Event{Name: "done", ID: 7, Command: "print", Done: &session.Done{}})
	if !x.done || !strings.Contains(complaints.String(), "sdm: print: a defect of sdm in") {
		t.Errorf("done is %v, said %q", x.done, complaints.String())
	}
	if n := strings.Count(log.String(), "guard_test.go"); n < 2 {
		t.Errorf("the log lacks stacks: %s", log.String())
	}
}
