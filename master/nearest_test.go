package master

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"prnit": "print", "cont": "continue", "contniue": "continue", "info local": "info locals",
		"qq": "", "": "", "completely else": "", strings.Repeat("a", 10000): "",
	} {
		if got := nearest(name); got != want {
			t.Errorf("nearest(%.20q) = %q, want %q", name, got, want)
		}
	}
}
