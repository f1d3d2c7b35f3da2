// Waits until a job that is in a queue has started its ranks.

package job

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sdm/launch"
	"sdm/launch/flux"
	"sdm/launch/pals"
	"sdm/launch/slurm"
	"sdm/protocol"
)

const (
	// startEvery is the time between two questions whether a job has started: ranks are to be held within two seconds
	// of their start.
	startEvery = time.Second
	// soonEvery is that time, for soonFor, once a job has its nodes: most scripts start their ranks at once.
	soonEvery = 250 * time.Millisecond
	soonFor   = 30 * time.Second
	// lookInside is the time between two searches, on the nodes of a job that runs, for ranks that its resource manager
	// does not know; it doubles up to longestInside.
	lookInside    = 2 * time.Second
	longestInside = 30 * time.Second
	// askWait limits one question.
	askWait = 20 * time.Second
)

// queued is what is known of a job that was asked for.
type queued struct {
	started bool   // its ranks are there
	why     string // else: why they are not
	soon    bool   // they are expected at any moment
}

// CheckWhenStarted returns what is wrong with a target of a waiting attach.
func CheckWhenStarted(target string) error {
	kind, text, _ := strings.Cut(target, ":")
	var err error
	switch kind {
	case "slurm":
		_, err = slurm.ParseStep(text)
	case "flux":
		_, err = flux.ParseID(text)
	case "pbs":
		_, err = pals.ParseJob(text)
	default:
		err = fmt.Errorf("--when-started: %q waits in no queue (give slurm:JOBID[.STEP], flux:JOBID or pbs:JOBID)", target)
	}
	return err
}

// awaitStart waits until a job has started its ranks. It tells why the job waits, and never changes the job. The error
// says that there will be no ranks, or is the cause of ctx.
func (f finder) awaitStart(ctx context.Context, target string) error {
	defer f.Clock.Restart()
	kind, text, _ := strings.Cut(target, ":")
	var ask func(context.Context) (queued, error)
	switch kind {
	case "slurm":
		step, err := slurm.ParseStep(text)
		if err != nil {
			return misused("%w", err)
		}
		ask = (&slurmQueue{finder: f, step: step}).ask
	case "flux":
		id, err := flux.ParseID(text)
		if err != nil {
			return misused("%w", err)
		}
		ask = func(ctx context.Context) (queued, error) { return f.askFlux(ctx, id) }
	case "pbs":
		j, err := pals.ParseJob(text)
		if err != nil {
			return misused("%w", err)
		}
		ask = func(ctx context.Context) (queued, error) { return f.askPBS(ctx, j) }
	}
	for last := ""; ; {
		one, cancel := context.WithTimeout(ctx, askWait)
		q, err := ask(one)
		cancel()
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%s has not started: %w", target, context.Cause(ctx))
		case err != nil:
			return fmt.Errorf("%s: %w", target, err)
		case q.started:
			return nil
		case q.why != last:
			last = q.why
			f.waits(text, q.why)
		}
		pause := startEvery
		if q.soon {
			pause = soonEvery
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%s has not started: %w", target, context.Cause(ctx))
		}
	}
}

// waits tells why a job waits.
func (f finder) waits(job, why string) {
	if f.io.JSON != nil {
		f.io.report(protocol.JobState{State: "queued", Job: job, Text: why})
		return
	}
	f.Remark(fmt.Sprintf("job %s has not started its ranks: %s; they are taken when it has; Ctrl-C leaves the job alone", job, why))
}

// slurmQueue asks about a job of Slurm.
type slurmQueue struct {
	finder
	step  slurm.Step
	ran   time.Time     // when it was first seen to run
	next  time.Time     // when to look inside again
	pause time.Duration // after that
}

func (s *slurmQueue) ask(ctx context.Context) (queued, error) {
	text, err := s.askSlurm(ctx, s.step.Queue())
	if err != nil {
		if slurm.IsUnknown(err.Error()) {
			return queued{}, err
		}
		return queued{why: err.Error()}, nil // the controller may answer later
	}
	state, why, known := slurm.ReadQueue(text)
	switch {
	case !known:
		return queued{}, fmt.Errorf("job %s does not run, or no longer", s.step.Job)
	case state != slurm.Running:
		return queued{why: why}, nil
	}
	if s.ran.IsZero() {
		s.ran = time.Now()
	}
	if s.step.HasSLUID() { // steps are not listed by it
		return queued{started: true}, nil
	}
	step, inner, err := s.chooseStep(ctx, s.step)
	several := err != nil && s.step.Step == ""
	if err == nil && !inner || several { // which are for the user to choose from
		return queued{started: true}, nil
	}
	if err == nil && !time.Now().Before(s.next) {
		if _, err := s.findInSlurm(ctx, step); err == nil {
			return queued{started: true}, nil
		}
		s.pause = min(max(2*s.pause, lookInside), longestInside)
		s.next = time.Now().Add(s.pause)
	}
	why = "it runs, and srun or mpirun has started no ranks in it yet"
	return queued{why: why, soon: time.Since(s.ran) < soonFor}, nil
}

// askFlux asks about a job of Flux: it tells the processes of a job once they are started, and waits for that.
func (f finder) askFlux(ctx context.Context, id flux.ID) (queued, error) {
	short, cancel := context.WithTimeout(ctx, startEvery)
	defer cancel()
	_, err := flux.Ranks(short, f.Env, id)
	switch {
	case err == nil:
		return queued{started: true}, nil
	case short.Err() == nil: // it has said so
		return queued{}, err
	}
	text, err := launch.Ask(ctx, f.Env, flux.WhyQueued(id))
	if text = strings.TrimSpace(text); err != nil || text == "" {
		text = "Flux has not started it"
	}
	return queued{why: protocol.Clip(text)}, nil
}

// askPBS asks about a job of PBS.
func (f finder) askPBS(ctx context.Context, j pals.Job) (queued, error) {
	text, err := launch.Ask(ctx, f.Env, pals.QStat(j.ID))
	if err != nil {
		return queued{}, err
	}
	state, why := pals.ReadState(text)
	switch state {
	case "R":
		if _, err := pals.FindJob(ctx, f.Env, j); err != nil {
			return queued{why: "it runs; " + err.Error()}, nil
		}
		return queued{started: true}, nil
	case "F", "X", "E", "C":
		return queued{}, fmt.Errorf("job %s has ended (state %s)", j.ID, state)
	}
	return queued{why: "state " + state + ": " + why}, nil
}
