// The deadline until which a gdb must have its ranks under control.

package debugger

import "time"

// bound is one deadline for all that a gdb does until its ranks are under control: its
// start, and the attaches one after another. What can be retried ends earlier, to leave
// time for the retry.
//
//	started ────────── half: a silent gdb is replaced ──────────────────────── until: given up
//	the last attach ── two thirds: the ranks after this one get other gdbs ─── until: given up
type bound struct {
	wait  time.Duration // in total; 0: no limit
	from  time.Duration // when gdb was started, or got the last rank under control
	until time.Duration // 0: no limit
}

// LimitOf starts a deadline; wait 0 means no limit.
func LimitOf(now, wait time.Duration) bound {
	if wait == 0 {
		return bound{from: now}
	}
	return bound{wait: wait, from: now, until: now + wait}
}

// minStartup is the minimum time for a gdb that replaces another, unless half of the
// total is less. On a machine too busy for the first gdb, the second would otherwise be
// given up at once.
const minStartup = 3 * time.Second

// begin returns the deadline for a gdb that is started now.
func (b bound) begin(now time.Duration, replaces bool) bound {
	b.from = now
	if more := now + min(minStartup, b.wait/2) - b.until; replaces && b.isSet() && more > 0 {
		b.until += more
		b.wait += more
	}
	return b
}

// since returns the time since the start of the deadline.
func (b bound) since(now time.Duration) time.Duration {
	if b.isSet() {
		return now - b.until + b.wait
	}
	return now - b.from
}

// isSet reports whether there is a limit.
func (b bound) isSet() bool { return b.until != 0 }

// silentUntil returns the time until which a gdb may write nothing. last says that no other
// will be started in its place.
func (b bound) silentUntil(last bool) time.Duration {
	switch {
	case !b.isSet():
		return b.from + silentWait
	case last:
		return b.until
	}
	return b.from + max(b.until-b.from, 0)/2
}

// attachUntil returns the time until which gdb may attach to a rank; 0: no limit. others says
// that further ranks wait for it.
func (b bound) attachUntil(others bool) time.Duration {
	if b.isSet() && others {
		return b.from + max(b.until-b.from, 0)*2/3
	}
	return b.until
}

// leastAnswer is the minimum time for an answer of an attached gdb.
const leastAnswer = time.Second

// answerUntil returns the time until which gdb may answer a command that was sent at asked; 0:
// no limit.
func (b bound) answerUntil(asked time.Duration) time.Duration {
	if !b.isSet() {
		return 0
	}
	return max(b.until, asked+leastAnswer)
}

func rounded(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}
