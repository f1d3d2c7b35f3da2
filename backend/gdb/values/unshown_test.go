package values

import "testing"

func TestShownOr(t *testing.T) {
	for _, c := range []struct{ value, warned, want string }{
		{"", "Python Exception <class 'gdb.error'>: value has been optimized out\n", "<optimized out>"},
		{"<synthetic pointer>", "Python Exception <class 'gdb.error'>: value has been optimized out\n", "<synthetic pointer><optimized out>"},
		{"", "Python Exception <class 'gdb.MemoryError'>: Cannot access memory\nat address 0x8\n", "<error: Python Exception <class 'gdb.MemoryError'>: Cannot access memory at address 0x8>"},
		{"{1, 2}", "warning: x\n", "{1, 2}"},
		{"", "", ""},
	} {
		if got := orWarning(c.value, c.warned); got != c.want {
			t.Errorf("%q with %q: %q", c.value, c.warned, got)
		}
	}
}
