package main

import (
	"errors"
	"testing"
	"time"

	"sdm/master/frontend/sentinel"
	"sdm/master/hangfile"
)

// What comes from the job or from a file name begins no line of ours, and moves no cursor.
func TestSaidOfIsClean(t *testing.T) {
	f := &hangfile.File{
		Reason:  hangfile.Reason{Kind: hangfile.Crash, Text: "rank 0 in f\nsdm: forged"},
		Verdict: []hangfile.Finding{{Text: "0 waits in \x1b[2J\u202eg"}},
	}
	got := saidOf(f, "a\rb", "", errors.New("no\u009broom"))
	want := "watch: crash: rank 0 in f^Jsdm: forged\n" + f.Verdict[0].Label() + ": 0 waits in ^[[2J\\u202eg\n" +
		"written: a^Mb\nnot written: no\\u009broom"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

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
