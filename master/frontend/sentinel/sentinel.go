// Package sentinel is the front end that watches a job without a user: it takes samples of the ranks, and says when
// they make no progress and how they have ended.
package sentinel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"sdm/master/hangfile"
	"sdm/master/progress"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Config configures Run.
type Config struct {
	Session session.Session
	Ranks   rank.Set      // all ranks of the job
	First   *session.Call // brings the ranks under control; nil: they are
	Started func()        // is called when First is complete; nil: it need not be
	Judge   progress.Config
	// Value is an expression of the program, such as the name of a variable, whose change is progress; "": none.
	Value string
	// Wait limits the answers of a sample.
	Wait time.Duration
	// Output returns the number of bytes that the job has written so far; nil: not known.
	Output func() int64
	// Asked asks for a look at once, with a reason of the caller's; nil: nobody does.
	Asked <-chan time.Duration
	// Enough reports whether what was seen at a stall tells what can be known; else there are further looks, looks at
	// most: on a busy host ranks that spin cannot always be read. nil: it does.
	Enough func(*Sight) bool
	// Stalled is called when the job has stalled, once until there is progress again, and with what was seen when a look
	// was asked for. Meanwhile no samples are taken.
	Stalled func(context.Context, *Sight)
	// Current reports whether the processes are still the ranks. If it does not when the job seems to have
	// stalled, or when children of ranks have worked, Run ends. nil: they are.
	Current func() bool
	// Remark shows a message to the user.
	Remark func(string)
	Log    *slog.Logger
}

// Sight is what the ranks did at a time.
type Sight struct {
	At     time.Time
	Stacks []session.Event // answers to stacks
	Hosts  []session.Event // answers to info hosts
	States []hangfile.State
	Ranks  rank.Set // of the job
	// Without is how long no progress was seen, and Last what was seen before.
	Without time.Duration
	Last    progress.Change
	// Asked is what has asked for this look; 0: nothing, the job has stalled.
	Asked time.Duration
	// Delay is how long a sample took, if that has put off others; else 0.
	Delay time.Duration
}

// Ending is an end of ranks.
type Ending struct {
	At    time.Time
	Ranks rank.Set
	Exit  protocol.Exit
}

// Result is what is known at the end.
type Result struct {
	Sight   *Sight // the last; nil: there was none
	Ends    []Ending
	States  *session.States
	Stalled bool // there was no progress any more
	Alive   rank.Set
}

// ErrNoRank is the error if no rank can be watched.
var ErrNoRank = errors.New("no rank can be watched")

// sampleLimit is the number of different values of the column of changes.
const sampleLimit = 64

// Evidence of a stall: as many samples, the time between them, and how often that is tried.
const (
	evidence      = 4
	evidenceEvery = 150 * time.Millisecond
	looks         = 3
)

// sentinel is one run.
type sentinel struct {
	cfg    Config
	began  time.Time
	judge  *progress.Judge
	states *session.States
	result Result
	hosts  []session.Event // answers to info hosts
	output int64
	ended  []progress.Change // since the last sample
	over   bool              // the session has ended, or what is watched is not the job
	told   map[string]bool   // what the user was told about the expression
	// broken: ranks have ended after a stall, and the others have not gone on for a whole sample since then. Ranks
	// that are being ended seem to make progress.
	broken   bool
	outdated bool // what is watched is not the job any more; see Config.Current
}

// Run watches until all ranks have ended, the session is over, or ctx ends. The error says why no rank could be
// watched, or is the cause of ctx.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	s := &sentinel{cfg: cfg, began: time.Now(), states: session.NewStates(cfg.Ranks), told: map[string]bool{}}
	s.result.States = s.states
	if err := s.begin(ctx); err != nil {
		return &s.result, err
	}
	s.judge = progress.New(cfg.Judge, s.now())
	s.wrote()
	for !s.isOver() {
		asked, err := s.pause(ctx)
		if err != nil {
			return s.finish(), err
		}
		if s.isOver() {
			break
		}
		if asked > 0 {
			err = s.stalled(ctx, asked)
		} else {
			err = s.sample(ctx)
		}
		if err != nil {
			return s.finish(), err
		}
	}
	return s.finish(), nil
}

func (s *sentinel) now() time.Duration { return time.Since(s.began) }

// alive returns the ranks that have not ended.
func (s *sentinel) alive() rank.Set { return s.cfg.Ranks.Minus(s.states.Ended()) }

// isOver reports whether there is nothing to watch any more.
func (s *sentinel) isOver() bool { return s.over || s.alive().IsEmpty() }

func (s *sentinel) finish() *Result {
	if s.result.Sight != nil {
		s.result.Sight.States = hangfile.StatesOf(s.states)
	}
	s.result.Stalled = !s.outdated && (s.broken || s.judge.State() == progress.Stalled)
	s.result.Alive = s.alive()
	return &s.result
}

// begin brings the ranks under control.
func (s *sentinel) begin(ctx context.Context) error {
	if s.cfg.First != nil {
		answers, err := s.ask(ctx, *s.cfg.First)
		if err != nil {
			return err
		}
		if s.alive().IsEmpty() || s.alive().Equal(s.states.In(session.Unstarted)) {
			return fmt.Errorf("%w: %s", ErrNoRank, firstFault(answers))
		}
	}
	if s.cfg.Started != nil {
		s.cfg.Started()
	}
	answers, err := s.ask(ctx, session.Call{Command: "info hosts", Wait: s.cfg.Wait})
	s.hosts = hangfile.Answers(answers)
	if s.cfg.Ranks.Len() > maxPids {
		for i := range s.hosts {
			s.hosts[i].Group.Columns = nil
		}
	}
	return err
}

// maxPids is the number of ranks up to which their process IDs are kept, at about 30 bytes each in a hang file.
const maxPids = 4096

// firstFault returns the text of the first fault among answers.
func firstFault(answers []session.Event) string {
	for _, e := range answers {
		var f protocol.Fault
		if e.Group.Kind == protocol.KindFault && json.Unmarshal(e.Group.Body, &f) == nil {
			return f.Message
		}
	}
	return "none has answered"
}

// pause waits for the next sample, or until a look is asked for.
func (s *sentinel) pause(ctx context.Context) (asked time.Duration, err error) {
	t := time.NewTimer(s.judge.Next() - s.now())
	defer t.Stop()
	for !s.isOver() {
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-t.C:
			return 0, nil
		case asked := <-s.cfg.Asked:
			return asked, nil
		case e, more := <-s.cfg.Session.Events():
			s.event(e, more)
		}
	}
	return 0, nil
}

// ask makes a call and returns its answers. A refused call is an error.
func (s *sentinel) ask(ctx context.Context, c session.Call) (answers []session.Event, err error) {
	id, err := s.cfg.Session.Do(ctx, c)
	if err != nil {
		return nil, err
	}
	for {
		select {
		case <-ctx.Done():
			return answers, context.Cause(ctx)
		case e, more := <-s.cfg.Session.Events():
			switch {
			case !more:
				s.event(e, more)
				return answers, nil
			case e.ID != id || e.Late:
				s.event(e, more)
			case e.Done != nil:
				return answers, nil
			default:
				answers = append(answers, e)
			}
		}
	}
}

// stacks asks some ranks for their stacks; "" are all. A refused call has no answers.
func (s *sentinel) stacks(ctx context.Context, ranks string, args protocol.Args) ([]session.Event, error) {
	answers, err := s.ask(ctx, session.Call{Command: "stacks", Ranks: ranks, Wait: s.cfg.Wait, Args: args})
	var refused *protocol.Fault
	if errors.As(err, &refused) {
		return nil, nil
	}
	return answers, err
}

// event handles an event that answers no call of this front end.
func (s *sentinel) event(e session.Event, more bool) {
	if !more {
		s.over = true
		return
	}
	s.states.Feed(e)
	if e.IsAnswer() || e.Group.Kind != protocol.KindExited && e.Group.Kind != protocol.KindSignalled {
		return
	}
	end := Ending{At: time.Now(), Ranks: e.Group.Ranks}
	if json.Unmarshal(e.Group.Body, &end.Exit) != nil {
		end.Exit = protocol.Exit{Unknown: true}
	}
	if len(s.result.Ends) < maxEnds {
		s.result.Ends = append(s.result.Ends, end)
	}
	s.ended = append(s.ended, progress.Change{Kind: progress.End, Ranks: end.Ranks})
	s.broken = s.broken || s.judge != nil && s.judge.State() == progress.Stalled
}

// maxEnds bounds the ends that are kept: the first ones tell why a job has failed.
const maxEnds = 4096

// text returns a set as the argument of a call.
func (s *sentinel) text(ranks rank.Set) string {
	if ranks.Equal(s.cfg.Ranks) {
		return ""
	}
	return ranks.String()
}

// sample takes a sample, and says when the job has stalled.
func (s *sentinel) sample(ctx context.Context) error {
	began := s.now()
	args := protocol.Args{Progress: true, Expr: s.cfg.Value, Limit: sampleLimit}
	answers, err := s.stacks(ctx, s.text(s.alive()), args)
	if err != nil {
		return err
	}
	before, ends := s.judge.State(), len(s.ended)
	now := s.now()
	x := s.compared(answers)
	x.Took = now - began
	state := s.judge.Add(now, x)
	s.cfg.Log.Debug("a sample was taken", "state", state, "changes", x.Changes, "took", x.Took)
	if !x.Answered.IsEmpty() {
		s.result.Sight = s.sight(answers)
	}
	s.broken = s.broken && (ends > 0 || state != progress.Moving)
	s.tellTroubles(answers)
	if state == progress.Stalled && before != progress.Stalled || slices.ContainsFunc(x.Changes, byChildren) {
		if s.cfg.Current != nil && !s.cfg.Current() {
			s.over, s.outdated = true, true
			return nil
		}
	}
	if state == progress.Stalled && before != progress.Stalled {
		return s.stalled(ctx, 0)
	}
	return nil
}

// byChildren reports whether children of ranks have worked. Such a rank may be a wrapper that has started the program
// since it was looked at. MPI in the program uses time also while it waits: the wrapper would never stand still.
func byChildren(c progress.Change) bool {
	return slices.Contains(strings.Split(c.Kind, ","), protocol.ProgressChildren)
}

// compared returns what answers say about changes.
func (s *sentinel) compared(answers []session.Event) (x progress.Sample) {
	x.Changes, s.ended = s.ended, nil
	for _, e := range answers {
		if e.Group.Kind != protocol.KindResult {
			continue
		}
		x.Answered = x.Answered.Union(e.Group.Ranks)
		changes, _ := e.Group.Column(protocol.Progress)
		for _, v := range changes.Values() {
			x.Changes = append(x.Changes, progress.Change{Kind: v.Value, Ranks: v.Ranks})
		}
	}
	if s.wrote() {
		x.Changes = append(x.Changes, progress.Change{Kind: progress.Output})
	}
	return x
}

// wrote reports whether the job has written output since the last call.
func (s *sentinel) wrote() bool {
	if s.cfg.Output == nil {
		return false
	}
	before := s.output
	s.output = s.cfg.Output()
	return s.output != before
}

// maxTroubles bounds the messages about the user's expression.
const maxTroubles = 8

// tellTroubles tells the user, each reason once, why the expression has no value in ranks.
func (s *sentinel) tellTroubles(answers []session.Event) {
	if s.cfg.Value == "" || !s.judge.Compared() {
		return
	}
	troubles := map[string]rank.Set{}
	for _, e := range answers {
		reasons, _ := e.Group.Column(protocol.ProgressTrouble)
		for _, v := range reasons.Values() {
			troubles[v.Value] = troubles[v.Value].Union(v.Ranks)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(troubles)) {
		if why == "" || s.told[why] || len(s.told) == maxTroubles {
			continue
		}
		s.told[why] = true
		outcome := "progress is judged by the other ranks"
		if !s.judge.Valued() {
			outcome = "until a rank can read it, progress is judged without it"
		}
		s.cfg.Remark(fmt.Sprintf("--progress %s cannot be read on %s: %s; %s", s.cfg.Value, ranksText(troubles[why], s.cfg.Ranks), why, outcome))
	}
}

// maxRanksText bounds the text of a set of ranks, in bytes.
const maxRanksText = 100

// ranksText returns some of all ranks in words.
func ranksText(some, all rank.Set) string {
	if some.Equal(all) {
		return "any rank"
	}
	if text := some.String(); len(text) <= maxRanksText {
		return "ranks " + text
	}
	return fmt.Sprint(some.Len(), " ranks")
}

// sight returns what was seen now.
func (s *sentinel) sight(answers []session.Event) *Sight {
	since, last := s.judge.Since()
	return &Sight{
		At: time.Now(), Stacks: hangfile.Answers(answers), Hosts: s.hosts, States: hangfile.StatesOf(s.states),
		Ranks: s.cfg.Ranks, Without: s.now() - since, Last: last, Delay: s.judge.Delay(),
	}
}

// stalled collects evidence of a stall and says it. Ranks that have ended are asked as well: others may wait for them.
func (s *sentinel) stalled(ctx context.Context, asked time.Duration) error {
	args := protocol.Args{Samples: evidence, Every: evidenceEvery.String()}
	for look := 1; ; look++ {
		answers, err := s.stacks(ctx, "", args)
		if err != nil {
			return err
		}
		if len(answers) > 0 {
			s.result.Sight = s.sight(answers)
		}
		if look == looks || s.cfg.Enough == nil || s.result.Sight == nil || s.cfg.Enough(s.result.Sight) {
			break
		}
	}
	x := s.result.Sight
	if x == nil {
		x = s.sight(nil)
	}
	x.Asked = asked
	s.cfg.Stalled(ctx, x)
	s.wrote() // what was written because of the stall is no progress
	return nil
}
