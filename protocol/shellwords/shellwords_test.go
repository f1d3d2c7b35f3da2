package shellwords_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sdm/protocol/shellwords"
)

// FuzzSplit compares with the shell.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"--tool {daemon} --tool-arguments \"{args}\"", `a\ b 'c  d' "e\"\f" x''y`, "  ", `""`, "'", `a\`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "\x00\r\n$`;&|<>(){}*?[]~#!=%") || !isPrintable(text) {
			return
		}
		words, err := shellwords.Split(text)
		var got []string
		for _, w := range words {
			got = append(got, w.Text)
		}
		out, failed := exec.Command("/bin/sh", "-c", `set -f -- `+text+"\n"+`for w in "$@"; do printf '%s\0' "$w"; done`).Output()
		if (err == nil) != (failed == nil) {
			if err != nil && strings.HasSuffix(text, `\`) {
				return // the shell joins lines here
			}
			t.Fatalf("%q: %v, the shell says %v", text, err, failed)
		}
		want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if len(out) == 0 {
			want = nil
		}
		if err == nil && !slices.Equal(got, want) {
			t.Fatalf("%q: %q, the shell has %q", text, got, want)
		}
	})
}

func isPrintable(text string) bool {
	for _, c := range text {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
