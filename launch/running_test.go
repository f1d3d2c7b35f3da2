package launch

import (
	"fmt"
	"slices"
	"testing"
)

func TestRunningJobs(t *testing.T) {
	ps := processes{
		1: other(0), 10: other(1), 11: other(10), // a script has called mpirun
		20: rankOf(11, 1, 2, "j.1", ""), 21: rankOf(11, 0, 2, "j.1", ""), 22: rankOf(20, 1, 2, "j.1", ""),
		30: rankOf(1, 3, 8, "7.0", ""), 31: rankOf(1, 2, 8, "7.0", ""), // their starter is on another host
		40: other(1), 41: other(40), 42: rankOf(41, 0, 1, "k", ""), // a session of ours
		50: other(1),                   // srun without ranks here
		60: rankOf(1, 0, 1, "9.0", ""), // somebody else's
	}
	exes := map[int]string{1: "/sbin/init", 10: "/bin/sh", 11: "/usr/bin/mpirun", 20: "/a/app", 21: "/a/app", 22: "/bin/sh", 30: "/a/b",
		31: "/a/b", 40: "/bin/sdm", 41: "/usr/bin/mpirun", 42: "/a/app", 50: "/usr/bin/srun"}
	is := func(names ...string) func(string) bool {
		return func(exe string) bool { return slices.Contains(names, exe) }
	}
	got := fmt.Sprint(ps.running(exes, is("/usr/bin/mpirun", "/usr/bin/srun"), is("/bin/sdm")))
	if want := "[{11 j.1 2 [21 20] app} {0 7.0 8 [31 30] b} {50  -1 [] srun}]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
