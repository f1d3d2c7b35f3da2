package sampler

import (
	"strings"
	"testing"

	"sdm/protocol/stack"
)

// TestWithoutStandard removes frames that say nothing about the user's code.
func TestWithoutStandard(t *testing.T) {
	user := stack.Frame{Func: "transfer", File: "/src/a.cc", Line: 11}
	std := stack.Frame{Func: "std::mutex::lock", File: "/usr/include/c++/12/bits/std_mutex.h", Line: 100}
	inMain := stack.Frame{Func: "main", File: "/usr/include/c++/12/future", Line: 465}
	libc := stack.Frame{Func: "pthread_mutex_lock", From: "/lib/libc.so.6"}
	bare := stack.Frame{Func: unnamed, From: "/lib/libgfortran.so.5"}
	other := stack.Frame{Func: unnamed, From: "/lib/libc.so.6"}
	for name, c := range map[string]struct {
		all  []stack.Frame
		want string
	}{
		"a mutex":           {[]stack.Frame{user, std, std, libc}, "transfer pthread_mutex_lock"},
		"all is inlined":    {[]stack.Frame{inMain, std, libc}, "main pthread_mutex_lock"},
		"nothing else":      {[]stack.Frame{std, libc}, "std::mutex::lock pthread_mutex_lock"},
		"without names":     {[]stack.Frame{user, bare, bare, bare, other, libc}, "transfer ?? ?? pthread_mutex_lock"},
		"between two names": {[]stack.Frame{bare, user, bare}, "?? transfer ??"},
		"empty":             {nil, ""},
	} {
		var got []string
		for _, f := range withoutStandard(c.all) {
			got = append(got, f.Func)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}
