// Until when a gdb must have its ranks under control.

package gdb

import "time"

// bound is one deadline for all that a gdb does until its ranks are under control: coming up, and attaching to one after
// the other. What follows a failure needs time as well, so whatever somebody else can do better ends before.
//
//	started ───────── half: a silent gdb is replaced ─────────────────────────── until: given up
//	the last attach ── two thirds: the ranks behind this one get other gdbs ──── until: given up
type bound struct {
	wait  time.Duration // in all; 0: no limit
	from  time.Duration // gdb was started, or has got a rank under control
	until time.Duration // 0: no limit
}

// boundOf begins one; wait 0 is no limit.
func boundOf(now, wait time.Duration) bound {
	if wait == 0 {
		return bound{from: now}
	}
	return bound{wait: wait, from: now, until: now + wait}
}

// leastBirth is how long a gdb that takes the place of another has at least, or half of all time if that is less: on a
// machine that is too busy for the first one nothing is left, and the second would be given up unheard.
const leastBirth = 3 * time.Second

// begin is that of a gdb which is started now.
func (b bound) begin(now time.Duration, replaces bool) bound {
	b.from = now
	if more := now + min(leastBirth, b.wait/2) - b.until; replaces && b.isSet() && more > 0 {
		b.until += more
		b.wait += more
	}
	return b
}

// since is how long it has lasted.
func (b bound) since(now time.Duration) time.Duration {
	if b.isSet() {
		return now - b.until + b.wait
	}
	return now - b.from
}

// isSet tells whether there is a limit.
func (b bound) isSet() bool { return b.until != 0 }

// silence is until when a gdb may say nothing. last tells that no other will be started in its place.
func (b bound) silence(last bool) time.Duration {
	switch {
	case !b.isSet():
		return b.from + silentWait
	case last:
		return b.until
	}
	return b.from + max(b.until-b.from, 0)/2
}

// attach is until when gdb may be at the attach to a rank; 0 is for ever. others tells that ranks wait behind it.
func (b bound) attach(others bool) time.Duration {
	if b.isSet() && others {
		return b.from + max(b.until-b.from, 0)*2/3
	}
	return b.until
}

// leastAnswer is how long an attached gdb may take for an answer at least.
const leastAnswer = time.Second

// answer is until when gdb may take for a question that was asked then; 0 is for ever.
func (b bound) answer(asked time.Duration) time.Duration {
	if !b.isSet() {
		return 0
	}
	return max(b.until, asked+leastAnswer)
}
