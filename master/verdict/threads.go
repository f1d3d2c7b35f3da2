// Threads of ranks that wait for one another, and for locks.

package verdict

import (
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/wait"
)

// threadName returns how a thread is called in a sentence.
func threadName(t *wait.Thread) string {
	text := "thread " + strconv.Itoa(t.Number)
	if pid := t.Process(); pid != 0 {
		text = "process " + strconv.Itoa(pid)
	}
	if t.Name != "" {
		text += " (" + t.Name + ")"
	}
	return text
}

// chain returns the threads that one waits for, one after the other; the first is the thread itself. cycle is
// the index of the thread for which the last one waits; -1: the last one waits for none that is known.
func chain(d *wait.Doing, number int) (threads []wait.Thread, cycle int) {
	for {
		t, ok := threadOf(d, number)
		if !ok {
			return threads, -1
		}
		if i := slices.IndexFunc(threads, func(u wait.Thread) bool { return u.Number == number }); i >= 0 {
			return threads, i
		}
		threads = append(threads, t)
		if number = t.For; number == 0 {
			return threads, -1
		}
	}
}

// threadOf returns a thread of a row.
func threadOf(d *wait.Doing, number int) (wait.Thread, bool) {
	if number == 1 {
		return d.First(), true
	}
	i := slices.IndexFunc(d.Others, func(t wait.Thread) bool { return t.Number == number })
	if i < 0 {
		return wait.Thread{}, false
	}
	return d.Others[i], true
}

// threadsText returns what the first thread of a rank does, and the threads for which it waits, with a verb in the
// singular. Of several samples it says of one that computes that it does so still.
func (s *solver) threadsText(d *wait.Doing) string {
	threads, cycle := chain(d, 1)
	end := len(threads)
	if cycle >= 0 && end-cycle > 1 {
		end = cycle
	}
	var parts []string
	for i := range threads[:end] {
		text := activity(&threads[i], d.Left)
		if rest, ok := strings.CutPrefix(text, computing); ok && s.samples > 1 {
			text = computing + " still" + rest
		}
		if i > 0 {
			text = threadName(&threads[i]) + " " + text
		}
		parts = append(parts, text)
	}
	if end < len(threads) {
		text := "is in a deadlock of threads: " + cycleText(threads[end:])
		if end > 0 {
			text = threadName(&threads[end]) + " " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// cycleText describes threads that wait for one another.
func cycleText(threads []wait.Thread) string {
	var parts []string
	for i := range threads {
		parts = append(parts, threadName(&threads[i])+" "+activity(&threads[i], 0))
	}
	return strings.Join(parts, ", ")
}

// cycleOf returns threads of a row that wait for one another, or for themselves, beginning with the lowest number;
// nil: there are none.
func cycleOf(d *wait.Doing) []wait.Thread {
	for _, t := range append([]wait.Thread{d.First()}, d.Others...) {
		if threads, cycle := chain(d, t.Number); cycle == 0 {
			return threads
		}
	}
	return nil
}

// ownerRuns reports whether the last of the threads that the first one waits for runs. The next instant it may have
// released the lock, as in any program whose threads share one: one sample says nothing then, and more are not certain.
func ownerRuns(d *wait.Doing) bool {
	threads, _ := chain(d, 1)
	return len(threads) > 1 && threads[len(threads)-1].State == wait.Running
}

// locks returns the findings of ranks whose threads wait for one another, or whose first thread waits for a lock,
// except those that are told as causes already, and locks whose owner runs in the only sample.
func (s *solver) locks() (found []Finding) {
	for i := range s.g.Doings() {
		d := &s.g.Doings()[i]
		ranks := d.Ranks.Minus(s.told)
		if ranks.IsEmpty() {
			continue
		}
		f := Finding{Kind: Cause, Ranks: ranks, Certain: s.samples > 1 && !ranks.Intersects(s.g.Moved().Union(s.g.Unheld()))}
		cycle := cycleOf(d)
		switch waiting := ranks.Minus(s.blocked); {
		case cycle != nil:
			f.Kind, f.Text = Cycle, Ranks(ranks)+": "+cycleText(cycle)
			if f.Certain {
				f.Text = "deadlock of threads of " + f.Text
			}
		case d.Lock && !waiting.IsEmpty() && (s.samples > 1 || !ownerRuns(d)):
			f.Ranks, f.Text = waiting, verbs(waiting, s.threadsText(d))
			f.Certain = f.Certain && !ownerRuns(d)
		default:
			continue
		}
		found = append(found, f)
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return compareFirst(a.Ranks, b.Ranks) })
	return found
}
