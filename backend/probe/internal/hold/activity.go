// What the threads of a process do, as the kernel tells it.

package hold

import (
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sdm/backend/probe/internal/proc"
)

// threadStates are the states of threads (proc(5), stat, field 3) in words, in the order of their
// report.
var threadStates = []struct{ letters, words string }{
	{"R", "running"}, {"S", "sleeping"}, {"DKW", "in uninterruptible sleep"}, {"T", "stopped"}, {"t", "traced"}, {"IP", "idle"}, {"ZXx", "ended"},
}

// maxLooks bounds the looks of States at a process that another sampler holds for an instant.
const maxLooks = 20

// States returns the number of threads of a process in each state: "1 running, 3 sleeping"; "" if
// the process has ended.
func States(pid int) string {
	counts, sampled := statesOf(pid)
	for range maxLooks {
		if !sampled {
			break
		}
		rest := unix.NsecToTimespec(int64(rivalEach))
		_ = unix.Nanosleep(&rest, nil)
		counts, sampled = statesOf(pid)
	}
	var parts []string
	for i, n := range counts {
		if n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+threadStates[i].words)
		}
	}
	return strings.Join(parts, ", ")
}

// statesOf returns the number of threads in each of threadStates, and whether another sampler holds some.
func statesOf(pid int) (counts []int, sampled bool) {
	counts = make([]int, len(threadStates))
	for _, tid := range Threads(pid) {
		letter := proc.Letter(pid, tid) // 0 is in none
		for i, s := range threadStates {
			if strings.IndexByte(s.letters, letter) >= 0 {
				counts[i]++
			}
		}
		if letter == 't' && !sampled {
			tracer := proc.StatusOf(pid, tid).Tracer
			sampled = tracer != 0 && Tracer{TID: tracer, Name: proc.Name(tracer)}.yields()
		}
	}
	return counts, sampled
}

// Usage is the processor time that a process has used up to some point in time. The zero value is unknown.
type Usage struct {
	from, to time.Time // between which the clock was read
	cpu      time.Duration
}

// UsageOf reads the clock of a process, which runs while its threads do.
func UsageOf(pid int) Usage {
	from := time.Now()
	cpu, err := proc.CPUTime(pid)
	if err != nil {
		return Usage{}
	}
	return Usage{from, time.Now(), cpu}
}

// Since returns the processor time since u, in percent of the longest time that may have passed; "" if it is not known.
// So a busy thread has never used more than 100 %, also if this program waited for a processor meanwhile.
func (now Usage) Since(u Usage) string {
	passed := now.to.Sub(u.from)
	if u.from.IsZero() || now.to.IsZero() || passed <= 0 {
		return ""
	}
	return strconv.Itoa(int(math.Round(100 * float64(now.cpu-u.cpu) / float64(passed))))
}

// Bounds of ChildrenTime.
const (
	maxChildren = 256
	maxDepth    = 4
)

// ChildrenTime returns the processor time that the processes have used which the first thread of a process has started,
// and which those have started, as far as they run (proc(5), task/TID/children). Beyond 256 processes they are not
// counted.
func ChildrenTime(pid int) time.Duration {
	left := maxChildren
	return childrenTime(pid, maxDepth, &left)
}

func childrenTime(pid, depth int, left *int) (sum time.Duration) {
	if depth == 0 {
		return 0
	}
	for word := range strings.FieldsSeq(proc.Text("/proc/%d/task/%d/children", pid, pid)) {
		child, err := strconv.Atoi(word)
		if err != nil || *left == 0 {
			break
		}
		*left--
		sum += UsageOf(child).cpu + childrenTime(child, depth-1, left)
	}
	return sum
}
