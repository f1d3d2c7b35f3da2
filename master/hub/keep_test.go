package hub

import (
	"testing"
	"time"
)

func TestKeep(t *testing.T) {
	const m = time.Minute
	ours, theirs := Keep{For: 30 * m}, Keep{For: 30 * m, Attached: true}
	for _, c := range []struct {
		keep   Keep
		absent time.Duration
		letGo  bool
		want   Due
	}{
		{ours, 0, false, Due{Next: 30 * m}},
		{ours, 29 * m, false, Due{Next: m}},
		{ours, 30 * m, false, Due{End: true}},
		{theirs, 0, false, Due{Next: 5 * m}},
		{theirs, 5 * m, false, Due{LetGo: true, Next: 25 * m}},
		{theirs, 6 * m, true, Due{Next: 24 * m}},
		{theirs, time.Hour, true, Due{End: true}},
		{Keep{For: 15 * m, Attached: true, Standing: 2 * m}, m, false, Due{Next: m}},
		{Keep{For: 15 * m, Attached: true, Standing: 2 * m}, 2 * m, false, Due{LetGo: true, Next: 13 * m}},
		{Keep{}, 0, false, Due{End: true}},
	} {
		if got := c.keep.After(c.absent, c.letGo); got != c.want {
			t.Errorf("%+v after %v: %+v, want %+v", c.keep, c.absent, got, c.want)
		}
	}
}
