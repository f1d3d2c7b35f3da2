package sampler

import (
	"strings"
	"testing"
	"time"

	"sdm/backend/probe/internal/expression"
	"sdm/backend/probe/internal/hold"
	"sdm/protocol"
)

// movers is a program that does one thing without end, as MODE says. Its stack and registers are the same each time
// that it comes back, except for what it counts.
const movers = `
#include <poll.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static volatile int flag;
long steps;
struct box { long steps[2]; } box, *at = &box, *null;
static void sleeps(void) { struct timespec t = {1000, 0}; while (nanosleep(&t, &t)) {} }
static void polls(void) { for (;;) { if (flag) return; poll(0, 0, 1); } }
static void counts(void) { for (;;) { steps++; at->steps[1]--; poll(0, 0, 1); } }
static void computes(void) { volatile unsigned long x = 1; for (;;) x = x * 25214903917 + 11; }
static void writes(void) { static char b[100]; int f = open("/dev/null", O_WRONLY); for (;;) { if (write(f, b, sizeof b) < 0) return; poll(0, 0, 1); } }
int main(void)
{
	const char *mode = getenv("MODE");
	(void)!write(1, "r", 1);
	if (!strcmp(mode, "sleeps")) sleeps();
	if (!strcmp(mode, "polls")) polls();
	if (!strcmp(mode, "counts")) counts();
	if (!strcmp(mode, "computes")) computes();
	if (!strcmp(mode, "writes")) writes();
	if (fork()) pause(); // until the test kills it
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	computes();
}
`

// TestProgress compares samples of a process with those before.
func TestProgress(t *testing.T) {
	path := build(t, []string{"gcc", "-O1", "-g"}, "c", movers)
	for _, c := range []struct {
		mode, variable string
		always         string // a word of each comparison; "": of none, from some time on
	}{
		{"sleeps", "", ""},
		{"polls", "", ""},
		{"polls", "steps", ""},
		{"counts", "steps", protocol.ProgressValue},
		{"counts", "at->steps[1]", protocol.ProgressValue},
		{"polls", "at->steps[0]", ""},
		{"counts", "null->steps[1]", protocol.ProgressNoValue},
		{"computes", "", protocol.ProgressStack},
		{"writes", "", protocol.ProgressIO},
		{"forks", "", protocol.ProgressChildren},
		{"sleeps", "nosuch", protocol.ProgressNoValue},
	} {
		t.Run(c.mode+" "+c.variable, func(t *testing.T) {
			t.Parallel()
			p := runIn(t, path, "MODE="+c.mode)
			x, sampler := &Progress{}, New("")
			o := Options{By: "line", Progress: true}
			if c.variable != "" {
				var err error
				if o.Value, err = expression.Parse(c.variable); err != nil {
					t.Fatal(err)
				}
			}
			look := func() string {
				s := sampler.Take([]int{p.Process.Pid}, o).Samples[0]
				if s.Err != nil || s.Signs == nil {
					t.Fatalf("%+v", s)
				}
				return x.compare(s.Signs, tallyOf(p.Process.Pid), c.variable != "")
			}
			if first := look(); !strings.HasPrefix(first, protocol.ProgressFirst) {
				t.Fatalf("the first time: %s", first)
			}
			// Comparisons follow one another faster than a process on a busy machine runs: one that goes on need not
			// have gone on in each. One that does not must tell nothing many times in succession.
			const wanted = 20
			told, got := 0, ""
			for limit := time.Now().Add(patience); told < wanted; {
				if time.Now().After(limit) {
					t.Fatalf("%d times as wanted, but it still tells %s", told, got)
				}
				for before := tallyOf(p.Process.Pid).children; c.always == protocol.ProgressChildren && time.Now().Before(limit); {
					if tallyOf(p.Process.Pid).children-before >= leastTime {
						break
					}
				}
				got = look()
				switch {
				case c.always == "" && got == protocol.ProgressNone, c.always != "" && strings.Contains(","+got+",", ","+c.always+","):
					told++
				case c.always == "":
					told = 0
				}
			}
		})
	}
}

// TestCompare plays signs of threads that come, go and come back.
func TestCompare(t *testing.T) {
	x := &Progress{}
	for i, c := range []struct {
		threads map[int]uint64
		more    Signs
		moved   hold.Transfer
		want    string
	}{
		{map[int]uint64{1: 10}, Signs{}, hold.Transfer{}, "first"},
		{map[int]uint64{1: 10}, Signs{}, hold.Transfer{Read: 8}, "none"},
		{map[int]uint64{1: 11}, Signs{}, hold.Transfer{Read: 8}, "stack"},
		{map[int]uint64{1: 10}, Signs{messages: 5}, hold.Transfer{Read: 8, Written: 64}, "io"},
		{map[int]uint64{1: 11}, Signs{}, hold.Transfer{Read: 8, Written: 64}, "none"},
		{map[int]uint64{1: 11}, Signs{messages: 6}, hold.Transfer{Read: 8, Written: 64}, "messages"},
		{map[int]uint64{1: 11, 2: 20}, Signs{messages: 6}, hold.Transfer{Read: 8, Written: 64}, "stack"},
		{map[int]uint64{1: 11}, Signs{messages: 7}, hold.Transfer{Read: 8, Written: 64, ToDisk: 4096}, "messages,stack,io"},
	} {
		c.more.threads = c.threads
		if got := x.compare(&c.more, tally{moved: c.moved}, false); got != c.want {
			t.Errorf("%d: got %s, want %s", i, got, c.want)
		}
	}
	for n := range uint64(2 * maxStates) {
		x.compare(&Signs{threads: map[int]uint64{1: 100 + n}}, tally{}, false)
	}
	if n := len(x.states[1]); n != maxStates {
		t.Errorf("%d states are kept", n)
	}
}
