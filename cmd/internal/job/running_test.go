package job

import (
	"testing"

	"sdm/launch"
)

func TestListed(t *testing.T) {
	for _, c := range []struct {
		job  launch.Running
		want Listed
		some bool
	}{
		{launch.Running{Starter: 7, Size: 3, Ranks: []int{8, 9, 10}, Program: "app"}, Listed{"7", "app", "3 here"}, true},
		{launch.Running{Starter: 7, Size: launch.Unknown, Program: "srun"}, Listed{"7", "srun", "none here"}, true},
		{launch.Running{Size: 8, Ranks: []int{9, 8}, Program: "app"}, Listed{"pids:9,8", "app", "2 here of 8"}, true},
		{launch.Running{Name: "torchrun:a", Size: 2, Ranks: []int{9, 8}, Program: "p"}, Listed{"torchrun:a", "p", "2 here"}, true},
		{launch.Running{Ranks: make([]int, maxPidsListed+1), Program: "p"}, Listed{"", "p", "17 here"}, false},
	} {
		if got, some := listed(c.job); got != c.want || some != c.some {
			t.Errorf("%+v: %+v, %v", c.job, got, some)
		}
	}
}
