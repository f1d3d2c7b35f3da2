package server

import (
	"strings"
	"testing"

	"sdm/protocol"
)

// A panic in one request makes a fault for all its ranks, and the next request is carried out.
func TestPanicCostsOneRequest(t *testing.T) {
	b := newBench(t, nil)
	b.cfg.Engine = func() string { panic("sabotage") }
	got := strings.Join(b.ask(t, 2, "info hosts", protocol.Args{}), "\n")
	if !strings.Contains(got, "error [0-1]") || !strings.Contains(got, "a defect of sdm in server/defect_test.go:") || !strings.Contains(got, ": sabotage") {
		t.Errorf("got %s", got)
	}
	b.cfg.Engine = func() string { return "gdb 99.1" }
	if got := strings.Join(b.ask(t, 2, "info hosts", protocol.Args{}), "\n"); !strings.Contains(got, "gdb 99.1") {
		t.Errorf("then %s", got)
	}
}
