package protocol

import "testing"

func TestWrappingOf(t *testing.T) {
	for program, want := range map[string]Wrapping{
		"/usr/bin/env": WrapsInPlace, "timeout": WrapsBeside, "/usr/bin/strace": WrapsTraced, "nsys": WrapsSomehow,
		"valgrind": WrapsInPlace, "/usr/libexec/valgrind/memcheck-amd64-linux": WrapsInside,
		"/bin/sh": WrapsNothing, "./app": WrapsNothing, "": WrapsNothing,
	} {
		if got := WrappingOf(program); got != want {
			t.Errorf("%q: %d, not %d", program, got, want)
		}
		if IsWrapper(program) != (want != WrapsNothing || program == "/bin/sh") {
			t.Errorf("IsWrapper(%q) is %v", program, IsWrapper(program))
		}
	}
}
