package gdb

import (
	"slices"
	"testing"
)

func TestEnvironmentIsReadable(t *testing.T) {
	for _, tt := range []struct{ in, want []string }{
		{in: nil, want: []string{"LC_CTYPE=C.UTF-8"}},
		{in: []string{"LANG=de_DE.UTF-8", "SDM_X=1"}, want: []string{"LANG=de_DE.UTF-8"}},
		{in: []string{"LANG=C", "LC_CTYPE=en_US.utf8"}, want: []string{"LANG=C", "LC_CTYPE=en_US.utf8"}},
		{in: []string{"LANG=de_DE", "LC_TIME=C"}, want: []string{"LANG=de_DE", "LC_TIME=C", "LC_CTYPE=C.UTF-8"}},
		{in: []string{"LANG=de_DE.UTF-8", "LC_ALL=C", "A=1", "LC_TIME=x"}, want: []string{"A=1", "LANG=C", "LC_CTYPE=C.UTF-8"}},
	} {
		if got := environment(tt.in); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}
