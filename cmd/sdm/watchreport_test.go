package main

import (
	"testing"
	"time"

	"sdm/master/frontend/sentinel"
)

func TestWithoutText(t *testing.T) {
	for _, c := range []struct {
		without, delay time.Duration
		want           string
	}{
		{6 * time.Second, 0, "no progress for 6s"},
		{6 * time.Second, 600 * time.Millisecond, "no progress for 6s"},
		{12 * time.Second, 604 * time.Millisecond, "no progress for 12s (5s asked, and longer since a sample takes 600ms)"},
		{12 * time.Second, 0, "no progress for 12s"},
	} {
		if got := withoutText(5*time.Second, &sentinel.Sight{Without: c.without, Delay: c.delay}); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
