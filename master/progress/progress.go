// Package progress judges from samples whether a job makes progress. It is pure: time is an argument.
package progress

import (
	"slices"
	"strings"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Config says how a job is judged.
type Config struct {
	// Stall is the time without progress after which a job has stalled.
	Stall time.Duration
	// Interval is the time between samples; 0: a quarter of Stall, at most LongestInterval.
	Interval time.Duration
	// Value: the user has named a variable. Only its value counts, while some rank has the variable.
	Value bool
}

const (
	// LongestInterval is the greatest default of Config.Interval.
	LongestInterval = 30 * time.Second
	// ShortestInterval is the least time between samples.
	ShortestInterval = 100 * time.Millisecond
	// confirmations is the number of samples in quick succession, after the time of a stall, that must not have
	// seen any progress. Between the regular samples a rank may have come back to where it was.
	confirmations = 3
	// confirmWithin is the part of Config.Interval between these samples.
	confirmWithin = 8
	// longestConfirm bounds the time between them.
	longestConfirm = time.Second
	// share is the number of times by which the pause before a sample is longer than the sample before took.
	share = 20
)

// interval returns the time between samples.
func (c *Config) interval() time.Duration {
	if c.Interval > 0 {
		return max(c.Interval, ShortestInterval)
	}
	return max(min(c.Stall/4, LongestInterval), ShortestInterval)
}

// Change is something that has changed in some ranks since the sample before, or in the job.
type Change struct {
	Kind  string   // words of the column protocol.Progress with commas between them, Output or End
	Ranks rank.Set // empty: it is not known of which ranks
}

// String returns the change in words: "stack of 0-3".
func (c Change) String() string {
	if c.Ranks.IsEmpty() {
		return c.Kind
	}
	return c.Kind + " of " + c.Ranks.String()
}

// Kinds of changes besides the kinds of protocol.Progress.
const (
	Output = "output" // the job has written output
	End    = "end"    // ranks have ended
)

// Sample is what has been seen at one time.
type Sample struct {
	Answered rank.Set // the ranks that have answered
	Changes  []Change
	Took     time.Duration // until the last answer
}

// tells reports whether something is known about the job: ranks have answered, and no other sampler held one of them.
func (s Sample) tells() bool {
	unheld := func(c Change) bool { return has(c.Kind, protocol.ProgressUnheld) }
	return !s.Answered.IsEmpty() && !slices.ContainsFunc(s.Changes, unheld)
}

// State is what is known about a job.
type State uint8

const (
	// Moving: the last sample has seen progress, or nothing can be compared yet.
	Moving State = iota
	// Still: samples have seen no progress, for less than the time of a stall.
	Still
	// Doubtful: they have seen none for that time, and further samples in quick succession are to confirm it.
	Doubtful
	// Stalled: they have.
	Stalled
)

// String returns the state in one word.
func (s State) String() string { return [...]string{"moving", "still", "doubtful", "stalled"}[s] }

// Judge judges one job. It is for one goroutine.
type Judge struct {
	cfg       Config
	state     State
	progress  time.Duration // time of the last sample that has seen progress
	change    Change        // what it has seen
	next      time.Duration
	took      time.Duration // of the longest sample since progress
	confirmed int           // samples of the doubtful state
	valued    bool          // some rank has had the variable of the user
	has       bool          // some rank has it, by the last answers
	compared  bool          // a sample has been compared with another one
}

// New returns the judge of a job that is watched from now on. The first sample is due at once.
func New(cfg Config, now time.Duration) *Judge {
	return &Judge{cfg: cfg, progress: now, next: now}
}

// Next returns when the next sample is due.
func (j *Judge) Next() time.Duration { return j.next }

// Valued reports whether some rank has had the variable of the user.
func (j *Judge) Valued() bool { return j.valued }

// Compared reports whether samples have been compared.
func (j *Judge) Compared() bool { return j.compared }

// Since returns when progress was seen last, and what it was. Kind is "" if none was seen yet.
func (j *Judge) Since() (time.Duration, Change) { return j.progress, j.change }

// Delay returns how long the longest sample since the last progress took, if that has put off the next ones, so that a
// stall is noticed later than after Config.Stall; else 0.
func (j *Judge) Delay() time.Duration {
	if share*j.took <= j.cfg.interval() {
		return 0
	}
	return j.took
}

// State returns the state after the last sample.
func (j *Judge) State() State { return j.state }

// Add enters a sample and returns the state. Stalled is returned for each sample until there is progress.
func (j *Judge) Add(now time.Duration, s Sample) State {
	interval := j.cfg.interval()
	if late := now - s.Took - j.next; late > 2*interval { // this process was stopped, and perhaps the job as well
		j.progress = min(j.progress+late, now)
	}
	pause := max(interval, share*s.Took)
	j.took = max(j.took, s.Took)
	change, some := j.counts(s)
	switch {
	case !some && !s.tells():
	case some:
		j.state, j.progress, j.change, j.confirmed, j.took = Moving, now, change, 0, s.Took
	case !j.compared: // there is nothing to compare with
		j.progress = now
	case j.state == Stalled:
	case now-j.progress < j.cfg.Stall:
		j.state, j.confirmed = Still, 0
	case j.confirmed < confirmations:
		j.state = Doubtful
		j.confirmed++
		pause = max(min(interval/confirmWithin, longestConfirm), share*s.Took/2)
	default:
		j.state = Stalled
	}
	if s.tells() {
		j.compared = true
	}
	j.next = now + pause
	return j.state
}

// counts returns the first change that is progress.
func (j *Judge) counts(s Sample) (Change, bool) {
	if j.cfg.Value && s.tells() {
		j.has = slices.ContainsFunc(s.Changes, func(c Change) bool {
			return c.Kind != Output && c.Kind != End && !has(c.Kind, protocol.ProgressNoValue)
		})
		j.valued = j.valued || j.has
	}
	only := j.has
	for _, c := range s.Changes {
		var kinds []string
		for word := range strings.SplitSeq(c.Kind, ",") {
			switch word {
			case protocol.ProgressNone, protocol.ProgressUnheld, protocol.ProgressNoValue, protocol.ProgressFirst, "":
				continue
			case End: // a user or the batch system ends the ranks of a job that has stalled
				if j.state == Stalled {
					continue
				}
			}
			if !only || word == protocol.ProgressValue || word == End {
				kinds = append(kinds, word)
			}
		}
		if len(kinds) > 0 {
			return Change{strings.Join(kinds, ","), c.Ranks}, true
		}
	}
	return Change{}, false
}

// has reports whether a list of words with commas has one of some words.
func has(list string, words ...string) bool {
	for word := range strings.SplitSeq(list, ",") {
		if slices.Contains(words, word) {
			return true
		}
	}
	return false
}
