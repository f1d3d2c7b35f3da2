// Ends of the jobs of a Direct.

package pmix

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// job returns the namespace of a job; "": it was not started.
func (d *Direct) job(role int) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.jobs[role]
}

// errIfOver returns why the job will not come to its stop; nil: it may.
func (d *Direct) errIfOver() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost {
		return errLost
	}
	if code, ended := d.ends[d.jobs[ofRanks]]; ended {
		return d.tooEarly(code)
	}
	return nil
}

// tooEarly is the error that the job has ended before its stop.
func (d *Direct) tooEarly(code int) error {
	return fmt.Errorf("the job has ended with status %d before all its ranks came to %s: only programs that call MPI_Init are held there", code, d.placeOfStop())
}

// errLost is the error of calls after the loss of the server. Its ranks may run on: PRRTE leaves them
// behind if it is killed.
var errLost = errors.New("the connection to the PMIx server is lost: it has ended")

// endedInSpawn returns the error of a job that has ended while it was spawned; nil: none has. The
// spawn then fails with PMIX_ERROR, which does not say why, and only the event of the job's end
// names the job. That event may come after the answer. old has the ends of earlier jobs, which
// servers tell each new tool: they have come before the spawn.
func (d *Direct) endedInSpawn(ctx context.Context, old map[string]int) error {
	alarm := time.NewTimer(lateEvent)
	defer alarm.Stop()
	for {
		changed := d.next()
		for name, code := range d.allEnds() {
			if _, known := old[name]; !known {
				return d.tooEarly(code)
			}
		}
		select {
		case <-changed:
		case <-alarm.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// lateEvent is how long an event that explains a failed call may come after it. On an idle machine
// it comes within milliseconds.
const lateEvent = 3 * time.Second

// Ending says how a job of a Direct has ended.
type Ending struct {
	Namespace string
	Daemons   bool // it is the daemons'
	Code      int  // exit code; 128 plus the signal if a signal has ended a rank
}

// Ended waits until the jobs that were started have ended, and returns how. The error says why
// they cannot be observed any more.
func (d *Direct) Ended(ctx context.Context) ([]Ending, error) {
	again := time.NewTicker(askAgain)
	defer again.Stop()
	var gone [len(d.jobs)]absence
	for {
		changed := d.next()
		endings, all := d.endings()
		if all {
			return endings, nil
		}
		if d.IsLost() {
			return endings, errLost
		}
		select {
		case <-changed:
		case <-again.C:
			for role := range gone {
				if name := d.job(role); name != "" && gone[role].seen(ctx, &d.connection, name) {
					return endings, fmt.Errorf("job %s is over, and the PMIx server has not told how it has ended", name)
				}
			}
		case <-d.helper.Done():
			return endings, d.helper.explained(errClosed)
		case <-ctx.Done():
			return endings, context.Cause(ctx)
		}
	}
}

// askAgain is the interval at which the table is asked whether a job whose end was not told is over.
const askAgain = 5 * time.Second

// absence notes whether a job was over when the table was last asked for.
type absence bool

// seen asks for the table of a job. It reports whether the job was over this time and the last time,
// and no event has told its end: a late event would have come in between.
func (a *absence) seen(ctx context.Context, l *connection, nspace string) bool {
	rows, err := l.table(ctx, nspace)
	_, told := l.exit(nspace)
	over := err == nil && !told && allEnded(rows) // unknown jobs have no rows
	before := bool(*a)
	*a = absence(over)
	return over && before
}

// endings returns the jobs that have ended, and whether these are all.
func (d *Direct) endings() (endings []Ending, all bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all = true
	for role, name := range d.jobs {
		if code, ended := d.ends[name]; ended && name != "" {
			endings = append(endings, Ending{name, role == ofDaemons, code})
		} else if name != "" {
			all = false
		}
	}
	return endings, all
}

// End implements launch.Launcher. What has not ended is killed.
func (d *Direct) End(ctx context.Context) error {
	if d.helper == nil {
		return nil
	}
	defer d.finish(ctx)
	defer d.writeEnd(ctx)
	var errs []error
	for role := range d.jobs {
		errs = append(errs, d.kill(ctx, d.job(role)))
	}
	if errors.Join(errs...) != nil || d.IsLost() {
		return errors.Join(errs...)
	}
	_, err := d.Ended(ctx)
	return err
}

// writeEnd writes the end of the job of the ranks to the log of the system.
func (d *Direct) writeEnd(ctx context.Context) {
	if code, ended := d.exit(d.job(ofRanks)); ended {
		d.write(ctx, endOf(d.job(ofRanks), code))
	}
}
