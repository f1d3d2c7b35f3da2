package sampler

import (
	"os"
	"testing"
)

func TestSlept(t *testing.T) {
	earlier := &runs{map[int]uint64{1: 10, 2: 20}, 5}
	for name, c := range map[string]struct {
		now  *runs
		poll map[int]bool
		want bool
	}{
		"held once":              {&runs{map[int]uint64{1: 12, 2: 22}, 5}, nil, true},
		"one has run":            {&runs{map[int]uint64{1: 13, 2: 22}, 5}, nil, false},
		"one that polls has run": {&runs{map[int]uint64{1: 12, 2: 90}, 5}, map[int]bool{2: true}, true},
		"another one has run":    {&runs{map[int]uint64{1: 13, 2: 90}, 5}, map[int]bool{2: true}, false},
		"not held":               {&runs{map[int]uint64{1: 10, 2: 22}, 5}, nil, false},
		"something was sent":     {&runs{map[int]uint64{1: 12, 2: 22}, 6}, nil, false},
		"another thread":         {&runs{map[int]uint64{1: 12, 3: 22}, 5}, nil, false},
		"one more thread":        {&runs{map[int]uint64{1: 12, 2: 22, 3: 2}, 5}, nil, false},
		"not known":              {nil, nil, false},
	} {
		if got := c.now.slept(earlier, c.poll); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if earlier.slept(nil, nil) {
		t.Error("the first sample tells nothing")
	}
}

func TestRunsOf(t *testing.T) {
	r := runsOf(os.Getpid())
	if r == nil || r.switches[os.Getpid()] == 0 {
		t.Errorf("%v", r)
	}
	if r := runsOf(1 << 30); r != nil {
		t.Errorf("a process that does not exist: %v", r)
	}
}
