package server

import (
	"errors"
	"slices"
	"testing"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// TestStage passes the pieces on in order, and reports why one is refused. A gdb that comes after
// the ranks is of no use.
func TestStage(t *testing.T) {
	b := newBench(t, nil)
	piece := protocol.Args{Piece: &protocol.Piece{Dir: "/d", Packed: 5, Data: []byte("abc")}}
	if got, want := b.ask(t, 2, "stage", piece), []string{`error [0-1] {"kind":"usage","op":"stage","message":"no gdb can be brought to this server"}`}; !slices.Equal(got, want) {
		t.Errorf("a server that cannot take it: %q", got)
	}
	var data []byte
	b.cfg.Stage = func(p protocol.Piece) error {
		if p.At != int64(len(data)) {
			return errors.New("/d: it is full")
		}
		data = append(data, p.Data...)
		return nil
	}
	if got, want := b.ask(t, 2, "stage", piece), []string{`reply [0-1] {}`}; !slices.Equal(got, want) || string(data) != "abc" {
		t.Errorf("%q, %s", got, data)
	}
	if got, want := b.ask(t, 2, "stage", piece), []string{`error [0-1] {"kind":"state","op":"stage","message":"/d: it is full"}`}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got, want := b.ask(t, 2, "stage", protocol.Args{}), []string{`error [0-1] {"kind":"usage","op":"stage","message":"no gdb can be brought to this server"}`}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	b.shell(t, 1, "sleep 1000", rank.Set{})
	if got, want := b.ask(t, 1, "stage", piece), []string{`error [0] {"kind":"state","op":"stage","message":"its ranks are debugged already"}`}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestNote checks that the note is sent once, with the first ranks.
func TestNote(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Note = "no room" })
	b.shell(t, 2, "sleep 1000", rank.Set{})
	b.up.untilLine(t, `note [0-1] {"text":"no room"}`)
	b.ask(t, 1, "kill", protocol.Args{})
	b.shell(t, 1, "sleep 1000", rank.Set{})
	if n := b.up.kinds[protocol.KindNote]; n != 2 {
		t.Errorf("notes to %d ranks", n)
	}
}
