package server

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCutter(t *testing.T) {
	full := strings.Repeat("x", maxLine)
	cases := []struct {
		name         string
		pieces, want []string
	}{
		{"nothing", nil, nil},
		{"one line", []string{"a\n"}, []string{"a\n"}},
		{"empty lines", []string{"\n\n"}, []string{"\n", "\n"}},
		{"joined", []string{"a", "b\nc"}, []string{"ab\n", "(c)"}},
		{"newline alone", []string{"a", "\n"}, []string{"a\n"}},
		{"zero bytes and no UTF-8", []string{"\x00\xff\n"}, []string{"\x00\xff\n"}},
		{"exactly the bound", []string{full[1:] + "\n"}, []string{full[1:] + "\n"}},
		{"one over", []string{full + "\n"}, []string{full, "\n"}},
		{"over, in pieces", []string{full[1:], "yz"}, []string{full[1:] + "y", "(z)"}},
		{"a character at the bound", []string{full[1:] + "ü\n"}, []string{full[1:], "ü\n"}},
		{"half of no character at the bound", []string{full[1:] + "\xfe\n"}, []string{full[1:] + "\xfe", "\n"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			var cut cutter
			for _, p := range c.pieces {
				cut.feed([]byte(p), func(line []byte) { got = append(got, string(line)) })
			}
			cut.flush(func(line []byte) { got = append(got, "("+string(line)+")") })
			if !slices.Equal(got, c.want) {
				t.Errorf("got %.40q, want %.40q", got, c.want)
			}
		})
	}
}

func TestCutterLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.Custom(func(t *rapid.T) []byte {
			unit := rapid.SampledFrom([]string{"a", "\n", "ü", "\xf0\x9f", "x\n", "\x00"}).Draw(t, "unit")
			return bytes.Repeat([]byte(unit), rapid.SampledFrom([]int{1, 3, 1000, maxLine / 2, maxLine}).Draw(t, "times"))
		})).Draw(t, "pieces")
		var want, got []byte
		var cut cutter
		emit := func(line []byte) {
			if i := bytes.IndexByte(line, '\n'); len(line) > maxLine || i >= 0 && i != len(line)-1 {
				t.Fatalf("a piece of %d bytes, newline at %d", len(line), i)
			}
			got = append(got, line...)
		}
		for _, p := range pieces {
			want = append(want, p...)
			cut.feed(bytes.Clone(p), emit)
			if len(cut.partial) >= maxLine {
				t.Fatalf("%d bytes are kept back", len(cut.partial))
			}
		}
		cut.flush(emit)
		if !bytes.Equal(got, want) {
			t.Fatalf("%d bytes came out of %d, or others", len(got), len(want))
		}
	})
}
