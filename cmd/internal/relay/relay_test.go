package relay

import (
	"strings"
	"testing"

	"sdm/protocol"
)

// TestEvents checks that each line of a pipe becomes one event, with its writer and its stream.
func TestEvents(t *testing.T) {
	var out strings.Builder
	var r Relay
	stdout := r.Pipe(Writer{&out, "starter", protocol.KindStdout})
	if stdout == nil {
		t.Fatal("no pipe")
	}
	stdout.WriteString("one\ntwo")
	r.Close()
	want := `{"event":"output","ranks":"","n":0,"from":"starter","stream":"stdout","text":"one\n"}
{"event":"output","ranks":"","n":0,"from":"starter","stream":"stdout","text":"two"}
`
	if out.String() != want {
		t.Errorf("wrote\n%s\nwant\n%s", out.String(), want)
	}
}
