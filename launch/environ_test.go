package launch

import (
	"slices"
	"strings"
	"testing"

	"sdm/protocol"
)

func TestEnviron(t *testing.T) {
	base := []string{"PATH=/bin", "EMPTY=", "TWICE=1", "TWICE=2", "PATHS=x"}
	cases := []struct {
		name string
		dirs []protocol.EnvDirective
		want string
	}{
		{"nothing", nil, "PATH=/bin EMPTY= TWICE=1 TWICE=2 PATHS=x"},
		{"set keeps the place", []protocol.EnvDirective{{Op: "set", Name: "PATH", Value: "/x"}}, "PATH=/x EMPTY= TWICE=1 TWICE=2 PATHS=x"},
		{"set a new one", []protocol.EnvDirective{{Op: "set", Name: "NEW", Value: ""}}, "PATH=/bin EMPTY= TWICE=1 TWICE=2 PATHS=x NEW="},
		{"set a doubled one", []protocol.EnvDirective{{Op: "set", Name: "TWICE", Value: "3"}}, "PATH=/bin EMPTY= TWICE=3 PATHS=x"},
		{"add leaves what is there", []protocol.EnvDirective{{Op: "add", Name: "EMPTY", Value: "1"}}, "PATH=/bin EMPTY= TWICE=1 TWICE=2 PATHS=x"},
		{"add", []protocol.EnvDirective{{Op: "add", Name: "NEW", Value: "1"}}, "PATH=/bin EMPTY= TWICE=1 TWICE=2 PATHS=x NEW=1"},
		{"unset", []protocol.EnvDirective{{Op: "unset", Name: "TWICE"}, {Op: "unset", Name: "NEVER"}}, "PATH=/bin EMPTY= PATHS=x"},
		{"prepend", []protocol.EnvDirective{{Op: "prepend", Name: "PATH", Value: "/x"}}, "PATH=/x:/bin EMPTY= TWICE=1 TWICE=2 PATHS=x"},
		{"append with a separator", []protocol.EnvDirective{{Op: "append", Name: "PATH", Value: "/x", Sep: ";"}}, "PATH=/bin;/x EMPTY= TWICE=1 TWICE=2 PATHS=x"},
		{"append to nothing", []protocol.EnvDirective{{Op: "append", Name: "EMPTY", Value: "/x"}}, "PATH=/bin EMPTY=/x TWICE=1 TWICE=2 PATHS=x"},
		{"in order", []protocol.EnvDirective{
			{Op: "unset", Name: "PATH"}, {Op: "append", Name: "PATH", Value: "a"}, {Op: "append", Name: "PATH", Value: "b"}, {Op: "prepend", Name: "PATH", Value: "c"},
		}, "EMPTY= TWICE=1 TWICE=2 PATHS=x PATH=c:a:b"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := slices.Clone(base)
			got, err := Environ(base, c.dirs)
			if err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("got %v, %v\nwant %s", got, err, c.want)
			}
			if !slices.Equal(base, before) {
				t.Errorf("base was changed to %v", base)
			}
		})
	}
}

func TestEnvironRefuses(t *testing.T) {
	cases := []struct {
		name string
		dir  protocol.EnvDirective
		want string
	}{
		{"operation", protocol.EnvDirective{Op: "put", Name: "A"}, `unknown operation "put"`},
		{"no name", protocol.EnvDirective{Op: "set"}, "not the name of a variable"},
		{"equals sign", protocol.EnvDirective{Op: "set", Name: "A=B"}, "not the name of a variable"},
		{"zero byte", protocol.EnvDirective{Op: "set", Name: "A", Value: "\x00"}, "zero byte"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Environ(nil, []protocol.EnvDirective{c.dir}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
