package doctor

import (
	"runtime"
	"testing"
)

func TestPlatform(t *testing.T) {
	if f := platformOf(machines[runtime.GOARCH], "6.1.0"); f[0].Grade != Good {
		t.Errorf("our own: %v", f)
	}
	if f := platformOf("ppc64le", "6.1.0"); f[0].Grade != Bad || f[0].Hint == "" {
		t.Errorf("another: %v", f)
	}
}
